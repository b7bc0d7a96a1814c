/* SPDX-License-Identifier: ISC */
/* Names matched by globs, and the distance between two names. */
#ifndef PROF_GLOB_H
#define PROF_GLOB_H

#include <stdbool.h>

#define PROF_GLOB_STARS	8	/* a glob with more stars matches nothing */

/* Bounded glob match: * ? [..], no recursion without end. */
bool	prof_glob_match(const char *glob, const char *text);
bool	prof_glob_is(const char *text);	/* has any of * ? [ */
/* Number of stars; adjacent stars count once. */
unsigned prof_glob_stars(const char *glob);
/* Edit distance, for "did you mean". */
unsigned prof_name_distance(const char *a, const char *b);

#endif /* PROF_GLOB_H */
