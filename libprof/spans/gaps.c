/* SPDX-License-Identifier: ISC */
/*
 * When begins or ends of spans may be missing: while their event, or the ends
 * of threads, were lost, in pauses, and once an event was detached.  Called by
 * spans.c, pair.c and live.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/search.h"
#include "recording/query.h"
#include "spans_impl.h"

/* Of one kind; a file could claim more, and as many kinds. */
#define MAX_GAPS	(1U << 16)

/* Where there is no room for one more, it and the last become one. */
static int
gap_add(struct span_gaps *gaps, uint64_t from_ns, uint64_t to_ns)
{
	struct span_gap *gap;

	if (gaps->gs_n >= MAX_GAPS) {
		gap = &gaps->gs_gap[gaps->gs_n - 1];
		gap->ga_from_ns = from_ns < gap->ga_from_ns ? from_ns :
		    gap->ga_from_ns;
		gap->ga_to_ns = to_ns > gap->ga_to_ns ? to_ns : gap->ga_to_ns;
		return (0);
	}
	gap = prof_grow((void **)&gaps->gs_gap, &gaps->gs_n, &gaps->gs_cap,
	    sizeof(*gap));
	if (gap == NULL)
		return (-1);
	gap->ga_from_ns = from_ns;
	gap->ga_to_ns = to_ns;
	return (0);
}

static int
gap_order(const void *a, const void *b)
{
	const struct span_gap *x = a, *y = b;

	return ((x->ga_from_ns > y->ga_from_ns) -
	    (x->ga_from_ns < y->ga_from_ns));
}

static void
gaps_merge(struct span_gaps *gaps)
{
	size_t kept = 0;

	if (gaps->gs_n == 0)
		return;
	qsort(gaps->gs_gap, gaps->gs_n, sizeof(*gaps->gs_gap), gap_order);
	for (size_t n = 1; n < gaps->gs_n; n++) {
		const struct span_gap *gap = &gaps->gs_gap[n];
		struct span_gap *last = &gaps->gs_gap[kept];

		if (gap->ga_from_ns > last->ga_to_ns)
			gaps->gs_gap[++kept] = *gap;
		else if (gap->ga_to_ns > last->ga_to_ns)
			last->ga_to_ns = gap->ga_to_ns;
	}
	gaps->gs_n = kept + 1;
}

/* Event 0 has the ends of threads; pr_addr 0: mappings were lost. */
static bool
is_gap(const struct span_kind *kind, const struct prof_record *record)
{
	return (record->pr_type == PROF_R_LOST && record->pr_addr != 0 &&
	    (record->pr_event == 0 || kind->ks_role[record->pr_event] != 0));
}

/* Of a pause the begin alone, until it ends. */
static int
gap_take(struct span_kind *kind, const struct prof_record *record)
{
	const uint64_t time_ns = record->pr_time_ns;
	const uint64_t pause_ns = kind->ks_pause_ns;

	switch (record->pr_type) {
	case PROF_R_LOST:
		return (is_gap(kind, record) ? gap_add(&kind->ks_gaps,
		    record->pr_addr, time_ns) : 0);
	case PROF_R_PAUSE:
		if (pause_ns != 0)
			return (0);
		kind->ks_pause_ns = time_ns;
		return (gap_add(&kind->ks_gaps, time_ns, time_ns));
	case PROF_R_RESUME:
		kind->ks_pause_ns = 0;
		return (pause_ns == 0 ? 0 : gap_add(&kind->ks_gaps, pause_ns,
		    time_ns));
	default:
		return (0);
	}
}

/* From when on one of its events was not recorded, if it was detached. */
static int
detached_find(const struct prof_reader *reader, struct span_kind *kind)
{
	const size_t nevents = prof_reader_nevents(reader);
	const char *text;
	char key[32];

	for (size_t e = 1; e < nevents; e++) {
		if (kind->ks_role[e] == 0)
			continue;
		snprintf(key, sizeof(key), "detached.%zu", e);
		text = prof_reader_info(reader, key);
		if (text != NULL && gap_add(&kind->ks_gaps,
		    strtoull(text, NULL, 10), UINT64_MAX) == -1)
			return (-1);
	}
	return (0);
}

int
prof_span_gaps_find(const struct prof_reader *reader, struct span_kind *kind)
{
	struct span_gaps *gaps = &kind->ks_gaps;
	struct prof_record record;
	int rv = detached_find(reader, kind);

	for (size_t n = 0; n < prof_reader_nlife(reader) && rv == 0; n++) {
		prof_reader_life(reader, n, &record);
		rv = gap_take(kind, &record);
	}
	if (rv == 0 && kind->ks_pause_ns != 0)
		rv = gap_add(gaps, kind->ks_pause_ns, UINT64_MAX);
	gaps_merge(gaps);
	return (rv);
}

int
prof_span_gaps_take(struct span_kind *kind, const struct prof_record *record)
{
	const int rv = gap_take(kind, record);

	gaps_merge(&kind->ks_gaps);
	return (rv);
}

int
prof_span_gaps_end(struct span_gaps *gaps, uint64_t from_ns)
{
	const int rv = gap_add(gaps, from_ns, UINT64_MAX);

	gaps_merge(gaps);
	return (rv);
}

bool
prof_span_gaps_touch(const struct span_gaps *gaps, uint64_t from_ns,
    uint64_t to_ns)
{
	const size_t first = PROF_BEFORE(n, gaps->gs_n,
	    gaps->gs_gap[n].ga_to_ns < from_ns);

	return (first < gaps->gs_n && gaps->gs_gap[first].ga_from_ns <= to_ns);
}
