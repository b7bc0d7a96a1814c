/* SPDX-License-Identifier: ISC */
/*
 * Recordings one after another, of a session that goes on:
 *
 *	asked -> the writer opens the next file -> a round: everything before
 *	a time is in the one file, everything after it in the next
 *
 * Called by session.c.
 */
#include <stdlib.h>
#include <string.h>

#include "session_impl.h"

int
prof_session_rotate(struct prof_session *session, const char *path)
{
	if (session->se_writer == NULL || !session->se_options.po_rotates)
		return (prof_fail(&session->se_error, PROF_E_USAGE,
		    "the recording is one file"));
	if (session->se_state != PROF_RECORDING)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "going on in another file needs a running recording"));
	free(session->se_next);
	session->se_next = strdup(path);
	if (session->se_next == NULL)
		return (prof_fail_nomem(&session->se_error));
	return (prof_writer_next(session->se_writer, path) == -1 ?
	    prof_session_sink_failed(session) : 0);
}

const struct prof_err *
prof_session_output_error(struct prof_session *session)
{
	return (session->se_writer != NULL && prof_writer_cut(
	    session->se_writer, &session->se_cut) ? &session->se_cut : NULL);
}

void
prof_rotation_fini(struct prof_session *session)
{
	free(session->se_next);
	session->se_next = NULL;
}

/* The end of one file is the beginning of the next. */
static int
file_change(struct prof_session *session)
{
	const uint64_t now_ns = session->se_merge.mg_until_ns;
	struct prof_dump *dump;

	if (prof_writer_flush(session->se_writer) == -1 ||
	    prof_dump_mark(session, PROF_R_STOP, now_ns) == -1)
		return (prof_session_sink_failed(session));
	dump = prof_dump_new(session->se_options.po_output, "");
	if (dump == NULL)
		return (prof_fail_nomem(&session->se_error));
	dump->du_end_ns = now_ns;
	dump->du_first_ns = session->se_file_from_ns == 0 ?
	    session->se_plan.pn_clock.ck_start_ns : session->se_file_from_ns;
	session->se_file_from_ns = now_ns;
	if (prof_writer_rotate(session->se_writer, dump) == -1)
		return (prof_session_sink_failed(session));
	return (prof_dump_mark(session, PROF_R_START, now_ns));
}

int
prof_rotation_look(struct prof_session *session)
{
	if (session->se_next == NULL ||
	    !prof_writer_has_next(session->se_writer))
		return (0);
	if (prof_account_dump(session) == -1 ||
	    prof_describe_symbols(session) == -1 ||
	    prof_describe_overhead(session) == -1 ||
	    file_change(session) == -1)
		return (-1);
	free((void *)session->se_options.po_output);
	session->se_options.po_output = session->se_next;
	session->se_next = NULL;
	return (0);
}
