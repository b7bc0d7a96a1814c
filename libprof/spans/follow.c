/* SPDX-License-Identifier: ISC */
/*
 * Which spans a record belongs to, and whether they are selected:
 *
 *	PENDING --> WANTED	it took, or has taken so far, long enough
 *	        |-> UNWANTED	it did not, or cannot any more
 *	        |-> UNSURE	its begin or end may be another one's
 *	        '-> UNENDED	the recording is over
 *
 * A sample is in a span as it is for a filter of a recording (place.c): the
 * one that its thread is in; if there are several of a kind, in none.  A begin
 * or end belongs to its own span alone, so that both or neither are kept:
 * pairing finds those spans again that were selected, and no others.
 *
 * Whether events were lost is known at the end of a round (live.c), so only
 * then is anything decided.  A span that goes on is selected as soon as it is
 * certain that it will be.  But one with a key has to end: if another thread
 * ends it, its samples may be of another's work.
 *
 * Called by speculation.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/intern.h"
#include "filter/filter.h"
#include "follow.h"
#include "live.h"

#define PLACES_LEAST	4096		/* that are not worth a look */
#define OWN		(1U << 31)	/* of a span's own begin or end */

/* A span that has begun, or that held samples refer to. */
struct tracked {
	size_t		 tr_kind;
	uint64_t	 tr_begin_ns;
	uint32_t	 tr_pid;
	uint32_t	 tr_tid;
	uint32_t	 tr_uses;	/* samples; and one until settled */
	uint32_t	 tr_below;	/* + 1; of those that are free */
	enum prof_fate	 tr_fate;
	bool		 tr_is_settled;
	bool		 tr_is_placed;	/* its thread is in it */
	bool		 tr_is_closed;	/* by the end of the recording */
	bool		 tr_has_left;	/* its thread may work elsewhere */
};

/* The spans of a kind that a thread is in. */
struct place {
	uint32_t	 pl_count;
	uint64_t	 pl_sum;	/* of one that is alone, its number */
};

struct prof_follow {
	const char	*fo_expression;
	struct prof_spans *fo_spans;
	char		**fo_name;	/* of each kind */
	size_t		 fo_nkinds;
	struct prof_filter **fo_filter;	/* by kind */
	struct tracked	*fo_span;
	size_t		 fo_nspans;
	size_t		 fo_cap_spans;
	uint32_t	 fo_free;	/* as tr_below */
	struct prof_map	 fo_by_thread;	/* and kind */
	struct place	*fo_place;
	size_t		 fo_nplaces;
	size_t		 fo_cap_places;
	size_t		 fo_trim_at;	/* so many places */
	uint32_t	*fo_ref;	/* of the last record */
	size_t		 fo_nrefs;
	size_t		 fo_cap_refs;
	uint64_t	 fo_now_ns;	/* of the last sample */
	bool		 fo_is_last;	/* it is the last of all */
};

static int
ref_add(struct prof_follow *fo, uint32_t ref)
{
	uint32_t *added = prof_grow((void **)&fo->fo_ref, &fo->fo_nrefs,
	    &fo->fo_cap_refs, sizeof(*added));

	if (added == NULL)
		return (-1);
	*added = ref;
	return (0);
}

/* Of a thread and kind; NULL: no memory. */
static struct place *
place_of(struct prof_follow *fo, size_t kind, uint32_t tid)
{
	bool is_new;
	const uint32_t n = prof_map_find(&fo->fo_by_thread,
	    (uint64_t)kind << 32 | tid, &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&fo->fo_place, &fo->fo_nplaces, &fo->fo_cap_places,
	    sizeof(*fo->fo_place)) == NULL))
		return (NULL);
	return (&fo->fo_place[n]);
}

static int
span_enter(struct prof_follow *fo, uint32_t n)
{
	struct tracked *span = &fo->fo_span[n];
	struct place *place = place_of(fo, span->tr_kind, span->tr_tid);

	if (place == NULL)
		return (-1);
	span->tr_is_placed = true;
	place->pl_count++;
	place->pl_sum += n;
	return (0);
}

/* It was entered, so there is a place. */
static void
span_leave(struct prof_follow *fo, uint32_t n)
{
	struct tracked *span = &fo->fo_span[n];
	struct place *place;

	if (!span->tr_is_placed)
		return;
	span->tr_is_placed = false;
	place = &fo->fo_place[prof_map_peek(&fo->fo_by_thread,
	    (uint64_t)span->tr_kind << 32 | span->tr_tid)];
	place->pl_count--;
	place->pl_sum -= n;
}

