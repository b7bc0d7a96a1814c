/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Where kernels and architectures differ, and where the host build differs
 * from the kernel's: one accessor per difference, so that the rest of sys/
 * is the same text everywhere (6.1 to 6.18, x86-64 and arm64, and the host,
 * where host_shim.h stands in for the helpers and for the atomics).
 *
 * Included by maps.bpf.h, and so by all of sys/.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#ifdef DTP_HOST
#include "host_shim.h"
#else

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define DTP_CORE	__attribute__((preserve_access_index))
#define DTP_RODATA	const volatile

/*
 * All that is shared goes through these.  An atomic whose result is used
 * orders everything before and after it (5.18 on, arm64 too); DTP_ADD and
 * DTP_CLEAR have no result and order nothing.
 */
#define DTP_LOAD(p)		(*(volatile __typeof__(*(p)) *)(p))
#define DTP_STORE(p, v)		(*(volatile __typeof__(*(p)) *)(p) = (v))
#define DTP_ADD(p, v)		((void)__sync_fetch_and_add((p), (v)))
#define DTP_CLEAR(p, bits)	((void)__sync_fetch_and_and((p), ~(bits)))
#define DTP_FETCH_ADD(p, v)	__sync_fetch_and_add((p), (v))
#define DTP_FETCH_OR(p, v)	__sync_fetch_and_or((p), (v))
#define DTP_CAS(p, old, new)	__sync_val_compare_and_swap((p), (old), (new))
#define DTP_XCHG(p, v)		__sync_lock_test_and_set((p), (v))

/*
 * Word n of a context.  As C, the compiler would merge the loads into one
 * of a computed address, which the verifier refuses for a context.
 */
#define DTP_CTX_WORD(value, ctx, n)					\
	asm volatile("%0 = *(u64 *)(%1 + %2)"				\
	    : "=r"(value) : "r"(ctx), "i"((n) * 8))

#endif /* !DTP_HOST */

/*
 * Registers of the interrupted code: always whole words, because a narrowed
 * load of a context's register is refused.
 */
#define DTP_REG(ctx, name)	(*(volatile __u64 *)&(ctx)->regs.name)

#if defined(__TARGET_ARCH_x86)
#define DTP_REGS_KERNEL(ctx)	((DTP_REG(ctx, cs) & 3) == 0)
#define DTP_REGS_IP(ctx)	DTP_REG(ctx, rip)
#elif defined(__TARGET_ARCH_arm64)
#define DTP_REGS_KERNEL(ctx)	((DTP_REG(ctx, pstate) & 0xf) != 0)
#define DTP_REGS_IP(ctx)	DTP_REG(ctx, pc)
#else
#error "this architecture is not known here"
#endif

#include "core_types.h"

#define DTP_PF_KTHREAD	0x00200000	/* task_struct.flags */
#define DTP_INLINE	static inline __attribute__((always_inline))

/*
 * A function that the verifier looks at once, apart from whoever calls it and
 * whatever is known there: what is behind a call is not multiplied by the
 * ways to it.  Its pointers may be NULL as far as the verifier knows.
 */
#define DTP_APART	__attribute__((noinline))

/* Read a member of a kernel struct; 0 bytes where it cannot be read. */
#define DTP_READ(to, from)						\
	bpf_probe_read_kernel((to), sizeof(*(to)), (from))

/*
 * A raw tracepoint's stack begins with the program (on arm64 twice: as pc,
 * and as the return address of the helper's frame) and bpf_trace_runN.  After
 * these may come __bpf_trace_NAME and, when somebody else listens too,
 * __traceiter_NAME: those only a symbol can tell, so they are left.
 */
#if defined(__TARGET_ARCH_arm64)
#define DTP_RAW_TP_SKIP	3
#else
#define DTP_RAW_TP_SKIP	2
#endif

/*
 * The current task, which may be read directly: the verifier knows what it
 * points to, and a load that faults gives 0.
 */
DTP_INLINE const struct task_struct *
dtp_current(void)
{
	return ((const struct task_struct *)bpf_get_current_task_btf());
}

