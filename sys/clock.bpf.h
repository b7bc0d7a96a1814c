/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * How long threads that have begun a span run, and how long they do not: two
 * sums of each thread, which grow at its switches, each at its own place.
 *
 *	  begin        out              in         end
 *	----|===========|----------------|==========|====
 *	     running + ..  off + (in-out)  running + ..
 *
 * A thread has a clock from its first begin on, so a thread that is in no span
 * costs a look-up that finds nothing.  Begins and ends bring both sums; those
 * of a span are differences, taken when it is read.
 *
 * Kernels have been seen to switch without telling.  Time in which that happens
 * is added to neither, so that both do not add up to the duration then: the
 * kernel's own count of a thread's turns on CPUs tells.
 *
 * The clocks are moved by clock.bpf.c and read by sample.bpf.h.
 */
#ifndef CLOCK_BPF_H
#define CLOCK_BPF_H

#include "abi/dtp_abi.h"
#include "compat.bpf.h"

struct dtp_clock {
	__u64	ck_in_ns;	/* it has run since; 0: it does not run */
	__u64	ck_out_ns;	/* it has not run since; 0: it runs */
	__u64	ck_running_ns;
	__u64	ck_off_ns;
	__u64	ck_turn;	/* in which it was seen to come or leave */
};

/*
 * By address of the thread's task_struct, as values_tasks, and preallocated,
 * since begins may be anywhere in the kernel.  None is removed: in another
 * thread at that address both sums go on, and only differences are used.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct dtp_clock);
} clocks SEC(".maps");

/* From now on it runs, unless it is switched meanwhile, which sets ck_in_ns. */
DTP_INLINE void
dtp_clock_start(struct dtp_clock *clock, __u64 turn)
{
	DTP_STORE(&clock->ck_in_ns, 0ULL);
	DTP_STORE(&clock->ck_turn, turn);
	(void)DTP_CAS(&clock->ck_in_ns, 0ULL, bpf_ktime_get_ns());
}

/*
 * Before the time of a begin or end is taken: the current thread has a clock,
 * unless there is no room for it, and one that goes.  Apart, since the stack is
 * short where it is called.
 */
DTP_APART int
dtp_clock_make(__u32 tid)
{
	struct dtp_clock fresh = { 0 };
	__u64 task = bpf_get_current_task();
	struct dtp_clock *clock;
	__u64 turn;

	/* Of those without a number there is one on each CPU. */
	if (tid == 0)
		return (0);
	turn = dtp_task_turn(task);
	clock = bpf_map_lookup_elem(&clocks, &task);
	if (clock != NULL && DTP_LOAD(&clock->ck_turn) == turn)
		return (0);
	if (clock == NULL) {
		bpf_map_update_elem(&clocks, &task, &fresh, BPF_NOEXIST);
		clock = bpf_map_lookup_elem(&clocks, &task);
	}
	if (clock != NULL)
		dtp_clock_start(clock, turn);
	return (0);
}

/* Both sums up to this time, unless it has been switched since, or leaves. */
DTP_APART int
dtp_clock_put(struct dtp_times *to, __u32 tid, __u64 time_ns)
{
	__u64 task = bpf_get_current_task();
	struct dtp_clock *clock;
	__u64 in_ns, running_ns, off_ns;

	if (to == NULL)
		return (0);
	to->tm_running_ns = to->tm_off_ns = DTP_NO_TIME;
	clock = tid == 0 ? NULL : bpf_map_lookup_elem(&clocks, &task);
	if (clock == NULL)
		return (0);
	in_ns = DTP_LOAD(&clock->ck_in_ns);
	running_ns = DTP_LOAD(&clock->ck_running_ns);
	off_ns = DTP_LOAD(&clock->ck_off_ns);
	if (in_ns == 0 || in_ns > time_ns ||
	    DTP_LOAD(&clock->ck_in_ns) != in_ns)
		return (0);
	to->tm_running_ns = running_ns + time_ns - in_ns;
	to->tm_off_ns = off_ns;
	return (0);
}

#endif /* CLOCK_BPF_H */
