/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * From one frame of a user stack to its caller, by a rule of the unwind
 * tables (dtp_unwind.h) or by frame pointer.  A step leaves the walk at the
 * caller and returns 0, or ends it: 1, with a status.
 *
 * Called by unwind.bpf.h, which finds the rule.  A few kilobytes of the stack
 * are copied at a time, never across the end of a page (a read that faults
 * costs a microsecond), and walked inside the copy.
 */
#ifndef UNWIND_STEP_BPF_H
#define UNWIND_STEP_BPF_H

#include "maps.bpf.h"

#ifndef DTP_UW_ELSEWHERE

/*
 * What is not in the copy: copy as much from there on as there is room for
 * and the page holds.  The word itself lands in uw_word.
 */
DTP_APART int
dtp_uw_fetch(struct dtp_unwind *uw, __u64 at)
{
	__u64 bytes = DTP_UW_PAGE - (at & (DTP_UW_PAGE - 1));

	if (uw == NULL)
		return (-1);
	if (at & 7)
		return (dtp_read_user(&uw->uw_word, 8,
		    (void *)at) != 0);
	if (bytes > DTP_UW_WINDOW * 8)
		bytes = DTP_UW_WINDOW * 8;
	uw->uw_window_bytes = 0;
	if (dtp_read_user(uw->uw_stack, bytes & 0xfff, (void *)at) != 0)
		return (-1);
	uw->uw_window = at;
	uw->uw_window_bytes = bytes;
	uw->uw_word = uw->uw_stack[0];
	return (0);
}

/* A word of the stack, from the copy if it is there. */
DTP_INLINE int
dtp_uw_load(struct dtp_unwind *uw, __u64 at, __u64 *word)
{
	__u64 off = at - uw->uw_window;

	if ((at & 7) == 0 && off < uw->uw_window_bytes &&
	    off + 8 <= uw->uw_window_bytes) {
		*word = uw->uw_stack[(off >> 3) & (DTP_UW_WINDOW - 1)];
		return (0);
	}
	if (dtp_uw_fetch(uw, at) != 0)
		return (-1);
	*word = uw->uw_word;
	return (0);
}

