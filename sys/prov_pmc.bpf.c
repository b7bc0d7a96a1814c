/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counter overflow: hardware, cache, raw and software events.  Attached to
 * perf events, one per CPU or task; may run in an NMI.  Clocks have a file of
 * their own, prov_profile.bpf.c.
 */
#include "sample.bpf.h"

DTP_INLINE int
dtp_overflow(struct bpf_perf_event_data *ctx)
{
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_weight = ctx->sample_period,
		.fg_ip = DTP_REGS_IP(ctx),
		.fg_kernel = DTP_REGS_KERNEL(ctx),
	};

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) ||
	    !dtp_wanted(&firing) || !dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

SEC("perf_event")
int
on_overflow(struct bpf_perf_event_data *ctx)
{
	return (dtp_overflow(ctx));
}
