/* SPDX-License-Identifier: ISC */
/*
 * One recording, from the first call of libprof to the exit status.
 *
 *	open, add events, arm, start -> run until something ends it -> stop
 *
 * What ends it: the command or the targets, --duration, a signal (ending.c).
 * Called by cmd_record.c with options that make sense together.
 */
#include <sys/stat.h>
#include <sys/types.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

#define DEFAULT_EVENT	"cycles"
#define OTHER_EVENT	"cpu-clock"
#define LARGE		(2 << 20)	/* bytes, given back when freed */

/* A recording that runs. */
struct recording {
	const struct record_options *rc_options;
	struct prof_session *rc_session;
	struct term_status rc_term;
	struct prof_status rc_status;
	struct ending	 rc_ending;
	struct record_dumping *rc_dumping;
	struct record_rotating *rc_rotating;
	uint64_t	 rc_resume_ns;	/* end of --delay; 0: no longer */
	size_t		 rc_notes;	/* printed so far */
	bool		 rc_is_awaited;	/* --wait-for: it has not started yet */
	struct record_memory rc_memory;
	bool		 rc_is_full;	/* --max-size or --max-memory is */
	bool		 rc_failed;
};

static struct prof_session *set_up(const struct prof_options *po,
		    const struct record_events *events, struct prof_err *error);
static struct prof_session *set_up_default(const struct prof_options *po,
		    const struct record_events *events, struct prof_err *error);
static void	 show_notes(struct recording *rc);
static int	 size_look(struct recording *rc);
static int	 limits_look(struct recording *rc);
static bool	 is_at_end(struct recording *rc);
static int	 round_look(struct recording *rc);
static void	 recording_run(struct recording *rc);
static void	 show_summary(struct recording *rc);
static void	 show_cost(const struct recording *rc);
static int	 exit_status(const struct recording *rc);
static void	 show_plan(const struct recording *rc,
		    const struct prof_options *po,
		    const struct record_events *events);
static int	 recording_begin(struct recording *rc,
		    const struct prof_options *po,
		    const struct record_events *events,
		    struct record_push *push);
static int	 recording_end(struct recording *rc, bool is_verified);

/* Waits are one event, whatever its parameters. */
static bool
is_off_cpu(const char *name)
{
	return (strcspn(name, "/{:") == 7 && strncmp(name, "off-cpu", 7) == 0);
}

static bool
has_off_cpu(const struct record_events *events)
{
	for (size_t n = 0; n < events->re_events.os_n; n++)
		if (is_off_cpu(events->re_events.os_text[n]))
			return (true);
	return (events->re_off_cpu != NULL && is_off_cpu(events->re_off_cpu));
}

/* Events that triggers need, unless they are recorded anyway. */
static int
triggers_add(struct prof_session *session, const struct record_events *events)
{
	const char *name;

	for (size_t n = 0; (name = record_triggers_event(events->re_triggers,
	    n)) != NULL; n++)
		if (name[0] != '\0' &&
		    !(is_off_cpu(name) && has_off_cpu(events)) &&
		    prof_session_add_event(session, name) == -1 &&
		    prof_session_error(session)->pe_code != PROF_E_EXISTS)
			return (-1);
	return (0);
}

/* A session that is armed, or NULL. */
static struct prof_session *
set_up(const struct prof_options *po, const struct record_events *events,
    struct prof_err *error)
{
	const struct opt_strings *sampled = &events->re_events;
	const struct opt_strings *with = &events->re_with;
	const struct opt_strings *spans = &events->re_spans;
	struct prof_session *session;
	size_t n, m = 0, s = 0;

