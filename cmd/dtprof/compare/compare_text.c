/* SPDX-License-Identifier: ISC */
/*
 * A comparison for people: first the verdict as a sentence, then the metrics,
 * the functions, and what makes one doubt.  The same as Markdown for reviews,
 * and as what stands in a page.  All names are hostile text.
 *
 * Called by cmd_compare.c and compare_html.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/table.h"
#include "compare.h"

#define LEAST_MOVED	0.001	/* share of what was inlined */

#define SHORT_ID	8	/* digits of a build-id */
#define LONG_NOTE	80
#define MIN_LAST	12	/* columns of a terminal for the last one */
#define NCOLUMNS	7	/* and one of states */

/* What rows are of. */
struct subject {
	const struct pair *su_pair;
	const struct compare_options *su_options;
};

/* What a unit of work costs is no time that anyone waits for. */
static bool
is_time(const struct prof_change *cg)
{
	return ((strcmp(cg->cg_unit, "s") == 0 ||
	    strcmp(cg->cg_unit, "ns") == 0) &&
	    strstr(cg->cg_name, " per ") == NULL);
}

static bool
is_share(const struct pair *pair)
{
	const struct prof_hosts *ph =
	    prof_comparison_hosts(pair->pr_comparison);

	return (ph != NULL && ph->ph_is_share);
}

const char *
compare_word(const struct prof_change *cg)
{
	switch (cg->cg_verdict) {
	case PROF_VERDICT_FEW:
		return ("too few runs");
	case PROF_VERDICT_OPEN:
		return ("inconclusive");
	case PROF_VERDICT_SAME:
		return ("no change");
	case PROF_VERDICT_LESS:
		return (is_time(cg) ? "faster" : "costs less");
	case PROF_VERDICT_MORE:
		return (is_time(cg) ? "slower" : "costs more");
	}
	return ("");
}

const char *
compare_verdict(const struct pair *pair)
{
	return (is_share(pair) ? "not visible" :
	    compare_word(compare_headline(pair)));
}

/* "+3.1%" */
static const char *
percent_text(char *buffer, size_t size, double change)
{
	if (!isfinite(change))
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, fabs(change) < 9.995 ? "%+.1f%%" :
		    "%+.0f%%", 100 * change);
	return (buffer);
}

/* "+2.7 to +3.5%" */
static const char *
interval_text(char *buffer, size_t size, const double ci[2])
{
	if (!isfinite(ci[0]) || !isfinite(ci[1]))
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%+.1f to %+.1f%%", 100 * ci[0],
		    100 * ci[1]);
	return (buffer);
}

static const char *
probability_text(char *buffer, size_t size, double p)
{
	if (isnan(p))
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, p < 0.0001 ? "%.0e" : "%.4f", p);
	return (buffer);
}

/* ------------------------------------------------------------ sentences */

/* A text of ours and of others, in lines that fit; an element of a page. */
static void
sentence_put(const struct table *tb, const char *begin, const char *text)
{
	char *line;

	if (*begin == '\n')
		out_char(tb->tb_out, *begin++);
	if (tb->tb_style != TABLE_TEXT) {
		out_str(tb->tb_out, begin);
		table_put(tb, text);
		out_char(tb->tb_out, '\n');
	} else if (asprintf(&line, "%s%s", begin, text) != -1) {
		terminal_fold(tb->tb_terminal, tb->tb_out, line, 6);
		free(line);
	}
}

static enum terminal_colour
colour_of(const struct prof_change *cg)
{
	switch (cg->cg_verdict) {
	case PROF_VERDICT_MORE:
		return (TERMINAL_HOT);
	case PROF_VERDICT_LESS:
		return (TERMINAL_WARM);
	case PROF_VERDICT_OPEN:
	case PROF_VERDICT_FEW:
		return (TERMINAL_DOUBT);
	case PROF_VERDICT_SAME:
		break;
	}
	return (TERMINAL_PLAIN);
}

/* What verdicts take more of. */
static const char *
runs_word(const struct pair *pair)
{
	return (prof_comparison_hosts(pair->pr_comparison) != NULL ? "hosts" :
	    "runs");
}

