/* SPDX-License-Identifier: ISC */
/*
 * The spans of a recording: which kinds it defines, and how long those that
 * were paired took.  Called by commands, and by profile/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "recording/format.h"
#include "recording/query.h"
#include "spans_impl.h"

static const char *
kind_info(const struct prof_reader *reader, size_t n, const char *what)
{
	char key[48];

	snprintf(key, sizeof(key), "span.%zu.%s", n, what);
	return (prof_reader_info(reader, key));
}

/* "3 4": these events have this role; false: it is not such a list. */
static bool
roles_set(const struct prof_spans *spans, struct span_kind *kind,
    const char *text, unsigned role)
{
	unsigned long event;
	char *end;

	do {
		errno = 0;
		event = strtoul(text, &end, 10);
		if (end == text || errno != 0 || event == 0 ||
		    event >= spans->ss_nevents || (*end != ' ' &&
		    *end != '\0'))
			return (false);
		kind->ks_role[event] |= (uint8_t)role;
		text = end + 1;
	} while (*end != '\0');
	return (true);
}

void
prof_span_kind_event(struct span_kind *kind, size_t event,
    const struct prof_event_info *info)
{
	const char *name = kind->ks_kind.sk_key;

	kind->ks_argument[event] = -1;
	for (uint32_t a = 0; name != NULL && a < info->pi_nargs; a++)
		if (strcmp(info->pi_arg_names[a], name) == 0)
			kind->ks_argument[event] = (int)a;
}

static struct span_kind *
definition_refuse(struct prof_err *error)
{
	prof_fail(error, PROF_E_DAMAGED,
	    "the recording's definition of a span is damaged");
	return (NULL);
}

struct span_kind *
prof_span_kind_new(struct prof_spans *spans,
    const struct span_definition *sd, struct prof_err *error)
{
	struct span_kind *kind;

	/* Each span name takes memory for all events. */
	if (spans->ss_nkinds == PROF_MAX_SPANS)
		return (definition_refuse(error));
	kind = prof_append(&spans->ss_kind, &spans->ss_nkinds, sizeof(*kind));
	if (kind != NULL) {
		kind->ks_role = calloc(spans->ss_nevents,
		    sizeof(*kind->ks_role));
		kind->ks_argument = calloc(spans->ss_nevents,
		    sizeof(*kind->ks_argument));
	}
	if (kind == NULL || kind->ks_role == NULL ||
	    kind->ks_argument == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	kind->ks_kind.sk_name = sd->sd_name;
	kind->ks_kind.sk_key = sd->sd_key;
	if (sd->sd_begin == NULL || sd->sd_end == NULL ||
	    sd->sd_scope == NULL ||
	    !roles_set(spans, kind, sd->sd_begin, SPAN_BEGIN) ||
	    !roles_set(spans, kind, sd->sd_end, SPAN_END))
		return (definition_refuse(error));
	if (sd->sd_key == NULL)
		kind->ks_scope = SPAN_THREAD;
	else
		kind->ks_scope = strcmp(sd->sd_scope, "machine") == 0 ?
		    SPAN_MACHINE : SPAN_PROCESS;
	return (kind);
}

static int
kind_define(struct prof_spans *spans, size_t n, struct prof_err *error)
{
	struct prof_reader *reader = spans->ss_reader;
	const struct span_definition definition = {
		.sd_name = kind_info(reader, n, "name"),
		.sd_key = kind_info(reader, n, "key"),
		.sd_begin = kind_info(reader, n, "begin"),
		.sd_end = kind_info(reader, n, "end"),
		.sd_scope = kind_info(reader, n, "scope"),
	};
	struct span_kind *kind = prof_span_kind_new(spans, &definition, error);

	if (kind == NULL)
		return (-1);
	for (size_t e = 0; e < spans->ss_nevents; e++)
		prof_span_kind_event(kind, e, prof_reader_event(reader, e));
	return (prof_span_gaps_find(reader, kind) == -1 ?
	    prof_fail_nomem(error) : 0);
}

void
prof_span_kind_account(struct span_kind *kind, size_t event,
    const struct prof_accounting *pa)
{
	const unsigned role = kind->ks_role[event];

	if (role == 0)
		return;
	if (role & SPAN_BEGIN)
		kind->ks_kind.sk_lost_begins += prof_accounting_lost(pa);
	if (role & SPAN_END)
		kind->ks_kind.sk_lost_ends += prof_accounting_lost(pa);
	kind->ks_kind.sk_missed += pa->pa_missed;
	kind->ks_kind.sk_late += pa->pa_late;
}

/* Begins and ends that were lost, skipped or stored late. */
static void
kind_account(const struct prof_spans *spans, struct span_kind *kind)
{
	struct prof_accounting pa;

	for (size_t e = 1; e < spans->ss_nevents; e++)
		if (kind->ks_role[e] != 0 && prof_reader_accounting(
		    spans->ss_reader, e, -1, &pa) == 0)
			prof_span_kind_account(kind, e, &pa);
}

static int
number_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ((x > y) - (x < y));
}

