/* SPDX-License-Identifier: ISC */
/*
 * dtprof trace at work: a session without a file, whose records are lines as
 * they come.
 *
 *	open, add events, arm, start -> run until something ends it -> stop
 *
 * Each round of the session hands over what has happened, in order of time, at
 * most a tenth of a second late, and is flushed.  With --stack records wait
 * until the round is over, and with it names are there.  Called by cmd_trace.c
 * with options that make sense together.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

#define NAMES_NS	500000000ULL	/* that a line waits for names */
#define WAITING_MOST	(64u << 20)	/* bytes of lines that wait */

/* A trace that runs. */
struct trace {
	const struct trace_options *tr_options;
	struct prof_session *tr_session;
	struct trace_events tr_events;
	struct trace_fields tr_fields;
	struct prof_status tr_status;
	struct ending	 tr_ending;
	struct out	 tr_out;
	struct prof_queue tr_queue;
	uint64_t	 tr_early;	/* shown before all names came */
	struct prof_symbols *tr_symbols; /* NULL: without --stack */
	struct line_stack tr_stack;
	uint64_t	 tr_shown;
	size_t		 tr_notes;	/* printed so far */
	bool		 tr_failed;
	bool		 tr_is_new;	/* the output file */
};

/* ---------------------------------------------------------------- sink */

static int
info_take(void *arg, const char *key, const char *value)
{
	struct trace *trace = arg;
	const int number = prof_syscall_of_key(key);
	struct prof_err error;

	if (number >= 0 && trace->tr_events.te_call[number] == NULL)
		trace->tr_events.te_call[number] = prof_syscall_parse(value);
	if (!trace->tr_options->to_stack || strcmp(key, "path") != 0)
		return (0);
	/* The back end is known, and nothing has happened yet. */
	trace->tr_symbols = prof_symbols_live(strcmp(value, "perf") == 0,
	    &error);
	return (trace->tr_symbols == NULL ? -1 : 0);
}

static int
map_take(void *arg, const struct prof_record *record)
{
	struct trace *trace = arg;

	return (prof_symbols_live_event(trace->tr_symbols, record));
}