/* Threads come and go: keep the places of those that are in spans. */
static int
places_trim(struct prof_follow *fo)
{
	if (fo->fo_nplaces < fo->fo_trim_at)
		return (0);
	prof_map_clear(&fo->fo_by_thread);
	fo->fo_nplaces = 0;
	for (uint32_t n = 0; n < fo->fo_nspans; n++)
		if (fo->fo_span[n].tr_is_placed && span_enter(fo, n) == -1)
			return (-1);
	fo->fo_trim_at = 2 * fo->fo_nplaces + PLACES_LEAST;
	return (0);
}

static void
span_release(struct prof_follow *fo, uint32_t n)
{
	struct tracked *span = &fo->fo_span[n];

	if (--span->tr_uses > 0)
		return;
	span->tr_below = fo->fo_free;
	fo->fo_free = n + 1;
}

static struct tracked *
span_new(struct prof_follow *fo)
{
	struct tracked *span;

	if (fo->fo_free != 0) {
		span = &fo->fo_span[fo->fo_free - 1];
		fo->fo_free = span->tr_below;
	} else {
		span = fo->fo_nspans >= OWN ? NULL : prof_grow(
		    (void **)&fo->fo_span, &fo->fo_nspans, &fo->fo_cap_spans,
		    sizeof(*span));
	}
	if (span != NULL)
		memset(span, 0, sizeof(*span));
	return (span);
}

/* If it goes on after so long. */
static enum prof_filter_fate
span_from(const struct prof_follow *fo, const struct tracked *span,
    uint64_t duration_ns)
{
	const struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_pid = span->tr_pid, .pr_tid = span->tr_tid };

	return (prof_filter_from(fo->fo_filter[span->tr_kind], &record,
	    duration_ns));
}

static uint32_t
span_begun(void *arg, size_t kind, const struct prof_span *begun)
{
	struct prof_follow *fo = arg;
	struct tracked *span = span_new(fo);
	const uint32_t n = span == NULL ? UINT32_MAX :
	    (uint32_t)(span - fo->fo_span);
	/* A function that calls itself is in one, the outermost. */
	const bool is_inner = begun->sp_depth > 0 &&
	    !prof_spans_live_moves(fo->fo_spans, kind);

	if (span == NULL)
		return (UINT32_MAX);
	span->tr_kind = kind;
	span->tr_begin_ns = begun->sp_begin_ns;
	span->tr_pid = begun->sp_pid;
	span->tr_tid = begun->sp_tid;
	span->tr_uses = 1;
	if (span_from(fo, span, 0) == PROF_FILTER_NEVER)
		span->tr_fate = PROF_FATE_UNWANTED;
	return ((!is_inner && span_enter(fo, n) == -1) ||
	    ref_add(fo, n | OWN) == -1 ? UINT32_MAX : n);
}

static void
span_ended(void *arg, uint32_t n)
{
	struct prof_follow *fo = arg;

	fo->fo_span[n].tr_is_closed = fo->fo_is_last;
	span_leave(fo, n);
	/* Without memory its end alone is not known to be of it. */
	(void)ref_add(fo, n | OWN);
}

/* What becomes of one that ended, or that nothing will end. */
static enum prof_fate
span_judge(const struct prof_follow *fo, const struct tracked *span,
    const struct prof_span *settled, bool has_end)
{
	const struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_pid = span->tr_pid, .pr_tid = span->tr_tid };
	enum prof_filter_fate from;

	if (has_end)
		return (prof_filter_holds_in(fo->fo_filter[span->tr_kind],
		    &record, "", settled->sp_duration_ns, 0) ?
		    PROF_FATE_WANTED : PROF_FATE_UNWANTED);
	from = span_from(fo, span, settled->sp_duration_ns);
	if (from == PROF_FILTER_NEVER)
		return (PROF_FATE_UNWANTED);
	if (from == PROF_FILTER_ALWAYS &&
	    !prof_spans_live_moves(fo->fo_spans, span->tr_kind))
		return (PROF_FATE_WANTED);
	/* A thread that is gone has ended no span. */
	return (span->tr_is_closed ? PROF_FATE_UNENDED : PROF_FATE_UNWANTED);
}

