/* SPDX-License-Identifier: ISC */
/*
 * Hides timer events from BPF, on purpose.
 *
 *	hide command [argument ...]
 *
 * Attaches a BPF program of the old kind to raw_syscalls:sys_enter and keeps
 * it busy at each system call of the command.  While a program of that kind
 * runs, the kernel skips the programs of perf events on that CPU and counts
 * that nowhere; this is what a foreign tracer does to a profiler.  The
 * program takes the time that it ran, of the command alone.
 *
 * Prints one line of JSON when the command has ended: the nanoseconds that
 * were hidden, and in how many pieces.
 *
 * The program is written in instructions, so that no compiler is needed.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS	20000		/* of looking at the clock, each call */

#define I(c, d, s, o, i)	{ .code = (c), .dst_reg = (d), \
	.src_reg = (s), .off = (o), .imm = (i) }
#define MOV_IMM(d, i)		I(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)		I(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define CALL(f)			I(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT			I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define MAP_FD(d, fd)		I(BPF_LD | BPF_DW | BPF_IMM, d, \
	BPF_PSEUDO_MAP_FD, 0, fd), I(0, 0, 0, 0, 0)
#define ATOMIC_ADD(d, o, s)	I(BPF_STX | BPF_DW | BPF_ATOMIC, d, s, o, \
	BPF_ADD)

static int
bpf(int what, union bpf_attr *attr)
{
	return ((int)syscall(SYS_bpf, what, attr, sizeof(*attr)));
}

static void
die(const char *what)
{
	perror(what);
	exit(125);
}

/* Two words: nanoseconds, pieces. */
static int
make_map(void)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 16;
	attr.max_entries = 1;
	if ((fd = bpf(BPF_MAP_CREATE, &attr)) == -1)
		die("BPF_MAP_CREATE");
	return (fd);
}

static int
load(int map, pid_t of)
{
	struct bpf_insn insns[] = {
		/* if (pid != of) return 0; */
		CALL(BPF_FUNC_get_current_pid_tgid),
		I(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		I(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, of),
		MOV_IMM(0, 0),
		EXIT,
		/* r7 = now; for (r6 = TURNS; r6; r6--) now; */
		CALL(BPF_FUNC_ktime_get_ns),
		MOV_REG(7, 0),
		MOV_IMM(6, TURNS),
		CALL(BPF_FUNC_ktime_get_ns),
		I(BPF_ALU64 | BPF_SUB | BPF_K, 6, 0, 0, 1),
		I(BPF_JMP | BPF_JNE | BPF_K, 6, 0, -3, 0),
		/* r6 = now - r7 */
		MOV_REG(6, 0),
		I(BPF_ALU64 | BPF_SUB | BPF_X, 6, 7, 0, 0),
		/* map[0] += r6, 1 */
		I(BPF_ST | BPF_W | BPF_MEM, 10, 0, -4, 0),
		MOV_REG(2, 10),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		MAP_FD(1, map),
		CALL(BPF_FUNC_map_lookup_elem),
		I(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3, 0),
		ATOMIC_ADD(0, 0, 6),
		MOV_IMM(1, 1),
		ATOMIC_ADD(0, 8, 1),
		MOV_IMM(0, 0),
		EXIT,
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uint64_t)(uintptr_t)"Dual BSD/GPL";
	if ((fd = bpf(BPF_PROG_LOAD, &attr)) == -1)
		die("BPF_PROG_LOAD");
	return (fd);
}

/* A mount of our own, seen by nobody, so that the system stays as it is. */
static uint64_t
tracepoint_id(void)
{
	static const char file[] = "events/raw_syscalls/sys_enter/id";
	char text[32] = "";
	int context, mount, fd;

	if ((context = fsopen("tracefs", FSOPEN_CLOEXEC)) == -1 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1)
		die("tracefs");
	if ((mount = fsmount(context, FSMOUNT_CLOEXEC, 0)) == -1)
		die("fsmount");
	if ((fd = openat(mount, file, O_RDONLY | O_CLOEXEC)) == -1 ||
	    read(fd, text, sizeof(text) - 1) <= 0)
		die(file);
	return (strtoull(text, NULL, 10));
}

static int
attach(int program, pid_t of)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = tracepoint_id();
	attr.sample_period = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, of, -1, -1,
	    PERF_FLAG_FD_CLOEXEC);
	if (fd == -1)
		die("perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == -1)
		die("PERF_EVENT_IOC_SET_BPF");
	return (fd);
}

int
main(int argc, char **argv)
{
	uint64_t value[2] = { 0, 0 };
	uint32_t zero = 0;
	union bpf_attr attr;
	int map, go[2], status;
	char byte;
	pid_t pid;

	if (argc < 2)
		return (2);
	if (pipe2(go, O_CLOEXEC) == -1)
		die("pipe2");
	if ((pid = fork()) == -1)
		die("fork");
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 0)
			_exit(125);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	map = make_map();
	(void)attach(load(map, pid), pid);
	close(go[1]);
	if (waitpid(pid, &status, 0) == -1)
		die("waitpid");
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uint64_t)(uintptr_t)&zero;
	attr.value = (uint64_t)(uintptr_t)value;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr) == -1)
		die("BPF_MAP_LOOKUP_ELEM");
	printf("{\"hidden_ns\": %llu, \"pieces\": %llu}\n",
	    (unsigned long long)value[0], (unsigned long long)value[1]);
	return (WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}
