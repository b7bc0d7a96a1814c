/*
 * ASSERTION: A counting session that is started, stopped, read and armed
 * again in any order counts exactly what happens while it is on, nothing
 * while it is off, and never goes back.
 *
 * Easy to get wrong: counting on between stop and start, beginning anew after
 * a stop, and what a misplaced call does.  The steps come from a seed.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "prof.h"

#define STEPS		1000
#define MAX_PAGES	16

#define CHECK(what) do {						\
	if (!(what)) {							\
		printf("FAIL: line %d, step %d: %s\n", __LINE__, step,	\
		    #what);						\
		exit(1);						\
	}								\
} while (0)

static int step;
static long page;

/* So many page faults, and no other; a system call each besides. */
static void
work(size_t pages)
{
	char *memory = mmap(NULL, MAX_PAGES * (size_t)page,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	madvise(memory, MAX_PAGES * (size_t)page, MADV_NOHUGEPAGE);
	for (size_t n = 0; n < pages; n++)
		((volatile char *)memory)[n * (size_t)page] = 1;
	munmap(memory, MAX_PAGES * (size_t)page);
}

static struct prof_counting *
open_on_us(void)
{
	const int tid = (int)syscall(SYS_gettid);
	const struct prof_counting_options options = {
		.co_size = sizeof(options), .co_target = PROF_TARGET_TIDS,
		.co_ids = &tid, .co_nids = 1,
	};
	struct prof_counting *counting;
	struct prof_err error = { 0 };

	counting = prof_counting_open(&options, &error);
	CHECK(counting != NULL);
	if (prof_counting_add(counting, "{page-faults:u,task-clock:u}") ==
	    -1) {
		printf("SKIP: %s\n", prof_counting_error(counting)->pe_text);
		exit(77);
	}
	return (counting);
}

static void
misuse(struct prof_counting *counting)
{
	CHECK(prof_counting_start(counting) == -1);
	CHECK(prof_counting_stop(counting) == -1);
	CHECK(prof_counting_read(counting) == -1);
	CHECK(prof_counting_wait(counting, 0) == -1);
	CHECK(prof_counting_error(counting)->pe_code == PROF_E_BUSY);
	CHECK(prof_counting_arm(counting) == 0);
	CHECK(prof_counting_add(counting, "page-faults") == -1);
	CHECK(prof_counting_arm(counting) == -1);
	CHECK(prof_counting_stop(counting) == -1);
	printf("ok: calls that do not fit are refused\n");
}

/* What a step does must not fault by itself: once before, for all of it. */
static uint64_t
faults(struct prof_counting *counting)
{
	struct prof_counted value;

	CHECK(prof_counting_read(counting) == 0);
	prof_counting_value(counting, 0, &value);
	CHECK(value.cd_is_known && value.cd_estimate == value.cd_count);
	CHECK(value.cd_enabled_ns == value.cd_running_ns);
	return (value.cd_count);
}

static void
random_steps(struct prof_counting *counting, unsigned *seed)
{
	uint64_t expected = 0, now, last = 0, counted = 0, rounds = 0;
	struct prof_counted clock = { 0 };
	bool on = false;
	uint64_t last_clock = 0;

	for (step = 0; step < STEPS; step++) {
		const size_t pages = (size_t)rand_r(seed) % MAX_PAGES;

		switch (rand_r(seed) % 5) {
		case 0:
			CHECK(prof_counting_start(counting) == 0);
			on = true;
			break;
		case 1:
			if (on)
				CHECK(prof_counting_stop(counting) == 0);
			on = false;
			break;
		default:
			work(pages);
			expected += on ? pages : 0;
			counted += on;
			break;
		}
		now = faults(counting);
		CHECK(now >= last);
		if (now != expected) {
			printf("FAIL: step %d: %llu faults, not %llu\n", step,
			    (unsigned long long)now,
			    (unsigned long long)expected);
			exit(1);
		}
		prof_counting_value(counting, 1, &clock);
		CHECK(clock.cd_count >= last_clock);
		last_clock = clock.cd_count;
		last = now;
		/* Now and then from the beginning. */
		if (step % 250 != 249)
			continue;
		if (prof_counting_stop(counting) == -1)
			CHECK(prof_counting_start(counting) == 0 &&
			    prof_counting_stop(counting) == 0);
		CHECK(prof_counting_arm(counting) == 0);
		on = false;
		expected = last = last_clock = 0;
		rounds++;
		CHECK(faults(counting) == 0);
	}
	CHECK(counted > STEPS / 10 && rounds == STEPS / 250);
}

int
main(void)
{
	unsigned seed = (unsigned)time(NULL);
	const char *given = getenv("SEED");
	struct prof_counting *counting;

	if (given != NULL)
		seed = (unsigned)strtoul(given, NULL, 10);
	printf("SEED=%u\n", seed);
	page = sysconf(_SC_PAGESIZE);
	counting = open_on_us();
	misuse(counting);
	/* Everything that is used below has been used before. */
	CHECK(prof_counting_start(counting) == 0);
	work(MAX_PAGES);
	(void)faults(counting);
	CHECK(prof_counting_stop(counting) == 0);
	CHECK(prof_counting_arm(counting) == 0);
	random_steps(counting, &seed);
	prof_counting_close(counting);
	printf("ok: %d steps, each counted exactly\n", STEPS);
	return (0);
}
