/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * From a firing to its record: walk the stacks, reserve the exact size,
 * write the parts in the order of dtp_abi.h.  Which parts there are is known
 * at load time, so the verifier leaves straight code.
 *
 * Called last by every provider of samples; the record is stored or a reason
 * is counted.  Filtering is done before.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "filter.bpf.h"
#include "stream.bpf.h"

#define DTP_P_STACKS	(DTP_P_KSTACK | DTP_P_USTACK)

/* A walked stack pair; the user frames follow the kernel frames. */
struct dtp_walk {
	struct dtp_scratch	*wk_scratch;
	__u32			 wk_slot;
	__u32			 wk_bytes[2];	/* kernel, user */
	__u32			 wk_status[2];
};

/* Copying is a multiple of 8 bytes and below this, says this mask. */
#define DTP_FRAMES_MASK		1016
_Static_assert(DTP_MAX_KFRAMES * 8 == DTP_FRAMES_MASK, "frames of the kernel");
_Static_assert(DTP_MAX_UFRAMES * 8 == DTP_FRAMES_MASK, "frames of the user");

/*
 * One walk by the kernel's own unwinder.  It does not say why it ended, so
 * OK means that it ended below the largest depth; nothing at all means that
 * there is no such stack (a kernel thread, or interrupted user code).
 */
DTP_INLINE void
dtp_walk_one(struct dtp_walk *walk, void *ctx, int which, __u64 flags)
{
	__u32 from = which ? walk->wk_bytes[0] & DTP_FRAMES_MASK : 0;
	long bytes;

	bytes = bpf_get_stack(ctx, (__u8 *)walk->wk_scratch->sc_frame + from,
	    DTP_FRAMES_MASK, flags);
	if (bytes < 0) {
		walk->wk_status[which] = DTP_S_FAULT;
		return;
	}
	walk->wk_bytes[which] = bytes & DTP_FRAMES_MASK;
	if (bytes == 0)
		walk->wk_status[which] = DTP_S_NONE;
	else if (bytes == DTP_FRAMES_MASK)
		walk->wk_status[which] = DTP_S_DEEP;
	else
		walk->wk_status[which] = DTP_S_OK;
}

DTP_INLINE void
dtp_walk_begin(struct dtp_walk *walk, struct dtp_writer *writer,
    struct dtp_firing *firing)
{
	void *ctx = firing->fg_ctx;

	if ((cfg.dc_parts & DTP_P_STACKS) == 0)
		return;
	walk->wk_scratch = dtp_scratch_claim(writer, &walk->wk_slot);
	if (walk->wk_scratch == NULL) {
		if (cfg.dc_parts & DTP_P_KSTACK)
			walk->wk_status[0] = DTP_S_BUSY;
		if (cfg.dc_parts & DTP_P_USTACK)
			walk->wk_status[1] = DTP_S_BUSY;
		return;
	}
	if (cfg.dc_parts & DTP_P_KSTACK)
		dtp_walk_one(walk, ctx, 0, firing->fg_skip);
	if (cfg.dc_parts & DTP_P_USTACK)
		dtp_walk_one(walk, ctx, 1, BPF_F_USER_STACK);
}

DTP_INLINE void
dtp_walk_end(struct dtp_walk *walk, struct dtp_writer *writer)
{
	if (walk->wk_scratch != NULL)
		dtp_scratch_release(writer, walk->wk_slot);
}

/* Stack head and frames; the one kernel copy is of known source and size. */
DTP_INLINE void
dtp_put_stacks(struct dtp_walk *walk, struct dtp_writer *writer, __u8 *to)
{
	struct dtp_stack *stack = (struct dtp_stack *)to;
	struct dtp_counts *counted = writer->wr_counts;
	__u32 bytes;

	stack->ds_nkernel = walk->wk_bytes[0] / 8;
	stack->ds_nuser = walk->wk_bytes[1] / 8;
	stack->ds_kstatus = walk->wk_status[0];
	stack->ds_ustatus = walk->wk_status[1];
	stack->ds_pad = 0;
	bytes = (walk->wk_bytes[0] & DTP_FRAMES_MASK) +
	    (walk->wk_bytes[1] & DTP_FRAMES_MASK);
	if (walk->wk_scratch != NULL)
		bpf_probe_read_kernel(to + sizeof(*stack), bytes,
		    walk->wk_scratch->sc_frame);
	if ((cfg.dc_parts & DTP_P_KSTACK) && walk->wk_status[0] < DTP_S_NSTATUS)
		DTP_ADD(&counted->cn_kstack[walk->wk_status[0]], 1);
	if ((cfg.dc_parts & DTP_P_USTACK) && walk->wk_status[1] < DTP_S_NSTATUS)
		DTP_ADD(&counted->cn_ustack[walk->wk_status[1]], 1);
}

DTP_INLINE int
dtp_arg_is_string(__u32 i)
{
	return (cfg.dc_arg[i].ar_kind != DTP_A_INT);
}

