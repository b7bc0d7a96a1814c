/* SPDX-License-Identifier: ISC */
/*
 * can bpf|perf|pmu: does this kernel allow this process to load a BPF
 * program, to open a software event on itself, to count cycles in hardware?
 * Exit status 0: yes; else 1, and the reason on stderr.
 *
 * tests/lib.sh asks, so that a test is skipped for what the machine lacks
 * and not for what dtprof got wrong.  It shares no code with dtprof.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int
can_bpf(void)
{
	/* r0 = 0; exit */
	struct bpf_insn insns[2] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	union bpf_attr attr;
	long fd;

	(void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insn_cnt = 2;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.license = (uint64_t)(uintptr_t)"Dual BSD/GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return (fd >= 0);
}

static int
can_count(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0);
}

int
main(int argc, char **argv)
{
	int can;

	if (argc == 2 && strcmp(argv[1], "bpf") == 0) {
		can = can_bpf();
	} else if (argc == 2 && strcmp(argv[1], "perf") == 0) {
		can = can_count(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	} else if (argc == 2 && strcmp(argv[1], "pmu") == 0) {
		can = can_count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	} else {
		fprintf(stderr, "usage: can bpf|perf|pmu\n");
		return (2);
	}
	if (!can)
		perror(argv[1]);
	return (!can);
}
