/* SPDX-License-Identifier: ISC */
/*
 * What dtprof stat counted, as a table for people:
 *
 *	event              count   95 % interval   counted
 *	task-clock      12.35 ms         ± 1.2 %     100 %   0.98 CPUs used
 *	cycles       ~34,567,890         ± 0.4 %    58.3 %   2.80 GHz
 *
 * The share of the time in which an event had a counter stands in each line;
 * what it had for less than all of it is marked as an estimate, and below
 * the table stands why.
 *
 * Called by count.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../ui/table.h"
#include "count.h"

#define NAME_MAX_WIDTH	48
#define VALUE_WIDTH	18
#define MAX_TASKS	100000	/* lines for processes or threads */

/* A time in the unit that leaves few digits; a count as it is. */
static void
value_text(char *text, size_t size, double value, const char *unit,
    bool is_mean)
{
	const double ns = strcmp(unit, "s") == 0 ? value * 1e9 : value;

	if (isnan(value)) {
		snprintf(text, size, "not counted");
		return;
	}
	if (strcmp(unit, "ns") == 0 || strcmp(unit, "s") == 0) {
		if (ns >= 1e10)
			snprintf(text, size, "%.3f s", ns / 1e9);
		else if (ns >= 1e6)
			snprintf(text, size, "%.3f ms", ns / 1e6);
		else
			snprintf(text, size, "%.3f us", ns / 1e3);
		return;
	}
	if (strcmp(unit, "events") == 0) {
		snprintf(text, size, "%.*f", is_mean && value < 1000 &&
		    value != floor(value) ? 1 : 0, value);
		return;
	}
	snprintf(text, size, "%.2f %s", value, unit);
}

/* Never 100% when it is less. */
static const char *
share_text(char *text, size_t size, int share)
{
	if (share == -1)
		return ("-");
	if (share == 100000)
		return ("100%");
	snprintf(text, size, "%d.%d%%", share / 1000, share / 100 % 10);
	return (text);
}

/* The half width, relative to the mean. */
static const char *
interval_text(char *text, size_t size, const struct prof_summary *summary)
{
	const double half = (summary->sm_ci95[1] - summary->sm_ci95[0]) / 2;

	if (!summary->sm_has_ci)
		return ("-");
	if (summary->sm_mean == 0 || half == 0)
		return ("exact");
	snprintf(text, size, "\xc2\xb1 %8.*f%%",
	    half / fabs(summary->sm_mean) < 0.1 ? 2 : 1,
	    100 * half / fabs(summary->sm_mean));
	return (text);
}

static size_t
name_width(const struct count *count)
{
	size_t width = strlen("context-switches"), length;

	for (size_t e = 0; e < count->co_nevents; e++) {
		length = strlen(count->co_event[e].cs_name);
		if (length > width)
			width = length;
	}
	return (width > NAME_MAX_WIDTH ? NAME_MAX_WIDTH : width);
}

/* Who it was; beside others a command only said how long. */
static void
put_target(struct count *count)
{
	const struct prof_counting_options *what = count->co_what;
	struct out *out = &count->co_out;
	char *const *argv = what->co_argv;

	switch (what->co_target) {
	case PROF_TARGET_COMMAND:
		break;
	case PROF_TARGET_ALL:
		out_str(out, " all processes");
		break;
	case PROF_TARGET_CGROUP:
		OUT(out, " the cgroup ", what->co_cgroup);
		break;
	default:
		out_str(out, what->co_target == PROF_TARGET_PIDS ?
		    " process" : " thread");
		for (size_t n = 0; n < what->co_nids; n++)
			out_fmt(out, "%s%d", n == 0 ? " " : ",",
			    what->co_ids[n]);
		break;
	}
	if (argv != NULL && what->co_target != PROF_TARGET_COMMAND)
		out_str(out, ", until this command exited:");
	for (; argv != NULL && *argv != NULL; argv++)
		OUT(out, " ", *argv);
}

/* The first ratio of an event, beside it. */
static void
put_metric(struct table *tb, const struct count *count, size_t event)
{
	for (size_t m = 0; m < count->co_nmetrics; m++) {
		const struct count_metric *metric = &count->co_metric[m];

		if (metric->cm_event != event ||
		    metric->cm_series.cs_summary.sm_n == 0)
			continue;
		table_cell(tb, "%s%.*f %s", count_is_partial(count, event) ?
		    "~" : "", metric->cm_digits,
		    metric->cm_series.cs_summary.sm_mean,
		    metric->cm_series.cs_unit);
		return;
	}
}

static void
put_series(struct table *tb, const struct count *count,
    const struct count_series *series, bool is_partial)
{
	const struct prof_summary *summary = &series->cs_summary;
	char text[80], marked[96];

	table_text(tb, series->cs_name);
	value_text(text, sizeof(text), summary->sm_n == 0 ? NAN :
	    summary->sm_mean, series->cs_unit, count->co_nruns > 1);
	snprintf(marked, sizeof(marked), "%s%s", is_partial &&
	    summary->sm_n > 0 ? "~" : "", text);
	table_text(tb, marked);
	if (count->co_nruns > 1)
		table_text(tb, interval_text(text, sizeof(text), summary));
}

