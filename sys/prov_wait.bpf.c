/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Time off the CPU: from the context switch by which a thread leaves a CPU to
 * the context switch by which it gets a CPU again.
 *
 *	switch from it	 the wait begins: state and stack are kept
 *	waking		 who wakes it is kept: the wakeup can be on another CPU
 *	wakeup		 the thread was blocked, and is now runnable
 *	switch to it	 fires once for each state of the wait: a record has
 *			 the kept stack, and the time in the state as weight
 *	iter		 at stop and at a pause: unfinished waits are recorded
 *
 * The stack is walked at the switch from the thread, because only then is it
 * the current thread, unless wait_draw decides not to.  The stack stays in a
 * slot of a pool until the thread runs again.  If all slots are in use, the
 * wait is recorded without a stack.
 * Waits below dc_min_ns have no record, but are included in the sums, like the
 * running time (struct dtp_wait_counts).
 *
 * A preallocated table has an entry for each thread, by the address of its
 * task_struct: BPF programs cannot allocate memory in the scheduler.  A switch
 * changes an entry under the lock of a run queue, a wakeup under the lock that
 * the kernel takes to wake the thread.  While the thread still leaves its CPU
 * both can happen at once: then the wakeup changes only what is kept of a
 * waker.
 */
#define DTP_ABOUT_NEXT
#define DTP_FLAGS
#include "sample.bpf.h"
#include "reason.bpf.h"
#include "throttle.bpf.h"
#include "object.bpf.h"
#include "wait.bpf.h"
#include "waker.bpf.h"

#ifndef DTP_FORGETS_wait
#define DTP_FORGETS_wait	0
#endif
#ifndef DTP_FORGETS_switch
#define DTP_FORGETS_switch	0
#endif

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_wait_counts);
} wait_counts SEC(".maps");

/* What a context switch needs to know about the session. */
struct now {
	__u64	nw_ns;
	__u64	nw_begun_ns;
	__u32	nw_self;
	__u32	nw_state;
};

/* A part of a wait, in one state: it fires once. */
struct part {
	struct dtp_args	pa_args;
	__u64	pa_weight;
	__u64	pa_states;	/* of the session, in which it fires */
	__u32	pa_pid;
	__u32	pa_tid;
	__u32	pa_flags;	/* more DTP_R_* */
	__u32	pa_slot;
	__u32	pa_kernel;
	__u32	pa_user;
	__u32	pa_turned;
	__u32	pa_kstatus;
	__u32	pa_ustatus;
	/* Scratch memory that does not fit on the stack. */
	struct wait pa_fresh;
	struct now pa_now;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct part);
} parts SEC(".maps");

/* The kernel's context; its layout is the same in all kernels. */
struct bpf_iter__task {
	void			*meta;
	struct task_struct	*task;
};

/* Arguments of the event, in this order; text is read from here. */
static const char state_blocked[] = "blocked";
static const char state_runnable[] = "runnable";

enum {
	ARG_STATE, ARG_PREV_STATE, ARG_REASON, ARG_WAKER, ARG_WAKER_TID,
	ARG_OBJECT	/* DTP_OBJECT_ARGS */
};

/*
 * NULL: not recording.  is_end: the time is when recording stopped or paused,
 * not now.  A wakeup that interrupts the iterator on this CPU changes nothing.
 */
DTP_INLINE const struct now *
now_read(int is_end)
{
	struct dtp_control *session;
	__u32 zero = 0;
	struct part *part = bpf_map_lookup_elem(&parts, &zero);
	struct now *now;
	__u32 state;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session == NULL || part == NULL)
		return (NULL);
	state = DTP_LOAD(&session->co_state);
	if (!is_end && state != DTP_RECORDING)
		return (NULL);
	now = &part->pa_now;
	now->nw_state = state;
	now->nw_ns = is_end ? session->co_stop_ns : bpf_ktime_get_ns();
	now->nw_begun_ns = dtp_targets_begun(session);
	now->nw_self = session->co_self;
	return (now);
}

/*
 * The counts of this CPU.  They change at switches and wakeups, which nothing
 * interrupts, and after stop, when there are no switches and wakeups.
 */
