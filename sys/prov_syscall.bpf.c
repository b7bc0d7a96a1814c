/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * System calls by number: entry with six arguments, or return with the
 * value.  Slot 0 is the number.  The session loads one of the two programs.
 * Calls of 32-bit tasks number otherwise and are filtered out.
 *
 * The interrupted code is the caller's, so the pc and the mode are user's.
 */
#include "sample.bpf.h"
#include "turn.bpf.h"

DTP_INLINE int
dtp_number_wanted(__u64 number)
{
	return (number < DTP_MAX_SYSCALL &&
	    (cfg.dc_sysmask[number / 64] >> (number & 63) & 1) != 0);
}

/* Arguments and pc: only if they are asked for. */
DTP_INLINE int
dtp_needs_registers(void)
{
	__u32 fields = cfg.dc_filter.fi_fields >> (DTP_F_ARG0 + 1);

	return ((cfg.dc_parts & (DTP_P_ARGS | DTP_P_IP)) != 0 || fields != 0);
}

/* The kernel takes an int from the low half of its register: so do we. */
DTP_INLINE void
dtp_cut_args(__u64 *args)
{
	for (__u32 i = 0; i < DTP_MAX_ARGS; i++) {
		if (i >= cfg.dc_nargs)
			break;
		if (cfg.dc_arg[i].ar_kind == DTP_A_INT)
			args[i] = dtp_cut(&cfg.dc_arg[i], args[i]);
	}
}

DTP_INLINE int
dtp_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_args args;
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
		.fg_skip = DTP_RAW_TP_SKIP,
	};

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	if (!dtp_number_wanted(ctx->args[1]) ||
	    dtp_call_is_compat(firing.fg_task))
		return (dtp_count(&firing.fg_counts->cn_filtered));
	dtp_args_begin(&args);
	args.ag_value[0] = ctx->args[1];
	if (dtp_needs_registers()) {
		dtp_call_read(&args.ag_value[1], &firing.fg_ip,
		    (void *)(long)ctx->args[0]);
		dtp_cut_args(args.ag_value);
	}
	if (!dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

DTP_INLINE int
dtp_return(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_args args;
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
		.fg_skip = DTP_RAW_TP_SKIP,
	};
	const void *regs = (void *)(long)ctx->args[0];
	__u64 number;

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	number = dtp_call_number(regs);
	if (!dtp_number_wanted(number) ||
	    dtp_call_is_compat(firing.fg_task))
		return (dtp_count(&firing.fg_counts->cn_filtered));
	dtp_args_begin(&args);
	args.ag_value[0] = number;
	args.ag_value[1] = ctx->args[1];
	if (cfg.dc_parts & DTP_P_IP)
		dtp_call_read(NULL, &firing.fg_ip, regs);
	if (!dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

SEC("tp_btf/sys_enter")
int
on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_ENTRY) ? dtp_entry(ctx) : 0);
}

SEC("tp_btf/sys_exit")
int
on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_RETURN) ? dtp_return(ctx) : 0);
}
