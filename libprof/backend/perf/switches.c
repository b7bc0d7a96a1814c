/* SPDX-License-Identifier: ISC */
/*
 * Time off the CPU without BPF, from the kernel's records of context switches.
 *
 *	switch from it	preempted (it stays runnable), or blocked
 *	switch to it	a sample: the time since the switch from it
 *	fork		a new thread is runnable
 *	exec		of a command: its time begins
 *	exit		its time ends
 *
 * A record of a switch says neither why a thread blocks nor who wakes it, or
 * when: blocked time ends when the thread runs again, not when it is woken.
 *
 * Rings lose records when they are full.  An interval in which one lost some is
 * a gap: neither running nor off the CPU (struct dtp_wait_counts).
 *
 * Called by drain.c, in order of time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/intern.h"
#include "os/procfs.h"
#include "rings_impl.h"

enum thread_state { UNSEEN, RUNNING, PREEMPTED, WOKEN, BLOCKED };

/* What a wait says of itself, by the state that it began with. */
static const struct {
	const char	*wo_state;
	const char	*wo_reason;
} words[] = {
	[UNSEEN] = { "blocked", "unknown" },
	[PREEMPTED] = { "runnable", "preempted" },
	[WOKEN] = { "runnable", "wake-up latency" },
	[BLOCKED] = { "blocked", "unknown" },
};

struct thread {
	uint32_t	 th_tid;
	uint32_t	 th_pid;
	bool		 th_is_alive;
	uint64_t	 th_from_ns;	/* elapsed counts from here; 0: no */
	uint64_t	 th_since_ns;	/* the last switch */
	enum thread_state th_state;	/* UNSEEN: no switch since it counts */
};

/*
 * Recording goes on at the first of these times, pauses at the next, and so on.
 * Records from before and after may still be in the rings.
 */
struct turns {
	uint64_t	*tu_ns;
	size_t		 tu_n;
	size_t		 tu_cap;
	size_t		 tu_at;		/* the next; odd: it is a pause */
};

struct ring_switches {
	struct ring_event *sw_event;
	struct turns	 sw_turns;
	uint64_t	 sw_on_ns;	/* since when it records; 0: not now */
	struct prof_map	 sw_tids;	/* tid to number of the thread */
	struct thread	*sw_thread;
	size_t		 sw_n;
	size_t		 sw_cap;
	struct dtp_wait_counts sw_counts;
	uint32_t	 sw_self;
	bool		 sw_waits_for_exec;
};

struct ring_switches *
prof_ring_switches_new(struct ring_event *event, bool waits_for_exec)
{
	struct ring_switches *sw = calloc(1, sizeof(*sw));

	if (sw == NULL)
		return (NULL);
	sw->sw_event = event;
	sw->sw_waits_for_exec = waits_for_exec;
	sw->sw_self = (uint32_t)getpid();
	return (sw);
}

void
prof_ring_switches_free(struct ring_switches *sw)
{
	if (sw == NULL)
		return;
	prof_map_free(&sw->sw_tids);
	free(sw->sw_turns.tu_ns);
	free(sw->sw_thread);
	free(sw);
}

/* ------------------------------------------------------------- threads */

/* Its entry; one that is new is alive.  NULL: no memory. */
static struct thread *
thread_of(struct ring_switches *sw, uint32_t tid)
{
	struct thread *thread;
	bool is_new;
	const uint32_t n = prof_map_get(&sw->sw_tids, tid, &is_new);

	if (n == PROF_INTERN_FAILED)
		return (NULL);
	/* Of a new number there may have been no memory for an entry. */
	while (sw->sw_n <= n) {
		thread = prof_grow(&sw->sw_thread, &sw->sw_n, &sw->sw_cap,
		    sizeof(*thread));
		if (thread == NULL)
			return (NULL);
		thread->th_is_alive = true;
	}
	sw->sw_thread[n].th_tid = tid;
	return (&sw->sw_thread[n]);
}

/* Its time counts from now on. */
static void
thread_begin(struct thread *thread, uint64_t ns, enum thread_state state)
{
	thread->th_from_ns = thread->th_since_ns = ns;
	thread->th_state = state;
}

/*
 * One that is not known has been there since recording went on.  After its
 * exit a thread still leaves its CPU.
 */
static struct thread *
thread_find(struct ring_switches *sw, uint32_t tid)
{
	struct thread *thread = thread_of(sw, tid);

	if (thread == NULL)
		sw->sw_counts.wn_unkept++;
	else if (thread->th_from_ns == 0 && thread->th_is_alive)
		thread_begin(thread, sw->sw_on_ns, UNSEEN);
	return (thread);
}

/* Was every switch since its last one seen? */
static bool
thread_is_sure(const struct prof_rings *rings, const struct thread *thread,
    uint64_t ns)
{
	return (rings->rs_lost_until_ns <= thread->th_since_ns ||
	    rings->rs_lost_from_ns >= ns);
}

