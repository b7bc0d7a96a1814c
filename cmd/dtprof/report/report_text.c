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

#include "../ui/table.h"
#include "report.h"
#include "stats.h"

/* Figures of a group, from what is always shown to what is shown last. */
#define LEVEL_SHARES	0	/* self and total */
#define LEVEL_WEIGHT	1	/* and how much self is */
#define LEVEL_INTERVAL	2	/* and where its share lies */
#define LEVEL_SAMPLES	3	/* and where total's lies, and samples */
#define LEVEL_ALL	4	/* and how much total is */
#define MIN_NAME	30
#define MIN_NAME_VERBOSE 14	/* who asks for more has fewer names */
#define MAX_EVENTS	3	/* that a headline names */
#define MAX_FIGURES	8	/* of a group */

enum figure_kind {
	FIGURE_SHARE, FIGURE_INTERVAL, FIGURE_WEIGHT, FIGURE_SAMPLES,
	FIGURE_VALUE, FIGURE_RATIO	/* of a counter; for one of its base */
};

/* What stands in a column of the table. */
struct figure {
	enum figure_kind fi_kind;
	bool		 fi_is_total;
	size_t		 fi_group;	/* event that is shown */
	char		 fi_title[16];
};

struct page {
	const struct report *pg_report;
	const struct report_table *pg_table;
	struct out	*pg_out;
	const struct terminal *pg_terminal;
	int		 pg_level;	/* that is asked for */
	struct figure	*pg_figure;
	struct table_column *pg_column;	/* of figures, and the names' */
	size_t		 pg_nfigures;
	struct report_names *pg_names;	/* once it is known how wide */
};

/* -------------------------------------------------------------- columns */

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

/* A column from a level on, which goes when less than that has room. */
static void
add_figure(struct page *page, const struct figure *figure, const char *title,
    int level)
{
	static const size_t widths[] = { 6, 10, 9, 8, 9, 9 };
	const size_t n = page->pg_nfigures;
	const bool is_first = n == 0 ||
	    figure->fi_group != page->pg_figure[n - 1].fi_group;
	const struct report_table *table = page->pg_table;

	if (level > page->pg_level)
		return;
	page->pg_figure[n] = *figure;
	snprintf(page->pg_figure[n].fi_title, sizeof(figure->fi_title),
	    "%.9s", title);
	page->pg_column[n] = (struct table_column){
		.tc_title = page->pg_figure[n].fi_title,
		.tc_over = is_first ?
		    table->ta_column[figure->fi_group].co_info->pi_name : NULL,
		.tc_least = widths[figure->fi_kind],
		.tc_gap = n == 0 ? 0 : is_first ? 2 : 1,
		.tc_drop = level > LEVEL_SHARES ? LEVEL_ALL + 1 - level :
		    figure->fi_group == 0 ? 0 : LEVEL_ALL +
		    (int)(table->ta_per_row - figure->fi_group),
		.tc_is_fixed = true,
	};
	page->pg_nfigures++;
}

/* The level from which on a part of a group is shown. */
static int
level_of(bool is_first, int first)
{
	return (is_first ? first : first == LEVEL_INTERVAL ? LEVEL_SAMPLES :
	    LEVEL_ALL);
}

