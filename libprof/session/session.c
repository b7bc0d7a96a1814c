/* SPDX-License-Identifier: ISC */
/*
 * A recording session: the public calls and the order in which things
 * happen.  Everything that does the work lies in the files beside it.
 *
 * The order is the point.  Arm: see arm.c.  Start: counters on, then the one
 * word that makes programs store samples, then the command is let go.  Stop:
 * that word, counters off and read, links gone, everyone out, drained, END.
 * Pause: counters off, then that word; resume: the word, then counters, so
 * that no timer fires unseen and seems to be late afterwards.
 */
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "confine/privilege.h"
#include "events/instrument.h"
#include "events/names.h"
#include "direct.h"
#include "session_impl.h"
#include "verified.h"

#define SECOND_NS	1000000000ULL
#define WAIT_MAX_MS	100
#define WAIT_TABLE_MS	10	/* while tables are made, code is named */
#define WAIT_CALM_MS	1000
#define PAUSE_MS	2	/* between rounds that mappings ask for ... */
#define PAUSE_MAX_MS	25	/* ... and at a low rate */

struct prof_session *
prof_session_open(const struct prof_options *options, struct prof_err *error)
{
	struct prof_session *session = calloc(1, sizeof(*session));
	struct prof_event *proc;

	if (session == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	session->se_epoll = session->se_alarm = -1;
	prof_command_init(&session->se_command);
	if (prof_options_copy(&session->se_options, options,
	    &session->se_error) == -1 ||
	    (session->se_names = prof_names_open(&session->se_error)) == NULL)
		goto fail;
	prof_session_names(session);
	session->se_plan = (struct prof_plan){
	    .pn_options = &session->se_options,
	    .pn_events = &session->se_events, .pn_names = session->se_names,
	    .pn_error = &session->se_error, .pn_host = &prof_session_host,
	    .pn_arg = session };
	proc = prof_event_new("proc", "proc:::", "events",
	    &prof_provider_proc, &prof_instrument_tasks);
	if (proc == NULL || prof_events_add(&session->se_events, proc) ==
	    -1) {
		prof_fail_nomem(&session->se_error);
		goto fail;
	}
	if (session->se_options.po_note != NULL && prof_session_add_note(
	    session, "%s", session->se_options.po_note) == -1)
		goto fail;
	return (session);
fail:
	*error = session->se_error;
	prof_session_close(session);
	return (NULL);
}

const struct prof_err *
prof_session_error(const struct prof_session *session)
{
	return (&session->se_error);
}

int
prof_session_add_note(struct prof_session *session, const char *fmt, ...)
{
	char **grown, *note;
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = vasprintf(&note, fmt, ap);
	va_end(ap);
	if (length == -1)
		return (prof_fail_nomem(&session->se_error));
	grown = reallocarray(session->se_notes, session->se_nnotes + 1,
	    sizeof(*grown));
	if (grown == NULL) {
		free(note);
		return (prof_fail_nomem(&session->se_error));
	}
	session->se_notes = grown;
	grown[session->se_nnotes++] = note;
	if (session->se_options.po_log != NULL)
		session->se_options.po_log(session->se_options.po_log_arg,
		    PROF_LOG_NOTE, note);
	return (0);
}

const char *
prof_session_note(const struct prof_session *session, size_t n)
{
	return (n < session->se_nnotes ? session->se_notes[n] : NULL);
}

const char *
prof_session_output(const struct prof_session *session)
{
	return (session->se_options.po_output);
}

static int
write_mark(struct prof_session *session, enum prof_record_type type,
    uint64_t time_ns, const char *text)
{
	struct prof_record record = { 0 };

	record.pr_type = type;
	record.pr_time_ns = time_ns;
	record.pr_pid = record.pr_tid = (uint32_t)getpid();
	record.pr_path = text;
	record.pr_comm = "";
	return (prof_session_take(session, &record));
}

/* A pause is part of a recording. */
static bool
is_recording(const struct prof_session *session)
{
	return (session->se_state == PROF_RECORDING ||
	    session->se_state == PROF_PAUSED);
}

/* Back ends first: what fires before a mark is counted outside. */
static int
go_on(struct prof_session *session, enum prof_record_type mark,
    const char *text)
{
	uint64_t now_ns;

	if (prof_merge_step(&session->se_merge, PROF_STEP_ENABLE) == -1)
		return (-1);
	session->se_state = PROF_RECORDING;
	now_ns = prof_clock_go_on(&session->se_plan.pn_clock);
	/* The recording has not begun: there is nothing that goes on in it. */
	if (prof_targets_await(session))
		return (0);
	return (write_mark(session, mark, now_ns, text));
}

int
prof_session_begins(struct prof_session *session, uint64_t time_ns)
{
	if (session->se_writer != NULL)
		prof_writer_keep(session->se_writer);
	if (write_mark(session, PROF_R_START, time_ns, "") == -1)
		return (-1);
	/* It was paused before this start was read. */
	return (session->se_state != PROF_PAUSED ? 0 : write_mark(session,
	    PROF_R_PAUSE, session->se_plan.pn_clock.ck_pause_ns, ""));
}

/* Nothing is switched on before it is resumed. */
static int
start_paused(struct prof_session *session)
{
	struct prof_clock *clock = &session->se_plan.pn_clock;

	clock->ck_start_ns = clock->ck_pause_ns = prof_now_ns();
	if (prof_merge_step(&session->se_merge, PROF_STEP_PAUSE) == -1)
		return (-1);
	session->se_state = PROF_PAUSED;
	return (write_mark(session, PROF_R_START, clock->ck_start_ns, "") ==
	    -1 ? -1 : write_mark(session, PROF_R_PAUSE, clock->ck_pause_ns,
	    ""));
}

/*
 * Between rounds that mappings ask for: half the time between two samples of a
 * CPU, for what happens to be known later costs few of them their tables.
 */
static int
session_pause_ms(const struct prof_session *session)
{
	const uint64_t hz = prof_events_rate(&session->se_plan);

	if (hz == 0 || hz >= 500 / PAUSE_MS)
		return (PAUSE_MS);
	return (hz <= 500 / PAUSE_MAX_MS ? PAUSE_MAX_MS : (int)(500 / hz));
}

/*
 * Whoever polls our descriptor is woken when a round is due: programs wake
 * only where a ring fills.  Stacks need the mappings that wait for it.
 */
static int
set_alarm(struct prof_session *session)
{
	const int pause_ms = session_pause_ms(session);
	const int ms = session->se_wait_ms > pause_ms &&
	    prof_merge_mappings_wait(&session->se_merge) ? pause_ms :
	    session->se_wait_ms;
	const struct itimerspec due = {
		.it_value.tv_sec = ms / 1000,
		.it_value.tv_nsec = ms % 1000 * 1000000L
	};

	if (timerfd_settime(session->se_alarm, 0, &due, NULL) == -1)
		return (prof_fail(&session->se_error, PROF_E_IO,
		    "cannot set a timer: %s", strerror(errno)));
	return (0);
}

int
prof_session_start(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;

	if (is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "already recording"));
	if (session->se_state != PROF_ARMED)
		return (prof_fail(&session->se_error, PROF_E_EMPTY,
		    "nothing is armed"));
	if (prof_overhead_begin(session) == -1)
		return (-1);
	if ((po->po_start_paused ? start_paused(session) :
	    go_on(session, PROF_R_START, "")) == -1)
		return (-1);
	session->se_woken_ns = session->se_checked_ns = prof_now_ns();
	/* The first round writes an accounting: a kill may come early. */
	session->se_flushed_ns = 0;
	if (po->po_argv != NULL && prof_command_release(
	    &session->se_command, po->po_argv[0], &session->se_error) == -1) {
		prof_session_undo(session);
		session->se_state = PROF_STOPPED;
		return (-1);
	}
	if (session->se_writer != NULL && !prof_targets_await(session))
		prof_writer_keep(session->se_writer);
	return (set_alarm(session));
}

