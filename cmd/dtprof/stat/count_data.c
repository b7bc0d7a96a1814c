/* SPDX-License-Identifier: ISC */
/*
 * stat --json and --csv.  What is not known is null, also in values[], or
 * empty: an event that had no counter has not counted 0.
 *
 * CSV has a line for each value, each with all columns.  kind says what the
 * line is: a run's value of an event, its time, what an interval added, or
 * the count of one process or thread.
 *
 * Called by count.c; intervals of CSV are written while counting.
 */
#include <math.h>

#include "../ui/emit.h"
#include "count.h"

/* NAN: not known. */
static double
value_of(const struct count *count, size_t event,
    const struct prof_counted *value)
{
	return (value->cd_is_known ? (double)value->cd_estimate *
	    prof_counting_event(count->co_counting, event)->ce_scale : NAN);
}

static void
emit_running(struct emit *em, int share)
{
	EMIT(em, FIXED("running_pct", share == -1 ? NAN : share / 1000.0, 3));
}

/* ------------------------------------------------------------------- CSV */

static void
begin_csv(struct count *count, struct emit *em)
{
	static const char *const columns[] = { "kind", "time_s", "run", "name",
	    "unit", "value", "running_pct", "count", "enabled_ns",
	    "running_ns", "pid", "tid", "comm", NULL };

	emit_csv(em, &count->co_out, columns, "\n");
}

void
count_csv_head(struct count *count)
{
	struct emit em;

	begin_csv(count, &em);
	emit_head(&em);
	out_flush(&count->co_out);
}

/* What all lines begin with. */
static void
begin_line(struct emit *em, const char *kind, double time_s, size_t run)
{
	emit_object(em, NULL);
	EMIT(em, WORD("kind", kind), FIXED("time_s", time_s, 9),
	    COUNT("run", run));
}

/* While counting there is no series yet, but the event. */
static void
emit_name(struct count *count, struct emit *em, size_t event)
{
	const struct prof_counted_event *info =
	    prof_counting_event(count->co_counting, event);

	EMIT(em, TEXT("name", info->ce_name), TEXT("unit", info->ce_unit));
}

static void
emit_counted(struct count *count, struct emit *em, size_t event,
    const struct prof_counted *value)
{
	emit_name(count, em, event);
	EMIT(em, NUMBER("value", value_of(count, event, value)));
	emit_running(em, count_share_of(value));
	EMIT(em, COUNT("count", value->cd_count),
	    COUNT("enabled_ns", value->cd_enabled_ns),
	    COUNT("running_ns", value->cd_running_ns));
	emit_close(em);
}

void
count_csv_interval(struct count *count, const struct count_interval *interval)
{
	struct emit em;

	begin_csv(count, &em);
	for (size_t e = 0; e < count->co_nevents; e++) {
		begin_line(&em, "interval", interval->ci_until_s, 1);
		emit_counted(count, &em, e, &interval->ci_added[e]);
	}
}

static void
emit_run(struct count *count, struct emit *em, size_t run)
{
	const double *times = &count->co_times[run * COUNT_NTIMES];

	for (size_t e = 0; e < count->co_nevents; e++) {
		begin_line(em, "event", times[COUNT_WALL], run + 1);
		emit_counted(count, em, e,
		    &count->co_counted[run * count->co_nevents + e]);
	}
	for (int t = 0; t < COUNT_NTIMES; t++) {
		begin_line(em, "time", times[COUNT_WALL], run + 1);
		EMIT(em, TEXT("name", count->co_time[t].cs_name),
		    TEXT("unit", "s"), NUMBER("value", times[t]));
		emit_close(em);
	}
}

static void
emit_task_name(struct emit *em, const struct prof_counted_task *task)
{
	EMIT(em, COUNT("pid", task->ck_pid),
	    KNOWN(task->ck_tid != 0, COUNT("tid", task->ck_tid)),
	    TEXT("comm", task->ck_comm));
}

