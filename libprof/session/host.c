/* SPDX-License-Identifier: ISC */
/*
 * What a session does with a record: for whom it is of interest, and whether
 * it is one of ours at all.  And what back ends see of the session: they hand
 * records over in order of time, which is checked, and ask before and after
 * they finish a user stack.
 *
 * Called by back ends through the plan's host, by arm.c with what exists
 * already, and by session.c with marks.
 */
#include "base/error.h"
#include "session_impl.h"

/* Of mappings only those of the targets, where others come, too. */
static bool
is_ours(const struct prof_session *session, const struct prof_record *record)
{
	return (record->pr_type != PROF_R_MMAP ||
	    record->pr_pid == UINT32_MAX || !session->se_plan.pn_hears_others ||
	    prof_pidset_has(&session->se_pids, record->pr_pid));
}

/* Whose mappings are wanted; -1: no memory. */
static int
pid_follow(struct prof_session *session, const struct prof_record *record)
{
	if (!session->se_plan.pn_hears_others)
		return (0);
	if (record->pr_type == PROF_R_FORK)
		return (prof_pidset_add(&session->se_pids, record->pr_pid));
	if (record->pr_type == PROF_R_EXIT && record->pr_group_dead)
		prof_pidset_remove(&session->se_pids, record->pr_pid);
	return (0);
}

/*
 * In a PID namespace all processes outside of it are number 0: what one has
 * mapped says nothing about the others.
 */
static bool
is_outside(const struct prof_session *session,
    const struct prof_record *record)
{
	if (!session->se_in_namespace || record->pr_pid != 0)
		return (false);
	switch (record->pr_type) {
	case PROF_R_MMAP:
	case PROF_R_FORK:
	case PROF_R_EXEC:
	case PROF_R_EXIT:
	case PROF_R_COMM:
		return (true);
	default:
		return (false);
	}
}

/* Processes live on while the rings are read to their end. */
static bool
is_late(const struct prof_session *session, const struct prof_record *record)
{
	return (session->se_state == PROF_STOPPED &&
	    record->pr_type != PROF_R_MARK &&
	    record->pr_time_ns > session->se_plan.pn_clock.ck_stop_ns);
}

uint64_t
prof_frames_number(const uint64_t *frames, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 1; i < n; i++)
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ULL;
	return (n < 2 ? 0 : hash | 1);
}

static int
take_hits(struct prof_session *session, const struct prof_record *record)
{
	uint64_t kernel, user;

	if (session->se_writer == NULL && !prof_session_names_now(session))
		return (0);
	if (record->pr_type != PROF_R_SAMPLE)
		return (prof_noted_event(session->se_noted, record) == -1 ||
		    prof_codes_life(session->se_plan.pn_codes, record) == -1 ?
		    prof_fail_nomem(&session->se_error) : 0);
	/* The writer may have it later. */
	if (session->se_writer != NULL && session->se_stack_filter == NULL &&
	    session->se_speculation == NULL) {
		prof_writer_stacks(session->se_writer, &kernel, &user);
	} else {
		kernel = prof_frames_number(record->pr_kernel,
		    record->pr_nkernel);
		user = prof_frames_number(record->pr_user, record->pr_nuser);
	}
	prof_noted_sample(session->se_noted, record, kernel, user);
	return (0);
}

int
prof_session_sink_failed(struct prof_session *session)
{
	const struct prof_err *error = session->se_writer == NULL ? NULL :
	    prof_writer_error(session->se_writer);

	if (error != NULL && error->pe_code == PROF_OK)
		/* Then it was the listener. */
		return (prof_fail_nomem(&session->se_error));
	if (error != NULL)
		session->se_error = *error;
	else if (session->se_error.pe_code == PROF_OK)
		prof_fail(&session->se_error, PROF_E_IO,
		    "output has failed");
	return (-1);
}

int
prof_session_deliver(struct prof_session *session,
    const struct prof_record *record)
{
	if (prof_sink_record(&session->se_sink, record) == 0 &&
	    prof_sink_record(&session->se_listener, record) == 0)
		return (0);
	(void)prof_session_sink_failed(session);
	/* After stop the streams are still read to their end. */
	return (session->se_state == PROF_STOPPED ? 0 : -1);
}

static int
record_pass(struct prof_session *session, const struct prof_record *record)
{
	return (session->se_stack_filter == NULL ?
	    prof_session_deliver(session, record) :
	    prof_stack_filter_put(session, record));
}