static int
span_order(const void *a, const void *b)
{
	const struct prof_span *x = a, *y = b;

	if (x->sp_begin_ns != y->sp_begin_ns)
		return (x->sp_begin_ns > y->sp_begin_ns ? 1 : -1);
	return (x->sp_duration_ns == y->sp_duration_ns ? 0 :
	    x->sp_duration_ns < y->sp_duration_ns ? 1 : -1);
}

/* The smallest that is not below so many percent of all. */
static uint64_t
quantile_of(const uint64_t *sorted, size_t n, unsigned percent)
{
	return (sorted[(n * percent + 99) / 100 - 1]);
}

static int
kind_measure(struct span_kind *kind, struct prof_err *error)
{
	struct prof_span_kind *sk = &kind->ks_kind;
	const size_t n = kind->ks_nspans;
	uint64_t *sorted;

	sk->sk_count = n;
	sk->sk_spans = kind->ks_span;
	if (n == 0)
		return (0);
	qsort(kind->ks_span, n, sizeof(*kind->ks_span), span_order);
	if ((sorted = calloc(n, sizeof(*sorted))) == NULL)
		return (prof_fail_nomem(error));
	for (size_t i = 0; i < n; i++) {
		sorted[i] = kind->ks_span[i].sp_duration_ns;
		sk->sk_total_ns += sorted[i];
	}
	qsort(sorted, n, sizeof(*sorted), number_order);
	sk->sk_p50_ns = quantile_of(sorted, n, 50);
	sk->sk_p90_ns = quantile_of(sorted, n, 90);
	sk->sk_p99_ns = quantile_of(sorted, n, 99);
	sk->sk_max_ns = sorted[n - 1];
	free(sorted);
	return (0);
}

/* Merging keeps samples alone: no losses, and no ends of threads. */
static int
merged_refuse(const struct prof_reader *reader, struct prof_err *error)
{
	if (prof_reader_info(reader, "merged") == NULL)
		return (0);
	prof_fail(error, PROF_E_USAGE, "dtprof cannot find spans in a merged "
	    "recording, because a merged recording stores neither records of "
	    "lost samples nor thread exits");
	return (prof_cure(error, "read the recordings one at a time"));
}

struct prof_spans *
prof_spans_new(struct prof_reader *reader, struct prof_err *error)
{
	struct prof_spans *spans;
	int rv = 0;

	if (merged_refuse(reader, error) == -1)
		return (NULL);
	if ((spans = calloc(1, sizeof(*spans))) == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	spans->ss_reader = reader;
	spans->ss_nevents = prof_reader_nevents(reader);
	for (size_t n = 0; rv == 0 && kind_info(reader, n, "name") != NULL;
	    n++)
		rv = kind_define(spans, n, error);
	if (rv == 0 && spans->ss_nkinds > 0)
		rv = prof_span_exits_find(reader, &spans->ss_exits) == -1 ?
		    prof_fail_nomem(error) : prof_spans_pair(spans, error);
	for (size_t n = 0; n < spans->ss_nkinds && rv == 0; n++) {
		kind_account(spans, &spans->ss_kind[n]);
		rv = kind_measure(&spans->ss_kind[n], error);
		if (rv == 0 && prof_span_places_make(&spans->ss_exits,
		    &spans->ss_kind[n]) == -1)
			rv = prof_fail_nomem(error);
	}
	if (rv == 0)
		return (spans);
	prof_spans_free(spans);
	return (NULL);
}

size_t
prof_spans_nkinds(const struct prof_spans *spans)
{
	return (spans->ss_nkinds);
}

const struct prof_span_kind *
prof_spans_kind(const struct prof_spans *spans, size_t n)
{
	return (n < spans->ss_nkinds ? &spans->ss_kind[n].ks_kind : NULL);
}

void
prof_spans_free(struct prof_spans *spans)
{
	if (spans == NULL)
		return;
	prof_span_live_free(spans);
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];

		prof_span_pairs_fini(&kind->ks_pairs);
		free(kind->ks_gaps.gs_gap);
		free(kind->ks_role);
		free(kind->ks_argument);
		free(kind->ks_span);
		free(kind->ks_rest);
		free(kind->ks_tick);
		free(kind->ks_place);
	}
	free(spans->ss_kind);
	prof_span_pids_fini(&spans->ss_pids);
	free(spans->ss_exits.se_exit);
	prof_dict_free(&spans->ss_texts);
	free(spans);
}
