/*
 * ASSERTION: a binary search finds how many items stand before a place, for
 * each number of items and each place, also before the first and behind the
 * last, and looks at no item that is not there.
 *
 * Easy to get wrong: one too many or too few at either end.
 */
/* SPDX-License-Identifier: ISC */
#include "base/search.h"
#include "cli-check.h"

#define MOST	70

static int
is_before(const int *items, size_t n, size_t i, int place)
{
	CHECK(i < n, "item %zu of %zu", i, n);
	return (items[i] < place);
}

int
main(void)
{
	int items[MOST];
	size_t found, tried = 0;

	/* Two of each. */
	for (int i = 0; i < MOST; i++)
		items[i] = i / 2;
	for (size_t n = 0; n <= MOST; n++)
		for (int place = 0; place <= MOST / 2; place++, tried++) {
			size_t expected = 2 * (size_t)place;

			if (expected > n)
				expected = n;
			found = PROF_BEFORE(i, n, is_before(items, n, i,
			    place));
			CHECK(found == expected, "%zu items, %d: %zu", n,
			    place, found);
		}
	OK("%zu searches", tried);
	return (0);
}
