/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Twice as many mappings at the same places take at most three
 * times as long: what one mapping costs does not grow with the past of its
 * process.
 *
 * Easy to get wrong: neighbors are looked at again and again for a chance to
 * join while their table is nearly full.
 */
#include <time.h>

#include "cli-check.h"
#include "process/processes.h"

#define PAGE		4096ULL
#define PLACES		15u	/* one less than a table has room for */
#define TIMES		60000u
#define TRIES		3

/* CPU time of so many mappings at a few places, each of another image. */
static double
remap_seconds(unsigned times)
{
	struct prof_processes *ps = prof_processes_new(PROF_PROCESSES_ALL,
	    8 * times);
	const clock_t begun = clock();
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_pid = 1,
	    .pr_tid = 1, .pr_time_ns = 1 };

	CHECK(ps != NULL && prof_processes_take(ps, &record, 0) == 0,
	    "no memory");
	record.pr_type = PROF_R_MMAP;
	record.pr_len = PAGE;
	for (unsigned n = 0; n < times; n++) {
		record.pr_addr = (2 + 2 * (n % PLACES)) * PAGE;
		record.pr_time_ns += 1000;
		CHECK(prof_processes_take(ps, &record, n) == 0, "no memory");
	}
	CHECK(prof_processes_over(ps) == 0, "over its limit");
	prof_processes_free(ps);
	return ((double)(clock() - begun) / CLOCKS_PER_SEC);
}

int
main(void)
{
	double once = 1e9, twice = 1e9, seconds;

	for (int n = 0; n < TRIES; n++) {
		seconds = remap_seconds(TIMES);
		once = seconds < once ? seconds : once;
		seconds = remap_seconds(2 * TIMES);
		twice = seconds < twice ? seconds : twice;
	}
	printf("%u mappings: %.3f s, %u: %.3f s\n", TIMES, once, 2 * TIMES,
	    twice);
	CHECK(twice <= 3 * once + 0.01, "it grows faster than their number");
	OK("time grows as the number of mappings does");
	return (0);
}
