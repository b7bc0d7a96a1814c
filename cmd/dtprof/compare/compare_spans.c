/* SPDX-License-Identifier: ISC */
/*
 * dtprof compare --base-filter EXPR --filter EXPR FILE: slow spans of a
 * recording against fast ones, for people and for programs.
 *
 * Called by cmd_compare.c.  All statistics are libprof's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../opt/spans.h"
#include "../ui/emit.h"
#include "../ui/headline.h"
#include "../ui/table.h"
#include "../ui/terminal.h"
#include "compare.h"

#define NCOLUMNS	8
#define MIN_LAST	12	/* columns of a terminal for the last one */

/* A comparison and how it is shown. */
struct shown {
	const struct compare_options *sh_options;
	const struct prof_span_difference *sh_difference;
	struct prof_blocked *sh_blocked;	/* of the row that is named */
	struct prof_span_sides sh_sides;
	const char	*sh_event;
	/* All times of the table are in one unit. */
	const char	*sh_unit;
	double		 sh_scale;
	int		 sh_digits;
	/* Rows that are not shown by themselves, as one of each state. */
	struct prof_span_row sh_others[2];
	size_t		 sh_nothers[2];
};

static const char *const states[] = { "running", "rest", "not running",
    "blocked", "runnable" };

/* ---------------------------------------------------------------- rows */

static bool
has_function(const struct prof_span_row *row)
{
	return (row->sr_state == PROF_SPAN_RUNNING ||
	    row->sr_state == PROF_SPAN_BLOCKED);
}

static bool
row_is_shown(const struct shown *sh, const struct prof_span_row *row, size_t n)
{
	return (n < sh->sh_options->co_limit.on_value || row->sr_is_more ||
	    !has_function(row));
}

static void
others_sum(struct shown *sh)
{
	const struct prof_span_row *row;
	struct prof_span_row *sum = sh->sh_others;
	bool is_wait;

	for (int i = 0; i < 2; i++)
		sum[i].sr_p_adjusted = sum[i].sr_ci95_ns[0] =
		    sum[i].sr_ci95_ns[1] = NAN;
	for (size_t n = 0; (row = prof_span_difference_row(sh->sh_difference,
	    n)) != NULL; n++) {
		if (row_is_shown(sh, row, n))
			continue;
		is_wait = row->sr_state == PROF_SPAN_BLOCKED;
		sh->sh_nothers[is_wait]++;
		sum = &sh->sh_others[is_wait];
		sum->sr_state = row->sr_state;
		for (int s = 0; s < 2; s++)
			sum->sr_mean_ns[s] += row->sr_mean_ns[s];
		sum->sr_change_ns += row->sr_change_ns;
		sum->sr_part += row->sr_part;
	}
}

static void
unit_choose(struct shown *sh)
{
	const double most = sh->sh_sides.sv_mean_ns[1];

	sh->sh_scale = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : 1e3;
	sh->sh_unit = most >= 1e9 ? "s" : most >= 1e6 ? "ms" : "us";
	sh->sh_digits = most / sh->sh_scale < 10 ? 3 :
	    most / sh->sh_scale < 100 ? 2 : 1;
}

/* Without a sign where nothing is left of it. */
static double
value_round(double value, int digits)
{
	return (fabs(value) < 0.5 * pow(10, -digits) ? 0 : value);
}

static double
value_scale(const struct shown *sh, double ns)
{
	return (value_round(ns / sh->sh_scale, sh->sh_digits));
}

static void
row_put(struct table *tb, const struct shown *sh,
    const struct prof_span_row *row)
{
	const double *ci = row->sr_ci95_ns;

	for (int s = 0; s < 2; s++)
		table_cell(tb, "%.*f %s", sh->sh_digits, value_scale(sh,
		    row->sr_mean_ns[s]), sh->sh_unit);
	table_cell(tb, "%+.*f %s", sh->sh_digits, value_scale(sh,
	    row->sr_change_ns), sh->sh_unit);
	if (isfinite(ci[0]))
		table_cell(tb, "%.*f to %.*f", sh->sh_digits, value_scale(sh,
		    ci[0]), sh->sh_digits, value_scale(sh, ci[1]));
	else
		table_text(tb, "-");
	table_cell(tb, "%.0f%%", value_round(100 * row->sr_part, 0));
	/* Less than that is nothing to be claimed. */
	if (isnan(row->sr_p_adjusted) ||
	    !(row->sr_share[1] >= PROF_SPAN_VARIES * row->sr_share[0]))
		table_text(tb, "-");
	else
		table_cell(tb, row->sr_p_adjusted < 0.0001 ? "%.0e" : "%.4f",
		    row->sr_p_adjusted);
	table_colour(tb, row->sr_is_more ? TERMINAL_HOT : TERMINAL_PLAIN);
	table_cell(tb, "%s", states[row->sr_state]);
}

