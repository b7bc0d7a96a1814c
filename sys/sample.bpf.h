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

#include "chain.bpf.h"
#include "clock.bpf.h"
#include "filter.bpf.h"
#include "group.bpf.h"
#include "snapshot.bpf.h"
#include "stream.bpf.h"
#include "unwind.bpf.h"
#include "values.bpf.h"

/* Cut an integer to its width, or to its bit-field, and extend its sign. */
DTP_INLINE __u64
dtp_cut(const volatile struct dtp_arg *arg, __u64 value)
{
	__u32 bits = arg->ar_bit_size ? arg->ar_bit_size : arg->ar_size * 8U;
	__u32 shift = arg->ar_bit_size ? arg->ar_bit_off : 0;

	if (bits == 0 || bits + shift > 64)
		return (value);
	value <<= 64 - bits - shift;
	if (arg->ar_signed)
		return ((__u64)((__s64)value >> (64 - bits)));
	return (value >> (64 - bits));
}

#define DTP_P_STACKS	(DTP_P_KSTACK | DTP_P_USTACK)

/* A walked stack pair. */
struct dtp_walk {
	struct dtp_scratch	*wk_scratch;
	__u32			 wk_kernel;	/* bytes of frames */
	__u32			 wk_user;
	__u32			 wk_turned;	/* as ds_turned */
	__u32			 wk_kstatus;
	__u32			 wk_ustatus;
};

/* Bounds that the verifier must see where bytes are copied. */
#define DTP_KBYTES	(DTP_MAX_KFRAMES * 8)
#define DTP_UBYTES	(DTP_MAX_UFRAMES * 8)
#define DTP_SBYTES	(DTP_MAX_SCRIPT * 8)
_Static_assert(DTP_KBYTES == 0x3f8 && DTP_UBYTES == 0x1ff8 &&
	DTP_SBYTES == 0x7ff8, "masks, too");

/*
 * The kernel's own unwinder.  It does not say why it ended, so OK means that
 * it ended below the largest depth; nothing at all means that there is no
 * such stack: user code was interrupted.
 */
DTP_INLINE void
dtp_walked_kernel(struct dtp_walk *walk, long bytes)
{
	if (bytes < 0) {
		walk->wk_kstatus = DTP_S_FAULT;
		return;
	}
	walk->wk_kernel = bytes & DTP_KBYTES;
	if (bytes == 0)
		walk->wk_kstatus = DTP_S_NONE;
	else if (bytes == DTP_KBYTES)
		walk->wk_kstatus = DTP_S_DEEP;
	else
		walk->wk_kstatus = DTP_S_OK;
}

DTP_INLINE void
dtp_walked_user(struct dtp_walk *walk)
{
	const struct dtp_unwind *uw = &walk->wk_scratch->sc_unwind;
	__u64 n, is_deep;

	walk->wk_ustatus = uw->uw_status;
	/* Without branches, each of which the verifier follows to the end. */
	n = uw->uw_n;
	is_deep = (__s64)(DTP_MAX_UFRAMES - n) >> 63;
	barrier_var(is_deep);
	walk->wk_user = ((n & ~is_deep) | (DTP_MAX_UFRAMES & is_deep)) * 8 &
	    DTP_UBYTES;
	walk->wk_turned = (DTP_INNER_UFRAMES + ((n - DTP_INNER_UFRAMES) &
	    (DTP_OUTER_UFRAMES - 1))) & is_deep;
}

DTP_INLINE void
dtp_walk_kernel(struct dtp_walk *walk, void *ctx, __u64 skip)
{
	dtp_walked_kernel(walk, bpf_get_stack(ctx,
	    walk->wk_scratch->sc_kernel, DTP_KBYTES, skip));
}

DTP_INLINE void
dtp_walk_user(struct dtp_walk *walk, struct dtp_firing *firing)
{
	struct dtp_unwind *uw = &walk->wk_scratch->sc_unwind;

	dtp_uw_walk(uw, firing->fg_pid);
	dtp_walked_user(walk);
	if (uw->uw_chain != 0 && !uw->uw_keeps)
		dtp_chain_walk(uw);
}

DTP_INLINE void
dtp_walk_begin(struct dtp_walk *walk, struct dtp_writer *writer,
    struct dtp_firing *firing)
{
	if ((cfg.dc_parts & DTP_P_STACKS) == 0)
		return;
	walk->wk_scratch = dtp_scratch_claim(writer);
	if (walk->wk_scratch == NULL) {
		if (cfg.dc_parts & DTP_P_KSTACK)
			walk->wk_kstatus = DTP_S_BUSY;
		if (cfg.dc_parts & DTP_P_USTACK)
			walk->wk_ustatus = DTP_S_BUSY;
		return;
	}
	if (cfg.dc_parts & DTP_P_KSTACK)
		dtp_walk_kernel(walk, firing->fg_ctx, firing->fg_skip);
	if (cfg.dc_parts & DTP_P_USTACK)
		dtp_walk_user(walk, firing);
}

