/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the distance of two names counts insertions, deletions,
 * substitutions and swaps of neighbours, whatever their case, and is the same
 * from both sides; names longer than the table do not overrun it.
 *
 * Easy to get wrong: the row before last, which swaps need, and the cut.
 */
#include "base/glob.h"
#include "names.h"

/* By plain recursion over the ends of both. */
static unsigned
reference(const char *a, size_t i, const char *b, size_t j)
{
	unsigned best, other;

	if (i == 0 || j == 0)
		return ((unsigned)(i + j));
	best = reference(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]);
	if ((other = reference(a, i - 1, b, j) + 1) < best)
		best = other;
	if ((other = reference(a, i, b, j - 1) + 1) < best)
		best = other;
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
	    (other = reference(a, i - 2, b, j - 2) + 1) < best)
		best = other;
	return (best);
}

int
main(void)
{
	uint64_t state = 7;
	char longer[300];

	CHECK(prof_name_distance("cycles", "cycels") == 1, "a swap");
	CHECK(prof_name_distance("cycles", "cycle") == 1, "a deletion");
	CHECK(prof_name_distance("cycles", "CYCLES") == 0, "case");
	CHECK(prof_name_distance("", "abc") == 3, "nothing");
	CHECK(prof_name_distance("page-fault", "page-faults") == 1, "more");
	for (int round = 0; round < 20000; round++) {
		char a[7], b[7];
		uint32_t alen = random_below(&state, sizeof(a));
		uint32_t blen = random_below(&state, sizeof(b));

		for (uint32_t n = 0; n < alen; n++)
			a[n] = "abc"[random_below(&state, 3)];
		for (uint32_t n = 0; n < blen; n++)
			b[n] = "abc"[random_below(&state, 3)];
		a[alen] = b[blen] = '\0';
		CHECK(prof_name_distance(a, b) ==
		    reference(a, alen, b, blen), "\"%s\" \"%s\"", a, b);
		CHECK(prof_name_distance(a, b) == prof_name_distance(b, a),
		    "\"%s\" \"%s\" from both sides", a, b);
	}
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK(prof_name_distance(longer, longer) == 0, "long");
	CHECK(prof_name_distance(longer, "") > 30, "long and empty");
	return (passed());
}
