/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a glob matches exactly what an independent matcher, written by
 * plain recursion, says it matches, over 300,000 random short patterns; and
 * the cases that people write.
 *
 * Easy to get wrong: the star that must give back, "[" without its end, and
 * "]" or "-" at the edge of a set.
 */
#include "base/glob.h"
#include "names.h"

static bool
set_has(const char *set, size_t length, char byte)
{
	bool invert = length > 1 && (set[0] == '!' || set[0] == '^');
	bool found = false;

	for (size_t n = invert; n < length; n++)
		if (n + 2 < length && set[n + 1] == '-') {
			found |= set[n] <= byte && byte <= set[n + 2];
			n += 2;
		} else
			found |= set[n] == byte;
	return (found != invert);
}

/* As the language is defined, without thought for the time it takes. */
static bool
reference(const char *glob, const char *text)
{
	const char *end;

	if (*glob == '\0')
		return (*text == '\0');
	if (*glob == '*')
		return (reference(glob + 1, text) ||
		    (*text != '\0' && reference(glob, text + 1)));
	if (*text == '\0')
		return (false);
	if (*glob == '?')
		return (reference(glob + 1, text + 1));
	if (*glob == '[' && (end = strchr(glob + 1, ']')) != NULL &&
	    end != glob + 1)
		return (set_has(glob + 1, (size_t)(end - glob - 1), *text) &&
		    reference(end + 1, text + 1));
	return (*glob == *text && reference(glob + 1, text + 1));
}

static void
random_patterns(void)
{
	static const char alphabet[] = "ab-[]*?!^";
	uint64_t state = 1;
	unsigned matched = 0;

	for (int round = 0; round < 300000; round++) {
		char glob[9], text[9];
		uint32_t glen = random_below(&state, sizeof(glob));
		uint32_t tlen = random_below(&state, sizeof(text));

		for (uint32_t n = 0; n < glen; n++)
			glob[n] = alphabet[random_below(&state,
			    sizeof(alphabet) - 1)];
		for (uint32_t n = 0; n < tlen; n++)
			text[n] = "ab-]"[random_below(&state, 4)];
		glob[glen] = text[tlen] = '\0';
		CHECK(prof_glob_match(glob, text) == reference(glob, text),
		    "glob \"%s\", text \"%s\"", glob, text);
		matched += reference(glob, text);
	}
	CHECK(matched > 5000, "only %u of the patterns matched", matched);
}

int
main(void)
{
	static const struct {
		const char	*glob, *text;
		bool		 matches;
	} cases[] = {
		{ "", "", true }, { "", "a", false }, { "*", "", true },
		{ "sched_*", "sched_switch", true },
		{ "sched_*", "irq_handler", false },
		{ "*_enter_*", "sys_enter_read", true },
		{ "*switch", "sched_switch_", false },
		{ "a*b*c", "aXbXbXc", true }, { "a*b*c", "aXcXb", false },
		{ "?", "", false }, { "?", "x", true }, { "?", "xy", false },
		{ "[a-c]x", "bx", true }, { "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true }, { "[^a-c]x", "ax", false },
		{ "[", "[", true }, { "[]", "[]", true }, { "a[", "a[", true },
		{ "[a-]", "-", true }, { "[-a]", "-", true },
		{ "[!]", "!", true }, { "open*", "openat2", true },
		{ "**", "anything", true }, { "a**b", "ab", true },
	};

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		CHECK(prof_glob_match(cases[n].glob, cases[n].text) ==
		    cases[n].matches, "glob \"%s\", text \"%s\"",
		    cases[n].glob, cases[n].text);
	CHECK(!prof_glob_is("sched:sched_switch"), "a plain name");
	CHECK(prof_glob_is("open*") && prof_glob_is("?") &&
	    prof_glob_is("[ab]"), "globs");
	random_patterns();
	return (passed());
}
