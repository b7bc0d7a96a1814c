/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The walk over a user stack: by unwind tables (dtp_unwind.h), by frame
 * pointers where a mapping has no table.  All frames of whatever the
 * distribution ships, without copying stacks out.
 *
 * Called by sample.bpf.h, in any context, with scratch of its own.  Memory
 * of the process is only read, and only what is resident: a page that is not
 * there ends the walk with FAULT.
 *
 * The verifier sees loops as bpf_loop callbacks, searches without branches,
 * and what is rare or long as functions of their own (DTP_APART), so it need
 * not follow every path.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "kept.bpf.h"
#include "trap.bpf.h"
#include "unwind_step.bpf.h"
#include "unwind_vma.bpf.h"

#ifndef DTP_UW_ELSEWHERE

DTP_INLINE __u32 *
dtp_uw_slab_of(__u32 slab)
{
	void *inner = bpf_map_lookup_elem(&uw_slabs, &slab);
	__u32 zero = 0;

	return (inner == NULL ? NULL : bpf_map_lookup_elem(inner, &zero));
}

/* The mapping that holds pc, into uw_map.  0: found. */
DTP_INLINE int
dtp_uw_find_map(struct dtp_unwind *uw, __u64 pc)
{
	const __u32 *slab = dtp_uw_slab_of(uw->uw_slab);
	const struct dtp_uw_map *map;
	__u64 pos = 0, n = uw->uw_nmaps, at;

	if (slab == NULL)
		return (-1);
	for (int i = 0; i < 13; i++) {
		if (n == 0)
			break;
		at = uw->uw_at + (pos + (n >> 1)) * 8;
		at &= DTP_UW_SLAB_WORDS - 1;
		barrier_var(at);
		map = (const struct dtp_uw_map *)(slab + at);
		DTP_UW_STEP(pos, n, pc, map->um_start);
	}
	if (pos == 0)
		return (-1);
	at = (uw->uw_at + (pos - 1) * 8) & (DTP_UW_SLAB_WORDS - 1);
	barrier_var(at);
	map = (const struct dtp_uw_map *)(slab + at);
	if (pc < map->um_start || pc >= map->um_end)
		return (-1);
	uw->uw_map = *map;
	return (0);
}

/* The rule in force at an address of a module; END where there is none. */
DTP_INLINE __u32
dtp_uw_find_rule(const struct dtp_uw_module *module, __u64 address)
{
	__u64 off, pos, n, at;
	const __u32 *slab;

	off = address - module->uo_base;
	if (address < module->uo_base || off >= module->uo_span)
		return (DTP_UW_END);
	slab = dtp_uw_slab_of(module->uo_slab);
	if (slab == NULL)
		return (DTP_UW_END);
	at = (module->uo_index + (off >> DTP_UW_BUCKET_BITS)) &
	    (DTP_UW_SLAB_WORDS - 1);
	barrier_var(at);
	pos = slab[at];
	n = slab[at + 1] - pos;
	off &= 0xffff;
	for (int i = 0; i < 11; i++) {
		if (n == 0)
			break;
		at = (module->uo_rows + pos + (n >> 1)) &
		    (DTP_UW_SLAB_WORDS - 1);
		barrier_var(at);
		DTP_UW_STEP(pos, n, off, slab[at] & 0xffff);
	}
	at = (module->uo_rows + pos - 1) & (DTP_UW_SLAB_WORDS - 1);
	barrier_var(at);
	return (slab[at] >> 16);
}

/* The place of a key; what is to stand there above the rule, in tag. */
DTP_INLINE __u64 *
dtp_uw_remembered(const struct dtp_unwind *uw, __u64 pc, __u64 *tag)
{
	__u64 key = (pc | uw->uw_generation << DTP_UW_PC_BITS) * DTP_UW_MIX &
	    DTP_UW_KEY_MASK;
	__u32 at = bpf_get_smp_processor_id() * DTP_UW_CACHE +
	    (__u32)(key >> 48);

	*tag = key << 16;
	return (bpf_map_lookup_elem(&uw_cache, &at));
}