/* A slot of text: as much as could be read, then zeros to the end. */
DTP_INLINE void
dtp_put_string(struct dtp_writer *writer, __u8 *to, __u8 kind, __u64 from)
{
	const void *at = (const void *)(unsigned long)from;
	long length;

	for (int i = 0; i < DTP_STR_LEN / 8; i++)
		((__u64 *)to)[i] = 0;
	if (kind == DTP_A_USTR)
		length = bpf_probe_read_user_str(to, DTP_STR_LEN, at);
	else
		length = bpf_probe_read_kernel_str(to, DTP_STR_LEN, at);
	if (length < 0)
		DTP_ADD(&writer->wr_counts->cn_arg_fault, 1);
}

DTP_INLINE __u32
dtp_put_args(struct dtp_writer *writer, struct dtp_firing *firing, __u8 *to)
{
	__u32 at = 0;

	for (__u32 i = 0; i < DTP_MAX_ARGS; i++) {
		if (i >= cfg.dc_nargs)
			break;
		if (dtp_arg_is_string(i)) {
			dtp_put_string(writer, to + at, cfg.dc_arg[i].ar_kind,
			    firing->fg_arg[i]);
			at += DTP_STR_LEN;
		} else {
			*(__u64 *)(to + at) = firing->fg_arg[i];
			at += sizeof(__u64);
		}
	}
	return (at);
}

/* Bytes of all parts but the frames: known when the program is loaded. */
DTP_INLINE __u32
dtp_fixed_size(void)
{
	__u32 size = sizeof(struct dtp_rec);

	if (cfg.dc_parts & DTP_P_WEIGHT)
		size += sizeof(__u64);
	if (cfg.dc_parts & DTP_P_IP)
		size += sizeof(__u64);
	if (cfg.dc_parts & DTP_P_ARGS)
		for (__u32 i = 0; i < DTP_MAX_ARGS && i < cfg.dc_nargs; i++)
			size += dtp_arg_is_string(i) ? DTP_STR_LEN :
			    sizeof(__u64);
	if (cfg.dc_parts & DTP_P_COMM)
		size += DTP_COMM_LEN;
	if (cfg.dc_parts & DTP_P_STACKS)
		size += sizeof(struct dtp_stack);
	return (size);
}

DTP_INLINE void
dtp_put_header(struct dtp_writer *writer, __u8 *to, __u32 size, __u16 type)
{
	struct dtp_rec *record = (struct dtp_rec *)to;

	record->dr_size = size;
	record->dr_type = type;
	record->dr_event = cfg.dc_event;
	record->dr_cpu = writer->wr_cpu;
	record->dr_flags = writer->wr_nested ? DTP_R_NESTED : 0;
	record->dr_time_ns = writer->wr_time_ns;
}

DTP_INLINE void
dtp_put_sample(struct dtp_writer *writer, struct dtp_firing *firing,
    struct dtp_walk *walk, __u8 *to, __u32 size)
{
	struct dtp_rec *record = (struct dtp_rec *)to;
	__u32 at = sizeof(*record);

	dtp_put_header(writer, to, size, DTP_T_SAMPLE);
	if (firing->fg_kernel)
		record->dr_flags |= DTP_R_KERNEL;
	record->dr_pid = firing->fg_pid;
	record->dr_tid = firing->fg_tid;
	if (cfg.dc_parts & DTP_P_WEIGHT) {
		*(__u64 *)(to + at) = firing->fg_weight;
		at += sizeof(__u64);
	}
	if (cfg.dc_parts & DTP_P_IP) {
		*(__u64 *)(to + at) = firing->fg_ip;
		at += sizeof(__u64);
	}
	if (cfg.dc_parts & DTP_P_ARGS)
		at += dtp_put_args(writer, firing, to + at);
	if (cfg.dc_parts & DTP_P_COMM) {
		bpf_get_current_comm(to + at, DTP_COMM_LEN);
		at += DTP_COMM_LEN;
	}
	if (cfg.dc_parts & DTP_P_STACKS)
		dtp_put_stacks(walk, writer, to + at);
}

/* Store a sample, or count why not. */
DTP_INLINE int
dtp_store(struct dtp_firing *firing, int may_ring)
{
	struct dtp_writer writer = {
		.wr_stream = firing->fg_stream,
		.wr_counts = firing->fg_counts,
		.wr_cpu = firing->fg_cpu,
	};
	struct dtp_walk walk = { 0 };
	__u32 size;
	__u8 *to;

	dtp_enter(&writer);
	dtp_walk_begin(&walk, &writer, firing);
	size = dtp_fixed_size() + (walk.wk_bytes[0] & DTP_FRAMES_MASK) +
	    (walk.wk_bytes[1] & DTP_FRAMES_MASK);
	to = dtp_reserve(&writer, size);
	if (to != NULL) {
		dtp_put_sample(&writer, firing, &walk, to, size);
		dtp_stored(&writer);
	}
	dtp_walk_end(&walk, &writer);
	dtp_leave(&writer);
	if (may_ring)
		dtp_bell(&writer);
	return (0);
}

#endif /* SAMPLE_BPF_H */