/* What the verdict on the whole is. */
static void
put_verdict(FILE *stream, const struct prof_change *cg, double threshold,
    const char *runs)
{
	char change[32], ci[64], least[32];

	percent_text(change, sizeof(change), cg->cg_change);
	interval_text(ci, sizeof(ci), cg->cg_ci95);
	switch (cg->cg_verdict) {
	case PROF_VERDICT_LESS:
	case PROF_VERDICT_MORE:
		fprintf(stream, is_time(cg) ? " is %s: " : " %s: ",
		    compare_word(cg));
		break;
	case PROF_VERDICT_SAME:
		fprintf(stream, ": no change beyond %.3g%%: ",
		    100 * threshold);
		break;
	case PROF_VERDICT_OPEN:
		fputs(": inconclusive, ", stream);
		break;
	case PROF_VERDICT_FEW:
		fputs(": too few runs for a verdict, ", stream);
		break;
	}
	fprintf(stream, "%s %s", compare_title(cg->cg_name), change);
	if (cg->cg_verdict == PROF_VERDICT_FEW)
		fprintf(stream, "; a verdict needs %d %s each of base and new, "
		    "preferably 15", PROF_MIN_RUNS, runs);
	else
		fprintf(stream, " (%s)", ci);
	if (cg->cg_verdict == PROF_VERDICT_OPEN && cg->cg_runs_needed > 0)
		fprintf(stream, "; smallest detectable change %s, a verdict "
		    "needs about %zu %s each of base and new",
		    percent_text(least, sizeof(least),
		    cg->cg_smallest) + 1, cg->cg_runs_needed, runs);
}

char *
compare_sentence(const struct pair *pair, double threshold)
{
	const struct prof_change *cg = compare_headline(pair);
	char *text = NULL;
	size_t length;
	FILE *stream = cg == NULL ? NULL : open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	fputs(prof_comparison_hosts(pair->pr_comparison) != NULL &&
	    strcmp(pair->pr_series[1]->se_name, COMPARE_PROFILES) == 0 ?
	    "new" : pair->pr_series[1]->se_name, stream);
	if (is_share(pair))
		fputs(": shares of functions do not show whether the total "
		    "cost changed",
		    stream);
	else
		put_verdict(stream, cg, threshold, runs_word(pair));
	if (fclose(stream) == 0)
		return (text);
	free(text);
	return (NULL);
}

static void
headline_put(const struct table *tb, const struct pair *pair, double threshold)
{
	char *text = compare_sentence(pair, threshold);

	if (text != NULL) {
		if (tb->tb_style == TABLE_TEXT)
			terminal_colour(tb->tb_terminal, tb->tb_out,
			    colour_of(compare_headline(pair)));
		sentence_put(tb, tb->tb_style == TABLE_HTML ?
		    "<p class=\"verdict\">" : "", text);
		if (tb->tb_style == TABLE_TEXT)
			terminal_colour(tb->tb_terminal, tb->tb_out,
			    TERMINAL_PLAIN);
	}
	free(text);
}

/* -------------------------------------------------------------- metrics */

/* Never there, on neither side: nothing to say. */
static bool
has_metric(const struct prof_change *cg)
{
	return ((cg->cg_mean[0] != 0 || cg->cg_mean[1] != 0) &&
	    (cg->cg_n[0] > 0 || cg->cg_n[1] > 0));
}

/* A verdict for people who may ask for more runs. */
static void
put_decision(struct table *tb, const struct prof_change *cg, bool is_verbose)
{
	table_colour(tb, colour_of(cg));
	if (cg->cg_verdict != PROF_VERDICT_OPEN || cg->cg_runs_needed == 0 ||
	    (tb->tb_style == TABLE_TEXT && !is_verbose))
		table_text(tb, compare_word(cg));
	else if (cg->cg_runs_needed > 1000)
		table_text(tb, "inconclusive, needs over 1000 runs");
	else
		table_cell(tb, "inconclusive, needs %zu runs",
		    cg->cg_runs_needed);
}

