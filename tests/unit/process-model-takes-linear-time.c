/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Twice as many mappings take at most three times as long, at the
 * same places and below all older ones: what one mapping costs does not grow
 * with the past of its process.
 *
 * Easy to get wrong: neighbors are looked at again and again for a chance to
 * join while their table is nearly full.  A new mapping moves all those above
 * it.
 */
#include <time.h>

#include "cli-check.h"
#include "process/processes.h"

#define PAGE		4096ULL
#define PLACES		15u	/* one less than a table has room for */
#define TIMES		60000u
#define AREA		500u	/* places of an area */
#define NEW		15000u
#define TRIES		3

/* At a few places, each of another image. */
static uint64_t
place_again(unsigned n)
{
	return (2 + 2 * (n % PLACES));
}

/* Areas that fill upward, each below the one before. */
static uint64_t
place_below(unsigned n)
{
	return (2 * (1000000 - n / AREA * AREA + n % AREA));
}

/* CPU time of so many mappings. */
static double
map_seconds(uint64_t (*place)(unsigned), unsigned times)
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
		record.pr_addr = place(n) * PAGE;
		record.pr_time_ns += 1000;
		CHECK(prof_processes_take(ps, &record, n) == 0, "no memory");
	}
	CHECK(prof_processes_over(ps) == 0, "over its limit");
	prof_processes_free(ps);
	return ((double)(clock() - begun) / CLOCKS_PER_SEC);
}

static void
check_linear(const char *where, uint64_t (*place)(unsigned), unsigned times)
{
	double once = 1e9, twice = 1e9, seconds;

	for (int n = 0; n < TRIES; n++) {
		seconds = map_seconds(place, times);
		once = seconds < once ? seconds : once;
		seconds = map_seconds(place, 2 * times);
		twice = seconds < twice ? seconds : twice;
	}
	printf("%u mappings %s: %.3f s, %u: %.3f s\n", times, where, once,
	    2 * times, twice);
	CHECK(twice <= 3 * once + 0.01, "it grows faster than their number");
}

int
main(void)
{
	check_linear("at the same places", place_again, TIMES);
	check_linear("below all others", place_below, NEW);
	OK("time grows as the number of mappings does");
	return (0);
}