DTP_INLINE struct dtp_wait_counts *
counts_here(void)
{
	__u32 zero = 0;

	return (bpf_map_lookup_elem(&wait_counts, &zero));
}

/* ----------------------------------------------------------- samples */

/* Apart, because both parts of a wait call it. */
DTP_APART int
part_store(struct part *part)
{
	struct dtp_firing firing = { .fg_kernel = 1 };
	struct dtp_writer writer = { 0 };
	struct dtp_walk walk = { 0 };
	__u32 slot;

	if (part == NULL)
		return (0);
	firing.fg_weight = part->pa_weight;
	firing.fg_args = &part->pa_args;
	if (!dtp_begin(&firing, part->pa_states))
		return (0);
	firing.fg_pid = part->pa_pid;
	firing.fg_tid = part->pa_tid;
	firing.fg_flags = part->pa_flags;
	if (!dtp_wanted_here(&firing) || !dtp_passes(&firing))
		return (0);
	slot = part->pa_slot;
	walk.wk_scratch = bpf_map_lookup_elem(&wait_slots, &slot);
	walk.wk_kernel = part->pa_kernel;
	walk.wk_user = part->pa_user;
	walk.wk_turned = part->pa_turned;
	walk.wk_kstatus = part->pa_kstatus;
	walk.wk_ustatus = part->pa_ustatus;
	writer.wr_stream = firing.fg_stream;
	writer.wr_counts = firing.fg_counts;
	writer.wr_cpu = firing.fg_cpu;
	dtp_enter(&writer);
	if (!dtp_is_stalled(&writer))
		(void)dtp_write_sample(&writer, &firing, &walk);
	dtp_leave(&writer);
	dtp_wakeup(&writer);
	return (0);
}

/* How often it was switched in; 0: this kernel does not count that. */
DTP_INLINE __u64
thread_turn(const struct task_struct *task)
{
	return (bpf_core_field_exists(task->sched_info.pcount) ?
	    task->sched_info.pcount : 0);
}

/* The thread has not run since the wait began. */
DTP_INLINE __u32
wait_reason(const struct wait *wait, const struct task_struct *task,
    int is_runnable)
{
	if (wait->wt_turn != thread_turn(task))
		return (DTP_W_UNKNOWN);
	if (!is_runnable)
		return (wait->wt_state == WAIT_UNSEEN ? DTP_W_UNKNOWN :
		    reason_blocked(task, wait->wt_state));
	if (wait->wt_throttled != 0)
		return (DTP_W_THROTTLED);
	return (wait->wt_woken_ns == 0 && !wait->wt_seen ? DTP_W_UNKNOWN :
	    reason_runnable(task, wait->wt_woken_ns != 0));
}

/* Count or store the time of a wait in one state. */
DTP_INLINE void
wait_part(const struct wait *wait, const struct task_struct *task,
    const struct now *now, __u64 ns, int is_runnable)
{
	struct dtp_wait_counts *counted = counts_here();
	__u32 reason, zero = 0;
	struct part *part;

	if (counted == NULL || ns == 0)
		return;
	if (ns < cfg.dc_min_ns) {
		counted->wn_short++;
		counted->wn_short_ns += ns;
		return;
	}
	wait_weigh(wait, ns, counted);
	reason = wait_reason(wait, task, is_runnable) & DTP_REASON_MASK;
	/* Not before: the BPF stack of Linux 6.1 has no room for it. */
	part = bpf_map_lookup_elem(&parts, &zero);
	if (part == NULL)
		return;
	part->pa_args.ag_value[ARG_STATE] = (__u64)(is_runnable ?
	    state_runnable : state_blocked);
	part->pa_args.ag_value[ARG_REASON] = (__u64)reason_text[reason];
	part->pa_args.ag_value[ARG_PREV_STATE] = (__u32)wait->wt_state;
	waker_args(wait, &part->pa_args.ag_value[ARG_WAKER]);
	object_args(task, reason, wait->wt_holder,
	    &part->pa_args.ag_value[ARG_OBJECT]);
	part->pa_args.ag_duration_ns = ns;
	part->pa_args.ag_uid_gid = (__u64)task->cred->gid.val << 32 |
	    task->cred->uid.val;
	bpf_probe_read_kernel(part->pa_args.ag_comm, DTP_COMM_LEN,
	    task->comm);
	part->pa_weight = ns;
	part->pa_states = 1ULL << (now->nw_state & 31);
	part->pa_pid = wait->wt_pid;
	part->pa_tid = wait->wt_tid;
	part->pa_flags = wait->wt_step << DTP_R_STEP_SHIFT;
	part->pa_slot = wait->wt_slot - 1;
	part->pa_kernel = wait->wt_kernel;
	part->pa_user = wait->wt_user;
	part->pa_turned = wait->wt_turned;
	part->pa_kstatus = wait->wt_kstatus;
	part->pa_ustatus = wait->wt_ustatus;
	part_store(part);
}