static void
span_row(struct table *tb, const void *arg, size_t n)
{
	const struct shown *sh = arg;
	const struct prof_span_row *row =
	    prof_span_difference_row(sh->sh_difference, n);

	const size_t nrows = prof_span_difference_nrows(sh->sh_difference);

	if (row == NULL && sh->sh_nothers[n - nrows] > 0) {
		row_put(tb, sh, &sh->sh_others[n - nrows]);
		table_cell(tb, "%zu others", sh->sh_nothers[n - nrows]);
	} else if (row != NULL && row_is_shown(sh, row, n)) {
		row_put(tb, sh, row);
		table_text(tb, has_function(row) ? row->sr_name : "-");
	}
}

static void
rows_show(const struct shown *sh, struct table *tb)
{
	struct table_column columns[NCOLUMNS] = {
		{ .tc_title = "fast" },
		{ .tc_title = "slow", .tc_gap = 2 },
		{ .tc_title = "change", .tc_gap = 2 },
		{ .tc_title = "95% CI", .tc_gap = 2, .tc_drop = 2 },
		{ .tc_title = "part", .tc_gap = 2 },
		{ .tc_title = "p", .tc_gap = 2, .tc_drop = 1 },
		{ .tc_title = "state", .tc_gap = 2, .tc_is_left = true },
		{ .tc_title = "function", .tc_gap = 1, .tc_is_left = true,
		    .tc_is_name = true }
	};

	tb->tb_column = columns;
	tb->tb_ncolumns = NCOLUMNS;
	tb->tb_last = MIN_LAST;
	table_show(tb, prof_span_difference_nrows(sh->sh_difference) + 2,
	    span_row, sh);
}

/* ----------------------------------------------------------- sentences */

/* The row that explains most, of those that take more; NULL: none. */
static const struct prof_span_row *
row_named(const struct shown *sh)
{
	const struct prof_span_row *row;

	for (size_t n = 0; (row = prof_span_difference_row(sh->sh_difference,
	    n)) != NULL; n++)
		if (row->sr_is_more)
			return (row);
	return (NULL);
}

static void
row_say(const struct prof_span_row *row, FILE *stream)
{
	fprintf(stream, "%s%s, which takes %.1f%% of the%s time of fast spans "
	    "and %.1f%% of slow spans.", row->sr_state == PROF_SPAN_BLOCKED ?
	    "being blocked in " : "", has_function(row) ?
	    row->sr_name : states[row->sr_state], 100 * row->sr_share[0],
	    row->sr_state == PROF_SPAN_RUNNING ? " running" : "",
	    100 * row->sr_share[1]);
}

static void
named_put(const struct shown *sh, FILE *stream)
{
	const struct prof_span_row *row = row_named(sh);

	if (!sh->sh_sides.sv_is_tested)
		return;
	if (row != NULL) {
		fprintf(stream, " %.0f%% of the difference comes from ",
		    100 * row->sr_part);
		row_say(row, stream);
		compare_holder_say(sh->sh_blocked, stream);
		return;
	}
	fprintf(stream, " No function or state has a share of slow spans "
	    "that is more than %d times its share of fast spans.",
	    PROF_SPAN_VARIES);
	row = prof_span_difference_row(sh->sh_difference, 0);
	if (row == NULL || !(row->sr_part > 0))
		return;
	fprintf(stream, " %.0f%% of the difference comes from %s",
	    100 * row->sr_part, row->sr_is_tested ?
	    "ordinary variation of " : "");
	row_say(row, stream);
	if (!row->sr_is_tested)
		fputs(" That is too rare to be tested.", stream);
}

