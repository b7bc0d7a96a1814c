/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: items are sorted by the number that they begin with, as qsort
 * sorts them by number and by place; what cannot be sorted stays as it is.
 *
 * Easy to get wrong: equal numbers change places, and a range of one digit
 * more than there are rounds.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "recording-lib.h"

#define MOST	5000

struct item {
	uint64_t	it_number;
	uint32_t	it_place;
	uint8_t		it_rest[12];
};

static int
by_number(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->it_number != b->it_number)
		return (a->it_number < b->it_number ? -1 : 1);
	return (a->it_place < b->it_place ? -1 : a->it_place > b->it_place);
}

static unsigned
check(size_t n, uint64_t low, uint64_t span)
{
	static struct item items[MOST], sorted[MOST];
	bool is_sorted;

	memset(items, 0, sizeof(items));
	for (size_t i = 0; i < n; i++) {
		items[i].it_number = low + (((uint64_t)below(UINT32_MAX) <<
		    32 | below(UINT32_MAX)) % span);
		items[i].it_place = (uint32_t)i;
		items[i].it_rest[11] = (uint8_t)i;
	}
	memcpy(sorted, items, sizeof(sorted));
	is_sorted = prof_sort_items(items, n, sizeof(*items));
	if (is_sorted)
		qsort(sorted, n, sizeof(*sorted), by_number);
	CHECK(memcmp(items, sorted, sizeof(items)) == 0);
	return (is_sorted);
}

int
main(void)
{
	unsigned done = 0;

	random_state = 4;
	CHECK(prof_sort_items(NULL, 0, sizeof(struct item)));
	for (unsigned bits = 1; bits < 33; bits++)
		for (size_t n = 1; n < MOST; n = n * 3 + 1)
			done += check(n, (uint64_t)below(1000) << 40,
			    (uint64_t)1 << bits);
	CHECK(done > 32 * 4);
	CHECK(check(MOST, 5, (uint64_t)1 << 33) == 0);
	printf("ok: %u arrays as qsort has them\n", done);
	return (0);
}
