/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Kernel tracepoints, with arguments.  Attached as a raw tracepoint, one
 * loaded program each; where an argument lies was worked out from BTF when
 * the event was named (struct dtp_arg), here it is only followed.
 *
 * The session has no wakeups for tracepoints below which no lock may
 * be taken (lock:*).
 */
#include "follow.bpf.h"
#include "sample.bpf.h"

/* The context is an array, but its index must stand in the instruction. */
DTP_INLINE __u64
dtp_context_word(const void *ctx, __u32 index)
{
	__u64 word = 0;

#define WORD(n)		if (index == (n)) DTP_CTX_WORD(word, ctx, n)
	WORD(0);
	WORD(1);
	WORD(2);
	WORD(3);
	WORD(4);
	WORD(5);
	WORD(6);
	WORD(7);
	WORD(8);
	WORD(9);
	WORD(10);
	WORD(11);
#undef WORD
	return (word);
}

DTP_INLINE void
dtp_load_args(struct dtp_firing *firing)
{
	__u64 faults = 0;

	for (__u32 i = 0; i < DTP_MAX_ARGS; i++) {
		__u64 failed = 0;

		if (i >= cfg.dc_nargs)
			break;
		firing->fg_args->ag_value[i] = dtp_follow(&cfg.dc_arg[i],
		    dtp_context_word(firing->fg_ctx, cfg.dc_arg[i].ar_index),
		    &failed);
		faults += failed >> 63;		/* errors are negative */
	}
	if (faults != 0)
		DTP_ADD(&firing->fg_counts->cn_arg_fault, faults);
}

DTP_INLINE int
dtp_tracepoint(void *ctx)
{
	struct dtp_args args;
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
		.fg_skip = DTP_RAW_TP_SKIP,
		.fg_kernel = 1,
	};

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	dtp_args_begin(&args);
	dtp_load_args(&firing);
	if (!dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

SEC("raw_tp")
int
on_tracepoint(void *ctx)
{
	return (dtp_tracepoint(ctx));
}