/* One part of a group, self or total. */
static void
add_part(struct page *page, size_t group, bool is_total, const char *title,
    bool is_first)
{
	struct figure figure = { .fi_group = group, .fi_is_total = is_total };

	add_figure(page, &figure, title, LEVEL_SHARES);
	figure.fi_kind = FIGURE_INTERVAL;
	add_figure(page, &figure, "95% CI",
	    level_of(is_first, LEVEL_INTERVAL));
	figure.fi_kind = FIGURE_WEIGHT;
	add_figure(page, &figure, head_weight(page->pg_table,
	    &page->pg_table->ta_column[group]),
	    level_of(is_first, LEVEL_WEIGHT));
	figure.fi_kind = FIGURE_SAMPLES;
	add_figure(page, &figure, "samples", LEVEL_SAMPLES);
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
add_counter(struct page *page, size_t group, bool is_total, bool is_first)
{
	const struct report_column *column =
	    &page->pg_table->ta_column[group];
	const char *base = column->co_base->co_info->pi_name;
	const int least = is_first ? LEVEL_SHARES : LEVEL_SAMPLES;
	struct figure figure = { FIGURE_VALUE, is_total, group, "" };
	char title[16];

	add_figure(page, &figure, is_total ? "total" : "self",
	    is_first ? LEVEL_WEIGHT : LEVEL_SAMPLES);
	figure.fi_kind = FIGURE_RATIO;
	snprintf(title, sizeof(title), strlen(base) > 8 ? "/%.6s.." : "/%s",
	    base);
	add_figure(page, &figure, is_rate(column) ? "/ms" : title, least);
}

/* Both parts; a tree is read from its totals on. */
static void
add_group(struct page *page, size_t group)
{
	const struct report_table *table = page->pg_table;
	const bool is_flow = table->ta_is_flow, is_tree = table->ta_is_tree;

	if (table->ta_per_row > 1 && table->ta_column[group].co_base != NULL) {
		if (!is_flow)
			add_counter(page, group, false, true);
		add_counter(page, group, true, is_flow);
		return;
	}
	if (is_tree)
		add_part(page, group, true, "total%", true);
	if (!is_flow)
		add_part(page, group, false, "self%", !is_tree);
	if (!is_tree)
		add_part(page, group, true, is_flow ? "share%" : "total%",
		    is_flow);
}

/* ----------------------------------------------------------------- rows */

static void
put_share(struct table *tb, const struct report_share *share)
{
	if (share->sh_value >= 0.05)
		table_colour(tb, TERMINAL_HOT);
	else if (share->sh_value >= 0.005)
		table_colour(tb, TERMINAL_WARM);
	table_cell(tb, "%.2f", 100 * share->sh_value);
}

static void
put_figure(struct table *tb, const struct figure *figure,
    const struct report_column *column, const struct report_sum *sum)
{
	const bool is_total = figure->fi_is_total;
	const uint64_t weight = is_total ? sum->su_total : sum->su_self;
	struct report_share share;
	uint64_t base;
	char text[48];

	switch (figure->fi_kind) {
	case FIGURE_SHARE:
	case FIGURE_INTERVAL:
		share = report_share(column, weight);
		if (figure->fi_kind == FIGURE_SHARE)
			put_share(tb, &share);
		else
			table_cell(tb, "%.1f-%.1f", 100 * share.sh_low,
			    100 * share.sh_high);
		break;
	case FIGURE_WEIGHT:
	case FIGURE_VALUE:
		weight_text(text, sizeof(text), weight,
		    column->co_info->pi_unit);
		table_cell(tb, "%s", text);
		break;
	case FIGURE_SAMPLES:
		table_cell(tb, "%" PRIu64, is_total ? sum->su_total_samples :
		    sum->su_self_samples);
		break;
	case FIGURE_RATIO:
		sum += column->co_base - column;
		base = is_total ? sum->su_total : sum->su_self;
		if (base == 0)
			table_text(tb, "-");
		else
			table_cell(tb, "%.4g", report_ratio(weight, base) *
			    (is_rate(column) ? 1e6 : 1));
		break;
	}
}

static void
report_line(struct table *tb, const void *arg, size_t n)
{
	const struct page *page = arg;
	const struct report_table *table = page->pg_table;
	const struct report_row *row;
	size_t room;

	if (tb->tb_is_measure || page->pg_out->ou_errno != 0)
		return;
	if (n == TABLE_HEAD) {
		(void)table_rest(tb, &room);
		report_names_fit(page->pg_names, table, room);
		report_names_head(page->pg_names, page->pg_out);
		return;
	}
	row = &table->ta_row[n];
	for (size_t f = 0; f < page->pg_nfigures; f++) {
		const size_t group = page->pg_figure[f].fi_group;

		if (tb->tb_column[f].tc_is_gone)
			table_text(tb, "");
		else
			put_figure(tb, &page->pg_figure[f],
			    report_column(table, row, group),
			    &table->ta_sum[row->rw_first + group]);
	}
	if (table_rest(tb, &room))
		report_names_row(page->pg_names, page->pg_out,
		    page->pg_terminal, row);
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

static bool
is_elapsed(const struct report_table *table)
{
	return (table->ta_ncolumns == 1 &&
	    table->ta_column[0].co_info->pi_is_derived);
}

/* Of the whole recording: where the time of threads went. */
static void
show_waits(const struct report *report, const struct page *page)
{
	const struct report_table *table = &report->re_table;

	if (report->re_headline.he_filter != NULL ||
	    report->re_headline.he_span.cs_is_set)
		return;
	for (size_t e = 1; table->ta_ncolumns > 0 &&
	    e < prof_reader_nevents(report->re_reader); e++)
		if (report->re_wanted[e] || is_elapsed(table))
			stats_waits_line(report->re_reader, e, page->pg_out);
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

/* What happened in frames that are not shown; of the event that counts. */
static void
show_folded(const struct page *page)
{
	const struct report *report = page->pg_report;
	struct prof_quality quality;
	char text[160];

	for (size_t e = 1; e < prof_reader_nevents(report->re_reader); e++) {
		prof_profile_quality(report->re_profile, e, &quality);
		if (!report->re_wanted[e] || quality.pq_folded == 0)
			continue;
		snprintf(text, sizeof(text), "the cost of interpreter "
		    "internals (%.1f%%) is added to the frames that called "
		    "them; --frames all shows them", 100 * quality.pq_folded);
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
		return;
	}
}

/* Waits for work are one row. */
static void
show_idle(const struct page *page)
{
	const struct report *report = page->pg_report;
	char text[160], time[32];
	const uint64_t ns = report_idle_ns(report);

	if (ns == 0)
		return;
	weight_time(time, sizeof(time), ns);
	snprintf(text, sizeof(text), "waits for work (%s) are one row, idle; "
	    "--idle shows their functions", time);
	terminal_fold(page->pg_terminal, page->pg_out, text, 4);
}

/* What waits without a thread is not in the table. */
static void
show_schedulers(const struct page *page)
{
	const struct prof_profile *profile = page->pg_report->re_profile;
	char *text = NULL;
	size_t size, n = 0;
	FILE *stream = open_memstream(&text, &size);
	const char *name, *part;

	if (stream == NULL)
		return;
	fputs("waits are those of threads, not of ", stream);
	for (; (name = prof_profile_scheduler(profile, n, &part)) != NULL; n++)
		fprintf(stream, "%s%s (%s)", n > 0 ? ", " : "", part, name);
	if (fclose(stream) == 0 && n > 0)
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	free(text);
}

/* What is not in the table; hidden: events. */
static void
show_rest(const struct page *page, size_t hidden, bool is_verbose)
{
	const struct report_table *table = page->pg_table;
	char text[160];

	if (table->ta_hidden > 0) {
		snprintf(text, sizeof(text), table->ta_least > 0 ?
		    "... %zu more row%s, of less than %g%% each: --limit N "
		    "shows the N heaviest" : "... %zu more row%s",
		    table->ta_hidden,
		    table->ta_hidden == 1 ? "" : "s", 100 * table->ta_least);
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	}
	if (hidden > 0)
		terminal_more_events(page->pg_terminal, page->pg_out, hidden);
	show_folded(page);
	show_idle(page);
	show_schedulers(page);
	if (is_verbose)
		terminal_fold(page->pg_terminal, page->pg_out, "95% CI: "
		    "confidence interval of the share, from sampling alone "
		    "(Wilson)", 4);
}

static void
show_table(struct page *page, bool is_verbose)
{
	const struct report_table *table = page->pg_table;
	struct report_names names;
	struct table tb = { .tb_out = page->pg_out,
	    .tb_terminal = page->pg_terminal, .tb_column = page->pg_column,
	    .tb_last = is_verbose && !table->ta_is_tree ? MIN_NAME_VERBOSE :
	    MIN_NAME, .tb_has_rest = true };

	page->pg_names = &names;
	page->pg_level = is_verbose ? LEVEL_ALL : table->ta_is_tree ?
	    LEVEL_SHARES : LEVEL_INTERVAL;
	for (size_t c = 0; c < table->ta_per_row; c++)
		add_group(page, c);
	page->pg_column[page->pg_nfigures] = (struct table_column){
		.tc_title = "", .tc_gap = 2, .tc_is_left = true };
	tb.tb_ncolumns = page->pg_nfigures + 1;
	out_char(page->pg_out, '\n');
	table_show(&tb, table->ta_nrows, report_line, page);
	show_rest(page, table_groups(&tb, true), is_verbose);
}

void
report_text(const struct report *report, struct out *out,
    const struct terminal *terminal)
{
	const struct report_table *table = &report->re_table;
	struct page page = { .pg_report = report, .pg_table = table,
	    .pg_out = out,
	    .pg_terminal = terminal };

	show_headline(report, &page);
	show_waits(report, &page);
	show_quality(report, &page);
	if (table->ta_ncolumns == 0)
		return;
	page.pg_figure = calloc(MAX_FIGURES * table->ta_per_row,
	    sizeof(*page.pg_figure));
	page.pg_column = calloc(MAX_FIGURES * table->ta_per_row + 1,
	    sizeof(*page.pg_column));
	if (page.pg_figure != NULL && page.pg_column != NULL)
		show_table(&page, report->re_is_verbose);
	free(page.pg_figure);
	free(page.pg_column);
}
