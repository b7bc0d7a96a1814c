/* SPDX-License-Identifier: ISC */
/*
 * The functions that a filter looks for in stacks: stack == "NAME" and
 * stack ~ "GLOB".  Each is a bit of FILTER_F_CALLS, as each text is one of
 * DTP_F_TEXTS; which functions a stack has, profile/calls.c finds out.
 *
 * A name is compared as in a probe: with the linker symbol, with the demangled
 * name, and with the demangled name without parameters and return type.
 */
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "elf/demangle.h"
#include "filter_impl.h"

/* The errors below state these limits. */
_Static_assert(DTP_MAX_TESTS == 16 && FILTER_NAME == 256 &&
    PROF_GLOB_STARS == 8, "limits of names");

int
prof_filter_calls_add(struct filter_calls *calls, bool is_glob,
    const char *text, size_t length, const char **why)
{
	const uint32_t n = calls->fc_n;
	char *name;

	*why = n == DTP_MAX_TESTS ? "more than 16 names of functions" :
	    length >= FILTER_NAME ? "the name is longer than 255 characters" :
	    length == 0 ? "the name is empty" : NULL;
	if (*why != NULL)
		return (-1);
	name = calls->fc_name[n].fn_text;
	memcpy(name, text, length);
	name[length] = '\0';
	calls->fc_name[n].fn_is_glob = is_glob;
	if (is_glob && prof_glob_stars(name) > PROF_GLOB_STARS) {
		*why = "the pattern has more than 8 stars";
		return (-1);
	}
	calls->fc_n++;
	return ((int)n);
}

/* A name may look like a pattern: f(char*). */
static uint64_t
text_find(const struct filter_calls *calls, const char *text)
{
	uint64_t found = 0;

	for (uint32_t n = 0; n < calls->fc_n; n++) {
		const char *name = calls->fc_name[n].fn_text;

		if (strcmp(name, text) == 0 || (calls->fc_name[n].fn_is_glob &&
		    prof_glob_match(name, text)))
			found |= (uint64_t)1 << n;
	}
	return (found);
}

int
prof_filter_calls_find(const struct filter_calls *calls,
    const struct prof_function *function, uint64_t *found)
{
	const char *bare;
	char *name;

	*found = 0;
	if (function->fu_unnamed != PROF_NAMED ||
	    function->fu_kind == PROF_FRAME_BOUNDARY)
		return (0);
	*found = text_find(calls, function->fu_name);
	if (function->fu_kind != PROF_FRAME_NATIVE)
		return (0);
	if ((name = strdup(function->fu_name)) == NULL)
		return (-1);
	prof_name_strip(name, &bare);
	*found |= text_find(calls, function->fu_raw) |
	    text_find(calls, name) | text_find(calls, bare);
	free(name);
	return (0);
}
