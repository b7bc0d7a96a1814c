/*
 * ASSERTION: an array that grows keeps its items, a new one is zeroed also
 * where another was taken off before, and an array that cannot grow stays as
 * it is, also where the number of its bytes would not fit into a size_t.
 *
 * Easy to get wrong: the pointer is lost when there is no memory, or an item
 * is counted that there is no room for.
 */
/* SPDX-License-Identifier: ISC */
#include <stdint.h>
#include <stdlib.h>

#include "base/grow.h"
#include "cli-check.h"

#define MANY	1000

/* Without room to spare (cap NULL), or with. */
static void
add_many(size_t *cap)
{
	uint64_t *items = NULL, *item;
	size_t n = 0;

	for (size_t i = 0; i < MANY; i++) {
		item = cap == NULL ? prof_append(&items, &n, sizeof(*item)) :
		    prof_grow(&items, &n, cap, sizeof(*item));
		CHECK(item == &items[i] && n == i + 1 && *item == 0, "item %zu",
		    i);
		*item = i * i + 1;
	}
	n--;
	item = cap == NULL ? prof_append(&items, &n, sizeof(*item)) :
	    prof_grow(&items, &n, cap, sizeof(*item));
	CHECK(item == &items[MANY - 1] && *item == 0, "what was there before");
	for (size_t i = 0; i < MANY - 1; i++)
		CHECK(items[i] == i * i + 1, "item %zu", i);
	free(items);
}

static void
grow_too_far(void)
{
	uint64_t *items = NULL, *was;
	size_t n = 0, cap = 0;

	CHECK(prof_grow(&items, &n, &cap, sizeof(*items)) != NULL, "one");
	*(was = items) = 7;
	CHECK(!prof_room(&items, &cap, SIZE_MAX / 4, sizeof(*items)),
	    "more than there is");
	n = cap = SIZE_MAX / 8 + 1;
	CHECK(prof_grow(&items, &n, &cap, sizeof(*items)) == NULL &&
	    n == cap && cap == SIZE_MAX / 8 + 1, "counted");
	CHECK(prof_append(&items, &n, sizeof(*items)) == NULL &&
	    n == SIZE_MAX / 8 + 1, "appended");
	CHECK(items == was && *items == 7, "the items");
	free(items);
}

int
main(void)
{
	size_t cap = 0;

	add_many(NULL);
	add_many(&cap);
	CHECK(cap >= MANY && cap < 2 * MANY, "room for %zu", cap);
	grow_too_far();
	OK("%d items one by one, with and without room to spare", MANY);
	return (0);
}
