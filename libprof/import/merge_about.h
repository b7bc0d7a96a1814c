/* SPDX-License-Identifier: ISC */
/* What merged recordings say of themselves; see merge_about.c. */
#ifndef PROF_MERGE_ABOUT_H
#define PROF_MERGE_ABOUT_H

#include "import.h"
#include "recording/format.h"

struct prof_merge_about;

struct prof_merge_about *prof_merge_about_new(struct prof_import *import);
void	prof_merge_about_free(struct prof_merge_about *about);
/*
 * First, each recording's events and descriptions.  -1: it cannot be merged
 * with those before it; the import's error says why.
 */
int	prof_merge_about_take(struct prof_merge_about *about,
	    const char *path, const struct prof_reader *reader);
/* Then all of that, as one recording's: before the first record. */
int	prof_merge_about_write(struct prof_merge_about *about);
/* The number here of each event of a recording that was taken. */
int	prof_merge_about_events(struct prof_merge_about *about,
	    const char *path, const struct prof_reader *reader,
	    uint32_t number[PROF_MAX_EVENTS]);
/* Its accounting, with its samples. */
int	prof_merge_about_account(struct prof_merge_about *about,
	    const struct prof_reader *reader, const uint32_t *number);
/* The last: the accounting of all. */
int	prof_merge_about_end(struct prof_merge_about *about);

#endif /* PROF_MERGE_ABOUT_H */
