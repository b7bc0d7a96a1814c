/* SPDX-License-Identifier: ISC */
/*
 * Triggers of --dump-on: what they are called, and when they look.
 *
 *	crash			span NAME > TIME	off-cpu > TIME
 *	EVENT{EXPR}		rate EVENT > N/s for TIME
 *	at HH:MM[:SS]		psi [CGROUP:]RESOURCE.some > PCT for TIME
 *
 * Called by record_dump.c (options) and record.c (each round).
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "trigger.h"

#define CURE	"use SIGUSR2, exit, ctl, crash, 'span NAME > TIME', " \
    "'off-cpu > TIME', 'rate EVENT > N/s for TIME', 'psi [CGROUP:]cpu.some " \
    "> PCT for TIME', 'EVENT{EXPR}' or 'at HH:MM[:SS]'"

/* "LEFT > LIMIT [for WINDOW]", in parts that are to be freed. */
struct parts {
	char	*pt_left;
	char	*pt_limit;
	char	*pt_window;	/* "": none */
};

void
trigger_fire(struct record_triggers *triggers, uint64_t time_ns,
    const char *fmt, ...)
{
	char text[RECORD_REASON];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	record_dumping_trigger(triggers->rt_dumping, text, time_ns);
}

/* ---------------------------------------------------------------- words */

/* Without blanks at both ends; NULL: no memory. */
static char *
text_trim(const char *text, size_t length)
{
	while (length > 0 && *text == ' ') {
		text++;
		length--;
	}
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return (strndup(text, length));
}

static void
parts_free(struct parts *parts)
{
	free(parts->pt_left);
	free(parts->pt_limit);
	free(parts->pt_window);
}

/* 0, or -1 without a message: it has no limit, or no memory. */
static int
parts_split(struct parts *parts, const char *text)
{
	const char *more = strrchr(text, '>');
	const char *window = more == NULL ? NULL : strstr(more, " for ");

	memset(parts, 0, sizeof(*parts));
	if (more == NULL)
		return (-1);
	parts->pt_left = text_trim(text, (size_t)(more - text));
	more++;
	parts->pt_limit = text_trim(more, window == NULL ? strlen(more) :
	    (size_t)(window - more));
	parts->pt_window = window == NULL ? strdup("") :
	    text_trim(window + 5, strlen(window + 5));
	if (parts->pt_left != NULL && parts->pt_limit != NULL &&
	    parts->pt_window != NULL && parts->pt_limit[0] != '\0')
		return (0);
	parts_free(parts);
	return (-1);
}

static int
limit_time(struct trigger *trigger, const struct parts *parts)
{
	uint64_t ns;

	if (parts->pt_window[0] != '\0' ||
	    opt_time(parts->pt_limit, &ns) == -1)
		return (-1);
	trigger->tg_limit = (double)ns;
	return (0);
}

/* A number and its unit over a window. */
static int
limit_number(struct trigger *trigger, const struct parts *parts,
    const char *unit)
{
	char *end;

	trigger->tg_limit = strtod(parts->pt_limit, &end);
	if (end == parts->pt_limit || !isfinite(trigger->tg_limit) ||
	    trigger->tg_limit < 0 ||
	    (*end != '\0' && strcmp(end, unit) != 0) ||
	    opt_time(parts->pt_window, &trigger->tg_window.tw_ns) == -1 ||
	    trigger->tg_window.tw_ns < TRIGGER_SLOTS)
		return (-1);
	return (0);
}

/* "EVENT{EXPR}" */
static int
event_parse(struct trigger *trigger, const char *text)
{
	const char *brace = strchr(text, '{');

	trigger->tg_kind = TRIGGER_EVENT;
	trigger->tg_name = text_trim(text, (size_t)(brace - text));
	trigger->tg_expression = strndup(brace + 1, strlen(brace + 1) - 1);
	return (trigger->tg_name == NULL || trigger->tg_expression == NULL ||
	    trigger->tg_name[0] == '\0' ? -1 : 0);
}

/* "at HH:MM[:SS]" */
static int
at_parse(struct trigger *trigger, const char *text)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%H:%M", &tm);

	trigger->tg_kind = TRIGGER_AT;
	if (rest != NULL && *rest == ':')
		rest = strptime(rest, ":%S", &tm);
	if (rest == NULL || *rest != '\0' || tm.tm_sec > 59)
		return (-1);
	trigger->tg_second = (tm.tm_hour * 60 + tm.tm_min) * 60 + tm.tm_sec;
	trigger_at_begin(trigger);
	return (0);
}

/* Those with a limit: their first word, and what the limit is. */
static int
limited_parse(struct trigger *trigger, const char *text)
{
	static const struct {
		const char	*li_word;
		enum trigger_kind li_kind;
		const char	*li_unit;	/* NULL: a time */
	} words[] = {
		{ "span ", TRIGGER_SPAN, NULL },
		{ "off-cpu", TRIGGER_OFF_CPU, NULL },
		{ "rate ", TRIGGER_RATE, "/s" },
		{ "psi ", TRIGGER_PSI, "%" },
	};
	struct parts parts;
	size_t n = 0;
	int rv;

	while (n < 4 && strncmp(text, words[n].li_word,
	    strlen(words[n].li_word)) != 0)
		n++;
	if (n == 4 || parts_split(&parts, text +
	    strlen(words[n].li_word)) == -1)
		return (-1);
	trigger->tg_kind = words[n].li_kind;
	trigger->tg_name = strdup(parts.pt_left);
	rv = trigger->tg_name == NULL || (trigger->tg_name[0] == '\0') !=
	    (trigger->tg_kind == TRIGGER_OFF_CPU) ? -1 :
	    words[n].li_unit == NULL ? limit_time(trigger, &parts) :
	    limit_number(trigger, &parts, words[n].li_unit);
	trigger->tg_next_ns = trigger->tg_kind == TRIGGER_OFF_CPU;
	parts_free(&parts);
	return (rv);
}

