/* SPDX-License-Identifier: ISC */
/*
 * Spans of a session: NAME=BEGIN[,END][,key=ARG], parsed by spec_span.c.  BEGIN
 * and END become ordinary events.  The recording says which events are spans,
 * and spans/ pairs them when the recording is read.
 *
 * Called before arm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "events/instrument.h"
#include "events/names.h"
#include "recording/format.h"
#include "session_impl.h"

/* One that a span can begin or end at, and that has the key. */
static int
event_check(struct prof_session *session, const struct prof_event *event,
    const char *key)
{
	struct prof_err *error = &session->se_error;

	if (event->ev_is_call) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this event is "
		    "a whole call, from entry to return: it cannot begin or "
		    "end a span",
		    event->ev_name);
		return (prof_cure(error, "use %s:entry", event->ev_name));
	}
	if (event->ev_has_period || event->ev_is_value) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this event is "
		    "a counter, and only a probe can begin or end a span",
		    event->ev_name);
		return (prof_cure(error, "list tracepoints and system calls "
		    "with dtprof list"));
	}
	if (event->ev_expression != NULL) {
		prof_fail(error, PROF_E_USAGE, "%s: an event of a span cannot "
		    "have a filter: a filter could keep the begin of a span "
		    "and drop the end", event->ev_name);
		return (prof_cure(error, "filter when reading, e.g. dtprof "
		    "report --filter EXPR"));
	}
	if (key == NULL || prof_event_arg(event, key) < event->ev_nargs)
		return (0);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s has no argument '%s', "
	    "so this name cannot be the key of a span", event->ev_name, key);
	/* Arguments by number are kept where an event names them. */
	if (event->ev_nargs == 0 && strncmp(key, "arg", 3) == 0)
		return (prof_cure(error, "name the argument: %s/%s/",
		    event->ev_name, key));
	return (prof_cure(error, "list the arguments of the event with dtprof "
	    "list '%s'",
	    event->ev_probe));
}

/* Events of this name, added unless they are there already: [from, to). */
static int
events_get(struct prof_session *session, const char *spec, size_t *from,
    size_t *to)
{
	struct prof_events *events = &session->se_events;

	for (*from = 1; *from < events->el_n; ++*from)
		if (strcmp(events->el_event[*from]->ev_name, spec) == 0)
			break;
	*to = *from + 1;
	if (*from < events->el_n && session->se_grouping != NULL &&
	    !events->el_event[*from]->ev_is_of_span) {
		prof_fail(&session->se_error, PROF_E_USAGE, "%s: an event of "
		    "a span cannot be counted as well", spec);
		return (prof_cure(&session->se_error, "leave out -e %s", spec));
	}
	if (*from == events->el_n) {
		if (prof_session_resolve(session, spec) == -1)
			return (-1);
		*to = events->el_n;
		for (size_t n = *from; n < *to; n++)
			events->el_event[n]->ev_is_of_span = true;
	}
	/* Without a file nobody asks when threads ran in spans. */
	for (size_t n = *from; n < *to; n++)
		events->el_event[n]->ev_has_clock = !session->se_has_sink;
	return (0);
}

/* The numbers of the events as text: "3 4". */
static char *
numbers_text(size_t from, size_t to)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	for (size_t n = from; n < to; n++)
		fprintf(stream, n > from ? " %zu" : "%zu", n);
	return (fclose(stream) == 0 ? text : NULL);
}

/* Nobody has written the name of the default: say which it is. */
static int
end_explain(struct prof_session *session, const struct prof_spec_span *text,
    const char *end)
{
	const struct prof_err why = session->se_error;

	if (text->sn_end != NULL)
		return (-1);
	prof_fail(&session->se_error, why.pe_code, "span '%s' has no END, and "
	    "the default END '%.150s' does not work: %.200s", text->sn_name,
	    end, why.pe_text);
	return (prof_cure(&session->se_error, "name an END: %s=%s,END",
	    text->sn_name, text->sn_begin));
}

