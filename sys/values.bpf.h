/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counters whose values samples bring: what was counted for a thread since
 * its sample before.  The counters are a CPU's and run on; what they have
 * added is moved to whom it was counted for, at each switch (values.bpf.c)
 * and at each sample, here.
 *
 *	counter of a CPU   ...--|------ moved ------|---- not yet ----> now
 *	                                            ^ values_cpus: up to here
 *	values_tasks: of a thread, moved at switches, and not in a sample yet
 *
 * So nothing is counted twice, and what a thread had, on whatever CPUs, is
 * in its next sample.  Who interrupts while values are moved leaves its own
 * to the next sample.  Kernels have been seen to switch without telling; what
 * was counted since the switch before is then nobody's, and an error.
 *
 * Called by sample.bpf.h, values.bpf.c, and by prov_proc.bpf.c in an exec.
 */
#ifndef VALUES_BPF_H
#define VALUES_BPF_H

#include "added.bpf.h"
#include "filter.bpf.h"

struct dtp_values_cpu {
	__u64			vc_busy;	/* values are being moved */
	__u64			vc_runs;	/* whose turn; 0: not told */
	__u64			vc_is_counted;	/* that is a target's */
	__u64			vc_left;	/* whose it was; 0: gone */
	__u64			vc_left_turn;	/* which of its turns */
	struct dtp_values	vc_upto;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dtp_values_cpu);
} values_cpus SEC(".maps");

/*
 * By address of the thread's task_struct: a thread that execs takes over the
 * number and even the birth of the first of its group, but stays where it is.
 * Preallocated: NMI looks up, too.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct dtp_values);
} values_tasks SEC(".maps");

/* The counters are where samples are taken. */
DTP_INLINE int
dtp_values_are_on(__u32 cpu)
{
	struct dtp_stream *stream = bpf_map_lookup_elem(&streams, &cpu);

	return (stream != NULL &&
	    DTP_LOAD(&stream->ss_enabled) == DTP_CPU_SAMPLES);
}

/* The first of the counters counts for all what becomes of values. */
DTP_INLINE struct dtp_counts *
dtp_values_counts(__u32 cpu)
{
	__u32 at = cpu * cfg.dc_nevents + cfg.dc_values;

	return (bpf_map_lookup_elem(&counts, &at));
}

/* A stretch that is nobody's, or was not read. */
DTP_INLINE void
dtp_values_failed(struct dtp_counts *counted)
{
	if (counted == NULL)
		return;
	DTP_ADD(&counted->cn_fired, 1);
	DTP_ADD(&counted->cn_error, 1);
}

/*
 * What was counted since then goes to a place, and then is now.  ahead: bits
 * of values that the kernel will count one more of before anybody else runs.
 * What cannot be read, and what comes after it, stays for the next time.
 */
DTP_INLINE void
dtp_values_move(struct dtp_values *upto, struct dtp_values *to, __u32 cpu,
    __u32 ahead)
{
	struct bpf_perf_event_value now;
	__u64 added;
	__u32 i;

	for (i = 0; i < DTP_MAX_VALUES && i < cfg.dc_nvalues; i++) {
		if (dtp_value_read(i, cpu, &now) != 0)
			break;
		added = dtp_value_added(&upto->vl_value[i], now.counter +
		    (ahead >> i & 1));
		if (to != NULL)
			to->vl_value[i] += added;
		/* They are one group: one time for all. */
		if (i != 0)
			continue;
		if (to != NULL) {
			to->vl_enabled_ns += now.enabled -
			    upto->vl_enabled_ns;
			to->vl_running_ns += now.running -
			    upto->vl_running_ns;
		}
		upto->vl_enabled_ns = now.enabled;
		upto->vl_running_ns = now.running;
	}
	if (i < cfg.dc_nvalues)
		dtp_values_failed(dtp_values_counts(cpu));
}

/* Of a CPU, for who may move values there; NULL: somebody is at it. */
DTP_INLINE struct dtp_values_cpu *
dtp_values_claim(__u32 cpu)
{
	struct dtp_values_cpu *values;

	values = bpf_map_lookup_elem(&values_cpus, &cpu);
	if (values == NULL || DTP_CAS(&values->vc_busy, 0ULL, 1ULL) != 0)
		return (NULL);
	return (values);
}

/* Partner: dtp_values_claim. */
DTP_INLINE void
dtp_values_release(struct dtp_values_cpu *values)
{
	DTP_CAS(&values->vc_busy, 1ULL, 0ULL);
}

/* Does the thread run that was switched to?  From here on it does. */
DTP_INLINE int
dtp_values_is_told(struct dtp_values_cpu *values, __u64 task,
    struct dtp_counts *counted)
{
	__u64 runs = values->vc_runs;

	values->vc_runs = task;
	values->vc_is_counted = 1;
	if (runs == task || runs == 0)
		return (1);
	dtp_values_failed(counted);
	return (0);
}

/* What was counted here so far is nobody's: the command begins. */
DTP_INLINE void
dtp_values_begin(__u32 cpu)
{
	struct dtp_values_cpu *values;

	if (cfg.dc_nvalues == 0 || !dtp_values_are_on(cpu))
		return;
	values = dtp_values_claim(cpu);
	if (values == NULL)
		return;
	dtp_values_move(&values->vc_upto, NULL, cpu, 0);
	dtp_values_release(values);
}

/*
 * Between the hook of a switch and the switch itself, where the kernel counts
 * it?  Who is there again untold, and on another turn, is not.
 */
DTP_INLINE int
dtp_values_is_leaving(const struct dtp_values_cpu *values, __u64 task)
{
	return (values->vc_left == task &&
	    values->vc_left_turn == dtp_task_turn(task));
}

/* Into a sample of the current thread; its bytes are all written. */
DTP_APART int
dtp_values_put(struct dtp_values *to, __u32 cpu)
{
	__u64 task = bpf_get_current_task();
	struct dtp_values_cpu *values;
	struct dtp_values *moved;
	struct dtp_counts *counted = dtp_values_counts(cpu);

	if (to == NULL)
		return (0);
	to->vl_enabled_ns = 0;
	to->vl_running_ns = 0;
	for (__u32 i = 0; i < DTP_MAX_VALUES && i < cfg.dc_nvalues; i++)
		to->vl_value[i] = 0;
	if (counted == NULL)
		return (0);
	DTP_ADD(&counted->cn_fired, 1);
	DTP_ADD(&counted->cn_stored, 1);
	values = dtp_values_claim(cpu);
	if (values == NULL)
		return (dtp_count(&counted->cn_nested_stored));
	/* Of who is leaving all was moved already. */
	if (!dtp_values_is_leaving(values, task)) {
		values->vc_left = 0;
		dtp_values_move(&values->vc_upto, dtp_values_is_told(values,
		    task, counted) ? to : NULL, cpu, 0);
	}
	moved = bpf_map_lookup_elem(&values_tasks, &task);
	if (moved != NULL) {
		to->vl_enabled_ns += moved->vl_enabled_ns;
		to->vl_running_ns += moved->vl_running_ns;
		moved->vl_enabled_ns = 0;
		moved->vl_running_ns = 0;
		for (__u32 i = 0; i < DTP_MAX_VALUES && i < cfg.dc_nvalues;
		    i++) {
			to->vl_value[i] += moved->vl_value[i];
			moved->vl_value[i] = 0;
		}
	}
	dtp_values_release(values);
	if (to->vl_enabled_ns == 0 && to->vl_running_ns == 0)
		dtp_count(&counted->cn_nested_stored);
	return (0);
}

#endif /* VALUES_BPF_H */
