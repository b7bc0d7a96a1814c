/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What the counters of a CPU have added.  They run on, whoever runs there: what
 * one has added since it was last looked at belongs to the task that ran, and
 * is given to it at each switch.  So nothing is counted twice.
 *
 * Used by values.bpf.h, for the threads whose samples bring values, and by
 * split.bpf.c, for the processes or threads of dtprof stat.
 */
#ifndef ADDED_BPF_H
#define ADDED_BPF_H

#include "targets.bpf.h"

/* Descriptors: counter * ncpus + cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} values_fds SEC(".maps");

/* What counter n of a CPU says; not 0: it cannot be read. */
DTP_INLINE long
dtp_value_read(__u32 n, __u32 cpu, struct bpf_perf_event_value *now)
{
	return (bpf_perf_event_read_value(&values_fds, n * cfg.dc_ncpus + cpu,
	    now, sizeof(*now)));
}

/* Since upto, which then is now; not what a switch has reckoned with. */
DTP_INLINE __u64
dtp_value_added(__u64 *upto, __u64 now)
{
	__u64 added = now - *upto;

	if ((__s64)added <= 0)
		return (0);
	*upto = now;
	return (added);
}

#endif /* ADDED_BPF_H */
