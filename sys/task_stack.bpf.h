/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Keeps variables of a BPF program where no other task overwrites them.  Since
 * Linux 6.13 a program with more than 64 bytes of variables keeps them in
 * memory of its CPU.  At uprobes the kernel does not prevent that such a
 * program is preempted and another task runs it on the same CPU.  A program
 * with a tail call keeps its variables on the stack of its task.
 */
#ifndef TASK_STACK_BPF_H
#define TASK_STACK_BPF_H

#include "compat.bpf.h"

/* Always empty. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} nowhere SEC(".maps");

/* Call this first in a program: a tail call that goes nowhere. */
DTP_INLINE void
dtp_use_task_stack(void *ctx)
{
	bpf_tail_call(ctx, &nowhere, 0);
}

#endif /* TASK_STACK_BPF_H */
