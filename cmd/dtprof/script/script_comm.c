/* SPDX-License-Identifier: ISC */
/*
 * The names of threads at a point in time, from its process events.
 * Called by cmd_script.c for each record, in order of time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

struct script_comm {
	uint32_t	 cs_tid;
	bool		 cs_used;
	char		 cs_comm[16];
};

#define FIRST_SIZE	1024

static struct script_comm *slot_find(struct script_comm *slots, size_t size,
		    uint32_t tid);
static int	 slots_grow(struct script_comms *comms);

/* Where it is, or where it would go; one slot in four is always free. */
static struct script_comm *
slot_find(struct script_comm *slots, size_t size, uint32_t tid)
{
	/* Fibonacci hashing: consecutive tids spread over the table. */
	size_t at = (tid * 2654435769U) & (size - 1);

	while (slots[at].cs_used && slots[at].cs_tid != tid)
		at = (at + 1) & (size - 1);
	return (&slots[at]);
}

static int
slots_grow(struct script_comms *comms)
{
	size_t size = comms->sc_size == 0 ? FIRST_SIZE : comms->sc_size * 2;
	struct script_comm *slots = calloc(size, sizeof(*slots));

	if (slots == NULL)
		return (-1);
	for (size_t n = 0; n < comms->sc_size; n++) {
		if (comms->sc_slot[n].cs_used)
			*slot_find(slots, size, comms->sc_slot[n].cs_tid) =
			    comms->sc_slot[n];
	}
	free(comms->sc_slot);
	comms->sc_slot = slots;
	comms->sc_size = size;
	return (0);
}

int
script_comms_take(struct script_comms *comms, const struct prof_record *record)
{
	const char *comm = record->pr_comm;
	char parent[sizeof(((struct script_comm *)NULL)->cs_comm)];
	struct script_comm *slot;
	size_t length;

	/* perf's forks have none, so it is the parent's, as the kernel does. */
	if (record->pr_type == PROF_R_FORK && comm[0] == '\0') {
		snprintf(parent, sizeof(parent), "%s",
		    script_comms_get(comms, record->pr_ptid));
		comm = parent;
	}
	/* Threads may have taken other names by then. */
	if (record->pr_time_ns >= comms->sc_until_ns) {
		free(comms->sc_slot);
		comms->sc_slot = NULL;
		comms->sc_size = comms->sc_used = 0;
		return (0);
	}
	if (comm[0] == '\0')
		return (0);
	switch (record->pr_type) {
	case PROF_R_SAMPLE:
	case PROF_R_FORK:
	case PROF_R_EXEC:
	case PROF_R_COMM:
	case PROF_R_TASK:
		break;
	default:
		return (0);
	}
	if (comms->sc_used >= comms->sc_size / 4 * 3 && slots_grow(comms) == -1)
		return (-1);
	slot = slot_find(comms->sc_slot, comms->sc_size, record->pr_tid);
	if (!slot->cs_used)
		comms->sc_used++;
	slot->cs_used = true;
	slot->cs_tid = record->pr_tid;
	length = strnlen(comm, sizeof(slot->cs_comm) - 1);
	memset(slot->cs_comm, 0, sizeof(slot->cs_comm));
	memcpy(slot->cs_comm, comm, length);
	return (0);
}

const char *
script_comms_get(const struct script_comms *comms, uint32_t tid)
{
	if (tid == 0)
		return (comms->sc_task_0);
	if (comms->sc_size == 0)
		return ("");
	return (slot_find(comms->sc_slot, comms->sc_size, tid)->cs_comm);
}

void
script_comms_free(struct script_comms *comms)
{
	free(comms->sc_slot);
	memset(comms, 0, sizeof(*comms));
}