static void
headline_write(const struct shown *sh, FILE *stream)
{
	const struct prof_span_sides *sides = &sh->sh_sides;
	char limit[2][32], mean[2][32];

	weight_time(limit[0], sizeof(limit[0]), sides->sv_most_ns[0]);
	weight_time(limit[1], sizeof(limit[1]), sides->sv_least_ns[1]);
	for (int s = 0; s < 2; s++)
		weight_time(mean[s], sizeof(mean[s]),
		    (uint64_t)sides->sv_mean_ns[s]);
	fprintf(stream, "%s: %zu slow spans (>= %s, mean %s) against %zu fast "
	    "spans (<= %s, mean %s).", sides->sv_name, sides->sv_spans[1],
	    limit[1],
	    mean[1], sides->sv_spans[0], limit[0], mean[0]);
	named_put(sh, stream);
}

static void
text_put(const struct table *tb, void (*write)(const struct shown *, FILE *),
    const struct shown *sh)
{
	size_t length;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return;
	write(sh, stream);
	if (fclose(stream) == 0 && tb->tb_style == TABLE_TEXT)
		terminal_fold(tb->tb_terminal, tb->tb_out, text, 6);
	else if (text != NULL) {
		table_put(tb, text);
		out_char(tb->tb_out, '\n');
	}
	free(text);
}

static bool
has_rest(const struct shown *sh)
{
	const struct prof_span_row *row;
	size_t n;

	for (n = 0; (row = prof_span_difference_row(sh->sh_difference, n)) !=
	    NULL; n++)
		if (row->sr_state == PROF_SPAN_REST)
			return (true);
	return (false);
}

static void
note_of_states(const struct shown *sh, FILE *stream)
{
	const uint64_t *samples = sh->sh_sides.sv_samples;

	if (sh->sh_sides.sv_has_times)
		fprintf(stream, "note: the kernel measured how long threads "
		    "ran and did not run; the running time of each function is "
		    "estimated from samples: %" PRIu64 " samples of %s in slow "
		    "spans, %" PRIu64 " in fast spans%s", samples[1],
		    sh->sh_event, samples[0], has_rest(sh) ?
		    "; in the row 'rest', it is unknown whether threads ran, "
		    "or in which functions they ran" : "");
	else
		fprintf(stream, "note: running time is estimated from samples "
		    "of %s (%" PRIu64 " in slow spans, %" PRIu64 " in fast "
		    "spans); the row 'rest' is the remaining time, when "
		    "threads waited or were not sampled", sh->sh_event,
		    samples[1], samples[0]);
}

static bool
has_waits(const struct shown *sh)
{
	const struct prof_span_row *row;

	for (size_t n = 0; (row = prof_span_difference_row(sh->sh_difference,
	    n)) != NULL; n++)
		if (row->sr_state == PROF_SPAN_BLOCKED ||
		    row->sr_state == PROF_SPAN_RUNNABLE)
			return (true);
	return (false);
}

static void
note_of_waits(const struct shown *sh, FILE *stream)
{
	fprintf(stream, "note: blocked and runnable time is the time of the "
	    "recorded waits. The function of a wait is its innermost function "
	    "outside of the kernel and the C library%s",
	    !sh->sh_sides.sv_has_times ? "" : "; the row 'not running' is "
	    "the time of waits that have no sample");
}

static void
note_of_choice(const struct shown *sh, FILE *stream)
{
	(void)sh;
	fputs("note: spans were selected by duration, so slow and fast spans "
	    "differ in every function whose time varies. The column 'part' "
	    "adds up to 100%. p tests whether a function's share of running "
	    "time is more than 3 times as large in slow spans as in fast "
	    "spans; ordinary variation does not reach this ratio", stream);
}

static void
note_of_windows(const struct shown *sh, FILE *stream)
{
	const struct prof_span_sides *sides = &sh->sh_sides;
	char window[32];

	weight_time(window, sizeof(window), sides->sv_window_ns);
	fprintf(stream, "note: %zu of %zu time windows of %s have both slow "
	    "and fast spans: ", sides->sv_both, sides->sv_windows, window);
	if (sides->sv_is_tested)
		fprintf(stream, "%zu spans in other windows are left out",
		    sides->sv_alone);
	else
		fprintf(stream, "differences are not tested: a test needs %d "
		    "windows with fast and slow spans, so record longer",
		    PROF_MIN_WINDOWS);
}

static void
note_of_mixed(const struct shown *sh, FILE *stream)
{
	fprintf(stream, "note: %zu spans are left out: they overlap other "
	    "spans of their thread, are nested in another span, or end in "
	    "another thread",
	    sh->sh_sides.sv_mixed);
}

