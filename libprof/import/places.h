/* SPDX-License-Identifier: ISC */
/*
 * Where names lie that come without addresses, or with some that no file can
 * be asked about.  Each module is a memory of its own in which each name gets
 * a place of 16 bytes, and the recording has a table of what is where, as of
 * any file.  The places are where no file has code, so that nothing of the real
 * one, should it be here, is taken for theirs.
 *
 * Included by import/ alone.
 */
#ifndef PROF_PLACES_H
#define PROF_PLACES_H

#include "import.h"

#define PROF_PLACES_KERNEL	0	/* the first of all modules */

/* Text of a file, not NUL-ended. */
struct prof_places_text {
	const void	*px_at;
	size_t		 px_length;
};

struct prof_places;

/* Owned by caller; NULL: no memory, in the import's error. */
struct prof_places *prof_places_new(struct prof_import *import);
void	prof_places_free(struct prof_places *places);
/* "[kernel.kallsyms]" and what else the kernel is called. */
bool	prof_places_is_kernel(struct prof_places_text file);
/*
 * The number of a module, by its path; id: its build-id in digits, or what
 * else makes a file one.  UINT32_MAX with an error: too many, or no memory.
 */
uint32_t prof_places_module(struct prof_places *places,
	    struct prof_places_text path, struct prof_places_text id);
/*
 * A pc of a name, the same for the same name of a module; without a name it
 * is as stripped code is.  in_kernel: it is called by the kernel, in whose
 * memory it then lies.  0 with an error: too many, or no memory.
 */
uint64_t prof_places_pc(struct prof_places *places, uint32_t module,
	    bool in_kernel, struct prof_places_text name);
/* When all names are known: the process whose memory it is, its mappings. */
int	prof_places_say_memory(struct prof_places *places, uint32_t pid,
	    uint64_t time_ns);
/* What is left of the tables. */
int	prof_places_say_tables(struct prof_places *places);

#endif /* PROF_PLACES_H */
