/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Functions and static probes of programs: a breakpoint that the kernel puts
 * into the file's pages, in whichever process they are mapped.  The registers
 * are those with which the task left user space, so the stack begins at the
 * probed instruction.
 *
 * An event may have several places in the code, and its arguments are
 * somewhere else at each of them: which place it is, the cookie tells.
 *
 * The program cannot migrate but may be preempted, and another task may then
 * run it on the same CPU.  So all that it writes has a slot of its own, and its
 * variables are on the stack of the task.
 */
#include "operand.bpf.h"
#include "task_stack.bpf.h"

SEC("uprobe")
int
on_uprobe(void *ctx)
{
	struct dtp_args args = { 0 };
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
	};

	dtp_use_task_stack(ctx);
	return (probe_fire(&firing));
}
