/* SPDX-License-Identifier: ISC */
/*
 * Spans of records as they come:
 *
 *	records -> pair.c -> wait -> (the round is over) -> sums and buckets
 *
 * That an event was lost is told after the records around it, but in the same
 * round.  So what was paired waits until the round is over; then it is settled
 * as that of a recording is.  Nothing is kept of a span but its duration's
 * bucket, and keys are forgotten, so that it can go on for long.  Texts of keys
 * are not: with MAX_ITEMS of them pairing ends.
 *
 * Called by commands, from a sink.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_group.h"
#include "base/error.h"
#include "base/grow.h"
#include "live.h"
#include "spans_impl.h"

#define TRIM_LEAST	4096	/* keys that are not worth a look */

/* What the counters of a thread have counted. */
struct span_counts {
	uint64_t	 sc_value[PROF_MAX_VALUES];
	uint64_t	 sc_ns;		/* and since when ... */
	uint64_t	 sc_running_ns;	/* ... less while others did */
};

struct span_waiting {
	enum span_fate	 wa_fate;
	bool		 wa_is_counted;
	uint32_t	 wa_watched;	/* as so_watched */
	struct prof_span wa_span;
	struct span_counts wa_counts;
};

/* Of spans that a thread both began and ended. */
struct span_counted {
	struct span_counts co_sum;
	uint64_t	 co_spans;
};

/* Of a kind. */
struct span_tally {
	struct span_waiting *ta_waiting;	/* in this round */
	size_t		 ta_nwaiting;
	size_t		 ta_cap_waiting;
	size_t		 ta_trim_at;	/* so many keys */
	struct span_counts *ta_begun;	/* as pa_open */
	size_t		 ta_cap_begun;
	uint64_t	 ta_bucket[DTP_BUCKETS_LOG];
	struct span_counted ta_counted;
	/* All when the interval began. */
	uint64_t	 ta_bucket_then[DTP_BUCKETS_LOG];
	struct span_counted ta_counted_then;
	struct prof_span_kind ta_then;
};

struct span_info {
	char		*in_key;
	char		*in_value;
};

struct span_live {
	struct span_info *sl_info;
	size_t		 sl_ninfos;
	struct prof_event_info *sl_event;
	struct prof_accounting *sl_account;	/* as it was said last */
	/* By thread, since its first sample. */
	struct prof_map	 sl_by_tid;
	struct span_counts *sl_counts;
	size_t		 sl_nthreads;
	size_t		 sl_cap_threads;
	struct span_counts *sl_now;	/* of the last sample; or NULL */
	prof_span_each_fn *sl_each;	/* NULL: nobody */
	void		*sl_each_arg;
	struct prof_span_watch sl_watch; /* or empty */
};

struct prof_spans *
prof_spans_live_new(struct prof_err *error)
{
	struct prof_spans *spans = calloc(1, sizeof(*spans));

	if (spans != NULL)
		spans->ss_live = calloc(1, sizeof(*spans->ss_live));
	if (spans != NULL && spans->ss_live != NULL)
		return (spans);
	free(spans);
	prof_fail_nomem(error);
	return (NULL);
}

void
prof_span_live_free(struct prof_spans *spans)
{
	struct span_live *live = spans->ss_live;

	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_tally *tally = spans->ss_kind[n].ks_tally;

		if (tally == NULL)
			continue;
		free(tally->ta_waiting);
		free(tally->ta_begun);
		free(tally);
	}
	if (live == NULL)
		return;
	for (size_t n = 0; n < live->sl_ninfos; n++) {
		free(live->sl_info[n].in_key);
		free(live->sl_info[n].in_value);
	}
	free(live->sl_info);
	free(live->sl_event);
	free(live->sl_account);
	prof_map_free(&live->sl_by_tid);
	free(live->sl_counts);
	free(live);
}

/* ---------------------------------------------------------- what it hears */

/* From then on an event is recorded no more: what began goes on unseen. */
static int
detached_take(struct prof_spans *spans, unsigned long event, uint64_t from_ns)
{
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];

		if (event < spans->ss_nevents && kind->ks_role[event] != 0 &&
		    prof_span_gaps_end(&kind->ks_gaps, from_ns) == -1)
			return (-1);
	}
	return (0);
}

