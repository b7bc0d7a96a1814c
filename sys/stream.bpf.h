/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The stream of one CPU, as its writers see it: the only code that moves
 * the positions of a stream other than the reader's tail.  The drawing of
 * its memory is in dtp_abi.h.
 *
 *	enter    writers + 1; from here on head cannot pass us
 *	         (take the time; walk stacks into scratch, unless we may be
 *	         preempted: then that is done before)
 *	reserve  the exact size, or be refused: full, nested
 *	         (copy)
 *	leave    writers - 1; who brings it to 0 raises head
 *
 * Writers of one CPU nest like interrupts, but nothing below relies on it:
 * they may as well preempt each other.  Why it holds:
 *
 * - reserved and writers are one word.  Who takes writers to 0 learns, in
 *   the same step, a position below which every writer has left.  Counting
 *   writers apart is wrong: one that comes between the two steps publishes
 *   first, and then head goes back.
 * - head moves by compare-and-swap and only up, so a late raise is harmless.
 * - Writers of a region [head, new head) entered before any of the next,
 *   and take their time after entering: regions are ordered in time, and
 *   the reader sorts within one.
 *
 * tests/replay runs this very text through all interleavings.
 */
#ifndef STREAM_BPF_H
#define STREAM_BPF_H

#include "count.bpf.h"

/*
 * One writer on its way through.  What is kept are numbers rather than the
 * decisions made of them: a decision early on would be two ways through all
 * that follows, for the verifier.
 */
struct dtp_writer {
	struct dtp_stream *wr_stream;
	struct dtp_counts *wr_counts;
	__u64	wr_time_ns;
	__u32	wr_cpu;
	__u32	wr_nested;	/* others that were active when it entered */
	__u64	wr_fill;	/* bytes in use before this record ... */
	__u64	wr_filled;	/* ... and with it, and what is behind it */
};

/* Partner: dtp_leave.  The time is taken after, for the order of regions. */
DTP_INLINE void
dtp_enter(struct dtp_writer *writer)
{
	__u64 state;

	state = DTP_FETCH_ADD(&writer->wr_stream->ss_state, 1);
	writer->wr_nested = state & DTP_WRITERS_MASK;
	writer->wr_time_ns = bpf_ktime_get_ns();
}

/*
 * Reserve size bytes, a multiple of 8 and at most DTP_MAX_RECORD, so that no
 * more than most bytes of the ring are in use.  NULL when they cannot be had:
 * counted, unless it is a piece of a snapshot, which may be missing.  The
 * caller leaves all the same.
 *
 * While we are entered head stays at or below what we read as reserved, and
 * tail never passes head, so the subtraction cannot wrap.  The reader's
 * partner of the load of tail is its store of tail after it has read: the
 * compare-and-swap keeps our copying behind the load.
 */
DTP_INLINE __u8 *
dtp_reserve_below(struct dtp_writer *writer, __u32 size, __u64 most,
    int is_piece)
{
	struct dtp_stream *stream = writer->wr_stream;
	__u64 state, seen, at, fill;
	__u32 ring;
	__u8 *bytes;

	ring = (__u32)DTP_LOAD(&stream->ss_ring);
	bytes = bpf_map_lookup_elem(&rings, &ring);
	if (bytes == NULL) {
		if (!is_piece)
			dtp_count(&writer->wr_counts->cn_error);
		return (NULL);
	}
	state = DTP_LOAD(&stream->ss_state);
	for (int i = 0; i < DTP_RESERVE_TRIES; i++) {
		at = state >> DTP_WRITERS_BITS;
		fill = at - DTP_LOAD(&stream->ss_tail);
		if (fill + size > most) {
			if (!is_piece)
				dtp_count(&writer->wr_counts->cn_full);
			return (NULL);
		}
		seen = DTP_CAS(&stream->ss_state, state,
		    state + ((__u64)size << DTP_WRITERS_BITS));
		if (seen == state) {
			writer->wr_fill = fill;
			writer->wr_filled = fill + size;
			return (bytes + (at & cfg.dc_ring_mask));
		}
		state = seen;
	}
	if (!is_piece)
		dtp_count(&writer->wr_counts->cn_nested);
	return (NULL);
}