static void
metric_row(struct table *tb, const void *arg, size_t n)
{
	const struct subject *subject = arg;
	const struct prof_comparison *cp = subject->su_pair->pr_comparison;
	const struct prof_change *cg = n < prof_comparison_nmetrics(cp) ?
	    prof_comparison_metric(cp, n) : prof_comparison_total(cp);
	char text[64];

	if (!has_metric(cg))
		return;
	table_text(tb, compare_title(cg->cg_name));
	for (int s = 0; s < 2; s++) {
		compare_quantity(text, sizeof(text), cg->cg_median[s],
		    cg->cg_unit);
		table_text(tb, text);
	}
	table_text(tb, percent_text(text, sizeof(text), cg->cg_change));
	table_text(tb, interval_text(text, sizeof(text), cg->cg_ci95));
	table_text(tb, probability_text(text, sizeof(text), cg->cg_p_adjusted));
	put_decision(tb, cg, subject->su_options->co_verbose);
}

static void
show_table(struct table *tb, size_t nrows, table_row_fn *row,
    const struct subject *subject)
{
	tb->tb_last = MIN_LAST;
	out_str(tb->tb_out, tb->tb_style == TABLE_HTML ? "" : "\n");
	table_show(tb, nrows, row, subject);
}

static void
metrics_put(struct table *tb, const struct subject *subject)
{
	struct table_column columns[NCOLUMNS] = {
		{ .tc_title = "metric", .tc_gap = 1, .tc_is_name = true },
		{ .tc_title = "base", .tc_gap = 1 },
		{ .tc_title = "new", .tc_gap = 1 },
		{ .tc_title = "change", .tc_gap = 1 },
		{ .tc_title = "95% CI", .tc_gap = 1, .tc_drop = 2 },
		{ .tc_title = "p", .tc_gap = 1, .tc_drop = 1 },
		{ .tc_title = "verdict", .tc_gap = 2, .tc_is_left = true }
	};
	const struct pair *pair = subject->su_pair;
	/* What a unit of work costs is a metric, too. */
	const size_t n = prof_comparison_nmetrics(pair->pr_comparison) +
	    (pair->pr_per != NULL);

	tb->tb_column = columns;
	tb->tb_ncolumns = NCOLUMNS;
	if (n > 0)
		show_table(tb, n, metric_row, subject);
}

/* ------------------------------------------------------------ functions */

static const char *
function_word(const struct prof_change *cg)
{
	const enum prof_presence was = cg->cg_presence[0];
	const enum prof_presence is = cg->cg_presence[1];

	if (cg->cg_verdict == PROF_VERDICT_LESS && is == PROF_PRESENCE_NONE)
		return ("gone");
	if (cg->cg_verdict == PROF_VERDICT_MORE && was == PROF_PRESENCE_NONE)
		return ("added");
	if (was == PROF_PRESENCE_WHOLE && is == PROF_PRESENCE_INLINED)
		return ("inlined now");
	if (was == PROF_PRESENCE_INLINED && is == PROF_PRESENCE_WHOLE)
		return ("not inlined");
	return (compare_word(cg));
}

static bool
is_changed(const struct prof_change *cg)
{
	return (cg->cg_verdict >= PROF_VERDICT_LESS);
}

/* The same function, inlined by one of the two builds. */
static bool
is_moved(const struct prof_change *cg)
{
	return (cg->cg_presence[0] != cg->cg_presence[1] &&
	    cg->cg_presence[0] != PROF_PRESENCE_NONE &&
	    cg->cg_presence[1] != PROF_PRESENCE_NONE &&
	    fmax(cg->cg_share[0], cg->cg_share[1]) >= LEAST_MOVED);
}

/* Costs of the states of threads, or of no state. */
static bool
has_states(struct prof_comparison *cp)
{
	const struct prof_change *cg = prof_comparison_function(cp, 0);

	return (cg != NULL && *cg->cg_state != '\0');
}

static bool
is_shown(const struct prof_change *cg, size_t n, uint64_t limit)
{
	/* Of which there is something to say: all. */
	return (n < limit || is_changed(cg) || is_moved(cg));
}

