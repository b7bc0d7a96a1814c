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
#include <string.h>

#include "bench.h"
#include "compare.h"

#define LEAST_MOVED	0.001	/* share of what was inlined */

/* How a table is drawn. */
struct table {
	struct out	*tb_out;
	enum compare_style tb_style;
};

static bool
is(const struct table *tb, enum compare_style style)
{
	return (tb->tb_style == style);
}

/* Hostile text. */
static void
put(const struct table *tb, const char *text)
{
	if (is(tb, COMPARE_HTML))
		out_html(tb->tb_out, text);
	else if (is(tb, COMPARE_MARKDOWN))
		out_markdown(tb->tb_out, text);
	else
		out_text(tb->tb_out, text);
}

const char *
compare_title(const char *metric)
{
	for (int m = 0; m < BENCH_NMETRICS; m++)
		if (strcmp(bench_metrics[m].mn_name, metric) == 0)
			return (bench_metrics[m].mn_title);
	return (metric);
}

static bool
is_time(const struct prof_change *cg)
{
	return (strcmp(cg->cg_unit, "s") == 0 ||
	    strcmp(cg->cg_unit, "ns") == 0);
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

/* Four digits and the unit that fits. */
void
compare_quantity(char *buffer, size_t size, double value, const char *unit)
{
	static const char *const times[] = { "s", "ms", "us", "ns" };
	int t = 0;

	if (!isfinite(value)) {
		snprintf(buffer, size, "-");
		return;
	}
	if (strcmp(unit, "bytes") == 0) {
		term_bytes(buffer, size, (uint64_t)fmax(0, value));
		return;
	}
	if (strcmp(unit, "ns") == 0)
		value /= 1e9;
	if (strcmp(unit, "s") == 0 || strcmp(unit, "ns") == 0) {
		for (; t < 3 && fabs(value) < 1 && value != 0; t++)
			value *= 1000;
		snprintf(buffer, size, "%.4g %s", value, times[t]);
		return;
	}
	snprintf(buffer, size, fabs(value) < 1e6 ? "%.6g" : "%.4g", value);
}

/* "+3.1%" */
static const char *
percent(char *buffer, size_t size, double change)
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
interval(char *buffer, size_t size, const double ci[2])
{
	if (!isfinite(ci[0]) || !isfinite(ci[1]))
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%+.1f to %+.1f%%", 100 * ci[0],
		    100 * ci[1]);
	return (buffer);
}

static const char *
probability(char *buffer, size_t size, double p)
{
	if (isnan(p))
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, p < 0.0001 ? "%.0e" : "%.4f", p);
	return (buffer);
}

/* ------------------------------------------------------------ sentences */

/* What the verdict on the whole is, in a line. */
static void
headline(const struct table *tb, const struct pair *pair, double threshold)
{
	struct out *out = tb->tb_out;
	const struct prof_change *cg = compare_headline(pair);
	char change[32], ci[64], least[32];

	if (cg == NULL)
		return;
	percent(change, sizeof(change), cg->cg_change);
	interval(ci, sizeof(ci), cg->cg_ci95);
	out_str(out, is(tb, COMPARE_HTML) ? "<p class=\"verdict\">" : "");
	put(tb, pair->pr_series[1]->se_name);
	switch (cg->cg_verdict) {
	case PROF_VERDICT_LESS:
	case PROF_VERDICT_MORE:
		out_fmt(out, is_time(cg) ? " is %s: " : " %s: ",
		    compare_word(cg));
		break;
	case PROF_VERDICT_SAME:
		out_fmt(out, ": no change beyond %.3g%%: ", 100 * threshold);
		break;
	case PROF_VERDICT_OPEN:
		out_str(out, ": inconclusive, ");
		break;
	case PROF_VERDICT_FEW:
		out_str(out, ": too few runs for a verdict, ");
		break;
	}
	put(tb, compare_title(cg->cg_name));
	out_fmt(out, " %s", change);
	if (cg->cg_verdict == PROF_VERDICT_FEW)
		out_fmt(out, "; it takes %d a side, better 15",
		    PROF_MIN_RUNS);
	else
		out_fmt(out, " (%s)", ci);
	if (cg->cg_verdict == PROF_VERDICT_OPEN && cg->cg_runs_needed > 0)
		out_fmt(out, "; these runs can show %s, about %zu runs a "
		    "side would tell", percent(least, sizeof(least),
		    cg->cg_smallest) + 1, cg->cg_runs_needed);
	out_char(out, '\n');
}

/* --------------------------------------------------------------- tables */

/* A cell, to the right of its column; the last one stands free. */
static void
cell(const struct table *tb, int width, const char *text, bool last)
{
	if (is(tb, COMPARE_HTML))
		out_str(tb->tb_out, "<td>");
	else if (is(tb, COMPARE_MARKDOWN))
		out_str(tb->tb_out, " ");
	else
		out_fmt(tb->tb_out, last ? "  " : " %*s", last ? 0 : width -
		    (int)strlen(text), "");
	put(tb, text);
	if (is(tb, COMPARE_MARKDOWN))
		out_str(tb->tb_out, " |");
	if (last)
		out_char(tb->tb_out, '\n');
}

