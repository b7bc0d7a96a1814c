/* SPDX-License-Identifier: ISC */
/*
 * Matching of names: globs as in a probe's parts and `dtprof list`, and the
 * distance between two names, for "did you mean".  Called by the providers,
 * the catalog and names.c.  The work is bounded whatever the pattern: no
 * recursion, each byte of the text meets each element of the pattern at most
 * once, and a pattern with more than PROF_GLOB_STARS stars matches
 * nothing.
 */
#include <ctype.h>
#include <string.h>

#include "glob.h"
#include "prof.h"

#define DISTANCE_MAX	64	/* longer names are cut for the distance */

static const char *glob_set(const char *glob, unsigned char byte, bool *in);

/*
 * Greedy with one mark: on a mismatch go back to the last star and let it
 * take one more byte.  An earlier star need never be tried again, since the
 * last one can take whatever the earlier one could have taken.
 */
bool
prof_glob_match(const char *glob, const char *text)
{
	const char *star = NULL, *mark = NULL, *next;
	bool in;

	if (prof_glob_stars(glob) > PROF_GLOB_STARS)
		return (false);
	while (*text != '\0') {
		if (*glob == '*') {
			star = ++glob;
			mark = text;
			continue;
		}
		next = glob_set(glob, (unsigned char)*text, &in);
		if (next != NULL && in) {
			glob = next;
			text++;
		} else if (star != NULL) {
			glob = star;
			text = ++mark;
		} else
			return (false);
	}
	while (*glob == '*')
		glob++;
	return (*glob == '\0');
}

/* One element that is not a star: where it ends, and whether byte is in. */
static const char *
glob_set(const char *glob, unsigned char byte, bool *in)
{
	const char *end;
	bool invert, found = false;

	if (*glob == '\0')
		return (NULL);
	if (*glob == '?') {
		*in = true;
		return (glob + 1);
	}
	/* "[]" and an unclosed "[" stand for themselves. */
	if (*glob != '[' || (end = strchr(glob + 1, ']')) == NULL ||
	    end == glob + 1) {
		*in = (unsigned char)*glob == byte;
		return (glob + 1);
	}
	glob++;
	invert = *glob == '!' || *glob == '^';
	if (invert && glob + 1 < end)
		glob++;
	else
		invert = false;
	for (; glob < end; glob++) {
		unsigned char low = (unsigned char)*glob, high = low;

		if (glob[1] == '-' && glob + 2 < end) {
			high = (unsigned char)glob[2];
			glob += 2;
		}
		found |= low <= byte && byte <= high;
	}
	*in = found != invert;
	return (end + 1);
}

unsigned
prof_glob_stars(const char *glob)
{
	unsigned n = 0;

	for (; *glob != '\0'; glob++)
		n += *glob == '*' && glob[1] != '*';
	return (n);
}

bool
prof_glob_is(const char *text)
{
	return (strpbrk(text, "*?[") != NULL);
}

/*
 * Insertions, deletions, substitutions, and swaps of neighbours ("cycels");
 * case does not count.
 */
unsigned
prof_name_distance(const char *a, const char *b)
{
	unsigned row[3][DISTANCE_MAX + 1];
	size_t alen = strnlen(a, DISTANCE_MAX), blen = strnlen(b, DISTANCE_MAX);
	unsigned *before = row[0], *above = row[1], *here = row[2], *swap;

	for (size_t j = 0; j <= blen; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= alen; i++) {
		int ai = tolower((unsigned char)a[i - 1]);

		here[0] = (unsigned)i;
		for (size_t j = 1; j <= blen; j++) {
			int bj = tolower((unsigned char)b[j - 1]);
			unsigned best = above[j - 1] + (ai != bj);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (here[j - 1] + 1 < best)
				best = here[j - 1] + 1;
			if (i > 1 && j > 1 && before[j - 2] + 1 < best &&
			    ai == tolower((unsigned char)b[j - 2]) &&
			    bj == tolower((unsigned char)a[i - 2]))
				best = before[j - 2] + 1;
			here[j] = best;
		}
		swap = before;
		before = above;
		above = here;
		here = swap;
	}
	return (above[blen]);
}
