/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Script frames that lie on the native stack, one in each native frame of
 * compiled code or of an interpreter that has no frames of its own
 * (dtp_chain.h).  Where a walk leaves such a frame by its frame pointer, this
 * keeps what tells whose it is; objects of a heap may move right after, so
 * they are followed to what moves rarely.
 *
 * Called by unwind.bpf.h for frames that have no rule; languages/javascript.c
 * names what is kept.
 */
#ifndef KEPT_BPF_H
#define KEPT_BPF_H

#include "chain.bpf.h"
#include "unwind_step.bpf.h"

#ifndef DTP_UW_ELSEWHERE

/* A word beside the frame pointer. */
DTP_INLINE __u64
dtp_kept_load(struct dtp_unwind *uw, __u8 below)
{
	__u64 word = 0;

	if (dtp_uw_load(uw, uw->uw_fp - below, &word) != 0)
		return (0);
	return (word);
}

/*
 * The offset of an interpreter in its code.  What is compiled has other words
 * there: so the code must be the function's own, or that of its compiled code.
 * The innermost frame has not stored it yet.
 */
DTP_INLINE __u64
dtp_kept_instruction(struct dtp_unwind *uw, const struct dtp_chain *chain,
    __u64 code, __u64 at)
{
	__u64 data = uw->uw_code[0];

	if (uw->uw_n <= 1 || (uw->uw_n == 2 && uw->uw_kept_by_fp) ||
	    (data & 3) != 1)
		return (0);
	if (data != code && dtp_chain_load(data - 1 + chain->ch_kept_inner) !=
	    code)
		return (0);
	at >>= 32;
	return (at > 0xffffff ? 0 : at);
}

/* Mostly the owner is that of the frame before. */
DTP_INLINE __u32
dtp_kept_whose(struct dtp_unwind *uw, const struct dtp_chain *chain)
{
	const __u32 at = chain->ch_kept_owner;
	const __u64 owner = uw->uw_code[at & 15];

	if (owner != uw->uw_code_of) {
		uw->uw_code_of = owner;
		uw->uw_code_check = dtp_chain_load(owner - 1 +
		    chain->ch_kept_serial) >> 32;
	}
	return (dtp_kept_identity(owner, (__u32)uw->uw_code_check,
	    (__u32)(uw->uw_code[(at + 2) & 15] >> 32),
	    uw->uw_code[chain->ch_kept_builtin & 15]));
}

/* What tells the code at the pc from what comes there later; 0: nothing. */
DTP_INLINE __u64
dtp_kept_place(struct dtp_unwind *uw)
{
	if (dtp_read_user(uw->uw_text, 8 * DTP_KEPT_CODE,
	    (void *)(uw->uw_pc - DTP_KEPT_BEFORE)) != 0)
		return (0);
	return ((__u64)dtp_kept_stamp(uw->uw_text));
}

/*
 * The function of a frame, with the words of what it was made from in uw_code;
 * 0: the frame is none.
 */
DTP_INLINE __u64
dtp_kept_function(struct dtp_unwind *uw, const struct dtp_chain *chain)
{
	__u64 object = dtp_kept_load(uw, chain->ch_kept_object);

	if ((object & 3) != 1 || (dtp_kept_load(uw, chain->ch_kept_tag) & 3) !=
	    1)
		return (0);
	object = dtp_chain_load(object - 1 + chain->ch_kept_step);
	if ((object & 3) != 1 || object >> 47 != 0 || dtp_read_user(
	    uw->uw_code, 8 * DTP_KEPT_WORDS, (void *)(object + 7)) != 0)
		return (0);
	return (object);
}

/*
 * Keep the frame that the walk is at, if it is one; is_bare: its code lies in
 * no file.  It is the last of uw_frame.
 *
 * While the stack pointer is above the function, the frame is being made or
 * left, and the word there may be an earlier call's: the function is not known,
 * and nothing but 0 is kept.
 */
DTP_APART int
dtp_kept_take(struct dtp_unwind *uw, __u32 is_bare)
{
	const struct dtp_chain *chain;
	__u64 code, at, object = 0, identity = 0, pc = 0;
	__u32 number;

	if (uw == NULL)
		return (0);
	number = uw->uw_chain;
	chain = bpf_map_lookup_elem(&uw_chains, &number);
	if (chain == NULL || uw->uw_n > DTP_MAX_UFRAMES || (uw->uw_fp & 7) ||
	    uw->uw_fp - uw->uw_sp > DTP_UW_FP_REACH)
		return (0);
	/* The lowest word first: what is above will be in the copy. */
	at = dtp_kept_load(uw, chain->ch_kept_at);
	code = dtp_kept_load(uw, chain->ch_kept_code);
	if (uw->uw_fp - uw->uw_sp < chain->ch_kept_object) {
		if (!is_bare)
			return (0);
		at = 0;
	} else {
		object = dtp_kept_function(uw, chain);
		if (object == 0)
			return (0);
		identity = dtp_kept_whose(uw, chain);
		if (is_bare) {
			pc = uw->uw_pc | (uw->uw_is_return ? 0 : 1ULL << 47);
			at = dtp_kept_place(uw) << DTP_W_STAMP_SHIFT;
		} else
			at = dtp_kept_instruction(uw, chain, code, at);
	}
	if (dtp_script_add(uw, chain->ch_head | at, object | pc >> 32 << 48,
	    identity << 32 | (__u32)pc) == 0)
		(void)dtp_script_boundary(uw, DTP_W_INTERPRETER, uw->uw_n);
	if (uw->uw_n <= DTP_INNER_UFRAMES)
		uw->uw_kept_inner = uw->uw_nscript;
	return (0);
}

/* Before the walk: are there such frames? */
DTP_INLINE void
dtp_kept_begin(struct dtp_unwind *uw)
{
	const struct dtp_chain *chain;
	__u32 number = uw->uw_chain;

	if (number == 0)
		return;
	chain = bpf_map_lookup_elem(&uw_chains, &number);
	uw->uw_keeps = chain != NULL && chain->ch_is_kept;
	uw->uw_code_of = 0;
}

/* Behind the walk: of a deep stack, places of the innermost frames count. */
DTP_INLINE void
dtp_kept_end(struct dtp_unwind *uw)
{
	if (uw->uw_n > DTP_MAX_UFRAMES)
		uw->uw_nscript = uw->uw_kept_inner;
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* KEPT_BPF_H */
