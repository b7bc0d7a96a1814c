/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The walk over the frames of an interpreter, which lie in its process's
 * memory and not on its stack (dtp_chain.h), and the list of script frames
 * that it writes: that one is open to walks of other kinds, too.
 *
 * Called by sample.bpf.h behind the walk over the native stack.  The task
 * stands still meanwhile, so its own frames are as it left them; what other
 * threads change below us (the list of threads) costs a stack, not its truth.
 */
#ifndef CHAIN_BPF_H
#define CHAIN_BPF_H

#include "abi/dtp_chain.h"
#include "maps.bpf.h"

/* One more script frame; -1: there is no room. */
DTP_INLINE int
dtp_script_add(struct dtp_unwind *uw, __u64 head, __u64 code, __u64 check)
{
	__u64 at = uw->uw_nscript;

	barrier_var(at);
	/* A boundary still fits behind it. */
	if (at >= DTP_MAX_SCRIPT - DTP_SCRIPT_WORDS)
		return (-1);
	uw->uw_script[at] = head;
	uw->uw_script[at + 1] = code;
	uw->uw_script[at + 2] = check;
	uw->uw_nscript = at + DTP_SCRIPT_WORDS;
	return (0);
}

/* The frames before are what one run of an interpreter has. */
DTP_INLINE int
dtp_script_boundary(struct dtp_unwind *uw, __u64 why, __u64 place)
{
	__u64 at = uw->uw_nscript;

	barrier_var(at);
	if (at >= DTP_MAX_SCRIPT)
		return (-1);
	uw->uw_script[at] = DTP_W_BOUNDARY(why, place);
	uw->uw_nscript = at + 1;
	return (0);
}

#ifndef DTP_UW_ELSEWHERE

/* The task's number as the process itself knows it. */
DTP_INLINE __u32
dtp_own_tid(void)
{
	const struct pid *pid = dtp_current()->thread_pid;
	struct upid upid = { 0 };

	if (pid != NULL)
		bpf_probe_read_kernel(&upid, sizeof(upid),
		    &pid->numbers[0] + (pid->level & 31));
	return (upid.nr);
}

/* A word of the process, 0 if it cannot be read. */
DTP_INLINE __u64
dtp_chain_load(__u64 at)
{
	__u64 word = 0;

	if (bpf_probe_read_user(&word, sizeof(word), (void *)at) != 0)
		return (0);
	return (word);
}

/* Where a walk is; the chain is the description, which lies in a map. */
struct dtp_chain_walk {
	struct dtp_unwind	*cw_uw;
	const struct dtp_chain	*cw_chain;
	__u64	cw_group;
	__u64	cw_thread;
	__u64	cw_record;
	__u64	cw_frame;
	__u32	cw_tid;
	__u32	cw_tries;
};

/* ------------------------------------------------------------ threads */

/* Is it this thread?  1: found, or there are no more. */
static long
dtp_chain_thread(__u32 index, struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;

	(void)index;
	if (walk->cw_thread == 0) {
		if (walk->cw_group == 0)
			return (1);
		walk->cw_thread = dtp_chain_load(walk->cw_group +
		    chain->ch_thread);
		walk->cw_group = dtp_chain_load(walk->cw_group +
		    chain->ch_group_next);
		return (0);
	}
	if (dtp_chain_load(walk->cw_thread + chain->ch_tid) == walk->cw_tid)
		return (1);
	walk->cw_thread = dtp_chain_load(walk->cw_thread +
	    chain->ch_thread_next);
	return (0);
}

/* The thread that runs is asked first: mostly it is this one. */
DTP_INLINE void
dtp_chain_find_thread(struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;

	walk->cw_tid = dtp_own_tid();
	if (chain->ch_current != 0) {
		walk->cw_thread = dtp_chain_load(chain->ch_current);
		if (walk->cw_thread != 0 && dtp_chain_load(walk->cw_thread +
		    chain->ch_tid) == walk->cw_tid)
			return;
	}
	walk->cw_thread = 0;
	walk->cw_group = dtp_chain_load(chain->ch_root);
	bpf_loop(DTP_CHAIN_THREADS, dtp_chain_thread, walk, 0);
}

