/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counts kept apart by process or thread.  Each CPU's counters run on; when
 * the CPU switches from one task to another, what they have added since the
 * last switch is what the task had that leaves.  So nothing is counted twice
 * and nothing is left out: the sum over all, idle included, is the count of
 * the CPU.  Nothing is sent while this runs; the map is read at the end.
 *
 * A switch itself is counted by the kernel a moment after this program has
 * run (sg_late); such counts are given to who left one switch earlier.
 *
 * Loaded by libprof/count/split.c.
 */
#include "abi/dtp_split.h"
#include "compat.bpf.h"

struct task_struct___split {
	int				 pid;
	int				 tgid;
	__u64				 start_time;
	struct task_struct___split	*group_leader;
	char				 comm[DTP_SPLIT_COMM];
	struct signal_struct		*signal;
} DTP_CORE;

DTP_RODATA struct dtp_split_config cfg = { .sg_nevents = 1, .sg_ncpus = 1 };

/* What found no room in tasks. */
__u64 lost[DTP_SPLIT_EVENTS];

/* Descriptors: event * ncpus + cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} split_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_split_cpu);
} split_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DTP_SPLIT_TASKS);
	__type(key, struct dtp_split_key);
	__type(value, struct dtp_split_task);
} split_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DTP_SPLIT_TASKS);
	__type(key, __u32);
	__type(value, struct dtp_split_member);
} split_members SEC(".maps");

/* A new task, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_split_task);
} split_blanks SEC(".maps");

DTP_INLINE const struct task_struct___split *
split_word(struct bpf_raw_tracepoint_args *ctx, int n)
{
	return ((const struct task_struct___split *)(unsigned long)
	    ctx->args[n]);
}

/* Who it is, and when its process began. */
DTP_INLINE void
split_key(const struct task_struct___split *task, struct dtp_split_key *key,
    __u64 *born_ns)
{
	const struct task_struct___split *leader = NULL;

	*born_ns = 0;
	key->sk_tid = 0;
	key->sk_pid = 0;
	key->sk_start_ns = 0;
	DTP_READ(&key->sk_pid, &task->tgid);
	if (key->sk_pid == 0)
		return;
	DTP_READ(&leader, &task->group_leader);
	DTP_READ(born_ns, &leader->start_time);
	key->sk_start_ns = *born_ns;
	if (!cfg.sg_threads)
		return;
	DTP_READ(&key->sk_tid, &task->pid);
	DTP_READ(&key->sk_start_ns, &task->start_time);
}

/* The entry of a process that is counted or will be; NULL: it is not. */
DTP_INLINE struct dtp_split_member *
split_member(__u32 pid, __u64 born_ns)
{
	struct dtp_split_member *member;

	member = bpf_map_lookup_elem(&split_members, &pid);
	if (member == NULL)
		return (NULL);
	if (member->sm_start_ns == 0)
		member->sm_start_ns = born_ns;
	return (member->sm_start_ns == born_ns ? member : NULL);
}

DTP_INLINE struct dtp_split_task *
split_task(const struct dtp_split_key *key)
{
	struct dtp_split_task *task = bpf_map_lookup_elem(&split_tasks, key);
	__u32 zero = 0;
	void *blank;

	if (task != NULL)
		return (task);
	blank = bpf_map_lookup_elem(&split_blanks, &zero);
	if (blank == NULL)
		return (NULL);
	bpf_map_update_elem(&split_tasks, key, blank, BPF_NOEXIST);
	return (bpf_map_lookup_elem(&split_tasks, key));
}

/* What event e has counted on this CPU; what was, when it cannot be read. */
DTP_INLINE __u64
split_read(__u32 e, __u32 cpu, __u64 was)
{
	struct bpf_perf_event_value value;

	if (bpf_perf_event_read_value(&split_counters, e * cfg.sg_ncpus + cpu,
	    &value, sizeof(value)) != 0)
		return (was);
	return (value.counter);
}

/*
 * Give what was counted since the last switch to whom it belongs; to is
 * NULL when it belongs to nobody who is counted.
 */
DTP_INLINE void
split_share(struct dtp_split_cpu *cpu, struct dtp_split_task *to, int counts,
    struct dtp_split_task *before)
{
	const __u32 id = bpf_get_smp_processor_id();

	for (__u32 e = 0; e < DTP_SPLIT_EVENTS && e < cfg.sg_nevents; e++) {
		const int is_late = cfg.sg_late >> e & 1;
		const __u64 now = split_read(e, id, cpu->sc_counts[e]);
		const __u64 added = now - cpu->sc_counts[e];
		struct dtp_split_task *owner = is_late ? before : to;

		cpu->sc_counts[e] = now;
		if (added == 0)
			continue;
		if (owner != NULL)
			DTP_ADD(&owner->st_counts[e], added);
		else if (is_late ? cpu->sc_has_before : counts)
			DTP_ADD(&lost[e], added);
	}
}