	/* Else malloc keeps more with each large one that is freed. */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
	session = prof_session_open(po, error);
	if (session == NULL)
		return (NULL);
	if (record_triggers_begin(events->re_triggers, session) == -1)
		goto fail;
	for (n = 0; n < sampled->os_n; n++) {
		if (prof_session_add_event(session, sampled->os_text[n]) == -1)
			break;
	}
	if (n == sampled->os_n && events->re_off_cpu != NULL &&
	    prof_session_add_event(session, events->re_off_cpu) == -1)
		n = SIZE_MAX;
	if (n == sampled->os_n && events->re_wall != NULL &&
	    prof_session_add_event(session, events->re_wall) == -1)
		n = SIZE_MAX;
	if (n == sampled->os_n && triggers_add(session, events) == -1)
		n = SIZE_MAX;
	for (; n == sampled->os_n && s < spans->os_n; s++) {
		if (prof_session_add_span(session, spans->os_text[s]) == -1)
			break;
	}
	for (; s == spans->os_n && m < with->os_n; m++) {
		if (prof_session_add_counter(session, with->os_text[m]) == -1)
			break;
	}
	if (n == sampled->os_n && s == spans->os_n && m == with->os_n &&
	    prof_session_arm(session) == 0)
		return (session);
fail:
	*error = *prof_session_error(session);
	prof_session_close(session);
	return (NULL);
}

/*
 * What is best here: cycles where a PMU counts, else the CPU clock, and a
 * note that says why.  Whether it counts shows when the event is opened, so
 * both are tried in turn.
 */
static struct prof_session *
set_up_default(const struct prof_options *po,
    const struct record_events *events, struct prof_err *error)
{
	const char *best[] = { DEFAULT_EVENT }, *other[] = { OTHER_EVENT };
	struct record_events first = *events, second = *events;
	struct prof_options noted = *po;
	struct prof_session *session;

	first.re_events = (struct opt_strings){ best, 1 };
	second.re_events = (struct opt_strings){ other, 1 };
	session = set_up(po, &first, error);
	if (session != NULL || (error->pe_code != PROF_E_EVENT_UNSUPPORTED &&
	    error->pe_code != PROF_E_EVENT_UNKNOWN))
		return (session);
	noted.po_note = "sampling " OTHER_EVENT " (no hardware cycle counter)";
	noted.po_degraded = OTHER_EVENT " (no hardware cycle counter)";
	return (set_up(&noted, &second, error));
}

static void
show_notes(struct recording *rc)
{
	const char *note;

	while ((note = prof_session_note(rc->rc_session, rc->rc_notes)) !=
	    NULL) {
		rc->rc_notes++;
		if (rc->rc_options->ro_quiet)
			continue;
		term_status_erase(&rc->rc_term);
		msg_note("record", "%s", note);
	}
}

/* 1: it is reached; -1: failed.  Both with a message. */
static int
size_look(struct recording *rc)
{
	const struct opt_number *most = &rc->rc_options->ro_max_size;
	const uint64_t bytes = rc->rc_status.ps_file_bytes;
	const bool is_full = bytes >= most->on_value;

	if (!most->on_set)
		return (0);
	if (prof_session_budget(rc->rc_session, "max-size",
	    (double)most->on_value, (double)bytes, is_full ? "stopped" :
	    "none") == -1)
		return (msg_prof("record",
		    prof_session_error(rc->rc_session)));
	if (!is_full)
		return (0);
	term_status_erase(&rc->rc_term);
	msg_warning("record", "stopped: %s has reached --max-size",
	    prof_session_output(rc->rc_session));
	return (1);
}

/* Where one is reached, the recording ends as after --duration. */
static int
limits_look(struct recording *rc)
{
	const struct prof_status *ps = &rc->rc_status;
	int rv;

	if (rc->rc_is_full)
		return (0);
	rv = size_look(rc);
	if (rv == 0)
		rv = record_memory_look(&rc->rc_memory, rc->rc_session,
		    rc->rc_dumping->rd_on != 0 ? ps->ps_file_bytes :
		    ps->ps_held_bytes);
	if (rv == 1) {
		rc->rc_is_full = true;
		rc->rc_ending.en_end_ns = term_now_ns();
	}
	return (rv == -1 ? -1 : 0);
}

