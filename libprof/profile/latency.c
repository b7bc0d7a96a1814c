/* SPDX-License-Identifier: ISC */
/*
 * How long calls, waits and spans took, and when they ended: buckets of time
 * and of duration, from which heat maps of latency are drawn.  A bucket of
 * duration is one of abi/dtp_group.h, by which the kernel aggregates, too.
 *
 * A pass over all samples of its own, without symbols.  Memory is bounded as
 * that of a profile's buckets is: where there are too many, each becomes twice
 * as long in time.  Called by commands.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_group.h"
#include "base/error.h"
#include "profile_impl.h"
#include "recording/query.h"

#define SPAN_PREFIX	"span:"

struct prof_latencies {
	struct prof_reader *ls_reader;
	struct prof_profile_options ls_options;
	struct prof_select ls_select;
	struct prof_history *ls_history;
	struct prof_spans *ls_spans;	/* NULL: there are none */
	size_t		 ls_nevents;
	/* Events, then kinds of spans; those that have no duration are NULL. */
	struct prof_latency *ls_of;
	size_t		 ls_n;
	struct prof_buckets ls_buckets;	/* pc_event: of ls_of */
	uint64_t	 ls_from_ns;
	uint64_t	 ls_begin_ns;	/* since the recording began */
	struct prof_latency_cell *ls_cell;
};

uint64_t
prof_latency_row_ns(uint32_t row)
{
	return (dtp_bucket_low(row));
}

/* ----------------------------------------------------- what there is */

/* Merging keeps samples alone, by which spans cannot be paired. */
static bool
has_spans(const struct prof_reader *reader,
    const struct prof_profile_options *options)
{
	return (options->pl_filter == NULL && !options->pl_held &&
	    prof_reader_info(reader, "span.0.name") != NULL &&
	    prof_reader_info(reader, "merged") == NULL);
}

static void
call_define(struct prof_latencies *ls, size_t event)
{
	const struct prof_event_info *info = prof_reader_event(ls->ls_reader,
	    event);
	struct prof_accounting pa;

	if (!info->pi_is_call && strcmp(info->pi_provider, "wait") != 0)
		return;
	ls->ls_of[event].lt_name = info->pi_name;
	ls->ls_of[event].lt_event = (uint32_t)event;
	if (prof_reader_accounting(ls->ls_reader, event, -1, &pa) == -1)
		return;
	ls->ls_of[event].lt_lost = prof_accounting_lost(&pa);
	ls->ls_of[event].lt_missed = pa.pa_missed;
}

static int
span_define(struct prof_latencies *ls, size_t kind)
{
	struct prof_latency *of = &ls->ls_of[ls->ls_nevents + kind];
	const struct prof_span_kind *sk = prof_spans_kind(ls->ls_spans, kind);
	const size_t size = sizeof(SPAN_PREFIX) + strlen(sk->sk_name);
	char *name = malloc(size);

	if (name == NULL)
		return (-1);
	strcpy(name, SPAN_PREFIX);
	strcat(name, sk->sk_name);
	of->lt_name = name;
	of->lt_kind = sk;
	of->lt_lost = sk->sk_lost_begins + sk->sk_unpaired_begins;
	of->lt_missed = sk->sk_missed;
	return (0);
}

static int
all_define(struct prof_latencies *ls, struct prof_err *error)
{
	size_t nkinds = 0;

	if (has_spans(ls->ls_reader, &ls->ls_options)) {
		ls->ls_spans = prof_spans_new(ls->ls_reader, error);
		if (ls->ls_spans == NULL)
			return (-1);
		nkinds = prof_spans_nkinds(ls->ls_spans);
	}
	ls->ls_n = ls->ls_nevents + nkinds;
	ls->ls_of = calloc(ls->ls_n + 1, sizeof(*ls->ls_of));
	if (ls->ls_of == NULL)
		return (prof_fail_nomem(error));
	for (size_t e = 1; e < ls->ls_nevents; e++)
		call_define(ls, e);
	for (size_t k = 0; k < nkinds; k++)
		if (span_define(ls, k) == -1)
			return (prof_fail_nomem(error));
	return (0);
}

/* --------------------------------------------------------- durations */

