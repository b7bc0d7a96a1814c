/* SPDX-License-Identifier: ISC */
/* The code of merged recordings, in one memory; see merge_code.c. */
#ifndef PROF_MERGE_CODE_H
#define PROF_MERGE_CODE_H

#include "import.h"

struct prof_merge_code;
struct prof_symbols;

/* Owned by caller; NULL: no memory, in the import's error. */
struct prof_merge_code *prof_merge_code_new(struct prof_import *import);
void	prof_merge_code_free(struct prof_merge_code *code);
/*
 * From here on frames are those of another recording.  salt: tells apart its
 * inodes, which are those of one boot; 0: they are distinguished already.
 */
void	prof_merge_code_begin(struct prof_merge_code *code,
	    struct prof_symbols *symbols, uint64_t salt);
/* Where a frame of it is here.  0, or -1 with the import's error. */
int	prof_merge_code_pc(struct prof_merge_code *code, uint32_t space,
	    const struct prof_frame *frame, uint64_t *pc);
/* The same of a word of script frames. */
int	prof_merge_code_script(struct prof_merge_code *code, uint64_t word,
	    uint64_t *here);
/* A SYMBOL body of it, after all of its frames. */
int	prof_merge_code_table(struct prof_merge_code *code, const void *body,
	    size_t length);
/* After the last recording: what is mapped where, and all tables. */
int	prof_merge_code_end(struct prof_merge_code *code, uint64_t time_ns);

#endif /* PROF_MERGE_CODE_H */
