/* SPDX-License-Identifier: ISC */
/*
 * --state: time of threads on and off the CPU as one event, and which states
 * of it.  Shared by commands that show profiles.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "choose.h"
#include "recording/elapsed.h"

static const char *const states[] = { "running", "runnable", "blocked" };
#define NSTATES		(sizeof(states) / sizeof(states[0]))

bool
choose_has_waits(const struct prof_reader *reader)
{
	return (prof_wait_event(reader) != 0);
}

void
choose_say_part(const char *command, const struct prof_reader *reader,
    const char *what)
{
	const uint32_t event = prof_wait_event(reader);
	const struct prof_event_info *info;

	if (event == 0)
		return;
	info = prof_reader_event(reader, event);
	if (prof_wait_is_part(info))
		msg_note(command, "%s only the waits that '%s' records; to "
		    "have all waits, record with --off-cpu", what,
		    info->pi_name);
}

void
choose_add_short(struct choose_short *waits, const struct prof_reader *reader)
{
	static const char *const words[] = { "short", "short_ns" };
	uint64_t *const to[] = { &waits->cs_waits, &waits->cs_ns };
	const char *value;
	char key[64];

	for (int n = 0; n < 2; n++) {
		snprintf(key, sizeof(key), "waits.%u.%s",
		    prof_wait_event(reader),
		    words[n]);
		value = prof_reader_info(reader, key);
		*to[n] += value == NULL ? 0 : strtoull(value, NULL, 10);
	}
}

void
choose_say_short(const char *command, const struct choose_short *waits)
{
	char text[32];

	weight_time(text, sizeof(text), waits->cs_ns);
	if (waits->cs_waits != 0)
		msg_note(command, "waits shorter than the parameter min are "
		    "not shown: %" PRIu64 ", in total %s", waits->cs_waits,
		    text);
}

/* (EXPR) && (state == "running" || state == "blocked") */
static char *
filter_join(const char *filter, unsigned wanted)
{
	const char *before = "(";
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	if (filter != NULL)
		fprintf(stream, "(%s) && ", filter);
	for (unsigned n = 0; n < NSTATES; n++)
		if (wanted & 1u << n) {
			fprintf(stream, "%sstate == \"%s\"", before,
			    states[n]);
			before = " || ";
		}
	fputc(')', stream);
	if (fclose(stream) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}

bool *
choose_elapsed(const char *command, struct prof_reader *reader,
    unsigned wanted, const char **filter, char **joined)
{
	const int event = prof_reader_elapsed(reader);
	bool *events;

	if (event == -1) {
		msg_prof(command, prof_reader_error(reader));
		return (NULL);
	}
	events = calloc(prof_reader_nevents(reader) + 1, sizeof(*events));
	if (events != NULL && wanted != 0 && wanted != CHOOSE_ALL_STATES)
		*filter = *joined = filter_join(*filter, wanted);
	if (events == NULL || (wanted != 0 && wanted != CHOOSE_ALL_STATES &&
	    *joined == NULL)) {
		free(events);
		msg_error(command, "out of memory", "free memory");
		return (NULL);
	}
	events[event] = true;
	return (events);
}