static bool
is_at_end(struct recording *rc)
{
	const pid_t command = rc->rc_status.ps_command_pid;
	const bool is_done = rc->rc_status.ps_command_done;

	return (ending_by_signal(&rc->rc_ending, command, is_done) ||
	    ending_by_time(&rc->rc_ending, command, is_done));
}

/* What is next: the end of --delay, a dump, another file; 0: nothing is. */
static uint64_t
due_ns(const struct recording *rc)
{
	const uint64_t due[] = { rc->rc_resume_ns,
	    record_dumping_due_ns(rc->rc_dumping), rc->rc_rotating->rr_due_ns };
	uint64_t next = 0;

	for (size_t n = 0; n < sizeof(due) / sizeof(due[0]); n++)
		if (due[n] != 0 && (next == 0 || due[n] < next))
			next = due[n];
	return (next);
}

/* -1 with a message printed. */
static int
resume_in_time(struct recording *rc)
{
	if (rc->rc_resume_ns == 0 || term_now_ns() < rc->rc_resume_ns)
		return (0);
	rc->rc_resume_ns = 0;
	return (prof_session_resume(rc->rc_session, "") == 0 ? 0 :
	    msg_prof("record", prof_session_error(rc->rc_session)));
}

static bool
is_awaited(const struct recording *rc)
{
	return (rc->rc_options->ro_wait_for != NULL &&
	    rc->rc_status.ps_target_pid == 0);
}

/* A program that was awaited has started: --duration begins. */
static void
target_look(struct recording *rc)
{
	const struct record_options *ro = rc->rc_options;

	if (!rc->rc_is_awaited || is_awaited(rc))
		return;
	rc->rc_is_awaited = false;
	if (ro->ro_duration.on_set)
		rc->rc_ending.en_end_ns = term_now_ns() +
		    ro->ro_duration.on_value;
	if (ro->ro_quiet)
		return;
	term_status_erase(&rc->rc_term);
	msg_note("record", "'%s' has started as process %llu", ro->ro_wait_for,
	    (unsigned long long)rc->rc_status.ps_target_pid);
}

/* What else there is to do in a round; -1 with a message printed. */
static int
round_look(struct recording *rc)
{
	struct record_dumping *rd = rc->rc_dumping;

	if (resume_in_time(rc) == -1 || record_control_look(rc->rc_options,
	    rd, rc->rc_session) == -1)
		return (-1);
	if (rd->rd_stop_id != 0 && (rc->rc_ending.en_end_ns == 0 ||
	    rc->rc_ending.en_end_ns > term_now_ns()))
		rc->rc_ending.en_end_ns = term_now_ns();
	return (record_dumping_look(rd, rc->rc_session));
}

static void
recording_run(struct recording *rc)
{
	int go_on;

	/* A signal interrupts the wait; one that just missed it waits. */
	do {
		go_on = prof_session_run(rc->rc_session,
		    ending_wait_ms(&rc->rc_ending, due_ns(rc)));
		if (go_on == -1) {
			term_status_erase(&rc->rc_term);
			msg_prof("record", prof_session_error(rc->rc_session));
		}
		if (go_on == 1 && round_look(rc) == -1)
			go_on = -1;
		prof_session_status(rc->rc_session, &rc->rc_status);
		if (go_on == 1 && record_rotating_look(rc->rc_rotating,
		    rc->rc_session, &rc->rc_status) == -1)
			go_on = -1;
		if (go_on == 1 && limits_look(rc) == -1)
			go_on = -1;
		show_notes(rc);
		target_look(rc);
		term_status_show(&rc->rc_term, &rc->rc_status);
	} while (go_on == 1 && !is_at_end(rc));
	term_status_erase(&rc->rc_term);
	rc->rc_failed = go_on == -1;
}

/* ", 3 LOST (0.2%)" */
static void
show_lost(struct out *out, const char *what, uint64_t stored, uint64_t lost)
{
	out_fmt(out, ", %llu %slost", (unsigned long long)lost, what);
	if (lost != 0)
		out_fmt(out, " (%.2g%%)", 100 * prof_lost_share(stored, lost));
}