int
prof_spans_live_info(struct prof_spans *spans, const char *key,
    const char *value)
{
	struct span_live *live = spans->ss_live;
	struct span_info *info;

	if (strncmp(key, "detached.", 9) == 0)
		return (detached_take(spans, strtoul(key + 9, NULL, 10),
		    strtoull(value, NULL, 10)));
	if (strncmp(key, "span.", 5) != 0)
		return (0);
	info = prof_append(&live->sl_info, &live->sl_ninfos, sizeof(*info));
	if (info == NULL)
		return (-1);
	info->in_key = strdup(key);
	info->in_value = strdup(value);
	return (info->in_key == NULL || info->in_value == NULL ? -1 : 0);
}

/* Names are the session's, and stay. */
int
prof_spans_live_event(struct prof_spans *spans,
    const struct prof_event_info *info)
{
	struct prof_event_info *copy = prof_append(&spans->ss_live->sl_event,
	    &spans->ss_nevents, sizeof(*copy));

	if (copy == NULL)
		return (-1);
	*copy = *info;
	return (0);
}

static const char *
info_find(const struct span_live *live, size_t n, const char *what)
{
	char key[48];

	snprintf(key, sizeof(key), "span.%zu.%s", n, what);
	for (size_t i = 0; i < live->sl_ninfos; i++)
		if (strcmp(live->sl_info[i].in_key, key) == 0)
			return (live->sl_info[i].in_value);
	return (NULL);
}

static int
kind_define(struct prof_spans *spans, size_t n, struct prof_err *error)
{
	const struct span_live *live = spans->ss_live;
	const struct span_definition definition = {
		.sd_name = info_find(live, n, "name"),
		.sd_key = info_find(live, n, "key"),
		.sd_begin = info_find(live, n, "begin"),
		.sd_end = info_find(live, n, "end"),
		.sd_scope = info_find(live, n, "scope"),
	};
	struct span_kind *kind = prof_span_kind_new(spans, &definition, error);

	if (kind == NULL)
		return (-1);
	for (size_t e = 0; e < spans->ss_nevents; e++)
		prof_span_kind_event(kind, e, &live->sl_event[e]);
	kind->ks_tally = calloc(1, sizeof(*kind->ks_tally));
	if (kind->ks_tally == NULL)
		return (prof_fail_nomem(error));
	kind->ks_tally->ta_trim_at = TRIM_LEAST;
	return (0);
}

/* All events are known before the first record. */
static int
kinds_define(struct prof_spans *spans)
{
	struct span_live *live = spans->ss_live;
	struct prof_err error;

	if (live->sl_account != NULL)
		return (0);
	live->sl_account = calloc(spans->ss_nevents + 1,
	    sizeof(*live->sl_account));
	if (live->sl_account == NULL)
		return (-1);
	for (size_t n = 0; info_find(live, n, "name") != NULL; n++)
		if (kind_define(spans, n, &error) == -1)
			return (-1);
	return (0);
}

/* A sample brings what was counted since the last one of its thread. */
static int
counts_take(struct span_live *live, const struct prof_record *record)
{
	struct span_counts *counts;
	bool is_new;
	uint32_t n;

	live->sl_now = NULL;
	if (record->pr_type != PROF_R_SAMPLE || record->pr_nvalues == 0)
		return (0);
	n = prof_map_find(&live->sl_by_tid, record->pr_tid, &is_new);
	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&live->sl_counts, &live->sl_nthreads,
	    &live->sl_cap_threads, sizeof(*live->sl_counts)) == NULL))
		return (-1);
	live->sl_now = counts = &live->sl_counts[n];
	for (uint32_t i = 0; i < record->pr_nvalues; i++)
		counts->sc_value[i] += record->pr_values[i];
	counts->sc_ns += record->pr_values_ns;
	counts->sc_running_ns += record->pr_values_running_ns;
	return (0);
}