/*
 * The rule for a pc out of the tables, or minus the status that says why
 * there is none.
 */
DTP_APART int
dtp_uw_search(struct dtp_unwind *uw, __u64 pc)
{
	struct dtp_uw_module *module;
	__u32 rule = DTP_UW_END, number;
	__u16 state;

	if (uw == NULL || ((pc < uw->uw_map.um_start ||
	    pc >= uw->uw_map.um_end) && dtp_uw_find_map(uw, pc) != 0))
		return (-DTP_S_NOMAP);
	/* Linux 6.1 takes keys from few kinds of memory. */
	number = uw->uw_map.um_module;
	module = bpf_map_lookup_elem(&uw_modules, &number);
	if (module == NULL)
		return (-DTP_S_NOMOD);
	/*
	 * Partner: the releasing stores of uo_state in
	 * backend/bpf/publish/modules.c.
	 */
	state = DTP_LOAD(&module->uo_state);
	switch (state & DTP_UW_STATE_MASK) {
	case DTP_UW_TABLE:
		if (!module->uo_used)
			module->uo_used = 1;
		rule = dtp_uw_find_rule(module, pc - uw->uw_map.um_bias);
		barrier();
		if (DTP_LOAD(&module->uo_state) != state)
			return (-DTP_S_NOMOD);
		break;
	case DTP_UW_NO_TABLE:
		rule = DTP_UW_BARE;
		break;
	default:
		module->uo_wanted = 1;
		return (uw->uw_map.um_is_young && number == DTP_UW_LOST ?
		    -DTP_S_NOPROC : -DTP_S_NOMOD);
	}
	return (rule & 0xffff);
}

/* The rule for the frame that the walk is at, remembered or searched. */
DTP_INLINE int
dtp_uw_rule_of(struct dtp_unwind *uw)
{
	__u64 pc = uw->uw_pc - (uw->uw_is_return ? 1 : 0);
	__u64 tag, word, *remembered = dtp_uw_remembered(uw, pc, &tag);
	int rule;

	if (remembered == NULL)
		return (-DTP_S_NOMAP);
	word = *(volatile __u64 *)remembered;
	/* A rule of 0 would leave the frame where it is: the place is free. */
	if (((word ^ tag) & ~0xffffULL) == 0 && (word & 0xffff) != 0)
		return (word & 0xffff);
	rule = dtp_uw_search(uw, pc);
	if (rule == -DTP_S_NOMAP &&
	    dtp_uw_take_vma(uw, dtp_find_vma(uw, pc), pc) == 0)
		rule = dtp_uw_search(uw, pc);
	/* The generation is that of what is published. */
	if (rule >= 0 && !uw->uw_map.um_is_young)
		*(volatile __u64 *)remembered = tag | (rule & 0xffff);
	return (rule);
}

/*
 * The walk does not know how to leave the n-th frame, where it is.  What it
 * finds by frame pointers from here on is a guess.
 */
DTP_INLINE void
dtp_uw_doubt(struct dtp_unwind *uw, __u32 status, __u32 n)
{
	if (uw->uw_doubt != 0)
		return;
	uw->uw_doubt = status;
	uw->uw_sure = n;
	uw->uw_at_return = uw->uw_is_return;
	uw->uw_at_pc = uw->uw_pc;
	uw->uw_at_sp = uw->uw_sp;
	uw->uw_at_fp = uw->uw_fp;
}

/*
 * Keep the pc that the walk is at; 1: the walk has ended.  Of a deep stack the
 * innermost frames stay, and the others take turns, so that its root is there.
 */
DTP_INLINE long
dtp_uw_keep(struct dtp_unwind *uw)
{
	__u64 n = uw->uw_n, at, turn = n - DTP_INNER_UFRAMES;
	__u64 is_outer = ~((__s64)turn >> 63);

	at = (n & ~is_outer) | ((DTP_INNER_UFRAMES +
	    (turn & (DTP_OUTER_UFRAMES - 1))) & is_outer);
	barrier_var(at);
	if (at >= DTP_MAX_UFRAMES)
		return (dtp_uw_end(uw, DTP_S_DEEP));
	uw->uw_frame[at] = uw->uw_pc;
	uw->uw_frame_sp[at] = uw->uw_sp;
	uw->uw_n = n + 1;
	return (0);
}