/* Divide a wait up to now into blocked and runnable time. */
DTP_INLINE void
wait_count(const struct wait *wait, const struct task_struct *task,
    const struct now *now, struct dtp_wait_counts *counted, int is_end)
{
	__u64 out_ns = wait->wt_out_ns, woken_ns = wait->wt_woken_ns;
	__u64 all_ns = now->nw_ns > out_ns ? now->nw_ns - out_ns : 0;
	__u64 blocked_ns = 0;

	if (DTP_FORGETS_wait)
		return;
	if (wait->wt_state != 0)
		blocked_ns = woken_ns == 0 ? all_ns : woken_ns > out_ns ?
		    woken_ns - out_ns : 0;
	if (blocked_ns > all_ns)
		blocked_ns = all_ns;
	if (wait->wt_state != 0 && woken_ns == 0 && !is_end) {
		counted->wn_unwoken++;
		counted->wn_unwoken_ns += all_ns;
	}
	throttle_end(task, wait->wt_throttled, all_ns - blocked_ns);
	counted->wn_blocked_ns += blocked_ns;
	counted->wn_runnable_ns += all_ns - blocked_ns;
	wait_part(wait, task, now, blocked_ns, 0);
	wait_part(wait, task, now, all_ns - blocked_ns, 1);
}

/* ----------------------------------------------------------- threads */

/* Is it a target, by pid and tid?  DTP_TG_* bits. */
DTP_INLINE __u8
thread_how(const struct task_struct *task, const struct now *now)
{
	struct dtp_life life = { task->tgid, task->pid };

	if (life.li_tid == 0 || (now->nw_self != 0 &&
	    life.li_pid == now->nw_self))
		return (0);
	if (dtp_by_number())
		return (dtp_target_of(&life));
	return (DTP_TG_ACTIVE);
}

/* The time of its last switch. */
DTP_INLINE __u64
thread_last(const struct wait *wait)
{
	return (wait->wt_in_ns > wait->wt_out_ns ? wait->wt_in_ns :
	    wait->wt_out_ns);
}

/* Its recorded time ends at its last switch. */
DTP_INLINE void
thread_forget(struct wait *wait, struct dtp_wait_counts *counted)
{
	counted->wn_elapsed_ns += thread_last(wait) -
	    wait->wt_from_ns;
	slot_give(wait);
}

/* It is no longer a target or, if was_target is 0, not yet. */
DTP_INLINE void
thread_drop(__u64 word, int was_target, struct dtp_wait_counts *counted)
{
	struct wait *wait = bpf_map_lookup_elem(&waits, &word);

	if (wait == NULL)
		return;
	counted->wn_threads += was_target != 0;
	thread_forget(wait, counted);
	bpf_map_delete_elem(&waits, &word);
}

/* Its entry, unless the entry is from before a pause. */
DTP_INLINE struct wait *
thread_find(__u64 word, const struct now *now, struct dtp_wait_counts *counted)
{
	struct wait *wait = bpf_map_lookup_elem(&waits, &word);

	if (wait == NULL || wait->wt_begun_ns == now->nw_begun_ns)
		return (wait);
	thread_forget(wait, counted);
	bpf_map_delete_elem(&waits, &word);
	return (NULL);
}

/*
 * A new entry.  The recorded time of the thread begins now, or, if its earlier
 * switches would have been seen, when the recording or the thread began.
 * NULL: the table is full.
 */