void
prof_session_confine(struct prof_session *session)
{
	(void)prof_privileges_keep(PROF_CAPS_OPEN |
	    prof_merge_caps(&session->se_merge) |
	    (session->se_kernel_names == NULL ? PROF_CAPS_KALLSYMS : 0) |
	    (session->se_command.cm_pid != 0 ? PROF_CAPS_COMMAND : 0));
}

int
prof_session_fd(const struct prof_session *session)
{
	return (session->se_epoll);
}

int
prof_session_mark(struct prof_session *session, const char *text)
{
	if (!is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "a marker needs a running recording"));
	return (write_mark(session, PROF_R_MARK, prof_now_ns(), text));
}

int
prof_session_pause(struct prof_session *session, const char *text)
{
	int rv;

	if (!is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "a pause needs a running recording"));
	if (session->se_state == PROF_PAUSED)
		return (0);
	rv = prof_merge_step(&session->se_merge, PROF_STEP_PAUSE);
	session->se_plan.pn_clock.ck_pause_ns = prof_now_ns();
	session->se_state = PROF_PAUSED;
	if (rv == -1 || prof_targets_await(session))
		return (rv);
	return (write_mark(session, PROF_R_PAUSE,
	    session->se_plan.pn_clock.ck_pause_ns, text));
}

