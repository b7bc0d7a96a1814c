/* SPDX-License-Identifier: ISC */
/*
 * The stack of a stopped process as the walk in user space finds it, from a
 * copy of registers and stack: status and program counters, on one line.
 *
 *	snapshot_walk PID
 *
 * Compiled by stack-copy-walk-as-gdb.sh.  x86-64 only: ptrace gives registers
 * in an order of its own.
 */
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/procfs.h"
#include "process/processes.h"
#include "stacks/snapshot.h"

static uint8_t stack[PROF_STACK_MAX];

static int
observe(void *snapshots, const struct prof_record *record)
{
	return (prof_snapshots_observe(snapshots, record));
}

/* Up to the end of the stack, or of our room. */
static size_t
copy_stack(int pid, uint64_t from)
{
	char path[64];
	size_t bytes = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	if ((fd = open(path, O_RDONLY)) == -1)
		return (0);
	while (bytes < sizeof(stack)) {
		n = pread(fd, stack + bytes, 8, (off_t)(from + bytes));
		if (n != 8)
			break;
		bytes += 8;
	}
	close(fd);
	return (bytes);
}

static int
take(int pid, struct prof_snapshot *sn)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) == -1 ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0) == -1 ||
	    waitpid(pid, NULL, __WALL) == -1 ||
	    ptrace(PTRACE_GETREGS, pid, 0, &r) == -1)
		return (-1);
	const uint64_t regs[PROF_REGS] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi,
	    r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
	    r.r14, r.r15, r.rip };

	memcpy(sn->sn_reg, regs, sizeof(regs));
	sn->sn_known = PROF_ALL_REGS;
	sn->sn_is_return = (int64_t)r.orig_rax >= 0;
	sn->sn_base = (r.rsp - 128) & ~7ULL;
	sn->sn_stack = stack;
	sn->sn_bytes = copy_stack(pid, sn->sn_base);
	sn->sn_cut = sn->sn_bytes == sizeof(stack);
	return (ptrace(PTRACE_DETACH, pid, 0, 0) == -1 ? -1 : 0);
}

int
main(int argc, char **argv)
{
	struct prof_snapshots *snapshots = prof_snapshots_new(
	    PROF_PROCESSES_ALL, false);
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE };
	struct prof_snapshot snapshot = { .sn_known = 0 };
	int pid = argc == 2 ? atoi(argv[1]) : 0;
	uint32_t n;

	if (snapshots == NULL || pid == 0 || prof_procfs_snapshot_pid(pid, 1,
	    observe, snapshots) != 0 || take(pid, &snapshot) == -1) {
		perror("snapshot_walk");
		return (1);
	}
	sample.pr_pid = (uint32_t)pid;
	sample.pr_time_ns = 1;
	sample.pr_ustatus = PROF_STACK_NOPROC;
	prof_snapshots_finish(snapshots, &sample, 0, &snapshot);
	printf("%u", sample.pr_ustatus);
	for (n = 0; n < sample.pr_nuser; n++)
		printf(" %" PRIx64, sample.pr_user[n]);
	printf("\n");
	prof_snapshots_free(snapshots);
	return (0);
}