/* One frame of a walk by tables; 1: the walk has ended. */
static long
dtp_uw_frame(__u32 index, struct dtp_unwind **context)
{
	struct dtp_unwind *uw = *context;
	__u32 n = uw->uw_n, by_fp = uw->uw_by_fp;
	long ended;
	int rule;

	(void)index;
	if (dtp_uw_keep(uw) != 0)
		return (1);
	uw->uw_by_fp = 0;
	rule = dtp_uw_rule_of(uw);
	if (rule >= 0) {
		if (uw->uw_keeps && (rule == DTP_UW_END ||
		    rule == DTP_UW_BARE)) {
			uw->uw_kept_by_fp = by_fp;
			dtp_kept_take(uw, rule == DTP_UW_BARE);
		}
		ended = dtp_uw_step(uw, rule);
		/* It has a rule, which is not one for the kernel. */
		if (ended && uw->uw_status == DTP_S_NOROW &&
		    rule != DTP_UW_END && rule != DTP_UW_BARE)
			dtp_uw_doubt(uw, DTP_S_NOROW, n);
		return (ended != 0);
	}
	if (by_fp && rule != -DTP_S_NOPROC) {
		/*
		 * A guess that led out of all code: take it back, unless it
		 * has the place of another frame already.
		 */
		if (n < DTP_MAX_UFRAMES)
			uw->uw_n = n;
		return (dtp_uw_end(uw, -rule));
	}
	dtp_uw_doubt(uw, -rule, n);
	return (dtp_uw_guess(uw, -rule) != 0);
}

/* One frame of a walk by frame pointers alone. */
static long
dtp_uw_fp_frame(__u32 index, struct dtp_unwind **context)
{
	struct dtp_unwind *uw = *context;

	(void)index;
	if (dtp_uw_keep(uw) != 0)
		return (1);
	return (dtp_uw_fp_step(uw, DTP_S_BADSP));
}

/*
 * Is there a user stack?  Not once an exit has given the memory up.  Nor while
 * an exec loads a program into a new one: the registers are still those of the
 * program before, whose stack is gone.
 */
DTP_INLINE int
dtp_uw_has_stack(const struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;

	return ((task->flags & DTP_PF_KTHREAD) == 0 && mm != NULL &&
	    mm->end_code != 0);
}

/*
 * Where the registers are with which the task left user space; NULL: it has
 * none.
 *
 * A walk by frame pointers reads the few that it needs where they are; rules
 * and snapshots want a copy of all.
 */
DTP_INLINE const DTP_UW_REGS *
dtp_uw_leave(struct dtp_unwind *uw, const struct task_struct *task)
{
	const DTP_UW_REGS *regs;

	if (!dtp_uw_has_stack(task))
		return (NULL);
	uw->uw_exec_id = task->self_exec_id;
	regs = (const void *)bpf_task_pt_regs((void *)task);
	if (cfg.dc_by_fp)
		return (regs);
	return (bpf_probe_read_kernel(&uw->uw_user, sizeof(*regs), regs) ==
	    0 ? &uw->uw_user : NULL);
}

