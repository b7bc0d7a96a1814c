/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Tracepoints whose programs can be preempted, as of Linux 7.  The kernel keeps
 * a program from running twice on a CPU, and so skips it, "missed", for every
 * task that comes while one that was preempted is still in it: a recorder that
 * the program itself has woken, for one.  So such a program is attached twice,
 * and what the first one was skipped for the second one does:
 *
 *	first    marks the task, then does the work
 *	second   finds the mark and takes it away, or does the work
 *
 * The second is over in a moment and therefore seldom skipped; a mark that is
 * still there when the first comes again tells of it, and nothing was missed.
 * The mark is the task's: programs of one tracepoint may be on different CPUs.
 *
 * Only for tracepoints that fire in the task's own context and never within
 * themselves, as those of system calls and of process events.  Called
 * first thing in these programs.
 */
#ifndef TURN_BPF_H
#define TURN_BPF_H

#include "count.bpf.h"

/* Programs of one object that have a mark of their own. */
enum { DTP_TURN_ENTRY, DTP_TURN_RETURN, DTP_TURN_EXIT, DTP_TURN_FORK,
	DTP_TURN_EXEC, DTP_TURN_RENAME, DTP_TURN_N };

#ifdef DTP_HOST
DTP_INLINE int
dtp_turn(__u32 which)
{
	(void)which;
	return (1);
}
#else

struct dtp_turns {
	__u64	tu_done[DTP_TURN_N];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct dtp_turns);
} turns SEC(".maps");

/* Is the firing this program's to handle? */
DTP_INLINE int
dtp_turn(__u32 which)
{
	struct dtp_counts *counted;
	struct dtp_turns *turn;

	if (cfg.dc_turn == DTP_TURN_ALONE)
		return (1);
	turn = bpf_task_storage_get(&turns,
	    (struct task_struct *)dtp_current(), NULL,
	    cfg.dc_turn == DTP_TURN_FIRST ? BPF_LOCAL_STORAGE_GET_F_CREATE :
	    0);
	/* What cannot be marked is the second one's. */
	if (turn == NULL)
		return (cfg.dc_turn == DTP_TURN_SECOND);
	if (cfg.dc_turn == DTP_TURN_SECOND) {
		if (turn->tu_done[which] == 0)
			return (1);
		turn->tu_done[which] = 0;
		return (0);
	}
	if (turn->tu_done[which] != 0) {
		counted = dtp_counts_of(bpf_get_smp_processor_id());
		if (counted != NULL)
			dtp_count(&counted->cn_twice_kept);
	}
	turn->tu_done[which] = 1;
	return (1);
}
#endif /* !DTP_HOST */

#endif /* TURN_BPF_H */
