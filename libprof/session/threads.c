/* SPDX-License-Identifier: ISC */
/*
 * Sessions that look at threads: see threads.h.  Called by the command
 * stacks.
 */
#include "session_impl.h"
#include "threads.h"

int
prof_session_add_threads(struct prof_session *session)
{
	struct prof_event *event;

	if (session->se_state != PROF_INIT)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "already armed"));
	event = prof_event_threads();
	if (event == NULL || prof_events_add(&session->se_events, event) ==
	    -1)
		return (prof_fail_nomem(&session->se_error));
	event->ev_id = (uint32_t)session->se_events.el_n - 1;
	session->se_options.po_backend = PROF_BACKEND_BPF;
	return (0);
}

int
prof_session_look(struct prof_session *session)
{
	return (session->se_state != PROF_RECORDING ? prof_fail(
	    &session->se_error, PROF_E_BUSY, "not recording") :
	    prof_merge_step(&session->se_merge, PROF_STEP_LOOK));
}