static void
spans_text(const struct shown *sh, struct table *tb)
{
	const struct prof_span_sides *sides = &sh->sh_sides;

	text_put(tb, headline_write, sh);
	out_str(tb->tb_out, "\n");
	if (tb->tb_style == TABLE_TEXT)
		out_fmt(tb->tb_out, "time per span\n");
	rows_show(sh, tb);
	out_str(tb->tb_out, "\n");
	text_put(tb, note_of_states, sh);
	if (has_waits(sh))
		text_put(tb, note_of_waits, sh);
	text_put(tb, note_of_choice, sh);
	if (sides->sv_both < sides->sv_windows || !sides->sv_is_tested)
		text_put(tb, note_of_windows, sh);
	if (sides->sv_mixed > 0)
		text_put(tb, note_of_mixed, sh);
}

/* ---------------------------------------------------------------- JSON */

static void
emit_sides(const struct prof_span_sides *sides, struct emit *em)
{
	for (int s = 0; s < 2; s++)
		EMIT_ROW(em, s == 0 ? "base" : "new",
		    COUNT("spans", sides->sv_spans[s]),
		    NUMBER("mean_ns", sides->sv_mean_ns[s]),
		    COUNT("min_ns", sides->sv_least_ns[s]),
		    COUNT("max_ns", sides->sv_most_ns[s]),
		    COUNT("samples", sides->sv_samples[s]));
}

static void
spans_json(const struct shown *sh, struct out *out)
{
	const struct prof_span_sides *sides = &sh->sh_sides;
	const struct prof_span_row *row, *named = row_named(sh);
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
	    TEXT("version", prof_version()), TEXT("span", sides->sv_name),
	    TEXT("event", sh->sh_event));
	emit_line(&em);
	emit_sides(sides, &em);
	EMIT(&em, NUMBER("change_ns", sides->sv_change_ns),
	    COUNT("window_ns", sides->sv_window_ns),
	    COUNT("windows", sides->sv_windows),
	    COUNT("windows_of_both", sides->sv_both),
	    FLAG("tested", sides->sv_is_tested != 0),
	    COUNT("left_out", sides->sv_alone),
	    COUNT("ambiguous", sides->sv_mixed),
	    TEXT("named", named == NULL ? NULL : named->sr_name));
	compare_holder_emit(sh->sh_blocked, &em);
	emit_rows(&em, "rows");
	for (size_t n = 0; (row = prof_span_difference_row(sh->sh_difference,
	    n)) != NULL; n++)
		EMIT_ROW(&em, NULL, TEXT("name", row->sr_name),
		    TEXT("module", row->sr_module),
		    WORD("state", states[row->sr_state]),
		    NUMBERS("mean_ns", row->sr_mean_ns, 2),
		    NUMBER("change_ns", row->sr_change_ns),
		    NUMBERS("ci95_ns", row->sr_ci95_ns, 2),
		    NUMBER("part", row->sr_part),
		    NUMBERS("share", row->sr_share, 2),
		    FLAG("tested", row->sr_is_tested != 0),
		    NUMBER("p", row->sr_p),
		    NUMBER("p_adjusted", row->sr_p_adjusted),
		    FLAG("more_than_share", row->sr_is_more != 0));
	emit_end(&em);
}

/* --------------------------------------------------------------- whole */

/* The event that counts time on the CPU; -1: a message was printed. */
static long
event_of(const struct compare_options *co, const struct prof_reader *reader)
{
	bool *wanted = choose_events("compare", reader, &co->co_events);
	long event = -1;

	for (size_t e = 1; wanted != NULL && event == -1 &&
	    e < prof_reader_nevents(reader); e++) {
		const struct prof_event_info *info =
		    prof_reader_event(reader, e);

		if (wanted[e] && !info->pi_is_call && !info->pi_is_counter &&
		    strcmp(info->pi_unit, "ns") == 0 &&
		    strcmp(info->pi_provider, "wait") != 0 &&
		    strcmp(info->pi_provider, "wall") != 0)
			event = (long)e;
	}
	if (event == -1 && wanted != NULL)
		msg_error("compare", "none of the selected events measures "
		    "running time in seconds",
		    "record again with -e cpu-clock");
	free(wanted);
	return (event);
}