static int
trigger_parse(struct trigger *trigger, const char *text)
{
	const size_t length = strlen(text);

	if (strcmp(text, "crash") == 0) {
		trigger->tg_kind = TRIGGER_CRASH;
		return (0);
	}
	if (length > 0 && text[length - 1] == '}' && strchr(text, '{') != NULL)
		return (event_parse(trigger, text));
	if (strncmp(text, "at ", 3) == 0)
		return (at_parse(trigger, text + 3));
	return (limited_parse(trigger, text));
}

/* ------------------------------------------------------------ all of them */

int
record_triggers_add(struct record_dumping *rd, const char *text)
{
	struct record_triggers *triggers = rd->rd_triggers;
	struct trigger *trigger;

	if (triggers == NULL)
		triggers = rd->rd_triggers = calloc(1, sizeof(*triggers));
	trigger = triggers == NULL ? NULL : prof_append(
	    &triggers->rt_trigger, &triggers->rt_n, sizeof(*trigger));
	if (trigger == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	triggers->rt_dumping = rd;
	*trigger = (struct trigger){ .tg_text = text, .tg_fd = -1 };
	if (trigger_parse(trigger, text) == -1)
		return (msg_fail("record", CURE, "--dump-on %s: unknown "
		    "trigger", text));
	return (trigger->tg_kind == TRIGGER_PSI ? trigger_psi_open(trigger) :
	    0);
}

/* Is a span of this name defined? */
static bool
has_span(const struct opt_strings *spans, const char *name)
{
	const size_t length = strlen(name);

	for (size_t n = 0; n < spans->os_n; n++)
		if (strncmp(spans->os_text[n], name, length) == 0 &&
		    spans->os_text[n][length] == '=')
			return (true);
	return (false);
}

int
record_triggers_check(const struct record_triggers *triggers,
    const struct opt_strings *spans)
{
	for (size_t n = 0; triggers != NULL && n < triggers->rt_n; n++) {
		const struct trigger *trigger = &triggers->rt_trigger[n];

		if (trigger->tg_kind == TRIGGER_SPAN &&
		    !has_span(spans, trigger->tg_name))
			return (msg_fail("record", "define it with --span "
			    "NAME=BEGIN,END", "--dump-on %s: no span has this "
			    "name", trigger->tg_text));
	}
	return (0);
}

bool
record_triggers_compare(const struct record_triggers *triggers)
{
	for (size_t n = 0; triggers != NULL && n < triggers->rt_n; n++)
		if (triggers->rt_trigger[n].tg_kind == TRIGGER_EVENT)
			return (true);
	return (false);
}

const char *
record_triggers_event(const struct record_triggers *triggers, size_t n)
{
	if (triggers == NULL || n >= triggers->rt_n)
		return (NULL);
	switch (triggers->rt_trigger[n].tg_kind) {
	case TRIGGER_RATE:
	case TRIGGER_EVENT:
		return (triggers->rt_trigger[n].tg_name);
	case TRIGGER_OFF_CPU:
		return ("off-cpu");
	default:
		return ("");
	}
}

const char *
record_triggers_text(const struct record_triggers *triggers, size_t n)
{
	return (triggers == NULL || n >= triggers->rt_n ? NULL :
	    triggers->rt_trigger[n].tg_text);
}

int
record_triggers_begin(struct record_triggers *triggers,
    struct prof_session *session)
{
	struct prof_sink listener = trigger_listener;
	struct prof_err error;
	bool needs_spans = false;

	if (triggers == NULL)
		return (0);
	trigger_records_free(triggers);
	for (size_t n = 0; n < triggers->rt_n; n++)
		needs_spans |= triggers->rt_trigger[n].tg_kind ==
		    TRIGGER_SPAN;
	if (needs_spans && (triggers->rt_spans = prof_spans_live_new(
	    &error)) == NULL)
		return (-1);
	if (needs_spans)
		prof_spans_live_each(triggers->rt_spans, trigger_span_look,
		    triggers);
	listener.sk_arg = triggers;
	triggers->rt_session = session;
	return (prof_session_watch(session, &listener));
}

const struct prof_err *
record_triggers_error(const struct record_triggers *triggers)
{
	return (triggers == NULL || triggers->rt_error.pe_code == PROF_OK ?
	    NULL : &triggers->rt_error);
}

int
record_triggers_look(struct record_triggers *triggers, bool is_last)
{
	if (triggers == NULL)
		return (0);
	trigger_system_look(triggers);
	if (trigger_records_round(triggers, is_last) == 0)
		return (0);
	return (msg_error("record", "out of memory", "free memory"));
}

uint64_t
record_triggers_due_ns(const struct record_triggers *triggers)
{
	uint64_t due_ns = 0;

	for (size_t n = 0; triggers != NULL && n < triggers->rt_n; n++) {
		const uint64_t next_ns = triggers->rt_trigger[n].tg_next_ns;

		if (next_ns != 0 && (due_ns == 0 || next_ns < due_ns))
			due_ns = next_ns;
	}
	return (due_ns);
}

void
record_triggers_free(struct record_triggers *triggers)
{
	if (triggers == NULL)
		return;
	trigger_records_free(triggers);
	for (size_t n = 0; n < triggers->rt_n; n++) {
		struct trigger *trigger = &triggers->rt_trigger[n];

		free(trigger->tg_name);
		free(trigger->tg_expression);
		free(trigger->tg_wait);
		if (trigger->tg_fd != -1)
			close(trigger->tg_fd);
	}
	free(triggers->rt_trigger);
	free(triggers);
}
