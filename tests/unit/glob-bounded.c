/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: I-50: matching is bounded whatever the pattern: patterns that
 * take matchers with recursion longer than the age of the universe end, and
 * more than 8 stars match nothing.
 *
 * Easy to get wrong: each further star multiplies the work of a matcher that
 * tries all ways.  Nothing is timed; a matcher that does not end is killed
 * by the alarm.
 */
#include "base/glob.h"
#include "names.h"

#define LONG	20000

int
main(void)
{
	static char text[LONG + 1], glob[LONG + 1];
	const char *evil = "*a*a*a*a*a*a*a*b";
	const char *sets = "*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[0-9]";

	alarm(60);
	memset(text, 'a', LONG);
	CHECK(!prof_glob_match(evil, text), "there is no b");
	CHECK(!prof_glob_match(sets, text), "there is no digit");
	text[LONG - 1] = 'b';
	CHECK(prof_glob_match(evil, text), "it ends with b");
	text[LONG - 1] = '7';
	CHECK(prof_glob_match(sets, text), "it ends with a digit");

	/* A star against every byte: one run, so one star. */
	memset(glob, '*', LONG);
	CHECK(prof_glob_match(glob, text), "stars side by side are one");
	/* An unclosed set is looked at from each of its brackets. */
	memset(glob, '[', LONG);
	CHECK(!prof_glob_match(glob, text), "brackets");

	CHECK(prof_glob_match("*a*a*a*a*a*a*a*a", "aaaaaaaa"), "8 stars");
	CHECK(!prof_glob_match("*a*a*a*a*a*a*a*a*", "aaaaaaaa"), "9 stars");
	return (passed());
}
