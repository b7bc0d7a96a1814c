/*
 * ASSERTION: A program that has mapped hundreds of files, and starts tens of
 * thousands of others, leaves each of these its mappings.
 *
 * Easy to get wrong: a child has what its parent had up to its exec, and room
 * for all that, kept where a few remain, soon is all the room there is.
 */
/* SPDX-License-Identifier: ISC */
#include "cli-check.h"
#include "process/processes.h"

#define FILES		300	/* of the parent */
#define CHILDREN	20000
#define PARENT		1
#define PAGE		4096ULL

static void
take(struct prof_processes *ps, uint64_t time_ns, uint16_t type,
    uint32_t pid)
{
	struct prof_record record = { .pr_type = type, .pr_time_ns = time_ns,
	    .pr_pid = pid, .pr_tid = pid, .pr_ppid = PARENT };

	CHECK(prof_processes_take(ps, &record, 0) == 0, "%u", pid);
}

static void
map(struct prof_processes *ps, uint64_t time_ns, uint32_t pid,
    uint64_t addr, uint32_t image)
{
	struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_time_ns = time_ns, .pr_pid = pid, .pr_tid = pid,
	    .pr_addr = addr, .pr_len = PAGE };

	CHECK(prof_processes_take(ps, &record, image) == 0, "%u", pid);
}

/* What a process has at an address; 0: nothing. */
static uint32_t
image_at(const struct prof_processes *ps, uint32_t pid, uint64_t time_ns,
    uint64_t addr)
{
	struct prof_mapping mapping;

	return (prof_processes_at(ps, pid, time_ns, addr, &mapping) ?
	    mapping.mp_image : 0);
}

int
main(void)
{
	struct prof_processes *ps = prof_processes_new(
	    PROF_PROCESSES_ALL, prof_processes_most(0));
	uint64_t now = 1;
	uint32_t n, pid;

	CHECK(ps != NULL, "prof_processes_new");
	take(ps, now, PROF_R_TASK, PARENT);
	for (n = 1; n <= FILES; n++)
		map(ps, ++now, PARENT, n * 2 * PAGE, n);
	for (n = 1; n <= CHILDREN; n++, now += 10) {
		pid = PARENT + n;
		take(ps, now + 1, PROF_R_FORK, pid);
		take(ps, now + 2, PROF_R_COMM, pid);
		map(ps, now + 3, pid, PAGE, FILES + 1);
		map(ps, now + 4, pid, 2 * PAGE, FILES + 2);
		take(ps, now + 5, PROF_R_EXEC, pid);
		CHECK(image_at(ps, pid, now + 2, 4 * PAGE) == 2,
		    "child %u has not what its parent had", n);
		CHECK(image_at(ps, pid, now + 6, PAGE) == FILES + 1 &&
		    image_at(ps, pid, now + 6, 2 * PAGE) == FILES + 2,
		    "child %u has not what it mapped", n);
		CHECK(image_at(ps, pid, now + 6, 4 * PAGE) == 0,
		    "child %u has what its parent had", n);
	}
	prof_processes_free(ps);
	OK("%d children of a parent with %d files", CHILDREN, FILES);
	return (0);
}
