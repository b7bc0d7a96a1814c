/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Where a task is that a probe's breakpoint has stopped.  Its registers do not
 * tell: on x86-64 they point behind the breakpoint until the kernel has found
 * the probe, and while the kernel has the instruction executed elsewhere they
 * point there.  Both ways the walk would take the rule of another instruction.
 *
 *	[X]	the breakpoint is taken		pc is X + 1
 *		the probe is found, programs run	X
 *		emulated			behind it, a push: X + 1
 *	or	executed in another place	there, then behind it
 *
 * Called by unwind.bpf.h with the registers that it begins with, and by probes.
 */
#ifndef TRAP_BPF_H
#define TRAP_BPF_H

#include "unwind_step.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define DTP_TRAP_PC(uw)		((uw)->uw_user.rip)
#define DTP_TRAP_CODE		0xcc
#define DTP_TRAP_CALL		0xe8	/* call rel32 */
#else
#define DTP_TRAP_PC(uw)		((uw)->uw_user.pc)
#endif
#define DTP_TRAP_LONGEST	16	/* bytes of an instruction */

/*
 * The return address below the saved registers, in the code by which the kernel
 * was entered: it tells a breakpoint from other entries.
 */
DTP_INLINE __u64
dtp_trap_entry(void)
{
	const __u64 *regs = (const void *)bpf_task_pt_regs(
	    (void *)dtp_current());
	__u64 entry = 0;

	DTP_READ(&entry, regs - 1);
	return (entry);
}

/*
 * A probe fires: store where, for dtp_trap_has_fired, and by which code of the
 * kernel breakpoints enter.
 */
DTP_INLINE void
dtp_trap_note(struct dtp_stream *stream, const void *ctx)
{
#if defined(__TARGET_ARCH_x86)
	const struct pt_regs *regs = ctx;
	struct dtp_control *session;
	__u32 zero = 0;

	DTP_STORE(&stream->ss_probe_pc, regs->rip);
	DTP_STORE(&stream->ss_probe_sp, regs->rsp);
	session = bpf_map_lookup_elem(&control, &zero);
	if (session != NULL && DTP_LOAD(&session->co_trap) == 0)
		DTP_STORE(&session->co_trap, dtp_trap_entry());
#else
	(void)stream, (void)ctx;
#endif
}

#ifndef DTP_UW_ELSEWHERE

#if defined(__TARGET_ARCH_x86)
/* True if this task has entered the kernel by a breakpoint. */
DTP_INLINE int
dtp_trap_is_taken(void)
{
	struct dtp_control *session;
	__u64 entry;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session == NULL)
		return (0);
	entry = DTP_LOAD(&session->co_trap);
	return (entry != 0 && entry == dtp_trap_entry());
}

/*
 * True if the word at the stack pointer is that of a register: the kernel may
 * have emulated a push, so that the pc is behind it.
 */
DTP_INLINE int
dtp_trap_has_pushed(struct dtp_unwind *uw)
{
	const DTP_UW_REGS *regs = &uw->uw_user;
	__u64 word = 0;

	if (dtp_uw_load(uw, regs->rsp, &word) != 0)
		return (1);
	return (word == regs->rbp || word == regs->rbx || word == regs->rax ||
	    word == regs->rcx || word == regs->rdx || word == regs->rsi ||
	    word == regs->rdi);
}

/* True if the last probe of this CPU has fired here: at a breakpoint. */
DTP_INLINE int
dtp_trap_has_fired(const struct dtp_unwind *uw)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct dtp_stream *stream = bpf_map_lookup_elem(&streams, &cpu);

	return (stream == NULL ||
	    (DTP_LOAD(&stream->ss_probe_pc) == uw->uw_user.rip &&
	    DTP_LOAD(&stream->ss_probe_sp) == uw->uw_user.rsp));
}

/* True if the return address on the stack is that of a call to here. */
DTP_INLINE int
dtp_trap_is_called(struct dtp_unwind *uw)
{
	__u64 next = 0, code = 0;

	if (dtp_uw_load(uw, uw->uw_user.rsp, &next) != 0 || dtp_read_user(
	    &code, sizeof(code), (const void *)(next - 8)) != 0)
		return (0);
	return ((code >> 24 & 0xff) == DTP_TRAP_CALL &&
	    next + (__u64)(__s64)(__s32)(code >> 32) == uw->uw_user.rip);
}

/*
 * True if the pc is right behind a breakpoint whose probe the kernel has not
 * found yet.  Where a function begins behind the return of another, there may
 * be two breakpoints in a row, and the pc may be at the second one, found.
 * New kernels tell that while they run programs of the probe; else what these
 * have stored does, or the call to the function.
 */
DTP_INLINE int
dtp_trap_is_behind(struct dtp_unwind *uw, const struct uprobe_task *probing)
{
	__u8 code[2] = { 0 };

	if (!dtp_trap_is_taken() || dtp_read_user(code, sizeof(code),
	    (const void *)(uw->uw_user.rip - 1)) != 0 ||
	    code[0] != DTP_TRAP_CODE)
		return (0);
	if (code[1] == DTP_TRAP_CODE && (!bpf_core_field_exists(
	    probing->auprobe) || probing->auprobe != NULL ||
	    dtp_trap_has_fired(uw) || dtp_trap_is_called(uw)))
		return (0);
	return (!dtp_trap_has_pushed(uw));
}
#endif

/* Put the pc where the program is. */
DTP_APART int
dtp_trap_correct(struct dtp_unwind *uw)
{
	const struct task_struct *task = dtp_current();
	const struct uprobe_task *probing;
	unsigned long copy = 0, original = 0;

	if (uw == NULL || !bpf_core_field_exists(task->utask))
		return (0);
	probing = task->utask;
	if (probing == NULL)
		return (0);
	if (probing->active_uprobe != NULL) {
		DTP_READ(&copy, &probing->xol_vaddr);
		DTP_READ(&original, &probing->vaddr);
		if (DTP_TRAP_PC(uw) - copy <= DTP_TRAP_LONGEST)
			DTP_TRAP_PC(uw) += original - copy;
		return (0);
	}
#if defined(__TARGET_ARCH_x86)
	if (dtp_trap_is_behind(uw, probing))
		uw->uw_user.rip--;
#endif
	return (0);
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* TRAP_BPF_H */
