/* SPDX-License-Identifier: ISC */
/*
 * dtprof trace at work: a session without a file, whose records are lines as
 * they come.
 *
 *	open, add events, arm, start -> run until something ends it -> stop
 *
 * Each round of the session hands over what has happened, in order of time, at
 * most a tenth of a second late, and is flushed.  Called by cmd_trace.c with
 * options that make sense together.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

/* A trace that runs. */
struct trace {
	const struct trace_options *tr_options;
	struct prof_session *tr_session;
	struct trace_events tr_events;
	struct trace_fields tr_fields;
	struct prof_status tr_status;
	struct ending	 tr_ending;
	struct out	 tr_out;
	uint64_t	 tr_shown;
	size_t		 tr_notes;	/* printed so far */
	bool		 tr_failed;
};

/* ---------------------------------------------------------------- sink */

static int
info_take(void *arg, const char *key, const char *value)
{
	struct trace *trace = arg;
	const int number = prof_syscall_of_key(key);

	if (number >= 0 && trace->tr_events.te_call[number] == NULL)
		trace->tr_events.te_call[number] = prof_syscall_parse(value);
	return (0);
}

/* Names are the session's, and stay. */
static int
event_take(void *arg, const struct prof_event_info *info)
{
	struct trace_events *events = &((struct trace *)arg)->tr_events;
	struct prof_event_info *copy = prof_append(&events->te_info,
	    &events->te_n, sizeof(*copy));

	if (copy == NULL)
		return (-1);
	*copy = *info;
	if (copy->pi_is_syscall) {
		copy->pi_calls = (const struct prof_syscall *const *)
		    events->te_call;
		copy->pi_ncalls = DTP_MAX_SYSCALL;
	}
	return (0);
}

static const struct prof_event_info *
info_of(const struct trace *trace, const struct prof_record *record)
{
	return (record->pr_event < trace->tr_events.te_n ?
	    &trace->tr_events.te_info[record->pr_event] : NULL);
}

static bool
is_at_limit(const struct trace *trace)
{
	const struct opt_number *limit = &trace->tr_options->to_limit;

	return (limit->on_set && trace->tr_shown >= limit->on_value);
}

/* A sample, a marker, or what was lost: where it happened. */
static int
line_put(struct trace *trace, const struct prof_record *record)
{
	static struct line_stack none;
	const struct line_names names = { .sn_stack = &none };
	const struct prof_event_info *info = info_of(trace, record);
	struct out *out = &trace->tr_out;

	if (trace->tr_fields.tf_n == 0 || record->pr_type != PROF_R_SAMPLE)
		(trace->tr_options->to_json ? line_json : line_text)(out,
		    record, info, record->pr_comm == NULL ? "" :
		    record->pr_comm, &names);
	else if (info != NULL)
		(trace->tr_options->to_json ? trace_fields_json :
		    trace_fields_text)(&trace->tr_fields, out, record, info);
	return (0);
}

static int
sample_take(void *arg, const struct prof_record *record)
{
	struct trace *trace = arg;

	/* Samples beyond --limit are neither shown nor lost. */
	if (is_at_limit(trace))
		return (0);
	trace->tr_shown++;
	return (line_put(trace, record));
}

static int
other_take(void *arg, const struct prof_record *record)
{
	struct trace *trace = arg;

	if (record->pr_type == PROF_R_START ||
	    record->pr_type == PROF_R_STOP || is_at_limit(trace))
		return (0);
	return (line_put(trace, record));
}

/* ------------------------------------------------------------- session */

/* 0, or the exit status of a failure, whose message was printed. */
static int
session_begin(struct trace *trace, const struct prof_options *po,
    const struct opt_strings *events)
{
	const struct prof_sink sink = {
		.sk_arg = trace, .sk_info = info_take,
		.sk_event = event_take, .sk_sample = sample_take,
		.sk_mark = other_take, .sk_lost = other_take,
	};
	const struct trace_options *to = trace->tr_options;

	trace->tr_session = session_open("trace", po, events);
	if (trace->tr_session == NULL)
		return (EXIT_DTPROF);
	if (prof_session_direct(trace->tr_session, &sink) == 0 &&
	    session_arm_diverted(trace->tr_session, to->to_json &&
	    to->to_output == NULL) == 0) {
		if (trace_fields_check(&trace->tr_fields,
		    &trace->tr_events) == -1)
			return (EXIT_DTPROF);
		if (prof_session_start(trace->tr_session) == 0)
			return (0);
	}
	msg_prof("trace", prof_session_error(trace->tr_session));
	return (ending_status(prof_session_error(trace->tr_session)));
}

static void
show_notes(struct trace *trace)
{
	const char *note;

	while ((note = prof_session_note(trace->tr_session,
	    trace->tr_notes)) != NULL) {
		trace->tr_notes++;
		if (!trace->tr_options->to_quiet)
			msg_note("trace", "%s", note);
	}
}

