/* SPDX-License-Identifier: ISC */
/*
 * A report for people: the headline, what is wrong with the samples, the
 * table, and what is left to say.  A row is a group of figures for each event
 * and then what the row is about (report_names.c).  How much of a group is
 * shown depends on -v and on the width, which only a terminal limits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "report.h"

/* Figures of a group, from what is always shown to what is shown last. */
#define LEVEL_SHARES	0	/* self and total */
#define LEVEL_WEIGHT	1	/* and how much self is */
#define LEVEL_INTERVAL	2	/* and where its share lies */
#define LEVEL_SAMPLES	3	/* and where total's lies, and samples */
#define LEVEL_ALL	4	/* and how much total is */
#define MIN_NAME	30
#define MIN_NAME_VERBOSE 14	/* who asks for more has fewer names */
#define MAX_EVENTS	3	/* that a headline names */

struct page {
	const struct report_table *pg_table;
	struct out	*pg_out;
	const struct terminal *pg_terminal;
	struct report_names pg_names;
	int		 pg_level;
	size_t		 pg_groups;	/* events that are shown */
};

/* ------------------------------------------------------------- groups */

/* The level from which on a part of a group is shown. */
static int
level_of(bool is_first, int first)
{
	return (is_first ? first : first == LEVEL_INTERVAL ? LEVEL_SAMPLES :
	    LEVEL_ALL);
}

/* One part of a group, self or total. */
static void
show_part(const struct page *page, const struct report_column *column,
    uint64_t weight, uint64_t samples, bool is_first)
{
	const struct report_share share = report_share(column, weight);
	char text[48];

	if (share.sh_value >= 0.05)
		terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_HOT);
	else if (share.sh_value >= 0.005)
		terminal_colour(page->pg_terminal, page->pg_out,
		    TERMINAL_WARM);
	out_fmt(page->pg_out, "%6.2f ", 100 * share.sh_value);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
	if (page->pg_level >= level_of(is_first, LEVEL_INTERVAL)) {
		snprintf(text, sizeof(text), "%.1f-%.1f", 100 * share.sh_low,
		    100 * share.sh_high);
		out_fmt(page->pg_out, "%10s ", text);
	}
	if (page->pg_level >= level_of(is_first, LEVEL_WEIGHT)) {
		weight_text(text, sizeof(text), weight,
		    column->co_info->pi_unit);
		out_fmt(page->pg_out, "%9s ", text);
	}
	if (page->pg_level >= LEVEL_SAMPLES)
		out_fmt(page->pg_out, "%8" PRIu64 " ", samples);
}

/* By event rows differ in what they are counted in. */
static const char *
head_weight(const struct report_table *table,
    const struct report_column *column)
{
	const char *head = weight_head(column->co_info->pi_unit);

	for (size_t c = 0; table->ta_per_row == 1 && c < table->ta_ncolumns;
	    c++)
		if (strcmp(head, weight_head(table->ta_column[
		    c].co_info->pi_unit)) != 0)
			return ("amount");
	return (head);
}

static void
head_part(const struct page *page, const struct report_column *column,
    const char *what, bool is_first)
{
	out_fmt(page->pg_out, "%6s ", what);
	if (page->pg_level >= level_of(is_first, LEVEL_INTERVAL))
		out_fmt(page->pg_out, "%10s ", "95% CI");
	if (page->pg_level >= level_of(is_first, LEVEL_WEIGHT))
		out_fmt(page->pg_out, "%9.9s ",
		    head_weight(page->pg_table, column));
	if (page->pg_level >= LEVEL_SAMPLES)
		out_fmt(page->pg_out, "%8s ", "samples");
}

/* Both parts; a tree is read from its totals on. */
static void
show_parts(const struct page *page, const struct report_column *column,
    const struct report_sum *sum)
{
	const struct report_table *table = page->pg_table;

	if (table->ta_is_tree)
		show_part(page, column, sum->su_total, sum->su_total_samples,
		    true);
	if (!table->ta_is_flow)
		show_part(page, column, sum->su_self, sum->su_self_samples,
		    !table->ta_is_tree);
	if (!table->ta_is_tree)
		show_part(page, column, sum->su_total, sum->su_total_samples,
		    table->ta_is_flow);
}

static void
head_parts(const struct page *page, const struct report_column *column)
{
	const struct report_table *table = page->pg_table;

	if (table->ta_is_tree)
		head_part(page, column, "total%", true);
	if (!table->ta_is_flow)
		head_part(page, column, "self%", !table->ta_is_tree);
	if (!table->ta_is_tree)
		head_part(page, column, table->ta_is_flow ? "share%" :
		    "total%", table->ta_is_flow);
}

/* ------------------------------------------------ groups of counters */

