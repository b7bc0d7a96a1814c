/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Where kernels and architectures differ, and where the host build differs
 * from the kernel's: one accessor per difference, so that the rest of sys/
 * is the same text everywhere (6.1 to 6.18, x86-64 and arm64, and the host,
 * where host_shim.h stands in for the helpers).
 *
 * Included by maps.bpf.h, and so by all of sys/.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#ifdef DTP_HOST
#include "host_shim.h"
#else
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define DTP_CORE	__attribute__((preserve_access_index))
#endif

#define DTP_BELL_BYTES	65536	/* a multiple of any page size */

#endif /* COMPAT_BPF_H */
