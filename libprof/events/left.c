/* SPDX-License-Identifier: ISC */
/*
 * What a pattern means and cannot be probed: the rest is, and how many are
 * not, and why, is said.  Called by providers of functions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "names.h"

void
prof_left_out(struct prof_left *left, const char *why)
{
	size_t n = 0;

	while (n < PROF_LEFT_REASONS - 1 && left->lf_why[n] != why &&
	    left->lf_why[n] != NULL)
		n++;
	left->lf_why[n] = why;
	left->lf_n[n]++;
	left->lf_sum++;
}

/* "4: it ends in a tail call, 1: it never returns" */
static void
left_print(const struct prof_left *left, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t n = 0; n < PROF_LEFT_REASONS && used < size &&
	    left->lf_n[n] > 0; n++)
		used += (size_t)snprintf(text + used, size - used,
		    "%s%zu: %s", n > 0 ? ", " : "", left->lf_n[n],
		    left->lf_why[n]);
}

int
prof_left_say(const struct prof_left *left, struct prof_names *names,
    const struct prof_spec *spec, size_t probed, struct prof_err *error)
{
	char why[PROF_SPEC_MAX], *text;
	int rv;

	if (left->lf_sum == 0)
		return (0);
	left_print(left, why, sizeof(why));
	if (probed == 0) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: none of the "
		    "%zu functions can be probed (%s)", spec->sp_whole,
		    left->lf_sum, why);
		return (prof_cure(error, "use another pattern"));
	}
	if (names->nm_note == NULL)
		return (0);
	if (asprintf(&text, "%s: %zu functions are probed, %zu functions are "
	    "left out (%s)",
	    spec->sp_whole, probed, left->lf_sum, why) == -1)
		return (prof_fail_nomem(error));
	rv = names->nm_note(names->nm_sites_arg, text);
	free(text);
	return (rv == -1 ? prof_fail_nomem(error) : 0);
}