/* Is it shown as a counter, beside the event whose samples bring it? */
static bool
is_beside(const struct report_table *table, size_t n)
{
	return (table->ta_per_row > 1 && table->ta_column[n].co_base != NULL);
}

/* Events in a time: nobody counts them in a nanosecond. */
static bool
is_rate(const struct report_column *column)
{
	return (strcmp(column->co_base->co_info->pi_unit, "ns") == 0 &&
	    strcmp(column->co_info->pi_unit, "ns") != 0);
}

/* Of a counter: how much there is, and how much for one of its base. */
static void
show_counter(const struct page *page, const struct report_column *column,
    uint64_t value, uint64_t base, bool is_first)
{
	char text[48];

	if (!is_first && page->pg_level < LEVEL_SAMPLES)
		return;
	if (page->pg_level >= LEVEL_WEIGHT) {
		weight_text(text, sizeof(text), value,
		    column->co_info->pi_unit);
		out_fmt(page->pg_out, "%9s ", text);
	}
	if (base == 0)
		out_fmt(page->pg_out, "%9s ", "-");
	else
		out_fmt(page->pg_out, "%9.4g ", report_ratio(value, base) *
		    (is_rate(column) ? 1e6 : 1));
}

static void
head_counter(const struct page *page, const struct report_column *column,
    const char *what, bool is_first)
{
	const char *name = column->co_base->co_info->pi_name;
	size_t shown;

	if (!is_first && page->pg_level < LEVEL_SAMPLES)
		return;
	if (page->pg_level >= LEVEL_WEIGHT)
		out_fmt(page->pg_out, "%9s ", what);
	if (is_rate(column)) {
		out_fmt(page->pg_out, "%9s ", "/ms");
		return;
	}
	shown = strlen(name) < 8 ? strlen(name) : 8;
	out_fmt(page->pg_out, "%*s/", (int)(8 - shown), "");
	(void)terminal_text(page->pg_out, name, 8);
	out_char(page->pg_out, ' ');
}

static size_t
counter_width(const struct report_table *table, int level)
{
	size_t part = level >= LEVEL_WEIGHT ? 20 : 10;

	return (1 + (table->ta_is_flow || level < LEVEL_SAMPLES ? part :
	    2 * part));
}

/* ------------------------------------------------------------ the page */

static size_t
event_width(const struct report_table *table, int level)
{
	size_t first = 7 + (level >= LEVEL_INTERVAL ? 11 : 0) +
	    (level >= LEVEL_WEIGHT ? 10 : 0) +
	    (level >= LEVEL_SAMPLES ? 9 : 0);
	size_t second = 7 + (level >= LEVEL_SAMPLES ? 20 : 0) +
	    (level >= LEVEL_ALL ? 10 : 0);

	return (1 + first + (table->ta_is_flow ? 0 : second));
}

static size_t
group_width(const struct report_table *table, size_t n, int level)
{
	return (is_beside(table, n) ? counter_width(table, level) :
	    event_width(table, level));
}

/* Of the groups that are shown. */
static size_t
groups_width(const struct page *page)
{
	size_t width = 0;

	for (size_t n = 0; n < page->pg_groups; n++)
		width += group_width(page->pg_table, n, page->pg_level);
	return (width);
}

/* As much of as many events as leave room for names. */
static void
fit(struct page *page, bool is_verbose)
{
	const struct report_table *table = page->pg_table;
	const size_t width = page->pg_terminal->te_width;
	const size_t name = is_verbose && !table->ta_is_tree ?
	    MIN_NAME_VERBOSE : MIN_NAME;

	page->pg_level = is_verbose ? LEVEL_ALL : table->ta_is_tree ?
	    LEVEL_SHARES : LEVEL_INTERVAL;
	page->pg_groups = table->ta_per_row;
	while (width > 0 && page->pg_level > LEVEL_SHARES &&
	    name + groups_width(page) > width)
		page->pg_level--;
	while (width > 0 && page->pg_groups > 1 &&
	    MIN_NAME + groups_width(page) > width)
		page->pg_groups--;
	report_names_fit(&page->pg_names, table, width == 0 ? 0 :
	    width > groups_width(page) + 4 ? width - groups_width(page) : 4);
}

/* --------------------------------------------------------------- rows */

static void
show_counters(const struct page *page, const struct report_column *column,
    const struct report_sum *sum)
{
	const struct report_sum *base = sum + (column->co_base - column);
	const bool is_flow = page->pg_table->ta_is_flow;

	if (!is_flow)
		show_counter(page, column, sum->su_self, base->su_self, true);
	show_counter(page, column, sum->su_total, base->su_total, is_flow);
	out_char(page->pg_out, ' ');
}