static int
spans_show(struct shown *sh)
{
	const struct compare_options *co = sh->sh_options;
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	struct table tb = {
		.tb_style = co->co_markdown ? TABLE_MARKDOWN : TABLE_TEXT,
		.tb_terminal = co->co_markdown ? NULL : &terminal,
	};
	struct out out;

	others_sum(sh);
	unit_choose(sh);
	if (!co->co_json && !co->co_markdown)
		terminal_begin(&terminal, co->co_color);
	out_init(&out, terminal.te_fd);
	tb.tb_out = &out;
	if (co->co_json)
		spans_json(sh, &out);
	else
		spans_text(sh, &tb);
	return (terminal_end(&terminal, "compare", out_end(&out, "compare")));
}

/* What the named function waits for, if it waits. */
static struct prof_blocked *
blocked_of(const struct shown *sh, struct prof_reader *reader,
    struct prof_symbols *symbols)
{
	const struct prof_span_row *row = row_named(sh);

	return (row == NULL || row->sr_state != PROF_SPAN_BLOCKED ? NULL :
	    compare_holder(reader, symbols, sh->sh_options->co_filter,
	    row->sr_name));
}

static int
spans_compare(const struct compare_options *co, struct prof_reader *reader,
    long event)
{
	const struct prof_span_difference_options options = {
		.sd_size = sizeof(options),
		.sd_filter = { co->co_base_filter, co->co_filter },
		.sd_event = (size_t)event,
		.sd_window_ns = co->co_window.on_set ? co->co_window.on_value :
		    0,
		.sd_seed = co->co_seed.on_set ? co->co_seed.on_value : 1,
		.sd_frames = co->co_frames,
	};
	struct shown shown = { .sh_options = co };
	struct prof_err error = { 0 };
	struct prof_symbols *symbols = prof_symbols_open(reader, NULL, &error);
	struct prof_span_difference *difference = symbols == NULL ? NULL :
	    prof_span_difference_new(reader, symbols, &options, &error);
	int status = EXIT_FAILED;

	input_say_cut("compare", reader);
	if (difference == NULL)
		msg_prof("compare", &error);
	else {
		shown.sh_difference = difference;
		shown.sh_event = prof_reader_event(reader,
		    (size_t)event)->pi_name;
		prof_span_difference_sides(difference, &shown.sh_sides);
		spans_doubt("compare", prof_span_difference_kind(difference));
		if (shown.sh_sides.sv_doubt[0] != '\0')
			msg_warning("compare", "%s", shown.sh_sides.sv_doubt);
		shown.sh_blocked = blocked_of(&shown, reader, symbols);
		status = spans_show(&shown);
		prof_blocked_free(shown.sh_blocked);
	}
	prof_span_difference_free(difference);
	prof_symbols_close(symbols);
	return (status);
}

int
compare_spans(const struct compare_options *co, const char *path)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = input_read("compare", path, &error);
	int status = EXIT_FAILED;
	long event;

	if (reader == NULL)
		return (msg_prof("compare", &error), EXIT_FAILED);
	event = event_of(co, reader);
	if (event != -1)
		status = spans_compare(co, reader, event);
	prof_reader_close(reader);
	return (status);
}

bool
compare_spans_wanted(const struct compare_options *co)
{
	return (co->co_filter != NULL || co->co_base_filter != NULL);
}

/* What is said of runs has no meaning here. */
int
compare_spans_check(const struct compare_options *co, int n,
    char *const *operands)
{
	if (co->co_filter == NULL || co->co_base_filter == NULL)
		return (msg_error("compare", "--filter and --base-filter must "
		    "be used together", "use for example --base-filter "
		    "'span.duration <= p50' --filter 'span.duration > p99'"));
	if (n != 1 || strcmp(operands[0], "--") == 0)
		return (msg_error("compare", "--filter compares spans of one "
		    "recording", "name one FILE"));
	if (co->co_against != NULL || co->co_anyway || co->co_github ||
	    co->co_fail_on != NULL || co->co_junit != NULL ||
	    co->co_output != NULL || co->co_plot != NULL ||
	    co->co_strict || co->co_per != NULL || co->co_threshold.on_set ||
	    co->co_renames.os_n > 0 || co->co_by != COMPARE_BY_FUNCTION)
		return (msg_error("compare", "an option that compares runs "
		    "cannot be used with --filter, which compares spans of one "
		    "recording", "use --filter "
		    "and --base-filter only with -e, --frames, --json, "
		    "--limit, --markdown, --seed and --window"));
	return (co->co_json && co->co_markdown ? msg_error("compare",
	    "--json and --markdown exclude each other", "use only one of the "
	    "two options") :
	    0);
}
