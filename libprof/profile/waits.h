/* SPDX-License-Identifier: ISC */
/*
 * What waits are, beyond their reason: who ends them, and whose code waits.
 * Included by fold.c and tree.c.
 */
#ifndef PROF_WAITS_H
#define PROF_WAITS_H

#include "profile_impl.h"

/* --------------------------------------------------------- outside.c */

/* The threads that were recorded: any other is outside. */
struct prof_outside;
/* Owned by caller; NULL: no memory. */
struct prof_outside *prof_outside_new(const struct prof_reader *reader);
/* PROF_FOLD_BLOCKED, PROF_FOLD_OUTSIDE, or 0: it is no wait. */
uint64_t prof_outside_bits(const struct prof_outside *outside,
	    const struct prof_event_info *info,
	    const struct prof_record *record);
void	prof_outside_free(struct prof_outside *outside);

/* ----------------------------------------------------------- waits.c */

#define PROF_REASON	"reason"	/* the argument that says why */

extern const char prof_waits_idle[];

struct prof_waits;
/* Owned by caller; NULL: no memory. */
struct prof_waits *prof_waits_new(const struct prof_reader *reader,
	    struct prof_symbols *symbols);
/*
 * The reason of a blocked fold, as its stack has it; NULL: that of the event.
 * folds_idle: prof_waits_idle if it waits for work.
 */
const char *prof_waits_reason(struct prof_waits *waits,
	    const struct prof_fold *fold, uint32_t space, bool folds_idle);
/* Rows of waits.def that were found, as bits by number; NULL: none. */
uint64_t prof_waits_found(const struct prof_waits *waits);
void	prof_waits_free(struct prof_waits *waits);

#endif /* PROF_WAITS_H */
