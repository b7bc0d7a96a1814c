/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Wall-clock time of threads.  Several times a second an iterator passes over
 * all threads: the time since the pass before is time in the state, and with
 * the stack, in which the thread is found.
 *
 * A thread that is blocked, and has not switched since the pass before, has the
 * same stack: its time is summed, and stored when the thread is found
 * otherwise, when it ends, or after AGAIN_NS, in a record without stacks
 * (DTP_R_AGAIN).  The recorder puts in the stacks of the thread's last record.
 *
 * A thread that ran while its stack was walked is left for the next pass, with
 * its time.  So is one that a pass has no time for: at most WALKS are walked in
 * a pass, so that a buffer has room for them.
 */
#include "look.bpf.h"

#define AGAIN_NS	10000000000ULL
#define WALKS		1024

struct seen {
	__u64	sn_begun_ns;	/* co_begun_ns when the entry was made */
	__u64	sn_at_ns;	/* its time is counted up to here ... */
	__u64	sn_again_ns;	/* ... and so much of it is not stored yet */
	__u64	sn_stored_ns;	/* when it was, last */
	__u64	sn_switches;
	__u32	sn_is_kept;	/* the recorder has its stacks ... */
	__u32	sn_kstatus;	/* ... which ended so */
	__u32	sn_ustatus;
	__u32	sn_pid;		/* as in that record */
	__u32	sn_tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct seen);
} seen_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_wall);
} wall SEC(".maps");

/* The argument of the event; text is read from here. */
static const char state_running[] = "running";
static const char state_runnable[] = "runnable";
static const char state_blocked[] = "blocked";

/* A pass: when it is, and in which session. */
struct now {
	struct dtp_wall	*nw_wall;
	__u64		 nw_ns;
	__u64		 nw_before_ns;	/* the pass before */
	__u64		 nw_begun_ns;
	__u32		 nw_state;
	__u32		 nw_self;
	int		 nw_is_end;	/* the last one, or before a pause */
};

/* Also once when recording stops or pauses; 0: not recording. */
DTP_INLINE int
now_read(struct now *now)
{
	struct dtp_control *session;
	struct dtp_wall *pass;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	pass = bpf_map_lookup_elem(&wall, &zero);
	if (session == NULL || pass == NULL)
		return (0);
	now->nw_wall = pass;
	now->nw_state = DTP_LOAD(&session->co_state);
	now->nw_begun_ns = dtp_targets_begun(session);
	now->nw_self = session->co_self;
	now->nw_ns = pass->wl_now_ns;
	now->nw_before_ns = pass->wl_from_ns;
	/* An event that is detached ends while others go on. */
	now->nw_is_end = now->nw_state != DTP_RECORDING ||
	    session->co_stop_ns > pass->wl_now_ns;
	if (now->nw_is_end) {
		now->nw_ns = session->co_stop_ns;
		now->nw_before_ns = pass->wl_now_ns;
	}
	if (now->nw_before_ns < now->nw_begun_ns)
		now->nw_before_ns = now->nw_begun_ns;
	return (1);
}

DTP_INLINE int
is_wanted(const struct task_struct *task, const struct now *now)
{
	struct dtp_life life = { task->tgid, task->pid };

	return (task->exit_state == 0 && task->start_time <= now->nw_ns &&
	    life.li_pid != now->nw_self && dtp_is_active(&life));
}

