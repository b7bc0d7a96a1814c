/* SPDX-License-Identifier: ISC */
/*
 * Spans that a session records: NAME=BEGIN[,END][,key=ARG].  BEGIN and END are
 * events like any others; that they make spans is said in the recording, and
 * spans/ pairs them when it is read.
 *
 * Called by whoever sets a session up, before arm.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "events/instrument.h"
#include "events/names.h"
#include "session_impl.h"

#define NAME_MAX_BYTES	63
#define KEY		"key="

/* A span as it is written: borrowed parts of a copy of the text. */
struct span_text {
	char		*st_copy;
	char		*st_name;
	char		*st_begin;
	char		*st_end;	/* NULL: the return of the begin */
	char		*st_key;	/* NULL: the thread */
};

static int
spec_refuse(struct prof_session *session, const char *spec, const char *why)
{
	prof_fail(&session->se_error, PROF_E_EVENT_SYNTAX, "span '%s': %s",
	    spec, why);
	return (prof_cure(&session->se_error, "use NAME=BEGIN,END or "
	    "NAME=BEGIN,END,key=ARGUMENT, e.g. read=syscall:read:entry,"
	    "syscall:read:return"));
}

static bool
is_name(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return (false);
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && strchr("_-.", *name) ==
		    NULL)
			return (false);
	return (true);
}

/* Behind the file of a probe in a program, whose slashes are no settings. */
static char *
file_skip(char *part)
{
	static const char *const providers[] = { "uprobe:", "uretprobe:",
	    "usdt:", "u:", "ur:", "U:" };

	for (size_t n = 0; n < sizeof(providers) / sizeof(providers[0]); n++) {
		if (strncmp(part, providers[n], strlen(providers[n])) != 0)
			continue;
		part += strlen(providers[n]);
		if (*part == '"')
			part += 1 + strcspn(part + 1, "\"");
		return (part + strcspn(part, ":"));
	}
	return (part);
}

/*
 * Up to a comma outside of quotes, brackets and settings, which is cut off; or
 * NULL.
 */
static char *
part_next(char **at)
{
	char *begin = *at, *end;
	bool is_quoted = false, is_setting = false;
	int depth = 0;

	if (begin == NULL)
		return (NULL);
	for (end = file_skip(begin); *end != '\0'; end++) {
		if (*end == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && *end == '/')
			is_setting = !is_setting;
		else if (!is_quoted && strchr("([{", *end) != NULL)
			depth++;
		else if (!is_quoted && strchr(")]}", *end) != NULL)
			depth--;
		else if (*end == ',' && !is_quoted && !is_setting &&
		    depth <= 0)
			break;
	}
	*at = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return (begin);
}

static int
spec_parse(struct prof_session *session, const char *spec,
    struct span_text *text)
{
	char *part, *rest;

	if ((text->st_copy = strdup(spec)) == NULL)
		return (prof_fail_nomem(&session->se_error));
	text->st_name = text->st_copy;
	if ((rest = strchr(text->st_copy, '=')) == NULL)
		return (spec_refuse(session, spec, "'=' is missing"));
	*rest++ = '\0';
	if (!is_name(text->st_name) || strlen(text->st_name) >
	    NAME_MAX_BYTES)
		return (spec_refuse(session, spec, "a name is a letter, then "
		    "letters, digits, '_', '-' and '.', at most 63 in all"));
	text->st_begin = part_next(&rest);
	while ((part = part_next(&rest)) != NULL) {
		if (strncmp(part, KEY, strlen(KEY)) == 0 &&
		    text->st_key == NULL)
			text->st_key = part + strlen(KEY);
		else if (text->st_end == NULL && text->st_key == NULL)
			text->st_end = part;
		else
			return (spec_refuse(session, spec, "too many parts"));
	}
	if (text->st_begin[0] == '\0' ||
	    (text->st_end != NULL && text->st_end[0] == '\0') ||
	    (text->st_key != NULL && text->st_key[0] == '\0'))
		return (spec_refuse(session, spec, "a part is empty"));
	return (0);
}

/* The name of the return of a function or system call; NULL: it has none. */
static char *
return_of(const char *begin)
{
	static const char *const returns[][2] = {
		{ "uprobe:", "uretprobe:" }, { "kprobe:", "kretprobe:" },
		{ "fentry:", "fexit:" },
		{ "syscalls:sys_enter_", "syscalls:sys_exit_" },
	};
	static const char call[] = "syscall:", entry[] = ":entry";
	const size_t length = strcspn(begin, "{");
	char *text;

	for (size_t n = 0; n < sizeof(returns) / sizeof(returns[0]); n++) {
		const size_t skip = strlen(returns[n][0]);

		if (strncmp(begin, returns[n][0], skip) == 0)
			return (asprintf(&text, "%s%.*s", returns[n][1],
			    (int)(length - skip), begin + skip) == -1 ? NULL :
			    text);
	}
	if (strncmp(begin, call, strlen(call)) != 0 ||
	    length <= strlen(entry) || strncmp(begin + length -
	    strlen(entry), entry, strlen(entry)) != 0)
		return (NULL);
	return (asprintf(&text, "%.*s:return", (int)(length - strlen(entry)),
	    begin) == -1 ? NULL : text);
}

