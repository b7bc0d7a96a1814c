/* SPDX-License-Identifier: ISC */
/*
 * What waits are, beyond their reason: from when until when, who ends them, and
 * whose code waits.  Included by blocked.c, chains.c, fold.c, times.c and
 * tree.c, and by span_difference.c of the module compare.
 */
#ifndef PROF_WAITS_H
#define PROF_WAITS_H

#include "profile_impl.h"
#include "recording/elapsed.h"

/* ---------------------------------------------------------- ranges.c */

struct prof_range {
	uint64_t	ra_from_ns;
	uint64_t	ra_to_ns;
};

/* Of an event of waits: the text of an argument; NULL: it is none, or "-". */
const char *prof_wait_text(const struct prof_reader *reader,
	    const struct prof_record *record, const char *name);
bool	prof_wait_is_runnable(const struct prof_reader *reader,
	    const struct prof_record *record);
/*
 * The weight of a sample of a wait, before its time.  A wait cannot begin
 * before time did, whatever the file says.
 */
struct prof_range prof_range_of(const struct prof_record *record);
/*
 * Both samples of a wait, blocked and runnable, have the time when the wait
 * ended: blocked time ends where the runnable time, which comes next, begins.
 */
void	prof_range_end(struct prof_range *range,
	    const struct prof_range *runnable);

/* Sort ranges, and join those that overlap; how many are left. */
size_t	prof_ranges_join(struct prof_range *range, size_t n);
/* Of joined ranges the first that ends behind a time, or n. */
size_t	prof_ranges_first(const struct prof_range *range, size_t n,
	    uint64_t from_ns);

/* --------------------------------------------------------- outside.c */

/* The threads that were recorded: any other is outside. */
struct prof_outside;
/* Owned by caller; NULL: no memory. */
struct prof_outside *prof_outside_new(const struct prof_reader *reader);
/* PROF_FOLD_BLOCKED, PROF_FOLD_OUTSIDE, or 0: it is no wait. */
uint64_t prof_outside_bits(const struct prof_outside *outside,
	    const struct prof_event_info *info,
	    const struct prof_record *record);
enum prof_thread_is {
	PROF_THREAD_UNKNOWN, PROF_THREAD_RECORDED, PROF_THREAD_OUTSIDE
};
enum prof_thread_is prof_outside_thread(const struct prof_outside *outside,
	    uint32_t tid);
void	prof_outside_free(struct prof_outside *outside);

/* ----------------------------------------------------------- waits.c */

#define PROF_REASON	"reason"	/* the argument that says why */
#define PROF_LOCK	"lock"		/* the address of a futex */

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
