/* SPDX-License-Identifier: ISC */
/*
 * See sort.h.  Called for symbols and for call frame information, of which a
 * large file has a hundred thousand: only their keys are moved in each round.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sort.h"

#define DIGIT_BITS	11
#define DIGITS		(1U << DIGIT_BITS)
#define FEW		64	/* below it counting digits takes longer */
#define MAX_ITEM	128	/* bytes */

/* How far behind the lowest number, and which item it is. */
struct key {
	uint32_t	 ky_off;
	uint32_t	 ky_n;
};

/* What all begin with. */
struct range {
	uint64_t	 ra_low;
	uint64_t	 ra_high;
	bool		 ra_is_sorted;
};

static uint64_t
number_of(const void *items, size_t n, size_t size)
{
	uint64_t number;

	memcpy(&number, (const char *)items + n * size, sizeof(number));
	return (number);
}

static struct range
range_of(const void *items, size_t n, size_t size)
{
	struct range range = { UINT64_MAX, 0, true };
	uint64_t number;

	for (size_t i = 0; i < n; i++) {
		number = number_of(items, i, size);
		range.ra_is_sorted = range.ra_is_sorted &&
		    number >= range.ra_high;
		if (number < range.ra_low)
			range.ra_low = number;
		if (number > range.ra_high)
			range.ra_high = number;
	}
	return (range);
}

/* By one digit; those that have the same stay in their order. */
static void
sort_by_digit(const struct key *from, struct key *to, size_t n,
    unsigned shift)
{
	uint32_t at[DIGITS] = { 0 }, before = 0, count;
	size_t i;

	for (i = 0; i < n; i++)
		at[from[i].ky_off >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = at[i];
		at[i] = before;
		before += count;
	}
	for (i = 0; i < n; i++)
		to[at[from[i].ky_off >> shift & (DIGITS - 1)]++] = from[i];
}

/* Keys in two arrays of n, by turns; where they are in the end. */
static struct key *
sort_keys(struct key *key, struct key *to, size_t n, uint64_t span)
{
	struct key *swap;

	for (unsigned shift = 0; shift < 32 && span >> shift != 0;
	    shift += DIGIT_BITS) {
		sort_by_digit(key, to, n, shift);
		swap = key;
		key = to;
		to = swap;
	}
	return (key);
}

/*
 * Each item to its place, where key[i] says which one belongs to i: along the
 * circles that these make, as a second array of large items costs more.
 */
static void
items_move(char *items, size_t n, size_t size, struct key *key)
{
	char first[MAX_ITEM];
	size_t i, to, from;

	for (i = 0; i < n; i++) {
		if (key[i].ky_n == i)
			continue;
		memcpy(first, items + i * size, size);
		for (to = i; (from = key[to].ky_n) != i; to = from) {
			memcpy(items + to * size, items + from * size, size);
			key[to].ky_n = (uint32_t)to;
		}
		memcpy(items + to * size, first, size);
		key[to].ky_n = (uint32_t)to;
	}
}

bool
prof_sort_items(void *items, size_t n, size_t size)
{
	const struct range range = range_of(items, n, size);
	struct key *keys, *key;

	if (range.ra_is_sorted)
		return (true);
	if (n < FEW || n > UINT32_MAX || size > MAX_ITEM ||
	    range.ra_high - range.ra_low > UINT32_MAX)
		return (false);
	keys = reallocarray(NULL, n, 2 * sizeof(*keys));
	if (keys == NULL)
		return (false);
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){ (uint32_t)(number_of(items, i,
		    size) - range.ra_low), (uint32_t)i };
	key = sort_keys(keys, keys + n, n, range.ra_high - range.ra_low);
	items_move(items, n, size, key);
	free(keys);
	return (true);
}
