/*
 * ASSERTION: A program that has mapped hundreds of files, and starts tens of
 * thousands of others, leaves each of these its mappings.
 *
 * Easy to get wrong: a child has what its parent had up to its exec, and room
 * for all that, kept where a few remain, soon is all the room there is.
 */
/* SPDX-License-Identifier: ISC */
#include "cli-check.h"
#include "process/lives.h"

#define FILES		300	/* of the parent */
#define CHILDREN	20000
#define PARENT		1
#define PAGE		4096ULL

static void
take(struct prof_lives *lives, uint64_t time_ns, uint16_t type, uint32_t pid)
{
	struct prof_record record = { .pr_type = type, .pr_time_ns = time_ns,
	    .pr_pid = pid, .pr_tid = pid, .pr_ppid = PARENT };

	CHECK(prof_lives_take(lives, &record, 0) == 0, "%u", pid);
}

static void
map(struct prof_lives *lives, uint64_t time_ns, uint32_t pid, uint64_t addr,
    uint32_t image)
{
	struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_time_ns = time_ns, .pr_pid = pid, .pr_tid = pid,
	    .pr_addr = addr, .pr_len = PAGE };

	CHECK(prof_lives_take(lives, &record, image) == 0, "%u", pid);
}

/* What a process has at an address; 0: nothing. */
static uint32_t
image_at(const struct prof_lives *lives, uint32_t pid, uint64_t time_ns,
    uint64_t addr)
{
	const struct prof_mapping *mapping = prof_lives_mapping(lives,
	    prof_lives_space(lives, pid, time_ns), addr);

	return (mapping == NULL ? 0 : mapping->mp_image);
}

int
main(void)
{
	struct prof_lives *lives = prof_lives_new(PROF_LIVES_ALL,
	    prof_lives_most(0));
	uint64_t now = 1;
	uint32_t n, pid;

	CHECK(lives != NULL, "prof_lives_new");
	take(lives, now, PROF_R_TASK, PARENT);
	for (n = 1; n <= FILES; n++)
		map(lives, ++now, PARENT, n * 2 * PAGE, n);
	for (n = 1; n <= CHILDREN; n++, now += 10) {
		pid = PARENT + n;
		take(lives, now + 1, PROF_R_FORK, pid);
		take(lives, now + 2, PROF_R_COMM, pid);
		map(lives, now + 3, pid, PAGE, FILES + 1);
		map(lives, now + 4, pid, 2 * PAGE, FILES + 2);
		take(lives, now + 5, PROF_R_EXEC, pid);
		CHECK(image_at(lives, pid, now + 2, 4 * PAGE) == 2,
		    "child %u has not what its parent had", n);
		CHECK(image_at(lives, pid, now + 6, PAGE) == FILES + 1 &&
		    image_at(lives, pid, now + 6, 2 * PAGE) == FILES + 2,
		    "child %u has not what it mapped", n);
		CHECK(image_at(lives, pid, now + 6, 4 * PAGE) == 0,
		    "child %u has what its parent had", n);
	}
	prof_lives_free(lives);
	OK("%d children of a parent with %d files", CHILDREN, FILES);
	return (0);
}
