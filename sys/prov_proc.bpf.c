/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Lives: fork, exec, exit and change of name, always event 0.  Keeps the
 * targets (targets.bpf.h).
 *
 * Recorded for targets, from arming on, on all CPUs: also on those that take
 * no samples, since processes move.  The recorder's own life is a life like
 * any other.
 *
 * A target may also be awaited by name (dc_awaited).  An exec renames the task
 * to the executed file first, then maps the file, then fires the tracepoint of
 * execs, all before the first instruction.  So the name makes a process one
 * that waits for its exec, whose mappings count, and the exec makes the first
 * of these the target.
 */
#include "sample.bpf.h"
#include "turn.bpf.h"

#define DTP_LIFE_STATES	(1U << DTP_ARMED | 1U << DTP_RECORDING | \
			1U << DTP_PAUSED)

DTP_INLINE int
dtp_is_followed(struct dtp_firing *firing, const struct dtp_life *life)
{
	return (dtp_by_number() ? dtp_target_of(life) != 0 :
	    dtp_is_target(firing));
}

/* The name of a task that is no target: is it the one that is awaited? */
DTP_INLINE void
dtp_await(const struct dtp_life *life, const char *name)
{
	__u64 text[DTP_NAME_LEN / 8] = { 0 };
	int is_awaited;

	if (cfg.dc_awaited_len == 0 || (dtp_target_of(life) & DTP_TG_ACTIVE))
		return;
	is_awaited = bpf_probe_read_kernel_str(text, sizeof(text), name) ==
	    (long)cfg.dc_awaited_len + 1;
	for (int i = 0; i < DTP_NAME_LEN / 8; i++)
		is_awaited &= text[i] == cfg.dc_awaited[i];
	dtp_target_set(life->li_pid, is_awaited ? DTP_TG_WAIT : 0);
}

/* Is it the first to execute the awaited file while we record? */
DTP_INLINE int
dtp_is_first(const struct dtp_life *life)
{
	struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session == NULL || DTP_LOAD(&session->co_state) == DTP_ARMED ||
	    DTP_CAS(&session->co_awaited, 0ULL, (__u64)life->li_pid) != 0)
		return (0);
	DTP_STORE(&session->co_awaited_ns, bpf_ktime_get_ns());
	return (1);
}

/* Under --max-overhead not all of a ring is theirs (session/pace.c). */
DTP_INLINE __u64
dtp_lives_most(void)
{
	const struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	return (session == NULL ? 0 : DTP_LOAD(&session->co_lives_most));
}

/*
 * Enter and reserve; the body is the caller's to write.  NULL, and counted,
 * when it cannot be recorded; dtp_life_end in either case.
 */
DTP_INLINE void *
dtp_life_begin(struct dtp_writer *writer, struct dtp_firing *firing,
    const struct dtp_life *life, __u16 type, __u32 body)
{
	__u32 size = sizeof(struct dtp_rec) + body;
	struct dtp_rec *record;
	__u8 *to;

	writer->wr_stream = firing->fg_stream;
	writer->wr_counts = firing->fg_counts;
	writer->wr_cpu = firing->fg_cpu;
	dtp_enter(writer);
	to = dtp_reserve_below(writer, size, dtp_lives_most(), 0);
	if (to == NULL)
		return (NULL);
	dtp_put_header(writer, to, size, type);
	record = (struct dtp_rec *)to;
	record->dr_pid = life->li_pid;
	record->dr_tid = life->li_tid;
	return (record + 1);
}

DTP_INLINE int
dtp_life_end(struct dtp_writer *writer, const void *body)
{
	if (body != NULL)
		dtp_stored(writer);
	dtp_leave(writer);
	dtp_wakeup(writer);
	return (0);
}

/* May it be stored?  0: no, and counted. */
DTP_INLINE int
dtp_has_room(struct dtp_firing *firing)
{
	if (DTP_LOAD(&firing->fg_stream->ss_enabled) == DTP_CPU_OFF)
		return (dtp_count(&firing->fg_counts->cn_filtered));
	if (dtp_lives_most() == 0)
		return (dtp_count(&firing->fg_counts->cn_full));
	return (1);
}

/* Is it followed, and may it be stored?  0: no, and counted. */
DTP_INLINE int
dtp_may_store(struct dtp_firing *firing, const struct dtp_life *life)
{
	if (!dtp_is_followed(firing, life))
		return (dtp_count(&firing->fg_counts->cn_filtered));
	return (dtp_has_room(firing));
}