/* Its entry, which a pause begins anew. */
DTP_INLINE struct seen *
seen_find(const struct task_struct *task, const struct now *now)
{
	struct seen *seen = bpf_task_storage_get(&seen_of, (void *)task, NULL,
	    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (seen == NULL) {
		now->nw_wall->wl_unkept++;
		return (NULL);
	}
	if (seen->sn_begun_ns != now->nw_begun_ns) {
		seen->sn_begun_ns = now->nw_begun_ns;
		seen->sn_at_ns = now->nw_before_ns;
		seen->sn_again_ns = 0;
		seen->sn_is_kept = 0;
	}
	return (seen);
}

DTP_INLINE int
is_same(const struct seen *seen, const struct task_struct *task)
{
	return (seen->sn_is_kept && !task->on_cpu &&
	    !dtp_task_is_queued(task) &&
	    task->nvcsw + task->nivcsw == seen->sn_switches);
}

/*
 * What the filter says.  Apart, like look_store: each has the stack to itself.
 */
DTP_APART int
look_judge(struct look *look)
{
	struct dtp_firing firing = { 0 };

	if (look == NULL)
		return (0);
	firing.fg_args = &look->lk_args;
	if (cfg.dc_filter.fi_ntexts != 0)
		look->lk_args.ag_texts = dtp_texts_equal(&firing);
	look->lk_passes = cfg.dc_filter.fi_ntests == 0 ||
	    dtp_expression_holds(look->lk_pid, look->lk_tid,
	    bpf_get_smp_processor_id(), 0, &look->lk_args);
	return (0);
}

/* The time that is not stored yet, with the stacks that the recorder has. */
DTP_INLINE void
again_store(struct look *look, struct seen *seen,
    const struct task_struct *task, __u32 state)
{
	__u64 ns = DTP_XCHG(&seen->sn_again_ns, 0ULL);

	if (ns == 0)
		return;
	look_begin(look, task);
	look->lk_pid = seen->sn_pid;
	look->lk_tid = seen->sn_tid;
	look->lk_weight = ns;
	look->lk_flags = DTP_R_AGAIN;
	look->lk_kstatus = seen->sn_kstatus;
	look->lk_ustatus = seen->sn_ustatus;
	look->lk_states = 1U << (state & 31);
	look->lk_args.ag_value[0] = (__u64)state_blocked;
	look_judge(look);
	look_store(look);
}

/*
 * It waits for the CPU that the recorder has taken from it for this pass: the
 * kernel notes the same time for both.
 */
DTP_INLINE int
is_kept_from_running(const struct task_struct *task)
{
	const struct task_struct *self = dtp_current();

	return (bpf_core_field_exists(task->sched_info.last_queued) &&
	    task->sched_info.last_queued == self->sched_info.last_arrival);
}

/* It is not as it was: a record of its own. */
DTP_INLINE void
fresh_store(struct look *look, struct seen *seen,
    const struct task_struct *task, const struct now *now)
{
	__u64 about, switches = task->nvcsw + task->nivcsw;
	const char *state;
	int is_stored;

	barrier();
	seen->sn_is_kept = 0;
	look_begin(look, task);
	look_walk(look, task);
	about = look->lk_args.ag_value[DTP_TH_ABOUT];
	if (about & DTP_TH_MOVED) {
		now->nw_wall->wl_moved++;
		return;
	}
	state = state_blocked;
	if (about & DTP_TH_QUEUED)
		state = state_runnable;
	if (about & DTP_TH_ON_CPU || (about & DTP_TH_QUEUED &&
	    is_kept_from_running(task)))
		state = state_running;
	look->lk_weight = now->nw_ns - seen->sn_at_ns;
	seen->sn_at_ns = seen->sn_stored_ns = now->nw_ns;
	seen->sn_switches = switches;
	seen->sn_pid = look->lk_pid;
	seen->sn_tid = look->lk_tid;
	seen->sn_kstatus = look->lk_kstatus;
	seen->sn_ustatus = look->lk_ustatus;
	look->lk_states = 1U << (now->nw_state & 31);
	look->lk_args.ag_value[0] = (__u64)state;
	look_judge(look);
	/* A stack may be better when more is known of its process. */
	is_stored = look_store(look);
	seen->sn_is_kept = (is_stored || !look->lk_passes) &&
	    state == state_blocked && look->lk_ustatus != DTP_S_NOPROC &&
	    look->lk_ustatus != DTP_S_NOMOD;
}

SEC("iter.s/task")
int
each_wall(struct bpf_iter__task *ctx)
{
	const struct task_struct *task = ctx->task;
	struct now now = { 0 };
	struct look *look;
	struct seen *seen;
	__u32 zero = 0;

	look = bpf_map_lookup_elem(&looks, &zero);
	if (task == NULL || look == NULL || !now_read(&now) ||
	    !is_wanted(task, &now))
		return (0);
	seen = seen_find(task, &now);
	if (seen == NULL || seen->sn_at_ns >= now.nw_ns)
		return (0);
	if (is_same(seen, task)) {
		seen->sn_again_ns += now.nw_ns - seen->sn_at_ns;
		seen->sn_at_ns = now.nw_ns;
		now.nw_wall->wl_same++;
		if (!now.nw_is_end &&
		    now.nw_ns - seen->sn_stored_ns < AGAIN_NS)
			return (0);
		seen->sn_stored_ns = now.nw_ns;
		again_store(look, seen, task, now.nw_state);
		return (0);
	}
	again_store(look, seen, task, now.nw_state);
	if (now.nw_wall->wl_walks >= WALKS && !now.nw_is_end)
		return (0);
	now.nw_wall->wl_walks++;
	fresh_store(look, seen, task, &now);
	return (0);
}

/* What was not stored yet of a thread that ends. */
SEC("tp_btf/sched_process_exit")
int
on_wall_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	struct look look = { 0 };
	struct seen *seen;

	seen = bpf_task_storage_get(&seen_of, (void *)task, NULL, 0);
	if (seen != NULL)
		again_store(&look, seen, task, DTP_RECORDING);
	return (0);
}
