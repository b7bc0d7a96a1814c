/*
 * ASSERTION: For one and the same program, the side band has the mappings
 * that perf record has: addresses, lengths, offsets, names and build-ids, and
 * it knows exec and exit, as an ordinary user too.
 *
 * The program is started twice without address randomisation, once under
 * perf and once under us.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/personality.h>

#include "rings.h"

#define MAX_MAPS	32
#define PROGRAM		"/bin/ls"

struct maps {
	int	mp_n;
	char	mp_line[MAX_MAPS][400];
	int	mp_nexec;
	int	mp_nexit;
	int	mp_nfork;
};

static void
start_program(size_t again)
{
	/* The warm-up of child_new. */
	if (again == 0)
		return;
	personality(ADDR_NO_RANDOMIZE);
	if (freopen("/dev/null", "w", stdout) == NULL)
		_exit(96);
	execl(PROGRAM, PROGRAM, "/", (char *)NULL);
	_exit(127);
}

static void
add(struct maps *maps, uint64_t addr, uint64_t len, uint64_t offset,
    const char *path, const char *id)
{
	CHECK(maps->mp_n < MAX_MAPS, "too many mappings");
	snprintf(maps->mp_line[maps->mp_n++], sizeof(maps->mp_line[0]),
	    "%llx %llx %llx %s %s", (unsigned long long)addr,
	    (unsigned long long)len, (unsigned long long)offset, path, id);
}

static int
keep(void *arg, const struct prof_record *record)
{
	struct maps *maps = arg;
	char id[48] = "";
	uint32_t n;

	maps->mp_nexit += record->pr_type == PROF_R_EXIT;
	maps->mp_nfork += record->pr_type == PROF_R_FORK;
	if (record->pr_type == PROF_R_EXEC) {
		CHECK(strcmp(record->pr_comm, "ls") == 0, "exec of '%s'",
		    record->pr_comm);
		maps->mp_nexec++;
	}
	if (record->pr_type != PROF_R_MMAP)
		return (0);
	CHECK(maps->mp_nexec == 1, "a mapping before its exec");
	for (n = 0; n < record->pr_build_id_len; n++)
		sprintf(id + 2 * n, "%02x", record->pr_build_id[n]);
	/* perf leaves the vdso without one; we know our own. */
	if (strcmp(record->pr_path, "[vdso]") == 0)
		id[0] = '\0';
	add(maps, record->pr_addr, record->pr_len, record->pr_offset,
	    record->pr_path, id);
	return (0);
}

static void
by_us(struct maps *maps)
{
	struct prof_rings_options options;
	struct prof_event event = page_faults(1), *events[] = { &event };
	struct prof_rings *rings;
	struct child child;

	child = child_new(start_program, 1);
	rings_online(&options);
	options.ro_pids = &child.ch_pid;
	options.ro_npids = 1;
	options.ro_inherit = true;
	options.ro_enable_on_exec = true;
	options.ro_samples = true;
	options.ro_events = events;
	options.ro_nevents = 1;
	rings = rings_open(&options);
	child_go(&child);
	child_end(&child);
	CHECK(prof_rings_disable(rings) == 0, "%s", strerror(errno));
	rings_drain(rings, UINT64_MAX, keep, maps);
	CHECK(prof_rings_lost(rings) == 0 &&
	    prof_rings_side_lost(rings, true) == 0, "lost");
	prof_rings_close(rings);
	free((int *)(uintptr_t)options.ro_cpus);
	CHECK(maps->mp_nexec == 1 && maps->mp_nexit == 1 &&
	    maps->mp_nfork == 0, "%d exec, %d exit, %d fork", maps->mp_nexec,
	    maps->mp_nexit, maps->mp_nfork);
}

/*
 * perf script --show-mmap-events:
 * ... PERF_RECORD_MMAP2 1/1: [0x1(0x2) @ 0x3 <build-id>]: r-xp /bin/ls
 */
static void
by_perf(struct maps *maps, const char *file)
{
	unsigned long long addr, len, offset;
	char line[1024], id[64], path[256], *at;
	FILE *output;

	snprintf(line, sizeof(line), "perf script -i %s --show-mmap-events "
	    "2>/dev/null", file);
	output = popen(line, "r");
	CHECK(output != NULL, "%s", strerror(errno));
	while (fgets(line, sizeof(line), output) != NULL) {
		at = strstr(line, "PERF_RECORD_MMAP2 ");
		if (at == NULL || strncmp(at + 18, "-1/", 3) == 0 ||
		    (at = strchr(at, '[')) == NULL)
			continue;
		if (sscanf(at, "[0x%llx(0x%llx) @ %lli <%63[0-9a-f]>]: %*s "
		    "%255[^\n]", &addr, &len, &offset, id, path) == 5)
			add(maps, addr, len, offset, path, id);
		else if (sscanf(at, "[0x%llx(0x%llx) @ %lli %*[^]]]: %*s "
		    "%255[^\n]", &addr, &len, &offset, path) == 4)
			add(maps, addr, len, offset, path, "");
	}
	pclose(output);
}

int
main(void)
{
	struct maps *ours = calloc(1, sizeof(*ours));
	struct maps *theirs = calloc(1, sizeof(*theirs));
	char command[300], file[] = "/tmp/dtprof-perf.XXXXXX";
	int fd, n, other;

	CHECK(ours != NULL && theirs != NULL, "no memory");
	become_ordinary();
	by_us(ours);
	CHECK(ours->mp_n >= 4, "%d mappings", ours->mp_n);
	printf("ok: %d mappings, one exec, one exit\n", ours->mp_n);
	fd = mkstemp(file);
	CHECK(fd != -1, "%s", strerror(errno));
	close(fd);
	snprintf(command, sizeof(command), "perf record -q --buildid-mmap "
	    "-e dummy:u -o %s setarch -R %s / >/dev/null 2>&1", file,
	    PROGRAM);
	n = system(command);
	by_perf(theirs, file);
	unlink(file);
	if (n != 0 || theirs->mp_n == 0)
		skip("perf record is not installed, or knows no build-ids");
	/* setarch has its own mappings first: ours must be the last ones. */
	other = theirs->mp_n - ours->mp_n;
	CHECK(other >= 0, "perf has %d, we have %d", theirs->mp_n,
	    ours->mp_n);
	for (n = 0; n < ours->mp_n; n++)
		CHECK(strcmp(ours->mp_line[n], theirs->mp_line[other + n]) ==
		    0, "\nours   %s\nperf's %s", ours->mp_line[n],
		    theirs->mp_line[other + n]);
	printf("ok: all as perf has them\n");
	free(ours);
	free(theirs);
	return (0);
}
