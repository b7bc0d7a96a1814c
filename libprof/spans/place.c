/* SPDX-License-Identifier: ISC */
/*
 * Which span of a kind a thread was in at a time.
 *
 *	span 1    |---------------|
 *	span 2            |---------------|
 *	          |   1   |  none |   2   |
 *
 * A sample in several is in none of them: which one it worked for cannot be
 * told.  Nor is it in one that another thread ends, which may work elsewhere
 * by then.  Calls of a function to itself are one, the outermost.  Once the
 * thread has exited it is in none.
 *
 * How long the thread ran in each place, and how long it did not, is the
 * difference of what the begins and ends around it brought.
 *
 * Called by spans.c and, for each sample, by profile/.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "recording/query.h"
#include "spans_impl.h"

/* Where spans of a thread begin or end. */
struct edge {
	uint64_t	ed_time_ns;
	uint32_t	ed_tid;
	uint32_t	ed_span;	/* its number */
	int32_t		ed_count;	/* below 0: an end; 2: none has it */
};

struct edges {
	const struct span_exits *es_exits;
	struct edge	*es_edge;
	size_t		 es_n;
	size_t		 es_cap;
};

static int
edge_order(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->ed_tid != y->ed_tid)
		return (x->ed_tid > y->ed_tid ? 1 : -1);
	if (x->ed_time_ns != y->ed_time_ns)
		return (x->ed_time_ns > y->ed_time_ns ? 1 : -1);
	return ((x->ed_count > y->ed_count) - (x->ed_count < y->ed_count));
}

static int
edges_add(struct edges *edges, const struct prof_span *span, uint32_t number,
    int32_t count)
{
	const uint64_t end_ns = span->sp_begin_ns + span->sp_duration_ns;
	const uint64_t exit_ns = prof_span_exit_after(edges->es_exits,
	    span->sp_tid, span->sp_begin_ns);
	/* What ends it then has the number of the thread that is gone. */
	const int32_t nth = exit_ns < end_ns ? 2 : count;
	const struct edge both[2] = {
		{ span->sp_begin_ns, span->sp_tid, number, nth },
		{ exit_ns < end_ns ? exit_ns : end_ns, span->sp_tid, number,
		    -nth },
	};

	/* Of a file whose times go back: it has no place. */
	if (span->sp_duration_ns > UINT64_MAX - span->sp_begin_ns)
		return (0);
	for (int n = 0; n < 2; n++) {
		struct edge *edge = prof_grow((void **)&edges->es_edge,
		    &edges->es_n, &edges->es_cap, sizeof(*edge));

		if (edge == NULL)
			return (-1);
		*edge = both[n];
	}
	return (0);
}

static int
edges_collect(const struct span_kind *kind, struct edges *edges)
{
	for (size_t n = 0; n < kind->ks_nspans; n++) {
		const struct prof_span *span = &kind->ks_span[n];

		if (kind->ks_scope == SPAN_THREAD && span->sp_depth > 0)
			continue;
		if (edges_add(edges, span, (uint32_t)n,
		    span->sp_tid == span->sp_end_tid ? 1 : 2) == -1)
			return (-1);
	}
	for (size_t n = 0; n < kind->ks_nrest; n++)
		if (edges_add(edges, &kind->ks_rest[n], 0, 2) == -1)
			return (-1);
	return (0);
}

static int
tick_order(const void *a, const void *b)
{
	const struct span_tick *x = a, *y = b;

	if (x->ti_tid != y->ti_tid)
		return (x->ti_tid > y->ti_tid ? 1 : -1);
	return ((x->ti_time_ns > y->ti_time_ns) -
	    (x->ti_time_ns < y->ti_time_ns));
}

/* NULL: the event there brought nothing. */
static const struct span_tick *
tick_find(const struct span_kind *kind, uint32_t tid, uint64_t time_ns)
{
	const struct span_tick *tick = kind->ks_tick;
	const size_t n = PROF_BEFORE(i, kind->ks_nticks, tick[i].ti_tid < tid ||
	    (tick[i].ti_tid == tid && tick[i].ti_time_ns < time_ns));

	return (n < kind->ks_nticks && tick[n].ti_tid == tid &&
	    tick[n].ti_time_ns == time_ns ? &tick[n] : NULL);
}

/* Sums that go back, or grow by more than the time, are of a damaged file. */
static void
place_time(const struct span_kind *kind, struct span_place *place)
{
	const uint64_t ns = place->pl_to_ns - place->pl_from_ns;
	const struct span_tick *from, *to;
	uint64_t running_ns, off_ns;

	from = tick_find(kind, place->pl_tid, place->pl_from_ns);
	to = tick_find(kind, place->pl_tid, place->pl_to_ns);
	if (from == NULL || to == NULL)
		return;
	place->pl_is_timed = true;
	running_ns = to->ti_running_ns - from->ti_running_ns;
	off_ns = to->ti_off_ns - from->ti_off_ns;
	if (running_ns > ns || off_ns > ns - running_ns)
		return;
	place->pl_running_ns = running_ns;
	place->pl_off_ns = off_ns;
}

