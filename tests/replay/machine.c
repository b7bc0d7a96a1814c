/* SPDX-License-Identifier: ISC */
/*
 * The helpers of host_shim.h on the state of machine.h.  Knows no program:
 * it is linked to each test, whose file includes the BPF sources and so
 * defines the maps and the configuration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine.h"
#include "unwind.bpf.h"

/* The ordering that the atomics promise; a control weakens it. */
#ifndef HOST_ORDER
#define HOST_ORDER	__ATOMIC_SEQ_CST
#endif

struct machine machine;
_Thread_local struct machine_task *machine_me;

static void
before(void)
{
	if (machine.ma_yield != NULL)
		machine.ma_yield();
}

/* What a program does next depends on nothing but what it has seen. */
static __u64
seen(__u64 value)
{
	machine_me->mt_seen = (machine_me->mt_seen ^ value) *
	    0x9e3779b97f4a7c15ULL;
	machine_me->mt_seen ^= machine_me->mt_seen >> 29;
	return (value);
}

static bool
is_state(const volatile void *p)
{
	for (__u32 i = 0; i < machine.ma_ncpus; i++)
		if (p == &machine.ma_streams[i].ss_state)
			return (true);
	return (false);
}

static bool
is_head(const volatile void *p)
{
	for (__u32 i = 0; i < machine.ma_ncpus; i++)
		if (p == &machine.ma_streams[i].ss_head)
			return (true);
	return (false);
}

__u64
host_load(const volatile void *p, size_t size)
{
	before();
	if (size == sizeof(__u32))
		return (seen(__atomic_load_n((const volatile __u32 *)p,
		    __ATOMIC_ACQUIRE)));
	return (seen(__atomic_load_n((const volatile __u64 *)p,
	    __ATOMIC_ACQUIRE)));
}

__u64
host_fetch_add(__u64 *p, __u64 n)
{
	__u64 was;

	before();
	if (machine.ma_mutant == MUTANT_LOST_UPDATE && is_state(p)) {
		was = seen(*p);
		before();
		*p = was + n;
		return (was);
	}
	was = seen(__atomic_fetch_add(p, n, HOST_ORDER));
	if (n != -1ULL || !is_state(p))
		return (was);
	if (machine.ma_mutant == MUTANT_EARLY_LEAVE)
		return ((was & ~DTP_WRITERS_MASK) | 1);
	if (machine.ma_mutant == MUTANT_LATE_POSITION &&
	    (was & DTP_WRITERS_MASK) == 1) {
		before();
		return ((seen(*p) & ~DTP_WRITERS_MASK) | 1);
	}
	return (was);
}

__u64
host_fetch_or(__u64 *p, __u64 bits)
{
	before();
	if (machine.ma_mutant == MUTANT_SHARED_SCRATCH)
		return (0);
	return (seen(__atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)));
}

void
host_clear(__u64 *p, __u64 bits)
{
	before();
	__atomic_fetch_and(p, ~bits, __ATOMIC_RELEASE);
}

__u64
host_cas(__u64 *p, __u64 old, __u64 new)
{
	before();
	if (machine.ma_mutant == MUTANT_PLAIN_HEAD && is_head(p)) {
		*p = new;
		return (old);
	}
	if (machine.ma_cas_to_lose > 0 && is_state(p)) {
		/* As if a second writer had come, or gone. */
		machine.ma_cas_to_lose--;
		*p ^= 2;
		return (*p);
	}
	__atomic_compare_exchange_n(p, &old, new, false, HOST_ORDER,
	    HOST_ORDER);
	return (seen(old));
}

static void *
element(void *values, size_t size, __u32 n, __u32 at)
{
	return (at < n ? (__u8 *)values + size * at : NULL);
}

