/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Functions of the kernel, entered and left: by breakpoints (kprobe,
 * kretprobe), or by trampolines (fentry, fexit), which cost less and have the
 * arguments at the return, too.
 *
 * A function may be one that is called with any lock held, so the session has
 * no wakeups for these.
 */
#include "follow.bpf.h"

enum way { WAY_KPROBE, WAY_FENTRY, WAY_FEXIT };

/* Innermost frames of a trampoline's program: it, and the trampoline. */
#define TRAMPOLINE_SKIP	DTP_RAW_TP_SKIP

/* Registers in struct pt_regs: of the first arguments, and the result. */
DTP_INLINE __u64
register_word(const void *ctx, __u32 index)
{
	__u64 value = 0;
#if defined(__TARGET_ARCH_arm64)
	__u32 offset = index == DTP_WORD_RET ? 0 : index * 8;
#else
	__u32 offset = index == 0 ? 112 : index == 1 ? 104 : index == 2 ? 96 :
	    index == 3 ? 88 : index == 4 ? 72 : index == 5 ? 64 : 80;
#endif

	bpf_probe_read_kernel(&value, sizeof(value), ctx + offset);
	return (value);
}

DTP_INLINE __u64
function_word(void *ctx, enum way way, __u32 index)
{
	__u64 value = 0;

	if (way == WAY_KPROBE)
		return (register_word(ctx, index));
	if (index == DTP_WORD_RET)
		bpf_get_func_ret(ctx, &value);
	else
		bpf_get_func_arg(ctx, index, &value);
	return (value);
}

DTP_INLINE int
function_fires(void *ctx, enum way way)
{
	struct dtp_args args;
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
		.fg_skip = way == WAY_KPROBE ? 0 : TRAMPOLINE_SKIP,
		.fg_kernel = 1,
	};
	__u64 faults = 0;

	if (!dtp_begin(&firing, 1U << DTP_RECORDING) || !dtp_wanted(&firing))
		return (0);
	dtp_args_begin(&args);
	for (__u32 i = 0; i < DTP_MAX_ARGS; i++) {
		__u64 failed = 0;

		if (i >= cfg.dc_nargs)
			break;
		args.ag_value[i] = dtp_follow(&cfg.dc_arg[i],
		    function_word(ctx, way, cfg.dc_arg[i].ar_index), &failed);
		faults += failed >> 63;		/* errors are negative */
	}
	if (faults != 0)
		DTP_ADD(&firing.fg_counts->cn_arg_fault, faults);
	if (!dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

SEC("kprobe")
int
on_kprobe(void *ctx)
{
	return (function_fires(ctx, WAY_KPROBE));
}

SEC("fentry")
int
on_fentry(void *ctx)
{
	return (function_fires(ctx, WAY_FENTRY));
}

SEC("fexit")
int
on_fexit(void *ctx)
{
	return (function_fires(ctx, WAY_FEXIT));
}
