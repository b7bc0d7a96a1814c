/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The helpers, the maps and the atomics as plain C, so that the very files
 * of sys/ also run as a program: under sanitizers, and under a scheduler that
 * decides at each access to shared memory who goes on.
 *
 * Included by compat.bpf.h when DTP_HOST is set.  tests/replay/machine.c
 * implements the functions: a make-believe machine with a clock, a current
 * task, maps and faults on demand.
 */
#ifndef HOST_SHIM_H
#define HOST_SHIM_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#define __TARGET_ARCH_x86
#elif defined(__aarch64__)
#define __TARGET_ARCH_arm64
#endif

/* Maps and configuration are defined by each file that includes them. */
#define SEC(name)		__attribute__((weak))
#define DTP_RODATA		__attribute__((weak)) volatile
#define DTP_CORE
#define bpf_core_field_exists(field)	1

#define __uint(name, value)	int (*name)[value]
#define __type(name, value)	__typeof__(value) *name
#define __array(name, value)	value *(*name)[]

/*
 * Each access to what writers share goes through here.  A load of a position
 * is followed by an atomic that orders it in the kernel; here it acquires.
 */
__u64	host_load(const volatile void *, size_t);
__u64	host_fetch_add(__u64 *, __u64);
__u64	host_fetch_or(__u64 *, __u64);
void	host_clear(__u64 *, __u64);
__u64	host_cas(__u64 *, __u64, __u64);

#define DTP_LOAD(p)		((__typeof__(*(p)))host_load((p), sizeof(*(p))))
#define DTP_STORE(p, v)		__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define DTP_ADD(p, v)		((void)__atomic_fetch_add((p), (v), \
				    __ATOMIC_RELAXED))
#define DTP_FETCH_ADD(p, v)	host_fetch_add((p), (v))
#define DTP_FETCH_OR(p, v)	host_fetch_or((p), (v))
#define DTP_CLEAR(p, bits)	host_clear((p), (bits))
#define DTP_CAS(p, old, new)	host_cas((p), (old), (new))

#define barrier_var(var)	((void)(var))

#define DTP_CTX_WORD(value, ctx, n) \
	((value) = ((const struct bpf_raw_tracepoint_args *)(ctx))->args[n])

void	*bpf_map_lookup_elem(void *, const void *);
long	 bpf_map_update_elem(void *, const void *, const void *, __u64);
long	 bpf_map_delete_elem(void *, const void *);
__u64	 bpf_ktime_get_ns(void);
__u32	 bpf_get_smp_processor_id(void);
__u64	 bpf_get_current_task(void);
void	*bpf_get_current_task_btf(void);
long	 bpf_task_pt_regs(void *);
long	 bpf_get_current_comm(void *, __u32);
__u64	 bpf_get_current_uid_gid(void);
__u64	 bpf_get_current_ancestor_cgroup_id(int);
long	 bpf_get_stack(void *, void *, __u32, __u64);
long	 bpf_probe_read_kernel(void *, __u32, const void *);
long	 bpf_probe_read_kernel_str(void *, __u32, const void *);
long	 bpf_probe_read_user(void *, __u32, const void *);
long	 bpf_probe_read_user_str(void *, __u32, const void *);
long	 bpf_loop(__u32, void *, void *, __u64);
long	 bpf_perf_event_read_value(void *, __u64,
	    struct bpf_perf_event_value *, __u32);
long	 bpf_ringbuf_output(void *, void *, __u64, __u64);

/* User stacks are the machine's to make up, unless their walk is tested. */
#ifndef DTP_HOST_WALKS
#define DTP_UW_ELSEWHERE
struct dtp_unwind;
int	dtp_uw_walk(struct dtp_unwind *, __u32 tgid);
int	dtp_chain_walk(struct dtp_unwind *);
void	dtp_uw_inherit(__u32 parent, __u32 child);
void	dtp_uw_forget(__u32 tgid);
#endif

#endif /* HOST_SHIM_H */