static void
row(const struct table *tb)
{
	out_str(tb->tb_out, is(tb, COMPARE_HTML) ? "<tr>" :
	    is(tb, COMPARE_MARKDOWN) ? "|" : " ");
}

static void
head(const struct table *tb, const char *const *titles, const int *widths,
    int n)
{
	out_str(tb->tb_out, is(tb, COMPARE_HTML) ? "<table>\n" : "\n");
	row(tb);
	for (int i = 0; i < n; i++)
		if (is(tb, COMPARE_HTML))
			out_fmt(tb->tb_out, i == n - 1 ? "<th>%s\n" :
			    "<th>%s", titles[i]);
		else
			cell(tb, widths[i], titles[i], i == n - 1);
	if (!is(tb, COMPARE_MARKDOWN))
		return;
	out_char(tb->tb_out, '|');
	for (int i = 0; i < n; i++)
		out_str(tb->tb_out, i == n - 1 ? "---|\n" : "---:|");
}

static void
metric_row(const struct table *tb, const struct prof_change *cg,
    const int *widths)
{
	char text[64], verdict[128];

	row(tb);
	cell(tb, widths[0], compare_title(cg->cg_name), false);
	compare_quantity(text, sizeof(text), cg->cg_median[0], cg->cg_unit);
	cell(tb, widths[1], text, false);
	compare_quantity(text, sizeof(text), cg->cg_median[1], cg->cg_unit);
	cell(tb, widths[2], text, false);
	cell(tb, widths[3], percent(text, sizeof(text), cg->cg_change),
	    false);
	cell(tb, widths[4], interval(text, sizeof(text), cg->cg_ci95),
	    false);
	cell(tb, widths[5], probability(text, sizeof(text),
	    cg->cg_p_adjusted), false);
	snprintf(verdict, sizeof(verdict), "%s", compare_word(cg));
	if (cg->cg_verdict == PROF_VERDICT_OPEN && cg->cg_runs_needed > 0)
		snprintf(verdict, sizeof(verdict), cg->cg_runs_needed > 1000 ?
		    "inconclusive, over 1000 runs" : "inconclusive, %zu runs",
		    cg->cg_runs_needed);
	cell(tb, widths[6], verdict, true);
}