static void
thread_gap(struct ring_switches *sw, const struct thread *thread, uint64_t ns)
{
	sw->sw_counts.wn_gaps++;
	sw->sw_counts.wn_gap_ns += ns - thread->th_since_ns;
}

static void
thread_end(struct ring_switches *sw, struct thread *thread, uint64_t ns)
{
	sw->sw_counts.wn_threads++;
	sw->sw_counts.wn_elapsed_ns += ns - thread->th_from_ns;
	thread->th_from_ns = 0;
}

/* ------------------------------------------------------------- samples */

/* What is not known of a wait is '-' or 0, as with BPF. */
static void
args_set(const struct prof_event *event, enum thread_state state,
    struct prof_record *record)
{
	record->pr_nargs = event->ev_nargs;
	for (uint32_t n = 0; n < event->ev_nargs; n++) {
		const struct prof_arg *arg = &event->ev_args[n];

		if (arg->ag_load.ar_kind != DTP_A_INT || arg->ag_is_later)
			record->pr_strs[n] =
			    strcmp(arg->ag_name, "state") == 0 ?
			    words[state].wo_state :
			    strcmp(arg->ag_name, "reason") == 0 ?
			    words[state].wo_reason : "-";
	}
}

/* A wait that ends now, or ends here because recording does. */
static int
wait_end(struct prof_rings *rings, const struct thread *thread, uint32_t cpu,
    uint64_t ns)
{
	struct ring_switches *sw = rings->rs_switches;
	struct dtp_wait_counts *counts = &sw->sw_counts;
	const struct prof_event *event = sw->sw_event->re_event;
	const uint64_t took_ns = ns - thread->th_since_ns;
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE,
		.pr_event = event->ev_id,
		.pr_cpu = cpu,
		.pr_pid = thread->th_pid,
		.pr_tid = thread->th_tid,
		.pr_time_ns = ns,
		.pr_weight = took_ns,
		.pr_in_kernel = 1,
		.pr_comm = "",
	};

	if (thread->th_state == PREEMPTED || thread->th_state == WOKEN)
		counts->wn_runnable_ns += took_ns;
	else
		counts->wn_blocked_ns += took_ns;
	if (took_ns < event->ev_interval) {
		counts->wn_short++;
		counts->wn_short_ns += took_ns;
	}
	if (took_ns == 0 || took_ns < event->ev_interval)
		return (0);
	args_set(event, thread->th_state, &record);
	return (prof_ring_store(rings, sw->sw_event, &record));
}

/* ------------------------------------------------------------ switches */

static void
switch_out(const struct prof_rings *rings, struct thread *thread,
    const struct ring_switch *to)
{
	struct ring_switches *sw = rings->rs_switches;

	if ((thread->th_state != RUNNING && thread->th_state != UNSEEN) ||
	    !thread_is_sure(rings, thread, to->rw_time_ns))
		thread_gap(sw, thread, to->rw_time_ns);
	else
		sw->sw_counts.wn_running_ns += to->rw_time_ns -
		    thread->th_since_ns;
	thread->th_state = to->rw_is_preempted ? PREEMPTED : BLOCKED;
}

static int
switch_in(struct prof_rings *rings, struct thread *thread,
    const struct ring_switch *to)
{
	struct ring_switches *sw = rings->rs_switches;
	int rv = 0;

	sw->sw_counts.wn_turns++;
	if (thread->th_state == RUNNING ||
	    !thread_is_sure(rings, thread, to->rw_time_ns))
		thread_gap(sw, thread, to->rw_time_ns);
	else
		rv = wait_end(rings, thread, to->rw_cpu, to->rw_time_ns);
	thread->th_state = RUNNING;
	return (rv);
}

int
prof_ring_switch_take(struct prof_rings *rings, const struct ring_switch *to)
{
	struct ring_switches *sw = rings->rs_switches;
	struct thread *thread;
	int rv = 0;

	/* The idle task, and a thread whose end was already told. */
	if (sw->sw_on_ns == 0 || to->rw_time_ns < sw->sw_on_ns ||
	    to->rw_tid == 0 || to->rw_tid == UINT32_MAX ||
	    to->rw_pid == sw->sw_self)
		return (0);
	thread = thread_find(sw, to->rw_tid);
	if (thread == NULL || !thread->th_is_alive ||
	    to->rw_time_ns < thread->th_since_ns)
		return (0);
	thread->th_pid = to->rw_pid;
	if (to->rw_is_out)
		switch_out(rings, thread, to);
	else
		rv = switch_in(rings, thread, to);
	thread->th_since_ns = to->rw_time_ns;
	return (rv);
}

/*
 * It runs when it ends.  A command's time begins with its exec, also where that
 * is not its first.
 */