/* Events, an empty line, and times. */
static void
count_row(struct table *tb, const void *arg, size_t n)
{
	const struct count *count = arg;
	char text[32];

	if (n < count->co_nevents) {
		put_series(tb, count, &count->co_event[n],
		    count_is_partial(count, n));
		table_text(tb, share_text(text, sizeof(text),
		    count_share(count, n)));
		put_metric(tb, count, n);
	} else if (n == count->co_nevents)
		table_text(tb, "");
	else if (count->co_time[n - count->co_nevents -
	    1].cs_summary.sm_n > 0)
		put_series(tb, count,
		    &count->co_time[n - count->co_nevents - 1], false);
}

static void
put_counts(struct count *count)
{
	const bool is_mean = count->co_nruns > 1;
	struct table_column columns[] = {
		{ .tc_title = "event", .tc_gap = 2, .tc_is_left = true,
		    .tc_is_fixed = true, .tc_least = name_width(count) },
		{ .tc_title = is_mean ? "mean" : "count",
		    .tc_least = VALUE_WIDTH, .tc_is_fixed = true },
		{ .tc_title = "95% interval", .tc_gap = 2 },
		{ .tc_title = "counted", .tc_gap = 2, .tc_least = 8 },
		{ .tc_title = "", .tc_gap = 3, .tc_is_left = true }
	};
	struct table tb = { .tb_out = &count->co_out, .tb_column = columns,
	    .tb_ncolumns = 5 };

	if (!is_mean) {
		columns[2] = columns[3];
		columns[3] = columns[4];
		tb.tb_ncolumns--;
	}
	table_show(&tb, count->co_nevents + 1 + COUNT_NTIMES, count_row,
	    count);
}

static void
put_why(struct count *count)
{
	struct out *out = &count->co_out;
	bool any = false;

	for (size_t e = 0; e < count->co_nevents; e++)
		any |= count_is_partial(count, e);
	if (!any)
		return;
	out_str(out, "\n~ estimate: counted for part of the time only. ");
	if (count->co_fitting < count->co_nhardware)
		out_fmt(out, "Of the %zu events on the PMU, the first %zu fit "
		    "at\n  the same time: count only these events, or compare "
		    "only events of one group.\n", count->co_nhardware,
		    count->co_fitting);
	else
		out_str(out, "Possible causes:\n  other programs use "
		    "counters, or some CPUs do not have the event.\n");
}

static void
task_row(struct table *tb, const void *arg, size_t n)
{
	const struct count *count = arg;
	const struct prof_counted_task *task =
	    prof_counting_task(count->co_counting, n);
	char text[80];

	table_cell(tb, "%u", task->ck_pid);
	if (task->ck_tid != 0)
		table_cell(tb, "%u", task->ck_tid);
	else
		table_text(tb, "");
	table_text(tb, task->ck_comm);
	for (size_t e = 0; e < count->co_nevents; e++) {
		value_text(text, sizeof(text), (double)task->ck_counts[e] *
		    prof_counting_event(count->co_counting, e)->ce_scale,
		    count->co_event[e].cs_unit, false);
		table_text(tb, text);
	}
}

static void
put_tasks(struct count *count)
{
	const size_t n = prof_counting_ntasks(count->co_counting);
	struct table_column columns[3 + PROF_SPLIT_EVENTS];
	struct table tb = { .tb_out = &count->co_out, .tb_column = columns,
	    .tb_ncolumns = 3 + count->co_nevents };

	/* Events beyond PROF_SPLIT_EVENTS are not split. */
	if (n == 0)
		return;
	columns[0] = columns[1] = (struct table_column){ .tc_title = "pid",
	    .tc_gap = 2, .tc_least = 7, .tc_is_fixed = true };
	columns[1].tc_title = "tid";
	columns[2] = (struct table_column){ .tc_title = "name", .tc_gap = 2,
	    .tc_least = 16, .tc_is_fixed = true, .tc_is_left = true };
	for (size_t e = 0; e < count->co_nevents; e++)
		columns[3 + e] = (struct table_column){
		    .tc_title = count->co_event[e].cs_name, .tc_gap = 2,
		    .tc_least = VALUE_WIDTH - 2 };
	out_char(&count->co_out, '\n');
	table_show(&tb, n < MAX_TASKS ? n : MAX_TASKS, task_row, count);
}

void
count_text(struct count *count)
{
	struct out *out = &count->co_out;

	out_str(out, count->co_nintervals > 0 ? "\ncounted" : "counted");
	put_target(count);
	if (count->co_nruns > 1)
		out_fmt(out, " (%zu runs, means)", count->co_nruns);
	out_str(out, "\n\n");
	put_counts(count);
	put_why(count);
	put_tasks(count);
}

void
count_text_interval(struct count *count,
    const struct count_interval *interval)
{
	struct out *out = &count->co_out;

	for (size_t e = 0; e < count->co_nevents; e++) {
		const struct prof_counted_event *info =
		    prof_counting_event(count->co_counting, e);
		const struct prof_counted *added = &interval->ci_added[e];
		const int share = count_share_of(added);
		char text[80], marked[96];

		value_text(text, sizeof(text), added->cd_is_known ?
		    (double)added->cd_estimate * info->ce_scale : NAN,
		    info->ce_unit, false);
		snprintf(marked, sizeof(marked), "%s%s", share != -1 &&
		    share < 100000 && added->cd_is_known ? "~" : "", text);
		out_fmt(out, "%10.3f s%*s  %8s", interval->ci_until_s,
		    VALUE_WIDTH, marked, share_text(text, sizeof(text),
		    share));
		OUT(out, "   ", info->ce_name, "\n");
	}
}