static void
function_row(struct table *tb, const void *arg, size_t n)
{
	const struct subject *subject = arg;
	struct prof_comparison *cp = subject->su_pair->pr_comparison;
	const struct prof_change *cg = prof_comparison_function(cp, n);
	char text[64];

	if (!is_shown(cg, n, subject->su_options->co_limit.on_value))
		return;
	table_text(tb, percent_text(text, sizeof(text), cg->cg_change));
	table_text(tb, interval_text(text, sizeof(text), cg->cg_ci95));
	if (is_changed(prof_comparison_total(cp)) && is_changed(cg))
		table_cell(tb, "%.0f%%", 100 * cg->cg_part);
	else
		table_text(tb, "-");
	table_cell(tb, "%.1f%% -> %.1f%%", 100 * cg->cg_share[0],
	    100 * cg->cg_share[1]);
	table_text(tb, probability_text(text, sizeof(text), cg->cg_p_adjusted));
	table_colour(tb, colour_of(cg));
	table_text(tb, function_word(cg));
	if (has_states(cp))
		table_text(tb, cg->cg_state);
	table_text(tb, cg->cg_name);
}

/* Few runs have few orders: what chance can just not be ruled out for. */
static bool
is_nearly_changed(const struct prof_change *cg)
{
	return (cg->cg_verdict == PROF_VERDICT_OPEN &&
	    cg->cg_p_adjusted <= 0.2 &&
	    cg->cg_runs_needed > 0 && cg->cg_runs_needed <= 1000);
}

/* "total cost +3.1% (...): costs more; of it parse_number 92%" */
static void
put_explanation(FILE *stream, const struct pair *pair, const char *what)
{
	struct prof_comparison *cp = pair->pr_comparison;
	const struct prof_change *total = prof_comparison_total(cp), *cg;
	const struct prof_change *nearly = NULL;
	char change[32], ci[64], name[COMPARE_NAME];
	int named = 0;

	if (is_share(pair))
		fputs("shares", stream);
	else
		fprintf(stream, "%s %s (%s): %s", has_states(cp) ?
		    total->cg_name : "total cost", percent_text(change,
		    sizeof(change), total->cg_change), interval_text(ci,
		    sizeof(ci), total->cg_ci95), compare_word(total));
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++) {
		cg = prof_comparison_function(cp, i);
		if (nearly == NULL && is_nearly_changed(cg))
			nearly = cg;
		if (!is_changed(cg) || named == 3)
			continue;
		fprintf(stream, "%s%s", named++ == 0 ? "; of it " : ", ",
		    compare_name(name, sizeof(name), cg));
		if (is_changed(total))
			fprintf(stream, " %.0f%%", 100 * cg->cg_part);
		else
			fprintf(stream, " %s", percent_text(change,
			    sizeof(change), cg->cg_change));
	}
	if (named == 0)
		fprintf(stream, "; no %s changed significantly", what);
	if (named == 0 && nearly != NULL)
		fprintf(stream, ", about %zu %s each of base and new would "
		    "give a verdict on %s", nearly->cg_runs_needed,
		    runs_word(pair), compare_name(name, sizeof(name),
		    nearly));
}

static void
explanation_put(const struct table *tb, const struct pair *pair,
    const char *what)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return;
	put_explanation(stream, pair, what);
	if (fclose(stream) == 0)
		sentence_put(tb, tb->tb_style == TABLE_HTML ? "<p>" : "\n",
		    text);
	free(text);
}