static void
metrics(const struct table *tb, const struct pair *pair)
{
	static const char *const titles[] = {
		"metric", "base", "new", "change", "95% CI", "p", "verdict"
	};
	static const int widths[] = { 20, 11, 11, 9, 20, 7, 0 };
	const size_t n = prof_comparison_nmetrics(pair->pr_comparison);
	const struct prof_change *cg;

	if (n == 0)
		return;
	head(tb, titles, widths, 7);
	for (size_t i = 0; i < n; i++) {
		cg = prof_comparison_metric(pair->pr_comparison, i);
		/* Never there, on neither side: nothing to say. */
		if (cg->cg_mean[0] == 0 && cg->cg_mean[1] == 0)
			continue;
		if (cg->cg_n[0] > 0 || cg->cg_n[1] > 0)
			metric_row(tb, cg, widths);
	}
	out_str(tb->tb_out, is(tb, COMPARE_HTML) ? "</table>\n" : "");
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
		return ("not inlined any more");
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

static void
function_row(const struct table *tb, const struct prof_change *cg,
    const struct prof_change *total, const int *widths)
{
	char text[64];

	row(tb);
	cell(tb, widths[0], percent(text, sizeof(text), cg->cg_change),
	    false);
	cell(tb, widths[1], interval(text, sizeof(text), cg->cg_ci95),
	    false);
	snprintf(text, sizeof(text), "-");
	if (is_changed(total) && is_changed(cg))
		snprintf(text, sizeof(text), "%.0f%%", 100 * cg->cg_part);
	cell(tb, widths[2], text, false);
	snprintf(text, sizeof(text), "%.1f%% -> %.1f%%",
	    100 * cg->cg_share[0], 100 * cg->cg_share[1]);
	cell(tb, widths[3], text, false);
	cell(tb, widths[4], probability(text, sizeof(text),
	    cg->cg_p_adjusted), false);
	cell(tb, widths[5], function_word(cg), false);
	cell(tb, widths[6], cg->cg_name, true);
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
explain(const struct table *tb, const struct pair *pair, const char *what)
{
	struct prof_comparison *cp = pair->pr_comparison;
	const struct prof_change *total = prof_comparison_total(cp), *cg;
	const struct prof_change *nearly = NULL;
	char change[32], ci[64];
	int named = 0;

	out_fmt(tb->tb_out, "%stotal cost %s (%s): %s",
	    is(tb, COMPARE_HTML) ? "<p>" : "\n", percent(change,
	    sizeof(change), total->cg_change), interval(ci, sizeof(ci),
	    total->cg_ci95), compare_word(total));
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++) {
		cg = prof_comparison_function(cp, i);
		if (nearly == NULL && is_nearly_changed(cg))
			nearly = cg;
		if (!is_changed(cg) || named == 3)
			continue;
		out_str(tb->tb_out, named++ == 0 ? "; of it " : ", ");
		put(tb, cg->cg_name);
		if (is_changed(total))
			out_fmt(tb->tb_out, " %.0f%%", 100 * cg->cg_part);
		else
			out_fmt(tb->tb_out, " %s", percent(change,
			    sizeof(change), cg->cg_change));
	}
	if (named == 0)
		out_fmt(tb->tb_out, "; no %s is known to have changed", what);
	if (named == 0 && nearly != NULL) {
		out_fmt(tb->tb_out, ", about %zu runs a side would tell of ",
		    nearly->cg_runs_needed);
		put(tb, nearly->cg_name);
	}
	out_char(tb->tb_out, '\n');
}

static void
functions(const struct table *tb, const struct pair *pair,
    const struct compare_options *options)
{
	const char *what = compare_by_words[options->co_by];
	const char *const titles[] = {
		"of total", "95% CI", "part", "base -> new", "p", "verdict",
		what
	};
	static const int widths[] = { 9, 20, 6, 16, 7, 21, 0 };
	struct prof_comparison *cp = pair->pr_comparison;
	const size_t n = prof_comparison_nfunctions(cp);
	const struct prof_change *total = prof_comparison_total(cp), *cg;
	uint64_t shown = 0;

	if (total == NULL)
		return;
	explain(tb, pair, what);
	head(tb, titles, widths, 7);
	for (size_t i = 0; i < n; i++) {
		cg = prof_comparison_function(cp, i);
		/* Those of which there is something to say are all shown. */
		if (shown >= options->co_limit.on_value && !is_changed(cg) &&
		    !is_moved(cg))
			continue;
		function_row(tb, cg, total, widths);
		shown++;
	}
	out_fmt(tb->tb_out, "%s%zu %ss, %zu tested together\n",
	    is(tb, COMPARE_HTML) ? "</table>\n<p>" :
	    is(tb, COMPARE_MARKDOWN) ? "\n" : "  ", n, what,
	    prof_comparison_ntested(cp));
}

/* ------------------------------------------------------------- the whole */

/* ### new against base */
static void
title(const struct table *tb, const struct pair *pair)
{
	out_str(tb->tb_out, is(tb, COMPARE_HTML) ? "<h1>" : "### ");
	put(tb, pair->pr_series[1]->se_name);
	out_str(tb->tb_out, " against ");
	put(tb, pair->pr_series[0]->se_name);
	out_str(tb->tb_out, is(tb, COMPARE_HTML) ? "</h1>\n" : "\n\n");
}

static void
sides(const struct pair *pair, struct out *out)
{
	for (int s = 0; s < 2; s++) {
		out_str(out, s == 0 ? "base  " : "new   ");
		out_text(out, pair->pr_series[s]->se_name);
		out_fmt(out, ", %zu runs", pair->pr_series[s]->se_nruns);
		if (pair->pr_series[s]->se_build_id[0] != '\0') {
			out_str(out, ", build ");
			out_text(out, pair->pr_series[s]->se_build_id);
		}
		out_char(out, '\n');
	}
}

static void
notes(const struct table *tb, const struct pair *pair)
{
	static const char *const begin[] = { "note: ", "- ", "<p>note: " };
	const char *note;

	for (size_t i = 0; (note = prof_comparison_note(pair->pr_comparison,
	    i)) != NULL; i++) {
		out_str(tb->tb_out, i == 0 ? "\n" : "");
		out_str(tb->tb_out, begin[tb->tb_style]);
		put(tb, note);
		out_char(tb->tb_out, '\n');
	}
}

static void
one_pair(const struct compare *cm, const struct pair *pair,
    const struct table *tb)
{
	if (is(tb, COMPARE_TEXT))
		sides(pair, tb->tb_out);
	else
		title(tb, pair);
	headline(tb, pair, cm->cm_threshold);
	metrics(tb, pair);
	if (is(tb, COMPARE_HTML))
		compare_draw(pair, tb->tb_out);
	functions(tb, pair, cm->cm_options);
	notes(tb, pair);
}

void
compare_text(const struct compare *cm, enum compare_style style,
    struct out *out)
{
	const struct table tb = { out, style };
	char change[32], ci[64];

	for (size_t i = 0; i < cm->cm_npairs; i++) {
		out_str(out, i > 0 ? "\n" : "");
		one_pair(cm, &cm->cm_pair[i], &tb);
	}
	if (cm->cm_npairs > 1 && isfinite(cm->cm_geomean))
		out_fmt(out, "%sgeometric mean of %zu: %s (%s)\n",
		    style == COMPARE_HTML ? "<p>" : "\n", cm->cm_npairs,
		    percent(change, sizeof(change), cm->cm_geomean),
		    interval(ci, sizeof(ci), cm->cm_geomean_ci));
}
