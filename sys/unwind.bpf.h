/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The walk over a user stack: by unwind tables (dtp_unwind.h), by frame
 * pointers where a mapping has no table.  All frames of whatever the
 * distribution ships, without copying stacks out.
 *
 * Called by sample.bpf.h, in any context, with scratch of its own.  Memory
 * of the process is only read, and only what is resident: a page that is not
 * there ends the walk with FAULT.  A few kilobytes of the stack are copied
 * at a time, never across the end of a page (a read that faults costs a
 * microsecond), and walked inside the copy.
 *
 * The verifier sees loops as bpf_loop callbacks and searches without
 * branches, so it need not follow every path.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "maps.bpf.h"

#ifndef DTP_UW_ELSEWHERE

DTP_INLINE __u32 *
dtp_uw_slab_of(__u32 slab)
{
	void *inner = bpf_map_lookup_elem(&uw_slabs, &slab);
	__u32 zero = 0;

	return (inner == NULL ? NULL : bpf_map_lookup_elem(inner, &zero));
}

/*
 * A word of the stack, from the copy; what is not in it is copied first, as
 * much as there is room for and the page holds.
 */
DTP_INLINE int
dtp_uw_load(struct dtp_unwind *uw, __u64 at, __u64 *word)
{
	__u64 off = at - uw->uw_window, bytes;

	if (at & 7)
		return (bpf_probe_read_user(word, 8, (void *)at) != 0);
	if (off + 8 > uw->uw_window_bytes || off >= uw->uw_window_bytes) {
		bytes = DTP_UW_PAGE - (at & (DTP_UW_PAGE - 1));
		if (bytes > DTP_UW_WINDOW * 8)
			bytes = DTP_UW_WINDOW * 8;
		uw->uw_window_bytes = 0;
		if (bpf_probe_read_user(uw->uw_stack, bytes & 0xfff,
		    (void *)at) != 0)
			return (-1);
		uw->uw_window = at;
		uw->uw_window_bytes = bytes;
		off = 0;
	}
	*word = uw->uw_stack[(off >> 3) & (DTP_UW_WINDOW - 1)];
	return (0);
}

/* End of a walk, in a form that callbacks can return. */
DTP_INLINE long
dtp_uw_end(struct dtp_unwind *uw, __u32 status)
{
	uw->uw_status = status;
	return (1);
}

/*
 * Arrived at a caller.  A pc of 0 is where the first function of a thread
 * returns to.
 */
DTP_INLINE long
dtp_uw_arrive(struct dtp_unwind *uw, __u64 pc, __u64 sp, __u64 fp)
{
#if defined(__TARGET_ARCH_arm64)
	pc &= (1ULL << 48) - 1;		/* signed pointers */
#endif
	if (pc == 0)
		return (dtp_uw_end(uw, DTP_S_OK));
	uw->uw_pc = pc;
	uw->uw_sp = sp;
	uw->uw_fp = fp;
	uw->uw_is_return = 1;
	uw->uw_first = 0;
	return (0);
}