/* ------------------------------------------------------------- frames */

/*
 * Where the next frame or boundary goes, of which the first ones take so many
 * words; without branches.  Of a deep stack the innermost frames stay, and the
 * others take turns, so that its root is there.
 */
DTP_INLINE void
dtp_chain_place(struct dtp_unwind *uw, __u64 words)
{
	__u64 at = uw->uw_script_inner, outer = uw->uw_outer;
	__u64 is_inner = (__s64)(at - DTP_INNER_SCRIPT) >> 63;

	uw->uw_script_inner = at + (words & is_inner);
	uw->uw_outer = outer + 1 + is_inner;
	uw->uw_nscript = at + (outer & (DTP_OUTER_SCRIPT - 1)) *
	    DTP_SCRIPT_WORDS;
}

/* All words that there are, those of the circle too. */
DTP_INLINE void
dtp_chain_end(struct dtp_unwind *uw)
{
	__u64 outer = uw->uw_outer, is_full;

	is_full = (__s64)(DTP_OUTER_SCRIPT - 1 - outer) >> 63;
	barrier_var(is_full);
	uw->uw_nscript = uw->uw_script_inner + ((outer & ~is_full) |
	    (DTP_OUTER_SCRIPT & is_full)) * DTP_SCRIPT_WORDS;
}

/*
 * A text that a code object points to; mostly that of the frame before, which
 * is there still.  *were_read: the bit, if it is resident.
 */
DTP_INLINE __u64
dtp_chain_text(struct dtp_unwind *uw, const struct dtp_chain *chain, __u32 i,
    __u32 *were_read)
{
	__u64 at = uw->uw_code[chain->ch_text[i] & (DTP_CHAIN_CODE - 1)];
	__u64 mixed = 0;
	__u32 skip;

	if (at != uw->uw_text_of[i]) {
		if (bpf_probe_read_user(uw->uw_text, sizeof(uw->uw_text),
		    (void *)(at + chain->ch_text_at)) != 0)
			return (0);
		skip = dtp_chain_text_skip(chain, i, uw->uw_text[0]);
		for (__u32 n = 0; n < DTP_CHAIN_TEXT; n++) {
			mixed += dtp_chain_mix(uw->uw_text[n], skip, n);
			barrier_var(mixed);	/* or sums lie on the stack */
		}
		uw->uw_text_of[i] = at;
		uw->uw_text_mixed[i] = mixed;
	}
	*were_read |= 1U << i;
	return (uw->uw_text_mixed[i]);
}

/* What a code object is, by all of it that is resident. */
DTP_APART __u64
dtp_chain_content(struct dtp_unwind *uw, const struct dtp_chain *chain)
{
	__u32 were_read = 0;
	__u64 mixed = 0;

	if (uw == NULL || chain == NULL)
		return (0);
	for (__u32 n = 0; n < DTP_CHAIN_CODE; n++) {
		mixed += dtp_chain_mix(uw->uw_code[n], chain->ch_skip, n);
		barrier_var(mixed);
	}
	for (__u32 i = 0; i < DTP_CHAIN_TEXTS; i++)
		mixed = mixed * DTP_CHAIN_MIX + dtp_chain_text(uw, chain, i,
		    &were_read);
	return ((mixed & ~(__u64)DTP_CHAIN_READ) | were_read);
}

/* The identity of a code object; of the same one as before it is known. */
DTP_INLINE __u64
dtp_chain_check(struct dtp_chain_walk *walk, __u64 code)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;

	if (code == uw->uw_code_of)
		return (uw->uw_code_check);
	uw->uw_code_of = code;
	uw->uw_code_check = 0;
	code += chain->ch_key;
	if (chain->ch_nwords == 1)
		uw->uw_code_check = dtp_chain_load(code) &
		    chain->ch_key_mask;
	else if (bpf_probe_read_user(uw->uw_code, sizeof(uw->uw_code),
	    (void *)code) == 0)
		uw->uw_code_check = dtp_chain_content(uw, chain);
	return (uw->uw_code_check);
}

/* A word of the frame that was read; all offsets are below its size. */
DTP_INLINE __u64
dtp_chain_word(const struct dtp_unwind *uw, __u8 offset)
{
	return (uw->uw_script_frame[offset >> 3 & 15]);
}