/* The registers to begin with.  0: it has some. */
DTP_INLINE int
dtp_uw_registers(struct dtp_unwind *uw)
{
#ifdef DTP_OTHER_TASK
	const DTP_UW_REGS *regs = &uw->uw_user;	/* dtp_uw_leave was called */
#else
	const DTP_UW_REGS *regs = dtp_uw_leave(uw, dtp_current());
#endif
#if defined(__TARGET_ARCH_x86)
	__u16 cs;
#endif

	if (regs == NULL)
		return (-1);
#ifndef DTP_OTHER_TASK
	if (!cfg.dc_by_fp)
		dtp_trap_correct(uw);
#endif
#if defined(__TARGET_ARCH_x86)
	/* cs is the low half of its word: what is above may be flags. */
	cs = *(const __u16 *)&regs->cs;
	if ((cs & 3) != 3 || cs == 0x23)
		return (-1);
	uw->uw_pc = regs->rip;
	uw->uw_sp = regs->rsp;
	uw->uw_fp = regs->rbp;
	if (cfg.dc_by_fp)
		return (0);
	uw->uw_is_return = dtp_uw_in_syscall(&uw->uw_user);
	uw->uw_bx = regs->rbx;
	uw->uw_has_bx = 1;
	uw->uw_reg[0] = regs->rax;
	uw->uw_reg[1] = regs->rdx;
	uw->uw_reg[2] = regs->rcx;
	uw->uw_reg[3] = regs->rbx;
	uw->uw_reg[4] = regs->rsi;
	uw->uw_reg[5] = regs->rdi;
	uw->uw_reg[6] = regs->rbp;
	uw->uw_reg[7] = regs->rsp;
	uw->uw_reg[8] = regs->r8;
	uw->uw_reg[9] = regs->r9;
	uw->uw_reg[10] = regs->r10;
	uw->uw_reg[11] = regs->r11;
	uw->uw_reg[12] = regs->r12;
	uw->uw_reg[13] = regs->r13;
	uw->uw_reg[14] = regs->r14;
	uw->uw_reg[15] = regs->r15;
#else
	if ((regs->pstate & 0x1f) != 0)
		return (-1);
	uw->uw_pc = regs->pc;
	uw->uw_sp = regs->sp;
	uw->uw_fp = regs->regs[29];
	if (cfg.dc_by_fp)
		return (0);
	uw->uw_ra = regs->regs[30];
	for (int i = 0; i < DTP_UW_NREGS; i++)
		uw->uw_reg[i] = regs->regs[i];
#endif
	return (0);
}

/* A process's entry, or NULL. */
DTP_INLINE struct dtp_uw_proc *
dtp_uw_find_process(__u32 tgid)
{
	for (int i = 0; i < DTP_UW_PROBES; i++) {
		__u32 at = (tgid * 2654435761U + i) & (DTP_UW_PROCS - 1);
		struct dtp_uw_proc *proc = bpf_map_lookup_elem(&uw_procs, &at);

		if (proc == NULL || proc->up_tgid == 0)
			return (NULL);
		if (proc->up_tgid == tgid)
			return (proc);
	}
	return (NULL);
}

/* What it says, copied whole or not at all.  0: mappings are known. */
DTP_INLINE int
dtp_uw_process(struct dtp_unwind *uw, __u32 tgid)
{
	struct dtp_uw_proc *proc = dtp_uw_find_process(tgid);
	__u64 exec_id, stale;
	__u32 sequence;

	if (proc == NULL)
		return (-1);
	/*
	 * Partners: the stores of up_sequence in backend/bpf/publish/publish.c.
	 */
	sequence = DTP_LOAD(&proc->up_sequence);
	barrier();
	uw->uw_slab = DTP_LOAD(&proc->up_slab);
	uw->uw_at = DTP_LOAD(&proc->up_at);
	uw->uw_nmaps = DTP_LOAD(&proc->up_nmaps);
	uw->uw_generation = DTP_LOAD(&proc->up_generation);
	exec_id = DTP_LOAD(&proc->up_exec_id);
	stale = DTP_LOAD(&proc->up_stale);
	uw->uw_chain = DTP_LOAD(&proc->up_chain);
	barrier();
	if ((sequence & 1) || DTP_LOAD(&proc->up_sequence) != sequence)
		return (-1);
	if (stale == uw->uw_generation)
		return (-1);
	return (exec_id == DTP_UW_ANY_EXEC || exec_id == uw->uw_exec_id ?
	    0 : -1);
}

DTP_INLINE struct dtp_uw_number *
dtp_uw_number(__u32 tgid)
{
	__u32 at = tgid & (DTP_UW_NUMBERS - 1);

	return (bpf_map_lookup_elem(&uw_numbers, &at));
}

