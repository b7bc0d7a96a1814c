/* SPDX-License-Identifier: ISC */
/*
 * The table of a report for people.  A row is a group of figures for each
 * event and then what the row is about.  How much of a group is shown
 * depends on the width; where there is no terminal, all of it is.  What is
 * wrong with the samples is said first, that nothing is wrong last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "terminal.h"

/* Figures of a group, from what is always shown to what is shown last. */
#define LEVEL_SHARES	0	/* self and total */
#define LEVEL_INTERVAL	1	/* and where self lies */
#define LEVEL_SAMPLES	2	/* and where total lies, and samples */
#define LEVEL_ALL	3	/* and the weights */
#define MIN_NAME	30
#define MODULE_WIDTH	16

struct page {
	const struct report_table *pg_table;
	struct out	*pg_out;
	const struct terminal *pg_terminal;
	int		 pg_level;
	size_t		 pg_groups;	/* events that are shown */
};

/* Weights as people read them: 1.23 s, 4.56 M. */
static void
weight_text(char *text, size_t size, uint64_t weight, const char *unit)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const counts[] = { "", " k", " M", " G", " T",
	    " P", " E" };
	const bool is_time = strcmp(unit, "ns") == 0;
	const unsigned last = is_time ? 3 : 6;
	const char *name;
	const uint64_t scale = prof_unit_scale(unit, &name);
	double value = (double)weight / (double)scale;
	unsigned n = 0;

	if (scale > 1 && value < 999.5) {
		snprintf(text, size, "%.4g", value);
		return;
	}
	for (; value >= 999.5 && n < last; n++)
		value /= 1000;
	snprintf(text, size, n == 0 || value >= 999.5 ? "%.0f%s%s" :
	    value >= 99.95 ? "%.1f%s%s" : "%.2f%s%s", value,
	    is_time ? " " : "", is_time ? times[n] : counts[n]);
}

/* ------------------------------------------------------------- groups */

/* One part of a group, self or total. */
static void
show_part(const struct page *page, const struct report_column *column,
    uint64_t weight, uint64_t samples, bool is_first)
{
	const struct report_share share = report_share(column, weight);
	const int interval = is_first ? LEVEL_INTERVAL : LEVEL_SAMPLES;
	char text[48];

	if (share.sh_value >= 0.05)
		terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_HOT);
	else if (share.sh_value >= 0.005)
		terminal_colour(page->pg_terminal, page->pg_out,
		    TERMINAL_WARM);
	out_fmt(page->pg_out, "%6.2f ", 100 * share.sh_value);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
	if (page->pg_level >= interval) {
		snprintf(text, sizeof(text), "%.1f-%.1f", 100 * share.sh_low,
		    100 * share.sh_high);
		out_fmt(page->pg_out, "%10s ", text);
	}
	if (page->pg_level >= LEVEL_ALL) {
		weight_text(text, sizeof(text), weight,
		    column->co_info->pi_unit);
		out_fmt(page->pg_out, "%9s ", text);
	}
	if (page->pg_level >= LEVEL_SAMPLES)
		out_fmt(page->pg_out, "%8" PRIu64 " ", samples);
}