static int
duration_add(struct prof_latencies *ls, size_t of, uint64_t end_ns,
    uint64_t duration_ns)
{
	uint64_t at;

	/* Without a start the first one is where time begins. */
	if (ls->ls_from_ns == 0)
		ls->ls_from_ns = end_ns;
	at = end_ns < ls->ls_from_ns ? 0 :
	    (end_ns - ls->ls_from_ns) / ls->ls_options.pl_bucket_ns;
	ls->ls_of[of].lt_count++;
	return (prof_buckets_add(&ls->ls_buckets, &(struct prof_bucket){
	    .pc_bucket = at < INT32_MAX ? (uint32_t)at : INT32_MAX,
	    .pc_node = dtp_bucket_log(duration_ns),
	    .pc_event = (uint32_t)of,
	    .pc_samples = 1 }));
}

static bool
call_is_wanted(const struct prof_latencies *ls,
    const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;
	struct prof_moment moment;

	if (ls->ls_of[record->pr_event].lt_name == NULL ||
	    !prof_select_time(&ls->ls_select, record->pr_time_ns))
		return (false);
	if (ls->ls_select.se_filter == NULL && ls->ls_select.se_held == NULL)
		return (true);
	prof_history_at(ls->ls_history, record->pr_tid, record->pr_time_ns,
	    &moment);
	return (prof_select_wants(&ls->ls_select, sample, moment.mo_comm));
}

static int
call_add(void *arg, const struct prof_sample *sample)
{
	struct prof_latencies *ls = arg;
	const struct prof_record *record = &sample->sm_record;

	if (!call_is_wanted(ls, sample))
		return (0);
	if (record->pr_weight != 0)
		return (duration_add(ls, record->pr_event, record->pr_time_ns,
		    record->pr_weight));
	ls->ls_of[record->pr_event].lt_unknown++;
	return (0);
}

static int
calls_add(struct prof_latencies *ls, struct prof_err *error)
{
	int rv = prof_samples_each(ls->ls_reader, call_add, ls, error);

	if (rv == 0)
		rv = prof_select_check(&ls->ls_select, error);
	if (rv == 0 && prof_decoder_damage(ls->ls_reader, 0,
	    prof_decoder_nchunks(ls->ls_reader)) == -1) {
		*error = *prof_reader_error(ls->ls_reader);
		rv = -1;
	}
	return (rv);
}

static int
spans_add(struct prof_latencies *ls, struct prof_err *error)
{
	const struct prof_span_kind *kind;
	const struct prof_span *span;
	uint64_t end_ns;

	for (size_t k = 0; k + ls->ls_nevents < ls->ls_n; k++) {
		kind = prof_spans_kind(ls->ls_spans, k);
		for (size_t n = 0; n < kind->sk_count; n++) {
			span = &kind->sk_spans[n];
			end_ns = span->sp_begin_ns + span->sp_duration_ns;
			if (prof_select_time(&ls->ls_select, end_ns) &&
			    duration_add(ls, ls->ls_nevents + k, end_ns,
			    span->sp_duration_ns) == -1)
				return (prof_fail_nomem(error));
		}
	}
	return (0);
}

/* ------------------------------------------------------------- cells */

/* Buckets are in order of time, so are the cells of each. */
static int
cells_make(struct prof_latencies *ls)
{
	const struct prof_buckets *buckets = &ls->ls_buckets;
	const struct prof_bucket *bucket;
	struct prof_latency_cell *next;
	struct prof_latency *of;

	ls->ls_cell = calloc(buckets->ce_n + 1, sizeof(*ls->ls_cell));
	if (ls->ls_cell == NULL)
		return (-1);
	for (size_t n = 0; n < buckets->ce_n; n++)
		ls->ls_of[buckets->ce_bucket[n].pc_event].lt_ncells++;
	next = ls->ls_cell;
	for (size_t i = 0; i < ls->ls_n; i++) {
		of = &ls->ls_of[i];
		of->lt_cell = next;
		of->lt_from_ns = ls->ls_from_ns;
		of->lt_begin_ns = ls->ls_begin_ns;
		of->lt_bucket_ns = ls->ls_options.pl_bucket_ns <<
		    buckets->ce_halved;
		next += of->lt_ncells;
		of->lt_ncells = 0;
	}
	for (size_t n = 0; n < buckets->ce_n; n++) {
		bucket = &buckets->ce_bucket[n];
		of = &ls->ls_of[bucket->pc_event];
		ls->ls_cell[of->lt_cell - ls->ls_cell + of->lt_ncells++] =
		    (struct prof_latency_cell){ .lc_bucket = bucket->pc_bucket,
		    .lc_row = bucket->pc_node,
		    .lc_count = bucket->pc_samples };
	}
	return (0);
}

