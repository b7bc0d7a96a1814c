/*
 * ASSERTION: A counter is read from the page that the kernel keeps of it,
 * exactly or not at all: offset and counter make the count for counters of any
 * width, also of a counter that began below 0 and one that has wrapped; a page
 * that changes meanwhile is read again; and without a counter, without
 * permission, or where a counter was shared, nothing is returned.
 *
 * Easy to get wrong: a counter of 32 or 48 bits is a negative number until it
 * overflows, and between two loads the kernel may move all of it.  The pages
 * are made here, from a seed, and the truth is known.
 */
/* SPDX-License-Identifier: ISC */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "count/direct.h"

#define PAGES	100000

#define CHECK(what) do {						\
	if (!(what)) {							\
		printf("FAIL: line %d, seed %u, page %d: %s\n",		\
		    __LINE__, first_seed, n, #what);			\
		exit(1);						\
	}								\
} while (0)

static struct perf_event_mmap_page page;
static unsigned first_seed, seed;
static int n;
/* What happens while the counter is read: so many more changes. */
static int changes;
static uint64_t truth, hardware[2];
static uint32_t number;
static unsigned width;

static uint64_t
draw(void)
{
	return ((uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^
	    (uint64_t)rand_r(&seed));
}

static uint64_t
masked(uint64_t value)
{
	return (width == 64 ? value : value & ((1ULL << width) - 1));
}

/* As the kernel begins a period: the counter is at -left, the rest offset. */
static void
page_forge(void)
{
	const uint64_t left = draw() >> (65 - width) | 1;

	truth = draw() >> 1;
	number = (uint32_t)(draw() % 2);
	hardware[number] = masked(-left);
	hardware[!number] = draw();
	page.lock += 2;
	page.index = number + 1;
	page.offset = (int64_t)(truth + left);
	page.pmc_width = (uint16_t)width;
}

static uint64_t
pmc_read(uint32_t which)
{
	const uint64_t value = hardware[which];

	/* The interrupt: another counter, another period. */
	if (changes > 0) {
		changes--;
		page_forge();
	}
	return (value);
}

static bool
value_is_true(void)
{
	uint64_t count = ~truth;

	return (prof_direct_read(&page, pmc_read, &count) && count == truth);
}

static bool
has_value(void)
{
	uint64_t count;

	return (prof_direct_read(&page, pmc_read, &count));
}

static void
check_refusals(void)
{
	page.index = 0;
	CHECK(!has_value());
	page.index = number + 1;
	page.cap_user_rdpmc = 0;
	CHECK(!has_value());
	page.cap_user_rdpmc = 1;
	page.time_enabled++;
	CHECK(!has_value());
	page.time_enabled--;
	page.pmc_width = 0;
	CHECK(!has_value());
	page.pmc_width = 65;
	CHECK(!has_value());
	page.pmc_width = (uint16_t)width;
	/* A page that never rests is the kernel's to read. */
	changes = 1000000;
	CHECK(!has_value());
	CHECK(changes > 0);
	changes = 0;
	CHECK(value_is_true());
}

int
main(int argc, char **argv)
{
	static const unsigned widths[] = { 32, 40, 48, 63, 64 };
	uint64_t more;

	first_seed = seed = argc > 1 ? (unsigned)atoi(argv[1]) :
	    (unsigned)time(NULL);
	page.cap_user_rdpmc = 1;
	for (n = 0; n < PAGES; n++) {
		width = widths[draw() % (sizeof(widths) / sizeof(*widths))];
		page.time_enabled = page.time_running = draw();
		page_forge();
		CHECK(value_is_true());
		/* It counts on, beyond 0, but not to where it would be < 0. */
		more = draw() >> (66 - width);
		hardware[number] = masked(hardware[number] + more);
		truth += more;
		CHECK(value_is_true());
		changes = (int)(draw() % 5);
		CHECK(value_is_true());
		CHECK(changes == 0);
		if (n % 1000 == 0)
			check_refusals();
	}
	printf("ok: %d pages, seed %u\n", n, first_seed);
	return (0);
}