/* From each edge to the next one of the thread, where it is in any. */
static int
places_make(struct span_kind *kind, const struct edges *edges)
{
	uint64_t sum = 0;
	int64_t count = 0;

	for (size_t n = 0; n + 1 < edges->es_n; n++) {
		const struct edge *edge = &edges->es_edge[n];
		struct span_place *place;

		count += edge->ed_count;
		/* Of one that is alone, its number. */
		sum = edge->ed_count > 0 ? sum + edge->ed_span :
		    sum - edge->ed_span;
		if (count == 0 || edge[1].ed_time_ns == edge->ed_time_ns)
			continue;
		place = prof_grow((void **)&kind->ks_place,
		    &kind->ks_nplaces, &kind->ks_cap_places, sizeof(*place));
		if (place == NULL)
			return (-1);
		place->pl_tid = edge->ed_tid;
		place->pl_from_ns = edge->ed_time_ns;
		place->pl_to_ns = edge[1].ed_time_ns;
		place->pl_span = count == 1 ? (uint32_t)sum : SPAN_AMBIGUOUS;
		if (count == 1)
			place_time(kind, place);
	}
	return (0);
}

static void
places_sum(struct span_kind *kind)
{
	struct prof_span_kind *sk = &kind->ks_kind;

	for (size_t n = 0; n < kind->ks_nplaces; n++) {
		const struct span_place *place = &kind->ks_place[n];
		const uint64_t ns = place->pl_to_ns - place->pl_from_ns;

		sk->sk_inside_ns += ns;
		if (place->pl_span == SPAN_AMBIGUOUS) {
			sk->sk_ambiguous_ns += ns;
			continue;
		}
		sk->sk_running_ns += place->pl_running_ns;
		sk->sk_not_running_ns += place->pl_off_ns;
		sk->sk_gaps += place->pl_is_timed &&
		    place->pl_running_ns + place->pl_off_ns != ns;
	}
}

int
prof_span_places_make(const struct span_exits *exits, struct span_kind *kind)
{
	struct edges edges = { .es_exits = exits };
	int rv = edges_collect(kind, &edges);

	if (rv == 0 && edges.es_n > 0) {
		qsort(edges.es_edge, edges.es_n, sizeof(*edges.es_edge),
		    edge_order);
		if (kind->ks_nticks > 0)
			qsort(kind->ks_tick, kind->ks_nticks,
			    sizeof(*kind->ks_tick), tick_order);
		rv = places_make(kind, &edges);
	}
	free(edges.es_edge);
	kind->ks_kind.sk_has_times = kind->ks_nticks > 0;
	if (rv == 0 && kind->ks_kind.sk_has_times)
		places_sum(kind);
	free(kind->ks_tick);
	kind->ks_tick = NULL;
	kind->ks_nticks = kind->ks_cap_ticks = 0;
	return (rv);
}

static const struct span_place *
place_find(const struct span_kind *kind, uint32_t tid, uint64_t time_ns)
{
	const struct span_place *place = kind->ks_place;
	const size_t upto = PROF_BEFORE(n, kind->ks_nplaces,
	    place[n].pl_tid < tid || (place[n].pl_tid == tid &&
	    place[n].pl_from_ns <= time_ns));

	if (upto == 0)
		return (NULL);
	place += upto - 1;
	return (place->pl_tid == tid && time_ns < place->pl_to_ns ? place :
	    NULL);
}

const struct prof_span *
prof_spans_at(const struct prof_spans *spans, size_t n, uint32_t tid,
    uint64_t time_ns)
{
	const struct span_kind *kind = &spans->ss_kind[n];
	const struct span_place *place = place_find(kind, tid, time_ns);

	return (place == NULL || place->pl_span == SPAN_AMBIGUOUS ? NULL :
	    &kind->ks_span[place->pl_span]);
}

void
prof_spans_time(const struct prof_spans *spans, size_t n,
    struct prof_span_time *time)
{
	const struct span_kind *kind = &spans->ss_kind[n];

	memset(time, 0, kind->ks_nspans * sizeof(*time));
	for (size_t i = 0; i < kind->ks_nplaces; i++) {
		const struct span_place *place = &kind->ks_place[i];
		struct prof_span_time *st;

		if (place->pl_span == SPAN_AMBIGUOUS)
			continue;
		st = &time[place->pl_span];
		st->st_alone_ns += place->pl_to_ns - place->pl_from_ns;
		st->st_running_ns += place->pl_running_ns;
		st->st_off_ns += place->pl_off_ns;
	}
}

static void
sample_count(struct prof_spans *spans, const struct prof_record *record)
{
	for (size_t n = 0; n < spans->ss_nkinds; n++) {
		struct span_kind *kind = &spans->ss_kind[n];
		const struct span_place *place = place_find(kind,
		    record->pr_tid, record->pr_time_ns);

		if (place == NULL)
			continue;
		if (place->pl_span == SPAN_AMBIGUOUS)
			kind->ks_kind.sk_ambiguous++;
		else
			kind->ks_kind.sk_samples++;
	}
}

int
prof_spans_count(struct prof_spans *spans)
{
	const struct prof_record *record;
	int rv;

	for (size_t n = 0; n < spans->ss_nkinds; n++)
		spans->ss_kind[n].ks_kind.sk_samples =
		    spans->ss_kind[n].ks_kind.sk_ambiguous = 0;
	(void)prof_reader_rewind(spans->ss_reader);
	while ((rv = prof_reader_borrow(spans->ss_reader, &record)) == 1)
		if (record->pr_type == PROF_R_SAMPLE && !prof_reader_event(
		    spans->ss_reader, record->pr_event)->pi_is_of_span)
			sample_count(spans, record);
	(void)prof_reader_rewind(spans->ss_reader);
	return (rv);
}