/* ", 1.2 s, 13 kB in dtprof.dtp", or ", 1.2 s, 3 dumps, 1 failed" */
static void
show_written(struct out *out, const struct recording *rc)
{
	const struct prof_status *ps = &rc->rc_status;
	const uint64_t failed = rc->rc_dumping->rd_failed;
	const uint64_t dumps = rc->rc_dumping->rd_shown - failed;
	struct stat st;
	char bytes[32];

	out_fmt(out, ", %.1f s, ", ps->ps_elapsed_s);
	if (rc->rc_dumping->rd_on != 0) {
		out_fmt(out, "%llu dump%s", (unsigned long long)dumps,
		    dumps == 1 ? "" : "s");
		if (failed > 0)
			out_fmt(out, ", %llu failed",
			    (unsigned long long)failed);
		out_str(out, "\n");
		return;
	}
	/* Now that all of it has been written. */
	if (stat(prof_session_output(rc->rc_session), &st) == -1)
		st.st_size = (off_t)ps->ps_file_bytes;
	if (rc->rc_rotating->rr_shown > 0)
		out_fmt(out, "%llu files, the last ", (unsigned long long)
		    rc->rc_rotating->rr_shown + 1);
	term_bytes(bytes, sizeof(bytes), (uint64_t)st.st_size);
	out_str(out, bytes);
	OUT(out, " in ", prof_session_output(rc->rc_session), "\n");
}

/* What --keep-if made of the samples. */
static void
show_kept(struct out *out, const struct prof_status *ps)
{
	out_fmt(out, "%llu of %llu samples committed, %llu discarded, %llu "
	    "lost by --keep-if", (unsigned long long)ps->ps_committed,
	    (unsigned long long)ps->ps_taken,
	    (unsigned long long)ps->ps_discarded,
	    (unsigned long long)ps->ps_held_lost);
	if (ps->ps_written < ps->ps_committed)
		out_fmt(out, ", %llu not written", (unsigned long long)
		    (ps->ps_committed - ps->ps_written));
}

static void
show_summary(struct recording *rc)
{
	const struct prof_status *ps = &rc->rc_status;
	struct out out;

	if (rc->rc_options->ro_quiet)
		return;
	out_init(&out, STDERR_FILENO);
	out_str(&out, "dtprof: record: ");
	if (rc->rc_options->ro_keep_if != NULL)
		show_kept(&out, ps);
	else if (rc->rc_dumping->rd_on == 0 && ps->ps_written < ps->ps_samples)
		out_fmt(&out, "%llu of %llu samples written, %llu not written",
		    (unsigned long long)ps->ps_written,
		    (unsigned long long)ps->ps_samples,
		    (unsigned long long)(ps->ps_samples - ps->ps_written));
	else
		out_fmt(&out, "%llu sample%s",
		    (unsigned long long)ps->ps_samples,
		    ps->ps_samples == 1 ? "" : "s");
	show_lost(&out, "", ps->ps_samples, ps->ps_lost);
	if (ps->ps_side_lost != 0)
		show_lost(&out, "mapping and process events ",
		    ps->ps_side_stored, ps->ps_side_lost);
	show_written(&out, rc);
	if (ps->ps_lost != 0)
		out_str(&out, "dtprof: hint: dtprof report --stats says why "
		    "samples were lost; a larger --buffer or a lower rate "
		    "helps\n");
	else if (ps->ps_side_lost != 0)
		out_str(&out, "dtprof: hint: addresses may be unresolved or "
		    "stacks truncated; record again, with -p or a command "
		    "rather than -a\n");
	out_flush(&out);
}

