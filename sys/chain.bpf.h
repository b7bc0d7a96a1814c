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

/* A task's number as its process itself knows it. */
DTP_INLINE __u32
dtp_tid_inside(const struct task_struct *task)
{
	const struct pid *pid = task->thread_pid;
	struct upid upid = { 0 };

	if (pid != NULL)
		bpf_probe_read_kernel(&upid, sizeof(upid),
		    &pid->numbers[0] + (pid->level & 31));
	return (upid.nr);
}

DTP_INLINE __u32
dtp_own_tid(void)
{
#ifdef DTP_OTHER_TASK
	return (other.ot_tid);
#else
	return (dtp_tid_inside(dtp_current()));
#endif
}

/*
 * The upper end of the stack that a thread began with.  Of the first thread the
 * kernel knows it; of others it is about the thread pointer, as C libraries put
 * thread-local storage there.  0: not known.
 */
DTP_INLINE __u64
dtp_stack_top(const struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;

	if (task->pid == task->tgid)
		return (mm == NULL ? 0 : mm->start_stack);
#if defined(__TARGET_ARCH_x86)
	return (task->thread.fsbase);
#else
	return (task->thread.uw.tp_value);
#endif
}

DTP_INLINE __u64
dtp_own_stack(void)
{
#ifdef DTP_OTHER_TASK
	return (other.ot_stack);
#else
	return (dtp_stack_top(dtp_current()));
#endif
}

/* A word of the process, 0 if it cannot be read. */
DTP_INLINE __u64
dtp_chain_load(__u64 at)
{
	__u64 word = 0;

	if (dtp_read_user(&word, sizeof(word), (void *)at) != 0)
		return (0);
	return (word);
}

/*
 * A walk and the description that it follows, which lies in a map.  Where it is
 * is in dtp_unwind: the stacks of BPF programs are short, and before Linux 6.7
 * the verifier follows a callback as if it were called once, and removes what
 * is never done by then.  So nothing that one call leaves to the next may begin
 * with a value that the verifier knows; what a map holds it does not know.
 */
struct dtp_chain_walk {
	struct dtp_unwind	*cw_uw;
	const struct dtp_chain	*cw_chain;
};

/* ------------------------------------------------------------ threads */

/* A search among native frames, from the innermost one on: verified once. */
static long
dtp_chain_seek(__u32 index, struct dtp_unwind **context)
{
	struct dtp_unwind *uw = *context;
	const __u64 half = uw->uw_seek_n >> 1;

	(void)index;
	if (uw->uw_seek_n == 0)
		return (1);
	if (uw->uw_seek_address < uw->uw_frame_sp[(uw->uw_seek_pos + half) &
	    DTP_MAX_UFRAMES]) {
		uw->uw_seek_n = half;
		return (0);
	}
	uw->uw_seek_pos += half + 1;
	uw->uw_seek_n -= half + 1;
	return (0);
}

/*
 * The native frame on whose stack an address lies, from 1 on; 0: not known.
 * What ends a run is kept by the function that executes it.
 */
DTP_APART int
dtp_chain_native(struct dtp_unwind *uw, __u64 address)
{
	struct dtp_unwind *context = uw;
	__u64 pos, above;

	if (uw == NULL || uw->uw_n > DTP_MAX_UFRAMES)
		return (0);
	uw->uw_seek_address = address;
	uw->uw_seek_pos = 0;
	uw->uw_seek_n = uw->uw_n;
	bpf_loop(10, dtp_chain_seek, &context, 0);
	pos = uw->uw_seek_pos;
	if (pos == 0 || pos >= uw->uw_n || (uw->uw_doubt != 0 &&
	    pos > uw->uw_sure))
		return (0);
	/*
	 * Stacks of signals and of coroutines need not be in order, and those
	 * of other threads may lie between them: no frame is as large.
	 */
	above = uw->uw_frame_sp[(pos - 1) & DTP_MAX_UFRAMES];
	if (address - above >= DTP_CHAIN_NATIVE ||
	    uw->uw_frame_sp[pos & DTP_MAX_UFRAMES] <= address)
		return (0);
	return (pos);
}