static bool
is_at_end(struct trace *trace)
{
	const struct prof_status *ps = &trace->tr_status;
	struct ending *ending = &trace->tr_ending;
	const uint64_t now_ns = term_now_ns();

	if (trace->tr_out.ou_errno != 0)
		return (true);
	/* Nobody else would end the command. */
	if (is_at_limit(trace) && (ending->en_end_ns == 0 ||
	    ending->en_end_ns > now_ns))
		ending->en_end_ns = now_ns;
	return (ending_by_signal(ending, ps->ps_command_pid,
	    ps->ps_command_done) || ending_by_time(ending,
	    ps->ps_command_pid, ps->ps_command_done));
}

static void
session_run(struct trace *trace)
{
	struct prof_session *session = trace->tr_session;
	int go_on;

	if (trace->tr_options->to_duration.on_set)
		trace->tr_ending.en_end_ns = term_now_ns() +
		    trace->tr_options->to_duration.on_value;
	do {
		go_on = prof_session_run(session,
		    ending_wait_ms(&trace->tr_ending, 0));
		out_flush(&trace->tr_out);
		prof_session_status(session, &trace->tr_status);
		show_notes(trace);
	} while (go_on == 1 && !is_at_end(trace));
	trace->tr_failed = go_on == -1;
	if (prof_session_stop(session) == -1)
		trace->tr_failed = true;
	if (trace->tr_failed)
		msg_prof("trace", prof_session_error(session));
	prof_session_status(session, &trace->tr_status);
}

/* -------------------------------------------------------------- the end */

static void
show_summary(struct trace *trace)
{
	const struct prof_status *ps = &trace->tr_status;
	struct out out;

	show_notes(trace);
	if (trace->tr_options->to_quiet)
		return;
	out_init(&out, STDERR_FILENO);
	out_fmt(&out, "dtprof: trace: %" PRIu64 " event%s, %" PRIu64 " lost",
	    trace->tr_shown, trace->tr_shown == 1 ? "" : "s", ps->ps_lost);
	if (ps->ps_lost != 0)
		out_fmt(&out, " (%.2g%%)", 100 * prof_lost_share(
		    ps->ps_samples, ps->ps_lost));
	out_fmt(&out, ", %.1f s\n", ps->ps_elapsed_s);
	out_flush(&out);
}

static int
exit_status(const struct trace *trace)
{
	const struct opt_number *most = &trace->tr_options->to_max_loss;
	const struct prof_status *ps = &trace->tr_status;
	const int status = trace->tr_failed ? EXIT_DTPROF :
	    session_status("trace", ps, &trace->tr_ending);

	if (status != 0 || !most->on_set || prof_lost_share(ps->ps_samples,
	    ps->ps_lost) * 100000 <= (double)most->on_value)
		return (status);
	msg_fail("trace", "add --filter, or use a larger --buffer", "%" PRIu64
	    " of %" PRIu64 " events lost: more than --max-loss allows",
	    ps->ps_lost, ps->ps_samples + ps->ps_lost);
	return (EXIT_LOSS);
}

/* Beside what a command writes, lines go where strace's do. */
static bool
output_open(struct trace *trace, const struct prof_options *po)
{
	const char *path = trace->tr_options->to_output;
	int fd = trace->tr_options->to_json || po->po_target !=
	    PROF_TARGET_COMMAND ? STDOUT_FILENO : STDERR_FILENO;

	if (path != NULL && (fd = file_create(path, O_WRONLY | O_TRUNC,
	    NULL)) == -1) {
		msg_fail("trace", "name a file that can be written", "%s: %s",
		    path, strerror(errno));
		return (false);
	}
	out_init(&trace->tr_out, fd);
	if (path != NULL)
		trace->tr_out.ou_name = path;
	return (true);
}

static void
trace_free(struct trace *trace)
{
	prof_session_close(trace->tr_session);
	if (trace->tr_out.ou_fd > STDERR_FILENO)
		close(trace->tr_out.ou_fd);
	for (size_t n = 0; n < DTP_MAX_SYSCALL; n++)
		free(trace->tr_events.te_call[n]);
	free(trace->tr_events.te_info);
	free(trace->tr_fields.tf_text);
	free(trace);
}

int
trace_run(const struct trace_options *to, const struct prof_options *po,
    const struct opt_strings *events)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int status = EXIT_DTPROF;

	if (trace == NULL || signals_open() == -1) {
		free(trace);
		msg_error("trace", "out of memory or file descriptors",
		    "free memory, and close some files");
		return (EXIT_DTPROF);
	}
	trace->tr_options = to;
	if (trace_fields_parse(&trace->tr_fields, to->to_fields) == 0 &&
	    output_open(trace, po) &&
	    (status = session_begin(trace, po, events)) == 0) {
		prof_session_confine(trace->tr_session);
		show_notes(trace);
		session_run(trace);
		status = out_end(&trace->tr_out, "trace");
		show_summary(trace);
		status = status != 0 ? EXIT_DTPROF : exit_status(trace);
	}
	trace_free(trace);
	signals_close();
	return (status);
}
