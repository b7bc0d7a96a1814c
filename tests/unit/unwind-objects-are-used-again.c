/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: However many files were mapped, those that are new can be walked
 * in user space: files that nobody maps give up their numbers, which are
 * limited, and those that are mapped keep theirs.
 *
 * Easy to get wrong: a long recording reaches the limit, and then the stacks
 * of new programs end at once, without a word.
 */
#include <time.h>

#include "process/processes.h"
#include "../../libprof/stacks/snapshots.c"
#include "cli-check.h"

#define FILES	20000u
#define STEP	8192ULL
#define KEPT	10u

static void
observe(struct prof_snapshots *st, enum prof_record_type type, uint32_t pid,
    uint64_t addr, uint32_t file)
{
	char path[64];
	struct prof_record record = { .pr_type = type, .pr_pid = pid,
	    .pr_tid = pid, .pr_addr = addr, .pr_len = STEP,
	    .pr_path = path, .pr_ino = file + 1, .pr_comm = "",
	    .pr_build_id_len = 20 };

	snprintf(path, sizeof(path), "/nowhere/file%u", file);
	memcpy(record.pr_build_id, &file, sizeof(file));
	CHECK(prof_snapshots_observe(st, &record) == 0, "no memory");
}

static bool
has(const struct prof_snapshots *st, uint32_t pid, uint64_t addr,
    uint32_t file)
{
	struct prof_mapped mapped;
	struct prof_space space;
	char path[64];

	snprintf(path, sizeof(path), "/nowhere/file%u", file);
	return (prof_spaces_find(st->st_spaces, pid, 0, &space) &&
	    prof_space_at(&space, addr, &mapped) &&
	    mapped.mp_object != NULL &&
	    strcmp(mapped.mp_object->ob_path, path) == 0);
}

int
main(void)
{
	const struct timespec pause = { 0, 300000000 };
	struct prof_snapshots *st = prof_snapshots_new(
	    PROF_PROCESSES_ALL, false);
	uint32_t n;

	CHECK(st != NULL, "no memory");
	observe(st, PROF_R_TASK, 1, 0, 0);
	observe(st, PROF_R_TASK, 2, 0, 0);
	for (n = 0; n < KEPT; n++)
		observe(st, PROF_R_MMAP, 1, (n + 1) * STEP, n);
	for (n = KEPT; n < FILES; n++) {
		if (n > 11000 && n % 2000 == 0)
			nanosleep(&pause, NULL);
		observe(st, PROF_R_MMAP, 2, STEP, n);
		CHECK(has(st, 2, STEP, n), "file %u has no object", n);
	}
	for (n = 0; n < KEPT; n++)
		CHECK(has(st, 1, (n + 1) * STEP, n), "mapping %u", n);
	OK("the last of %u files can be looked into, and those before that "
	    "are mapped", FILES);
	prof_snapshots_free(st);
	return (0);
}
