/* SPDX-License-Identifier: ISC */
/*
 * Events that come and go while a session records.  One more is resolved as
 * those before arm are, attached by the back end that samples, and described
 * in the recording; one that is detached stays, with its samples and its
 * accounting.
 *
 * Called by the user of a session, in the thread that runs it: what fires
 * meanwhile waits in the buffers.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session_impl.h"

static const struct prof_source *
attach_source(struct prof_session *session, const char *text)
{
	const struct prof_merge *merge = &session->se_merge;

	if (session->se_state != PROF_RECORDING &&
	    session->se_state != PROF_PAUSED) {
		prof_fail(&session->se_error, PROF_E_BUSY, "%s: events can be "
		    "attached and detached only while recording", text);
		return (NULL);
	}
	if (session->se_speculation != NULL) {
		prof_fail(&session->se_error, PROF_E_USAGE, "%s: no event can "
		    "be attached or detached with po_keep_if", text);
		return (NULL);
	}
	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_attach != NULL)
			return (&merge->mg_source[n]);
	prof_fail(&session->se_error, PROF_E_PERMISSION, "%s: back end %s "
	    "cannot attach events while recording", text,
	    session->se_backend->bk_name);
	return (NULL);
}

/* How many of the new events are in the recording, attached or not. */
static size_t
attach_from(struct prof_session *session, const struct prof_source *source,
    size_t from, int *rv)
{
	*rv = 0;
	for (; *rv == 0 && from < session->se_events.el_n; from++) {
		struct prof_event *event = session->se_events.el_event[from];

		*rv = source->so_backend->bk_attach(source->so_state, event);
		if (*rv == -1)
			break;
		if (prof_session_tell_event(session, event) == -1) {
			(void)prof_session_sink_failed(session);
			*rv = 1;
		}
	}
	return (from);
}

static int
check_room(struct prof_session *session, const struct prof_source *source,
    const char *spec, size_t n)
{
	const size_t room = source->so_backend->bk_room(source->so_state);

	if (n <= room)
		return (0);
	return (prof_fail(&session->se_error, PROF_E_LIMIT, "%s: %zu events, "
	    "but only %zu more can be attached to this recording", spec, n,
	    room));
}

/* Those of one name come together or not at all. */
int
prof_session_attach(struct prof_session *session, const char *spec)
{
	const struct prof_source *source = attach_source(session, spec);
	const size_t before = session->se_events.el_n;
	struct prof_err why;
	size_t upto;
	int rv;

	if (source == NULL || prof_session_resolve(session, spec) == -1)
		return (-1);
	if (check_room(session, source, spec, session->se_events.el_n -
	    before) == -1 || prof_session_filters(session, before) == -1)
		return (prof_session_forget(session, before));
	prof_session_ticking(session);
	upto = attach_from(session, source, before, &rv);
	if (rv == 0)
		return (0);
	why = session->se_error;
	(void)prof_session_forget(session, upto);
	while (upto-- > before)
		(void)source->so_backend->bk_detach(source->so_state,
		    session->se_events.el_event[upto]);
	session->se_error = why;
	return (-1);
}

int
prof_session_drop(struct prof_session *session,
    const struct prof_source *source, struct prof_event *event)
{
	/* Before it is so: spans in which ends may be missing have none. */
	const uint64_t now_ns = prof_now_ns();
	char key[32], text[32];

	if (source->so_backend->bk_detach(source->so_state, event) == -1)
		return (-1);
	event->ev_is_detached = true;
	snprintf(key, sizeof(key), "detached.%u", event->ev_id);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)now_ns);
	return (prof_describe_say(session, key, text));
}

int
prof_session_detach(struct prof_session *session, const char *name)
{
	const struct prof_source *source = attach_source(session, name);

	if (source == NULL)
		return (-1);
	for (size_t n = 1; n < session->se_events.el_n; n++) {
		struct prof_event *event = session->se_events.el_event[n];

		if (strcmp(event->ev_name, name) == 0 && !event->ev_is_value)
			return (prof_session_drop(session, source, event));
	}
	return (prof_fail(&session->se_error, PROF_E_EVENT_UNKNOWN,
	    "%s: this session has no such event", name));
}
