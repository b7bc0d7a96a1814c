/* SPDX-License-Identifier: ISC */
/*
 * Which spans are compared: those that two filters choose, of one kind, each
 * of a thread that was in no other meanwhile, since samples of those are its.
 * They are laid in windows by when they began.
 *
 *	window 0 |---fast---||--slow--|   1 |--fast--|   2 |--fast--||-slow-|
 *	         used                     no slow one     used
 *
 * Where enough windows have spans of both sides, only those are looked at: so
 * all figures are of the same spans as the test.
 *
 * Called by span_difference.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "filter/filter.h"
#include "profile/profile_impl.h"
#include "span_difference.h"

#define WINDOWS		20
#define MAX_WINDOWS	1000
#define NO_SIDE		(-1)
#define BOTH_SIDES	2

static const char *const filter_words[] = { "--base-filter", "--filter" };

/* Spans of a kind that the filters choose. */
struct choice {
	struct prof_filter *ch_filter[2];
	const struct prof_history *ch_history;
	const struct prof_span_kind *ch_kind;
	int8_t		*ch_side;	/* by span */
	size_t		 ch_n[3];
};

static int
choice_init(struct choice *choice, const struct prof_span_difference *sd,
    const struct prof_filter_spans *spans, struct prof_err *error)
{
	choice->ch_kind = spans->fp_kinds[spans->fp_in];
	choice->ch_side = calloc(choice->ch_kind->sk_count + 1,
	    sizeof(*choice->ch_side));
	if (choice->ch_side == NULL)
		return (prof_fail_nomem(error));
	for (int s = 0; s < 2; s++) {
		choice->ch_filter[s] = prof_filter_new_in(
		    sd->sd_options.sd_filter[s], NULL, spans, false,
		    error);
		if (choice->ch_filter[s] == NULL)
			return (-1);
	}
	return (0);
}

static void
choice_fini(struct choice *choice)
{
	prof_filter_free(choice->ch_filter[0]);
	prof_filter_free(choice->ch_filter[1]);
	free(choice->ch_side);
}

static void
choice_make(struct choice *choice)
{
	for (size_t i = 0; i < choice->ch_kind->sk_count; i++) {
		const struct prof_span *span = &choice->ch_kind->sk_spans[i];
		const struct prof_record record = {
			.pr_pid = span->sp_pid, .pr_tid = span->sp_tid,
		};
		struct prof_moment moment;
		bool is_on[2];

		prof_history_at(choice->ch_history, span->sp_tid,
		    span->sp_begin_ns, &moment);
		for (int s = 0; s < 2; s++)
			is_on[s] = prof_filter_holds_in(choice->ch_filter[s],
			    &record, moment.mo_comm, span->sp_duration_ns, 0);
		choice->ch_side[i] = is_on[0] && is_on[1] ? BOTH_SIDES :
		    is_on[0] ? 0 : is_on[1] ? 1 : NO_SIDE;
		if (choice->ch_side[i] != NO_SIDE)
			choice->ch_n[choice->ch_side[i]]++;
	}
}

/* Spans whose samples may belong to others are left out. */
static int
choice_take(struct choice *choice, struct prof_span_difference *sd,
    size_t kind, struct prof_err *error)
{
	const size_t n = choice->ch_kind->sk_count;

	sd->sd_kind = kind;
	sd->sd_cell_of = calloc(n + 1, sizeof(*sd->sd_cell_of));
	sd->sd_time = calloc(n + 1, sizeof(*sd->sd_time));
	if (sd->sd_cell_of == NULL || sd->sd_time == NULL)
		return (prof_fail_nomem(error));
	prof_spans_time(sd->sd_spans, kind, sd->sd_time);
	for (size_t i = 0; i < n; i++) {
		const bool is_alone = sd->sd_time[i].st_alone_ns ==
		    choice->ch_kind->sk_spans[i].sp_duration_ns;

		sd->sd_cell_of[i] = is_alone ? choice->ch_side[i] : NO_SIDE;
		sd->sd_sides.sv_mixed += !is_alone &&
		    choice->ch_side[i] != NO_SIDE;
	}
	return (0);
}

