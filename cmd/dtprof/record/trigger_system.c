/* SPDX-License-Identifier: ISC */
/*
 * Triggers that look at the system from time to time: the share of time that
 * tasks were stalled (PSI), threads that wait, and the time of day.
 *
 *	total_us:  |----- window -----|	pressure = increase / window
 *	slots:	   |-|-|-|-|-|-|-|-|-|-|
 *
 * The window is exactly as long as what was read says: the kernel's own
 * averages are of 10 s and more.  Called by trigger.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "os/cgroup.h"
#include "trigger.h"

#define SECOND_NS	1000000000ULL
#define SHORTEST_NS	10000000ULL	/* between two looks */
#define LONGEST_S	60		/* the same */

/* ------------------------------------------------------------- pressure */

/* Of a cgroup: by its whole path, or below the mount. */
static int
pressure_open(const char *cgroup, size_t length, const char *resource,
    size_t rlength)
{
	char mount[1024], path[4096];
	int fd;

	if (length == 0) {
		(void)snprintf(path, sizeof(path), "/proc/pressure/%.*s",
		    (int)rlength, resource);
		return (open(path, O_RDONLY | O_CLOEXEC));
	}
	(void)snprintf(path, sizeof(path), "%.*s/%.*s.pressure", (int)length,
	    cgroup, (int)rlength, resource);
	if (cgroup[0] == '/' && (fd = open(path, O_RDONLY | O_CLOEXEC)) != -1)
		return (fd);
	prof_cgroup_mount(mount, sizeof(mount));
	(void)snprintf(path, sizeof(path), "%s/%.*s/%.*s.pressure", mount,
	    (int)length, cgroup, (int)rlength, resource);
	return (open(path, O_RDONLY | O_CLOEXEC));
}

/* Microseconds of stalls so far; false: not to be had. */
static bool
pressure_read(const struct trigger *trigger, uint64_t *total_us)
{
	char text[512];
	const char *line;
	const ssize_t got = pread(trigger->tg_fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return (false);
	text[got] = '\0';
	line = strstr(text, trigger->tg_line);
	line = line == NULL ? NULL : strstr(line, "total=");
	if (line == NULL)
		return (false);
	*total_us = strtoull(line + 6, NULL, 10);
	return (true);
}

/* "[CGROUP:]cpu.some" */
int
trigger_psi_open(struct trigger *trigger)
{
	const char *name = trigger->tg_name;
	const char *colon = strrchr(name, ':');
	const char *resource = colon == NULL ? name : colon + 1;
	const size_t rlength = strcspn(resource, ".");
	uint64_t total_us;

	trigger->tg_line = strcmp(resource + rlength, ".some") == 0 ? "some" :
	    strcmp(resource + rlength, ".full") == 0 ? "full" : NULL;
	if (trigger->tg_line == NULL || rlength == 0 ||
	    memchr(resource, '/', rlength) != NULL)
		return (msg_fail("record", "use cpu.some, memory.some, "
		    "memory.full, io.some or io.full", "--dump-on %s: unknown "
		    "pressure", trigger->tg_text));
	trigger->tg_fd = pressure_open(name, colon == NULL ? 0 :
	    (size_t)(colon - name), resource, rlength);
	if (trigger->tg_fd == -1 || !pressure_read(trigger, &total_us))
		return (msg_fail("record", "check that the cgroup (of version "
		    "2) exists, and that the kernel has /proc/pressure",
		    "--dump-on %s: cannot read the pressure: %s",
		    trigger->tg_text, strerror(errno)));
	trigger->tg_next_ns = 1;
	return (0);
}

static void
pressure_look(struct record_triggers *triggers, struct trigger *trigger,
    uint64_t now_ns)
{
	const uint64_t window_ns = trigger->tg_window.tw_ns;
	const uint64_t slot_ns = window_ns / TRIGGER_SLOTS;
	struct trigger_stall *stall = trigger->tg_stall;
	struct trigger_stall now = { .st_time_ns = now_ns };
	double percent;

	trigger->tg_next_ns = now_ns + (slot_ns > SHORTEST_NS ? slot_ns :
	    SHORTEST_NS);
	if (!pressure_read(trigger, &now.st_total_us))
		return;		/* the cgroup has gone */
	if (trigger->tg_nstalls == TRIGGER_SLOTS + 1)
		memmove(stall, stall + 1, TRIGGER_SLOTS * sizeof(*stall));
	else
		trigger->tg_nstalls++;
	stall[trigger->tg_nstalls - 1] = now;
	/* Where looks were late, fewer of them are a window. */
	while (trigger->tg_nstalls > 1 &&
	    now_ns - stall[1].st_time_ns >= window_ns)
		memmove(stall, stall + 1, --trigger->tg_nstalls *
		    sizeof(*stall));
	if (now_ns - stall[0].st_time_ns < window_ns)
		return;
	percent = 100e3 * (double)(now.st_total_us - stall[0].st_total_us) /
	    (double)(now_ns - stall[0].st_time_ns);
	if (percent <= trigger->tg_limit)
		return;
	/* The next one needs a window of its own. */
	trigger->tg_nstalls = 0;
	trigger_fire(triggers, now_ns, "psi %s %.1f%% > %g%%",
	    trigger->tg_name, percent, trigger->tg_limit);
}

/* ---------------------------------------------------------- time of day */

/* Clocks can be set, and this machine can sleep: look from time to time. */
static void
time_wait(struct trigger *trigger, const struct timespec *now)
{
	const uint64_t left_s = (uint64_t)(trigger->tg_due_s - now->tv_sec);

	trigger->tg_next_ns = term_now_ns() + (left_s > LONGEST_S ?
	    LONGEST_S * SECOND_NS : left_s * SECOND_NS -
	    (uint64_t)now->tv_nsec);
}

void
trigger_at_begin(struct trigger *trigger)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	trigger->tg_due_s = trigger_time_next(now.tv_sec, trigger->tg_second);
	time_wait(trigger, &now);
}

static void
time_look(struct record_triggers *triggers, struct trigger *trigger,
    uint64_t now_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec < trigger->tg_due_s) {
		time_wait(trigger, &now);
		return;
	}
	trigger_fire(triggers, now_ns, "%s", trigger->tg_text);
	trigger_at_begin(trigger);
}

void
trigger_system_look(struct record_triggers *triggers)
{
	const uint64_t now_ns = term_now_ns();

	for (size_t n = 0; n < triggers->rt_n; n++) {
		struct trigger *trigger = &triggers->rt_trigger[n];

		if (trigger->tg_next_ns == 0 || now_ns < trigger->tg_next_ns)
			continue;
		if (trigger->tg_kind == TRIGGER_PSI)
			pressure_look(triggers, trigger, now_ns);
		else if (trigger->tg_kind == TRIGGER_OFF_CPU)
			trigger_waits_look(triggers, trigger, now_ns);
		else
			time_look(triggers, trigger, now_ns);
	}
}