void
count_csv(struct count *count)
{
	const size_t ntasks = prof_counting_ntasks(count->co_counting);
	struct emit em;

	begin_csv(count, &em);
	for (size_t r = 0; r < count->co_nruns; r++)
		emit_run(count, &em, r);
	for (size_t t = 0; t < ntasks; t++) {
		const struct prof_counted_task *task =
		    prof_counting_task(count->co_counting, t);

		for (size_t e = 0; e < count->co_nevents; e++) {
			begin_line(&em, "task", count->co_times[COUNT_WALL],
			    1);
			emit_name(count, &em, e);
			EMIT(&em, NUMBER("value", (double)task->ck_counts[e] *
			    prof_counting_event(count->co_counting,
			    e)->ce_scale), COUNT("count", task->ck_counts[e]));
			emit_task_name(&em, task);
			emit_close(&em);
		}
	}
}

/* ------------------------------------------------------------------ JSON */

static void
emit_summary(struct emit *em, const struct count_series *series, size_t nruns)
{
	const struct prof_summary *summary = &series->cs_summary;
	const double none = summary->sm_n == 0 ? NAN : 0;

	EMIT(em, NUMBERS("values", series->cs_values, nruns),
	    NUMBER("mean", summary->sm_mean + none),
	    NUMBER("stddev", summary->sm_has_ci ? summary->sm_stddev : NAN),
	    NUMBER("median", summary->sm_median + none),
	    KNOWN(summary->sm_has_ci, NUMBERS("ci95", summary->sm_ci95, 2)));
}

static void
emit_runs(struct count *count, struct emit *em)
{
	emit_rows(em, "runs");
	for (size_t r = 0; r < count->co_nruns; r++) {
		const double *times = &count->co_times[r * COUNT_NTIMES];

		EMIT_ROW(em, NULL, COUNT("run", r + 1),
		    NUMBER("wall_s", times[COUNT_WALL]),
		    NUMBER("user_s", times[COUNT_USER]),
		    NUMBER("system_s", times[COUNT_SYSTEM]),
		    KNOWN(count->co_statuses[r] != -1, SIGNED("exit_status",
		    count->co_statuses[r])));
	}
	emit_close(em);
}

/* One figure of each run, as the kernel said it. */
static void
emit_raw(struct count *count, struct emit *em, size_t event,
    const char *name, size_t at)
{
	emit_list(em, name);
	for (size_t r = 0; r < count->co_nruns; r++)
		EMIT(em, COUNT(NULL, *(const uint64_t *)(const void *)((const
		    char *)&count->co_counted[r * count->co_nevents + event] +
		    at)));
	emit_close(em);
}

static void
emit_event(struct count *count, struct emit *em, size_t event)
{
	const struct prof_counted_event *info =
	    prof_counting_event(count->co_counting, event);

	emit_object(em, NULL);
	EMIT(em, TEXT("name", info->ce_name), TEXT("probe", info->ce_probe),
	    TEXT("unit", info->ce_unit),
	    KNOWN(info->ce_group != -1, SIGNED("group", info->ce_group)));
	emit_summary(em, &count->co_event[event], count->co_nruns);
	emit_running(em, count_share(count, event));
	EMIT(em, FLAG("estimated", count_is_partial(count, event)));
	emit_raw(count, em, event, "counts",
	    offsetof(struct prof_counted, cd_count));
	emit_raw(count, em, event, "enabled_ns",
	    offsetof(struct prof_counted, cd_enabled_ns));
	emit_raw(count, em, event, "running_ns",
	    offsetof(struct prof_counted, cd_running_ns));
	emit_close(em);
}