/* Whose mappings a child has; 0: its own. */
DTP_INLINE __u32
dtp_uw_whose(const struct dtp_uw_number *number, __u32 tgid)
{
	__u64 child = number == NULL ? 0 : DTP_LOAD(&number->un_child);

	return ((__u32)child == tgid ? child >> 32 : 0);
}

/*
 * Mappings that are published, of the task's process or of whoever forked it;
 * or none, where all is found in the kernel.
 */
DTP_INLINE void
dtp_uw_mappings(struct dtp_unwind *uw, __u32 tgid)
{
	__u32 whose;

	if (dtp_uw_process(uw, tgid) == 0)
		return;
	whose = dtp_uw_whose(dtp_uw_number(tgid), tgid);
	if (whose != 0 && dtp_uw_process(uw, whose) == 0)
		return;
	uw->uw_nmaps = uw->uw_generation = uw->uw_chain = 0;
}

/* Walk the user stack of the current task into uw_frame. */
DTP_APART int
dtp_uw_walk(struct dtp_unwind *uw, __u32 tgid)
{
	struct dtp_unwind *context = uw;

	if (uw == NULL)
		return (0);
	uw->uw_n = 0;
	uw->uw_status = DTP_S_NONE;
	uw->uw_is_return = uw->uw_by_fp = uw->uw_has_bx = 0;
	uw->uw_first = 1;
	uw->uw_doubt = uw->uw_sure = 0;
	uw->uw_chain = uw->uw_nscript = uw->uw_keeps = 0;
	uw->uw_kept_inner = uw->uw_outer = 0;
	uw->uw_map.um_start = uw->uw_map.um_end = 0;
	uw->uw_window = uw->uw_window_bytes = 0;
	if (dtp_uw_registers(uw) != 0)
		return (0);
	/* Unless it ends before DTP_MAX_USTEPS. */
	uw->uw_status = DTP_S_DEEP;
	if (cfg.dc_by_fp) {
		bpf_loop(DTP_MAX_USTEPS, dtp_uw_fp_frame, &context, 0);
		return (0);
	}
	if (cfg.dc_snap_mode == DTP_SNAP_ONLY) {
		uw->uw_frame[0] = uw->uw_pc;
		uw->uw_n = 1;
		uw->uw_status = DTP_S_BUSY;
		return (0);
	}
	dtp_uw_mappings(uw, tgid);
	dtp_kept_begin(uw);
	bpf_loop(DTP_MAX_USTEPS, dtp_uw_frame, &context, 0);
	dtp_kept_end(uw);
	/* Guesses may end well and have left frames out, or lead astray. */
	if (uw->uw_doubt != 0 && (uw->uw_status == DTP_S_OK ||
	    uw->uw_status == DTP_S_BADSP))
		uw->uw_status = uw->uw_doubt;
	return (0);
}

/* A child is walked with its parent's mappings until it has its own. */
DTP_INLINE void
dtp_uw_inherit(__u32 parent, __u32 child)
{
	struct dtp_uw_number *number = dtp_uw_number(child);
	__u64 whose;

	if (parent == child || number == NULL)
		return;
	whose = dtp_uw_whose(dtp_uw_number(parent), parent);
	if (whose == 0)
		whose = parent;
	DTP_STORE(&number->un_child, whose << 32 | child);
}

/* By exec, or by its end, the process has lost the mappings that it had. */
DTP_INLINE void
dtp_uw_forget(__u32 tgid)
{
	struct dtp_uw_number *number = dtp_uw_number(tgid);
	struct dtp_uw_proc *proc;

	if (number == NULL)
		return;
	if (dtp_uw_whose(number, tgid) != 0)
		DTP_STORE(&number->un_child, 0ULL);
	if (DTP_LOAD(&number->un_published) == 0)
		return;
	proc = dtp_uw_find_process(tgid);
	if (proc != NULL)
		proc->up_stale = proc->up_generation;
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* UNWIND_BPF_H */