/* What --max-overhead measured; interrupts themselves come on top. */
static void
show_cost(const struct recording *rc)
{
	const struct prof_status *ps = &rc->rc_status;
	const double all = ps->ps_elapsed_s * ps->ps_cpus / 100;
	struct out out;

	if (rc->rc_options->ro_quiet || !rc->rc_options->ro_overhead.on_set ||
	    all <= 0)
		return;
	out_init(&out, STDERR_FILENO);
	out_fmt(&out, "dtprof: record: overhead %.2f%% of %d CPU%s: recorder "
	    "%.2f%%, BPF programs ", (ps->ps_recorder_s +
	    (ps->ps_programs_s > 0 ? ps->ps_programs_s : 0)) / all,
	    ps->ps_cpus,
	    ps->ps_cpus == 1 ? "" : "s", ps->ps_recorder_s / all);
	if (ps->ps_programs_s < 0)
		out_str(&out, "unknown");
	else
		out_fmt(&out, "%.2f%%", ps->ps_programs_s / all);
	if (ps->ps_slower > 1)
		out_fmt(&out, "; the lowest rate was 1/%llu of the requested "
		    "rate",
		    (unsigned long long)ps->ps_slower);
	out_char(&out, '\n');
	out_flush(&out);
}

/* More than --max-loss allows, which is in thousandths of a percent? */
static bool
is_too_much(const struct recording *rc, const char *what, const char *cure,
    uint64_t stored, uint64_t lost)
{
	const struct opt_number *most = &rc->rc_options->ro_max_loss;

	if (!most->on_set || prof_lost_share(stored, lost) * 100000 <=
	    (double)most->on_value)
		return (false);
	msg_fail("record", cure, "%llu of %llu %s lost: more than --max-loss "
	    "allows", (unsigned long long)lost,
	    (unsigned long long)(stored + lost), what);
	return (true);
}

static int
exit_status(const struct recording *rc)
{
	const struct prof_status *ps = &rc->rc_status;
	const int status = rc->rc_failed ? EXIT_DTPROF :
	    session_status("record", &rc->rc_status, &rc->rc_ending);

	if (status == 0 && (is_too_much(rc, "samples", "record fewer samples, "
	    "or use a larger --buffer", ps->ps_samples, ps->ps_lost) ||
	    is_too_much(rc, "mapping and process events", "record again, "
	    "with -p or a command rather than -a", ps->ps_side_stored,
	    ps->ps_side_lost)))
		return (EXIT_LOSS);
	return (status);
}

static void
show_plan(const struct recording *rc, const struct prof_options *po,
    const struct record_events *events)
{
	const struct record_dumping *rd = rc->rc_dumping;

	for (size_t n = 0; n < events->re_events.os_n; n++)
		msg_note("record", "event %s", events->re_events.os_text[n]);
	if (events->re_off_cpu != NULL)
		msg_note("record", "event %s", events->re_off_cpu);
	if (events->re_wall != NULL)
		msg_note("record", "event %s", events->re_wall);
	for (size_t n = 0; n < events->re_spans.os_n; n++)
		msg_note("record", "span %s", events->re_spans.os_text[n]);
	for (size_t n = 0; n < events->re_with.os_n; n++)
		msg_note("record", "with %s", events->re_with.os_text[n]);
	if (events->re_events.os_n == 0)
		msg_note("record", "event %s, or %s if there is no hardware "
		    "cycle counter", DEFAULT_EVENT, OTHER_EVENT);
	if (po->po_frequency_hz != 0)
		msg_note("record", "%llu samples per second on each CPU",
		    (unsigned long long)po->po_frequency_hz);
	msg_note("record", "writing %s", rd->rd_on != 0 ? rd->rd_pattern :
	    rc->rc_rotating->rr_is_on ? rc->rc_rotating->rr_pattern :
	    rc->rc_options->ro_output);
}