/* A frame that executes code.  1: there is no room for more. */
DTP_INLINE long
dtp_chain_put(struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 code = dtp_chain_word(uw, chain->ch_code) & chain->ch_code_mask;
	__u64 at;

	at = dtp_chain_word(uw, chain->ch_instruction) - code -
	    chain->ch_first;
	at = (__s64)at < 0 ? 0 : at >> (chain->ch_shift & 7);
	if (at > 0xffffff)
		at = 0xffffff;
	dtp_chain_place(uw, DTP_SCRIPT_WORDS);
	return (dtp_script_add(uw, chain->ch_head | at, code,
	    dtp_chain_check(walk, code)) != 0);
}

/*
 * The end of a run.  Its record says what was outside when it began, and so
 * does its last frame.  If they differ, the record is being made: what it led
 * to was not true, and the run has no frame yet.
 */
DTP_INLINE long
dtp_chain_run_end(struct dtp_chain_walk *walk, __u64 previous)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 outside;

	if (chain->ch_has_record) {
		walk->cw_record = dtp_chain_load(walk->cw_record +
		    chain->ch_record_outer);
		outside = dtp_chain_load(walk->cw_record +
		    chain->ch_record_frame);
		if (outside == previous)
			uw->uw_script_runs++;
		else if (uw->uw_script_runs != 0)
			return (1);
		else {
			uw->uw_script_inner = walk->cw_tries;
			uw->uw_outer = 0;
			if (walk->cw_tries++ == DTP_CHAIN_TRIES)
				return (1);
		}
		previous = outside;
	}
	walk->cw_frame = previous;
	dtp_chain_place(uw, 1);
	return (dtp_script_boundary(uw, DTP_W_INTERPRETER, 0) != 0);
}

static long
dtp_chain_frame(__u32 index, struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 previous, mark;

	(void)index;
	if (walk->cw_frame == 0)
		return (1);
	if (bpf_probe_read_user(uw->uw_script_frame, DTP_CHAIN_FRAME * 8,
	    (void *)walk->cw_frame) != 0)
		return (1);
	previous = dtp_chain_word(uw, chain->ch_previous);
	mark = dtp_chain_word(uw, chain->ch_mark) >>
	    ((chain->ch_mark & 7) * 8) & 0xff;
	if (mark < chain->ch_mark_from) {
		walk->cw_frame = previous;
		return (dtp_chain_put(walk));
	}
	if (chain->ch_mark_is_code && dtp_chain_put(walk) != 0)
		return (1);
	return (dtp_chain_run_end(walk, previous));
}

/* Script frames of the current task, if its process has any. */
DTP_APART int
dtp_chain_walk(struct dtp_unwind *uw)
{
	struct dtp_chain_walk walk = { .cw_uw = uw };
	__u32 number;

	if (uw == NULL)
		return (0);
	number = uw->uw_chain;
	walk.cw_chain = bpf_map_lookup_elem(&uw_chains, &number);
	if (walk.cw_chain == NULL)
		return (0);
	uw->uw_script_runs = 0;
	uw->uw_code_of = 0;
	for (__u32 i = 0; i < DTP_CHAIN_TEXTS; i++)
		uw->uw_text_of[i] = 0;
	dtp_chain_find_thread(&walk);
	if (walk.cw_thread == 0)
		return (0);
	walk.cw_frame = dtp_chain_load(walk.cw_thread +
	    walk.cw_chain->ch_frame);
	if (walk.cw_chain->ch_has_record) {
		walk.cw_record = walk.cw_frame;
		walk.cw_frame = dtp_chain_load(walk.cw_record +
		    walk.cw_chain->ch_record_frame);
	}
	uw->uw_script_inner = 0;
	bpf_loop(DTP_CHAIN_FRAMES, dtp_chain_frame, &walk, 0);
	/* What is outside of where it ended too early is not known. */
	if (walk.cw_frame != 0) {
		dtp_chain_place(uw, 1);
		(void)dtp_script_boundary(uw, DTP_W_TRUNCATED, 0);
	}
	dtp_chain_end(uw);
	return (0);
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* CHAIN_BPF_H */