static void
show_row(const struct page *page, const struct report_row *row)
{
	const struct report_table *table = page->pg_table;
	const struct report_sum *sum;

	for (size_t c = 0; c < page->pg_groups; c++) {
		const struct report_column *column =
		    report_column(table, row, c);

		sum = &table->ta_sum[row->rw_first + c];
		if (is_beside(table, c)) {
			show_counters(page, column, sum);
			continue;
		}
		show_parts(page, column, sum);
		out_char(page->pg_out, ' ');
	}
	report_names_row(&page->pg_names, page->pg_out, page->pg_terminal,
	    row);
	out_char(page->pg_out, '\n');
}

static void
show_head(const struct page *page)
{
	const struct report_table *table = page->pg_table;
	const struct report_column *column;
	size_t shown, width;

	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_BOLD);
	for (size_t c = 0; c < page->pg_groups && page->pg_groups > 1; c++) {
		width = group_width(table, c, page->pg_level);
		shown = terminal_text(page->pg_out,
		    table->ta_column[c].co_info->pi_name, width - 1);
		out_fmt(page->pg_out, "%*s", (int)(width - shown), "");
	}
	if (page->pg_groups > 1)
		out_char(page->pg_out, '\n');
	for (size_t c = 0; c < page->pg_groups; c++) {
		column = &table->ta_column[c];
		if (is_beside(table, c)) {
			if (!table->ta_is_flow)
				head_counter(page, column, "self", true);
			head_counter(page, column, "total",
			    table->ta_is_flow);
			out_char(page->pg_out, ' ');
			continue;
		}
		head_parts(page, column);
		out_char(page->pg_out, ' ');
	}
	report_names_head(&page->pg_names, page->pg_out);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
	out_char(page->pg_out, '\n');
}

/* ----------------------------------------------------- above and below */

/* What was recorded, how long, and what it came to. */
static void
show_headline(const struct report *report, const struct page *page)
{
	const struct report_table *table = &report->re_table;
	size_t length, named = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &length);
	double cpus;

	if (stream == NULL)
		return;
	headline_begin(&report->re_headline, stream);
	fputs(table->ta_ncolumns == 0 ? ": no samples" : ": ", stream);
	for (; named < table->ta_ncolumns && named < MAX_EVENTS; named++) {
		const struct report_column *column = &table->ta_column[named];

		fputs(named > 0 ? "; " : "", stream);
		cpus = headline_weight(&report->re_headline, stream,
		    column->co_info, column->co_weight, column->co_samples,
		    column->co_idle);
		if (cpus >= 0)
			fprintf(stream, ", %.2f CPUs", cpus);
	}
	if (named < table->ta_ncolumns)
		fprintf(stream, "; %zu more events",
		    table->ta_ncolumns - named);
	if (fclose(stream) == 0)
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	free(text);
}

/* What is bad; nothing where all is well. */
static void
show_quality(const struct report *report, const struct page *page)
{
	const size_t nevents = prof_reader_nevents(report->re_reader);
	struct prof_quality quality;

	for (size_t e = 1; e < nevents; e++) {
		prof_profile_quality(report->re_profile, e, &quality);
		if (report->re_wanted[e])
			terminal_warn(page->pg_terminal, page->pg_out, "",
			    prof_reader_event(report->re_reader, e)->pi_name,
			    quality.pq_text);
	}
}

/* What is not in the table. */
static void
show_rest(const struct page *page, bool is_verbose)
{
	const struct report_table *table = page->pg_table;
	char text[160];

	if (table->ta_hidden > 0) {
		snprintf(text, sizeof(text), table->ta_least > 0 ?
		    "... %zu more row%s, of less than %g%%: --limit N shows "
		    "the N heaviest" : "... %zu more row%s", table->ta_hidden,
		    table->ta_hidden == 1 ? "" : "s", 100 * table->ta_least);
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	}
	if (page->pg_groups < table->ta_per_row)
		terminal_more_events(page->pg_terminal, page->pg_out,
		    table->ta_per_row - page->pg_groups);
	if (is_verbose)
		terminal_fold(page->pg_terminal, page->pg_out, "95% CI: "
		    "confidence interval of the share, from sampling alone "
		    "(Wilson)", 4);
}

void
report_text(const struct report *report, struct out *out,
    const struct terminal *terminal)
{
	const struct report_table *table = &report->re_table;
	struct page page = { .pg_table = table, .pg_out = out,
	    .pg_terminal = terminal };

	show_headline(report, &page);
	show_quality(report, &page);
	if (table->ta_ncolumns == 0)
		return;
	fit(&page, report->re_is_verbose);
	out_char(out, '\n');
	show_head(&page);
	for (size_t n = 0; n < table->ta_nrows && out->ou_errno == 0; n++)
		show_row(&page, &table->ta_row[n]);
	show_rest(&page, report->re_is_verbose);
}