int
prof_session_take(void *arg, const struct prof_record *record)
{
	struct prof_session *session = arg;

	session->se_records++;
	if (record->pr_type == PROF_R_SAMPLE) {
		session->se_samples++;
		session->se_last_ns = record->pr_time_ns;
	} else if (is_late(session, record)) {
		return (0);
	} else if (prof_targets_observe(session, record) == -1) {
		return (-1);
	} else if (pid_follow(session, record) == -1) {
		return (prof_fail_nomem(&session->se_error));
	}
	if (record->pr_type != PROF_R_MARK)
		session->se_taken_ns = record->pr_time_ns;
	if (!is_ours(session, record) || is_outside(session, record))
		return (0);
	if (record->pr_type != PROF_R_SAMPLE && session->se_reread != NULL &&
	    prof_reread_observe(session->se_reread, record) == -1)
		return (-1);
	if (prof_merge_observe(&session->se_merge, record) == -1)
		return (-1);
	if (session->se_plan.pn_snapshots != NULL &&
	    prof_snapshots_observe(session->se_plan.pn_snapshots, record) == -1)
		return (prof_fail_nomem(&session->se_error));
	if (prof_stack_filter_know(session, record) == -1 ||
	    record_pass(session, record) == -1)
		return (-1);
	return (take_hits(session, record));
}

int
prof_session_renew(struct prof_session *session, uint32_t pid,
    uint64_t sample_ns, bool any_exec)
{
	if (prof_merge_renew(&session->se_merge, pid, sample_ns,
	    any_exec) == -1)
		return (-1);
	if ((session->se_plan.pn_snapshots != NULL && prof_snapshots_renew(
	    session->se_plan.pn_snapshots, pid, sample_ns) == -1) ||
	    prof_noted_renew(session->se_noted, pid, sample_ns) == -1 ||
	    prof_stack_filter_renew(session, pid, sample_ns) == -1)
		return (prof_fail_nomem(&session->se_error));
	return (0);
}

/* A record that is not recorded, or not as it is, for what we know. */
static int
record_know(struct prof_session *session, const struct prof_record *record)
{
	if (prof_merge_observe(&session->se_merge, record) == -1)
		return (-1);
	if ((session->se_plan.pn_snapshots != NULL && prof_snapshots_observe(
	    session->se_plan.pn_snapshots, record) == -1) ||
	    prof_noted_event(session->se_noted, record) == -1)
		return (prof_fail_nomem(&session->se_error));
	return (prof_stack_filter_know(session, record));
}

int
prof_session_ended(struct prof_session *session, uint32_t pid,
    uint64_t time_ns)
{
	const struct prof_record exit = { .pr_type = PROF_R_EXIT,
	    .pr_pid = pid, .pr_tid = pid, .pr_time_ns = time_ns,
	    .pr_group_dead = true };

	if (prof_reread_observe(session->se_reread, &exit) == -1 ||
	    record_know(session, &exit) == -1)
		return (-1);
	return (prof_codes_life(session->se_plan.pn_codes, &exit) == -1 ?
	    prof_fail_nomem(&session->se_error) : 0);
}

/*
 * In the recording it is true from when it was read.  What samples met is
 * looked up here with what is known now, and in order of time: for the sample
 * that it was read for it is true already.
 */
int
prof_session_take_read(struct prof_session *session,
    const struct prof_record *record, uint64_t sample_ns)
{
	const uint64_t stop_ns = session->se_plan.pn_clock.ck_stop_ns;
	struct prof_record early = *record, late = *record;

	early.pr_time_ns = sample_ns;
	early.pr_is_ahead = sample_ns > session->se_taken_ns;
	/* The stop is the last record, also of mappings read after it. */
	if (session->se_state == PROF_STOPPED && late.pr_time_ns > stop_ns)
		late.pr_time_ns = stop_ns;
	return (record_know(session, &early) == -1 ? -1 :
	    record_pass(session, &late));
}

/* ---------------------------------------------------------- back ends */

static int
host_take(void *arg, const struct prof_record *record)
{
	struct prof_session *session = arg;

	return (prof_merge_check(&session->se_merge, record,
	    &session->se_error) == -1 ? -1 : prof_session_take(arg, record));
}

/* The stack of a sample is finished next: are its mappings to be read? */
static int
host_before(void *arg, const struct prof_record *sample)
{
	struct prof_session *session = arg;

	return (prof_reread_is_due(session->se_reread, sample) ?
	    prof_reread_now(session->se_reread, sample->pr_pid,
	    sample->pr_time_ns) : 0);
}

static int
host_after(void *arg, const struct prof_record *sample)
{
	struct prof_session *session = arg;

	if (!prof_reread_is_unknown(session->se_reread, sample))
		return (0);
	return (prof_reread_now(session->se_reread, sample->pr_pid,
	    sample->pr_time_ns) == -1 ? -1 : 1);
}

static int
host_info(void *arg, const char *key, const char *value)
{
	return (prof_describe_say(arg, key, value));
}

static int
host_note(void *arg, const char *text)
{
	return (prof_session_add_note(arg, "%s", text));
}

const struct prof_host prof_session_host = {
	.ho_take = host_take,
	.ho_tell = prof_session_take,
	.ho_before = host_before,
	.ho_after = host_after,
	.ho_info = host_info,
	.ho_note = host_note,
};