DTP_INLINE void
dtp_walk_end(struct dtp_walk *walk, struct dtp_writer *writer)
{
	if (walk->wk_scratch != NULL)
		dtp_scratch_release(writer, walk->wk_scratch);
}

/*
 * Bytes of script frames.  Read where they are needed: a size that is kept
 * would have the verifier follow what lies between for each value again.
 */
DTP_INLINE __u64
dtp_script_bytes(const struct dtp_walk *walk)
{
	if (!(cfg.dc_parts & DTP_P_USTACK) || walk->wk_scratch == NULL)
		return (0);
	return (walk->wk_scratch->sc_unwind.uw_nscript * 8 & DTP_SBYTES);
}

DTP_INLINE void
dtp_put_script(struct dtp_walk *walk, struct dtp_rec *record, __u8 *to)
{
	struct dtp_script *script = (struct dtp_script *)to;
	__u64 bytes = dtp_script_bytes(walk);

	if (walk->wk_scratch != NULL)
		record->dr_flags |= walk->wk_scratch->sc_unwind.uw_chain <<
		    DTP_R_CHAIN_SHIFT;
	if (bytes == 0)
		return;
	record->dr_flags |= DTP_R_SCRIPT;
	script->sp_words = bytes / 8;
	script->sp_outer = walk->wk_scratch->sc_unwind.uw_outer;
	bpf_probe_read_kernel(script + 1, bytes,
	    walk->wk_scratch->sc_unwind.uw_script);
}

/* Bytes of that part, without a branch, as above. */
DTP_INLINE __u32
dtp_script_size(const struct dtp_walk *walk)
{
	__u64 bytes = dtp_script_bytes(walk), has = -bytes >> 63;

	barrier_var(has);
	return (bytes + (has & 1) * sizeof(struct dtp_script));
}

/* Stack head and frames, kernel first. */
DTP_INLINE void
dtp_put_stacks(struct dtp_walk *walk, struct dtp_writer *writer, __u8 *to)
{
	struct dtp_stack *stack = (struct dtp_stack *)to;
	struct dtp_counts *counted = writer->wr_counts;
	__u32 kernel = walk->wk_kernel & DTP_KBYTES;
	__u32 user = walk->wk_user & DTP_UBYTES;

	stack->ds_nkernel = kernel / 8;
	stack->ds_nuser = user / 8;
	stack->ds_kstatus = walk->wk_kstatus;
	stack->ds_ustatus = walk->wk_ustatus;
	stack->ds_turned = walk->wk_turned;
	to += sizeof(*stack);
	if (walk->wk_scratch != NULL) {
		if (cfg.dc_parts & DTP_P_KSTACK)
			bpf_probe_read_kernel(to, kernel,
			    walk->wk_scratch->sc_kernel);
		bpf_probe_read_kernel(to + kernel, user,
		    walk->wk_scratch->sc_unwind.uw_frame);
	}
	if (cfg.dc_parts & DTP_P_KSTACK)
		DTP_ADD(&counted->cn_kstack[walk->wk_kstatus &
		    (DTP_S_SLOTS - 1)], 1);
	if (cfg.dc_parts & DTP_P_USTACK)
		DTP_ADD(&counted->cn_ustack[walk->wk_ustatus &
		    (DTP_S_SLOTS - 1)], 1);
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
	for (int i = 0; i < DTP_STR_LEN / 8; i++)
		((__u64 *)to)[i] = 0;
	if (dtp_text_at(to, kind, from) < 0)
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
			    firing->fg_args->ag_value[i]);
			at += DTP_STR_LEN;
		} else {
			*(__u64 *)(to + at) = firing->fg_args->ag_value[i];
			at += sizeof(__u64);
		}
	}
	return (at);
}

/* Bytes of the texts of a call, which only the call itself tells. */
DTP_INLINE __u32
dtp_texts_size(const struct dtp_firing *firing)
{
	__u32 size = 0;

	if ((cfg.dc_parts & DTP_P_TEXTS) == 0)
		return (0);
	for (int i = 0; i < DTP_CALL_TEXTS; i++)
		if (firing->fg_call->ca_texts.tx_slot[i] != 0)
			size += DTP_STR_LEN;
	return (size);
}

DTP_INLINE __u32
dtp_put_texts(const struct dtp_firing *firing, __u8 *to)
{
	const struct dtp_call *call = firing->fg_call;
	__u32 at = sizeof(call->ca_texts);

	*(struct dtp_texts *)to = call->ca_texts;
	for (int i = 0; i < DTP_CALL_TEXTS; i++) {
		if (call->ca_texts.tx_slot[i] == 0)
			continue;
		bpf_probe_read_kernel(to + at, DTP_STR_LEN, call->ca_text[i]);
		at += DTP_STR_LEN;
	}
	return (at);
}

