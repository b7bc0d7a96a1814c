/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Snapshots: registers and the top of the stack, behind the sample that they
 * belong to, so that user space can finish a walk that could not go on here:
 * the process or a module is too new, or a rule is too rare.  Or with every
 * sample, where that was asked for.
 *
 * Called by sample.bpf.h once the sample is stored: a snapshot never costs a
 * sample.  It is bounded: of the ring only a share may be filled with them,
 * and a CPU takes no more than so many in a second; what is refused is
 * counted.  The stack is copied by the page, into the ring.
 */
#ifndef SNAPSHOT_BPF_H
#define SNAPSHOT_BPF_H

#include "filter.bpf.h"
#include "stream.bpf.h"

#define DTP_SNAP_BURST	256	/* that may come at once */
#define DTP_SNAP_BELOW	128	/* bytes below the stack pointer */

/*
 * Is it this CPU's turn?  ss_snap_ns is the time up to which snapshots are
 * paid for: each pays its share of the time, some may be paid for in advance.
 */
DTP_INLINE int
dtp_snap_due(struct dtp_stream *stream, __u64 now_ns)
{
	__u64 paid = DTP_LOAD(&stream->ss_snap_ns), from = paid;

	if (cfg.dc_snap_ns == 0)
		return (1);
	if (from < now_ns)
		from = now_ns;
	return (from - now_ns <= DTP_SNAP_BURST * cfg.dc_snap_ns &&
	    DTP_CAS(&stream->ss_snap_ns, paid, from + cfg.dc_snap_ns) ==
	    paid);
}

/* Of which the stack pointer: where the task left user space. */
DTP_INLINE __u64
dtp_snap_sp(const struct dtp_unwind *uw)
{
#if defined(__TARGET_ARCH_x86)
	return (uw->uw_user.rsp);
#else
	return (uw->uw_user.sp);
#endif
}

/*
 * Where to begin for a stack pointer: what was just taken from the stack
 * still lies below it, and rules may say that a register is there.  Not on
 * the page below, which may not exist.
 */
DTP_INLINE __u64
dtp_snap_from(__u64 sp)
{
	__u64 page = sp & ~(DTP_PIECE_BYTES - 1ULL);

	return (sp - page < DTP_SNAP_BELOW ? page :
	    (sp - DTP_SNAP_BELOW) & ~7ULL);
}

DTP_INLINE void
dtp_snap_put_head(struct dtp_snapshot *to, struct dtp_scratch *from)
{
	struct dtp_unwind *uw = &from->sc_unwind;

#if defined(__TARGET_ARCH_x86)
	to->dn_pc = uw->uw_user.rip;
	to->dn_is_return = dtp_uw_in_syscall(&uw->uw_user);
#else
	to->dn_is_return = 0;
	uw->uw_reg[31] = uw->uw_user.sp;
	to->dn_pc = uw->uw_user.pc;
#endif
	bpf_probe_read_kernel(to->dn_reg, sizeof(to->dn_reg), uw->uw_reg);
	to->dn_at_pc = uw->uw_at_pc;
	to->dn_at_sp = uw->uw_at_sp;
	to->dn_at_fp = uw->uw_at_fp;
	to->dn_sure = from->sc_snap.sn_sure;
	if (to->dn_sure != 0)
		to->dn_is_return = uw->uw_at_return;
}