/* Also adds up what is the same. */
static int
buckets_finish(struct prof_latencies *ls)
{
	struct prof_buckets all = { 0 };
	int rv = prof_buckets_init(&all, DTP_BUCKETS_LOG,
	    ls->ls_options.pl_max_buckets);

	if (rv == 0)
		rv = prof_buckets_join(&all, &ls->ls_buckets);
	prof_buckets_fini(&ls->ls_buckets);
	ls->ls_buckets = all;
	return (rv);
}

static int
latencies_fill(struct prof_latencies *ls, struct prof_err *error)
{
	const struct prof_profile_options *options = &ls->ls_options;
	uint64_t start_ns;

	if (prof_reader_start(ls->ls_reader, &start_ns)) {
		ls->ls_from_ns = options->pl_from_ns > start_ns ?
		    options->pl_from_ns : start_ns;
		ls->ls_begin_ns = ls->ls_from_ns - start_ns;
	}
	ls->ls_nevents = prof_reader_nevents(ls->ls_reader);
	ls->ls_history = prof_history_new(ls->ls_reader,
	    options->pl_filter != NULL, error);
	if (ls->ls_history == NULL ||
	    prof_select_init(&ls->ls_select, ls->ls_reader, NULL, options,
	    error) == -1 || all_define(ls, error) == -1)
		return (-1);
	if (prof_buckets_init(&ls->ls_buckets, DTP_BUCKETS_LOG,
	    options->pl_max_buckets) == -1)
		return (prof_fail_nomem(error));
	if (calls_add(ls, error) == -1 || spans_add(ls, error) == -1)
		return (-1);
	return (buckets_finish(ls) == -1 || cells_make(ls) == -1 ?
	    prof_fail_nomem(error) : 0);
}

struct prof_latencies *
prof_latencies_new(struct prof_reader *reader,
    const struct prof_profile_options *given, struct prof_err *error)
{
	struct prof_latencies *ls = calloc(1, sizeof(*ls));
	struct prof_err why = { 0 };

	if (ls == NULL) {
		prof_fail_nomem(&why);
	} else if (prof_options_take(&ls->ls_options, sizeof(ls->ls_options),
	    given, "prof_profile_options", &why) == 0) {
		ls->ls_reader = reader;
		if (ls->ls_options.pl_bucket_ns == 0)
			ls->ls_options.pl_bucket_ns = UINT64_MAX;
		if (latencies_fill(ls, &why) == 0)
			return (ls);
	}
	if (error != NULL)
		*error = why;
	prof_latencies_free(ls);
	return (NULL);
}

const struct prof_latency *
prof_latencies_at(const struct prof_latencies *ls, size_t n)
{
	for (size_t i = 0; i < ls->ls_n; i++)
		if (ls->ls_of[i].lt_name != NULL && n-- == 0)
			return (&ls->ls_of[i]);
	return (NULL);
}

void
prof_profile_add_latencies(struct prof_profile *profile,
    const struct prof_latencies *latencies)
{
	profile->pf_latencies = latencies;
}

void
prof_latencies_free(struct prof_latencies *ls)
{
	if (ls == NULL)
		return;
	for (size_t i = ls->ls_nevents; ls->ls_of != NULL && i < ls->ls_n;
	    i++)
		free((char *)(uintptr_t)ls->ls_of[i].lt_name);
	free(ls->ls_of);
	free(ls->ls_cell);
	prof_buckets_fini(&ls->ls_buckets);
	prof_select_fini(&ls->ls_select);
	prof_history_free(ls->ls_history);
	prof_spans_free(ls->ls_spans);
	free(ls);
}
