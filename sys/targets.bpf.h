/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The configuration, and who is a target: by number of process or thread, kept
 * through fork, exec and exit.  Children of targets are added before they can
 * run, who waits for its exec becomes active in it, and a number that is used
 * again is nobody's.
 *
 * Used by all that records (maps.bpf.h) and by split.bpf.c.
 */
#ifndef TARGETS_BPF_H
#define TARGETS_BPF_H

#include "abi/dtp_abi.h"
#include "compat.bpf.h"

/*
 * The verifier takes what it reads here as constants: it removes the code
 * that the event does not need, and knows how large the ring is.
 */
DTP_RODATA struct dtp_config cfg = {
	.dc_nevents = 1,
	.dc_ncpus = 1,
	.dc_ring_mask = DTP_MIN_RING - 1,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_targets);
} targets SEC(".maps");

/* Where it stands how a task or thread group is a target. */
DTP_INLINE __u8 *
dtp_target_at(__u32 id)
{
	struct dtp_targets *all;
	__u32 zero = 0;

	all = bpf_map_lookup_elem(&targets, &zero);
	return (all == NULL ? NULL : &all->tg_how[id & (DTP_TASK_IDS - 1)]);
}

DTP_INLINE __u8
dtp_target_how(__u32 id)
{
	__u8 *at = dtp_target_at(id);

	return (at == NULL ? 0 : DTP_LOAD(at));
}

DTP_INLINE void
dtp_target_set(__u32 id, __u8 how)
{
	__u8 *at = dtp_target_at(id);

	if (at != NULL)
		DTP_STORE(at, how);
}

/* The task that a life is about. */
struct dtp_life {
	__u32	li_pid;
	__u32	li_tid;
};

DTP_INLINE int
dtp_life_read(struct dtp_life *life, __u64 word)
{
	const struct task_struct *task = (void *)(unsigned long)word;

	if (DTP_READ(&life->li_pid, &task->tgid) != 0)
		return (-1);
	return (DTP_READ(&life->li_tid, &task->pid));
}

/* The same of the current task, which is read without a helper. */
DTP_INLINE void
dtp_life_here(struct dtp_life *life, const struct task_struct *current)
{
	life->li_pid = current->tgid;
	life->li_tid = current->pid;
}

/* Are targets known by their process or thread numbers? */
DTP_INLINE int
dtp_by_number(void)
{
	return (cfg.dc_target_mode == DTP_TARGET_PID ||
	    cfg.dc_target_mode == DTP_TARGET_TID);
}

/* How it is a target, also one that still waits for exec; 0: it is none. */
DTP_INLINE __u8
dtp_target_of(const struct dtp_life *life)
{
	return (dtp_target_how(cfg.dc_target_mode == DTP_TARGET_TID ?
	    life->li_tid : life->li_pid));
}

/* Where targets are not told by their numbers, everybody is. */
DTP_INLINE int
dtp_is_active(const struct dtp_life *life)
{
	return (!dtp_by_number() ||
	    (dtp_target_of(life) & DTP_TG_ACTIVE) != 0);
}

/* Like its parent it is none, though one that ended had the same number. */
DTP_INLINE void
dtp_number_reused(const struct dtp_life *child)
{
	__u32 id = cfg.dc_target_mode == DTP_TARGET_TID ? child->li_tid :
	    child->li_pid;

	if (dtp_target_how(id) & DTP_TG_ENDED)
		dtp_target_set(id, 0);
}

/* Make the child a target like its parent; 0: it is none. */
DTP_INLINE int
dtp_inherit(const struct dtp_life *parent, const struct dtp_life *child)
{
	__u8 how;

	if (cfg.dc_target_mode == DTP_TARGET_TID) {
		dtp_number_reused(child);
		return (dtp_target_of(child) != 0);
	}
	if (cfg.dc_target_mode != DTP_TARGET_PID ||
	    child->li_pid == parent->li_pid)
		return (1);
	dtp_number_reused(child);
	how = dtp_target_of(parent);
	if (how == 0 || !cfg.dc_inherit)
		return (0);
	dtp_target_set(child->li_pid, how);
	return (1);
}

/* Does it wait for this exec, which a thread of another number may make? */
DTP_INLINE int
dtp_waits(const struct dtp_life *life, __u32 old_tid)
{
	struct dtp_life before = { life->li_pid, old_tid };
	__u8 how = dtp_target_of(&before);

	return (how != 0 && (how & DTP_TG_ACTIVE) == 0);
}

/*
 * A target that waits for exec becomes active; a thread that execs takes
 * over the number of its group, and its being a target with it.
 */
DTP_INLINE int
dtp_activate(const struct dtp_life *life, __u32 old_tid)
{
	struct dtp_life before = { life->li_pid, old_tid };
	__u8 how = dtp_target_of(&before);

	if (how == 0)
		return (0);
	if (cfg.dc_target_mode == DTP_TARGET_PID) {
		dtp_target_set(life->li_pid, DTP_TG_ACTIVE);
		return (1);
	}
	if (old_tid != life->li_tid)
		dtp_target_set(old_tid, 0);
	dtp_target_set(life->li_tid, DTP_TG_ACTIVE);
	return (1);
}

/* Of two last threads that end at once both may find that none is left. */
DTP_INLINE __u32
dtp_is_last(const struct task_struct *current)
{
	return (current->signal->live.counter == 0);
}

/*
 * It stays a target: what it does on its way out is its own, and programs of
 * events on this very tracepoint run after this one.
 */
DTP_INLINE void
dtp_end(const struct dtp_life *life, __u32 is_last)
{
	if (cfg.dc_target_mode == DTP_TARGET_TID)
		dtp_target_set(life->li_tid, dtp_target_of(life) |
		    DTP_TG_ENDED);
	else if (cfg.dc_target_mode == DTP_TARGET_PID && is_last)
		dtp_target_set(life->li_pid, dtp_target_of(life) |
		    DTP_TG_ENDED);
}

#endif /* TARGETS_BPF_H */