/* One kind has spans on the sides, and no span is on both. */
static int
choice_check(const struct choice *choice,
    const struct prof_span_difference *sd, struct prof_err *error)
{
	if (sd->sd_cell_of != NULL) {
		prof_fail(error, PROF_E_USAGE, "the filters match spans with "
		    "different names");
		return (prof_cure(error, "add 'span == \"NAME\"' to both "
		    "filters"));
	}
	if (choice->ch_n[BOTH_SIDES] == 0)
		return (0);
	prof_fail(error, PROF_E_USAGE, "both filters match the same %zu spans "
	    "'%s'", choice->ch_n[BOTH_SIDES], choice->ch_kind->sk_name);
	return (prof_cure(error, "use filters that exclude each other, such "
	    "as --base-filter 'span.duration <= p50' --filter 'span.duration "
	    "> p99'"));
}

static int
kind_choose(struct prof_span_difference *sd,
    const struct prof_history *history,
    const struct prof_filter_spans *spans, struct prof_err *error)
{
	struct choice choice = { .ch_history = history };
	int rv = choice_init(&choice, sd, spans, error);

	if (rv == 0)
		choice_make(&choice);
	if (rv == 0 && (choice.ch_n[0] > 0 || choice.ch_n[1] > 0 ||
	    choice.ch_n[BOTH_SIDES] > 0)) {
		rv = choice_check(&choice, sd, error);
		if (rv == 0)
			rv = choice_take(&choice, sd, spans->fp_in, error);
	}
	choice_fini(&choice);
	return (rv);
}

static int
kinds_choose(struct prof_span_difference *sd, struct prof_reader *reader,
    struct prof_err *error)
{
	struct prof_filter_spans spans = {
		.fp_n = prof_spans_nkinds(sd->sd_spans), .fp_is_chosen = true,
	};
	const struct prof_span_kind **kinds = calloc(spans.fp_n + 1,
	    sizeof(*kinds));
	struct prof_history *history = prof_history_new(reader, true, error);
	int rv = history == NULL ? -1 : 0;

	if (rv == 0 && kinds == NULL)
		rv = prof_fail_nomem(error);
	for (size_t n = 0; rv == 0 && n < spans.fp_n; n++)
		kinds[n] = prof_spans_kind(sd->sd_spans, n);
	spans.fp_kinds = kinds;
	for (; rv == 0 && spans.fp_in < spans.fp_n; spans.fp_in++)
		rv = kind_choose(sd, history, &spans, error);
	prof_history_free(history);
	free(kinds);
	return (rv);
}

/* ------------------------------------------------------------- windows */

/* Begins of the first and last span; -1: a side has none. */
static int
sides_check(const struct prof_span_difference *sd, uint64_t range[2],
    struct prof_err *error)
{
	const struct prof_span_kind *kind = prof_span_difference_kind(sd);
	size_t count[2] = { 0, 0 };

	for (size_t i = 0; sd->sd_cell_of != NULL && i < kind->sk_count; i++) {
		const uint64_t begin_ns = kind->sk_spans[i].sp_begin_ns;

		if (sd->sd_cell_of[i] == NO_SIDE)
			continue;
		if (count[0] + count[1] == 0)
			range[0] = begin_ns;
		range[1] = begin_ns;
		count[sd->sd_cell_of[i]]++;
	}
	for (int s = 0; s < 2; s++) {
		if (count[s] > 0)
			continue;
		prof_fail(error, PROF_E_USAGE, "no span matches %s '%s'%s",
		    filter_words[s], sd->sd_options.sd_filter[s],
		    sd->sd_sides.sv_mixed == 0 ? "" :
		    "; spans that overlap other spans or end in another "
		    "thread are left out");
		return (prof_cure(error, "list spans with dtprof report --by "
		    "span"));
	}
	return (0);
}

static int
windows_make(struct prof_span_difference *sd, uint64_t range_ns,
    struct prof_err *error)
{
	uint64_t window_ns = sd->sd_options.sd_window_ns;

	if (window_ns == 0)
		window_ns = range_ns / WINDOWS + 1;
	if (range_ns / window_ns >= MAX_WINDOWS) {
		prof_fail(error, PROF_E_USAGE, "the spans extend over more "
		    "than %d windows", MAX_WINDOWS);
		return (prof_cure(error, "use a longer --window"));
	}
	sd->sd_nwindows = (size_t)(range_ns / window_ns) + 1;
	sd->sd_sides.sv_window_ns = window_ns;
	sd->sd_sides.sv_windows = sd->sd_nwindows;
	sd->sd_cell = calloc(2 * sd->sd_nwindows, sizeof(*sd->sd_cell));
	return (sd->sd_cell == NULL ? prof_fail_nomem(error) : 0);
}

