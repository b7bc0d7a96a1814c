/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The stacks of a task that is not the current one, and what it does: all
 * of one point in time, or none of it.  A task that is on a CPU has left its
 * registers nowhere.  One that is not stands still for as long as it is not
 * switched to; whether it was, its counts of switches tell afterwards.
 *
 * Included by look.bpf.h.
 */
#ifndef WALK_OTHER_BPF_H
#define WALK_OTHER_BPF_H

/* The call that it is in, as it was made. */
DTP_INLINE void
dtp_other_call(struct dtp_args *args, const struct dtp_unwind *uw,
    const struct task_struct *task)
{
	const DTP_UW_REGS *regs = &uw->uw_user;

	if (dtp_call_is_compat(task))
		return;
#if defined(__TARGET_ARCH_x86)
	if (!dtp_uw_in_syscall(regs))
		return;
	args->ag_value[DTP_TH_CALL] = regs->orig_rax;
	args->ag_value[DTP_TH_ARG] = regs->rdi;
	args->ag_value[DTP_TH_ARG + 1] = regs->rsi;
	args->ag_value[DTP_TH_ARG + 2] = regs->rdx;
	args->ag_value[DTP_TH_ARG + 3] = regs->r10;
#else
	const struct pt_regs___aarch64 *all = (const void *)
	    bpf_task_pt_regs((void *)task);
	__s32 number = -1;

	DTP_READ(&number, &all->syscallno);
	if (number < 0)
		return;
	args->ag_value[DTP_TH_CALL] = number;
	for (int i = 0; i < 4; i++)
		args->ag_value[DTP_TH_ARG + i] = regs->regs[i];
#endif
}

/* Apart, so that the loop below ends with a jump, as Linux 6.1 wants it. */
DTP_APART int
dtp_other_try(struct dtp_unwind *uw, __u32 pid)
{
	if (uw == NULL)
		return (0);
	other.ot_wants = 0;
	dtp_uw_walk(uw, pid);
	if (uw->uw_chain != 0 && !uw->uw_keeps)
		dtp_chain_walk(uw);
	return (0);
}

struct dtp_bring {
	const struct task_struct *br_task;
	struct dtp_unwind *br_uw;
	__u32	br_pid;
};

/* One page more; 1: the walk missed none. */
static long
dtp_other_again(__u32 n, void *context)
{
	struct dtp_bring *bring = context;

	if (other.ot_wants == 0)
		return (1);
	dtp_page_bring(bring->br_task);
	dtp_other_try(bring->br_uw, bring->br_pid);
	return (0);
}

/* Again and again, until it misses no page. */
DTP_INLINE void
dtp_other_user(struct dtp_walk *walk, const struct task_struct *task,
    struct dtp_args *args)
{
	struct dtp_unwind *uw = &walk->wk_scratch->sc_unwind;
	struct dtp_bring bring;

	if (dtp_uw_leave(uw, task) == NULL) {
		walk->wk_ustatus = DTP_S_NONE;
		return;
	}
	other.ot_mm = (__u64)task->mm;
	other.ot_tid = dtp_tid_inside(task);
	other.ot_stack = dtp_stack_top(task);
	other.ot_walk++;
	dtp_other_call(args, uw, task);
	dtp_other_try(uw, task->tgid);
	bring.br_task = task;
	bring.br_uw = uw;
	bring.br_pid = task->tgid;
	bpf_loop(DTP_PAGES, dtp_other_again, &bring, 0);
	dtp_walked_user(walk);
}

DTP_INLINE void
dtp_walk_other(struct dtp_walk *walk, const struct task_struct *task,
    struct dtp_args *args)
{
	__u64 switches = task->nvcsw + task->nivcsw;
	__u64 about;

	barrier();
	walk->wk_scratch->sc_unwind.uw_nscript = 0;
	about = task->exit_state != 0 ? DTP_TH_EXITED : 0;
	if (task->on_cpu) {
		args->ag_value[DTP_TH_ABOUT] = about | DTP_TH_ON_CPU;
		return;
	}
	about |= dtp_task_is_queued(task) ? DTP_TH_QUEUED : 0;
	args->ag_value[DTP_TH_STATE] = task->__state;
	if (cfg.dc_parts & DTP_P_KSTACK)
		dtp_walked_kernel(walk, bpf_get_task_stack((void *)task,
		    walk->wk_scratch->sc_kernel, DTP_KBYTES, 0));
	if (cfg.dc_parts & DTP_P_USTACK)
		dtp_other_user(walk, task, args);
	/* On a CPU first: it counts a switch before it leaves. */
	barrier();
	if (task->on_cpu)
		about |= DTP_TH_MOVED;
	barrier();
	if (task->nvcsw + task->nivcsw != switches)
		about |= DTP_TH_MOVED;
	args->ag_value[DTP_TH_ABOUT] = about;
}

#endif /* WALK_OTHER_BPF_H */