/*
 * True if that state is this thread's and executes code.  A thread has a state
 * in each interpreter that it has entered, of which all but one are idle, and
 * the state of a subinterpreter may have the number of the thread that made it.
 * So if the native stack is complete, the record decides, which lies on the
 * stack of the thread: the innermost one below uw_script_below is taken.
 */
DTP_INLINE int
dtp_chain_is_thread(struct dtp_chain_walk *walk, __u64 thread)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 below = uw->uw_script_below, first, frame;

	if (below == 0 &&
	    dtp_chain_load(thread + chain->ch_tid) != uw->uw_script_tid)
		return (0);
	first = frame = dtp_chain_load(thread + chain->ch_frame);
	if (below != 0 && (first >= below || dtp_chain_native(uw, first) == 0))
		return (0);
	if (below == 0 && uw->uw_script_top != 0 &&
	    uw->uw_script_top - first > DTP_CHAIN_STACK)
		return (0);
	if (chain->ch_has_record)
		frame = dtp_chain_load(first + chain->ch_record_frame);
	if (frame == 0)
		return (0);
	if (below != 0)
		uw->uw_script_below = first;
	uw->uw_script_record = first;
	uw->uw_script_frame = frame;
	return (1);
}

/*
 * No more threads.  If none has a record on this stack, as it is one of a
 * coroutine or of a signal, search again by number: then the record must lie on
 * the stack that the thread began with.
 */
DTP_INLINE long
dtp_chain_threads_end(struct dtp_chain_walk *walk)
{
	struct dtp_unwind *uw = walk->cw_uw;

	if (uw->uw_script_frame != 0 || uw->uw_script_below == 0 ||
	    uw->uw_script_top == 0)
		return (1);
	uw->uw_script_below = 0;
	uw->uw_script_group = dtp_chain_load(walk->cw_chain->ch_root);
	return (0);
}

/* The next one.  1: found, or there are no more. */
static long
dtp_chain_thread(__u32 index, struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;

	(void)index;
	if (uw->uw_script_thread == 0) {
		if (uw->uw_script_group == 0)
			return (dtp_chain_threads_end(walk));
		uw->uw_script_thread = dtp_chain_load(uw->uw_script_group +
		    chain->ch_thread);
		uw->uw_script_group = dtp_chain_load(uw->uw_script_group +
		    chain->ch_group_next);
		return (0);
	}
	if (!dtp_chain_is_thread(walk, uw->uw_script_thread))
		uw->uw_script_thread = dtp_chain_load(uw->uw_script_thread +
		    chain->ch_thread_next);
	else if (uw->uw_script_below == 0)
		return (1);
	else	/* In another interpreter it may be further in. */
		uw->uw_script_thread = 0;
	return (0);
}