DTP_INLINE struct wait *
thread_add(__u64 word, const struct task_struct *task, const struct now *now,
    int is_now, struct dtp_wait_counts *counted)
{
	__u64 born_ns = task->start_time;
	__u32 zero = 0;
	struct part *part = bpf_map_lookup_elem(&parts, &zero);
	struct wait *fresh;

	if (part == NULL)
		return (NULL);
	fresh = &part->pa_fresh;
	*fresh = (struct wait){ 0 };
	fresh->wt_begun_ns = now->nw_begun_ns;
	fresh->wt_from_ns = is_now ? now->nw_ns : born_ns >
	    now->nw_begun_ns ? born_ns : now->nw_begun_ns;
	fresh->wt_pid = task->tgid;
	fresh->wt_tid = task->pid;
	fresh->wt_turn = thread_turn(task);
	if (bpf_map_update_elem(&waits, &word, fresh, BPF_ANY) != 0)
		counted->wn_unkept++;
	return (bpf_map_lookup_elem(&waits, &word));
}

/* Its recorded time ends now. */
DTP_INLINE void
thread_end(__u64 word, struct wait *wait, const struct now *now,
    struct dtp_wait_counts *counted)
{
	counted->wn_elapsed_ns += now->nw_ns - wait->wt_from_ns;
	counted->wn_threads++;
	slot_give(wait);
	bpf_map_delete_elem(&waits, &word);
}

/*
 * Some kernels switch without running this program, but count the switches to
 * the thread.
 */
DTP_INLINE void
thread_gap(const struct wait *wait, const struct task_struct *task,
    const struct now *now, struct dtp_wait_counts *counted)
{
	counted->wn_turns += thread_turn(task) - wait->wt_turn;
	counted->wn_gaps++;
	counted->wn_gap_ns += now->nw_ns - thread_last(wait);
}

/* ---------------------------------------------------------- switches */

DTP_INLINE void
thread_leave(struct bpf_raw_tracepoint_args *ctx, const struct now *now,
    struct dtp_wait_counts *counted)
{
	const struct task_struct *task = dtp_current();
	__u64 word = ctx->args[1], state = ctx->args[3];
	__u8 how = thread_how(task, now);
	struct wait *wait;

	if (how == 0)
		return;
	/* It is no target before its exec, or in another cgroup. */
	if ((how & DTP_TG_ACTIVE) == 0 ||
	    (cfg.dc_target_mode == DTP_TARGET_CGROUP &&
	    bpf_get_current_ancestor_cgroup_id(cfg.dc_cgroup_level) !=
	    cfg.dc_cgroup_id)) {
		thread_drop(word, how & DTP_TG_ACTIVE, counted);
		return;
	}
	wait = thread_find(word, now, counted);
	if (wait == NULL) {
		wait = thread_add(word, task, now,
		    cfg.dc_target_mode == DTP_TARGET_CGROUP, counted);
		if (wait == NULL)
			return;
		wait->wt_in_ns = wait->wt_from_ns;
	}
	if (wait->wt_in_ns == 0 || wait->wt_turn != thread_turn(task))
		thread_gap(wait, task, now, counted);
	else
		counted->wn_running_ns += now->nw_ns -
		    wait->wt_in_ns;
	slot_give(wait);
	if (state & WAIT_DEAD) {
		thread_end(word, wait, now, counted);
		return;
	}
	wait->wt_in_ns = wait->wt_woken_ns = 0;
	wait->wt_out_ns = now->nw_ns;
	wait->wt_seen = 1;
	wait->wt_turn = thread_turn(task);
	wait->wt_state = dtp_task_is_queued(task) ? 0 : state != 0 ? state :
	    WAIT_UNSEEN;
	wait->wt_throttled = throttle_begin(task);
	wait->wt_holder = wait->wt_state == 0 ? 0 : object_holder(task);
	wait_draw(wait, now->nw_ns, counted);
	wait_walk(wait, ctx, counted);
}

/* Switches count as the kernel counts them, in schedstat. */
DTP_INLINE void
thread_come(struct bpf_raw_tracepoint_args *ctx, const struct now *now,
    struct dtp_wait_counts *counted)
{
	const struct task_struct *task = (void *)ctx->args[2];
	__u64 word = ctx->args[2], turn;
	__u8 how = thread_how(task, now);
	struct wait *wait;