/* From sides to cells. */
static void
spans_place(struct prof_span_difference *sd, uint64_t from_ns)
{
	const struct prof_span_kind *kind = prof_span_difference_kind(sd);

	for (size_t i = 0; i < kind->sk_count; i++) {
		const struct prof_span *span = &kind->sk_spans[i];
		int64_t *cell = &sd->sd_cell_of[i];

		if (*cell == NO_SIDE)
			continue;
		*cell += 2 * (int64_t)((span->sp_begin_ns - from_ns) /
		    sd->sd_sides.sv_window_ns);
		sd->sd_cell[*cell].sc_spans++;
	}
	for (size_t w = 0; w < sd->sd_nwindows; w++)
		sd->sd_sides.sv_both += sd->sd_cell[2 * w].sc_spans > 0 &&
		    sd->sd_cell[2 * w + 1].sc_spans > 0;
	sd->sd_sides.sv_is_tested = sd->sd_sides.sv_both >= PROF_MIN_WINDOWS;
}

/* Spans of windows that are looked at: their durations, by side. */
static void
spans_measure(struct prof_span_difference *sd)
{
	const struct prof_span_kind *kind = prof_span_difference_kind(sd);
	struct prof_span_sides *sides = &sd->sd_sides;

	for (size_t i = 0; i < kind->sk_count; i++) {
		const uint64_t ns = kind->sk_spans[i].sp_duration_ns;
		const int64_t at = sd->sd_cell_of[i];
		const int s = at & 1;

		if (at == NO_SIDE)
			continue;
		if (sides->sv_is_tested && sd->sd_cell[at ^ 1].sc_spans == 0) {
			sd->sd_cell_of[i] = NO_SIDE;
			sides->sv_alone++;
			continue;
		}
		if (sides->sv_spans[s] == 0 || ns < sides->sv_least_ns[s])
			sides->sv_least_ns[s] = ns;
		if (ns > sides->sv_most_ns[s])
			sides->sv_most_ns[s] = ns;
		sides->sv_spans[s]++;
		sd->sd_ns[s] += (double)ns;
		sd->sd_running_ns[s] += (double)sd->sd_time[i].st_running_ns;
		sd->sd_cell[at].sc_ns += (double)ns;
		sd->sd_cell[at].sc_off_ns += (double)sd->sd_time[i].st_off_ns;
		sd->sd_cell[at].sc_known_ns +=
		    (double)sd->sd_time[i].st_running_ns;
	}
	for (int s = 0; s < 2; s++)
		sides->sv_mean_ns[s] = sd->sd_ns[s] /
		    (double)sides->sv_spans[s];
	sides->sv_change_ns = sides->sv_mean_ns[1] - sides->sv_mean_ns[0];
}

int
prof_span_sides_choose(struct prof_span_difference *sd,
    struct prof_reader *reader, struct prof_err *error)
{
	uint64_t range[2] = { 0, 0 };

	sd->sd_spans = prof_spans_new(reader, error);
	if (sd->sd_spans == NULL)
		return (-1);
	if (prof_spans_nkinds(sd->sd_spans) == 0) {
		prof_fail(error, PROF_E_USAGE, "the recording has no spans");
		return (prof_cure(error, "record spans with dtprof record "
		    "--span NAME=BEGIN,END"));
	}
	if (kinds_choose(sd, reader, error) == -1 ||
	    sides_check(sd, range, error) == -1 ||
	    windows_make(sd, range[1] - range[0], error) == -1)
		return (-1);
	spans_place(sd, range[0]);
	spans_measure(sd);
	sd->sd_has_times = prof_span_difference_kind(sd)->sk_has_times != 0;
	sd->sd_sides.sv_has_times = sd->sd_has_times;
	sd->sd_sides.sv_name = prof_span_difference_kind(sd)->sk_name;
	if (sd->sd_sides.sv_change_ns > 0)
		return (0);
	prof_fail(error, PROF_E_USAGE, "the spans that match --filter take no "
	    "longer than the spans that match --base-filter");
	return (prof_cure(error, "exchange the filters"));
}
