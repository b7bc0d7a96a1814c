/* SPDX-License-Identifier: ISC */
/*
 * stat --json: the names of its members are a contract (dtprof(1)); they are
 * added, never renamed.  What is not known is null, also in values[]: an
 * event that had no counter has not counted 0.
 *
 * Called by count.c.
 */
#include <inttypes.h>
#include <math.h>

#include "count.h"

#define SCHEMA_VERSION	1

static void	 put_number(struct out *out, double value);
static void	 put_summary(struct out *out,
		    const struct count_series *series, size_t nruns);

/* All digits of a double; counts are whole numbers and look like it. */
static void
put_number(struct out *out, double value)
{
	if (!isfinite(value))
		out_str(out, "null");
	else if (value == floor(value) && fabs(value) < 1e15)
		out_fmt(out, "%.0f", value);
	else
		out_fmt(out, "%.17g", value);
}

static void
put_key(struct out *out, const char *name, double value)
{
	out_fmt(out, ",\"%s\":", name);
	put_number(out, value);
}

static void
put_summary(struct out *out, const struct count_series *series, size_t nruns)
{
	const struct prof_summary *summary = &series->cs_summary;
	const double none = summary->sm_n == 0 ? NAN : 0;

	out_str(out, ",\"values\":[");
	for (size_t r = 0; r < nruns; r++) {
		out_str(out, r == 0 ? "" : ",");
		put_number(out, series->cs_values[r]);
	}
	out_char(out, ']');
	put_key(out, "mean", summary->sm_mean + none);
	put_key(out, "stddev", summary->sm_has_ci ? summary->sm_stddev : NAN);
	put_key(out, "median", summary->sm_median + none);
	out_str(out, ",\"ci95\":");
	if (summary->sm_has_ci) {
		out_char(out, '[');
		put_number(out, summary->sm_ci95[0]);
		out_char(out, ',');
		put_number(out, summary->sm_ci95[1]);
		out_char(out, ']');
	} else
		out_str(out, "null");
}

static void
put_share(struct out *out, int share)
{
	if (share == -1)
		out_str(out, ",\"running_pct\":null");
	else
		out_fmt(out, ",\"running_pct\":%d.%03d", share / 1000,
		    share % 1000);
}

static void
put_runs(struct count *count)
{
	struct out *out = &count->co_out;

	out_str(out, ",\n\"runs\":[");
	for (size_t r = 0; r < count->co_nruns; r++) {
		const double *times = &count->co_times[r * COUNT_NTIMES];

		out_fmt(out, "%s\n{\"run\":%zu", r == 0 ? "" : ",", r + 1);
		put_key(out, "wall_s", times[COUNT_WALL]);
		put_key(out, "user_s", times[COUNT_USER]);
		put_key(out, "system_s", times[COUNT_SYSTEM]);
		if (count->co_statuses[r] == -1)
			out_str(out, ",\"exit_status\":null}");
		else
			out_fmt(out, ",\"exit_status\":%d}",
			    count->co_statuses[r]);
	}
	out_char(out, ']');
}

/* One figure of each run, as the kernel said it. */
static void
put_raw(struct count *count, size_t event, const char *name, size_t at)
{
	struct out *out = &count->co_out;

	out_fmt(out, ",\"%s\":[", name);
	for (size_t r = 0; r < count->co_nruns; r++)
		out_fmt(out, "%s%" PRIu64, r == 0 ? "" : ",",
		    *(const uint64_t *)(const void *)((const char *)
		    &count->co_counted[r * count->co_nevents + event] + at));
	out_char(out, ']');
}