/* 0, or the exit status, with a message printed. */
static int
recording_begin(struct recording *rc, const struct prof_options *po,
    const struct record_events *events, struct record_push *push)
{
	const struct record_options *ro = rc->rc_options;
	struct prof_err error = { 0 };
	const struct prof_err *why;

	rc->rc_session = events->re_events.os_n > 0 ?
	    set_up(po, events, &error) :
	    set_up_default(po, events, &error);
	if (rc->rc_session == NULL) {
		msg_prof("record", &error);
		return (ending_status(&error));
	}
	if ((why = record_triggers_error(events->re_triggers)) != NULL) {
		msg_prof("record", why);
		return (EXIT_DTPROF);
	}
	show_notes(rc);
	if (ro->ro_push != NULL)
		record_push_begin(push, ro,
		    prof_session_output(rc->rc_session));
	if (prof_session_start(rc->rc_session) == -1) {
		msg_prof("record", prof_session_error(rc->rc_session));
		return (ending_status(prof_session_error(rc->rc_session)));
	}
	prof_session_serve(rc->rc_session);
	record_ready();
	prof_session_confine(rc->rc_session);
	prof_session_status(rc->rc_session, &rc->rc_status);
	rc->rc_is_awaited = ro->ro_wait_for != NULL;
	if (rc->rc_is_awaited && !ro->ro_quiet)
		msg_note("record", "waiting for '%s' to start (Ctrl-C to stop "
		    "waiting)", ro->ro_wait_for);
	if (ro->ro_duration.on_set && !rc->rc_is_awaited)
		rc->rc_ending.en_end_ns = term_now_ns() +
		    ro->ro_duration.on_value;
	if (ro->ro_delay.on_set)
		rc->rc_resume_ns = term_now_ns() +
		    ro->ro_delay.on_value * 1000000;
	return (0);
}

/* Stop, and say what came of it; the exit status. */
static int
recording_end(struct recording *rc, bool is_verified)
{
	struct record_dumping *rd = rc->rc_dumping;
	int status;

	if (!rc->rc_failed && !is_awaited(rc) &&
	    record_dumping_end(rd, rc->rc_session) == -1)
		rc->rc_failed = true;
	if (prof_session_stop(rc->rc_session) == -1 && !rc->rc_failed) {
		msg_prof("record", prof_session_error(rc->rc_session));
		rc->rc_failed = true;
	}
	prof_session_status(rc->rc_session, &rc->rc_status);
	show_notes(rc);
	if (record_rotating_show(rc->rc_rotating, rc->rc_session) == -1)
		rc->rc_failed = true;
	record_dumping_show(rd, rc->rc_session);
	record_control_end(rd, rc->rc_session, !rc->rc_failed);
	if (is_awaited(rc)) {
		msg_fail("record", "NAME is the last part of the path that is "
		    "executed", "'%s' did not start: nothing was recorded, and "
		    "no file was written", rc->rc_options->ro_wait_for);
		return (EXIT_DTPROF);
	}
	target_look(rc);
	show_summary(rc);
	show_cost(rc);
	if (is_verified)
		record_show_verified(rc->rc_session);
	status = exit_status(rc);
	return (status == 0 && (rd->rd_failed > 0 ||
	    rc->rc_rotating->rr_failed) ? EXIT_DTPROF : status);
}

int
record_run(const struct record_options *ro, const struct prof_options *po,
    const struct record_events *events, struct record_dumping *dumping,
    struct record_rotating *rotating)
{
	struct recording rc = { .rc_options = ro, .rc_dumping = dumping,
	    .rc_rotating = rotating,
	    .rc_memory = { .rm_limit = ro->ro_max_memory.on_value,
	    .rm_keeps = dumping->rd_on != 0 || ro->ro_keep_if != NULL,
	    .rm_most = UINT64_MAX } };
	struct record_push push = { 0, -1 };
	int status;

	if (ro->ro_verbose)
		show_plan(&rc, po, events);
	if (signals_open() == -1) {
		msg_fail("record", "close some files",
		    "cannot create a pipe: %s", strerror(errno));
		return (EXIT_DTPROF);
	}
	status = recording_begin(&rc, po, events, &push);
	if (status == 0) {
		term_status_init(&rc.rc_term, !ro->ro_quiet);
		recording_run(&rc);
		status = recording_end(&rc, po->po_verify);
	}
	prof_session_close(rc.rc_session);
	record_push_end(&push, ro->ro_output);
	signals_close();
	return (status);
}