/* Bytes of all parts but frames and texts: known at load. */
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
	if (cfg.dc_parts & DTP_P_TEXTS)
		size += sizeof(struct dtp_texts);
	if (cfg.dc_parts & DTP_P_COMM)
		size += DTP_COMM_LEN;
	if (cfg.dc_parts & DTP_P_VALUES)
		size += offsetof(struct dtp_values, vl_value) +
		    cfg.dc_nvalues * sizeof(__u64);
	if (cfg.dc_parts & DTP_P_CLOCK)
		size += sizeof(struct dtp_times);
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
#ifdef DTP_FLAGS
	record->dr_flags |= firing->fg_flags;
#endif
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
	if (cfg.dc_parts & DTP_P_TEXTS)
		at += dtp_put_texts(firing, to + at);
	if (cfg.dc_parts & DTP_P_COMM) {
		dtp_comm_get(to + at, firing->fg_args);
		at += DTP_COMM_LEN;
	}
	/* The clocks of the current thread. */
#ifndef DTP_ABOUT_NEXT
	if (cfg.dc_parts & DTP_P_VALUES) {
		dtp_values_put((struct dtp_values *)(to + at), firing->fg_cpu);
		at += offsetof(struct dtp_values, vl_value) +
		    cfg.dc_nvalues * sizeof(__u64);
	}
	if (cfg.dc_parts & DTP_P_CLOCK) {
		dtp_clock_put((struct dtp_times *)(to + at), firing->fg_tid,
		    writer->wr_time_ns);
		at += sizeof(struct dtp_times);
	}
#endif
	if (cfg.dc_parts & DTP_P_STACKS)
		dtp_put_stacks(walk, writer, to + at);
	if (cfg.dc_parts & DTP_P_USTACK)
		dtp_put_script(walk, record, to + at +
		    sizeof(struct dtp_stack) + (walk->wk_kernel & DTP_KBYTES) +
		    (walk->wk_user & DTP_UBYTES));
}

#ifdef DTP_FORGETS_leave
static long
dtp_idle_on(__u64 n, void *until_ns)
{
	return (bpf_ktime_get_ns() >= *(__u64 *)until_ns);
}
#endif

/* With the fault "leave" a task sometimes stays in the stream for 4 s. */
DTP_INLINE void
dtp_linger(void)
{
#ifdef DTP_FORGETS_leave
	__u64 until_ns = bpf_ktime_get_ns() + 4000000000;

	if (cfg.dc_may_wait && DTP_FORGETS_leave)
		for (int i = 0; i < 32; i++)
			bpf_loop(1U << 23, dtp_idle_on, &until_ns, 0);
#endif
}

/* After the walk; the caller has entered the stream.  1: it is stored. */
DTP_INLINE int
dtp_write_sample(struct dtp_writer *writer, struct dtp_firing *firing,
    struct dtp_walk *walk)
{
	__u32 size = dtp_fixed_size() + dtp_texts_size(firing) +
	    (walk->wk_kernel & DTP_KBYTES) + (walk->wk_user & DTP_UBYTES) +
	    dtp_script_size(walk);
	__u8 *to = dtp_reserve(writer, size);

	if (to == NULL)
		return (0);
	dtp_put_sample(writer, firing, walk, to, size);
	dtp_stored(writer);
#ifndef DTP_ABOUT_NEXT
	if ((cfg.dc_parts & DTP_P_USTACK) && walk->wk_scratch != NULL)
		dtp_snap(walk->wk_scratch, writer, firing);
#endif
	return (1);
}

/* Store a sample, or count why not. */
DTP_INLINE int
dtp_store_sample(struct dtp_firing *firing)
{
	struct dtp_writer writer = {
		.wr_stream = firing->fg_stream,
		.wr_counts = firing->fg_counts,
		.wr_cpu = firing->fg_cpu,
	};
	struct dtp_walk walk = { 0 };

	if (cfg.dc_parts & DTP_P_CLOCK)
		dtp_clock_make(firing->fg_tid);
	if (cfg.dc_may_wait)
		writer.wr_time_ns = bpf_ktime_get_ns();
	else
		dtp_enter(&writer);
	if (dtp_is_stalled(&writer)) {
		if (!cfg.dc_may_wait)
			dtp_leave(&writer);
		return (0);
	}
	dtp_walk_begin(&walk, &writer, firing);
	if (cfg.dc_may_wait)
		dtp_enter(&writer);
	(void)dtp_write_sample(&writer, firing, &walk);
	dtp_walk_end(&walk, &writer);
	dtp_linger();
	dtp_leave(&writer);
	dtp_wakeup(&writer);
	return (0);
}

/* As a sample, or in its group. */
DTP_INLINE int
dtp_store(struct dtp_firing *firing)
{
	return (cfg.dc_grouping.gp_is_on ? dtp_group(firing) :
	    dtp_store_sample(firing));
}

#endif /* SAMPLE_BPF_H */
