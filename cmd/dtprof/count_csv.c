/* SPDX-License-Identifier: ISC */
/*
 * stat --csv: one table, a line for each value, each with all columns.  kind
 * says what the line is: a run's value of an event, its time, what an
 * interval added, or the count of one process or thread.
 *
 * Called by count.c; intervals are written while counting.
 */
#include <inttypes.h>
#include <math.h>

#include "count.h"

void
count_csv_head(struct count *count)
{
	out_str(&count->co_out, "kind,time_s,run,name,unit,value,running_pct,"
	    "count,enabled_ns,running_ns,pid,tid,comm\n");
	out_flush(&count->co_out);
}

/* kind to value: what all lines have. */
static void
put_first(struct out *out, const char *kind, double time_s, size_t run,
    const char *name, const char *unit, double value)
{
	out_fmt(out, "%s,%.9f,%zu,", kind, time_s, run);
	out_csv(out, name);
	out_char(out, ',');
	out_csv(out, unit);
	if (isnan(value))
		out_char(out, ',');
	else if (value == floor(value) && fabs(value) < 1e15)
		out_fmt(out, ",%.0f", value);
	else
		out_fmt(out, ",%.17g", value);
}

static void
put_counted(struct count *count, const char *kind, double time_s, size_t run,
    size_t event, const struct prof_counted *value)
{
	const struct prof_counted_event *info =
	    prof_counting_event(count->co_counting, event);
	struct out *out = &count->co_out;
	const int share = count_share_of(value);

	put_first(out, kind, time_s, run, info->ce_name, info->ce_unit,
	    value->cd_is_known ? (double)value->cd_estimate * info->ce_scale :
	    NAN);
	if (share == -1)
		out_char(out, ',');
	else
		out_fmt(out, ",%d.%03d", share / 1000, share % 1000);
	out_fmt(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,\n",
	    value->cd_count, value->cd_enabled_ns, value->cd_running_ns);
}

void
count_csv_interval(struct count *count, const struct count_interval *interval)
{
	for (size_t e = 0; e < count->co_nevents; e++)
		put_counted(count, "interval", interval->ci_until_s, 1, e,
		    &interval->ci_added[e]);
}

void
count_csv(struct count *count)
{
	const size_t ntasks = prof_counting_ntasks(count->co_counting);
	struct out *out = &count->co_out;

	for (size_t r = 0; r < count->co_nruns; r++) {
		const double *times = &count->co_times[r * COUNT_NTIMES];

		for (size_t e = 0; e < count->co_nevents; e++)
			put_counted(count, "event", times[COUNT_WALL], r + 1,
			    e, &count->co_counted[r * count->co_nevents + e]);
		for (int t = 0; t < COUNT_NTIMES; t++) {
			put_first(out, "time", times[COUNT_WALL], r + 1,
			    count->co_time[t].cs_name, "s", times[t]);
			out_str(out, ",,,,,,,\n");
		}
	}
	for (size_t t = 0; t < ntasks; t++) {
		const struct prof_counted_task *task =
		    prof_counting_task(count->co_counting, t);

		for (size_t e = 0; e < count->co_nevents; e++) {
			put_first(out, "task", count->co_times[COUNT_WALL],
			    1, count->co_event[e].cs_name,
			    count->co_event[e].cs_unit,
			    (double)task->ck_counts[e] * prof_counting_event(
			    count->co_counting, e)->ce_scale);
			out_fmt(out, ",,%" PRIu64 ",,,%u,",
			    task->ck_counts[e], task->ck_pid);
			if (task->ck_tid != 0)
				out_u64(out, task->ck_tid);
			out_char(out, ',');
			out_csv(out, task->ck_comm);
			out_char(out, '\n');
		}
	}
}
