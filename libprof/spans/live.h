/* SPDX-License-Identifier: ISC */
/*
 * Spans of records as they come, for dtprof stat and for triggers: how many
 * there are, and how long they took, without keeping them.  prof_spans_nkinds
 * says how many kinds there are, and prof_spans_free ends it.
 */
#ifndef PROF_SPANS_LIVE_H
#define PROF_SPANS_LIVE_H

#include <stdbool.h>

#include "base/record.h"
#include "prof.h"

/* NULL: error says why. */
struct prof_spans *prof_spans_live_new(struct prof_err *error);
/* What a sink hears (recording/sink.h); 0, or -1: no memory. */
int	prof_spans_live_info(struct prof_spans *spans, const char *key,
	    const char *value);
int	prof_spans_live_event(struct prof_spans *spans,
	    const struct prof_event_info *info);
int	prof_spans_live_record(struct prof_spans *spans,
	    const struct prof_record *record);
/* Told each span that is settled; name: of its kind. */
typedef void prof_span_each_fn(void *arg, const char *name,
	    const struct prof_span *span);
void	prof_spans_live_each(struct prof_spans *spans, prof_span_each_fn *fn,
	    void *arg);
/*
 * Follows each span that begins, by a number that sw_begun gives it.  That it
 * has ended says no more: begins or ends before may have been lost, which is
 * known when it is settled.
 */
struct prof_span_watch {
	void	*sw_arg;
	/* UINT32_MAX: no memory. */
	uint32_t (*sw_begun)(void *arg, size_t kind,
		    const struct prof_span *span);
	void	(*sw_ended)(void *arg, uint32_t n);
	/* Without an end it lasted so long; is_sure: nothing of it was lost. */
	void	(*sw_settled)(void *arg, uint32_t n,
		    const struct prof_span *span, bool has_end, bool is_sure);
};
void	prof_spans_live_watch(struct prof_spans *spans,
	    const struct prof_span_watch *watch);
/* May begins or ends of a kind have been lost in this time? */
bool	prof_spans_live_unsure(const struct prof_spans *spans, size_t kind,
	    uint64_t from_ns, uint64_t to_ns);
/* Does a span begin or end with this event? */
bool	prof_spans_live_bounds(const struct prof_spans *spans, size_t event);
/* May another thread end spans of a kind? */
bool	prof_spans_live_moves(const struct prof_spans *spans, size_t kind);
/*
 * All that was lost before the last record was told: only now is it known
 * which begin and end belong together.  is_last: there is no other record.
 * -1: error says why.
 */
int	prof_spans_live_round(struct prof_spans *spans, bool is_last,
	    struct prof_err *error);
/* What was lost of an event so far, in place of what was said before. */
void	prof_spans_live_account(struct prof_spans *spans, size_t event,
	    const struct prof_accounting *pa);
/* Here the next interval begins. */
void	prof_spans_live_lap(struct prof_spans *spans);
/*
 * All so far, or of this interval.  Quantiles, and the longest of an interval,
 * are upper bounds, at most 3.2% too high.  sk_open: at the end of it.
 */
void	prof_spans_live_kind(const struct prof_spans *spans, size_t n,
	    bool is_lap, struct prof_span_kind *kind);
/* What a counter of all samples has counted in threads in spans. */
struct prof_span_counter {
	const char	*sr_name;
	uint64_t	 sr_count;
	uint64_t	 sr_spans;	/* that began and ended in a thread */
	double		 sr_running;	/* below 1: multiplexed */
};
/* Counter i in spans of a kind; false: there are no more counters. */
bool	prof_spans_live_counter(const struct prof_spans *spans, size_t n,
	    size_t i, bool is_lap, struct prof_span_counter *counter);

#endif /* PROF_SPANS_LIVE_H */