SEC("raw_tp/sched_switch")
int
on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct___split *prev = split_word(ctx, 1);
	struct dtp_split_task *to = NULL, *before = NULL;
	struct dtp_split_member *member;
	struct dtp_split_cpu *cpu;
	struct dtp_split_key key;
	__u32 zero = 0;
	__u64 born_ns;
	int counts = 1;

	cpu = bpf_map_lookup_elem(&split_cpus, &zero);
	if (cpu == NULL)
		return (0);
	split_key(prev, &key, &born_ns);
	if (!cfg.sg_all) {
		member = split_member(key.sk_pid, born_ns);
		counts = member != NULL && member->sm_is_active;
	}
	if (counts)
		to = split_task(&key);
	if (to != NULL)
		DTP_READ(&to->st_comm, &prev->comm);
	if (cpu->sc_has_before)
		before = bpf_map_lookup_elem(&split_tasks, &cpu->sc_before);
	split_share(cpu, to, counts, before);
	cpu->sc_before = key;
	cpu->sc_has_before = counts;
	split_key(split_word(ctx, 2), &cpu->sc_now, &born_ns);
	cpu->sc_has_now = cfg.sg_all;
	if (!cfg.sg_all) {
		member = split_member(cpu->sc_now.sk_pid, born_ns);
		cpu->sc_has_now = member != NULL && member->sm_is_active;
	}
	return (0);
}

SEC("raw_tp/sched_process_fork")
int
on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_split_key parent, child;
	struct dtp_split_member *member, value = { 0 };
	__u64 parent_ns, child_ns;

	if (cfg.sg_all || !cfg.sg_inherit)
		return (0);
	split_key(split_word(ctx, 0), &parent, &parent_ns);
	split_key(split_word(ctx, 1), &child, &child_ns);
	member = split_member(parent.sk_pid, parent_ns);
	if (member == NULL || child.sk_pid == parent.sk_pid)
		return (0);
	value.sm_start_ns = child_ns;
	value.sm_is_active = member->sm_is_active;
	bpf_map_update_elem(&split_members, &child.sk_pid, &value, BPF_ANY);
	return (0);
}

/* What it had before does not belong to the command. */
SEC("raw_tp/sched_process_exec")
int
on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_split_task *before = NULL;
	struct dtp_split_member *member;
	struct dtp_split_key key;
	struct dtp_split_cpu *cpu;
	__u32 zero = 0;
	__u64 born_ns;

	if (cfg.sg_all)
		return (0);
	split_key(split_word(ctx, 0), &key, &born_ns);
	member = split_member(key.sk_pid, born_ns);
	cpu = bpf_map_lookup_elem(&split_cpus, &zero);
	if (member == NULL || member->sm_is_active || cpu == NULL)
		return (0);
	if (cpu->sc_has_before)
		before = bpf_map_lookup_elem(&split_tasks, &cpu->sc_before);
	split_share(cpu, NULL, 0, before);
	member->sm_is_active = 1;
	cpu->sc_has_now = 1;
	cpu->sc_now = key;
	return (0);
}

SEC("raw_tp/sched_process_exit")
int
on_task_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct___split *task = split_word(ctx, 0);
	const struct signal_struct *group = NULL;
	struct dtp_split_task *entry;
	struct dtp_split_key key;
	__u64 born_ns;
	int alive = 0;

	split_key(task, &key, &born_ns);
	if (!cfg.sg_threads) {
		DTP_READ(&group, &task->signal);
		DTP_READ(&alive, &group->live.counter);
	}
	if (alive != 0 || (!cfg.sg_all &&
	    split_member(key.sk_pid, born_ns) == NULL))
		return (0);
	entry = split_task(&key);
	if (entry != NULL)
		entry->st_has_ended = 1;
	return (0);
}

/* After the last thread has left its CPU for good. */
SEC("raw_tp/sched_process_free")
int
on_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct___split *task = split_word(ctx, 0);
	struct dtp_split_key key;
	__u64 born_ns;
	__u32 tid = 0;

	if (cfg.sg_all)
		return (0);
	split_key(task, &key, &born_ns);
	DTP_READ(&tid, &task->pid);
	if (tid == key.sk_pid && split_member(key.sk_pid, born_ns) != NULL)
		bpf_map_delete_elem(&split_members, &key.sk_pid);
	return (0);
}

char dtp_license[] SEC("license") = "Dual BSD/GPL";
