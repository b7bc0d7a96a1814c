/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Arguments of the kernel's tracepoints and functions: paths that were worked
 * out from its types (struct dtp_arg) are followed from a word on.
 *
 * Included by the programs of these providers.
 */
#ifndef FOLLOW_BPF_H
#define FOLLOW_BPF_H

#include "sample.bpf.h"

/* Pointers to the memory of the process are among the kernel's arguments. */
DTP_INLINE long
follow_read(__u64 *to, __u32 size, __u64 from)
{
	const void *at = (const void *)(unsigned long)from;

	return (dtp_is_kernel(from) ? bpf_probe_read_kernel(to, size, at) :
	    bpf_probe_read_user(to, size, at));
}

/*
 * Follow one argument.  An integer is loaded at the end of its path, text
 * is not: what is returned is its address, and it is read in place later.
 *
 * What cannot be read is 0, as the helper leaves it, and so is all behind
 * it.  That is not a branch on purpose: two ways out of each load would be
 * 2^n ways through the program, and older verifiers walk every one.
 */
DTP_INLINE __u64
dtp_follow(const volatile struct dtp_arg *arg, __u64 value, __u64 *failed)
{
	__u32 nderef = arg->ar_nderef;

	for (__u32 i = 0; i < DTP_MAX_DEREF; i++) {
		__u32 size = sizeof(value);
		unsigned long from;

		if (i >= nderef)
			break;
		from = value + arg->ar_off[i];
		if (i + 1 == nderef && arg->ar_kind == DTP_A_CHARS)
			return (from);
		if (i + 1 == nderef && arg->ar_kind == DTP_A_INT)
			size = arg->ar_size;
		if (size > sizeof(value))
			size = sizeof(value);
		value = 0;
		*failed |= follow_read(&value, size, from);
	}
	return (arg->ar_kind == DTP_A_INT ? dtp_cut(arg, value) : value);
}

#endif /* FOLLOW_BPF_H */