static int
span_set(struct prof_session *session, const struct prof_spec_span *text,
    const char *end, struct prof_session_span *span)
{
	size_t from, to, at, until;

	if (events_get(session, text->sn_begin, &from, &to) == -1)
		return (-1);
	if (events_get(session, end, &at, &until) == -1)
		return (end_explain(session, text, end));
	if (from == at)
		return (prof_spec_span_refuse(&session->se_error, text->sn_name,
		    "BEGIN and END are the same event"));
	span->ss_is_shared = true;
	for (size_t n = from; n < until; n = n + 1 == to ? at : n + 1) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (event_check(session, event, text->sn_key) == -1)
			return (-1);
		/* Those fire wherever the kernel happens to be. */
		if (event->ev_tracepoint == NULL ||
		    event->ev_instrument->im_is_in_task)
			span->ss_is_shared = false;
	}
	span->ss_name = strdup(text->sn_name);
	span->ss_key = text->sn_key == NULL ? NULL : strdup(text->sn_key);
	span->ss_begin = numbers_text(from, to);
	span->ss_end = numbers_text(at, until);
	return (span->ss_name == NULL || span->ss_begin == NULL ||
	    span->ss_end == NULL || (text->sn_key != NULL &&
	    span->ss_key == NULL) ? prof_fail_nomem(&session->se_error) : 0);
}

static int
span_add(struct prof_session *session, const char *spec,
    const struct prof_spec_span *text)
{
	struct prof_session_span *span;
	char *end = text->sn_end == NULL ?
	    prof_spec_span_return(text->sn_begin) : strdup(text->sn_end);
	int rv;

	if (end == NULL)
		return (prof_spec_span_refuse(&session->se_error, spec,
		    "END is missing, and BEGIN is not the entry of a function "
		    "or system call"));
	for (size_t n = 0; n < session->se_nspans; n++)
		if (strcmp(session->se_spans[n].ss_name, text->sn_name) == 0) {
			free(end);
			return (prof_spec_span_refuse(&session->se_error, spec,
			    "another span has this name"));
		}
	if (session->se_nspans == PROF_MAX_SPANS) {
		free(end);
		prof_fail(&session->se_error, PROF_E_USAGE, "span '%s': a "
		    "recording has at most %u span names", text->sn_name,
		    PROF_MAX_SPANS);
		return (prof_cure(&session->se_error,
		    "use a pattern as BEGIN to start spans of one name at "
		    "several events"));
	}
	span = prof_append(&session->se_spans, &session->se_nspans,
	    sizeof(*span));
	rv = span == NULL ? prof_fail_nomem(&session->se_error) :
	    span_set(session, text, end, span);
	free(end);
	if (rv == -1 && span != NULL)
		prof_span_free(&session->se_spans[--session->se_nspans]);
	return (rv);
}

int
prof_session_add_span(struct prof_session *session, const char *spec)
{
	const size_t before = session->se_events.el_n;
	struct prof_spec_span text;
	int rv;

	if (session->se_state != PROF_INIT || session->se_plan.pn_nvalues > 0)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "%s: spans must be added before any counter, and "
		    "before the session is armed", spec));
	if (session->se_options.po_filter != NULL ||
	    session->se_options.po_comm != NULL) {
		prof_fail(&session->se_error, PROF_E_USAGE, "spans cannot "
		    "be recorded with a filter: a filter could keep the begin "
		    "of a span and drop the end");
		return (prof_cure(&session->se_error, "filter when reading, "
		    "e.g. dtprof report --filter EXPR"));
	}
	/* Who has no file pairs them while records come. */
	session->se_plan.pn_tells_losses = session->se_has_sink ||
	    session->se_listener.sk_lost != NULL;
	rv = prof_spec_span_parse(&text, spec, &session->se_error) == -1 ? -1 :
	    span_add(session, spec, &text);
	prof_spec_span_fini(&text);
	return (rv == -1 ? prof_session_forget(session, before) : 0);
}

static int
span_say(struct prof_session *session, size_t n, const char *what,
    const char *value)
{
	char key[48];

	snprintf(key, sizeof(key), "span.%zu.%s", n, what);
	return (value == NULL ? 0 : prof_describe_say(session, key, value));
}

int
prof_spans_describe(struct prof_session *session)
{
	for (size_t n = 0; n < session->se_nspans; n++) {
		const struct prof_session_span *span = &session->se_spans[n];

		if (span_say(session, n, "name", span->ss_name) == -1 ||
		    span_say(session, n, "begin", span->ss_begin) == -1 ||
		    span_say(session, n, "end", span->ss_end) == -1 ||
		    span_say(session, n, "key", span->ss_key) == -1 ||
		    span_say(session, n, "scope", span->ss_key == NULL ?
		    "thread" : span->ss_is_shared ? "machine" :
		    "process") == -1)
			return (-1);
	}
	return (0);
}

void
prof_span_free(struct prof_session_span *span)
{
	free(span->ss_name);
	free(span->ss_begin);
	free(span->ss_end);
	free(span->ss_key);
}

void
prof_spans_fini(struct prof_session *session)
{
	while (session->se_nspans > 0)
		prof_span_free(&session->se_spans[--session->se_nspans]);
	free(session->se_spans);
}