void *
bpf_map_lookup_elem(void *map, const void *key)
{
	__u32 at, n = machine.ma_ncpus;

	memcpy(&at, key, sizeof(at));
	if (map == &streams)
		return (element(machine.ma_streams,
		    sizeof(*machine.ma_streams), n, at));
	if (map == &rings)
		return (at < n ? machine_ring(at) : NULL);
	if (map == &counts)
		return (element(machine.ma_counts, sizeof(*machine.ma_counts),
		    n * MACHINE_EVENTS, at));
	if (map == &control)
		return (element(&machine.ma_control,
		    sizeof(machine.ma_control), 1, at));
	if (map == &scratch)
		return (element(machine.ma_scratch,
		    sizeof(*machine.ma_scratch), n * DTP_SCRATCH_ALL, at));
	if (map == &targets)
		return (element(&machine.ma_targets,
		    sizeof(machine.ma_targets), 1, at));
	if (map == &groups)
		return (element(machine.ma_groups, sizeof(*machine.ma_groups),
		    cfg.dc_grouping.gp_groups, at));
	if (map == &buckets)
		return (element(machine.ma_buckets,
		    sizeof(*machine.ma_buckets), cfg.dc_grouping.gp_buckets,
		    at));
	return (NULL);
}

/* No other map is written to by what is tested here. */
long
bpf_map_update_elem(void *map, const void *key, const void *value,
    __u64 flags)
{
	(void)map;
	(void)key;
	(void)value;
	(void)flags;
	return (-E2BIG);
}

long
bpf_map_delete_elem(void *map, const void *key)
{
	(void)map;
	(void)key;
	return (-ENOENT);
}

__u64
bpf_ktime_get_ns(void)
{
	struct timespec now;

	before();
	if (machine.ma_clock_ns != 0)
		return (seen(++machine.ma_clock_ns));
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec * 1000000000ULL + now.tv_nsec);
}

__u32
bpf_get_smp_processor_id(void)
{
	return (machine_me->mt_cpu);
}

__u64
bpf_get_current_task(void)
{
	return ((__u64)(unsigned long)&machine_me->mt_task);
}

void *
bpf_get_current_task_btf(void)
{
	return (&machine_me->mt_task);
}

/* Below the registers lies where the kernel was entered. */
long
bpf_task_pt_regs(void *task)
{
	static const __u64 entry[2] = { 1, 0 };

	(void)task;
	return ((long)&entry[1]);
}

long
bpf_get_current_comm(void *to, __u32 size)
{
	before();
	memcpy(to, machine_me->mt_task.comm, size);
	return (0);
}

__u64
bpf_get_current_uid_gid(void)
{
	return (machine_me->mt_uid_gid);
}

__u64
bpf_get_current_ancestor_cgroup_id(int level)
{
	return (level == 1 ? machine_me->mt_cgroup : 0);
}

long
bpf_get_stack(void *ctx, void *to, __u32 size, __u64 flags)
{
	long frames = machine_me->mt_stack[0];

	if (ctx == NULL || size != DTP_MAX_KFRAMES * sizeof(__u64) ||
	    (flags & BPF_F_USER_STACK))
		abort();
	before();
	if (frames <= 0)
		return (frames);
	memcpy(to, machine_me->mt_frames[0], frames * sizeof(__u64));
	return (frames * sizeof(__u64));
}

int
dtp_uw_walk(struct dtp_unwind *uw, __u32 tgid)
{
	long frames = machine_me->mt_stack[1];

	before();
	if (tgid != (__u32)machine_me->mt_task.tgid)
		abort();
	uw->uw_n = frames > 0 ? frames : 0;
	uw->uw_status = frames < 0 ? DTP_S_FAULT : frames == 0 ? DTP_S_NONE :
	    frames == DTP_MAX_UFRAMES ? DTP_S_DEEP : DTP_S_OK;
	memcpy(uw->uw_frame, machine_me->mt_frames[1],
	    uw->uw_n * sizeof(__u64));
	return (0);
}

/* Of no process here are script frames known. */
int
dtp_chain_walk(struct dtp_unwind *uw)
{
	(void)uw;
	return (0);
}

void
dtp_uw_inherit(__u32 parent, __u32 child)
{
	(void)parent;
	(void)child;
}

void
dtp_uw_forget(__u32 tgid)
{
	(void)tgid;
}

