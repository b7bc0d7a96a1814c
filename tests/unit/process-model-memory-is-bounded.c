/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: What the model of processes keeps while recording is what lives
 * now: short processes, mappings at the same place and a JIT leave nothing
 * behind.  Of a recording it keeps as much as it may; a process beyond that
 * has no mappings, and says so.
 *
 * Easy to get wrong: a parent is kept for its children, a place for what was
 * there before, losses until there is no room to tell them apart, and of what
 * is over the limit a part that others may cover.
 */
#include "cli-check.h"
#include "process/processes.h"

#define SHELL		1u
#define PAGE		4096ULL
#define TIMES		200000u
#define MOST		4096u
#define ROUND		64u

static struct prof_processes *ps;
static uint64_t now_ns;

static void
take(enum prof_record_type type, uint32_t pid)
{
	const struct prof_record record = { .pr_type = type, .pr_pid = pid,
	    .pr_tid = pid, .pr_ppid = SHELL, .pr_group_dead = 1,
	    .pr_time_ns = now_ns += 1000 };

	CHECK(prof_processes_take(ps, &record, 0) == 0, "no memory");
}

static void
map(uint32_t pid, uint64_t page, uint32_t image)
{
	const struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_pid = pid, .pr_tid = pid, .pr_addr = page * PAGE,
	    .pr_len = PAGE, .pr_time_ns = now_ns += 1000 };

	CHECK(prof_processes_take(ps, &record, image) == 0, "no memory");
}

static uint32_t
image_at(uint32_t pid, uint64_t page)
{
	struct prof_mapping mapping;

	return (prof_processes_at(ps, pid, now_ns, page * PAGE, &mapping) ?
	    mapping.mp_image : UINT32_MAX);
}

static void
open_now(void)
{
	unsigned page;

	ps = prof_processes_new(PROF_PROCESSES_NOW, MOST);
	CHECK(ps != NULL, "no memory");
	take(PROF_R_TASK, SHELL);
	for (page = 1; page <= 300; page++)
		map(SHELL, page, page);
}

static void
close_now(const char *what)
{
	CHECK(prof_processes_over(ps) == 0, "%s: over by %llu", what,
	    (unsigned long long)prof_processes_over(ps));
	CHECK(image_at(SHELL, 7) == 7, "%s: the shell's is gone", what);
	prof_processes_free(ps);
	OK("%u %s", TIMES, what);
}

static void
short_processes(void)
{
	unsigned n, page;

	open_now();
	for (n = 0; n < TIMES; n++) {
		take(PROF_R_FORK, 2 + n);
		take(PROF_R_COMM, 2 + n);
		for (page = 1; page <= 10; page++)
			map(2 + n, page, 400);
		take(PROF_R_EXEC, 2 + n);
		CHECK(image_at(2 + n, 5) == 400, "process %u", n);
		take(PROF_R_EXIT, 2 + n);
		if (n % ROUND == 0)
			prof_processes_forget(ps, now_ns);
	}
	close_now("short processes");
}

static void
remaps(void)
{
	unsigned n;

	open_now();
	for (n = 0; n < TIMES; n++) {
		map(SHELL, 400 + n % 10, n);
		if (n % ROUND == 0)
			prof_processes_forget(ps, now_ns);
	}
	close_now("mappings at the same places");
}

/* Its parent maps on, so it has a copy of what it had then. */
static void
long_child(void)
{
	unsigned n;

	open_now();
	map(SHELL, 400, 1);
	take(PROF_R_FORK, 2);
	for (n = 0; n < TIMES; n++) {
		map(SHELL, 400, n + 2);
		if (n % ROUND == 0)
			prof_processes_forget(ps, now_ns);
	}
	CHECK(image_at(2, 400) == 1, "the child has image %u",
	    image_at(2, 400));
	CHECK(image_at(2, 7) == 7, "the child has nothing");
	close_now("mappings of a parent, and its child keeps its own");
}

static bool
is_certain(uint32_t pid, uint64_t page)
{
	struct prof_mapping mapping;

	CHECK(prof_processes_at(ps, pid, now_ns, page * PAGE, &mapping),
	    "page %llu is gone", (unsigned long long)page);
	return (mapping.mp_is_certain);
}

/* What is forgotten of losses is only how many there were. */
static void
remaps_beside_losses(void)
{
	unsigned n;

	open_now();
	for (n = 0; n < TIMES; n++) {
		map(SHELL, 400, PROF_IMAGE_ANON);
		now_ns += 1000000;
		if (n % 100 == 0)
			prof_processes_lost(ps, now_ns - 500000, now_ns);
		if (n % 4000 == 0 && n > 0)
			prof_processes_forget(ps, now_ns - 2000000000);
	}
	CHECK(!is_certain(SHELL, 7), "older than losses, and certain");
	map(SHELL, 401, 1);
	CHECK(is_certain(SHELL, 401), "younger than all losses, and unsure");
	close_now("mappings at the same place beside losses");
}

/* A recording has all of it, where a JIT says the same again and again. */
static void
jit(void)
{
	unsigned n;

	ps = prof_processes_new(PROF_PROCESSES_ALL, MOST);
	CHECK(ps != NULL, "no memory");
	for (n = 0; n < TIMES; n++) {
		map(SHELL, 400 + n % 64, PROF_IMAGE_ANON);
		now_ns += 10000000;
	}
	CHECK(prof_processes_over(ps) == 0, "over");
	prof_processes_free(ps);
	OK("%u mappings of a JIT", TIMES);
}

static void
too_many(void)
{
	unsigned n, named = 0, over = 0;
	struct prof_mapping mapping;
	uint32_t space;

	ps = prof_processes_new(PROF_PROCESSES_ALL, MOST);
	CHECK(ps != NULL, "no memory");
	for (n = 1; n <= MOST; n++) {
		map(n, 1, n);
		map(n, 2, n);
	}
	CHECK(prof_processes_seal(ps) == 0, "no memory");
	for (n = 1; n <= MOST; n++) {
		space = prof_processes_space(ps, n, now_ns);
		if (prof_processes_mapping(ps, space, PAGE, &mapping)) {
			CHECK(mapping.mp_image == n, "process %u", n);
			named++;
		} else {
			CHECK(prof_processes_is_over(ps, space),
			    "process %u has lost mappings in silence", n);
			over++;
		}
	}
	CHECK(named >= MOST / 4 && over > 0 && prof_processes_over(ps) >=
	    over, "%u named, %u over", named, over);
	prof_processes_free(ps);
	OK("%u processes are over the limit, and say so", over);
}

/* One that maps something where it has as many mappings as it may. */
static void
too_many_of_one(void)
{
	unsigned n;

	ps = prof_processes_new(PROF_PROCESSES_NOW, PROF_PROCESSES_MOST_NOW);
	CHECK(ps != NULL, "no memory");
	take(PROF_R_TASK, SHELL);
	for (n = 1; prof_processes_over(ps) == 0; n++) {
		CHECK(n < TIMES, "there is no limit");
		map(SHELL, 2 * n, n);
	}
	for (n--; n > 0; n--)
		CHECK(image_at(SHELL, 2 * n) == UINT32_MAX,
		    "mapping %u may be covered, and is still there", n);
	map(SHELL, 2, 7);
	CHECK(image_at(SHELL, 2) == 7, "what it maps then is not known");
	prof_processes_free(ps);
	OK("a process over the limit has what it maps from then on");
}

int
main(void)
{
	short_processes();
	remaps();
	remaps_beside_losses();
	long_child();
	jit();
	too_many();
	too_many_of_one();
	return (0);
}
