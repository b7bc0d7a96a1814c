/* SPDX-License-Identifier: ISC */
/* Errors (error.c) and structs of options that grow (options.c). */
#ifndef PROF_ERROR_H
#define PROF_ERROR_H

#include <stddef.h>
#include <stdio.h>

#include "prof.h"

#define PROF_PRINTF(f, a)	__attribute__((format(printf, f, a)))

/*
 * Fill in an error and return -1, in one call.  The code's own cure is set;
 * prof_cure replaces it.  errno is not looked at: say it in the sentence.
 */
int	prof_fail(struct prof_err *error, enum prof_code code,
	    const char *fmt, ...) PROF_PRINTF(3, 4);
int	prof_cure(struct prof_err *error, const char *fmt, ...)
	    PROF_PRINTF(2, 3);	/* returns -1 */
int	prof_fail_nomem(struct prof_err *error);

/*
 * Take over options of the size with which they begin; what their caller does
 * not know stays as it is in to, and from may be NULL.  -1: their size is
 * impossible, or something is set in what is not known here; to is as it was.
 */
int	prof_options_take(void *to, size_t known, const void *from,
	    const char *name, struct prof_err *error);
/* Fill a caller's struct, as much of it as both know. */
void	prof_struct_give(void *to, size_t given, const void *from,
	    size_t known);

#endif /* PROF_ERROR_H */