int
prof_session_resume(struct prof_session *session, const char *text)
{
	if (!is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "nothing is paused"));
	if (session->se_state == PROF_RECORDING)
		return (0);
	return (go_on(session, PROF_R_RESUME, text));
}

/*
 * A marker from outside, or a request to pause or resume.  After stop there is
 * nothing to pause: 1, and whoever asked is not answered.
 */
static int
take_mark(void *arg, const struct prof_record *record)
{
	const struct prof_session *session = arg;

	if (session->se_state == PROF_STOPPED && record->pr_type != PROF_R_MARK)
		return (1);
	if (record->pr_type == PROF_R_PAUSE)
		return (prof_session_pause(arg, record->pr_path));
	if (record->pr_type == PROF_R_RESUME)
		return (prof_session_resume(arg, record->pr_path));
	return (prof_session_take(arg, record));
}

/*
 * Wait less the faster the rings fill, up to a tenth of a second; up to a whole
 * one if samples of a known rate alone came for a second: a round wakes a CPU.
 */
static void
wait_adapt(struct prof_session *session)
{
	const int most = session->se_round_ns - session->se_woken_ns <
	    SECOND_NS ||
	    session->se_options.po_max_overhead != 0 ||
	    prof_events_rate(&session->se_plan) == 0 ? WAIT_MAX_MS :
	    WAIT_CALM_MS;
	const unsigned fill = session->se_merge.mg_fill;

	if (fill >= 25)
		session->se_wait_ms = 1;
	else if (fill >= 5)
		session->se_wait_ms = (session->se_wait_ms + 1) / 2;
	else if (session->se_wait_ms < most)
		session->se_wait_ms *= 2;
	if (session->se_wait_ms > most)
		session->se_wait_ms = most;
}

static void
session_publish(struct prof_session *session)
{
	uint64_t begin_ns;

	if (!prof_pace_may(session, PROF_PACED_PUBLISH, true))
		return;
	begin_ns = prof_cpu_ns();
	if (prof_merge_publish(&session->se_merge) &&
	    session->se_wait_ms > WAIT_TABLE_MS)
		session->se_wait_ms = WAIT_TABLE_MS;
	(void)prof_pace_paid(session, PROF_PACED_PUBLISH,
	    prof_cpu_ns() - begin_ns);
}