static void
functions_put(struct table *tb, const struct subject *subject)
{
	const char *what = compare_by_words[subject->su_options->co_by];
	struct table_column columns[NCOLUMNS + 1] = {
		{ .tc_title = "of total", .tc_gap = 1 },
		{ .tc_title = "95% CI", .tc_gap = 1, .tc_drop = 3 },
		{ .tc_title = "part", .tc_gap = 1, .tc_drop = 2 },
		{ .tc_title = "base -> new", .tc_gap = 1 },
		{ .tc_title = "p", .tc_gap = 1, .tc_drop = 1 },
		{ .tc_title = "verdict", .tc_gap = 1, .tc_is_left = true },
		{ .tc_title = "state", .tc_gap = 2, .tc_is_left = true },
	};
	struct prof_comparison *cp = subject->su_pair->pr_comparison;
	const size_t n = prof_comparison_nfunctions(cp);
	const size_t last = has_states(cp) ? NCOLUMNS : NCOLUMNS - 1;
	size_t shown = 0;

	if (prof_comparison_total(cp) == NULL)
		return;
	explanation_put(tb, subject->su_pair, what);
	columns[last] = (struct table_column){ .tc_title = what, .tc_gap = 2,
	    .tc_is_left = true, .tc_is_name = true };
	tb->tb_column = columns;
	tb->tb_ncolumns = last + 1;
	show_table(tb, n, function_row, subject);
	for (size_t i = 0; i < n; i++)
		shown += is_shown(prof_comparison_function(cp, i), i,
		    subject->su_options->co_limit.on_value);
	out_fmt(tb->tb_out, "%s%zu %ss, %zu tested, %zu shown\n",
	    tb->tb_style == TABLE_HTML ? "<p>" :
	    tb->tb_style == TABLE_MARKDOWN ? "\n" : "  ", n, what,
	    prof_comparison_ntested(cp), shown);
}

/* ------------------------------------------------------------- the whole */

/* ### new against base */
static void
title_put(const struct table *tb, const struct pair *pair)
{
	out_str(tb->tb_out, tb->tb_style == TABLE_HTML ? "<h1>" : "### ");
	table_put(tb, pair->pr_series[1]->se_name);
	out_str(tb->tb_out, " against ");
	table_put(tb, pair->pr_series[0]->se_name);
	out_str(tb->tb_out, tb->tb_style == TABLE_HTML ? "</h1>\n" : "\n\n");
}

/* So much of a build-id as tells the sides apart. */
static void
put_build(FILE *stream, const struct pair *pair, int side, bool is_whole)
{
	const char *id = pair->pr_series[side]->se_build_id;
	const char *other = pair->pr_series[1 - side]->se_build_id;

	if (*id == '\0')
		return;
	is_whole = is_whole || strlen(id) <= SHORT_ID + 2 ||
	    (strncmp(id, other, SHORT_ID) == 0 && strcmp(id, other) != 0);
	fprintf(stream, ", build %.*s%s", is_whole ? (int)strlen(id) :
	    SHORT_ID, id, is_whole ? "" : "..");
}

/* "10 min" */
static void
put_window(FILE *stream, uint64_t window_ns)
{
	const uint64_t s = window_ns / 1000000000;

	fprintf(stream, "%llu %s", (unsigned long long)(s % 3600 == 0 ?
	    s / 3600 : s % 60 == 0 ? s / 60 : s), s % 3600 == 0 ? "h" :
	    s % 60 == 0 ? "min" : "s");
}

/* "18 hosts, 12 windows of 10 min, 41.0 M requests" */
static void
put_hosts(FILE *stream, const struct pair *pair, int side)
{
	const struct prof_hosts *ph =
	    prof_comparison_hosts(pair->pr_comparison);
	const char *per = pair->pr_per, *colon = per == NULL ? NULL :
	    strrchr(per, ':');

	fprintf(stream, "%zu hosts, %zu windows of ", ph->ph_hosts[side],
	    ph->ph_windows[side]);
	put_window(stream, pair->pr_window_ns);
	if (per != NULL)
		fprintf(stream, ", %.6g %s", ph->ph_units[side],
		    colon != NULL && colon[1] != '\0' ? colon + 1 : per);
}

/* What was compared with what, and what was left out. */
static void
hosts_put(const struct table *tb, const struct pair *pair)
{
	const struct prof_hosts *ph =
	    prof_comparison_hosts(pair->pr_comparison);
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return;
	if (ph->ph_is_paired)
		fprintf(stream, "%zu hosts ran both base and new, and each is "
		    "compared with itself",
		    ph->ph_both);
	else
		fputs("hosts of the same kind are compared with each other",
		    stream);
	if (ph->ph_mixed > 0)
		fprintf(stream, "; %zu windows in which a host ran both base "
		    "and new are left out", ph->ph_mixed);
	if (pair->pr_lossy > 0)
		fprintf(stream, "; %zu windows with more than 1%% of samples "
		    "lost are left out",
		    pair->pr_lossy);
	if (fclose(stream) == 0)
		sentence_put(tb, tb->tb_style == TABLE_HTML ? "<p>" : "      ",
		    text);
	free(text);
}

