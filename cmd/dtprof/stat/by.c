/* SPDX-License-Identifier: ISC */
/*
 * dtprof stat --by: groups of events, aggregated in the kernel.
 *
 *	open, add events, group, arm, start -> run until something ends it ->
 *	stop, read the groups, show them
 *
 * It is a session of libprof without a file and without samples.  Called by
 * cmd_stat.c with options that make sense together.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "by.h"

/* Counts of calls that were not timed, or not counted: "calls.N.running". */
static int
info_take(void *arg, const char *key, const char *value)
{
	static const char *const names[BY_CALL_N] = {
		[BY_CALL_RUNNING] = "running", [BY_CALL_ENDED] = "ended",
		[BY_CALL_UNBEGUN] = "unbegun", [BY_CALL_COMPAT] = "compat",
	};
	struct by *by = arg;
	unsigned event;
	char what[32];

	if (by->by_spans != NULL &&
	    prof_spans_live_info(by->by_spans, key, value) == -1)
		return (-1);
	if (sscanf(key, "calls.%u.%31s", &event, what) != 2 || event == 0 ||
	    event > by->by_nevents)
		return (0);
	for (size_t n = 0; n < BY_CALL_N; n++)
		if (strcmp(names[n], what) == 0)
			by->by_event[event - 1].be_call[n] =
			    strtoull(value, NULL, 10);
	return (0);
}

static int
event_take(void *arg, const struct prof_event_info *info)
{
	struct by *by = arg;

	return (by->by_spans == NULL ? 0 :
	    prof_spans_live_event(by->by_spans, info));
}

/* Begins and ends of spans alone are samples; the rest is aggregated. */
static int
record_take(void *arg, const struct prof_record *record)
{
	struct by *by = arg;

	return (by->by_spans == NULL ? 0 :
	    prof_spans_live_record(by->by_spans, record));
}

static void
session_options(const struct prof_counting_options *what,
    struct prof_options *po)
{
	memset(po, 0, sizeof(*po));
	po->po_size = sizeof(*po);
	po->po_target = what->co_target;
	po->po_ids = what->co_ids;
	po->po_nids = what->co_nids;
	po->po_cgroup = what->co_cgroup;
	po->po_cpus = what->co_cpus;
	po->po_ncpus = what->co_ncpus;
	po->po_argv = what->co_argv;
	po->po_no_inherit = what->co_no_inherit;
	po->po_callgraph = PROF_CALLGRAPH_NONE;
	po->po_backend = PROF_BACKEND_BPF;
}

/* Those of spans are behind all others. */
static int
events_keep(struct by *by)
{
	const struct prof_event *event;

	while ((event = prof_session_event(by->by_session,
	    by->by_nevents + 1)) != NULL && (by->by_spans == NULL ||
	    !event->ev_is_of_span))
		by->by_nevents++;
	by->by_event = calloc(by->by_nevents + 1, sizeof(*by->by_event));
	if (by->by_event == NULL)
		return (-1);
	for (size_t e = 0; e < by->by_nevents; e++)
		by->by_event[e].be_event = prof_session_event(by->by_session,
		    e + 1);
	return (0);
}

static int
counters_add(struct by *by, const char *text)
{
	struct opt_strings names = { 0 };
	int rv = opt_split_events(text, &names);

	for (size_t n = 0; n < names.os_n; n++) {
		if (rv == 0)
			rv = prof_session_add_counter(by->by_session,
			    names.os_text[n]);
		free((char *)(uintptr_t)names.os_text[n]);
	}
	free(names.os_text);
	return (rv);
}

/* -1: the session's error says why. */
static int
session_prepare(struct by *by, bool has_events)
{
	const struct opt_strings *spans = &by->by_options->co_spans;
	const struct opt_strings *with = &by->by_options->co_with;
	const struct prof_sink sink = {
		.sk_arg = by, .sk_info = info_take, .sk_event = event_take,
		.sk_task = record_take, .sk_sample = record_take,
		.sk_mark = record_take, .sk_lost = record_take,
	};

	if (prof_session_direct(by->by_session, &sink) == -1 ||
	    (has_events && prof_session_group(by->by_session,
	    &by->by_grouping) == -1))
		return (-1);
	for (size_t n = 0; n < spans->os_n; n++)
		if (prof_session_add_span(by->by_session, spans->os_text[n]) ==
		    -1)
			return (-1);
	for (size_t n = 0; n < with->os_n; n++)
		if (counters_add(by, with->os_text[n]) == -1)
			return (-1);
	return (0);
}

