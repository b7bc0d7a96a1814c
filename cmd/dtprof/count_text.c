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

#include "count.h"

#define NAME_MAX_WIDTH	48
#define VALUE_WIDTH	18
#define MAX_TASKS	100000	/* lines for processes or threads */

static void	 put_value(struct out *out, double value, const char *unit,
		    const char *mark, bool is_mean);
static void	 put_share(struct out *out, int share);

/* Digits in threes. */
static void
grouped(char *text, size_t size, double value, int digits)
{
	char plain[64];
	size_t n = 0, whole;

	snprintf(plain, sizeof(plain), "%.*f", digits, value);
	whole = strcspn(plain, ".");
	for (size_t i = 0; plain[i] != '\0' && n + 2 < size; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0 &&
		    plain[i - 1] != '-')
			text[n++] = ',';
		text[n++] = plain[i];
	}
	text[n] = '\0';
}

/* A time in the unit that leaves few digits; a count as it is. */
static void
value_text(char *text, size_t size, double value, const char *unit,
    bool is_mean)
{
	const double ns = strcmp(unit, "s") == 0 ? value * 1e9 : value;
	char number[64];

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
		grouped(text, size, value, is_mean && value < 1000 &&
		    value != floor(value) ? 1 : 0);
		return;
	}
	grouped(number, sizeof(number), value, 2);
	snprintf(text, size, "%s %s", number, unit);
}

static void
put_value(struct out *out, double value, const char *unit, const char *mark,
    bool is_mean)
{
	char text[80], marked[96];

	value_text(text, sizeof(text), value, unit, is_mean);
	snprintf(marked, sizeof(marked), "%s%s", isnan(value) ? "" : mark,
	    text);
	out_fmt(out, "%*s", (int)(VALUE_WIDTH - strlen(marked) > VALUE_WIDTH ?
	    0 : VALUE_WIDTH - strlen(marked)), "");
	out_text(out, marked);
}

/* Never 100 % when it is less. */
static void
put_share(struct out *out, int share)
{
	if (share == -1)
		out_fmt(out, "  %8s", "-");
	else if (share == 100000)
		out_fmt(out, "  %8s", "100 %");
	else
		out_fmt(out, "  %5d.%d %%", share / 1000, share / 100 % 10);
}

/* The half width, relative to the mean. */
static void
put_interval(struct out *out, const struct prof_summary *summary)
{
	const double half = (summary->sm_ci95[1] - summary->sm_ci95[0]) / 2;

	if (!summary->sm_has_ci)
		out_fmt(out, "  %11s", "-");
	else if (summary->sm_mean == 0 || half == 0)
		out_fmt(out, "  %11s", "exact");
	else
		out_fmt(out, "  \xc2\xb1 %8.*f%%",
		    half / fabs(summary->sm_mean) < 0.1 ? 2 : 1,
		    100 * half / fabs(summary->sm_mean));
}

static int
name_width(const struct count *count)
{
	size_t width = strlen("context-switches"), length;

	for (size_t e = 0; e < count->co_nevents; e++) {
		length = strlen(count->co_event[e].cs_name);
		if (length > width)
			width = length;
	}
	return ((int)(width > NAME_MAX_WIDTH ? NAME_MAX_WIDTH : width));
}

static void
put_name(struct out *out, const char *name, int width)
{
	const int length = (int)strlen(name);

	out_str(out, "  ");
	out_text(out, name);
	out_fmt(out, "%*s", length < width ? width - length : 0, "");
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
		out_str(out, " the cgroup ");
		out_text(out, what->co_cgroup);
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
	for (; argv != NULL && *argv != NULL; argv++) {
		out_char(out, ' ');
		out_text(out, *argv);
	}
}

static void
put_head(struct count *count, int width)
{
	struct out *out = &count->co_out;

	out_str(out, "counted");
	put_target(count);
	if (count->co_nruns > 1)
		out_fmt(out, " (%zu runs, means)", count->co_nruns);
	out_fmt(out, "\n\n  %-*s%*s", width, "event", VALUE_WIDTH,
	    count->co_nruns > 1 ? "mean" : "count");
	if (count->co_nruns > 1)
		out_str(out, "  95% interval");
	out_str(out, "   counted\n");
}

