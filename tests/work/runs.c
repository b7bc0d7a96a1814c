/* SPDX-License-Identifier: ISC */
/*
 * How often did the kernel run the BPF programs of a command?
 *
 *	runs FILE command [argument ...]
 *
 * Has the kernel count runs (BPF_ENABLE_STATS: holds as long as this
 * descriptor is open, no sysctl changes), starts the command, and keeps a
 * descriptor of every program that the command has open, found in its
 * fdinfo.  When the command has ended nothing runs them any more, so their
 * counts are final: they go to FILE as JSON, a list of name, runs, time_ns,
 * misses, and verified: how many instructions the verifier went through.
 *
 * This is the count of firings that owes nothing to dtprof's own counters.
 */
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROGRAMS	256

struct program {
	uint32_t	id;
	int		fd;
};

static struct program programs[MAX_PROGRAMS];
static int nprograms;
static pid_t command;

static int
bpf(int what, union bpf_attr *attr)
{
	return ((int)syscall(SYS_bpf, what, attr, sizeof(*attr)));
}

static void
keep(uint32_t id)
{
	union bpf_attr attr;
	int fd;

	for (int i = 0; i < nprograms; i++)
		if (programs[i].id == id)
			return;
	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd == -1 || nprograms == MAX_PROGRAMS)
		return;
	programs[nprograms].id = id;
	programs[nprograms++].fd = fd;
}

static void
look_at(const char *path)
{
	char line[256];
	uint32_t id;
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "prog_id: %u", &id) == 1)
			keep(id);
	fclose(file);
}

static void
look(pid_t pid)
{
	char path[600];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	if ((dir = opendir(path)) == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid,
		    entry->d_name);
		look_at(path);
	}
	closedir(dir);
}

static int
write_counts(const char *path)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	FILE *out = fopen(path, "we");

	if (out == NULL)
		return (-1);
	fputs("[", out);
	for (int i = 0; i < nprograms; i++) {
		memset(&info, 0, sizeof(info));
		memset(&attr, 0, sizeof(attr));
		attr.info.bpf_fd = (uint32_t)programs[i].fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (uint64_t)(uintptr_t)&info;
		if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == -1)
			return (-1);
		fprintf(out, "%s{\"name\": \"%s\", \"runs\": %llu, "
		    "\"time_ns\": %llu, \"misses\": %llu, "
		    "\"verified\": %u}", i ? ",\n" : "", info.name,
		    (unsigned long long)info.run_cnt,
		    (unsigned long long)info.run_time_ns,
		    (unsigned long long)info.recursion_misses,
		    info.verified_insns);
	}
	fputs("]\n", out);
	return (fclose(out));
}

/* A signal for us is one for the command: it ends, then we do. */
static void
pass_on(int sig)
{
	if (command > 0)
		kill(command, sig);
}

int
main(int argc, char **argv)
{
	const struct timespec pause = { 0, 2000000 };
	union bpf_attr attr;
	int status;

	if (argc < 3)
		return (2);
	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	if (bpf(BPF_ENABLE_STATS, &attr) == -1) {
		perror("BPF_ENABLE_STATS");
		return (125);
	}
	signal(SIGINT, pass_on);
	signal(SIGTERM, pass_on);
	if ((command = fork()) == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	while (waitpid(command, &status, WNOHANG) == 0) {
		look(command);
		nanosleep(&pause, NULL);
	}
	if (write_counts(argv[1]) != 0)
		return (125);
	return (WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status));
}
