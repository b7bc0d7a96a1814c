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
 * a pass, so that a buffer has room for them.  The next pass begins there.
 *
 *	scan_wall	the threads that are known: which of them have changed?
 *	each_wall	these, one by one; or, if there are many, all threads
 *
 * The kernel's iterator takes several times as long for a thread as a scan,
 * which reads two cache lines of its task, near each other: most of the time is
 * for those, and in the kernel's tables of pages.
 */
#include "look.bpf.h"
#include "reason.bpf.h"

#define AGAIN_NS	10000000000ULL
#define WALKS		1024

/*
 * The first 64 bytes are what a scan reads.  A task's memory may be used again,
 * but not with the time at which the task ran last.
 */
struct seen {
	__u64	sn_task;	/* its task_struct; 0: a free entry */
	__u64	sn_start_ns;	/* when the task began */
	__u64	sn_ran_ns;	/* when it ran last, as the kernel notes */
	__u64	sn_begun_ns;	/* co_begun_ns when the entry was begun */
	__u64	sn_at_ns;	/* its time is counted up to here ... */
	__u64	sn_again_ns;	/* ... and so much of it is not stored yet */
	__u64	sn_stored_ns;	/* when it was, last */
	__u32	sn_is_kept;	/* the recorder has its stacks ... */
	__u32	sn_kstatus;	/* ... which ended so */
	__u32	sn_ustatus;
	__u32	sn_reason;	/* DTP_W_* */
	__u32	sn_pid;		/* as in that record */
	__u32	sn_tid;		/* of a free entry: see seen_free */
};

/* In a row, so that the CPU fetches the next ones meanwhile. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_WALL_THREADS);
	__type(key, __u32);
	__type(value, struct seen);
} seen_of SEC(".maps");

/* The entry of a task, by the address of its task_struct. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DTP_WALL_THREADS);
	__type(key, __u64);
	__type(value, __u32);
} seen_at SEC(".maps");

/*
 * The entry that was given back last, plus 1, and the next one in its sn_tid;
 * the upper half counts changes, so that no two values of a list are the same.
 * A program of an iterator may not use a stack of BPF before Linux 6.3.  What
 * others change FREE_TRIES times meanwhile is not reused.
 */
volatile __u64 seen_free;
/* Entries from here on were never in use. */
volatile __u64 seen_fresh;

#define FREE_TRIES	16

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_wall);
} wall SEC(".maps");

enum { ARG_STATE, ARG_REASON };

/* Text of the arguments. */
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

/* Its cgroup, or one above it, is the one to be recorded. */
DTP_INLINE int
is_in_cgroup(const struct task_struct *task)
{
	const struct cgroup *group = task->cgroups->dfl_cgrp;
	const struct cgroup *above = NULL;
	__u32 level = group->level;

	if (level < cfg.dc_cgroup_level)
		return (0);
	DTP_READ(&above, &group->ancestors[cfg.dc_cgroup_level]);
	return (BPF_CORE_READ(above, kn, id) == cfg.dc_cgroup_id);
}

/* DTP_TG_* bits; 0: it is no target, and does not become one. */
DTP_INLINE __u8
target_of(const struct task_struct *task, const struct now *now)
{
	struct dtp_life life = { task->tgid, task->pid };

	if (life.li_tid == 0 || life.li_pid == now->nw_self)
		return (0);
	if (cfg.dc_target_mode == DTP_TARGET_CGROUP)
		return (is_in_cgroup(task) ? DTP_TG_ACTIVE : 0);
	if (dtp_by_number())
		return (dtp_target_of(&life));
	return (DTP_TG_ACTIVE);
}

DTP_INLINE struct seen *
seen_get(__u64 word)
{
	__u32 *slot = bpf_map_lookup_elem(&seen_at, &word);
	__u32 at;

	if (slot == NULL)
		return (NULL);
	at = *slot;
	return (bpf_map_lookup_elem(&seen_of, &at));
}

/* The value of seen_free after one more change. */
DTP_INLINE __u64
free_word(__u64 before, __u32 first)
{
	return (((before >> 32) + 1) << 32 | first);
}

DTP_INLINE void
seen_give_back(__u32 at)
{
	struct seen *seen = bpf_map_lookup_elem(&seen_of, &at);
	__u64 before;

	for (int n = 0; seen != NULL && n < FREE_TRIES; n++) {
		before = DTP_LOAD(&seen_free);
		DTP_STORE(&seen->sn_tid, (__u32)before);
		if (DTP_CAS(&seen_free, before, free_word(before, at + 1)) ==
		    before)
			return;
	}
}