/* One record of a snapshot: the first is its head.  1: it ends here. */
static long
dtp_snap_put(__u32 index, struct dtp_scratch **context)
{
	struct dtp_scratch *scratch = *context;
	struct dtp_snapping *snap = &scratch->sc_snap;
	struct dtp_writer writer = { .wr_cpu = snap->sn_cpu };
	__u32 size = sizeof(struct dtp_rec) + sizeof(struct dtp_snapshot);
	__u64 bytes = DTP_PIECE_BYTES - (snap->sn_at & (DTP_PIECE_BYTES - 1));
	struct dtp_rec *record;
	struct dtp_piece *piece;

	writer.wr_stream = bpf_map_lookup_elem(&streams, &writer.wr_cpu);
	writer.wr_counts = dtp_counts_of(writer.wr_cpu);
	if (writer.wr_stream == NULL || writer.wr_counts == NULL)
		return (1);
	if (bytes > snap->sn_end - snap->sn_at)
		bytes = snap->sn_end - snap->sn_at;
	bytes &= 0x1fff;
	if (index != 0)
		size = sizeof(struct dtp_rec) + sizeof(*piece) + bytes;
	record = (struct dtp_rec *)dtp_reserve_below(&writer, size,
	    cfg.dc_snap_room, 1);
	if (record == NULL) {
		dtp_count(&writer.wr_counts->cn_snap_cut);
		return (1);
	}
	snap->sn_taken += size;
	record->dr_size = size;
	record->dr_type = index == 0 ? DTP_T_SNAPSHOT : DTP_T_PIECE;
	record->dr_event = cfg.dc_event;
	record->dr_cpu = writer.wr_cpu;
	record->dr_flags = 0;
	record->dr_time_ns = snap->sn_time_ns;
	record->dr_pid = snap->sn_pid;
	record->dr_tid = snap->sn_tid;
	if (index == 0) {
		dtp_snap_put_head((struct dtp_snapshot *)(record + 1),
		    scratch);
		return (0);
	}
	piece = (struct dtp_piece *)(record + 1);
	piece->dp_address = snap->sn_at;
	piece->dp_bytes = bytes;
	piece->dp_pad = 0;
	snap->sn_at += bytes;
	/* Linux 6.1 has lost the bounds of what it kept on the stack. */
	barrier_var(bytes);
	if (bpf_probe_read_user(piece + 1, bytes & 0x1fff,
	    (void *)(unsigned long)piece->dp_address) != 0) {
		piece->dp_bytes = 0;
		return (1);
	}
	return (snap->sn_at >= snap->sn_end);
}

/*
 * From the innermost frame when the one that the walk is at is not far from
 * it: then all registers are known.  Else from that one.
 */
DTP_INLINE void
dtp_snap(struct dtp_scratch *scratch, struct dtp_writer *writer,
    struct dtp_firing *firing)
{
	struct dtp_unwind *uw = &scratch->sc_unwind;
	struct dtp_snapping *snap = &scratch->sc_snap;
	struct dtp_scratch *context = scratch;

	if (cfg.dc_snap_bytes == 0 || uw->uw_status == DTP_S_NONE ||
	    (cfg.dc_snap_mode == DTP_SNAP_DOUBT && uw->uw_doubt == 0))
		return;
	if (!dtp_snap_due(writer->wr_stream, writer->wr_time_ns)) {
		dtp_count(&writer->wr_counts->cn_snap_late);
		return;
	}
	snap->sn_time_ns = writer->wr_time_ns;
	snap->sn_cpu = writer->wr_cpu;
	snap->sn_pid = firing->fg_pid;
	snap->sn_tid = firing->fg_tid;
	snap->sn_at = dtp_snap_from(dtp_snap_sp(uw));
	snap->sn_sure = 0;
	if (uw->uw_sure != 0 &&
	    uw->uw_at_sp - snap->sn_at > cfg.dc_snap_bytes / 2) {
		snap->sn_at = dtp_snap_from(uw->uw_at_sp);
		snap->sn_sure = uw->uw_sure;
	}
	snap->sn_end = snap->sn_at + cfg.dc_snap_bytes;
	snap->sn_taken = 0;
	dtp_count(&writer->wr_counts->cn_snapshots);
	/* The head, and one piece more than whole ones: both ends are cut. */
	bpf_loop(2 + (cfg.dc_snap_bytes + DTP_PIECE_BYTES - 1) /
	    DTP_PIECE_BYTES, dtp_snap_put, &context, 0);
	/* For the wakeup: it is the copies that fill a ring. */
	writer->wr_filled += snap->sn_taken;
}

#endif /* SNAPSHOT_BPF_H */
