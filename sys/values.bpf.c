/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * At each switch of a CPU: what its counters have added goes to the thread
 * that leaves, where that is a target; it is in that thread's next sample.
 * Nothing is read when neither who leaves nor who comes is one.
 *
 * Loaded once, for the first of the counters, where samples are to bring
 * values (values.bpf.h).
 */
#include "values.bpf.h"

/* A thread's own, made when there is none; NULL: there is no room. */
DTP_INLINE struct dtp_values *
dtp_values_of(__u64 task)
{
	struct dtp_values fresh = { 0 };
	struct dtp_values *moved;

	moved = bpf_map_lookup_elem(&values_tasks, &task);
	if (moved != NULL ||
	    bpf_map_update_elem(&values_tasks, &task, &fresh, BPF_ANY) != 0)
		return (moved);
	return (bpf_map_lookup_elem(&values_tasks, &task));
}

/* One thread, as a switch tells of it. */
struct dtp_switching {
	__u64	sw_task;
	__u64	sw_is_counted;
};

DTP_INLINE void
dtp_switching_read(struct dtp_switching *who, __u64 word)
{
	struct dtp_life life = { 0 };

	who->sw_task = word;
	(void)dtp_life_read(&life, word);
	who->sw_is_counted = dtp_is_active(&life);
}

/* Nobody is inside: switches do not nest, and samples do not switch. */
DTP_INLINE void
dtp_values_switch(const struct dtp_switching *prev,
    const struct dtp_switching *next, __u32 cpu, __u32 ahead)
{
	struct dtp_values_cpu *values = dtp_values_claim(cpu);
	struct dtp_counts *counted = dtp_values_counts(cpu);
	struct dtp_values *leaves = NULL;

	if (values == NULL)
		return;
	if ((prev->sw_is_counted || values->vc_is_counted) &&
	    dtp_values_is_told(values, prev->sw_task, counted) &&
	    prev->sw_is_counted) {
		leaves = dtp_values_of(prev->sw_task);
		if (leaves == NULL && counted != NULL) {
			DTP_ADD(&counted->cn_fired, 1);
			dtp_count(&counted->cn_full);
		}
	}
	if (prev->sw_is_counted || next->sw_is_counted)
		dtp_values_move(&values->vc_upto, leaves, cpu, ahead);
	values->vc_left = prev->sw_task;
	values->vc_left_turn = prev->sw_is_counted ?
	    dtp_task_turn(prev->sw_task) : 0;
	values->vc_runs = next->sw_task;
	values->vc_is_counted = next->sw_is_counted;
	dtp_values_release(values);
}

/* Do counters count?  In a pause they stand still, but do not begin anew. */
DTP_INLINE __u32
dtp_session_state(void)
{
	struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	return (session == NULL ? DTP_OFF : DTP_LOAD(&session->co_state));
}

DTP_INLINE int
dtp_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_switching prev = { 0 }, next = { 0 };
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 state = dtp_session_state();

	if ((state != DTP_RECORDING && state != DTP_PAUSED) ||
	    !dtp_values_are_on(cpu))
		return (0);
	dtp_switching_read(&prev, ctx->args[1]);
	dtp_switching_read(&next, ctx->args[2]);
	dtp_values_switch(&prev, &next, cpu, state == DTP_RECORDING ?
	    cfg.dc_values_ahead : 0);
	return (0);
}

SEC("raw_tp/sched_switch")
int
on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_switch(ctx));
}

/* After a thread has left its CPU for good, before another lies there. */
SEC("raw_tp/sched_process_free")
int
on_free(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = ctx->args[0];

	bpf_map_delete_elem(&values_tasks, &task);
	return (0);
}
