/* SPDX-License-Identifier: ISC */
/*
 * The table of dtprof stat --by for people:
 *
 *	redis-server (5 threads), 10.0 s: 54091 system calls, 0 lost
 *
 *	 syscall       calls  errors    total      avg      p50      p90 ...
 *	 epoll_wait     4112       0   5.98 s  1.45 ms  1.02 ms  3.31 ms ...
 *	... 14 more (1207 calls)
 *	errors: read EAGAIN 2210, futex EAGAIN 402
 *
 * Called by by.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/table.h"
#include "by.h"

#define MOST_ERRORS	10	/* named in the last line */
#define KEY_GAP		2

/* ---------------------------------------------------------- first line */

/* What a process is called, and how many threads it has, while it lives. */
static void
put_process(struct out *out, int pid)
{
	char path[64], line[256], name[64] = "";
	unsigned threads = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if ((file = fopen(path, "r")) != NULL) {
		while (fgets(line, sizeof(line), file) != NULL)
			if (sscanf(line, "Name:\t%63[^\n]", name) != 1)
				(void)sscanf(line, "Threads:\t%u", &threads);
		fclose(file);
	}
	if (name[0] == '\0') {
		out_fmt(out, "process %d", pid);
		return;
	}
	out_text(out, name);
	if (threads > 1)
		out_fmt(out, " (%u threads)", threads);
}

static void
put_target(const struct by *by, struct out *out)
{
	const struct prof_counting_options *what = by->by_what;

	switch (what->co_target) {
	case PROF_TARGET_COMMAND:
		out_text(out, file_name(what->co_argv[0]));
		return;
	case PROF_TARGET_ALL:
		out_str(out, "all processes");
		return;
	case PROF_TARGET_CGROUP:
		OUT(out, "cgroup ", what->co_cgroup);
		return;
	case PROF_TARGET_PIDS:
		if (what->co_nids == 1)
			put_process(out, what->co_ids[0]);
		else
			out_fmt(out, "%zu processes", what->co_nids);
		return;
	default:
		if (what->co_nids == 1)
			out_fmt(out, "thread %d", what->co_ids[0]);
		else
			out_fmt(out, "%zu threads", what->co_nids);
	}
}

void
by_when(const struct by *by, struct out *out)
{
	char text[32];

	if (by->by_is_interval) {
		out_fmt(out, "%.3f to %.3f s", by->by_from_s,
		    by->by_status.ps_elapsed_s);
		return;
	}
	put_target(by, out);
	weight_time(text, sizeof(text),
	    (uint64_t)(by->by_status.ps_elapsed_s * 1e9));
	out_fmt(out, ", %s", text);
}

static void
put_head(const struct by *by, const struct by_event *event, struct out *out)
{
	const struct prof_accounting *pa = &event->be_account;
	const char *name = event->be_event->ev_name;
	uint64_t sum = 0;

	for (size_t n = 0; n < event->be_nrows; n++)
		sum += event->be_row[n]->gr_count;
	by_when(by, out);
	out_str(out, ": ");
	out_fmt(out, "%" PRIu64 " ", by->by_is_interval ? sum :
	    pa->pa_stored);
	if (event->be_event->ev_is_call && strcmp(name, "syscall") == 0)
		out_str(out, "system calls");
	else
		OUT(out, event->be_event->ev_is_call ? "calls of " : "", name);
	if (by->by_is_interval)
		out_str(out, "\n\n");
	else
		out_fmt(out, ", %" PRIu64 " lost\n\n",
		    prof_accounting_lost(pa));
}

/* --------------------------------------------------------------- table */

struct rows {
	const struct by	*ro_by;
	const struct by_event *ro_event;
};

static void
put_figure(struct table *table, const struct by *by,
    const struct by_event *event, const struct prof_group *group,
    const struct by_column *column)
{
	uint64_t exact;
	char text[32];
	double value;

	if (!by_figure(by, event, group, column, &value)) {
		table_cell(table, "-");
	} else if (by_is_time(event, column)) {
		weight_time(text, sizeof(text), (uint64_t)value);
		table_cell(table, "%s", text);
	} else if (column->bc_figure == BY_AVG) {
		table_cell(table, "%.4g", value);
	} else {
		(void)by_exact(by, event, group, column, &exact);
		table_cell(table, by_is_signed(event, column) ?
		    "%" PRId64 : "%" PRIu64, exact);
	}
}

static void
put_row(struct table *table, const void *arg, size_t n)
{
	const struct rows *rows = arg;
	const struct by_event *event = rows->ro_event;
	const struct prof_group *group = event->be_row[n];
	struct prof_key_value key;

	for (size_t k = 0; k < rows->ro_by->by_grouping.gp_nby; k++) {
		prof_group_key(event->be_event, group, k, &key);
		if (key.kv_is_text)
			table_text(table, key.kv_text);
		else
			table_cell(table, key.kv_is_signed ? "%" PRId64 :
			    "%" PRIu64, key.kv_number);
	}
	for (size_t c = 0; c < event->be_ncolumns; c++)
		put_figure(table, rows->ro_by, event, group,
		    &event->be_column[c]);
}