int
prof_spans_live_record(struct prof_spans *spans,
    const struct prof_record *record)
{
	if (kinds_define(spans) == -1 ||
	    counts_take(spans->ss_live, record) == -1)
		return (-1);
	spans->ss_last_ns = record->pr_time_ns;
	switch (record->pr_type) {
	case PROF_R_LOST:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		for (size_t n = 0; n < spans->ss_nkinds; n++)
			if (prof_span_gaps_take(&spans->ss_kind[n], record) ==
			    -1)
				return (-1);
		return (0);
	case PROF_R_SAMPLE:
	case PROF_R_EXIT:
	case PROF_R_EXEC:
		return (prof_span_record_take(spans, record));
	default:
		return (0);
	}
}

/* --------------------------------------------------------------- rounds */

/* sum += to - from */
static void
counts_add(struct span_counts *sum, const struct span_counts *to,
    const struct span_counts *from)
{
	for (int i = 0; i < PROF_MAX_VALUES; i++)
		sum->sc_value[i] += to->sc_value[i] - from->sc_value[i];
	sum->sc_ns += to->sc_ns - from->sc_ns;
	sum->sc_running_ns += to->sc_running_ns - from->sc_running_ns;
}

int
prof_span_live_begin(struct prof_spans *spans, struct span_kind *kind,
    size_t at)
{
	struct span_tally *tally = kind->ks_tally;
	const struct prof_span_watch *watch = &spans->ss_live->sl_watch;
	struct span_open *open = &kind->ks_pairs.pa_open[at];

	if (watch->sw_begun != NULL && (open->so_watched = watch->sw_begun(
	    watch->sw_arg, (size_t)(kind - spans->ss_kind), &open->so_span)) ==
	    UINT32_MAX)
		return (-1);
	if (spans->ss_live->sl_now == NULL)
		return (0);
	if (!prof_room(&tally->ta_begun, &tally->ta_cap_begun, at + 1,
	    sizeof(*tally->ta_begun)))
		return (-1);
	tally->ta_begun[at] = *spans->ss_live->sl_now;
	return (0);
}

int
prof_span_live_wait(struct prof_spans *spans, struct span_kind *kind,
    enum span_fate fate, const struct prof_span *span)
{
	const struct span_counts *now = spans->ss_live->sl_now;
	const struct prof_span_watch *watch = &spans->ss_live->sl_watch;
	struct span_tally *tally = kind->ks_tally;
	struct span_waiting *waiting = prof_grow((void **)&tally->ta_waiting,
	    &tally->ta_nwaiting, &tally->ta_cap_waiting, sizeof(*waiting));

	if (waiting == NULL)
		return (-1);
	waiting->wa_fate = fate;
	waiting->wa_span = *span;
	/* It is the one that was popped last. */
	if (fate != SPAN_ORPHAN)
		waiting->wa_watched = kind->ks_pairs.pa_open[
		    kind->ks_pairs.pa_free - 1].so_watched;
	if (fate != SPAN_ORPHAN && watch->sw_ended != NULL)
		watch->sw_ended(watch->sw_arg, waiting->wa_watched);
	if (fate != SPAN_PAIRED || now == NULL ||
	    span->sp_tid != span->sp_end_tid)
		return (0);
	waiting->wa_is_counted = true;
	counts_add(&waiting->wa_counts, now,
	    &tally->ta_begun[kind->ks_pairs.pa_free - 1]);
	return (0);
}

void
prof_spans_live_each(struct prof_spans *spans, prof_span_each_fn *fn,
    void *arg)
{
	spans->ss_live->sl_each = fn;
	spans->ss_live->sl_each_arg = arg;
}

void
prof_spans_live_watch(struct prof_spans *spans,
    const struct prof_span_watch *watch)
{
	spans->ss_live->sl_watch = *watch;
}

bool
prof_spans_live_unsure(const struct prof_spans *spans, size_t kind,
    uint64_t from_ns, uint64_t to_ns)
{
	return (prof_span_gaps_touch(&spans->ss_kind[kind].ks_gaps, from_ns,
	    to_ns));
}

bool
prof_spans_live_bounds(const struct prof_spans *spans, size_t event)
{
	for (size_t n = 0; n < spans->ss_nkinds; n++)
		if (spans->ss_kind[n].ks_role[event] != 0)
			return (true);
	return (false);
}