static int
symbols_take(void *arg, const void *body, size_t length)
{
	struct trace *trace = arg;

	return (prof_symbols_live_table(trace->tr_symbols, body, length));
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
static void
line_show(struct trace *trace, const struct prof_record *record)
{
	const struct line_names names = { .sn_stack = &trace->tr_stack,
	    .sn_symbols = trace->tr_symbols };
	const struct prof_event_info *info = info_of(trace, record);
	struct out *out = &trace->tr_out;

	if (trace->tr_fields.tf_n == 0 || record->pr_type != PROF_R_SAMPLE)
		(trace->tr_options->to_json ? line_json : line_text)(out,
		    record, info, record->pr_comm == NULL ? "" :
		    record->pr_comm, &names);
	else if (info != NULL)
		(trace->tr_options->to_json ? trace_fields_json :
		    trace_fields_text)(&trace->tr_fields, out, record, info);
}

/* The first n of those that wait. */
static void
queue_show(struct trace *trace, size_t n, bool is_early)
{
	struct prof_queue *queue = &trace->tr_queue;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		line_show(trace, &queue->qu_waiting[i].wt_record);
	prof_symbols_live_forget(trace->tr_symbols,
	    queue->qu_waiting[n - 1].wt_record.pr_time_ns);
	prof_queue_drop(queue, n);
	if (is_early)
		trace->tr_early += n;
}

/* A round is over: lines that have names, or have waited; is_last: all. */
static void
round_show(struct trace *trace, bool is_last)
{
	const struct prof_queue *queue = &trace->tr_queue;
	const bool is_early = prof_session_names_wait(trace->tr_session);

	queue_show(trace, is_last || !is_early ? queue->qu_n :
	    prof_queue_due(queue, NAMES_NS, WAITING_MOST), is_early);
}

/* Without memory, which has a limit, nothing waits. */
static void
line_put(struct trace *trace, const struct prof_record *record)
{
	struct prof_queue *queue = &trace->tr_queue;

	if (trace->tr_symbols == NULL) {
		line_show(trace, record);
	} else if (prof_queue_put(queue, record) == -1) {
		queue_show(trace, queue->qu_n, true);
		line_show(trace, record);
		trace->tr_early++;
	} else if (queue->qu_bytes >= WAITING_MOST) {
		queue_show(trace, queue->qu_n, true);
	}
}

static int
sample_take(void *arg, const struct prof_record *record)
{
	struct trace *trace = arg;

	/* Samples beyond --limit are neither shown nor lost. */
	if (is_at_limit(trace))
		return (0);
	trace->tr_shown++;
	line_put(trace, record);
	return (0);
}

static int
other_take(void *arg, const struct prof_record *record)
{
	struct trace *trace = arg;

	if (record->pr_type == PROF_R_START ||
	    record->pr_type == PROF_R_STOP || is_at_limit(trace))
		return (0);
	line_put(trace, record);
	return (0);
}

/* ------------------------------------------------------------- session */

/* 0, or the exit status of a failure, whose message was printed. */
static int
session_begin(struct trace *trace, const struct prof_options *po,
    const struct opt_strings *events)
{
	const struct trace_options *to = trace->tr_options;
	const struct prof_sink sink = {
		.sk_arg = trace, .sk_info = info_take,
		.sk_event = event_take, .sk_sample = sample_take,
		.sk_mark = other_take, .sk_lost = other_take,
		.sk_task = to->to_stack ? map_take : NULL,
		.sk_mapping = to->to_stack ? map_take : NULL,
		.sk_symbols = to->to_stack ? symbols_take : NULL,
	};

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
		round_show(trace, false);
		out_flush(&trace->tr_out);
		prof_session_status(session, &trace->tr_status);
		show_notes(trace);
	} while (go_on == 1 && !is_at_end(trace));
	trace->tr_failed = go_on == -1;
	if (prof_session_stop(session) == -1)
		trace->tr_failed = true;
	round_show(trace, true);
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
	if (trace->tr_early > 0)
		msg_note("trace", "%" PRIu64 " lines were printed before all "
		    "symbols were known: addresses may be unresolved",
		    trace->tr_early);
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

/*
 * Beside what a command writes, lines go where strace's do.  What is in the
 * file stays until it is certain that there is a trace.
 */
static bool
output_open(struct trace *trace, const struct prof_options *po)
{
	const char *path = trace->tr_options->to_output;
	int fd = trace->tr_options->to_json || po->po_target !=
	    PROF_TARGET_COMMAND ? STDOUT_FILENO : STDERR_FILENO;

	if (path != NULL && (fd = file_create(path, O_WRONLY,
	    &trace->tr_is_new)) == -1) {
		msg_fail("trace", "choose a file that can be written", "%s: %s",
		    path, strerror(errno));
		return (false);
	}
	out_init(&trace->tr_out, fd);
	if (path != NULL)
		trace->tr_out.ou_name = path;
	return (true);
}

/* The session has begun, or it has not. */
static void
output_begin(struct trace *trace, bool begun)
{
	const char *path = trace->tr_options->to_output;
	struct stat st;

	if (path == NULL)
		return;
	if (!begun && trace->tr_is_new)
		(void)unlink(path);
	else if (begun && fstat(trace->tr_out.ou_fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && ftruncate(trace->tr_out.ou_fd, 0) == -1)
		trace->tr_out.ou_errno = errno;
}

static void
trace_free(struct trace *trace)
{
	prof_queue_fini(&trace->tr_queue);
	prof_symbols_close(trace->tr_symbols);
	free(trace->tr_stack.st_frame);
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
	    output_open(trace, po)) {
		status = session_begin(trace, po, events);
		output_begin(trace, status == 0);
	}
	if (status == 0) {
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
