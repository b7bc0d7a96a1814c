/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * System calls by number: entry with six arguments, or return with the
 * value.  Slot 0 is the number.  The session loads one of the two programs.
 * Calls of 32-bit tasks number otherwise and are filtered out.
 *
 * The interrupted code is the caller's, so the pc and the mode are user's.
 */
#include "sample.bpf.h"

DTP_INLINE int
dtp_number_wanted(__u64 number)
{
	return (number < DTP_MAX_SYSCALL &&
	    (cfg.dc_sysmask[number / 64] >> (number & 63) & 1) != 0);
}

/* Common to both: the number is known before anything is read. */
DTP_INLINE int
dtp_store_call(struct dtp_firing *firing)
{
	if (dtp_call_is_compat())
		return (dtp_count(&firing->fg_counts->cn_filtered));
	if (!dtp_passes(firing))
		return (0);
	return (dtp_store(firing, 1));
}

DTP_INLINE int
dtp_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_call call = { 0 };

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	if (!dtp_number_wanted(ctx->args[1]))
		return (dtp_count(&firing.fg_counts->cn_filtered));
	if (dtp_call_read(&call, (void *)(unsigned long)ctx->args[0]) != 0)
		return (dtp_count(&firing.fg_counts->cn_error));
	firing.fg_ip = call.ca_ip;
	firing.fg_arg[0] = ctx->args[1];
	for (int i = 0; i < 6; i++)
		firing.fg_arg[i + 1] = call.ca_arg[i];
	return (dtp_store_call(&firing));
}

DTP_INLINE int
dtp_return(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_call call = { 0 };

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	if (dtp_call_read(&call, (void *)(unsigned long)ctx->args[0]) != 0)
		return (dtp_count(&firing.fg_counts->cn_error));
	if (!dtp_number_wanted(call.ca_number))
		return (dtp_count(&firing.fg_counts->cn_filtered));
	firing.fg_ip = call.ca_ip;
	firing.fg_arg[0] = call.ca_number;
	firing.fg_arg[1] = ctx->args[1];
	return (dtp_store_call(&firing));
}

SEC("raw_tp/sys_enter")
int
on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_entry(ctx));
}

SEC("raw_tp/sys_exit")
int
on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_return(ctx));
}
