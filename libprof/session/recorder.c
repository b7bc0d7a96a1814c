/* SPDX-License-Identifier: ISC */
/* See recorder.h.  Called by dtprof record. */
#include "base/clock.h"
#include "recorder.h"
#include "session_impl.h"

int
prof_session_watch(struct prof_session *session,
    const struct prof_sink *listener)
{
	if (session->se_state != PROF_INIT)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "already armed"));
	session->se_listener = *listener;
	return (0);
}

void
prof_session_serve(struct prof_session *session)
{
	if (session->se_control != NULL)
		prof_control_serve(session->se_control);
}

bool
prof_session_ask(struct prof_session *session, struct prof_ask *ask)
{
	return (session->se_control != NULL &&
	    prof_control_ask(session->se_control, ask));
}

void
prof_session_answer(struct prof_session *session, uint64_t id, bool is_done,
    const char *text)
{
	if (session->se_control != NULL)
		prof_control_answer(session->se_control, id, is_done, text);
}

int
prof_session_waiting(struct prof_session *session, prof_waiting_fn *fn,
    void *arg)
{
	const struct prof_merge *merge = &session->se_merge;
	int rv = -1;

	for (size_t n = 0; n < merge->mg_n &&
	    session->se_stack_filter == NULL; n++)
		if (merge->mg_source[n].so_backend->bk_waiting != NULL &&
		    merge->mg_source[n].so_backend->bk_waiting(
		    merge->mg_source[n].so_state, fn, arg) == 0)
			rv = 0;
	return (rv);
}

struct prof_kept
prof_session_kept(const struct prof_session *session)
{
	struct prof_writer *writer = session->se_writer;
	const uint64_t first_ns = prof_writer_first_ns(writer);

	return ((struct prof_kept){
	    .kp_history_ns = first_ns == 0 ? 0 : prof_now_ns() - first_ns,
	    .kp_bytes = prof_writer_bytes(writer) });
}
