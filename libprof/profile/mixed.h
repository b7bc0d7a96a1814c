/* SPDX-License-Identifier: ISC */
/*
 * Stacks of native and script frames, out of the dictionary of a recording.
 * Included by tree.c.
 */
#ifndef PROF_MIXED_H
#define PROF_MIXED_H

#include "profile_impl.h"

/* One stack, and the memory to make it in. */
struct prof_mixed {
	const struct prof_reader *mx_reader;
	const struct prof_labels *mx_labels;
	uint64_t	*mx_native;
	uint64_t	*mx_script;
	struct prof_frame *mx_frame;	/* innermost first */
	size_t		 mx_n;
	bool		 mx_is_folded;	/* the innermost is not shown */
};

/* What a fold has of a user stack. */
struct prof_mixed_key {
	uint32_t	 mk_space;
	bool		 mk_has_leaf;
	bool		 mk_is_cut;
	uint64_t	 mk_leaf;
	uint32_t	 mk_node;	/* of the leaf's callers; 0: none */
	uint32_t	 mk_script;	/* of the innermost script frame */
	uint32_t	 mk_instruction;
};

/* Owned by caller; NULL: no memory. */
struct prof_mixed *prof_mixed_new(const struct prof_reader *reader,
	    const struct prof_labels *labels);
void	prof_mixed_merge(struct prof_mixed *mixed,
	    const struct prof_mixed_key *key);
void	prof_mixed_free(struct prof_mixed *mixed);

#endif /* PROF_MIXED_H */
