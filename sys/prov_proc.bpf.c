/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
#include "maps.bpf.h"

SEC("raw_tp/sched_process_fork")
int
on_fork(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}

SEC("raw_tp/sched_process_exec")
int
on_exec(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}

SEC("raw_tp/sched_process_exit")
int
on_exit(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}

SEC("raw_tp/task_rename")
int
on_rename(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}