static void
put_table(const struct by *by, const struct by_event *event, struct out *out)
{
	struct table_column columns[DTP_GROUP_KEYS + BY_COLUMNS] = { 0 };
	struct table table = { .tb_out = out, .tb_column = columns };
	const struct rows rows = { by, event };
	const size_t nkeys = by->by_grouping.gp_nby;

	for (size_t k = 0; k < nkeys; k++) {
		struct prof_key_value key = { 0 };

		if (event->be_nrows > 0)
			prof_group_key(event->be_event, event->be_row[0], k,
			    &key);
		columns[k].tc_title = by->by_grouping.gp_by[k];
		columns[k].tc_is_left = key.kv_is_text;
		columns[k].tc_gap = k == 0 ? 1 : KEY_GAP;
	}
	for (size_t c = 0; c < event->be_ncolumns; c++) {
		columns[nkeys + c].tc_title = event->be_column[c].bc_title;
		columns[nkeys + c].tc_gap = 2;
		columns[nkeys + c].tc_least =
		    event->be_column[c].bc_figure > BY_ERRORS ? 7 : 6;
	}
	table.tb_ncolumns = nkeys + event->be_ncolumns;
	table_show(&table, by_rows_shown(by, event), put_row, &rows);
}

/* Counts alone: a row for each event. */
static void
put_count(struct table *table, const void *arg, size_t n)
{
	const struct by *by = arg;
	const struct by_event *event = &by->by_event[n];

	table_cell(table, "%" PRIu64, event->be_row[0]->gr_count);
	if (!by->by_is_interval)
		table_cell(table, "%" PRIu64,
		    prof_accounting_lost(&event->be_account));
	table_text(table, event->be_event->ev_name);
}

static void
put_counts(const struct by *by, struct out *out)
{
	struct table_column columns[] = {
		{ .tc_title = "count", .tc_gap = 1, .tc_least = 7 },
		{ .tc_title = "lost", .tc_gap = 2, .tc_least = 6 },
		{ .tc_title = "event", .tc_gap = 2, .tc_is_left = true },
	};
	struct table table = { .tb_out = out, .tb_column = columns,
	    .tb_ncolumns = 3 };

	by_when(by, out);
	out_str(out, "\n\n");
	if (by->by_is_interval) {
		columns[1] = columns[2];
		table.tb_ncolumns = 2;
	}
	table_show(&table, by->by_nevents, put_count, by);
}

/* Calls have errors and times, too. */
static bool
is_count_alone(const struct by *by)
{
	bool is_alone = by->by_is_plain && by->by_nevents > 0;

	for (size_t e = 0; e < by->by_nevents; e++)
		is_alone &= by->by_event[e].be_ncolumns == 1;
	return (is_alone);
}

/* ------------------------------------------------------------ last lines */

static void
put_more(const struct by *by, const struct by_event *event, struct out *out)
{
	uint64_t sum = 0;
	size_t shown = by_rows_shown(by, event);

	if (shown == event->be_nrows)
		return;
	for (size_t n = shown; n < event->be_nrows; n++)
		sum += event->be_row[n]->gr_count;
	out_fmt(out, "... %zu more (%" PRIu64 " %s)\n",
	    event->be_nrows - shown, sum,
	    event->be_event->ev_is_call ? "calls" : "events");
}

/* An error of a group. */
struct error {
	const struct prof_group *er_group;
	uint32_t	 er_number;
	uint64_t	 er_count;
};

static int
compare_errors(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	if (x->er_count != y->er_count)
		return (x->er_count < y->er_count ? 1 : -1);
	if (x->er_group != y->er_group)
		return (x->er_group < y->er_group ? -1 : 1);
	return ((x->er_number > y->er_number) - (x->er_number < y->er_number));
}

void
by_key(const struct by_event *event, const struct prof_group *group,
    size_t k, struct out *out)
{
	struct prof_key_value key;

	prof_group_key(event->be_event, group, k, &key);
	if (key.kv_is_text)
		out_text(out, key.kv_text);
	else if (key.kv_is_signed)
		out_i64(out, (int64_t)key.kv_number);
	else
		out_u64(out, key.kv_number);
}

static void
put_error(const struct by *by, const struct by_event *event,
    struct out *out, const struct error *error)
{
	const char *name = error_name(-(int64_t)error->er_number);