static void
thread_observe(const struct prof_rings *rings, struct thread *thread,
    const struct prof_record *record)
{
	const struct ring_switch end = { .rw_time_ns = record->pr_time_ns };

	if (record->pr_type == PROF_R_FORK)
		thread_begin(thread, record->pr_time_ns, WOKEN);
	else if (record->pr_type == PROF_R_EXEC && thread->th_from_ns == 0)
		thread_begin(thread, record->pr_time_ns, RUNNING);
	else if (record->pr_type == PROF_R_EXIT &&
	    (thread = thread_find(rings->rs_switches, record->pr_tid)) !=
	    NULL && record->pr_time_ns >= thread->th_since_ns) {
		switch_out(rings, thread, &end);
		thread_end(rings->rs_switches, thread, record->pr_time_ns);
	}
}

void
prof_rings_observe(const struct prof_rings *rings,
    const struct prof_record *record)
{
	struct ring_switches *sw = rings->rs_switches;
	const enum prof_record_type type = record->pr_type;
	struct thread *thread;

	if (sw == NULL || record->pr_pid == sw->sw_self ||
	    (type != PROF_R_TASK && type != PROF_R_FORK &&
	    type != PROF_R_EXEC && type != PROF_R_EXIT) ||
	    (type == PROF_R_FORK && !rings->rs_inherit && !rings->rs_all) ||
	    (thread = thread_of(sw, record->pr_tid)) == NULL)
		return;
	thread->th_pid = record->pr_pid;
	if (sw->sw_on_ns != 0 && record->pr_time_ns >= sw->sw_on_ns)
		thread_observe(rings, thread, record);
	thread->th_is_alive = type != PROF_R_EXIT;
}

/* ------------------------------------------- where recording goes on */

int
prof_rings_turn(struct prof_rings *rings, uint64_t ns)
{
	struct turns *turns;

	if (rings->rs_switches == NULL)
		return (0);
	turns = &rings->rs_switches->sw_turns;
	if (!prof_room(&turns->tu_ns, &turns->tu_cap, turns->tu_n + 1,
	    sizeof(*turns->tu_ns)))
		return (-1);
	turns->tu_ns[turns->tu_n++] = ns;
	return (0);
}

uint64_t
prof_ring_turn_next(const struct prof_rings *rings)
{
	const struct turns *turns = rings->rs_switches == NULL ? NULL :
	    &rings->rs_switches->sw_turns;

	return (turns == NULL || turns->tu_at == turns->tu_n ? UINT64_MAX :
	    turns->tu_ns[turns->tu_at]);
}

/* As /proc has it: the letter of its state, or '\0' where it is gone. */
static char
thread_letter(const struct thread *thread)
{
	char path[64], text[1024];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%u/status", thread->th_tid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return ('\0');
	state = strstr(text, "\nState:\t");
	return (state == NULL ? '\0' : state[8]);
}

/*
 * Its recorded time ends here, at a pause or at the end.  A thread that was not
 * seen to switch has been where it is now: blocked, or gone since before, but
 * if it is runnable it is not known whether it ran.  One that ran and is gone
 * may have got the number of its process, by an exec.
 */
static int
thread_stop(struct prof_rings *rings, struct thread *thread, uint64_t ns)
{
	struct ring_switches *sw = rings->rs_switches;
	const char letter = thread->th_state != UNSEEN &&
	    thread->th_state != RUNNING ? 'S' : thread_letter(thread);
	const bool is_gone = letter == '\0' || letter == 'Z' || letter == 'X';
	int rv = 0;

	if (thread->th_state == UNSEEN && is_gone) {
		thread->th_from_ns = 0;
		return (0);
	}
	if (!thread_is_sure(rings, thread, ns) || is_gone ||
	    (thread->th_state == UNSEEN && letter == 'R'))
		thread_gap(sw, thread, ns);
	else if (thread->th_state == RUNNING)
		sw->sw_counts.wn_running_ns += ns - thread->th_since_ns;
	else {
		sw->sw_counts.wn_open++;
		sw->sw_counts.wn_open_ns += ns - thread->th_since_ns;
		rv = wait_end(rings, thread, 0, ns);
	}
	thread_end(sw, thread, ns);
	return (rv);
}

int
prof_ring_turn(struct prof_rings *rings)
{
	struct ring_switches *sw = rings->rs_switches;
	const uint64_t ns = sw->sw_turns.tu_ns[sw->sw_turns.tu_at];
	const bool is_on = sw->sw_turns.tu_at++ % 2 == 0;
	int rv = 0;

	for (size_t n = 0; n < sw->sw_n && rv == 0; n++) {
		struct thread *thread = &sw->sw_thread[n];

		if (is_on && thread->th_is_alive && !sw->sw_waits_for_exec)
			thread_begin(thread, ns, UNSEEN);
		else if (!is_on && thread->th_from_ns != 0)
			rv = thread_stop(rings, thread, ns);
	}
	sw->sw_waits_for_exec = false;
	sw->sw_on_ns = is_on ? ns : 0;
	return (rv);
}

/* NULL: no event of waits is recorded. */
const struct dtp_wait_counts *
prof_rings_waits(const struct prof_rings *rings, const struct prof_event **of)
{
	if (rings->rs_switches == NULL)
		return (NULL);
	*of = rings->rs_switches->sw_event->re_event;
	return (&rings->rs_switches->sw_counts);
}
