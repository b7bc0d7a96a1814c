/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Allocations of programs, some of them, by their bytes.  Either the program
 * chooses them itself, and its probe has the pointer and how many bytes one
 * stands for (sys/preload/alloc.c has the same rule); or the functions of its
 * allocator are probed, and it is chosen here:
 *
 *	os_arg[0]	bytes
 *	os_arg[1]	times this, of calloc
 *	os_arg[2]	and this is at least os_arg[3].op_number: else the
 *			allocator goes on with malloc, which fires, too
 *
 * What is not chosen has not fired.
 */
#include "operand.bpf.h"
#include "task_stack.bpf.h"

/* More than any address space has: it will fail. */
#define ALLOC_MAX	(1ULL << 47)

/* 0: it is not chosen. */
static __attribute__((noinline)) __u64
alloc_choose(const void *ctx, const struct dtp_operands *all)
{
	__u64 failed = 0, bytes = operand_read(ctx, &all->os_arg[0], &failed);
	__u64 interval = cfg.dc_interval, factor = 1;

	if (all->os_arg[1].op_size != 0)
		factor = operand_read(ctx, &all->os_arg[1], &failed);
	if (all->os_arg[2].op_size != 0 && operand_read(ctx, &all->os_arg[2],
	    &failed) < all->os_arg[3].op_number)
		return (0);
	if (factor != 0 && bytes > ALLOC_MAX / factor)
		return (0);
	bytes *= factor;
	if (bytes >= interval)
		return (bytes);
	return ((bpf_get_prandom_u32() * interval >> 32) < bytes ?
	    interval : 0);
}

static __attribute__((noinline)) __u64
alloc_weight(void *ctx)
{
	__u32 at = bpf_get_attach_cookie(ctx);
	const struct dtp_operands *all = bpf_map_lookup_elem(&operands, &at);
	__u64 failed = 0;

	if (all == NULL)
		return (0);
	return (cfg.dc_interval != 0 ? alloc_choose(ctx, all) :
	    operand_read(ctx, &all->os_arg[1], &failed));
}

SEC("uprobe")
int
on_alloc(void *ctx)
{
	struct dtp_args args = { 0 };
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
	};

	dtp_use_task_stack(ctx);
	firing.fg_weight = alloc_weight(ctx);
	return (firing.fg_weight == 0 ? 0 : probe_fire(&firing));
}
