/* SPDX-License-Identifier: ISC */
/* Durations of calls and spans by time; see latency.c. */
#ifndef PROF_LATENCY_H
#define PROF_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "prof.h"

/* Calls or spans that ended in a bucket of time. */
struct prof_latency_cell {
	uint32_t	 lc_bucket;
	uint32_t	 lc_row;	/* their duration, see below */
	uint64_t	 lc_count;
};

/* How long calls or spans took, and when they ended. */
struct prof_latency {
	const char	*lt_name;	/* of an event, or "span:NAME" */
	const struct prof_span_kind *lt_kind; /* NULL: of calls ... */
	uint32_t	 lt_event;	/* ... of this event */
	uint64_t	 lt_from_ns;	/* of bucket 0, CLOCK_MONOTONIC ... */
	uint64_t	 lt_begin_ns;	/* ... since the recording began */
	uint64_t	 lt_bucket_ns;
	/* All cells; and calls whose begin, so duration, is not known. */
	uint64_t	 lt_count;
	uint64_t	 lt_unknown;
	/* Of the whole recording: lost; and those that the kernel skipped. */
	uint64_t	 lt_lost;
	uint64_t	 lt_missed;
	const struct prof_latency_cell *lt_cell; /* by bucket, then row */
	size_t		 lt_ncells;
};

struct prof_latencies;

/*
 * Of all events that are calls, and, where no filter chooses samples, of all
 * spans: those that ended in the time of the options, in buckets of time as
 * pl_bucket_ns and pl_max_buckets say.  The reader is left at its begin.
 * Owned by caller; the reader must outlive it.
 */
struct prof_latencies *prof_latencies_new(struct prof_reader *reader,
	    const struct prof_profile_options *options, struct prof_err *error);
/* Borrowed until prof_latencies_free; NULL: no more. */
const struct prof_latency *prof_latencies_at(
	    const struct prof_latencies *latencies, size_t n);
/*
 * The least duration of a row.  It ends before that of the next one, which is
 * at most 3.2% above; each 32 rows there is a power of 2.
 */
uint64_t	prof_latency_row_ns(uint32_t row);
void	prof_latencies_free(struct prof_latencies *latencies);
/* A page of the profile shows them, too; they must outlive it. */
void	prof_profile_add_latencies(struct prof_profile *profile,
	    const struct prof_latencies *latencies);

#endif /* PROF_LATENCY_H */
