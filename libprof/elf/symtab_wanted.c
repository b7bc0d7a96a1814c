/* SPDX-License-Identifier: ISC */
/*
 * Of the symbols of a file those that decide which function lies at addresses
 * that are known beforehand, so that no others are named, copied and sorted.
 * Called by symtab_elf.c, which shows it all symbols first and then asks for
 * each of them again.
 *
 * The symbols that matter begin where one begins that
 *
 *	covers an address			and has a size
 *	is the last to begin up to an address	may be open: no other ends it
 *	is the first to begin behind one	ends it
 *
 * All symbols that begin there are taken, as which of them is shown, and how
 * far it reaches, is decided among them.  The answers for these addresses are
 * those of the whole table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "symtab_impl.h"

/* How many of an ascending array are less. */
static size_t
count_less(const uint64_t *array, size_t n, uint64_t value)
{
	const uint64_t *from = array;
	size_t half;

	while (n > 1) {
		half = n / 2;
		from = from[half - 1] < value ? from + half : from;
		n -= half;
	}
	return ((size_t)(from - array) + (n == 1 && *from < value));
}

bool
prof_symtab_wanted_init(struct symtab_wanted *wanted, const uint64_t *address,
    size_t n)
{
	memset(wanted, 0, sizeof(*wanted));
	wanted->wa_address = address;
	wanted->wa_n = n;
	wanted->wa_first = reallocarray(NULL, n + 1, sizeof(uint64_t));
	wanted->wa_last = calloc(n + 1, sizeof(uint64_t));
	if (wanted->wa_first == NULL || wanted->wa_last == NULL)
		return (false);
	memset(wanted->wa_first, 0xff, (n + 1) * sizeof(uint64_t));
	return (true);
}

void
prof_symtab_wanted_fini(struct symtab_wanted *wanted)
{
	free(wanted->wa_first);
	free(wanted->wa_last);
	free(wanted->wa_start);
}

static bool
add_start(struct symtab_wanted *wanted, uint64_t start)
{
	uint64_t *slot = prof_grow(&wanted->wa_start, &wanted->wa_nstarts,
	    &wanted->wa_space, sizeof(*slot));

	if (slot == NULL)
		return (false);
	*slot = start;
	return (true);
}

bool
prof_symtab_wanted_see(struct symtab_wanted *wanted,
    const struct symtab_item *item)
{
	const uint64_t start = item->it_address;
	const size_t n = count_less(wanted->wa_address, wanted->wa_n, start);

	if (start < wanted->wa_first[n])
		wanted->wa_first[n] = start;
	if (start > wanted->wa_last[n])
		wanted->wa_last[n] = start;
	return (n == wanted->wa_n || item->it_end <= wanted->wa_address[n] ||
	    item->it_kind == SYMTAB_OPEN || item->it_kind == SYMTAB_LABEL ||
	    add_start(wanted, start));
}

static int
addresses_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b ? -1 : *a > *b);
}

/* Each once, in order. */
static void
sort_starts(struct symtab_wanted *wanted)
{
	uint64_t *start = wanted->wa_start;
	size_t n, kept = 0;

	if (wanted->wa_nstarts == 0)
		return;
	qsort(start, wanted->wa_nstarts, sizeof(*start), addresses_compare);
	for (n = 0; n < wanted->wa_nstarts; n++)
		if (kept == 0 || start[kept - 1] != start[n])
			start[kept++] = start[n];
	wanted->wa_nstarts = kept;
}

bool
prof_symtab_wanted_seen(struct symtab_wanted *wanted)
{
	uint64_t last = 0, first = UINT64_MAX;
	size_t n;

	for (n = 0; n < wanted->wa_n; n++) {
		if (wanted->wa_last[n] > last)
			last = wanted->wa_last[n];
		if (!add_start(wanted, last))
			return (false);
	}
	for (n = wanted->wa_n; n > 0; n--) {
		if (wanted->wa_first[n] < first)
			first = wanted->wa_first[n];
		if (!add_start(wanted, first))
			return (false);
	}
	sort_starts(wanted);
	return (true);
}

bool
prof_symtab_wanted_is(const struct symtab_wanted *wanted, uint64_t start)
{
	const size_t n = count_less(wanted->wa_start, wanted->wa_nstarts,
	    start);

	return (n < wanted->wa_nstarts && wanted->wa_start[n] == start);
}

bool
prof_symtab_wanted_within(const struct symtab_wanted *wanted, uint64_t from,
    uint64_t size)
{
	const size_t n = count_less(wanted->wa_address, wanted->wa_n, from);

	return (n < wanted->wa_n && wanted->wa_address[n] - from < size);
}
