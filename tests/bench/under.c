/* SPDX-License-Identifier: ISC */
/*
 * Runs a command and says what it took, in one line of a file:
 *
 *	under [-e | -p name] file command [argument ...]
 *
 *	begin_ns end_ns cpu_us status program_ns program_runs
 *
 * The clock when it was started and had ended, CPU time of it and of what it
 * waited for, exit status.  With -p also the time that the command's BPF
 * program of this name spent, and how often it ran; with -e that of an empty
 * program at the entry of system calls: what any program costs at least.
 *
 * The kernel measures programs only while a descriptor of BPF_ENABLE_STATS
 * is open.  A program that was found is kept open, so what it spent can be
 * asked for when the command has ended.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_NS	5000000

struct watch {
	const char	*wa_name;
	int		 wa_fd[1];
	int		 wa_n;
};

static int
bpf(int command, union bpf_attr *attr)
{
	return ((int)syscall(SYS_bpf, command, attr, sizeof(*attr)));
}

static void
fail(const char *what)
{
	(void)fprintf(stderr, "under: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

static void
enable_stats(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	if (bpf(BPF_ENABLE_STATS, &attr) == -1)
		fail("BPF_ENABLE_STATS");
}

static int
info_of(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr));
}

/* mov r0, 0; exit */
static int
load_empty(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.license = (uint64_t)(uintptr_t)"Dual BSD/GPL";
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd == -1)
		fail("BPF_PROG_LOAD");
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t)"sys_enter";
	attr.raw_tracepoint.prog_fd = (uint32_t)fd;
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) == -1)
		fail("BPF_RAW_TRACEPOINT_OPEN");
	return (fd);
}

/* Keep a program open if it has the name. */
static void
take(struct watch *watch, uint32_t id)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd == -1)
		return;
	if (info_of(fd, &info) == 0 && strcmp(info.name, watch->wa_name) == 0)
		watch->wa_fd[watch->wa_n++] = fd;
	else
		(void)close(fd);
}

/* Which program a descriptor of the command is for; 0: for none. */
static uint32_t
program_of(pid_t pid, const char *descriptor)
{
	char path[64], line[128];
	uint32_t id = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", (int)pid,
	    descriptor);
	file = fopen(path, "r");
	if (file == NULL)
		return (0);
	while (id == 0 && fgets(line, sizeof(line), file) != NULL)
		(void)sscanf(line, "prog_id: %" SCNu32, &id);
	(void)fclose(file);
	return (id);
}

/* Look for the program among what the command has open, not elsewhere. */
static void
look(struct watch *watch, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	uint32_t id;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while (watch->wa_n == 0 && (entry = readdir(dir)) != NULL) {
		id = program_of(pid, entry->d_name);
		if (id != 0)
			take(watch, id);
	}
	(void)closedir(dir);
}

static pid_t
start(char *argv[])
{
	pid_t pid = fork();

	if (pid == -1)
		fail("fork");
	if (pid == 0) {
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	return (pid);
}

/* Wait; look for the program meanwhile, until it was found. */
static int
wait_for(pid_t pid, struct watch *watch, struct rusage *usage)
{
	struct timespec pause = { 0, LOOK_EVERY_NS };
	int status;

	while (watch->wa_name != NULL && watch->wa_n == 0) {
		if (wait4(pid, &status, WNOHANG, usage) == pid)
			return (status);
		look(watch, pid);
		(void)nanosleep(&pause, NULL);
	}
	while (wait4(pid, &status, 0, usage) == -1)
		if (errno != EINTR)
			fail("wait4");
	return (status);
}

static void
say(const char *path, const struct watch *watch, uint64_t begin_ns,
    const struct rusage *usage, int status)
{
	uint64_t end_ns = now_ns(), run_ns = 0, runs = 0;
	struct bpf_prog_info info;
	FILE *file = fopen(path, "w");
	long us;
	int n;

	if (file == NULL)
		fail(path);
	for (n = 0; n < watch->wa_n; n++) {
		if (info_of(watch->wa_fd[n], &info) == -1)
			fail("BPF_OBJ_GET_INFO_BY_FD");
		run_ns += info.run_time_ns;
		runs += info.run_cnt;
	}
	us = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	    usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
	(void)fprintf(file, "%" PRIu64 " %" PRIu64 " %ld %d %" PRIu64 " %"
	    PRIu64 "\n", begin_ns, end_ns, us, status, run_ns, runs);
	(void)fclose(file);
}

int
main(int argc, char *argv[])
{
	struct watch watch = { 0 };
	struct rusage usage;
	uint64_t begin_ns;
	int option, empty = 0, status;

	while ((option = getopt(argc, argv, "+ep:")) != -1) {
		switch (option) {
		case 'e': empty = 1; break;
		case 'p': watch.wa_name = optarg; break;
		default: return (2);
		}
	}
	if (argc - optind < 2)
		return (2);
	if (empty || watch.wa_name != NULL)
		enable_stats();
	if (empty)
		watch.wa_fd[watch.wa_n++] = load_empty();
	begin_ns = now_ns();
	status = wait_for(start(argv + optind + 1), &watch, &usage);
	say(argv[optind], &watch, begin_ns, &usage, status);
	return (WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