/* The first ratio of an event, beside it. */
static void
put_metric(struct count *count, size_t event)
{
	for (size_t m = 0; m < count->co_nmetrics; m++) {
		const struct count_metric *metric = &count->co_metric[m];
		char number[64];

		if (metric->cm_event != event ||
		    metric->cm_series.cs_summary.sm_n == 0)
			continue;
		grouped(number, sizeof(number),
		    metric->cm_series.cs_summary.sm_mean, metric->cm_digits);
		out_fmt(&count->co_out, "   %s%s %s",
		    count_is_partial(count, event) ? "~" : "", number,
		    metric->cm_series.cs_unit);
		return;
	}
}

static void
put_series(struct count *count, const struct count_series *series,
    const char *mark, int width)
{
	const struct prof_summary *summary = &series->cs_summary;
	struct out *out = &count->co_out;

	put_name(out, series->cs_name, width);
	put_value(out, summary->sm_n == 0 ? NAN : summary->sm_mean,
	    series->cs_unit, mark, count->co_nruns > 1);
	if (count->co_nruns > 1)
		put_interval(out, summary);
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
		    "at\n  the same time: count only those, or compare only "
		    "events of one group.\n", count->co_nhardware,
		    count->co_fitting);
	else
		out_str(out, "Other programs use\n  counters, or the event is "
		    "not on all kinds of CPU of this machine.\n");
}

static void
put_tasks(struct count *count)
{
	const size_t n = prof_counting_ntasks(count->co_counting);
	struct out *out = &count->co_out;

	if (n == 0)
		return;
	out_fmt(out, "\n  %7s  %7s  %-16s", "pid", "tid", "name");
	for (size_t e = 0; e < count->co_nevents; e++) {
		out_fmt(out, "  %*s", (int)(VALUE_WIDTH - 2) -
		    (int)strlen(count->co_event[e].cs_name) > 0 ?
		    (int)(VALUE_WIDTH - 2) -
		    (int)strlen(count->co_event[e].cs_name) : 0, "");
		out_text(out, count->co_event[e].cs_name);
	}
	out_char(out, '\n');
	for (size_t t = 0; t < n && t < MAX_TASKS; t++) {
		const struct prof_counted_task *task =
		    prof_counting_task(count->co_counting, t);

		out_fmt(out, "  %7u  ", task->ck_pid);
		if (task->ck_tid != 0)
			out_fmt(out, "%7u  ", task->ck_tid);
		else
			out_fmt(out, "%7s  ", "");
		out_text(out, task->ck_comm);
		out_fmt(out, "%*s", strlen(task->ck_comm) < 16 ?
		    16 - (int)strlen(task->ck_comm) : 0, "");
		for (size_t e = 0; e < count->co_nevents; e++)
			put_value(out, (double)task->ck_counts[e] *
			    prof_counting_event(count->co_counting,
			    e)->ce_scale, count->co_event[e].cs_unit, "",
			    false);
		out_char(out, '\n');
	}
}

void
count_text(struct count *count)
{
	const int width = name_width(count);
	struct out *out = &count->co_out;

	if (count->co_nintervals > 0)
		out_char(out, '\n');
	put_head(count, width);
	for (size_t e = 0; e < count->co_nevents; e++) {
		put_series(count, &count->co_event[e],
		    count_is_partial(count, e) ? "~" : "", width);
		put_share(out, count_share(count, e));
		put_metric(count, e);
		out_char(out, '\n');
	}
	out_char(out, '\n');
	for (int t = 0; t < COUNT_NTIMES; t++) {
		if (count->co_time[t].cs_summary.sm_n == 0)
			continue;
		put_series(count, &count->co_time[t], "", width);
		out_char(out, '\n');
	}
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

		out_fmt(out, "%10.3f s", interval->ci_until_s);
		put_value(out, added->cd_is_known ?
		    (double)added->cd_estimate * info->ce_scale : NAN,
		    info->ce_unit, share != -1 && share < 100000 ? "~" : "",
		    false);
		put_share(out, share);
		out_str(out, "   ");
		out_text(out, info->ce_name);
		out_char(out, '\n');
	}
}
