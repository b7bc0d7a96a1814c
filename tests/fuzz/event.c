/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever the text, each provider either makes whole events of
 * it, or leaves it, or refuses it with a sentence and a cure.  A span is taken
 * apart to parts that give the text again, or refused.
 *
 * The names handle asks nothing of the machine.  Suggestions are slow, so few
 * inputs get as far as those.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "events/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SUGGEST_ONE_IN	256

static const char tracepoints[] =
    "sched:sched_switch\nsched:sched_wakeup\nirq:irq_handler_entry\n"
    "block:block_rq_issue\nraw_syscalls:sys_enter\n";

static void
check_refusal(const struct prof_err *error)
{
	if (error->pe_code <= PROF_OK || error->pe_code >= PROF_NCODES ||
	    error->pe_text[0] == '\0' || error->pe_cure[0] == '\0')
		abort();
}

static void
check_events(const struct prof_events *events)
{
	for (size_t n = 0; n < events->el_n; n++) {
		const struct prof_event *event = events->el_event[n];

		if (event->ev_provider == NULL ||
		    event->ev_nargs > DTP_MAX_ARGS)
			abort();
		for (uint32_t arg = 0; arg < event->ev_nargs; arg++)
			if (event->ev_args[arg].ag_name == NULL ||
			    event->ev_args[arg].ag_type == NULL)
				abort();
		if (event->ev_has_period &&
		    event->ev_attr.sample_period == 0)
			abort();
		if (!event->ev_has_period &&
		    event->ev_tracepoint == NULL)
			abort();
	}
}

static void
offer(struct prof_names *names, const char *text)
{
	struct prof_event_defaults defaults = { .ed_period = 7 };
	struct prof_spec spec;
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	if (prof_spec_parse(&spec, text, &error) == -1) {
		check_refusal(&error);
		return;
	}
	for (size_t n = 0; prof_providers[n] != NULL; n++) {
		struct prof_events events = { 0 };

		if (prof_providers[n]->pv_resolve(names, &spec, &defaults,
		    &events, &error) == -1)
			check_refusal(&error);
		check_events(&events);
		prof_events_free(&events);
	}
}

/* The parts are all of the text, and events of providers as any are. */
static void
span_check(struct prof_names *names, const struct prof_spec_span *span,
    const char *text)
{
	char *back = prof_spec_span_return(span->sn_begin), *again;

	if (asprintf(&again, "%s=%s%s%s%s%s", span->sn_name, span->sn_begin,
	    span->sn_end == NULL ? "" : ",", span->sn_end == NULL ? "" :
	    span->sn_end, span->sn_key == NULL ? "" : ",key=",
	    span->sn_key == NULL ? "" : span->sn_key) == -1 ||
	    strcmp(again, text) != 0 || span->sn_begin[0] == '\0')
		abort();
	if (back != NULL)
		offer(names, back);
	offer(names, span->sn_begin);
	if (span->sn_end != NULL)
		offer(names, span->sn_end);
	free(again);
	free(back);
}

static void
span(struct prof_names *names, const char *text)
{
	struct prof_spec_span parts;
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	if (prof_spec_span_parse(&parts, text, &error) == -1)
		check_refusal(&error);
	else
		span_check(names, &parts, text);
	prof_spec_span_fini(&parts);
}

static void
resolve(struct prof_names *names, const char *text)
{
	struct prof_events events = { 0 };
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	if (prof_names_resolve(names, text, NULL, &events, &error) == -1) {
		check_refusal(&error);
		if (events.el_n != 0)
			abort();
	} else if (events.el_n == 0)
		abort();
	prof_events_free(&events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct prof_names *names;
	struct prof_err error;
	unsigned sum = 0;
	char *text;

	if (names == NULL)
		names = prof_names_open_offline(tracepoints, &error);
	if (names == NULL || (text = malloc(size + 1)) == NULL)
		return (0);
	memcpy(text, data, size);
	text[size] = '\0';
	offer(names, text);
	span(names, text);
	if (size < 64)
		(void)prof_glob_match(text, "sched:sched_switch");
	for (size_t n = 0; n < size; n++)
		sum = sum * 31 + data[n];
	if (sum % SUGGEST_ONE_IN == 0)
		resolve(names, text);
	free(text);
	return (0);
}
