/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * A look at a thread that is not the current one: what it does, and its stacks,
 * stored as a sample.
 *
 * Included by programs that an iterator of tasks runs, one at a time, and that
 * may sleep.
 */
#ifndef LOOK_BPF_H
#define LOOK_BPF_H

#define DTP_OTHER_TASK
#define DTP_ABOUT_NEXT
#define DTP_FLAGS
#include "sample.bpf.h"
#include "walk_other.bpf.h"

/* The kernel's context; its layout is the same in all kernels. */
struct bpf_iter__task {
	void			*meta;
	struct task_struct	*task;
};

/* Not on the stack, which the walk needs. */
struct look {
	struct dtp_args	lk_args;
	__u64		lk_weight;
	__u32		lk_states;	/* of the session, in which it fires */
	__u32		lk_pid;
	__u32		lk_tid;
	__u32		lk_flags;	/* more DTP_R_* */
	__u32		lk_passes;	/* the filter */
	__u32		lk_is_walked;
	__u32		lk_kernel;	/* as in struct dtp_walk */
	__u32		lk_user;
	__u32		lk_turned;
	__u32		lk_kstatus;
	__u32		lk_ustatus;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct look);
} looks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_scratch);
} walked SEC(".maps");

/*
 * 1: stored; else it is counted why not.  Apart, so that it does not need room
 * on the stack at the same time as the walk: Linux 6.1 has no other room.
 */
DTP_APART int
look_store(struct look *look)
{
	struct dtp_firing firing = { 0 };
	struct dtp_writer writer = { 0 };
	struct dtp_walk walk = { 0 };
	__u32 zero = 0;
	int is_stored;

	if (look == NULL)
		return (0);
	firing.fg_weight = look->lk_weight;
	firing.fg_args = &look->lk_args;
	if (!dtp_begin(&firing, look->lk_states))
		return (0);
	firing.fg_pid = look->lk_pid;
	firing.fg_tid = look->lk_tid;
	firing.fg_flags = look->lk_flags;
	if (!look->lk_passes)
		return (dtp_count(&firing.fg_counts->cn_filtered));
	if (look->lk_is_walked)
		walk.wk_scratch = bpf_map_lookup_elem(&walked, &zero);
	walk.wk_kernel = look->lk_kernel;
	walk.wk_user = look->lk_user;
	walk.wk_turned = look->lk_turned;
	walk.wk_kstatus = look->lk_kstatus;
	walk.wk_ustatus = look->lk_ustatus;
	writer.wr_stream = firing.fg_stream;
	writer.wr_counts = firing.fg_counts;
	writer.wr_cpu = firing.fg_cpu;
	dtp_enter(&writer);
	is_stored = dtp_write_sample(&writer, &firing, &walk);
	dtp_leave(&writer);
	dtp_wakeup(&writer);
	return (is_stored);
}

DTP_INLINE void
look_begin(struct look *look, const struct task_struct *task)
{
	*look = (struct look){ .lk_passes = 1 };
	look->lk_pid = task->tgid;
	look->lk_tid = task->pid;
	look->lk_args.ag_value[DTP_TH_CALL] = -1ULL;
	look->lk_args.ag_uid_gid = (__u64)task->cred->gid.val << 32 |
	    task->cred->uid.val;
	bpf_probe_read_kernel(look->lk_args.ag_comm, DTP_COMM_LEN, task->comm);
}

DTP_INLINE void
look_walk(struct look *look, const struct task_struct *task)
{
	struct dtp_walk walk = { 0 };
	__u32 zero = 0;

	walk.wk_scratch = bpf_map_lookup_elem(&walked, &zero);
	if (walk.wk_scratch == NULL)
		return;
	dtp_walk_other(&walk, task, &look->lk_args);
	look->lk_is_walked = (look->lk_args.ag_value[DTP_TH_ABOUT] &
	    DTP_TH_ON_CPU) == 0;
	look->lk_kernel = walk.wk_kernel;
	look->lk_user = walk.wk_user;
	look->lk_turned = walk.wk_turned;
	look->lk_kstatus = walk.wk_kstatus;
	look->lk_ustatus = walk.wk_ustatus;
}

#endif /* LOOK_BPF_H */
