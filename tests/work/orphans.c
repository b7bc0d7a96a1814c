/* SPDX-License-Identifier: ISC */
/*
 * Are there BPF objects of dtprof that no process holds?
 *
 *	orphans [tries]
 *
 * Goes over every program, map and link of the kernel.  Those with dtprof's
 * names (a map called streams, a program called on_sys_enter ..., a link to
 * such a program) have to be in the fdinfo of some process; a process that
 * was killed leaves its objects to the kernel, which frees them a little
 * later, so this looks again, a hundredth of a second apart, up to as many
 * times as it is told.  Prints what is left and exits 1, or exits 0.
 *
 * Other recordings may run meanwhile: theirs are held.
 */
#include <linux/bpf.h>
#include <sys/syscall.h>

#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM, MAP, LINK, NKINDS };

static const char *const kind_name[NKINDS] = { "program", "map", "link" };
static const char *const fdinfo_key[NKINDS] = {
	"prog_id: %u", "map_id: %u", "link_id: %u"
};
static const int next_id[NKINDS] = {
	BPF_PROG_GET_NEXT_ID, BPF_MAP_GET_NEXT_ID, BPF_LINK_GET_NEXT_ID
};
static const int fd_by_id[NKINDS] = {
	BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID
};

struct set {
	uint32_t	*id;
	size_t		 n, cap;
};

static int
bpf(int what, union bpf_attr *attr)
{
	return ((int)syscall(SYS_bpf, what, attr, sizeof(*attr)));
}

static void
put(struct set *set, uint32_t id)
{
	if (set->n == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 256;
		set->id = reallocarray(set->id, set->cap, sizeof(*set->id));
		if (set->id == NULL)
			abort();
	}
	set->id[set->n++] = id;
}

static int
has(const struct set *set, uint32_t id)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->id[i] == id)
			return (1);
	return (0);
}

static void
look_at(const char *path, struct set held[NKINDS])
{
	char line[256];
	uint32_t id;
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		for (int kind = 0; kind < NKINDS; kind++)
			if (sscanf(line, fdinfo_key[kind], &id) == 1)
				put(&held[kind], id);
	fclose(file);
}

static void
look_at_process(const char *pid, struct set held[NKINDS])
{
	char path[600];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	if ((dir = opendir(path)) == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid,
		    entry->d_name);
		look_at(path, held);
	}
	closedir(dir);
}

static void
who_holds_what(struct set held[NKINDS])
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (proc == NULL)
		abort();
	while ((entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			look_at_process(entry->d_name, held);
	closedir(proc);
}

static int
is_ours(int kind, const char *name)
{
	static const char *const maps[] = {
		"streams", "rings", "counts", "control", "scratch", "targets",
		"wakeups", "calls", "call_ends", "groups", "buckets",
		"clocks", "nowhere", "objects", "waits", "wait_counts",
		"wait_free", "wait_slots", "seen_of", "seen_at",
		"wall", "throttled"
	};
	static const char *const programs[] = {
		"on_overflow", "on_timer", "on_tracepoint", "on_sys_enter",
		"on_sys_exit", "on_fork", "on_exec", "on_task_exit",
		"on_rename", "on_switch", "on_free", "on_call_entry",
		"on_alloc", "on_uprobe", "on_kprobe", "on_fentry", "on_fexit",
		"on_call_return", "on_call_exit", "each_call", "each_thread",
		"on_clock_switch", "on_arrival", "on_wait_switch",
		"on_wait_waking", "on_wait_wakeup", "on_wait_new", "each_wait",
		"each_wall", "scan_wall", "on_wall_fork", "on_wall_exit",
		"kernel_text", "kernel_names"
	};
	size_t i;

	for (i = 0; kind == PROGRAM && i < sizeof(programs) /
	    sizeof(programs[0]); i++)
		if (strcmp(name, programs[i]) == 0)
			return (1);
	for (i = 0; kind == MAP && i < sizeof(maps) / sizeof(maps[0]); i++)
		if (strcmp(name, maps[i]) == 0)
			return (1);
	return (kind == MAP && (strncmp(name, "prov_", 5) == 0 ||
	    strncmp(name, "split_", 6) == 0 ||
	    strncmp(name, "kernel_n.", 9) == 0));
}

/* Name of a program or map; of a link, the number of its program. */
static int
describe(int kind, uint32_t id, char *name, size_t size, uint32_t *program)
{
	struct bpf_prog_info prog = { 0 };
	struct bpf_map_info map = { 0 };
	struct bpf_link_info link = { 0 };
	void *const info[NKINDS] = { &prog, &map, &link };
	const uint32_t length[NKINDS] = { sizeof(prog), sizeof(map),
	    sizeof(link) };
	union bpf_attr attr;
	int fd, rv;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	if ((fd = bpf(fd_by_id[kind], &attr)) == -1)
		return (-1);
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = length[kind];
	attr.info.info = (uint64_t)(uintptr_t)info[kind];
	rv = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close(fd);
	snprintf(name, size, "%s", kind == PROGRAM ? prog.name : map.name);
	*program = link.prog_id;
	return (rv);
}

static int
look(int says)
{
	struct set held[NKINDS], ours = { 0 };
	union bpf_attr attr;
	char name[64];
	uint32_t program;
	int left = 0;

	memset(held, 0, sizeof(held));
	who_holds_what(held);
	for (int kind = 0; kind < NKINDS; kind++) {
		memset(&attr, 0, sizeof(attr));
		while (bpf(next_id[kind], &attr) == 0) {
			uint32_t id = attr.next_id;

			attr.start_id = id;
			if (describe(kind, id, name, sizeof(name),
			    &program) == -1)
				continue;
			if (kind == PROGRAM && is_ours(kind, name))
				put(&ours, id);
			if (has(&held[kind], id) || (kind == LINK ?
			    !has(&ours, program) : !is_ours(kind, name)))
				continue;
			left++;
			if (says)
				printf("left: %s %u %s\n", kind_name[kind],
				    id, name);
		}
	}
	for (int kind = 0; kind < NKINDS; kind++)
		free(held[kind].id);
	free(ours.id);
	return (left);
}

int
main(int argc, char **argv)
{
	const struct timespec pause = { 0, 10000000 };
	int tries = argc > 1 ? atoi(argv[1]) : 1;

	while (tries-- > 1) {
		if (look(0) == 0)
			return (0);
		nanosleep(&pause, NULL);
	}
	return (look(1) != 0);
}