/* Addresses below one page are nobody's. */
static bool
faults(const void *from)
{
	return ((unsigned long)from < 4096);
}

long
bpf_loop(__u32 n, void *callback, void *context, __u64 flags)
{
	long (*body)(__u32, void *) = (long (*)(__u32, void *))callback;
	__u32 i;

	(void)flags;
	for (i = 0; i < n; i++)
		if (body(i, context) != 0)
			return (i + 1);
	return (n);
}

long
bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	return (bpf_probe_read_kernel(to, size, from));
}

long
bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	before();
	if (faults(from)) {
		memset(to, 0, size);
		return (-EFAULT);
	}
	memcpy(to, from, size);
	return (0);
}

long
bpf_probe_read_kernel_str(void *to, __u32 size, const void *from)
{
	size_t length;

	if (faults(from)) {
		memset(to, 0, size);
		return (-EFAULT);
	}
	length = strnlen(from, size - 1);
	memcpy(to, from, length);
	((char *)to)[length] = '\0';
	return (length + 1);
}

long
bpf_probe_read_user_str(void *to, __u32 size, const void *from)
{
	return (bpf_probe_read_kernel_str(to, size, from));
}

/* There are no counters. */
long
bpf_perf_event_read_value(void *map, __u64 flags,
    struct bpf_perf_event_value *value, __u32 size)
{
	(void)map;
	(void)flags;
	memset(value, 0, size);
	return (-ENOENT);
}

long
bpf_ringbuf_output(void *map, void *data, __u64 size, __u64 flags)
{
	if (map != &wakeups || data == NULL || size == 0 ||
	    flags != BPF_RB_FORCE_WAKEUP)
		abort();
	machine.ma_wakeups++;
	return (0);
}

static void *
zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL) {
		perror("calloc");
		exit(1);
	}
	return (p);
}

void
machine_init(__u32 ncpus, size_t ring_bytes)
{
	memset(&machine, 0, sizeof(machine));
	machine.ma_ncpus = ncpus;
	machine.ma_ring_bytes = ring_bytes;
	machine.ma_streams = zeroed(ncpus, sizeof(*machine.ma_streams));
	machine.ma_rings = zeroed(ncpus, ring_bytes + DTP_MAX_RECORD);
	machine.ma_counts = zeroed(ncpus * MACHINE_EVENTS,
	    sizeof(*machine.ma_counts));
	machine.ma_scratch = zeroed(ncpus * DTP_SCRATCH_ALL,
	    sizeof(*machine.ma_scratch));
	machine.ma_control.co_state = DTP_RECORDING;
	machine.ma_control.co_until_ns = ~0ULL;
	machine.ma_control.co_lives_most = ~0ULL;
	for (__u32 i = 0; i < ncpus; i++) {
		machine.ma_streams[i].ss_enabled = DTP_CPU_SAMPLES;
		machine.ma_streams[i].ss_ring = i;
	}
	memset((void *)&cfg, 0, sizeof(cfg));
	cfg.dc_event = 1;
	cfg.dc_nevents = MACHINE_EVENTS;
	cfg.dc_ncpus = ncpus;
	cfg.dc_ring_mask = ring_bytes - 1;
}

void
machine_fini(void)
{
	free(machine.ma_streams);
	free(machine.ma_rings);
	free(machine.ma_counts);
	free(machine.ma_scratch);
	free(machine.ma_groups);
	free(machine.ma_buckets);
	memset(&machine, 0, sizeof(machine));
}

__u8 *
machine_ring(__u32 cpu)
{
	return (machine.ma_rings +
	    cpu * (machine.ma_ring_bytes + DTP_MAX_RECORD));
}

struct dtp_counts *
machine_counts(__u32 cpu)
{
	return (&machine.ma_counts[cpu * MACHINE_EVENTS + cfg.dc_event]);
}

long
machine_identity(__u32 cpu)
{
	const struct dtp_counts *c = machine_counts(cpu);

	return (c->cn_fired - c->cn_stored - c->cn_full - c->cn_nested -
	    c->cn_filtered - c->cn_error);
}