	if (how == 0)
		return;
	wait = thread_find(word, now, counted);
	if (wait == NULL) {
		if (cfg.dc_target_mode == DTP_TARGET_CGROUP)
			return;
		wait = thread_add(word, task, now,
		    (how & DTP_TG_ACTIVE) == 0, counted);
		if (wait == NULL)
			return;
		wait->wt_out_ns = wait->wt_from_ns;
	}
	turn = thread_turn(task);
	if (wait->wt_out_ns == 0 || wait->wt_turn != turn)
		thread_gap(wait, task, now, counted);
	else
		wait_count(wait, task, now, counted, 0);
	slot_give(wait);
	wait->wt_out_ns = wait->wt_by = 0;
	wait->wt_in_ns = now->nw_ns;
	wait->wt_turn = dtp_task_next_turn(word);
	/* 0: the first one, or this kernel counts none. */
	counted->wn_turns += turn == 0 || wait->wt_turn != turn;
}

/* Drop a thread that exits during a pause. */
DTP_INLINE int
thread_paused(struct bpf_raw_tracepoint_args *ctx,
    struct dtp_wait_counts *counted)
{
	const struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session != NULL && DTP_LOAD(&session->co_state) == DTP_PAUSED &&
	    (ctx->args[3] & WAIT_DEAD) != 0)
		thread_drop(ctx->args[1], 1, counted);
	return (0);
}

SEC("tp_btf/sched_switch")
int
on_wait_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_wait_counts *counted = counts_here();
	const struct now *now = now_read(0);

	if (counted == NULL || DTP_FORGETS_switch)
		return (0);
	if (now == NULL)
		return (thread_paused(ctx, counted));
	thread_leave(ctx, now, counted);
	thread_come(ctx, now, counted);
	return (0);
}

/* The entry of a thread that is woken and had no switch yet, or is new. */
DTP_INLINE struct wait *
thread_meet(__u64 word, const struct task_struct *task, const struct now *now,
    int is_new, struct dtp_wait_counts *counted)
{
	struct wait *wait;

	if (cfg.dc_target_mode == DTP_TARGET_CGROUP || task->on_cpu ||
	    (thread_how(task, now) & DTP_TG_ACTIVE) == 0)
		return (NULL);
	wait = thread_add(word, task, now, is_new, counted);
	if (wait == NULL)
		return (NULL);
	wait->wt_out_ns = wait->wt_from_ns;
	wait->wt_state = is_new ? 0 : task->__state != 0 ? task->__state :
	    WAIT_UNSEEN;
	return (wait);
}

/* In the context of the waker; the state is still that of the wait. */
SEC("tp_btf/sched_waking")
int
on_wait_waking(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	struct dtp_wait_counts *counted = counts_here();
	__u64 word = ctx->args[0];
	const struct now *now = now_read(0);
	struct wait *wait;

	if (counted == NULL || now == NULL)
		return (0);
	if (task->on_cpu)
		return (waker_early(word, now->nw_begun_ns));
	/* Off a CPU and its queue, only its wakeup may change its entry. */
	if (dtp_task_is_queued(task))
		return (0);
	wait = thread_find(word, now, counted);
	if (wait == NULL)
		wait = thread_meet(word, task, now, 0, counted);
	/* If the time so far is too short for a sample, save the effort. */
	if (wait != NULL && now->nw_ns - wait->wt_out_ns >= cfg.dc_min_ns)
		waker_keep(wait);
	else if (wait != NULL)
		wait->wt_by = WAKER_UNKNOWN;
	return (0);
}

SEC("tp_btf/sched_wakeup")
int
on_wait_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	struct dtp_wait_counts *counted = counts_here();
	__u64 word = ctx->args[0];
	const struct now *now = now_read(0);
	struct wait *wait;

	if (counted == NULL || now == NULL)
		return (0);
	wait = thread_find(word, now, counted);
	if (wait == NULL)
		wait = thread_meet(word, task, now, 0, counted);
	/* A thread that still runs, or is runnable, is not blocked. */
	if (wait != NULL && wait->wt_out_ns != 0 && wait->wt_state != 0 &&
	    wait->wt_woken_ns == 0) {
		wait->wt_woken_ns = now->nw_ns;
		wait->wt_throttled = throttle_begin(task);
	}
	return (0);
}

