/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: where mappings are read ahead of records that wait, these records
 * still find what their processes had: of a child that was forked before, and
 * met code of its parent, addresses are noted.
 *
 * Easy to get wrong: what is older than the newest that is known is forgotten.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli-check.h"
#include "process/symbolize.h"

#define BASE	0x400000ULL
#define PARENT	100U
#define CHILD	101U
#define OTHER	102U

static void
event(struct prof_noted *noted, enum prof_record_type type, uint32_t pid,
    uint64_t time_ns, bool is_ahead)
{
	const struct prof_record record = {
		.pr_type = type, .pr_pid = pid, .pr_tid = pid,
		.pr_ppid = PARENT, .pr_ptid = PARENT, .pr_time_ns = time_ns,
		.pr_addr = BASE, .pr_len = 0x1000, .pr_comm = "",
		.pr_path = "/proc/self/exe", .pr_is_ahead = is_ahead,
	};

	CHECK(prof_noted_event(noted, &record) == 0, "no memory");
}

static void
next_round(struct prof_noted *noted)
{
	CHECK(prof_noted_round(noted) == 0, "no memory");
}

/* Is what the child meets at 300 noted?  Another's mapping is of 1000. */
static bool
is_noted(bool is_ahead)
{
	struct prof_noted *noted = prof_noted_new(PROF_PROCESSES_NOW);
	const uint64_t pc = BASE + 0x10;
	const struct prof_record sample = {
		.pr_type = PROF_R_SAMPLE, .pr_pid = CHILD, .pr_tid = CHILD,
		.pr_time_ns = 300, .pr_user = &pc, .pr_nuser = 1,
		.pr_ip = pc, .pr_comm = "", .pr_path = "",
	};
	bool is;

	CHECK(noted != NULL, "no memory");
	event(noted, PROF_R_MMAP, PARENT, 100, false);
	next_round(noted);
	event(noted, PROF_R_MMAP, OTHER, 1000, is_ahead);
	next_round(noted);
	event(noted, PROF_R_FORK, CHILD, 200, false);
	next_round(noted);
	prof_noted_sample(noted, &sample, 0, 0);
	next_round(noted);
	is = prof_noted_any(noted);
	prof_noted_free(noted);
	return (is);
}

int
main(void)
{
	CHECK(is_noted(true), "an address of a child was not noted");
	/* Nothing older comes then, so nothing has to be kept. */
	CHECK(!is_noted(false), "a fork came too late and was taken");
	OK("addresses of a child are noted behind a mapping of later");
	return (0);
}