/* 0, or the exit status of a failure, whose message was printed. */
static int
session_begin(struct by *by, const struct opt_strings *events)
{
	const struct count_options *co = by->by_options;
	struct prof_err error = { 0 };
	struct prof_options po;

	session_options(by->by_what, &po);
	/* Groups have tables of their own. */
	if (co->co_spans.os_n == 0)
		po.po_buffer_bytes = DTP_MIN_RING;
	else if ((by->by_spans = prof_spans_live_new(&error)) == NULL) {
		msg_prof("stat", &error);
		return (EXIT_DTPROF);
	}
	by->by_session = session_open("stat", &po, events);
	if (by->by_session == NULL)
		return (EXIT_DTPROF);
	if (session_prepare(by, events->os_n > 0) == 0 &&
	    session_arm_diverted(by->by_session, (co->co_json || co->co_csv) &&
	    co->co_output == NULL) == 0) {
		/* Arming may have left some out. */
		if (events_keep(by) == -1) {
			msg_error("stat", "out of memory", "free memory");
			return (EXIT_DTPROF);
		}
		if (by_columns_make(by) == -1)
			return (EXIT_DTPROF);
		if (prof_session_start(by->by_session) == 0)
			return (0);
	}
	msg_prof("stat", prof_session_error(by->by_session));
	return (ending_status(prof_session_error(by->by_session)));
}

/* ----------------------------------------------------------- intervals */