	for (size_t k = 0; k < by->by_grouping.gp_nby; k++) {
		by_key(event, error->er_group, k, out);
		out_char(out, ' ');
	}
	if (name != NULL)
		out_str(out, name);
	else
		out_fmt(out, "error %u", error->er_number);
	out_fmt(out, " %" PRIu64, error->er_count);
}

static void
put_errors(const struct by *by, const struct by_event *event,
    struct out *out)
{
	struct error *errors = calloc(by->by_groups.gs_nbuckets + 1,
	    sizeof(*errors));
	size_t n = 0;

	for (size_t r = 0; errors != NULL && r < event->be_nrows; r++) {
		const struct prof_measured *of = &event->be_row[r]->gr_errnos;

		for (size_t i = 0; i < of->me_nbuckets; i++) {
			const struct prof_group_bucket *bucket =
			    &by->by_groups.gs_bucket[of->me_first + i];

			if (bucket->bu_count > 0)
				errors[n++] = (struct error){
				    event->be_row[r], bucket->bu_bucket,
				    bucket->bu_count };
		}
	}
	if (n > 0)
		qsort(errors, n, sizeof(*errors), compare_errors);
	for (size_t i = 0; i < n && i < MOST_ERRORS; i++) {
		out_str(out, i == 0 ? "errors: " : ", ");
		put_error(by, event, out, &errors[i]);
	}
	if (n > 0)
		out_fmt(out, n > MOST_ERRORS ? ", %zu more\n" : "\n",
		    n - MOST_ERRORS);
	free(errors);
}

static bool
has_quantiles(const struct by_event *event)
{
	for (size_t c = 0; c < event->be_ncolumns; c++)
		if (event->be_column[c].bc_figure >= BY_P50 &&
		    event->be_column[c].bc_figure <= BY_P99)
			return (true);
	return (false);
}

static void
put_notes(const struct by *by, const struct by_event *event,
    struct out *out)
{
	const uint64_t *call = event->be_call;
	const char *between = "";

	if (has_quantiles(event)) {
		out_str(out, by->by_is_interval ? "quantiles and max" :
		    "quantiles");
		out_str(out, " are at most 3.2% too high");
		between = "; ";
	}
	if (call[BY_CALL_RUNNING] > 0) {
		out_fmt(out, "%s%" PRIu64 " call%s still running", between,
		    call[BY_CALL_RUNNING],
		    call[BY_CALL_RUNNING] == 1 ? "" : "s");
		between = "; ";
	}
	if (*between != '\0')
		out_char(out, '\n');
}

/* Warn of events that the table lacks. */
static void
warn_less(const struct by *by, const struct by_event *event)
{
	const struct prof_accounting *pa = &event->be_account;
	const char *name = event->be_event->ev_name;
	uint64_t unfiled = 0;

	for (size_t n = 0; n < event->be_nrows; n++)
		unfiled += event->be_row[n]->gr_unfiled;
	if (pa->pa_full > 0)
		msg_warning("stat", "%s: %" PRIu64 " events are missing, "
		    "because the table of groups is full (%u groups on all "
		    "CPUs); use fewer keys", name, pa->pa_full,
		    event->be_event->ev_grouping.gp_groups);
	if (unfiled > 0)
		msg_warning("stat", "%s: %" PRIu64 " values have no bucket, "
		    "because the table of buckets is full: groups with these "
		    "values have no quantiles, and the list of their errors "
		    "is incomplete", name,
		    unfiled);
	if (pa->pa_missed > 0)
		msg_warning("stat", "%s: the kernel skipped %" PRIu64
		    " events", name, pa->pa_missed);
	if (by->by_options->co_quiet)
		return;
	if (event->be_call[BY_CALL_UNBEGUN] > 0)
		msg_note("stat", "%s: calls that began before counting are "
		    "counted without their duration: %" PRIu64, name,
		    event->be_call[BY_CALL_UNBEGUN]);
	if (event->be_call[BY_CALL_COMPAT] > 0)
		msg_note("stat", "%s: calls of 32-bit programs are not "
		    "counted: %" PRIu64, name, event->be_call[BY_CALL_COMPAT]);
}

void
by_text(struct by *by)
{
	struct out *out = &by->by_out;

	if (is_count_alone(by))
		put_counts(by, out);
	for (size_t e = 0; e < by->by_nevents && !is_count_alone(by); e++) {
		const struct by_event *event = &by->by_event[e];

		if (e > 0)
			out_char(out, '\n');
		put_head(by, event, out);
		if (event->be_nrows > 0)
			put_table(by, event, out);
		put_more(by, event, out);
		by_histograms(by, event, out);
		put_errors(by, event, out);
		put_notes(by, event, out);
	}
	by_spans_text(by, out);
	out_flush(out);
}

void
by_warn(const struct by *by)
{
	for (size_t e = 0; e < by->by_nevents; e++)
		warn_less(by, &by->by_event[e]);
	by_spans_warn(by);
}