/*
 * The session decides by them where events are opened (backend/bpf/place.c).
 * Only for targets that are known by number: others are sampled on all CPUs.
 */
DTP_INLINE void
dtp_tell_place(int is_fork)
{
	struct dtp_control *session;
	__u64 nothing = 0;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (session == NULL)
		return;
	if (is_fork)
		DTP_ADD(&session->co_forks, 1);
	else
		DTP_ADD(&session->co_bared, 1);
	if (DTP_LOAD(&session->co_fork_wakeup))
		bpf_ringbuf_output(&wakeups, &nothing, sizeof(nothing),
		    BPF_RB_FORCE_WAKEUP);
}

/*
 * A program that takes other rights, or that may not be read, has no events of
 * its task: the kernel closes them in the exec, by the same test.
 */
DTP_INLINE void
dtp_tell_bared(const struct task_struct *task,
    const struct linux_binprm *binary)
{
	const struct cred *cred = NULL;
	__u32 uid = 0, euid = 0, gid = 0, egid = 0, flags = 0;

	DTP_READ(&cred, &task->cred);
	if (cred == NULL)
		return;
	DTP_READ(&uid, &cred->uid.val);
	DTP_READ(&euid, &cred->euid.val);
	DTP_READ(&gid, &cred->gid.val);
	DTP_READ(&egid, &cred->egid.val);
	DTP_READ(&flags, &binary->interp_flags);
	if (uid != euid || gid != egid || (flags & 1) != 0)
		dtp_tell_place(0);
}

/* The child is followed if its parent is.  0: it is not, and counted. */
DTP_INLINE int
dtp_follow_child(struct dtp_firing *firing, const struct dtp_life *parent,
    const struct dtp_life *child)
{
	if (!dtp_is_followed(firing, parent)) {
		dtp_number_reused(child);
		return (dtp_count(&firing->fg_counts->cn_filtered));
	}
	if (!dtp_inherit(parent, child))
		return (dtp_count(&firing->fg_counts->cn_filtered));
	dtp_tell_place(1);
	return (1);
}

/* The child is read first only where its number makes it a target. */
DTP_INLINE int
dtp_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_life parent, child;
	struct dtp_writer writer = { 0 };
	struct dtp_fork *fork;
	const struct task_struct *task;

	if (!dtp_begin(&firing, DTP_LIFE_STATES))
		return (0);
	dtp_life_here(&parent, dtp_current());
	if (!dtp_by_number() && !dtp_may_store(&firing, &parent))
		return (0);
	if (dtp_life_read(&child, ctx->args[1]) != 0)
		return (dtp_count(&firing.fg_counts->cn_error));
	if (dtp_by_number() && (!dtp_follow_child(&firing, &parent, &child) ||
	    !dtp_has_room(&firing)))
		return (0);
	dtp_uw_inherit(parent.li_pid, child.li_pid);
	fork = dtp_life_begin(&writer, &firing, &child, DTP_T_FORK,
	    sizeof(*fork));
	if (fork != NULL) {
		task = (void *)(unsigned long)ctx->args[1];
		fork->df_ppid = parent.li_pid;
		fork->df_ptid = parent.li_tid;
		fork->df_exec_id = 0;
		DTP_READ(&fork->df_exec_id, &task->self_exec_id);
		DTP_READ(&fork->df_comm, &task->comm);
	}
	return (dtp_life_end(&writer, fork));
}

DTP_INLINE void
dtp_put_exec(struct dtp_exec *exec, struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)(unsigned long)ctx->args[0];
	const struct linux_binprm *binary =
	    (void *)(unsigned long)ctx->args[2];
	const char *path = NULL;
	long length;

	exec->de_old_tid = (__u32)ctx->args[1];
	exec->de_exec_id = 0;
	DTP_READ(&exec->de_exec_id, &task->self_exec_id);
	DTP_READ(&exec->de_comm, &task->comm);
	for (int i = 0; i < DTP_PATH_LEN / 8; i++)
		((__u64 *)exec->de_path)[i] = 0;
	DTP_READ(&path, &binary->filename);
	length = bpf_probe_read_kernel_str(exec->de_path, DTP_PATH_LEN, path);
	exec->de_path_len = length > 0 ? length - 1 : 0;
}

