/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Arguments of probes in programs: of each place of an event in registers, or
 * in memory, somewhere else.  Included by prov_uprobe.bpf.c and
 * prov_alloc.bpf.c.
 */
#ifndef OPERAND_BPF_H
#define OPERAND_BPF_H

#include "sample.bpf.h"

/* Where arguments are, by place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_operands);
} operands SEC(".maps");

/* A register, by its offset. */
DTP_INLINE __u64
register_read(const void *ctx, __u16 offset)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value),
	    ctx + (offset & DTP_REGISTERS));
	return (value);
}

/*
 * An argument as it is wanted: of text its address.  What cannot be read is 0,
 * and counted.
 */
static __attribute__((noinline)) __u64
operand_read(const void *ctx, const struct dtp_operand *operand,
    __u64 *failed)
{
	__u64 value = operand->op_number, address, wanted;
	__u64 size = operand->op_size, shift;

	if (operand->op_base != DTP_NO_REGISTER)
		value += register_read(ctx, operand->op_base);
	if (operand->op_index != DTP_NO_REGISTER)
		value += register_read(ctx, operand->op_index) *
		    operand->op_scale;
	if (size > sizeof(value))
		size = sizeof(value);
	barrier_var(size);
	for (__u32 i = 0; i < DTP_MAX_DEREF; i++) {
		if (i >= operand->op_nloads)
			break;
		address = value + operand->op_off[i];
		value = 0;
		wanted = i + 1 == operand->op_nloads &&
		    operand->op_after == 0 ? size : sizeof(value);
		if (wanted > sizeof(value))
			wanted = sizeof(value);
		barrier_var(wanted);
		if (bpf_probe_read_user(&value, wanted,
		    (const void *)(unsigned long)address) != 0) {
			*failed += 1;
			return (0);
		}
	}
	value += operand->op_after;
	shift = (64 - size * 8) & 63;
	value <<= shift;
	return (operand->op_signed ? (__u64)((__s64)value >> shift) :
	    value >> shift);
}

DTP_INLINE void
operands_load(struct dtp_firing *firing)
{
	__u32 at = bpf_get_attach_cookie(firing->fg_ctx);
	const struct dtp_operands *all = bpf_map_lookup_elem(&operands, &at);
	__u64 failed = 0;

	if (all == NULL)
		return;
	for (__u32 i = 0; i < DTP_MAX_ARGS; i++) {
		if (i >= cfg.dc_nargs)
			break;
		firing->fg_args->ag_value[i] = operand_read(firing->fg_ctx,
		    &all->os_arg[i], &failed);
	}
	if (failed != 0)
		DTP_ADD(&firing->fg_counts->cn_arg_fault, failed);
}

DTP_INLINE int
probe_fire(struct dtp_firing *firing)
{
	if (!dtp_begin(firing, 1U << DTP_RECORDING) || !dtp_wanted(firing))
		return (0);
	dtp_trap_note(firing->fg_stream, firing->fg_ctx);
	if (cfg.dc_nargs > 0)
		operands_load(firing);
	if (!dtp_passes(firing))
		return (0);
	return (dtp_store(firing));
}

#endif /* OPERAND_BPF_H */
