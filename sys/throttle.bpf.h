/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Threads that the kernel keeps off the CPUs because a cgroup has used up its
 * CPU quota, and the time that they waited for that, by cgroup.
 *
 * From Linux 6.18 on a thread is throttled on its way to user space; before, a
 * run queue with all its threads.  Either is seen when the thread leaves its
 * CPU.  A thread that is woken on a throttled run queue waits there, too.
 *
 * Included by prov_wait.bpf.c.
 */
#ifndef THROTTLE_BPF_H
#define THROTTLE_BPF_H

#include "abi/dtp_reason.h"

#define THROTTLE_LEVELS	8	/* of nested cgroups */
#define THROTTLE_FAIR	100	/* priorities below are real-time */

/* By the id of the cgroup that has the quota; 0: which one is not known. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DTP_THROTTLED);
	__type(key, __u64);
	__type(value, struct dtp_throttled);
} throttled SEC(".maps");

DTP_INLINE int
throttle_is(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return (task->throttled);
	return (bpf_core_field_exists(task->se.cfs_rq->throttle_count) &&
	    task->prio >= THROTTLE_FAIR && task->se.cfs_rq->throttle_count >
	    0);
}

/* The group whose run queue on this CPU has no quota left. */
DTP_INLINE const struct task_group *
throttle_group(const struct task_struct *task)
{
	const struct cfs_rq *queue = task->se.cfs_rq;
	const struct sched_entity *above = task->se.parent;

	for (int n = 0; n < THROTTLE_LEVELS; n++) {
		if (BPF_CORE_READ_BITFIELD(queue, throttled))
			return (queue->tg);
		if (above == NULL)
			break;
		queue = above->cfs_rq;
		above = above->parent;
	}
	return (NULL);
}

/* What the kernel itself says of the group, from the first wait on. */
DTP_INLINE void
throttle_note(struct dtp_throttled *sum, const struct task_group *group)
{
	sum->tt_quota_ns = group->cfs_bandwidth.quota;
	sum->tt_period_ns = group->cfs_bandwidth.period;
	sum->tt_periods = (__u32)group->cfs_bandwidth.nr_throttled;
	sum->tt_kernel_ns = group->cfs_bandwidth.throttled_time;
	if (sum->tt_is_known)
		return;
	sum->tt_is_known = 1;
	sum->tt_periods_before = sum->tt_periods;
	sum->tt_kernel_before_ns = sum->tt_kernel_ns;
}

/*
 * A wait begins.  0: not throttled, else the key of its cgroup plus 1.  Apart,
 * so that it has a BPF stack of its own.
 */
static DTP_APART __u64
throttle_begin(const struct task_struct *task)
{
	const struct task_group *group;
	struct dtp_throttled fresh = { 0 }, *sum;
	__u64 id = 0;

	if (task == NULL || !throttle_is(task))
		return (0);
	group = throttle_group(task);
	if (group != NULL)
		id = group->css.cgroup->kn->id;
	sum = bpf_map_lookup_elem(&throttled, &id);
	if (sum == NULL) {
		bpf_map_update_elem(&throttled, &id, &fresh, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&throttled, &id);
	}
	if (sum != NULL && group != NULL)
		throttle_note(sum, group);
	return (id + 1);
}

/* A wait that began so has been runnable for so long. */
static DTP_APART int
throttle_end(const struct task_struct *task, __u64 begun, __u64 ns)
{
	const struct task_group *group;
	struct dtp_throttled *sum;
	__u64 id = begun - 1;

	if (task == NULL || begun == 0 || ns == 0)
		return (0);
	sum = bpf_map_lookup_elem(&throttled, &id);
	if (sum == NULL)
		return (0);
	DTP_ADD(&sum->tt_ns, ns);
	DTP_ADD(&sum->tt_waits, 1);
	group = task->sched_task_group;
	for (int n = 0; n < THROTTLE_LEVELS && group != NULL; n++) {
		if (group->css.cgroup->kn->id == id) {
			throttle_note(sum, group);
			break;
		}
		group = group->parent;
	}
	return (0);
}

#endif /* THROTTLE_BPF_H */