DTP_INLINE __u8 *
dtp_reserve(struct dtp_writer *writer, __u32 size)
{
	return (dtp_reserve_below(writer, size,
	    (__u64)cfg.dc_ring_mask + 1, 0));
}

/*
 * Partner: the reader's acquiring load of head.  A lost compare-and-swap
 * means that another writer raised head meanwhile; should they all be lost,
 * the next to leave raises it, and after stop reserved is as good as head.
 */
DTP_INLINE void
dtp_leave(struct dtp_writer *writer)
{
	struct dtp_stream *stream = writer->wr_stream;
	__u64 state, head, seen, complete;

	state = DTP_FETCH_ADD(&stream->ss_state, -1ULL);
	if ((state & DTP_WRITERS_MASK) != 1)
		return;
	complete = state >> DTP_WRITERS_BITS;
	head = DTP_LOAD(&stream->ss_head);
	for (int i = 0; i < DTP_RESERVE_TRIES; i++) {
		if (head >= complete)
			return;
		seen = DTP_CAS(&stream->ss_head, head, complete);
		if (seen == head)
			return;
		head = seen;
	}
}

/*
 * Has the reader not looked at the rings for too long?  Then no sample is
 * stored, for nobody may come to read it, until the reader looks again.
 */
DTP_INLINE int
dtp_is_stalled(struct dtp_writer *writer)
{
	const struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session == NULL ||
	    writer->wr_time_ns <= DTP_LOAD(&session->co_until_ns))
		return (0);
	dtp_count(&writer->wr_counts->cn_stalled);
	dtp_count(&writer->wr_counts->cn_error);
	return (1);
}

/* Count a record that was copied; before leaving, so that stop sees it. */
DTP_INLINE void
dtp_stored(struct dtp_writer *writer)
{
	if (!DTP_FORGETS_stored)
		DTP_ADD(&writer->wr_counts->cn_stored, 1);
	if (writer->wr_nested)
		DTP_ADD(&writer->wr_counts->cn_nested_stored, 1);
}

/*
 * Scratch to walk stacks into, or NULL: all are in use, further out or by tasks
 * that were preempted.  Those have slots of their own.
 */
DTP_INLINE struct dtp_scratch *
dtp_scratch_claim(struct dtp_writer *writer)
{
	struct dtp_scratch *claimed;
	__u32 at, first = cfg.dc_may_wait ? DTP_SCRATCH_SLOTS : 0;

	for (__u32 i = first; i < first + DTP_SCRATCH_SLOTS; i++) {
		if (DTP_FETCH_OR(&writer->wr_stream->ss_scratch, 1ULL << i) &
		    1ULL << i)
			continue;
		at = writer->wr_cpu * DTP_SCRATCH_ALL + i;
		claimed = bpf_map_lookup_elem(&scratch, &at);
		if (claimed != NULL)
			claimed->sc_slot = i;
		return (claimed);
	}
	return (NULL);
}

DTP_INLINE void
dtp_scratch_release(struct dtp_writer *writer,
    const struct dtp_scratch *claimed)
{
	DTP_CLEAR(&writer->wr_stream->ss_scratch, 1ULL << claimed->sc_slot);
}

/*
 * Wake the drain when this record takes what is in use past the mark.  In an
 * NMI the kernel only tries the lock of the ring buffer, and wakes later; below
 * the tracepoints of locks the session leaves the mark off.
 */
DTP_INLINE void
dtp_wakeup(struct dtp_writer *writer)
{
	__u64 nothing = 0;

	if (writer->wr_fill < cfg.dc_wakeup_bytes &&
	    writer->wr_filled >= cfg.dc_wakeup_bytes)
		bpf_ringbuf_output(&wakeups, &nothing, sizeof(nothing),
		    BPF_RB_FORCE_WAKEUP);
}

#endif /* STREAM_BPF_H */
