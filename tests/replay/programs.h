/* SPDX-License-Identifier: ISC */
/*
 * All programs of sys/ in one file, contexts to call them with, and CHECK:
 * what the tests of single programs share.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

#include "prov_pmc.bpf.c"
#include "prov_proc.bpf.c"
#include "prov_profile.bpf.c"
#include "prov_static.bpf.c"
#include "prov_syscall.bpf.c"

#define RING	DTP_MIN_RING

/* The context of a raw tracepoint with up to 12 words. */
union words {
	struct bpf_raw_tracepoint_args	ctx;
	__u64				word[12];
};

static struct machine_task me = {
	.mt_task = { .tgid = 100, .pid = 101, .comm = "worker" },
};
static const char *current_case;
static unsigned checks, failures;

#define CHECK(what)	check((what), #what, __LINE__)
#define CHECK_IS(is, want)						\
	check_is((__u64)(is), (__u64)(want), #is, __LINE__)

static inline void
check(bool holds, const char *what, int line)
{
	checks++;
	if (holds)
		return;
	failures++;
	printf("%s, line %d: %s\n", current_case, line, what);
}

static inline void
check_is(__u64 is, __u64 want, const char *what, int line)
{
	checks++;
	if (is == want)
		return;
	failures++;
	printf("%s, line %d: %s is %lld, not %lld\n", current_case, line, what,
	    (long long)is, (long long)want);
}

/* A fresh machine; the clock counts from 1. */
static inline void
begin(const char *name)
{
	current_case = name;
	machine_fini();
	machine_init(2, RING);
	machine.ma_clock_ns = 1;
	machine_me = &me;
	me.mt_cpu = 0;
	me.mt_stack[0] = me.mt_stack[1] = 0;
	me.mt_task.tgid = 100;
	me.mt_task.pid = 101;
}

static inline int
end(void)
{
	machine_fini();
	printf("%u checks, %u failures\n", checks, failures);
	return (failures != 0 || checks == 0);
}

/* The n-th record of a CPU, counted from the tail; NULL: there is none. */
static inline struct dtp_rec *
record_at(__u32 cpu, unsigned n)
{
	struct dtp_stream *stream = &machine.ma_streams[cpu];
	__u64 at = stream->ss_tail;
	struct dtp_rec *record;

	while (at < stream->ss_head) {
		record = (struct dtp_rec *)(machine_ring(cpu) +
		    (at & (RING - 1)));
		if (n-- == 0)
			return (record);
		at += record->dr_size;
	}
	return (NULL);
}

static inline void
fire_tracepoint(void)
{
	union words words = { .word = { 0 } };

	on_tracepoint(&words);
}

/* Overflow of a counter in user code, or the kernel's. */
static inline void
fire_counter(bool kernel)
{
	struct bpf_perf_event_data data;

	memset(&data, 0, sizeof(data));
	data.sample_period = 1000;
#ifdef __x86_64__
	data.regs.rip = 0x401000;
	data.regs.cs = kernel ? 0x10 : 0x33;
#else
	data.regs.pc = 0x401000;
	data.regs.pstate = kernel ? 0x5 : 0x0;
#endif
	on_overflow(&data);
}

static inline void
set_target(__u32 id, __u8 how)
{
	machine.ma_targets.tg_how[id] = how;
}

static inline __u8
get_target(__u32 id)
{
	return (machine.ma_targets.tg_how[id]);
}

#endif /* PROGRAMS_H */
