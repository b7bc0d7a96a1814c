/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Each thread of the targets once, whenever the session asks for it: what
 * it does, and its stacks.  An iterator that may sleep: it runs in the
 * recorder, and touches nothing of the threads that it looks at.
 */
#include "look.bpf.h"

SEC("iter.s/task")
int
each_thread(struct bpf_iter__task *ctx)
{
	const struct task_struct *task = ctx->task;
	struct dtp_life life = { 0 };
	struct look *look;
	__u32 zero = 0;

	look = bpf_map_lookup_elem(&looks, &zero);
	if (task == NULL || look == NULL)
		return (0);
	life.li_pid = task->tgid;
	life.li_tid = task->pid;
	if ((dtp_target_of(&life) & DTP_TG_ACTIVE) == 0)
		return (0);
	look_begin(look, task);
	look->lk_states = 1U << DTP_RECORDING;
	look->lk_weight = 1;
	look_walk(look, task);
	look_store(look);
	return (0);
}