SEC("tp_btf/sched_wakeup_new")
int
on_wait_new(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	struct dtp_wait_counts *counted = counts_here();
	__u64 word = ctx->args[0];
	const struct now *now = now_read(0);
	struct wait *wait;

	if (counted == NULL || now == NULL)
		return (0);
	wait = thread_find(word, now, counted);
	/* The end of an earlier thread at this address was missed. */
	if (wait != NULL) {
		counted->wn_threads++;
		thread_forget(wait, counted);
	}
	wait = thread_meet(word, task, now, 1, counted);
	if (wait == NULL)
		return (0);
	wait->wt_woken_ns = now->nw_ns;
	waker_keep(wait);
	return (0);
}

/* -------------------------------------------------------------- stop */

/* A thread without a switch since the recording began. */
DTP_INLINE struct wait *
thread_unmet(__u64 word, const struct task_struct *task,
    const struct now *now, struct dtp_wait_counts *counted)
{
	struct wait *wait;

	if (cfg.dc_target_mode == DTP_TARGET_CGROUP ||
	    (thread_how(task, now) & DTP_TG_ACTIVE) == 0 ||
	    task->start_time > now->nw_ns)
		return (NULL);
	wait = thread_add(word, task, now, 0, counted);
	if (wait == NULL)
		return (NULL);
	if (task->on_cpu) {
		wait->wt_in_ns = wait->wt_from_ns;
	} else {
		wait->wt_out_ns = wait->wt_from_ns;
		wait->wt_state = dtp_task_is_queued(task) ? 0 :
		    task->__state != 0 ? task->__state : WAIT_UNSEEN;
	}
	return (wait);
}

/* Count the thread up to the pause, also if it exits during the pause. */
DTP_INLINE void
thread_pause(struct wait *wait, const struct now *now,
    struct dtp_wait_counts *counted)
{
	counted->wn_elapsed_ns += now->nw_ns - wait->wt_from_ns;
	wait->wt_from_ns = now->nw_ns;
	if (wait->wt_out_ns != 0)
		wait->wt_out_ns = now->nw_ns;
	else
		wait->wt_in_ns = now->nw_ns;
}

/* The entry of a thread that is gone, whose end was missed. */
static long
wait_left(void *map, const __u64 *word, struct wait *wait,
    struct dtp_wait_counts **counted)
{
	(void)map;
	(void)word;
	if (wait == NULL || wait->wt_from_ns == 0 || *counted == NULL)
		return (0);
	(*counted)->wn_threads++;
	thread_forget(wait, *counted);
	return (0);
}

/* All tasks, then NULL. */
SEC("iter/task")
int
each_wait(struct bpf_iter__task *ctx)
{
	const struct task_struct *task = ctx->task;
	struct dtp_wait_counts *counted = counts_here();
	__u64 word = (__u64)task;
	const struct now *now = now_read(1);
	struct wait *wait;

	if (counted == NULL || now == NULL)
		return (0);
	if (task == NULL) {
		if (now->nw_state != DTP_PAUSED)
			bpf_for_each_map_elem(&waits, wait_left, &counted, 0);
		return (0);
	}
	if (task->exit_state != 0)
		return (0);
	wait = thread_find(word, now, counted);
	if (wait == NULL)
		wait = thread_unmet(word, task, now, counted);
	if (wait == NULL || wait->wt_from_ns > now->nw_ns)
		return (0);
	if (wait->wt_out_ns != 0) {
		wait_count(wait, task, now, counted, 1);
		counted->wn_open += now->nw_ns != wait->wt_out_ns;
		counted->wn_open_ns += now->nw_ns - wait->wt_out_ns;
	} else {
		counted->wn_running_ns += now->nw_ns - wait->wt_in_ns;
	}
	if (now->nw_state == DTP_PAUSED)
		thread_pause(wait, now, counted);
	else
		thread_end(word, wait, now, counted);
	return (0);
}
