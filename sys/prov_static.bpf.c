/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
#include "maps.bpf.h"

SEC("raw_tp")
int
on_tracepoint(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return (bpf_map_lookup_elem(&streams, &cpu) == NULL);
}