bool
prof_spans_live_moves(const struct prof_spans *spans, size_t kind)
{
	return (spans->ss_kind[kind].ks_scope != SPAN_THREAD);
}

/* Was it a span?  Who follows it hears of it. */
static bool
waiting_settle(const struct prof_spans *spans, struct span_kind *kind,
    const struct span_waiting *waiting)
{
	const struct prof_span_watch *watch = &spans->ss_live->sl_watch;
	const struct prof_span *span = &waiting->wa_span;
	const bool is_sure = !prof_span_gaps_touch(&kind->ks_gaps,
	    span->sp_begin_ns, span->sp_begin_ns + span->sp_duration_ns);

	if (watch->sw_settled != NULL && waiting->wa_fate != SPAN_ORPHAN)
		watch->sw_settled(watch->sw_arg, waiting->wa_watched, span,
		    waiting->wa_fate == SPAN_PAIRED, is_sure);
	return (prof_span_settle(kind, waiting->wa_fate, span));
}

static void
kind_settle(const struct prof_spans *spans, struct span_kind *kind)
{
	const struct span_live *live = spans->ss_live;
	struct prof_span_kind *sk = &kind->ks_kind;
	struct span_tally *tally = kind->ks_tally;
	static const struct span_counts none;

	for (size_t n = 0; n < tally->ta_nwaiting; n++) {
		const struct span_waiting *waiting = &tally->ta_waiting[n];
		const uint64_t ns = waiting->wa_span.sp_duration_ns;

		if (!waiting_settle(spans, kind, waiting))
			continue;
		sk->sk_count++;
		sk->sk_total_ns += ns;
		sk->sk_max_ns = ns > sk->sk_max_ns ? ns : sk->sk_max_ns;
		tally->ta_bucket[dtp_bucket_log(ns)]++;
		if (live->sl_each != NULL)
			live->sl_each(live->sl_each_arg, sk->sk_name,
			    &waiting->wa_span);
		if (!waiting->wa_is_counted)
			continue;
		tally->ta_counted.co_spans++;
		counts_add(&tally->ta_counted.co_sum, &waiting->wa_counts,
		    &none);
	}
	tally->ta_nwaiting = 0;
}

/* Now and then, when there are twice as many as were left. */
static int
keys_trim(struct span_kind *kind)
{
	struct span_tally *tally = kind->ks_tally;

	if (kind->ks_pairs.pa_nkeys < tally->ta_trim_at)
		return (0);
	if (prof_span_keys_trim(kind) == -1)
		return (-1);
	tally->ta_trim_at = 2 * kind->ks_pairs.pa_nkeys + TRIM_LEAST;
	return (0);
}

int
prof_spans_live_round(struct prof_spans *spans, bool is_last,
    struct prof_err *error)
{
	if (kinds_define(spans) == -1)
		return (prof_fail_nomem(error));
	spans->ss_nitems = spans->ss_texts.dt_count;
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];

		if ((is_last && prof_span_kind_close(spans, kind) == -1) ||
		    keys_trim(kind) == -1)
			return (prof_fail_nomem(error));
		kind_settle(spans, kind);
		spans->ss_nitems += prof_span_items(kind);
	}
	return (0);
}

/* -------------------------------------------------------------- figures */

void
prof_spans_live_account(struct prof_spans *spans, size_t event,
    const struct prof_accounting *pa)
{
	struct span_live *live = spans->ss_live;

	if (live->sl_account == NULL || event >= spans->ss_nevents)
		return;
	live->sl_account[event] = *pa;
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];
		struct prof_span_kind *sk = &kind->ks_kind;

		sk->sk_lost_begins = sk->sk_lost_ends = 0;
		sk->sk_missed = sk->sk_late = 0;
		for (size_t e = 0; e < spans->ss_nevents; e++)
			prof_span_kind_account(kind, e, &live->sl_account[e]);
	}
}