/* Empty the output file before the first write. */
static void
output_begin(struct by *by)
{
	struct stat st;

	if (by->by_is_shown)
		return;
	by->by_is_shown = true;
	/* Pipes and devices have nothing to be emptied of. */
	if (by->by_options->co_output != NULL &&
	    fstat(by->by_out.ou_fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    ftruncate(by->by_out.ou_fd, 0) == -1)
		by->by_out.ou_errno = errno;
	if (by->by_options->co_csv)
		(by->by_spans == NULL ? by_csv_head : by_spans_csv_head)(by);
}

static void
interval_bound(struct by *by)
{
	for (size_t n = 0; n < by->by_groups.gs_n; n++) {
		struct prof_group *group = &by->by_groups.gs_group[n];
		const struct dtp_grouping *gp = &by->by_event[
		    group->gr_event - 1].be_event->ev_grouping;

		for (uint32_t m = 0; m < gp->gp_nmeasures; m++)
			prof_group_ends(&by->by_groups, &gp->gp_measure[m],
			    &group->gr_measured[m]);
	}
}

/* Groups since the last interval; -1 with a message printed. */
static int
interval_groups(struct by *by)
{
	struct prof_groups now;

	if (prof_session_groups(by->by_session, &now) == -1)
		return (msg_prof("stat", prof_session_error(by->by_session)));
	if (prof_groups_since(&now, &by->by_before, &by->by_groups) == -1) {
		prof_groups_fini(&now);
		return (msg_error("stat", "out of memory", "free memory"));
	}
	prof_groups_fini(&by->by_before);
	by->by_before = now;
	interval_bound(by);
	return (by_rows_make(by));
}

static void
csv_show(struct by *by)
{
	(by->by_spans == NULL ? by_csv : by_spans_csv)(by);
}

/* Print the events since the last interval; -1 with a message printed. */
static int
interval_end(struct by *by)
{
	by->by_is_interval = true;
	if ((by->by_nevents > 0 && interval_groups(by) == -1) ||
	    by_spans_account(by) == -1)
		return (-1);
	output_begin(by);
	(by->by_options->co_csv ? csv_show : by_text)(by);
	if (!by->by_options->co_csv)
		out_char(&by->by_out, '\n');
	out_flush(&by->by_out);
	by->by_is_interval = false;
	by->by_from_s = by->by_status.ps_elapsed_s;
	if (by->by_spans != NULL)
		prof_spans_live_lap(by->by_spans);
	prof_groups_fini(&by->by_groups);
	return (0);
}

/* Late by more than one: those are one long interval. */
static int
interval_look(struct by *by)
{
	const uint64_t step_ns =
	    by->by_options->co_interval_ms.on_value * 1000000;

	if (by->by_next_ns == 0 || term_now_ns() < by->by_next_ns)
		return (0);
	while (by->by_next_ns <= term_now_ns())
		by->by_next_ns += step_ns;
	return (interval_end(by));
}

/* 0, or -1 with a message printed. */
static int
spans_round(struct by *by, bool is_last)
{
	struct prof_err error = { 0 };

	return (by->by_spans == NULL || prof_spans_live_round(by->by_spans,
	    is_last, &error) == 0 ? 0 : msg_prof("stat", &error));
}

/* 0, or -1 with a message printed. */
static int
session_wait(struct by *by)
{
	const struct count_options *co = by->by_options;
	struct ending *ending = &by->by_ending;
	const struct prof_status *ps = &by->by_status;
	int go_on;

	if (co->co_duration.on_set)
		ending->en_end_ns = term_now_ns() + co->co_duration.on_value;
	if (co->co_interval_ms.on_set)
		by->by_next_ns = term_now_ns() +
		    co->co_interval_ms.on_value * 1000000;
	do {
		go_on = prof_session_run(by->by_session,
		    ending_wait_ms(ending, by->by_next_ns));
		prof_session_status(by->by_session, &by->by_status);
		if (spans_round(by, false) == -1 ||
		    (go_on == 1 && interval_look(by) == -1))
			return (-1);
	} while (go_on == 1 && !ending_by_signal(ending, ps->ps_command_pid,
	    ps->ps_command_done) && !ending_by_time(ending,
	    ps->ps_command_pid, ps->ps_command_done));
	if (prof_session_stop(by->by_session) == -1)
		go_on = -1;
	prof_session_status(by->by_session, &by->by_status);
	if (go_on == -1)
		return (msg_prof("stat", prof_session_error(by->by_session)));
	if (spans_round(by, true) == -1)
		return (-1);
	return (by->by_next_ns == 0 ? 0 : interval_end(by));
}

/* The totals, at the end; -1 with a message printed. */
static int
groups_read(struct by *by)
{
	if (by->by_nevents > 0 && prof_session_groups(by->by_session,
	    &by->by_groups) == -1)
		return (msg_prof("stat", prof_session_error(by->by_session)));
	for (size_t e = 0; e < by->by_nevents; e++)
		if (prof_session_account(by->by_session, e + 1,
		    &by->by_event[e].be_account) == -1)
			return (msg_prof("stat",
			    prof_session_error(by->by_session)));
	return (by_spans_account(by));
}

/* An existing file keeps its contents until there is something to write. */
static bool
output_open(struct by *by)
{
	const struct count_options *co = by->by_options;
	int fd = STDOUT_FILENO;

	if (co->co_output != NULL) {
		fd = file_create(co->co_output, O_WRONLY, &by->by_made);
		if (fd == -1) {
			msg_fail("stat", "choose a file that can be written",
			    "%s: %s", co->co_output, strerror(errno));
			return (false);
		}
	} else if (!co->co_json && !co->co_csv && by->by_what->co_argv != NULL)
		fd = STDERR_FILENO;
	out_init(&by->by_out, fd);
	if (co->co_output != NULL)
		by->by_out.ou_name = co->co_output;
	return (true);
}

static int
groups_show(struct by *by)
{
	const struct count_options *co = by->by_options;
	const char *note;
	int status;

	if (by_rows_make(by) == -1)
		return (EXIT_DTPROF);
	output_begin(by);
	/* Intervals of CSV add up to all of it. */
	if (co->co_json)
		by_json(by);
	else if (!co->co_csv)
		by_text(by);
	else if (by->by_next_ns == 0)
		csv_show(by);
	status = out_end(&by->by_out, "stat");
	if (!co->co_json)
		by_warn(by);
	for (; !co->co_quiet && (note = prof_session_note(by->by_session,
	    by->by_notes)) != NULL; by->by_notes++)
		msg_note("stat", "%s", note);
	return (status == 0 ? session_status("stat", &by->by_status,
	    &by->by_ending) : EXIT_DTPROF);
}

static void
event_free(struct by_event *event)
{
	for (size_t c = 0; c < event->be_ncolumns; c++)
		free(event->be_column[c].bc_title);
	free(event->be_row);
}

int
by_run(const struct count_options *co,
    const struct prof_counting_options *what,
    const struct opt_strings *events)
{
	struct by *by = calloc(1, sizeof(*by));
	int status = EXIT_DTPROF;

	if (by == NULL || signals_open() == -1) {
		msg_error("stat", "out of memory or file descriptors",
		    "free memory, and close some files");
		free(by);
		return (EXIT_DTPROF);
	}
	by->by_options = co;
	by->by_what = what;
	if (by_options(by) == 0 && output_open(by) &&
	    (status = session_begin(by, events)) == 0) {
		prof_session_confine(by->by_session);
		status = EXIT_DTPROF;
		if (session_wait(by) == 0 && groups_read(by) == 0)
			status = groups_show(by);
	}
	for (size_t e = 0; e < by->by_nevents && by->by_event != NULL; e++)
		event_free(&by->by_event[e]);
	prof_groups_fini(&by->by_groups);
	prof_groups_fini(&by->by_before);
	prof_spans_free(by->by_spans);
	prof_session_close(by->by_session);
	if (by->by_made && !by->by_is_shown)
		(void)unlink(co->co_output);
	if (by->by_out.ou_fd > STDERR_FILENO)
		close(by->by_out.ou_fd);
	free(by->by_event);
	by_options_free(by);
	free(by);
	signals_close();
	return (status);
}
