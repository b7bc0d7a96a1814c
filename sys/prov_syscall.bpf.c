/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
#include "maps.bpf.h"

SEC("raw_tp/sys_enter")
int
on_sys_enter(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}

SEC("raw_tp/sys_exit")
int
on_sys_exit(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}