/* most_ns: the time to hand over in; the rest is for the next round. */
static int
session_round(struct prof_session *session, uint64_t most_ns)
{
	prof_reread_look(session->se_reread);
	if (prof_gone_look(session) == -1 ||
	    prof_merge_round(&session->se_merge, most_ns) == -1 ||
	    prof_merge_step(&session->se_merge, PROF_STEP_TEND) == -1)
		return (-1);
	if (session->se_backend->bk_wait_ms == 0)
		wait_adapt(session);
	if (session->se_control != NULL && prof_control_take(
	    session->se_control, take_mark, session) == -1)
		return (-1);
	if (prof_noted_round(session->se_noted) == -1)
		return (prof_fail_nomem(&session->se_error));
	session_publish(session);
	if (prof_describe_codes(session, false) == -1 ||
	    prof_describe_now(session) == -1 ||
	    prof_stack_filter_round(session) == -1 ||
	    prof_speculate_round(session) == -1)
		return (-1);
	/* Names are to be had while the process lives, and code stays. */
	if ((prof_session_names_wait(session) ||
	    prof_stack_filter_waits(session)) &&
	    session->se_wait_ms > WAIT_TABLE_MS)
		session->se_wait_ms = WAIT_TABLE_MS;
	if (session->se_merge.mg_is_cut)
		session->se_wait_ms = WAIT_MAX_MS;
	return (0);
}

/*
 * Until there is something to do.  Each mapping wakes us, and a program that
 * starts has dozens: those that follow each other closely are one round.
 */
static void
wait_for_work(struct prof_session *session, int timeout_ms)
{
	const bool is_behind = session->se_merge.mg_is_cut;
	const int pause_ms = is_behind ? WAIT_MAX_MS :
	    session_pause_ms(session);
	const struct timespec pause = { 0, pause_ms * 1000000L };
	struct epoll_event events[16];
	int n = epoll_wait(session->se_epoll, events, 16, timeout_ms), i;

	for (i = 0; i < n; i++) {
		/* A target has ended: see at once who is left. */
		if (events[i].data.fd == PROF_WOKEN_BY_TARGET)
			session->se_checked_ns = 0;
		if (events[i].data.fd != session->se_alarm)
			session->se_woken_ns = prof_now_ns();
	}
	if (n > 0 && (is_behind || session->se_wait_ms > pause_ms) &&
	    prof_now_ns() - session->se_round_ns <
	    (uint64_t)pause.tv_nsec)
		(void)nanosleep(&pause, NULL);
	session->se_round_ns = prof_now_ns();
}

int
prof_session_round(struct prof_session *session)
{
	return (session_round(session, UINT64_MAX));
}

int
prof_session_run(struct prof_session *session, int timeout_ms)
{
	const struct prof_err *error;
	uint64_t now_ns;

	if (!is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "not recording"));
	if (timeout_ms < 0 || timeout_ms > session->se_wait_ms)
		timeout_ms = session->se_wait_ms;
	wait_for_work(session, timeout_ms);
	if (session_round(session, prof_pace_round_ns(session)) == -1 ||
	    (session->se_state == PROF_RECORDING &&
	    (prof_overhead_look(session) == -1 ||
	    prof_rotation_look(session) == -1)))
		return (-1);
	now_ns = prof_now_ns();
	if (session->se_writer != NULL &&
	    now_ns - session->se_flushed_ns >= SECOND_NS) {
		session->se_flushed_ns = now_ns;
		if (prof_account_write(session) == -1 ||
		    prof_writer_flush(session->se_writer) == -1) {
			/* The accounting has also failures of its own. */
			error = prof_writer_error(session->se_writer);
			if (error->pe_code != PROF_OK)
				session->se_error = *error;
			return (-1);
		}
	}
	if (prof_command_poll(&session->se_command))
		return (0);
	if (now_ns - session->se_checked_ns >= SECOND_NS / 10) {
		session->se_checked_ns = now_ns;
		if (prof_targets_left(session) == 0)
			return (0);
	}
	return (set_alarm(session) == -1 ? -1 : 1);
}