/* One step by frame pointer; what it finds must prove to be code. */
DTP_INLINE long
dtp_uw_fp_step(struct dtp_unwind *uw, __u32 otherwise)
{
	__u64 fp = uw->uw_fp, next, pc;

	if (fp == 0 && cfg.dc_by_fp)
		return (dtp_uw_end(uw, DTP_S_OK));
	if ((fp & 7) || fp < uw->uw_sp || fp - uw->uw_sp > DTP_UW_FP_REACH)
		return (dtp_uw_end(uw, otherwise));
	if (dtp_uw_load(uw, fp, &next) != 0 ||
	    dtp_uw_load(uw, fp + 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	uw->uw_by_fp = 1;
	return (dtp_uw_arrive(uw, pc, fp + 16, next));
}

/* Registers out of the frame that the kernel made for a signal handler. */
DTP_INLINE long
dtp_uw_signal_step(struct dtp_unwind *uw)
{
	__u64 pc, sp, fp;

#if defined(__TARGET_ARCH_x86)
	if (dtp_uw_load(uw, uw->uw_sp + 40 + 10 * 8, &fp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 40 + 15 * 8, &sp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 40 + 16 * 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
#else
	if (dtp_uw_load(uw, uw->uw_sp + 312 + 29 * 8, &fp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 30 * 8, &uw->uw_ra) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 31 * 8, &sp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 32 * 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	uw->uw_first = 2;	/* the link register counts, no other does */
#endif
	if (pc == 0)
		return (dtp_uw_end(uw, DTP_S_BADSP));
	uw->uw_pc = pc;
	uw->uw_sp = sp;
	uw->uw_fp = fp;
	uw->uw_is_return = 0;
	return (0);
}

/* The frame address must move outwards, or the walk would not end. */
DTP_INLINE int
dtp_uw_bad_cfa(const struct dtp_unwind *uw, __u64 cfa)
{
	return (uw->uw_is_return ? cfa <= uw->uw_sp : cfa < uw->uw_sp);
}

/* A rule that stands in its row. */
DTP_INLINE long
dtp_uw_inline_step(struct dtp_unwind *uw, __u32 rule)
{
	__u64 saved = rule & DTP_UW_UNITS_MASK;
	__u64 cfa, fp = uw->uw_fp, pc;

	cfa = (rule & DTP_UW_BASE_FP ? uw->uw_fp : uw->uw_sp) +
	    (rule >> DTP_UW_CFA_SHIFT & DTP_UW_UNITS_MASK) * DTP_UW_CFA_UNIT;
	if (dtp_uw_bad_cfa(uw, cfa))
		return (dtp_uw_end(uw, DTP_S_BADSP));
	if (saved != 0 && dtp_uw_load(uw, cfa - 8 * saved, &fp) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
#if defined(__TARGET_ARCH_x86)
	if (dtp_uw_load(uw, cfa - 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
#else
	if (saved == 0) {
		if (uw->uw_first == 0)
			return (dtp_uw_end(uw, DTP_S_NOROW));
		pc = uw->uw_ra;
	} else if (dtp_uw_load(uw, cfa - 8 * saved + 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
#endif
	return (dtp_uw_arrive(uw, pc, cfa, fp));
}

/* The frame address of a rule from the dictionary. */
DTP_INLINE int
dtp_uw_entry_cfa(struct dtp_unwind *uw, const struct dtp_uw_entry *entry,
    __u64 *cfa)
{
	__u64 base, off = (__u64)(__s64)entry->ue_cfa_off;

	switch (entry->ue_cfa) {
	case DTP_UW_CFA_SP:
		*cfa = uw->uw_sp + off;
		return (0);
	case DTP_UW_CFA_FP:
		*cfa = uw->uw_fp + off;
		return (0);
	case DTP_UW_CFA_REG:
		if (uw->uw_first != 1 || entry->ue_reg >= DTP_UW_NREGS)
			return (DTP_S_NOROW);
		*cfa = uw->uw_reg[entry->ue_reg & 31] + off;
		return (0);
	}
	base = entry->ue_cfa == DTP_UW_CFA_DEREF_SP ? uw->uw_sp : uw->uw_fp;
	if (dtp_uw_load(uw, base + off, cfa) != 0)
		return (DTP_S_FAULT);
	*cfa += (__u64)(__s64)entry->ue_cfa_add;
	return (0);
}

DTP_INLINE long
dtp_uw_entry_step(struct dtp_unwind *uw, __u32 rule)
{
	__u32 at = rule - DTP_UW_RULES;
	const struct dtp_uw_entry *entry = bpf_map_lookup_elem(&uw_entries,
	    &at);
	__u64 cfa = 0, fp = uw->uw_fp, pc = 0, off;
	int status;

	if (entry == NULL)
		return (dtp_uw_end(uw, DTP_S_NOROW));
	status = dtp_uw_entry_cfa(uw, entry, &cfa);
	if (status != 0)
		return (dtp_uw_end(uw, status));
	off = (__u64)(__s64)entry->ue_fp_off;
	if (entry->ue_fp == DTP_UW_FP_CFA)
		status = dtp_uw_load(uw, cfa + off, &fp);
	else if (entry->ue_fp == DTP_UW_FP_DEREF)
		status = dtp_uw_load(uw, uw->uw_fp + off, &fp);
	else if (entry->ue_fp == DTP_UW_FP_LOST)
		fp = 0;
	if (status != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	off = (__u64)(__s64)entry->ue_ra_off;
	if (entry->ue_ra == DTP_UW_RA_REG) {
		if (uw->uw_first == 0 || off >= DTP_UW_NREGS ||
		    (uw->uw_first == 2 && off != 30))
			return (dtp_uw_end(uw, DTP_S_NOROW));
		pc = uw->uw_ra;
		if (uw->uw_first == 1)
			pc = uw->uw_reg[off & 31];
	} else {
		if (dtp_uw_bad_cfa(uw, cfa))
			return (dtp_uw_end(uw, DTP_S_BADSP));
		if (dtp_uw_load(uw, cfa + off, &pc) != 0)
			return (dtp_uw_end(uw, DTP_S_FAULT));
	}
	return (dtp_uw_arrive(uw, pc, cfa, fp));
}

/*
 * Searches without branches: which half goes on is a mask, so to the
 * verifier every step looks the same.
 */
#define DTP_UW_STEP(pos, n, key, value) do {				\
	__u64 half_ = (n) >> 1;						\
	__s64 gt_ = ((__s64)(key) - (__s64)(value)) >> 63;		\
	(pos) += (half_ + 1) & ~gt_;					\
	(n) = (half_ & gt_) | (((n) - half_ - 1) & ~gt_);		\
	barrier_var(pos);						\
	barrier_var(n);							\
} while (0)

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

/* The rule for the frame that the walk is at, remembered or searched. */
DTP_INLINE int
dtp_uw_rule_of(struct dtp_unwind *uw, __u32 *rule)
{
	__u64 pc = uw->uw_pc - (uw->uw_is_return ? 1 : 0);
	__u64 tag, word, *remembered = dtp_uw_remembered(uw, pc, &tag);
	struct dtp_uw_module *module;

	if (remembered == NULL)
		return (DTP_S_NOMAP);
	word = *(volatile __u64 *)remembered;
	/* A rule of 0 would leave the frame where it is: the place is free. */
	if (((word ^ tag) & ~0xffffULL) == 0 && (word & 0xffff) != 0) {
		*rule = word & 0xffff;
		return (0);
	}
	if ((pc < uw->uw_map.um_start || pc >= uw->uw_map.um_end) &&
	    dtp_uw_find_map(uw, pc) != 0)
		return (DTP_S_NOMAP);
	module = bpf_map_lookup_elem(&uw_modules, &uw->uw_map.um_module);
	if (module == NULL)
		return (DTP_S_NOMOD);
	/* Partner: the releasing store of uo_state in unwind_modules.c. */
	switch (DTP_LOAD(&module->uo_state)) {
	case DTP_UW_TABLE:
		*rule = dtp_uw_find_rule(module, pc - uw->uw_map.um_bias);
		break;
	case DTP_UW_NO_TABLE:
		*rule = DTP_UW_END;
		break;
	default:
		module->uo_wanted = 1;
		return (DTP_S_NOMOD);
	}
	*(volatile __u64 *)remembered = tag | (*rule & 0xffff);
	return (0);
}

DTP_INLINE long
dtp_uw_plt_step(struct dtp_unwind *uw, __u64 from)
{
	__u64 cfa = uw->uw_sp + 8 + ((uw->uw_pc & 15) >= from ? 8 : 0), pc;

	if (dtp_uw_load(uw, cfa - 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	return (dtp_uw_arrive(uw, pc, cfa, uw->uw_fp));
}

DTP_INLINE long
dtp_uw_step(struct dtp_unwind *uw, __u32 rule)
{
	if (rule < DTP_UW_END)
		return (dtp_uw_inline_step(uw, rule));
	if (rule >= DTP_UW_RULES)
		return (dtp_uw_entry_step(uw, rule));
	switch (rule) {
	case DTP_UW_STOP:
		return (dtp_uw_end(uw, DTP_S_OK));
	case DTP_UW_SIGNAL:
		return (dtp_uw_signal_step(uw));
	case DTP_UW_PLT11:
		return (dtp_uw_plt_step(uw, 11));
	case DTP_UW_PLT10:
		return (dtp_uw_plt_step(uw, 10));
	case DTP_UW_END:
		return (dtp_uw_fp_step(uw, DTP_S_NOROW));
	}
	return (dtp_uw_end(uw, DTP_S_NOROW));
}

/* One frame of a walk by tables; 1: the walk has ended. */
static long
dtp_uw_frame(__u32 index, struct dtp_unwind **context)
{
	struct dtp_unwind *uw = *context;
	__u32 rule = DTP_UW_END, n = uw->uw_n, by_fp = uw->uw_by_fp;
	int status;

	(void)index;
	if (n >= DTP_MAX_UFRAMES)
		return (dtp_uw_end(uw, DTP_S_DEEP));
	uw->uw_frame[n] = uw->uw_pc;
	uw->uw_n = n + 1;
	uw->uw_by_fp = 0;
	status = dtp_uw_rule_of(uw, &rule);
	if (status == 0)
		return (dtp_uw_step(uw, rule));
	if (by_fp) {
		/* A guess that led out of all code: take it back. */
		uw->uw_n = n;
		return (dtp_uw_end(uw, status));
	}
	return (dtp_uw_fp_step(uw, status));
}

/* One frame of a walk by frame pointers alone. */
static long
dtp_uw_fp_frame(__u32 index, struct dtp_unwind **context)
{
	struct dtp_unwind *uw = *context;
	__u32 n = uw->uw_n;

	(void)index;
	if (n >= DTP_MAX_UFRAMES)
		return (dtp_uw_end(uw, DTP_S_DEEP));
	uw->uw_frame[n] = uw->uw_pc;
	uw->uw_n = n + 1;
	return (dtp_uw_fp_step(uw, DTP_S_BADSP));
}

/* The registers with which the task left user space.  0: it has some. */
DTP_INLINE int
dtp_uw_registers(struct dtp_unwind *uw)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	DTP_UW_REGS *regs = &uw->uw_user;
	__u32 flags = 0;

	DTP_READ(&flags, &task->flags);
	DTP_READ(&uw->uw_exec_id, &task->self_exec_id);
	if (flags & DTP_PF_KTHREAD)
		return (-1);
	if (bpf_probe_read_kernel(regs, sizeof(*regs),
	    (void *)bpf_task_pt_regs((void *)task)) != 0)
		return (-1);
#if defined(__TARGET_ARCH_x86)
	if ((regs->cs & 3) != 3 || regs->cs == 0x23)
		return (-1);
	uw->uw_pc = regs->rip;
	uw->uw_sp = regs->rsp;
	uw->uw_fp = regs->rbp;
	uw->uw_is_return = (__s64)regs->orig_rax >= 0;
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

		if (proc == NULL || proc->up_tgid == tgid)
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
	/* Partners: the stores of up_sequence in unwind.c. */
	sequence = DTP_LOAD(&proc->up_sequence);
	barrier();
	uw->uw_slab = DTP_LOAD(&proc->up_slab);
	uw->uw_at = DTP_LOAD(&proc->up_at);
	uw->uw_nmaps = DTP_LOAD(&proc->up_nmaps);
	uw->uw_generation = DTP_LOAD(&proc->up_generation);
	exec_id = DTP_LOAD(&proc->up_exec_id);
	stale = DTP_LOAD(&proc->up_stale);
	barrier();
	if ((sequence & 1) || DTP_LOAD(&proc->up_sequence) != sequence)
		return (-1);
	if (stale == uw->uw_generation)
		return (-1);
	return (exec_id == DTP_UW_ANY_EXEC || exec_id == uw->uw_exec_id ?
	    0 : -1);
}

/* Walk the user stack of the current task into uw_frame. */
DTP_INLINE void
dtp_uw_walk(struct dtp_unwind *uw, __u32 tgid)
{
	struct dtp_unwind *context = uw;
	__u32 *whose;

	uw->uw_n = 0;
	uw->uw_status = DTP_S_NONE;
	uw->uw_is_return = uw->uw_by_fp = 0;
	uw->uw_first = 1;
	uw->uw_map.um_start = uw->uw_map.um_end = 0;
	uw->uw_window = uw->uw_window_bytes = 0;
	if (dtp_uw_registers(uw) != 0)
		return;
	if (cfg.dc_by_fp) {
		bpf_loop(DTP_MAX_UFRAMES + 1, dtp_uw_fp_frame, &context, 0);
		return;
	}
	if (dtp_uw_process(uw, tgid) != 0) {
		whose = bpf_map_lookup_elem(&uw_alias, &tgid);
		if (whose == NULL || dtp_uw_process(uw, *whose) != 0) {
			bpf_loop(DTP_MAX_UFRAMES + 1, dtp_uw_fp_frame,
			    &context, 0);
			uw->uw_status = DTP_S_NOPROC;
			return;
		}
	}
	bpf_loop(DTP_MAX_UFRAMES + 1, dtp_uw_frame, &context, 0);
}

/* A child is walked with its parent's mappings until it has its own. */
DTP_INLINE void
dtp_uw_inherit(__u32 parent, __u32 child)
{
	__u32 *whose;

	if (parent == child)
		return;
	whose = bpf_map_lookup_elem(&uw_alias, &parent);
	if (whose != NULL)
		parent = *whose;
	bpf_map_update_elem(&uw_alias, &child, &parent, BPF_ANY);
}

/* By exec, or by its end, the process has lost the mappings that it had. */
DTP_INLINE void
dtp_uw_forget(__u32 tgid)
{
	struct dtp_uw_proc *proc = dtp_uw_find_process(tgid);

	bpf_map_delete_elem(&uw_alias, &tgid);
	if (proc != NULL)
		proc->up_stale = proc->up_generation;
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* UNWIND_BPF_H */