/* Two words, which a frame pointer leads to: mostly both are in the copy. */
DTP_INLINE int
dtp_uw_load_pair(struct dtp_unwind *uw, __u64 at, __u64 *first, __u64 *second)
{
	__u64 off = at - uw->uw_window, n = off >> 3;

	if (off + 16 > uw->uw_window_bytes || off >= uw->uw_window_bytes)
		return (dtp_uw_load(uw, at, first) != 0 ||
		    dtp_uw_load(uw, at + 8, second) != 0);
	*first = uw->uw_stack[n & (DTP_UW_WINDOW - 1)];
	*second = uw->uw_stack[(n + 1) & (DTP_UW_WINDOW - 1)];
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
 * No return address: 0, or with a value in its upper byte, which is the kind
 * of a frame in a recording.  (0xff is the vsyscall page's, which calls
 * nobody.)  One comparison, as the verifier follows each.
 */
#define DTP_UW_IS_NO_PC(pc)	((pc) - 1 >= (1ULL << 56) - 1)

/*
 * Arrived at a caller.  A pc of 0 is no end: where stacks begin is known
 * (DTP_UW_STOP).  It was read beside the return address, by a rule that does
 * not hold, as those of the last instructions of a function often do not.
 */
DTP_INLINE long
dtp_uw_arrive(struct dtp_unwind *uw, __u64 pc, __u64 sp, __u64 fp)
{
#if defined(__TARGET_ARCH_arm64)
	pc &= (1ULL << 48) - 1;		/* signed pointers */
#endif
	if (DTP_UW_IS_NO_PC(pc))
		return (dtp_uw_end(uw, DTP_S_BADSP));
	uw->uw_pc = pc;
	uw->uw_sp = sp;
	uw->uw_fp = fp;
	uw->uw_is_return = 1;
	uw->uw_first = 0;
	uw->uw_has_bx = 0;
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
	if (dtp_uw_load_pair(uw, fp, &next, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	if (pc == 0)
		return (dtp_uw_end(uw, otherwise));
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
	    dtp_uw_load(uw, uw->uw_sp + 40 + 11 * 8, &uw->uw_bx) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 40 + 15 * 8, &sp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 40 + 16 * 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	uw->uw_has_bx = 1;
#else
	if (dtp_uw_load(uw, uw->uw_sp + 312 + 29 * 8, &fp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 30 * 8, &uw->uw_ra) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 31 * 8, &sp) != 0 ||
	    dtp_uw_load(uw, uw->uw_sp + 312 + 32 * 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	uw->uw_first = 2;	/* the link register counts, no other does */
#endif
	if (DTP_UW_IS_NO_PC(pc))
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
		if (entry->ue_reg == DTP_UW_BX && uw->uw_has_bx) {
			*cfa = uw->uw_bx + off;
			return (0);
		}
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

/* What rbx was in the caller, once we are there. */
DTP_INLINE int
dtp_uw_entry_bx(struct dtp_unwind *uw, __s32 off, __u64 cfa, __u32 *has)
{
	*has = 0;
	if (off == DTP_UW_BX_SAME)
		*has = uw->uw_has_bx;
	else if (off != DTP_UW_BX_UNKNOWN) {
		*has = 1;
		return (dtp_uw_load(uw, cfa + (__u64)(__s64)off, &uw->uw_bx));
	}
	return (0);
}

DTP_APART int
dtp_uw_entry_step(struct dtp_unwind *uw, __u32 rule)
{
	__u32 at = rule - DTP_UW_RULES;
	const struct dtp_uw_entry *entry = bpf_map_lookup_elem(&uw_entries,
	    &at);
	__u64 cfa = 0, fp, pc = 0, off;
	__u32 has_bx = 0;
	int status;

	if (uw == NULL)
		return (1);
	fp = uw->uw_fp;
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
	if (status != 0 || dtp_uw_entry_bx(uw, entry->ue_bx_off, cfa,
	    &has_bx) != 0)
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
	status = dtp_uw_arrive(uw, pc, cfa, fp);
	uw->uw_has_bx = has_bx;
	return (status);
}

/* The return address is on top; from this place in 16 bytes on, below that. */
DTP_INLINE long
dtp_uw_plt_step(struct dtp_unwind *uw, __u64 from)
{
	__u64 cfa = uw->uw_sp + 8 + ((uw->uw_pc & 15) >= from ? 8 : 0), pc;

	if (dtp_uw_load(uw, cfa - 8, &pc) != 0)
		return (dtp_uw_end(uw, DTP_S_FAULT));
	return (dtp_uw_arrive(uw, pc, cfa, uw->uw_fp));
}

#if defined(__TARGET_ARCH_x86)
#define DTP_UW_ADD_SP	0xc48348	/* add $n,%rsp; n below 128 */
#define DTP_UW_POP_FP	0x5d
#define DTP_UW_RET	0xc3

/*
 * Code without a rule that is about to return, as what only calls is behind its
 * call: its instructions say where to, whoever made it.  "python3 -X perf" puts
 * such code around each function.  -1: it goes on.
 */
DTP_INLINE long
dtp_uw_return_step(struct dtp_unwind *uw)
{
	__u64 code = 0, sp = uw->uw_sp, fp = uw->uw_fp, pc;

	if (dtp_read_user(&code, sizeof(code), (void *)uw->uw_pc) != 0)
		return (-1);
	if ((code & 0x80ffffff) == DTP_UW_ADD_SP) {
		sp += code >> 24 & 0x7f;
		code >>= 32;
	}
	if ((code & 0xff) == DTP_UW_POP_FP) {
		if (dtp_uw_load(uw, sp, &fp) != 0)
			return (-1);
		sp += 8;
		code >>= 8;
	}
	if ((code & 0xff) != DTP_UW_RET || dtp_uw_load(uw, sp, &pc) != 0)
		return (-1);
	return (dtp_uw_arrive(uw, pc, sp + 8, fp));
}
#endif

/* From a frame without a rule. */
DTP_APART int
dtp_uw_guess(struct dtp_unwind *uw, __u32 otherwise)
{
	if (uw == NULL)
		return (1);
#if defined(__TARGET_ARCH_x86)
	if (!uw->uw_keeps) {
		long ended = dtp_uw_return_step(uw);

		if (ended >= 0)
			return (ended);
	}
#endif
	return (dtp_uw_fp_step(uw, otherwise));
}

/* A rule that stands for itself; 1: the walk has ended. */
DTP_APART int
dtp_uw_rare_step(struct dtp_unwind *uw, __u32 rule)
{
	if (uw == NULL)
		return (1);
	switch (rule) {
	case DTP_UW_STOP:
		return (dtp_uw_end(uw, DTP_S_OK));
	case DTP_UW_SIGNAL:
		return (dtp_uw_signal_step(uw));
	case DTP_UW_PLT11:
		return (dtp_uw_plt_step(uw, 11));
	case DTP_UW_PLT10:
		return (dtp_uw_plt_step(uw, 10));
	case DTP_UW_CHILD:
		if (uw->uw_first == 1 && uw->uw_reg[0] == 0)
			return (dtp_uw_end(uw, DTP_S_OK));
		return (dtp_uw_plt_step(uw, 16));
	}
	return (dtp_uw_end(uw, DTP_S_NOROW));
}

/* Each step ends in a function of its own: the stack is too short for two. */
DTP_INLINE long
dtp_uw_step(struct dtp_unwind *uw, __u32 rule)
{
	if (rule < DTP_UW_END)
		return (dtp_uw_inline_step(uw, rule));
	if (rule >= DTP_UW_RULES)
		return (dtp_uw_entry_step(uw, rule));
	if (rule == DTP_UW_END || rule == DTP_UW_BARE)
		return (dtp_uw_guess(uw, DTP_S_NOROW));
	return (dtp_uw_rare_step(uw, rule));
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* UNWIND_STEP_BPF_H */