/* After stop: round by round until nothing that was reserved is left. */
static int
drain_rest(struct prof_session *session)
{
	do
		if (prof_session_round(session) == -1)
			return (-1);
	while (!prof_merge_is_empty(&session->se_merge) ||
	    prof_stack_filter_waits(session));
	return (0);
}

/* Room was kept for the accounting, also where the disk is full. */
static int
file_end(struct prof_session *session)
{
	struct prof_err error = { 0 };
	struct stat st;
	int rv = prof_account_write(session);

	if (session->se_options.po_ring_bytes != 0) {
		rv = prof_writer_end(session->se_writer,
		    &session->se_error);
		session->se_file_bytes = prof_writer_bytes(session->se_writer);
		return (rv);
	}
	if (prof_writer_end(session->se_writer, &error) == -1) {
		session->se_error = error;
		rv = -1;
	}
	session->se_written = prof_writer_samples(session->se_writer);
	/* Who asked for several files has yet to hear of the last ones. */
	if (!session->se_options.po_rotates) {
		(void)prof_writer_close(session->se_writer, NULL);
		session->se_writer = NULL;
	}
	if (stat(session->se_options.po_output, &st) == 0)
		session->se_file_bytes = (uint64_t)st.st_size;
	return (rv);
}

int
prof_session_stop(struct prof_session *session)
{
	int rv = 0;

	if (session->se_state == PROF_STOPPED)
		return (0);
	if (!is_recording(session))
		return (prof_fail(&session->se_error, PROF_E_EMPTY,
		    "not started"));
	session->se_state = PROF_STOPPED;
	session->se_plan.pn_clock.ck_stop_ns = prof_now_ns();
	prof_pace_end(session);
	if (prof_merge_step(&session->se_merge, PROF_STEP_STOP) == -1)
		rv = -1;
	if (drain_rest(session) == -1)
		rv = -1;
	(void)prof_command_poll(&session->se_command);
	/* What was in flight when it stopped is part of it. */
	if (session->se_last_ns >= session->se_plan.pn_clock.ck_stop_ns)
		session->se_plan.pn_clock.ck_stop_ns = session->se_last_ns + 1;
	session->se_lost = prof_account_lost(session);
	prof_overhead_end(session);
	if (prof_merge_step(&session->se_merge, PROF_STEP_END) == -1 ||
	    write_mark(session, PROF_R_STOP,
	    session->se_plan.pn_clock.ck_stop_ns, "") == -1 ||
	    prof_speculate_end(session) == -1 ||
	    prof_describe_snapshots(session) == -1 ||
	    ((session->se_writer != NULL || prof_session_names_now(session)) &&
	    prof_describe_names(session) == -1) ||
	    prof_describe_files(session) == -1 ||
	    prof_stack_filter_describe(session) == -1 ||
	    prof_describe_arguments(session) == -1 ||
	    prof_describe_overhead(session) == -1)
		rv = -1;
	if (session->se_writer != NULL && prof_targets_await(session)) {
		prof_writer_discard(session->se_writer);
		session->se_writer = NULL;
	} else if (session->se_writer != NULL && file_end(session) == -1)
		rv = -1;
	return (rv);
}

void
prof_session_close(struct prof_session *session)
{
	size_t n;

	if (session == NULL)
		return;
	if (is_recording(session))
		(void)prof_session_stop(session);
	prof_session_undo(session);
	prof_stack_filter_free(session);
	prof_overhead_free(&session->se_overhead);
	prof_events_free(&session->se_events);
	prof_names_close(session->se_names);
	prof_spans_fini(session);
	prof_dump_free(session->se_dumped);
	prof_options_free(&session->se_options);
	for (n = 0; n < session->se_nnotes; n++)
		free(session->se_notes[n]);
	free(session->se_notes);
	free(session);
}
