/* SPDX-License-Identifier: ISC */
/* Names matched by globs, and the distance between two names. */
#ifndef PROF_GLOB_H
#define PROF_GLOB_H

#include <stdbool.h>

/* Bounded glob match: * ? [..], at most 8 stars, no recursion without end. */
bool	prof_glob_match(const char *glob, const char *text);
bool	prof_glob_is(const char *text);	/* has any of * ? [ */
/* Edit distance, for "did you mean". */
unsigned prof_name_distance(const char *a, const char *b);

#endif /* PROF_GLOB_H */