/* One that a span can begin or end at, and that has the key. */
static int
event_check(struct prof_session *session, const struct prof_event *event,
    const char *key)
{
	struct prof_err *error = &session->se_error;

	if (event->ev_is_call) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: a span begins "
		    "and ends at probes, and this is a whole call",
		    event->ev_name);
		return (prof_cure(error, "use %s:entry", event->ev_name));
	}
	if (event->ev_has_period || event->ev_is_value) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: a span begins "
		    "and ends at probes, and this is a counter",
		    event->ev_name);
		return (prof_cure(error, "see dtprof list for tracepoints and "
		    "system calls"));
	}
	if (event->ev_expression != NULL) {
		prof_fail(error, PROF_E_USAGE, "%s: a filter could keep the "
		    "begin of a span and not its end", event->ev_name);
		return (prof_cure(error, "filter when reading, e.g. dtprof "
		    "report --filter EXPR"));
	}
	if (key == NULL || prof_event_arg(event, key) < event->ev_nargs)
		return (0);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s has no argument '%s' "
	    "to be the key of a span", event->ev_name, key);
	/* Arguments by number are kept where an event names them. */
	if (event->ev_nargs == 0 && strncmp(key, "arg", 3) == 0)
		return (prof_cure(error, "name it: %s/%s/",
		    event->ev_name, key));
	return (prof_cure(error, "see its arguments with dtprof list '%s'",
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
	if (*from < events->el_n)
		return (0);
	if (prof_session_resolve(session, spec) == -1)
		return (-1);
	*to = events->el_n;
	for (size_t n = *from; n < *to; n++)
		events->el_event[n]->ev_is_of_span = true;
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
end_explain(struct prof_session *session, const struct span_text *text,
    const char *end)
{
	const struct prof_err why = session->se_error;

	if (text->st_end != NULL)
		return (-1);
	prof_fail(&session->se_error, why.pe_code, "span '%s' has no END, and "
	    "its default '%.150s' cannot be had: %.200s", text->st_name, end,
	    why.pe_text);
	return (prof_cure(&session->se_error, "name an END: %s=%s,END",
	    text->st_name, text->st_begin));
}

static int
span_set(struct prof_session *session, const struct span_text *text,
    const char *end, struct prof_session_span *span)
{
	size_t from, to, at, until;

	if (events_get(session, text->st_begin, &from, &to) == -1)
		return (-1);
	if (events_get(session, end, &at, &until) == -1)
		return (end_explain(session, text, end));
	if (from == at)
		return (spec_refuse(session, text->st_name,
		    "BEGIN and END are the same event"));
	span->ss_is_shared = true;
	for (size_t n = from; n < until; n = n + 1 == to ? at : n + 1) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (event_check(session, event, text->st_key) == -1)
			return (-1);
		/* Those fire wherever the kernel happens to be. */
		if (event->ev_tracepoint == NULL ||
		    event->ev_instrument->im_is_in_task)
			span->ss_is_shared = false;
	}
	span->ss_name = strdup(text->st_name);
	span->ss_key = text->st_key == NULL ? NULL : strdup(text->st_key);
	span->ss_begin = numbers_text(from, to);
	span->ss_end = numbers_text(at, until);
	return (span->ss_name == NULL || span->ss_begin == NULL ||
	    span->ss_end == NULL || (text->st_key != NULL &&
	    span->ss_key == NULL) ? prof_fail_nomem(&session->se_error) : 0);
}

static int
span_add(struct prof_session *session, const char *spec,
    const struct span_text *text)
{
	struct prof_session_span *span;
	char *end = text->st_end == NULL ? return_of(text->st_begin) :
	    strdup(text->st_end);
	int rv;

	if (end == NULL)
		return (spec_refuse(session, spec, "END is missing, and BEGIN "
		    "is no entry of a function or system call"));
	for (size_t n = 0; n < session->se_nspans; n++)
		if (strcmp(session->se_spans[n].ss_name, text->st_name) == 0) {
			free(end);
			return (spec_refuse(session, spec,
			    "there is one of this name"));
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
	struct span_text text = { 0 };
	int rv;

	if (session->se_state != PROF_INIT || session->se_plan.pn_nvalues > 0)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "%s: spans must be added before arming, and before "
		    "counters", spec));
	if (session->se_options.po_filter != NULL ||
	    session->se_options.po_comm != NULL) {
		prof_fail(&session->se_error, PROF_E_USAGE, "a filter could "
		    "keep the begin of a span and not its end");
		return (prof_cure(&session->se_error, "filter when reading, "
		    "e.g. dtprof report --filter EXPR"));
	}
	rv = spec_parse(session, spec, &text) == -1 ? -1 :
	    span_add(session, spec, &text);
	free(text.st_copy);
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