void
prof_spans_live_lap(struct prof_spans *spans)
{
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		const struct span_kind *kind = &spans->ss_kind[n];
		struct span_tally *tally = kind->ks_tally;

		tally->ta_then = kind->ks_kind;
		tally->ta_counted_then = tally->ta_counted;
		memcpy(tally->ta_bucket_then, tally->ta_bucket,
		    sizeof(tally->ta_bucket));
	}
}

/* The end of the least bucket that so many percent are not above. */
static uint64_t
quantile_of(const struct span_tally *tally, bool is_lap,
    const struct prof_span_kind *sk, unsigned percent)
{
	const uint64_t rank = (sk->sk_count * percent + 99) / 100;
	uint64_t below = 0, high;
	uint32_t b = 0;

	for (; b < DTP_BUCKETS_LOG; b++) {
		below += tally->ta_bucket[b] -
		    (is_lap ? tally->ta_bucket_then[b] : 0);
		if (below >= rank)
			break;
	}
	high = dtp_bucket_low(b + 1) - 1;
	return (high < sk->sk_max_ns ? high : sk->sk_max_ns);
}

static uint64_t
open_now(const struct span_pairs *pairs)
{
	uint64_t n = pairs->pa_nopen;

	for (uint32_t at = pairs->pa_free; at != 0;
	    at = pairs->pa_open[at - 1].so_below)
		n--;
	return (n);
}

static void
kind_since(const struct prof_span_kind *then, struct prof_span_kind *sk)
{
	sk->sk_count -= then->sk_count;
	sk->sk_open -= then->sk_open;
	sk->sk_orphan -= then->sk_orphan;
	sk->sk_unpaired_begins -= then->sk_unpaired_begins;
	sk->sk_unpaired_ends -= then->sk_unpaired_ends;
	sk->sk_lost_begins -= then->sk_lost_begins;
	sk->sk_lost_ends -= then->sk_lost_ends;
	sk->sk_missed -= then->sk_missed;
	sk->sk_late -= then->sk_late;
	sk->sk_total_ns -= then->sk_total_ns;
}

void
prof_spans_live_kind(const struct prof_spans *spans, size_t n, bool is_lap,
    struct prof_span_kind *sk)
{
	const struct span_kind *kind = &spans->ss_kind[n];
	const struct span_tally *tally = kind->ks_tally;

	*sk = kind->ks_kind;
	if (is_lap)
		kind_since(&tally->ta_then, sk);
	sk->sk_open += open_now(&kind->ks_pairs);
	if (sk->sk_count == 0)
		return;
	sk->sk_max_ns = quantile_of(tally, is_lap, sk, 100);
	sk->sk_p50_ns = quantile_of(tally, is_lap, sk, 50);
	sk->sk_p90_ns = quantile_of(tally, is_lap, sk, 90);
	sk->sk_p99_ns = quantile_of(tally, is_lap, sk, 99);
}

bool
prof_spans_live_counter(const struct prof_spans *spans, size_t n, size_t i,
    bool is_lap, struct prof_span_counter *counter)
{
	static const struct span_counted none;
	const struct span_live *live = spans->ss_live;
	const struct span_kind *kind = &spans->ss_kind[n];
	const struct span_tally *tally = kind->ks_tally;
	const struct span_counted *then = is_lap ? &tally->ta_counted_then :
	    &none;
	struct span_counts sum = { 0 };
	const struct prof_event_info *info = NULL;

	/* All events that samples come of have the same. */
	for (size_t e = 0; e < spans->ss_nevents && info == NULL; e++)
		if (kind->ks_role[e] != 0)
			info = &live->sl_event[e];
	if (info == NULL || i >= info->pi_ncounters ||
	    info->pi_counter[i] >= spans->ss_nevents)
		return (false);
	counts_add(&sum, &tally->ta_counted.co_sum, &then->co_sum);
	counter->sr_name = live->sl_event[info->pi_counter[i]].pi_name;
	counter->sr_count = sum.sc_value[i];
	counter->sr_spans = tally->ta_counted.co_spans - then->co_spans;
	counter->sr_running = sum.sc_ns == 0 ? 1 :
	    (double)sum.sc_running_ns / (double)sum.sc_ns;
	return (true);
}