static void
span_settled(void *arg, uint32_t n, const struct prof_span *settled,
    bool has_end, bool is_sure)
{
	struct prof_follow *fo = arg;
	struct tracked *span = &fo->fo_span[n];

	span->tr_is_settled = true;
	span->tr_has_left |= has_end && settled->sp_end_tid != span->tr_tid;
	if (span->tr_fate != PROF_FATE_UNWANTED)
		span->tr_fate = is_sure ? span_judge(fo, span, settled,
		    has_end) : PROF_FATE_UNSURE;
	span_release(fo, n);
}

/* Those that go on: is it certain by now? */
static void
spans_look(struct prof_follow *fo)
{
	for (size_t n = 0; n < fo->fo_nspans; n++) {
		struct tracked *span = &fo->fo_span[n];
		enum prof_filter_fate from;

		if (span->tr_uses == 0 || span->tr_is_settled ||
		    span->tr_fate == PROF_FATE_UNWANTED)
			continue;
		if (prof_spans_live_unsure(fo->fo_spans, span->tr_kind,
		    span->tr_begin_ns, fo->fo_now_ns)) {
			span->tr_fate = PROF_FATE_UNSURE;
			continue;
		}
		from = span_from(fo, span, fo->fo_now_ns - span->tr_begin_ns);
		if (from == PROF_FILTER_NEVER)
			span->tr_fate = PROF_FATE_UNWANTED;
		else if (from == PROF_FILTER_ALWAYS &&
		    !prof_spans_live_moves(fo->fo_spans, span->tr_kind))
			span->tr_fate = PROF_FATE_WANTED;
	}
}

/* Its number may be another's by the time when its spans end. */
static void
thread_leave(struct prof_follow *fo, uint32_t tid)
{
	for (uint32_t n = 0; n < fo->fo_nspans; n++)
		if (fo->fo_span[n].tr_is_placed &&
		    fo->fo_span[n].tr_tid == tid) {
			fo->fo_span[n].tr_has_left = true;
			span_leave(fo, n);
		}
}

/* --------------------------------------------------------------- records */

int
prof_follow_info(struct prof_follow *fo, const char *key, const char *value)
{
	char name[48], **added;

	snprintf(name, sizeof(name), "span.%zu.name", fo->fo_nkinds);
	if (strcmp(key, name) == 0) {
		added = prof_append(&fo->fo_name, &fo->fo_nkinds,
		    sizeof(*added));
		if (added == NULL || (*added = strdup(value)) == NULL)
			return (-1);
	}
	return (prof_spans_live_info(fo->fo_spans, key, value));
}

int
prof_follow_event(struct prof_follow *fo, const struct prof_event_info *info)
{
	return (prof_spans_live_event(fo->fo_spans, info));
}

/* The spans that a thread is in; -1: no memory. */
static int
places_add(struct prof_follow *fo, uint32_t tid)
{
	for (size_t k = 0; k < fo->fo_nkinds; k++) {
		const uint32_t n = prof_map_peek(&fo->fo_by_thread,
		    (uint64_t)k << 32 | tid);

		if (n != PROF_INTERN_FAILED && fo->fo_place[n].pl_count == 1 &&
		    ref_add(fo, (uint32_t)fo->fo_place[n].pl_sum) == -1)
			return (-1);
	}
	return (0);
}

int
prof_follow_record(struct prof_follow *fo, const struct prof_record *record)
{
	const bool moves = record->pr_type == PROF_R_EXEC &&
	    record->pr_ptid != record->pr_tid;

	/* Others may be ahead: they may bear the time when they were read. */
	if (record->pr_type == PROF_R_SAMPLE)
		fo->fo_now_ns = record->pr_time_ns;
	fo->fo_nrefs = 0;
	if (prof_spans_live_record(fo->fo_spans, record) == -1)
		return (-1);
	/* A thread that execs goes on as the first of its group. */
	if (record->pr_type == PROF_R_EXIT || moves)
		thread_leave(fo, record->pr_tid);
	if (moves)
		thread_leave(fo, record->pr_ptid);
	return (record->pr_type == PROF_R_SAMPLE && !prof_spans_live_bounds(
	    fo->fo_spans, record->pr_event) ? places_add(fo, record->pr_tid) :
	    0);
}