/* The thread that runs is asked first: mostly it is this one. */
DTP_INLINE void
dtp_chain_find_thread(struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 current;

	uw->uw_script_tid = dtp_own_tid();
	uw->uw_script_frame = uw->uw_script_below = uw->uw_script_top = 0;
	if (chain->ch_has_record && uw->uw_status == DTP_S_OK) {
		uw->uw_script_below = uw->uw_sp;
		uw->uw_script_top = dtp_own_stack();
	}
	if (chain->ch_current != 0) {
		current = dtp_chain_load(chain->ch_current);
		if (current != 0 && dtp_chain_is_thread(walk, current))
			return;
	}
	uw->uw_script_thread = 0;
	uw->uw_script_group = dtp_chain_load(chain->ch_root);
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

#define DTP_CHAIN_NOWHERE	(~0ULL)	/* nothing was met there */

/* Where in a table of what was met: the task stands still, so it is true. */
DTP_INLINE __u32
dtp_chain_place_of(__u64 at)
{
	return ((at >> 4 ^ at >> 9) & (DTP_CHAIN_MET - 1));
}

/*
 * Words of a text into uw_text, with what lies around them, where others
 * mostly are, as far as the page has it.  The first one's place, or -1.
 */
DTP_APART int
dtp_chain_fetch_text(struct dtp_unwind *uw, __u64 from)
{
	const __u64 most = DTP_CHAIN_TEXT * 8;
	__u64 below;

	if (uw == NULL)
		return (-1);
	below = from - uw->uw_text_at;
	if ((below & 7) == 0 && below <= uw->uw_text_last)
		return (below >> 3);
	/* Within a page, which is resident if the text is. */
	below = from & 0x1f8;
	if ((from & (DTP_UW_PAGE - 1)) > DTP_UW_PAGE - 512 - most)
		below = 0;
	uw->uw_text_at = from - below;
	uw->uw_text_last = below;
	if (dtp_read_user(uw->uw_text, (below + most) &
	    (DTP_CHAIN_WINDOW * 8 - 1), (void *)(from - below)) == 0)
		return (below >> 3);
	uw->uw_text_at = uw->uw_text_last = 0;
	return (-1);
}

/*
 * A text that a code object points to; mostly one that was met, which is there
 * still.  *were_read: the bit, if it is resident.
 */
DTP_INLINE __u64
dtp_chain_text(struct dtp_unwind *uw, const struct dtp_chain *chain, __u32 i,
    __u32 *were_read)
{
	__u64 at = uw->uw_code[chain->ch_text[i] & (DTP_CHAIN_CODE - 1)];
	__u32 met = i * DTP_CHAIN_MET + dtp_chain_place_of(at), skip;
	__u64 mixed = 0, first;
	int place;

	if (at != uw->uw_text_of[met]) {
		place = dtp_chain_fetch_text(uw, at + chain->ch_text_at);
		if (place < 0)
			return (0);
		first = place;
		skip = dtp_chain_text_skip(chain, i,
		    uw->uw_text[first & (DTP_CHAIN_WINDOW - 1)]);
		for (__u32 n = 0; n < DTP_CHAIN_TEXT; n++) {
			mixed += dtp_chain_mix(uw->uw_text[(first + n) &
			    (DTP_CHAIN_WINDOW - 1)], skip, n);
			barrier_var(mixed);	/* or sums lie on the stack */
		}
		uw->uw_text_of[met] = at;
		uw->uw_text_mixed[met] = mixed;
	}
	*were_read |= 1U << i;
	return (uw->uw_text_mixed[met]);
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

/* The identity of a code object; of one that was met it is known. */
DTP_INLINE __u64
dtp_chain_check(struct dtp_chain_walk *walk, __u64 code)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u32 met = dtp_chain_place_of(code);
	__u64 check = 0;

	if (code == uw->uw_met_of[met])
		return (uw->uw_met_check[met]);
	uw->uw_met_of[met] = code;
	code += chain->ch_key;
	if (chain->ch_nwords == 1)
		check = dtp_chain_load(code) & chain->ch_key_mask;
	else if (dtp_read_user(uw->uw_code, sizeof(uw->uw_code),
	    (void *)code) == 0)
		check = dtp_chain_content(uw, chain);
	uw->uw_met_check[met] = check;
	return (check);
}

/*
 * A frame that is not in the copy: with it what lies below it, where its
 * callers mostly are, as far as there is room and the page has it.
 */
DTP_APART int
dtp_chain_fetch(struct dtp_unwind *uw, __u64 frame)
{
	__u64 below = frame & (DTP_UW_PAGE - 1);

	if (uw == NULL)
		return (-1);
	if (below > DTP_UW_PAGE - DTP_CHAIN_FRAME * 8)
		below = 0;	/* it lies on two pages */
	if (below > (DTP_CHAIN_WINDOW - DTP_CHAIN_FRAME) * 8)
		below = (DTP_CHAIN_WINDOW - DTP_CHAIN_FRAME) * 8;
	below &= (DTP_CHAIN_WINDOW - 1) * 8;
	uw->uw_frames_last = uw->uw_frames_at = 0;
	if (dtp_read_user(uw->uw_frames, below + DTP_CHAIN_FRAME * 8,
	    (void *)(frame - below)) != 0)
		return (-1);
	uw->uw_frames_at = frame - below;
	uw->uw_frames_last = below;
	return (0);
}

/* Find the frame in the copy, or copy it. */
DTP_INLINE int
dtp_chain_read(struct dtp_chain_walk *walk)
{
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 off = uw->uw_script_frame - uw->uw_frames_at;

	if ((off & 7) != 0 || off > uw->uw_frames_last) {
		if (dtp_chain_fetch(uw, uw->uw_script_frame) != 0)
			return (-1);
		off = uw->uw_frames_last;
	}
	uw->uw_script_at = off >> 3;
	return (0);
}

/* A word of the frame that was read; all offsets are below its size. */
DTP_INLINE __u64
dtp_chain_word(const struct dtp_chain_walk *walk, __u8 offset)
{
	const struct dtp_unwind *uw = walk->cw_uw;

	return (uw->uw_frames[(uw->uw_script_at + (offset >> 3)) &
	    (DTP_CHAIN_WINDOW - 1)]);
}

/* A frame that executes code.  1: there is no room for more. */
DTP_INLINE long
dtp_chain_put(struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 code = dtp_chain_word(walk, chain->ch_code) &
	    chain->ch_code_mask;
	__u64 at;

	at = dtp_chain_word(walk, chain->ch_instruction) - code -
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
	__u64 outside, place = 0;

	if (chain->ch_has_places)
		place = dtp_chain_native(uw, uw->uw_script_frame);
	if (chain->ch_has_record) {
		uw->uw_script_record = dtp_chain_load(uw->uw_script_record +
		    chain->ch_record_outer);
		outside = dtp_chain_load(uw->uw_script_record +
		    chain->ch_record_frame);
		if (outside == previous)
			uw->uw_script_runs++;
		else if (uw->uw_script_runs != 0)
			return (1);
		else {
			uw->uw_script_inner = uw->uw_script_tries;
			uw->uw_outer = 0;
			if (uw->uw_script_tries++ == DTP_CHAIN_TRIES)
				return (1);
		}
		previous = outside;
	}
	uw->uw_script_frame = previous;
	dtp_chain_place(uw, 1);
	return (dtp_script_boundary(uw, DTP_W_INTERPRETER, place) != 0);
}

static long
dtp_chain_frame(__u32 index, struct dtp_chain_walk *walk)
{
	const struct dtp_chain *chain = walk->cw_chain;
	struct dtp_unwind *uw = walk->cw_uw;
	__u64 previous, mark;

	(void)index;
	if (uw->uw_script_frame == 0 || dtp_chain_read(walk) != 0)
		return (1);
	previous = dtp_chain_word(walk, chain->ch_previous);
	mark = dtp_chain_word(walk, chain->ch_mark) >>
	    ((chain->ch_mark & 7) * 8) & 0xff;
	if (mark < chain->ch_mark_from) {
		uw->uw_script_frame = previous;
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
	uw->uw_script_runs = uw->uw_script_tries = 0;
	uw->uw_frames_at = uw->uw_frames_last = 0;
	uw->uw_text_at = uw->uw_text_last = 0;
	for (__u32 i = 0; i < DTP_CHAIN_MET; i++)
		uw->uw_met_of[i] = DTP_CHAIN_NOWHERE;
	for (__u32 i = 0; i < DTP_CHAIN_TEXTS * DTP_CHAIN_MET; i++)
		uw->uw_text_of[i] = DTP_CHAIN_NOWHERE;
	dtp_chain_find_thread(&walk);
	if (uw->uw_script_frame == 0)
		return (0);
	uw->uw_script_inner = 0;
	bpf_loop(DTP_CHAIN_FRAMES, dtp_chain_frame, &walk, 0);
	/* What is outside of where it ended too early is not known. */
	if (uw->uw_script_frame != 0) {
		dtp_chain_place(uw, 1);
		(void)dtp_script_boundary(uw, DTP_W_TRUNCATED, 0);
	}
	dtp_chain_end(uw);
	return (0);
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* CHAIN_BPF_H */
