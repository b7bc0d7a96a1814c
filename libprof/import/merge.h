/* SPDX-License-Identifier: ISC */
/* Several recordings as one; see merge.c.  Used by dtprof(1), too. */
#ifndef PROF_MERGE_H
#define PROF_MERGE_H

#include "prof.h"

/*
 * Notes and samples of it as of an import, the output as of one, in memory
 * where it is NULL; NULL: error says why.
 */
struct prof_import *prof_merge_new(const char *const *inputs, size_t n,
	    const char *output, struct prof_err *error);
/* That in memory, opened; import: owned by caller. */
struct prof_reader *prof_reader_open_merged(const char *const *inputs,
	    size_t n, struct prof_import **import, struct prof_err *error);

#endif /* PROF_MERGE_H */