/* Which of its turns on a CPU a thread has; 0: this kernel does not count. */
DTP_INLINE __u64
dtp_task_turn(__u64 word)
{
	const struct task_struct *task = (void *)(unsigned long)word;
	unsigned long turn = 0;

	if (bpf_core_field_exists(task->sched_info.pcount))
		DTP_READ(&turn, &task->sched_info.pcount);
	return (turn);
}

/*
 * At a switch to a thread: its turn thereafter.  The kernel does not count the
 * switch if the thread was preempted while it was about to block: then it has
 * not noted that the thread is queued.
 */
DTP_INLINE __u64
dtp_task_next_turn(__u64 word)
{
	const struct task_struct *task = (void *)(unsigned long)word;
	unsigned long long queued = 0;

	if (bpf_core_field_exists(task->sched_info.pcount))
		DTP_READ(&queued, &task->sched_info.last_queued);
	return (dtp_task_turn(word) + (queued != 0));
}

/* Is it runnable?  A blocked task may stay queued for a while. */
DTP_INLINE int
dtp_task_is_queued(const struct task_struct *task)
{
	return (task->on_rq != 0 &&
	    !(bpf_core_field_exists(task->se.sched_delayed) &&
	    task->se.sched_delayed));
}

/*
 * The registers of a system call, as the kernel hands them to its tracepoints
 * with a type (tp_btf): like the task, they are read directly.
 *
 * dtp_call_read: the six arguments and the caller's pc; arg may be NULL.  It
 * writes where they are wanted: the stack is short.
 */
#if defined(__TARGET_ARCH_x86)
#define DTP_KERNEL_BIT	63

DTP_INLINE void
dtp_call_read(__u64 *arg, __u64 *ip, const void *from)
{
	const struct pt_regs___x86 *at = from;

	*ip = at->ip;
	if (arg == NULL)
		return;
	arg[0] = at->di;
	arg[1] = at->si;
	arg[2] = at->dx;
	arg[3] = at->r10;
	arg[4] = at->r8;
	arg[5] = at->r9;
}

DTP_INLINE __u64
dtp_call_number(const void *from)
{
	const struct pt_regs___x86 *at = from;

	return (at->orig_ax);
}

/* A 32-bit call, whose numbers mean something else: TS_COMPAT. */
DTP_INLINE int
dtp_call_is_compat(const struct task_struct *task)
{
	return ((task->thread_info.status & 0x2) != 0);
}
#elif defined(__TARGET_ARCH_arm64)
#define DTP_KERNEL_BIT	55	/* above it, a user address may have a tag */

DTP_INLINE void
dtp_call_read(__u64 *arg, __u64 *ip, const void *from)
{
	const struct pt_regs___aarch64 *at = from;

	*ip = at->pc;
	if (arg == NULL)
		return;
	for (int i = 0; i < 6; i++)
		arg[i] = at->regs[i];
}

/* Unsigned: its bounds in 32 bits must hold in 64 for the verifier. */
DTP_INLINE __u64
dtp_call_number(const void *from)
{
	const struct pt_regs___aarch64 *at = from;

	return ((__u32)at->syscallno);
}

/* A 32-bit call, whose numbers mean something else: TIF_32BIT. */
DTP_INLINE int
dtp_call_is_compat(const struct task_struct *task)
{
	return ((task->thread_info.flags >> 22 & 1) != 0);
}
#endif

/*
 * Whose memory a pointer of the kernel points to: most kernels' types do not
 * tell (BTF has __user only if clang built the kernel).
 */
DTP_INLINE int
dtp_is_kernel(__u64 address)
{
	return ((address >> DTP_KERNEL_BIT & 1) != 0);
}

/*
 * Whose stack is walked: the current task's, unless a program looks at others
 * (other.bpf.h).
 */
#ifdef DTP_OTHER_TASK
#include "other.bpf.h"
#else
#define dtp_read_user		bpf_probe_read_user
#define dtp_walked_mm()		(dtp_current()->mm)
#endif

#endif /* COMPAT_BPF_H */