/* 0: there is none. */
DTP_INLINE int
seen_take(__u32 *at)
{
	struct seen *seen;
	__u64 before;

	for (int n = 0; n < FREE_TRIES; n++) {
		before = DTP_LOAD(&seen_free);
		*at = (__u32)before - 1;
		seen = (__u32)before == 0 ? NULL :
		    bpf_map_lookup_elem(&seen_of, at);
		if (seen == NULL)
			return (0);
		if (DTP_CAS(&seen_free, before, free_word(before,
		    DTP_LOAD(&seen->sn_tid))) == before)
			return (1);
	}
	return (0);
}

/* Unless another CPU has dropped it, and it has the next task already. */
DTP_INLINE void
seen_drop(struct seen *seen, __u64 word)
{
	__u32 *slot;
	__u32 at;

	if (DTP_CAS(&seen->sn_task, word, 0ULL) != word)
		return;
	slot = bpf_map_lookup_elem(&seen_at, &word);
	if (slot == NULL)
		return;
	at = *slot;
	if (bpf_map_delete_elem(&seen_at, &word) == 0)
		seen_give_back(at);
}

/* A new entry; NULL: all are in use. */
DTP_INLINE struct seen *
seen_add(__u64 word, const struct task_struct *task)
{
	struct seen *seen;
	__u32 at;

	if (!seen_take(&at)) {
		if (DTP_LOAD(&seen_fresh) >= DTP_WALL_THREADS)
			return (NULL);
		at = DTP_FETCH_ADD(&seen_fresh, 1);
	}
	seen = bpf_map_lookup_elem(&seen_of, &at);
	if (seen == NULL)
		return (NULL);
	if (bpf_map_update_elem(&seen_at, &word, &at, BPF_NOEXIST) != 0) {
		seen_give_back(at);
		return (NULL);
	}
	*seen = (struct seen){ .sn_start_ns = task->start_time };
	seen->sn_pid = task->tgid;
	seen->sn_tid = task->pid;
	DTP_STORE(&seen->sn_task, word);
	return (seen);
}

/* Its entry, which a pause begins anew; NULL: it is not to be recorded. */
DTP_INLINE struct seen *
seen_find(const struct task_struct *task, const struct now *now)
{
	__u64 word = (__u64)task;
	struct seen *seen = seen_get(word);
	__u8 how = target_of(task, now);

	if (seen != NULL && (how == 0 || seen->sn_start_ns !=
	    task->start_time)) {
		seen_drop(seen, word);
		seen = NULL;
	}
	if (task->exit_state != 0 || task->start_time > now->nw_ns ||
	    (how & DTP_TG_ACTIVE) == 0)
		return (NULL);
	if (seen == NULL)
		seen = seen_add(word, task);
	if (seen == NULL) {
		DTP_FETCH_ADD(&now->nw_wall->wl_unkept, 1);
		return (NULL);
	}
	if (seen->sn_begun_ns != now->nw_begun_ns) {
		seen->sn_begun_ns = now->nw_begun_ns;
		seen->sn_at_ns = now->nw_before_ns;
		if (seen->sn_at_ns < task->start_time)
			seen->sn_at_ns = task->start_time;
		seen->sn_again_ns = 0;
		seen->sn_is_kept = 0;
	}
	return (seen);
}

/*
 * Is it blocked as it was?  Then it has the state of one that waits, is on no
 * CPU, and has not run again.  Another thread may have its memory now, which
 * therefore is read with care.
 */
DTP_INLINE int
is_same(const struct seen *seen, const struct task_struct *task)
{
	__u64 ran_ns = 0;
	__u32 state = 0;
	__u8 on_cpu = 1;

	if (!seen->sn_is_kept)
		return (0);
	/* Its lowest byte: there may be no others. */
	DTP_READ(&on_cpu, (const __u8 *)&task->on_cpu);
	DTP_READ(&state, &task->__state);
	DTP_READ(&ran_ns, &task->se.exec_start);
	return (!on_cpu && state != 0 && ran_ns == seen->sn_ran_ns);
}

/* Its time up to now, once in a pass. */
DTP_INLINE void
same_count(struct seen *seen, const struct now *now)
{
	if (seen->sn_at_ns == now->nw_ns)
		return;
	seen->sn_again_ns += now->nw_ns - seen->sn_at_ns;
	seen->sn_at_ns = now->nw_ns;
	now->nw_wall->wl_same++;
}

