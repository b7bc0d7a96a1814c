/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Why a thread waits, by facts alone: its state, its flags, and the system
 * call that it is in.  The registers with which a thread entered the kernel
 * stay at the end of its kernel stack until it runs again, so they are read
 * when a wait ends, or a pass looks at it, and only for what is recorded.
 *
 * Included by prov_wait.bpf.c and prov_wall.bpf.c.
 */
#ifndef REASON_BPF_H
#define REASON_BPF_H

#include "abi/dtp_reason.h"

/* Bits of the kernel's task state. */
#define STATE_INTERRUPTIBLE	0x1
#define STATE_STOPPED		0x4
#define STATE_TRACED		0x8

/* Kernel threads, and those of io_uring and of virtual machines. */
#define FLAG_KERNEL	(DTP_PF_KTHREAD | 0x10 | 0x4000)
/* PF_EXITING, PF_POSTCOREDUMP, PF_DUMPCORE, PF_SIGNALED. */
#define FLAG_EXITS	(0x4 | 0x8 | 0x200 | 0x400)

static const char reason_text[DTP_REASON_MASK + 1][DTP_REASON_LEN] = {
#define DTP_REASON(name, text)	text,
	DTP_REASONS(DTP_REASON)
#undef DTP_REASON
};

/* The number of the call that a thread is in; negative: it is in none. */
DTP_INLINE __s32
reason_call(const struct task_struct *task)
{
	return (dtp_call_number((const void *)bpf_task_pt_regs(
	    (struct task_struct *)task)));
}

/* What the recorder says of a call (dc_call); 0: nothing. */
DTP_INLINE __u32
reason_row(const struct task_struct *task, __s32 number)
{
	__u32 at = number & (DTP_MAX_SYSCALL - 1);

	if (number < 0 || number >= DTP_MAX_SYSCALL ||
	    dtp_call_is_compat(task))
		return (0);
	/* Bounds that the verifier must see. */
	barrier_var(at);
	return (cfg.dc_call[at & (DTP_MAX_SYSCALL - 1)]);
}

/* By the call alone. */
DTP_INLINE __u32
reason_of_call(const struct task_struct *task)
{
	__s32 number = reason_call(task);
	__u32 reason = reason_row(task, number) & DTP_REASON_MASK;

	return (number < 0 ? DTP_W_FAULT : reason == 0 ? DTP_W_CALL : reason);
}

/*
 * The state decides before the call.  A frozen thread is interruptible; the
 * parent of a vfork, which the kernel calls frozen, too, is not.
 */
DTP_INLINE __u32
reason_blocked(const struct task_struct *task, __u64 state)
{
	if (task->flags & FLAG_KERNEL)
		return (DTP_W_KERNEL);
	if (state & STATE_STOPPED)
		return (DTP_W_STOPPED);
	if (state & STATE_TRACED)
		return (DTP_W_TRACED);
	if (task->flags & FLAG_EXITS)
		return (DTP_W_EXIT);
	if ((state & STATE_INTERRUPTIBLE) != 0 &&
	    BPF_CORE_READ_BITFIELD(task, frozen))
		return (DTP_W_FROZEN);
	return (reason_of_call(task));
}

/* is_woken: it was blocked or new, not preempted. */
DTP_INLINE __u32
reason_runnable(const struct task_struct *task, int is_woken)
{
	if (is_woken)
		return (DTP_W_WAKEUP);
	if ((task->flags & FLAG_KERNEL) == 0 &&
	    reason_of_call(task) == DTP_W_YIELD)
		return (DTP_W_YIELD);
	return (DTP_W_PREEMPTED);
}

#endif /* REASON_BPF_H */