static void
series_put(const struct table *tb, const struct pair *pair, bool is_verbose)
{
	const bool are_hosts =
	    prof_comparison_hosts(pair->pr_comparison) != NULL;
	size_t length;

	for (int s = 0; s < 2; s++) {
		const struct series *series = pair->pr_series[s];
		char *text = NULL;
		FILE *stream = open_memstream(&text, &length);

		if (stream == NULL)
			return;
		fputs(s == 0 ? "base  " : "new   ", stream);
		if (are_hosts && strcmp(series->se_name,
		    COMPARE_PROFILES) != 0)
			fprintf(stream, "%s, ", series->se_name);
		if (are_hosts)
			put_hosts(stream, pair, s);
		else
			fprintf(stream, "%s, %zu run%s", series->se_name,
			    series->se_nruns, series->se_nruns == 1 ? "" :
			    "s");
		put_build(stream, pair, s, is_verbose);
		if (fclose(stream) == 0)
			sentence_put(tb, s == 0 ? "\n" : "", text);
		free(text);
	}
	if (are_hosts)
		hosts_put(tb, pair);
}

/* A long one without its reason, unless all is asked for. */
static size_t
note_length(const struct table *tb, const char *note, bool is_verbose)
{
	const char *reason = strstr(note, ", so ");

	return (reason == NULL || tb->tb_style != TABLE_TEXT ||
	    is_verbose || strlen(note) <= LONG_NOTE ? strlen(note) :
	    (size_t)(reason - note));
}

static void
notes_put(const struct table *tb, const struct pair *pair, bool is_verbose)
{
	static const char *const begin[] = { "note: ", "- ", "<p>note: " };
	const char *note;
	char *text;

	for (size_t i = 0; (note = compare_note(pair, i)) != NULL; i++) {
		const size_t length = note_length(tb, note, is_verbose);

		if (asprintf(&text, "%.*s%s", (int)length, note,
		    note[length] != '\0' ? " (-v: more)" : "") == -1)
			return;
		out_str(tb->tb_out, i == 0 ? "\n" : "");
		sentence_put(tb, begin[tb->tb_style], text);
		free(text);
	}
}

static void
one_pair(const struct compare *cm, const struct pair *pair, struct table *tb)
{
	const struct subject subject = { pair, cm->cm_options };
	const bool is_verbose = cm->cm_options->co_verbose;

	if (tb->tb_style != TABLE_TEXT)
		title_put(tb, pair);
	headline_put(tb, pair, cm->cm_threshold);
	if (tb->tb_style == TABLE_TEXT)
		series_put(tb, pair, is_verbose);
	metrics_put(tb, &subject);
	if (tb->tb_style == TABLE_HTML)
		compare_draw(pair, tb->tb_out);
	functions_put(tb, &subject);
	notes_put(tb, pair, is_verbose);
}

void
compare_text(const struct compare *cm, enum table_style style,
    struct out *out, const struct terminal *terminal)
{
	struct table tb = { .tb_out = out, .tb_style = style,
	    .tb_terminal = terminal };
	char change[32], ci[64], of[32] = "";

	for (size_t i = 0; i < cm->cm_npairs; i++) {
		out_str(out, i > 0 ? "\n" : "");
		one_pair(cm, &cm->cm_pair[i], &tb);
	}
	if ((size_t)cm->cm_ngeomean < cm->cm_npairs)
		snprintf(of, sizeof(of), " of %zu", cm->cm_npairs);
	if (cm->cm_npairs > 1 && isfinite(cm->cm_geomean))
		out_fmt(out, "%sgeometric mean of %d%s changes: %s (%s)\n",
		    style == TABLE_HTML ? "<p>" : "\n", cm->cm_ngeomean, of,
		    percent_text(change, sizeof(change), cm->cm_geomean),
		    interval_text(ci, sizeof(ci), cm->cm_geomean_ci));
}