static void
head_part(const struct page *page, const char *what, bool is_first)
{
	const int interval = is_first ? LEVEL_INTERVAL : LEVEL_SAMPLES;

	out_fmt(page->pg_out, "%6s ", what);
	if (page->pg_level >= interval)
		out_fmt(page->pg_out, "%10s ", "95 %");
	if (page->pg_level >= LEVEL_ALL)
		out_fmt(page->pg_out, "%9s ", "weight");
	if (page->pg_level >= LEVEL_SAMPLES)
		out_fmt(page->pg_out, "%8s ", "samples");
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
	if (page->pg_level >= LEVEL_INTERVAL) {
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
	if (page->pg_level >= LEVEL_INTERVAL)
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
	size_t part = level >= LEVEL_INTERVAL ? 20 : 10;

	return (1 + (table->ta_is_flow || level < LEVEL_SAMPLES ? part :
	    2 * part));
}

/* ------------------------------------------------------------ the page */

static size_t
event_width(const struct report_table *table, int level)
{
	size_t first = 7 + (level >= LEVEL_INTERVAL ? 11 : 0) +
	    (level >= LEVEL_SAMPLES ? 9 : 0) + (level >= LEVEL_ALL ? 10 : 0);
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
fit(struct page *page)
{
	const struct report_table *table = page->pg_table;
	const size_t width = page->pg_terminal->te_width;

	page->pg_level = LEVEL_ALL;
	page->pg_groups = table->ta_per_row;
	if (width == 0)
		return;
	while (page->pg_level > LEVEL_SHARES &&
	    MIN_NAME + groups_width(page) > width)
		page->pg_level--;
	while (page->pg_groups > 1 && MIN_NAME + groups_width(page) > width)
		page->pg_groups--;
}

/* --------------------------------------------------------------- rows */

static const char *
base_name(const struct page *page, const char *module)
{
	const char *slash = strrchr(module, '/');

	return (page->pg_terminal->te_width != 0 && slash != NULL &&
	    slash[1] != '\0' ? slash + 1 : module);
}

/* What a row is about, from the outside to the inside. */
static void
show_name(const struct page *page, const struct report_row *row)
{
	const struct report_table *table = page->pg_table;
	const struct report_column *column = report_column(table, row, 0);
	const char *parts[9] = { row->rw_comm, row->rw_pid, row->rw_tid,
	    row->rw_cpu, NULL, NULL, row->rw_call, row->rw_name, NULL };
	size_t used = groups_width(page);
	size_t left = page->pg_terminal->te_width, width;
	size_t nparts = 0;

	if (table->ta_by & BY_EVENT)
		parts[4] = column->co_info->pi_name;
	if (table->ta_by & BY_PROBE)
		parts[5] = column->co_info->pi_probe;
	if (row->rw_name == NULL && row->rw_module != NULL)
		parts[8] = row->rw_module[0] != '\0' ?
		    base_name(page, row->rw_module) : "[no module]";
	left = left == 0 ? SIZE_MAX : left > used ? left - used : 1;
	if (row->rw_name != NULL && left != SIZE_MAX)
		left = left > MODULE_WIDTH + 1 ? left - MODULE_WIDTH - 1 : 1;
	for (size_t n = 0; n < 9; n++)
		nparts += parts[n] != NULL;
	/* What one leaves of its part of the width is for those after it. */
	for (size_t n = 0; n < 9; n++) {
		if (parts[n] == NULL)
			continue;
		width = nparts == 1 ? left : left / nparts > 4 ?
		    left / nparts - 2 : 2;
		width = terminal_text(page->pg_out, parts[n], width);
		if (--nparts == 0)
			break;
		out_str(page->pg_out, "  ");
		left = left == SIZE_MAX ? left : left > width + 4 ?
		    left - width - 2 : 2;
	}
	if (row->rw_name == NULL || row->rw_module == NULL ||
	    row->rw_module[0] == '\0')
		return;
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_DIM);
	out_str(page->pg_out, "  ");
	(void)terminal_text(page->pg_out, base_name(page, row->rw_module),
	    page->pg_terminal->te_width == 0 ? SIZE_MAX : MODULE_WIDTH - 2);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
}

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
	const struct report_column *column;
	const struct report_sum *sum;

	for (size_t c = 0; c < page->pg_groups; c++) {
		column = report_column(table, row, c);
		sum = &table->ta_sum[row->rw_first + c];
		if (is_beside(table, c)) {
			show_counters(page, column, sum);
			continue;
		}
		if (!table->ta_is_flow)
			show_part(page, column, sum->su_self,
			    sum->su_self_samples, true);
		show_part(page, column, sum->su_total, sum->su_total_samples,
		    table->ta_is_flow);
		out_char(page->pg_out, ' ');
	}
	show_name(page, row);
	out_char(page->pg_out, '\n');
}

/* In the order in which show_name puts them. */
static void
head_names(const struct page *page)
{
	static const struct {
		unsigned	 na_by;
		const char	*na_word;
	} names[] = {
		{ BY_COMM, "comm" }, { BY_PID, "pid" }, { BY_TID, "tid" },
		{ BY_CPU, "cpu" }, { BY_EVENT, "event" },
		{ BY_PROBE, "probe" }, { BY_SYSCALL, "syscall" },
		{ BY_FUNCTION, "function" }, { BY_LINE, "line" },
		{ BY_MODULE, "module" },
	};
	bool any = false;

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		if ((page->pg_table->ta_by & names[n].na_by) == 0)
			continue;
		out_fmt(page->pg_out, "%s%s", any ? ", " : "",
		    names[n].na_word);
		any = true;
	}
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
		if (!table->ta_is_flow)
			head_part(page, "self%", true);
		head_part(page, table->ta_is_flow ? "share%" : "total%",
		    table->ta_is_flow);
		out_char(page->pg_out, ' ');
	}
	head_names(page);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
	out_char(page->pg_out, '\n');
}

/* ------------------------------------------------------------ quality */

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

void
report_text(const struct report *report, struct out *out,
    const struct terminal *terminal)
{
	const struct report_table *table = &report->re_table;
	struct page page = { table, out, terminal, 0, 0 };

	fit(&page);
	show_quality(report, &page);
	if (table->ta_ncolumns == 0)
		out_str(out, "no samples\n");
	else
		show_head(&page);
	for (size_t n = 0; n < table->ta_nrows && out->ou_errno == 0; n++)
		show_row(&page, &table->ta_row[n]);
	if (table->ta_hidden > 0)
		out_fmt(out, "... and %zu more\n", table->ta_hidden);
	if (page.pg_groups < table->ta_per_row)
		out_fmt(out, "... and %zu more events: widen the terminal, or "
		    "choose with --event\n", table->ta_per_row -
		    page.pg_groups);
	if (table->ta_ncolumns > 0)
		out_str(out, "95 %: where the share lies, as far as chance in "
		    "taking samples goes (Wilson)\n");
}