static void
put_events(struct count *count)
{
	struct out *out = &count->co_out;

	out_str(out, ",\n\"events\":[");
	for (size_t e = 0; e < count->co_nevents; e++) {
		const struct prof_counted_event *info =
		    prof_counting_event(count->co_counting, e);

		out_str(out, e == 0 ? "\n{\"name\":" : ",\n{\"name\":");
		out_json(out, info->ce_name);
		out_str(out, ",\"probe\":");
		out_json(out, info->ce_probe);
		out_str(out, ",\"unit\":");
		out_json(out, info->ce_unit);
		if (info->ce_group == -1)
			out_str(out, ",\"group\":null");
		else
			out_fmt(out, ",\"group\":%d", info->ce_group);
		put_summary(out, &count->co_event[e], count->co_nruns);
		put_share(out, count_share(count, e));
		out_fmt(out, ",\"estimated\":%s", count_is_partial(count, e) ?
		    "true" : "false");
		put_raw(count, e, "counts",
		    offsetof(struct prof_counted, cd_count));
		put_raw(count, e, "enabled_ns",
		    offsetof(struct prof_counted, cd_enabled_ns));
		put_raw(count, e, "running_ns",
		    offsetof(struct prof_counted, cd_running_ns));
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void
put_metrics(struct count *count)
{
	struct out *out = &count->co_out;

	out_str(out, ",\n\"metrics\":[");
	for (size_t m = 0; m < count->co_nmetrics; m++) {
		const struct count_metric *metric = &count->co_metric[m];

		out_str(out, m == 0 ? "\n{\"name\":" : ",\n{\"name\":");
		out_json(out, metric->cm_series.cs_name);
		out_str(out, ",\"event\":");
		out_json(out, count->co_event[metric->cm_event].cs_name);
		out_str(out, ",\"unit\":");
		out_json(out, metric->cm_series.cs_unit);
		put_summary(out, &metric->cm_series, count->co_nruns);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void
put_intervals(struct count *count)
{
	struct out *out = &count->co_out;

	out_str(out, ",\n\"intervals\":[");
	for (size_t n = 0; n < count->co_nintervals; n++) {
		const struct count_interval *interval =
		    &count->co_interval[n];

		out_fmt(out, "%s\n{\"from_s\":%.9f,\"until_s\":%.9f,"
		    "\"events\":[", n == 0 ? "" : ",", interval->ci_from_s,
		    interval->ci_until_s);
		for (size_t e = 0; e < count->co_nevents; e++) {
			const struct prof_counted *added =
			    &interval->ci_added[e];

			out_str(out, e == 0 ? "{\"name\":" : ",{\"name\":");
			out_json(out, count->co_event[e].cs_name);
			put_key(out, "value", added->cd_is_known ?
			    (double)added->cd_estimate * prof_counting_event(
			    count->co_counting, e)->ce_scale : NAN);
			put_share(out, count_share_of(added));
			out_char(out, '}');
		}
		out_str(out, "]}");
	}
	out_char(out, ']');
}

static void
put_tasks(struct count *count)
{
	const size_t n = prof_counting_ntasks(count->co_counting);
	struct out *out = &count->co_out;

	out_str(out, ",\n\"tasks\":[");
	for (size_t t = 0; t < n; t++) {
		const struct prof_counted_task *task =
		    prof_counting_task(count->co_counting, t);

		out_fmt(out, "%s\n{\"pid\":%u,\"tid\":", t == 0 ? "" : ",",
		    task->ck_pid);
		if (task->ck_tid != 0)
			out_fmt(out, "%u", task->ck_tid);
		else
			out_str(out, "null");
		out_str(out, ",\"comm\":");
		out_json(out, task->ck_comm);
		out_fmt(out, ",\"ended\":%s,\"counts\":[",
		    task->ck_has_ended ? "true" : "false");
		for (size_t e = 0; e < count->co_nevents; e++)
			out_fmt(out, "%s%" PRIu64, e == 0 ? "" : ",",
			    task->ck_counts[e]);
		out_str(out, "]}");
	}
	out_char(out, ']');
}

static void
put_notes(struct count *count)
{
	struct out *out = &count->co_out;
	const char *note;

	out_str(out, ",\n\"notes\":[");
	for (size_t n = 0; (note = prof_counting_note(count->co_counting,
	    n)) != NULL; n++) {
		out_str(out, n == 0 ? "" : ",");
		out_json(out, note);
	}
	out_char(out, ']');
}

void
count_json(struct count *count)
{
	static const char *const targets[] = {
		[PROF_TARGET_ALL] = "all", [PROF_TARGET_PIDS] = "processes",
		[PROF_TARGET_TIDS] = "threads", [PROF_TARGET_CGROUP] =
		"cgroup", [PROF_TARGET_COMMAND] = "command"
	};
	char *const *argv = count->co_what->co_argv;
	struct out *out = &count->co_out;

	out_fmt(out, "{\"schema_version\":%d,\"version\":", SCHEMA_VERSION);
	out_json(out, prof_version());
	out_fmt(out, ",\"target\":\"%s\",\"command\":[",
	    targets[count->co_what->co_target]);
	for (size_t n = 0; argv != NULL && argv[n] != NULL; n++) {
		out_str(out, n == 0 ? "" : ",");
		out_json(out, argv[n]);
	}
	out_fmt(out, "],\"warmups\":%llu,\"interrupted\":%s",
	    (unsigned long long)count->co_options->co_warmups.on_value,
	    count->co_interrupted ? "true" : "false");
	put_runs(count);
	put_events(count);
	out_str(out, ",\n\"wall_s\":{\"unit\":\"s\"");
	put_summary(out, &count->co_time[COUNT_WALL], count->co_nruns);
	out_char(out, '}');
	put_metrics(count);
	if (count->co_nintervals > 0)
		put_intervals(count);
	if (count->co_what->co_split != PROF_SPLIT_NONE)
		put_tasks(count);
	put_notes(count);
	out_str(out, "}\n");
}
