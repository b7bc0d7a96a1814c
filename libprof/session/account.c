/* SPDX-License-Identifier: ISC */
/*
 * The accounting of a session: what its back ends know, one row per CPU and
 * event.
 *
 * Called by session.c each second and at the end.  What is written is not
 * summed over CPUs; the reader does that.
 */
#include <stdlib.h>
#include <string.h>

#include "recording/accounting.h"
#include "session_impl.h"

/*
 * The rows of a CPU, or (-1) of none, out of all back ends.  1: they are worth
 * keeping, 0: nothing is known, -1: failed.
 */
static int
rows_fill(const struct prof_session *session, int cpu,
    struct prof_accounting *rows)
{
	const struct prof_merge *merge = &session->se_merge;
	int rv = 0, got;

	memset(rows, 0, session->se_events.el_n * sizeof(*rows));
	for (size_t n = 0; n < merge->mg_n; n++) {
		got = merge->mg_source[n].so_backend->bk_account(
		    merge->mg_source[n].so_state, cpu, rows);
		if (got == -1 || rv == 0)
			rv = got;
	}
	if (rv == 1) {
		prof_stack_filter_account(session, cpu, rows);
		prof_speculate_account(session, cpu, rows);
	}
	return (rv);
}

int
prof_account_event(const struct prof_session *session, size_t event,
    struct prof_accounting *sum)
{
	struct prof_accounting *rows = calloc(session->se_events.el_n,
	    sizeof(*rows));

	if (rows == NULL)
		return (-1);
	memset(sum, 0, sizeof(*sum));
	for (size_t n = 0; n < session->se_plan.pn_nonline; n++)
		if (rows_fill(session, session->se_plan.pn_online[n],
		    rows) == 1)
			prof_accounting_add(sum, &rows[event]);
	if (rows_fill(session, -1, rows) == 1)
		prof_accounting_add(sum, &rows[event]);
	free(rows);
	return (0);
}

/* As if what was stored and not read had not fired yet. */
static void
leave_out_unread(struct prof_accounting *rows, size_t nevents)
{
	uint64_t unread;

	for (size_t e = 1; e < nevents; e++) {
		unread = rows[e].pa_stored - rows[e].pa_read;
		rows[e].pa_stored -= unread;
		rows[e].pa_fired -= unread;
	}
}

static int
account_cpu(struct prof_session *session, int cpu, bool is_of_dump,
    struct prof_accounting *rows)
{
	const size_t nevents = session->se_events.el_n;
	const int known = rows_fill(session, cpu, rows);

	if (is_of_dump && known == 1)
		leave_out_unread(rows, nevents);
	if (known != 1)
		return (known);
	return (prof_writer_accounting(session->se_writer, cpu, rows,
	    nevents));
}

/* A writer that failed still takes the last accounting: all of it. */
static int
account_write(struct prof_session *session, bool is_of_dump)
{
	struct prof_accounting *rows = calloc(session->se_events.el_n,
	    sizeof(*rows));
	int rv = 0;

	if (session->se_writer == NULL) {
		free(rows);
		return (0);
	}
	if (rows == NULL)
		return (prof_fail_nomem(&session->se_error));
	for (size_t n = 0; n < session->se_plan.pn_nonline; n++)
		if (account_cpu(session, session->se_plan.pn_online[n],
		    is_of_dump, rows) == -1)
			rv = -1;
	if (account_cpu(session, -1, is_of_dump, rows) == -1)
		rv = -1;
	free(rows);
	return (rv);
}

int
prof_account_write(struct prof_session *session)
{
	return (account_write(session, false));
}

int
prof_account_dump(struct prof_session *session)
{
	return (account_write(session, true));
}

/* ------------------------------------------------------------ summary */

uint64_t
prof_account_lost(const struct prof_session *session)
{
	const struct prof_merge *merge = &session->se_merge;
	uint64_t sum = 0;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_lost != NULL)
			sum += merge->mg_source[n].so_backend->bk_lost(
			    merge->mg_source[n].so_state);
	return (sum);
}

void
prof_account_side(const struct prof_session *session, bool is_last,
    struct prof_side *side)
{
	const struct prof_merge *merge = &session->se_merge;

	memset(side, 0, sizeof(*side));
	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_side != NULL)
			merge->mg_source[n].so_backend->bk_side(
			    merge->mg_source[n].so_state, is_last, side);
}

int
prof_session_status_sized(struct prof_session *session,
    struct prof_status *status, size_t size)
{
	struct prof_status now = { 0 };
	struct prof_side side;

	prof_account_side(session, false, &side);
	now.ps_side_stored = side.sd_read;
	now.ps_side_lost = side.sd_lost;
	now.ps_elapsed_s =
	    (double)(prof_clock_ran_ns(&session->se_plan.pn_clock) -
	    session->se_waited_ns) / 1e9;
	now.ps_is_paused = session->se_state == PROF_PAUSED;
	now.ps_samples = session->se_samples;
	now.ps_written = session->se_written;
	now.ps_lost = session->se_lost;
	now.ps_file_bytes = session->se_file_bytes;
	if (session->se_state == PROF_RECORDING ||
	    session->se_state == PROF_PAUSED) {
		now.ps_lost = prof_account_lost(session);
		now.ps_file_bytes = session->se_writer == NULL ? 0 :
		    prof_writer_bytes(session->se_writer);
	}
	now.ps_recorder_s = (double)session->se_overhead.ov_recorder_ns /
	    1e9;
	now.ps_programs_s = session->se_overhead.ov_was_measured ?
	    (double)session->se_overhead.ov_programs_ns / 1e9 : -1;
	now.ps_cpus = (int)session->se_plan.pn_nonline;
	now.ps_slower = session->se_overhead.ov_slowest;
	now.ps_slower_now = session->se_overhead.ov_slower;
	now.ps_targets_left = prof_targets_left(session);
	now.ps_target_pid = session->se_target_pid;
	now.ps_command_pid = session->se_command.cm_pid;
	now.ps_command_done = session->se_command.cm_done;
	now.ps_command_status = session->se_command.cm_status;
	prof_speculate_status(session, &now);
	prof_struct_give(status, size, &now, sizeof(now));
	return (0);
}