DTP_INLINE int
dtp_exec(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = dtp_current();
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_writer writer = { 0 };
	struct dtp_life life;
	struct dtp_exec *exec;
	int wanted;

	if (!dtp_begin(&firing, DTP_LIFE_STATES))
		return (0);
	dtp_life_here(&life, task);
	if (dtp_waits(&life, (__u32)ctx->args[1])) {
		if (cfg.dc_awaited_len != 0 && !dtp_is_first(&life))
			dtp_target_set(life.li_pid, 0);
		dtp_values_begin(bpf_get_smp_processor_id());
	}
	wanted = dtp_by_number() ? dtp_activate(&life, (__u32)ctx->args[1]) :
	    dtp_is_followed(&firing, &life);
	if (!wanted)
		return (dtp_count(&firing.fg_counts->cn_filtered));
	if (dtp_by_number())
		dtp_tell_bared(task, (void *)(unsigned long)ctx->args[2]);
	dtp_uw_forget(life.li_pid);
	if (!dtp_has_room(&firing))
		return (0);
	exec = dtp_life_begin(&writer, &firing, &life, DTP_T_EXEC,
	    sizeof(*exec));
	if (exec != NULL)
		dtp_put_exec(exec, ctx);
	return (dtp_life_end(&writer, exec));
}

DTP_INLINE int
dtp_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = dtp_current();
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_writer writer = { 0 };
	struct dtp_life life;
	struct dtp_exit *exit = NULL;
	__u32 is_last;

	if (!dtp_begin(&firing, DTP_LIFE_STATES))
		return (0);
	dtp_life_here(&life, task);
	if (!dtp_is_followed(&firing, &life))
		return (dtp_count(&firing.fg_counts->cn_filtered));
	is_last = dtp_is_last(task);
	if (is_last)
		dtp_uw_forget(life.li_pid);
	if (!dtp_has_room(&firing)) {
		dtp_end(&life, is_last);
		return (0);
	}
	exit = dtp_life_begin(&writer, &firing, &life, DTP_T_EXIT,
	    sizeof(*exit));
	if (exit != NULL) {
		exit->dx_group_dead = is_last;
		DTP_READ(&exit->dx_code, &task->exit_code);
		DTP_READ(&exit->dx_comm, &task->comm);
	}
	dtp_end(&life, is_last);
	return (dtp_life_end(&writer, exit));
}

DTP_INLINE int
dtp_rename(struct bpf_raw_tracepoint_args *ctx)
{
	const void *name = (void *)(unsigned long)ctx->args[1];
	struct dtp_firing firing = { .fg_ctx = ctx, .fg_weight = 1 };
	struct dtp_writer writer = { 0 };
	struct dtp_life life;
	struct dtp_comm *comm;

	if (!dtp_begin(&firing, DTP_LIFE_STATES))
		return (0);
	if (dtp_life_read(&life, ctx->args[0]) != 0)
		return (dtp_count(&firing.fg_counts->cn_error));
	dtp_await(&life, name);
	if (!dtp_may_store(&firing, &life))
		return (0);
	comm = dtp_life_begin(&writer, &firing, &life, DTP_T_COMM,
	    sizeof(*comm));
	if (comm != NULL) {
		((__u64 *)comm->do_comm)[0] = 0;
		((__u64 *)comm->do_comm)[1] = 0;
		bpf_probe_read_kernel_str(comm->do_comm, DTP_COMM_LEN, name);
	}
	return (dtp_life_end(&writer, comm));
}

/*
 * Attached where timers are on tasks (backend/bpf/sampling.c): since when the
 * target on a CPU has run there, and how often timers were armed.
 */
DTP_INLINE int
dtp_arrive(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct dtp_stream *stream;
	struct dtp_life next;

	if (dtp_life_read(&next, ctx->args[2]) != 0 ||
	    (dtp_target_of(&next) & DTP_TG_ACTIVE) == 0)
		return (0);
	stream = bpf_map_lookup_elem(&streams, &cpu);
	if (stream == NULL)
		return (0);
	DTP_STORE(&stream->ss_in_ns, bpf_ktime_get_ns());
	DTP_ADD(&stream->ss_turns, 1);
	return (0);
}

SEC("raw_tp/sched_switch")
int
on_arrival(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_arrive(ctx));
}

SEC("raw_tp/sched_process_fork")
int
on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_FORK) ? dtp_fork(ctx) : 0);
}

SEC("raw_tp/sched_process_exec")
int
on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_EXEC) ? dtp_exec(ctx) : 0);
}

SEC("raw_tp/sched_process_exit")
int
on_task_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_EXIT) ? dtp_exit(ctx) : 0);
}

SEC("raw_tp/task_rename")
int
on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_RENAME) ? dtp_rename(ctx) : 0);
}
