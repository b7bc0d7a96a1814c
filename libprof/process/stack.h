/* SPDX-License-Identifier: ISC */
/*
 * The merge of native and script frames, see stack.c.  Included by process/
 * and profile/.
 */
#ifndef PROF_STACK_H
#define PROF_STACK_H

#include <stdbool.h>

#include "base/record.h"

/* What is known of a user stack, innermost first. */
struct prof_lists {
	const uint64_t	*li_native;
	uint32_t	 li_nnative;
	const uint64_t	*li_script;
	uint32_t	 li_nscript;
	bool		 li_is_cut;	/* the native frames end too early */
	unsigned	 li_frames;	/* PROF_FRAMES_*, as of a profile */
	/* Where functions of native frames are asked; NULL: by places alone */
	struct prof_symbols *li_symbols;
	uint32_t	 li_space;
	/* out: the innermost frame was an interpreter's, and is not shown */
	bool		 li_is_folded;
};

/* PROF_FRAMES_*, 0 and ALL said in full. */
unsigned prof_stack_kinds(unsigned frames);

/* How many frames it has; the first max are kept. */
size_t	prof_stack_merge(struct prof_lists *lists,
	    struct prof_frame *frames, size_t max);

/* As prof_symbols_stack. */
size_t	prof_record_stack(struct prof_symbols *symbols,
	    const struct prof_record *record, unsigned shown,
	    struct prof_frame *frames, size_t max);

#endif /* PROF_STACK_H */