static void
emit_metrics(struct count *count, struct emit *em)
{
	emit_rows(em, "metrics");
	for (size_t m = 0; m < count->co_nmetrics; m++) {
		const struct count_metric *metric = &count->co_metric[m];

		emit_object(em, NULL);
		EMIT(em, TEXT("name", metric->cm_series.cs_name),
		    TEXT("event", count->co_event[metric->cm_event].cs_name),
		    TEXT("unit", metric->cm_series.cs_unit));
		emit_summary(em, &metric->cm_series, count->co_nruns);
		emit_close(em);
	}
	emit_close(em);
}

static void
emit_intervals(struct count *count, struct emit *em)
{
	const struct count_interval *interval = count->co_interval;

	emit_rows(em, "intervals");
	for (size_t n = 0; n < count->co_nintervals; n++, interval++) {
		emit_object(em, NULL);
		EMIT(em, FIXED("from_s", interval->ci_from_s, 9),
		    FIXED("until_s", interval->ci_until_s, 9));
		emit_list(em, "events");
		for (size_t e = 0; e < count->co_nevents; e++) {
			emit_object(em, NULL);
			EMIT(em, TEXT("name", count->co_event[e].cs_name),
			    NUMBER("value", value_of(count, e,
			    &interval->ci_added[e])));
			emit_running(em,
			    count_share_of(&interval->ci_added[e]));
			emit_close(em);
		}
		emit_close(em);
		emit_close(em);
	}
	emit_close(em);
}

static void
emit_tasks(struct count *count, struct emit *em)
{
	const size_t n = prof_counting_ntasks(count->co_counting);

	emit_rows(em, "tasks");
	for (size_t t = 0; t < n; t++) {
		const struct prof_counted_task *task =
		    prof_counting_task(count->co_counting, t);

		emit_object(em, NULL);
		emit_task_name(em, task);
		EMIT(em, FLAG("ended", task->ck_has_ended));
		emit_list(em, "counts");
		for (size_t e = 0; e < count->co_nevents; e++)
			EMIT(em, COUNT(NULL, task->ck_counts[e]));
		emit_close(em);
		emit_close(em);
	}
	emit_close(em);
}

const char *
count_target_name(enum prof_target target)
{
	static const char *const targets[] = {
		[PROF_TARGET_ALL] = "all", [PROF_TARGET_PIDS] = "processes",
		[PROF_TARGET_TIDS] = "threads", [PROF_TARGET_CGROUP] =
		"cgroup", [PROF_TARGET_COMMAND] = "command"
	};

	return (targets[target]);
}

static void
emit_command(struct count *count, struct emit *em)
{
	char *const *argv = count->co_what->co_argv;

	EMIT(em, WORD("target",
	    count_target_name(count->co_what->co_target)));
	emit_list(em, "command");
	for (; argv != NULL && *argv != NULL; argv++)
		EMIT(em, TEXT(NULL, *argv));
	emit_close(em);
}

void
count_json(struct count *count)
{
	struct emit em;
	const char *note;

	emit_json(&em, &count->co_out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
	    TEXT("version", prof_version()));
	emit_command(count, &em);
	EMIT(&em, COUNT("warmups", count->co_options->co_warmups.on_value),
	    FLAG("interrupted", count->co_interrupted));
	emit_runs(count, &em);
	emit_rows(&em, "events");
	for (size_t e = 0; e < count->co_nevents; e++)
		emit_event(count, &em, e);
	emit_close(&em);
	emit_line(&em);
	emit_object(&em, "wall_s");
	EMIT(&em, WORD("unit", "s"));
	emit_summary(&em, &count->co_time[COUNT_WALL], count->co_nruns);
	emit_close(&em);
	emit_metrics(count, &em);
	if (count->co_nintervals > 0)
		emit_intervals(count, &em);
	if (count->co_what->co_split != PROF_SPLIT_NONE)
		emit_tasks(count, &em);
	emit_line(&em);
	emit_list(&em, "notes");
	for (size_t n = 0; (note = prof_counting_note(count->co_counting,
	    n)) != NULL; n++)
		EMIT(&em, TEXT(NULL, note));
	emit_end(&em);
}
