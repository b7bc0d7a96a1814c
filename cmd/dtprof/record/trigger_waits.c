/* SPDX-License-Identifier: ISC */
/*
 * Waits that are longer than a trigger allows:
 *
 *	went on too long, at a look	fires; the wait is remembered
 *	has ended, with a record	fires, unless it is remembered
 *
 * A thread that waits for ever has no record.  Called by trigger.c and by
 * trigger_records.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "os/procfs.h"
#include "session/recorder.h"
#include "trigger.h"

#define LOOKS		4	/* within the limit */
#define SHORTEST_NS	10000000ULL
#define LONGEST_NS	1000000000ULL
#define COST_PART	100	/* a look takes no more of the time */

/* A wait for which a dump was asked. */
struct trigger_wait {
	uint32_t	 ti_tid;
	uint64_t	 ti_since_ns;
	unsigned	 ti_missed;	/* looks that did not see it */
};

/* Who looks at the threads that wait. */
struct look {
	struct record_triggers *lo_triggers;
	struct trigger	*lo_trigger;
	uint64_t	 lo_now_ns;
};

static struct trigger_wait *
wait_find(const struct trigger *trigger, uint32_t tid)
{
	for (size_t n = 0; n < trigger->tg_nwaits; n++)
		if (trigger->tg_wait[n].ti_tid == tid)
			return (&trigger->tg_wait[n]);
	return (NULL);
}

/* The switch to it may have been missed: does the kernel say so, too? */
static bool
is_blocked(uint32_t tid)
{
	char path[64], text[512];
	const char *end;

	(void)snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return (false);
	end = strrchr(text, ')');
	return (end != NULL && strlen(end) > 2 && strchr("SDTtIP", end[2]) !=
	    NULL);
}

static void
waiting_look(void *arg, uint32_t pid, uint32_t tid, uint64_t since_ns)
{
	const struct look *look = arg;
	struct trigger *trigger = look->lo_trigger;
	struct trigger_wait *wait = wait_find(trigger, tid);
	char waited[32], limit[32];

	(void)pid;
	if (wait != NULL && wait->ti_since_ns == since_ns)
		wait->ti_missed = 0;
	if (look->lo_now_ns < since_ns || wait != NULL ||
	    (double)(look->lo_now_ns - since_ns) <= trigger->tg_limit ||
	    !is_blocked(tid) || (wait = prof_append(&trigger->tg_wait,
	    &trigger->tg_nwaits, sizeof(*wait))) == NULL)
		return;
	*wait = (struct trigger_wait){ tid, since_ns, 0 };
	weight_time(waited, sizeof(waited), look->lo_now_ns - since_ns);
	weight_time(limit, sizeof(limit), (uint64_t)trigger->tg_limit);
	trigger_fire(look->lo_triggers, look->lo_now_ns, "off-cpu %s > %s in "
	    "thread %u, which still waits", waited, limit, tid);
}

/* Its record, if it ended, has come by the second look without it. */
static void
waits_age(struct trigger *trigger)
{
	size_t n = 0;

	while (n < trigger->tg_nwaits)
		if (trigger->tg_wait[n].ti_missed++ < 2)
			n++;
		else
			trigger->tg_wait[n] =
			    trigger->tg_wait[--trigger->tg_nwaits];
}

void
trigger_waits_look(struct record_triggers *triggers, struct trigger *trigger,
    uint64_t now_ns)
{
	struct look look = { triggers, trigger, now_ns };
	const uint64_t begun_ns = term_now_ns();
	uint64_t step_ns = (uint64_t)trigger->tg_limit / LOOKS, least_ns;

	waits_age(trigger);
	if (prof_session_waiting(triggers->rt_session, waiting_look, &look) ==
	    -1) {
		trigger->tg_next_ns = 0;
		return;
	}
	least_ns = (term_now_ns() - begun_ns) * COST_PART;
	if (least_ns < SHORTEST_NS)
		least_ns = SHORTEST_NS;
	if (step_ns > LONGEST_NS)
		step_ns = LONGEST_NS;
	trigger->tg_next_ns = now_ns + (step_ns < least_ns ? least_ns :
	    step_ns);
}

bool
trigger_waits_has(const struct trigger *trigger, uint32_t tid)
{
	return (wait_find(trigger, tid) != NULL);
}
