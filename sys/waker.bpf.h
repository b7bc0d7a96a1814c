/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Who wakes a thread: the current thread, unless an interrupt wakes it.  Then
 * the current thread is the one that was interrupted, and has nothing to do
 * with the wakeup.
 *
 * Included by prov_wait.bpf.c.
 */
#ifndef WAKER_BPF_H
#define WAKER_BPF_H

/* Bits of the kernel's preempt_count. */
#define PREEMPT_SOFTIRQ	0x000100	/* it runs, and is not just disabled */
#define PREEMPT_HARDIRQ	0xff0000	/* and NMI */

enum waker {
	WAKER_UNKNOWN, WAKER_THREAD, WAKER_HARDIRQ, WAKER_SOFTIRQ, WAKER_IDLE
};

static const char waker_text[8][8] = {
	[WAKER_UNKNOWN] = "-", [WAKER_HARDIRQ] = "hardirq",
	[WAKER_SOFTIRQ] = "softirq", [WAKER_IDLE] = "idle"
};

/*
 * The preempt_count of this CPU; -1: not known.  On x86 it lies at a fixed
 * distance from the run queue of the CPU, which the current thread leads to.
 */
#if defined(__TARGET_ARCH_x86)
DTP_INLINE __s64
waker_context(const struct task_struct *task)
{
	__u64 at = cfg.dc_preempt_at;
	__u32 count;

	if (at == 0 || !bpf_core_field_exists(task->se.cfs_rq->rq))
		return (-1);
	at += (__u64)task->se.cfs_rq->rq;
	if (bpf_core_type_exists(struct pcpu_hot))
		at += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	return (DTP_READ(&count, (const void *)at) == 0 ? (__s64)count :
	    -1);
}
#else
DTP_INLINE __s64
waker_context(const struct task_struct *task)
{
	return (task->thread_info.preempt.count);
}
#endif

/* Called in the context of the waker. */
DTP_INLINE void
waker_keep(struct wait *wait)
{
	const struct task_struct *task = dtp_current();
	__s64 count = waker_context(task);

	if (count < 0) {
		wait->wt_by = WAKER_UNKNOWN;
	} else if (count & PREEMPT_HARDIRQ) {
		wait->wt_by = WAKER_HARDIRQ;
	} else if (count & PREEMPT_SOFTIRQ) {
		wait->wt_by = WAKER_SOFTIRQ;
	} else if (task->pid == 0) {
		wait->wt_by = WAKER_IDLE;
	} else {
		wait->wt_by = WAKER_THREAD;
		wait->wt_waker = task->pid;
		bpf_get_current_comm(wait->wt_waker_comm, DTP_COMM_LEN);
	}
}

/*
 * The thread is woken while it is still on its CPU.  If it had begun to leave,
 * this is who ends its wait; if not, there is no wait that would use it.
 */
DTP_INLINE int
waker_early(__u64 word, __u64 begun_ns)
{
	struct wait *wait = bpf_map_lookup_elem(&waits, &word);

	if (wait != NULL && wait->wt_begun_ns == begun_ns)
		waker_keep(wait);
	return (0);
}

/* The arguments waker and waker_tid, of a wait that was ended by a wakeup. */
DTP_INLINE void
waker_args(const struct wait *wait, __u64 *value)
{
	__u32 by = wait->wt_woken_ns == 0 ? WAKER_UNKNOWN : wait->wt_by;

	value[0] = (__u64)(by == WAKER_THREAD ? wait->wt_waker_comm :
	    waker_text[by & 7]);
	value[1] = by == WAKER_THREAD ? wait->wt_waker : 0;
}

#endif /* WAKER_BPF_H */
