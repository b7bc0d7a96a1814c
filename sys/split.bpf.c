/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counts kept apart by process or thread.  When a CPU switches from one task
 * to another, what its counters have added (added.bpf.h) is what the task had
 * that leaves.  The sum over all, idle included, is the count of the CPU.
 * Nothing is sent while this runs; the map is read at the end.
 *
 * A switch itself is counted by the kernel a moment after this program has
 * run (sg_late); such counts are given to who left one switch earlier.
 *
 * Loaded by libprof/count/split.c.
 */
#include "abi/dtp_split.h"
#include "added.bpf.h"

DTP_RODATA struct dtp_split_config split = { 0 };

/* What found no room in tasks. */
__u64 lost[DTP_SPLIT_EVENTS];

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

/* A new task, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_split_task);
} split_blanks SEC(".maps");

/* Who it is, and since when; is it counted? */
DTP_INLINE int
split_who(__u64 word, struct dtp_split_key *key)
{
	const struct task_struct *task = (void *)(unsigned long)word;
	struct dtp_life life = { 0 };

	(void)dtp_life_read(&life, word);
	key->sk_pid = life.li_pid;
	key->sk_tid = 0;
	key->sk_start_ns = 0;
	if (life.li_pid != 0 && split.sg_threads)
		key->sk_tid = life.li_tid;
	else if (life.li_pid != 0)
		DTP_READ(&task, &task->group_leader);
	if (life.li_pid != 0)
		DTP_READ(&key->sk_start_ns, &task->start_time);
	return (dtp_is_active(&life));
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

/*
 * Give what was counted since the last switch to whom it belongs; to is
 * NULL when it belongs to nobody who is counted.
 */
DTP_INLINE void
split_share(struct dtp_split_cpu *cpu, struct dtp_split_task *to, int counts,
    struct dtp_split_task *before)
{
	const __u32 id = bpf_get_smp_processor_id();
	struct bpf_perf_event_value now;
	__u64 added;

	for (__u32 e = 0; e < DTP_SPLIT_EVENTS && e < cfg.dc_nvalues; e++) {
		const int is_late = split.sg_late >> e & 1;
		struct dtp_split_task *owner = is_late ? before : to;

		if (dtp_value_read(e, id, &now) != 0)
			continue;
		added = dtp_value_added(&cpu->sc_counts[e], now.counter);
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
	const struct task_struct *prev = (void *)(unsigned long)ctx->args[1];
	struct dtp_split_task *to = NULL, *before = NULL;
	struct dtp_split_cpu *cpu;
	struct dtp_split_key key;
	__u32 zero = 0;
	int counts;

	cpu = bpf_map_lookup_elem(&split_cpus, &zero);
	if (cpu == NULL)
		return (0);
	counts = split_who(ctx->args[1], &key);
	if (counts)
		to = split_task(&key);
	if (to != NULL)
		DTP_READ(&to->st_comm, &prev->comm);
	if (cpu->sc_has_before)
		before = bpf_map_lookup_elem(&split_tasks, &cpu->sc_before);
	split_share(cpu, to, counts, before);
	cpu->sc_before = key;
	cpu->sc_has_before = counts;
	cpu->sc_has_now = split_who(ctx->args[2], &cpu->sc_now);
	return (0);
}

SEC("raw_tp/sched_process_fork")
int
on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_life parent, child;

	dtp_life_here(&parent, dtp_current());
	if (dtp_life_read(&child, ctx->args[1]) != 0)
		return (0);
	if (dtp_target_of(&parent) != 0)
		dtp_inherit(&parent, &child);
	else if (child.li_pid != parent.li_pid)
		dtp_number_reused(&child);
	return (0);
}

/* What it had before does not belong to the command. */
SEC("raw_tp/sched_process_exec")
int
on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 old_tid = (__u32)ctx->args[1];
	struct dtp_split_task *before = NULL;
	struct dtp_split_cpu *cpu;
	struct dtp_life life;
	__u32 zero = 0;

	cpu = bpf_map_lookup_elem(&split_cpus, &zero);
	dtp_life_here(&life, dtp_current());
	if (cpu == NULL || !dtp_waits(&life, old_tid))
		return (0);
	if (cpu->sc_has_before)
		before = bpf_map_lookup_elem(&split_tasks, &cpu->sc_before);
	split_share(cpu, NULL, 0, before);
	dtp_activate(&life, old_tid);
	cpu->sc_has_now = split_who(ctx->args[0], &cpu->sc_now);
	return (0);
}

SEC("raw_tp/sched_process_exit")
int
on_task_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = dtp_current();
	struct dtp_split_task *entry = NULL;
	__u32 is_last = dtp_is_last(task);
	struct dtp_split_key key;
	struct dtp_life life;

	dtp_life_here(&life, task);
	if (split_who(ctx->args[0], &key) && (is_last || split.sg_threads))
		entry = split_task(&key);
	if (entry != NULL)
		entry->st_has_ended = 1;
	if (dtp_target_of(&life) != 0)
		dtp_end(&life, is_last);
	return (0);
}

char dtp_license[] SEC("license") = "Dual BSD/GPL";