int
prof_follow_round(struct prof_follow *fo, bool is_last)
{
	struct prof_err error;

	fo->fo_is_last = is_last;
	if (prof_spans_live_round(fo->fo_spans, is_last, &error) == -1 ||
	    places_trim(fo) == -1)
		return (-1);
	spans_look(fo);
	return (0);
}

const uint32_t *
prof_follow_spans(const struct prof_follow *fo, size_t *n)
{
	*n = fo->fo_nrefs;
	return (fo->fo_ref);
}

/* One selected span is enough. */
enum prof_fate
prof_follow_fate(const struct prof_follow *fo, const uint32_t *spans, size_t n)
{
	enum prof_fate fate = PROF_FATE_UNWANTED;

	for (size_t i = 0; i < n; i++) {
		const struct tracked *span = &fo->fo_span[spans[i] & ~OWN];

		if ((spans[i] & OWN) == 0 && span->tr_has_left)
			continue;
		if (span->tr_fate == PROF_FATE_WANTED)
			return (PROF_FATE_WANTED);
		if (fate == PROF_FATE_UNWANTED ||
		    span->tr_fate == PROF_FATE_PENDING)
			fate = span->tr_fate;
	}
	return (fate);
}

void
prof_follow_hold(struct prof_follow *fo, const uint32_t *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fo->fo_span[spans[i] & ~OWN].tr_uses++;
}

void
prof_follow_drop(struct prof_follow *fo, const uint32_t *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		span_release(fo, spans[i] & ~OWN);
}

/* ------------------------------------------------------------------ life */

struct prof_follow *
prof_follow_new(const char *expression, struct prof_err *error)
{
	struct prof_follow *fo = calloc(1, sizeof(*fo));
	const struct prof_span_watch watch = {
		.sw_arg = fo,
		.sw_begun = span_begun,
		.sw_ended = span_ended,
		.sw_settled = span_settled,
	};

	if (fo == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	fo->fo_expression = expression;
	fo->fo_trim_at = PLACES_LEAST;
	if ((fo->fo_spans = prof_spans_live_new(error)) == NULL) {
		free(fo);
		return (NULL);
	}
	prof_spans_live_watch(fo->fo_spans, &watch);
	return (fo);
}

void
prof_follow_free(struct prof_follow *fo)
{
	if (fo == NULL)
		return;
	for (size_t n = 0; n < fo->fo_nkinds; n++) {
		free(fo->fo_name[n]);
		if (fo->fo_filter != NULL)
			prof_filter_free(fo->fo_filter[n]);
	}
	free(fo->fo_name);
	free(fo->fo_filter);
	free(fo->fo_span);
	free(fo->fo_place);
	free(fo->fo_ref);
	prof_map_free(&fo->fo_by_thread);
	prof_spans_free(fo->fo_spans);
	free(fo);
}

int
prof_follow_check(struct prof_follow *fo, struct prof_err *error)
{
	struct prof_span_kind *kind = calloc(fo->fo_nkinds + 1,
	    sizeof(*kind));
	const struct prof_span_kind **kinds = calloc(fo->fo_nkinds + 1,
	    sizeof(*kinds));
	struct prof_filter_spans spans = { .fp_kinds = kinds,
	    .fp_n = fo->fo_nkinds, .fp_is_chosen = true, .fp_is_live = true };
	int rv = 0;

	fo->fo_filter = calloc(fo->fo_nkinds + 1, sizeof(*fo->fo_filter));
	if (kind == NULL || kinds == NULL || fo->fo_filter == NULL)
		rv = prof_fail_nomem(error);
	for (size_t n = 0; rv == 0 && n < fo->fo_nkinds; n++) {
		kind[n].sk_name = fo->fo_name[n];
		kinds[n] = &kind[n];
	}
	for (; rv == 0 && spans.fp_in < spans.fp_n; spans.fp_in++) {
		fo->fo_filter[spans.fp_in] = prof_filter_new_in(
		    fo->fo_expression, NULL, &spans, false, error);
		if (fo->fo_filter[spans.fp_in] == NULL)
			rv = strcmp(error->pe_cure, prof_code_cure(
			    error->pe_code)) != 0 ? -1 : prof_cure(error,
			    "use an expression such as 'span.duration > "
			    "10ms'");
	}
	free(kinds);
	free(kind);
	return (rv);
}