/* Is its time to be stored in this pass? */
DTP_INLINE int
same_is_due(const struct seen *seen, const struct now *now)
{
	return (now->nw_is_end || now->nw_ns - seen->sn_stored_ns >=
	    AGAIN_NS);
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
	look->lk_args.ag_value[ARG_STATE] = (__u64)state_blocked;
	look->lk_args.ag_value[ARG_REASON] =
	    (__u64)reason_text[seen->sn_reason & DTP_REASON_MASK];
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
	__u64 about, ran_ns = task->se.exec_start;
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
	seen->sn_reason = state == state_blocked ? reason_blocked(task,
	    look->lk_args.ag_value[DTP_TH_STATE]) : DTP_W_UNKNOWN;
	look->lk_weight = now->nw_ns - seen->sn_at_ns;
	seen->sn_at_ns = seen->sn_stored_ns = now->nw_ns;
	seen->sn_ran_ns = ran_ns;
	seen->sn_pid = look->lk_pid;
	seen->sn_tid = look->lk_tid;
	seen->sn_kstatus = look->lk_kstatus;
	seen->sn_ustatus = look->lk_ustatus;
	look->lk_states = 1U << (now->nw_state & 31);
	look->lk_args.ag_value[ARG_STATE] = (__u64)state;
	look->lk_args.ag_value[ARG_REASON] =
	    (__u64)reason_text[seen->sn_reason & DTP_REASON_MASK];
	look_judge(look);
	/* A stack may be better when more is known of its process. */
	is_stored = look_store(look);
	seen->sn_is_kept = (is_stored || !look->lk_passes) &&
	    state == state_blocked && look->lk_ustatus != DTP_S_NOPROC &&
	    look->lk_ustatus != DTP_S_NOMOD;
}

/* Is there no time for it in this pass? */
DTP_INLINE int
is_left(const struct task_struct *task, const struct now *now)
{
	struct dtp_wall *pass = now->nw_wall;

	if (now->nw_is_end)
		return (0);
	if (pass->wl_walks < WALKS && (__u32)task->pid >= pass->wl_first) {
		pass->wl_walks++;
		return (0);
	}
	if (pass->wl_walks >= WALKS && pass->wl_left == 0)
		pass->wl_left = task->pid;
	return (1);
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
	if (task == NULL || look == NULL || !now_read(&now))
		return (0);
	seen = seen_find(task, &now);
	if (seen == NULL || seen->sn_at_ns > now.nw_ns)
		return (0);
	if (is_same(seen, task)) {
		same_count(seen, &now);
		if (!same_is_due(seen, &now))
			return (0);
		seen->sn_stored_ns = now.nw_ns;
		again_store(look, seen, task, now.nw_state);
		return (0);
	}
	/* It waited still when it was counted; the next pass looks at it. */
	if (seen->sn_at_ns == now.nw_ns)
		return (0);
	again_store(look, seen, task, now.nw_state);
	if (!is_left(task, &now))
		fresh_store(look, seen, task, &now);
	return (0);
}

/* Count it if it is as it was, else note it. */
static long
scan_one(__u32 n, struct now *now)
{
	struct seen *seen = bpf_map_lookup_elem(&seen_of, &n);
	const struct task_struct *task;
	struct dtp_wall *pass = now->nw_wall;
	__u64 start_ns = 0, nth;
	__u32 tid = 0;

	task = seen == NULL ? NULL : (const void *)DTP_LOAD(&seen->sn_task);
	if (task == NULL)
		return (0);
	if (seen->sn_begun_ns == now->nw_begun_ns && is_same(seen, task)) {
		same_count(seen, now);
		if (!same_is_due(seen, now))
			return (0);
	}
	DTP_READ(&start_ns, &task->start_time);
	if (start_ns != seen->sn_start_ns) {
		seen_drop(seen, (__u64)task);
		return (0);
	}
	/* An exec may have changed it. */
	DTP_READ(&tid, &task->pid);
	nth = pass->wl_nchanged++;
	if (nth < DTP_WALL_CHANGED)
		pass->wl_changed[nth & (DTP_WALL_CHANGED - 1)] = tid;
	return (0);
}

SEC("syscall")
int
scan_wall(void *ctx)
{
	struct now now = { 0 };

	(void)ctx;
	if (now_read(&now))
		bpf_loop(DTP_LOAD(&seen_fresh), scan_one, &now, 0);
	return (0);
}

/* Its parent is known; whether it is a target, the next pass sees. */
SEC("tp_btf/sched_process_fork")
int
on_wall_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct seen *old = seen_get(ctx->args[1]);
	struct now now = { 0 };

	/* Of a task that had its memory, and whose end was missed. */
	if (old != NULL)
		seen_drop(old, ctx->args[1]);
	if (now_read(&now) && now.nw_state == DTP_RECORDING &&
	    target_of((void *)ctx->args[0], &now) != 0 &&
	    seen_add(ctx->args[1], (void *)ctx->args[1]) == NULL)
		DTP_FETCH_ADD(&now.nw_wall->wl_unkept, 1);
	return (0);
}

/* What was not stored yet of a thread that ends. */
SEC("tp_btf/sched_process_exit")
int
on_wall_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	struct look look = { 0 };
	struct seen *seen = seen_get(ctx->args[0]);

	if (seen == NULL)
		return (0);
	if (seen->sn_start_ns == task->start_time)
		again_store(&look, seen, task, DTP_RECORDING);
	seen_drop(seen, ctx->args[0]);
	return (0);
}
