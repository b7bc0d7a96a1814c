/* SPDX-License-Identifier: ISC */
/*
 * What a place in the code is called when lines are compared: the function,
 * the file and the number of the line.  A line that was added above moves all
 * below it, which is no change of theirs.  So a line counts from where its
 * function begins: one of the base has the number that the same line of the
 * same function has in what is new.  Of lines inlined elsewhere nobody knows
 * where their function begins; these keep their numbers.
 *
 * Called by compare_profile.c, for the new side first.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define MAX_INLINED	64

/* Where a function begins in the sources of what is new. */
struct beginning {
	char		*bg_name;	/* function and file */
	unsigned	 bg_line;
};

static int
by_name(const void *a, const void *b)
{
	const struct beginning *x = a, *y = b;

	return (strcmp(x->bg_name, y->bg_name));
}

static void
beginning_free(void *item)
{
	struct beginning *bg = item;

	free(bg->bg_name);
	free(bg);
}

void
compare_lines_free(struct costs *ct)
{
	tdestroy(ct->ct_beginnings, beginning_free);
	ct->ct_beginnings = NULL;
}

static void
beginning_add(struct costs *ct, const char *name, unsigned line)
{
	struct beginning *bg = malloc(sizeof(*bg)), **found;

	if (bg == NULL || (bg->bg_name = strdup(name)) == NULL) {
		free(bg);
		return;
	}
	bg->bg_line = line;
	found = tsearch(bg, &ct->ct_beginnings, by_name);
	if (found == NULL || *found != bg)
		beginning_free(bg);
}

/* How many lines further down the function begins in what is new. */
static long
shift_of(const struct costs *ct, char *name, unsigned line)
{
	const struct beginning key = { .bg_name = name };
	struct beginning *const *found = tfind(&key, &ct->ct_beginnings,
	    by_name);

	return (found == NULL ? 0 : (long)(*found)->bg_line - (long)line);
}

/* The line on which the function of a place begins; 0: not known. */
static unsigned
begins_at(struct prof_symbols *symbols, const struct prof_label *label,
    const char *file)
{
	struct prof_line lines[MAX_INLINED];
	const uint64_t into = label->lb_address -
	    label->lb_function->fu_address;
	const struct prof_frame begin = { label->lb_frame.fr_id - into,
	    label->lb_frame.fr_kind, 0 };
	const size_t n = into > label->lb_frame.fr_id ? 0 :
	    prof_symbols_lines(symbols, label->lb_space, &begin, lines,
	    MAX_INLINED);

	return (n > 0 && lines[n - 1].ln_file != NULL &&
	    strcmp(lines[n - 1].ln_file, file) == 0 ?
	    lines[n - 1].ln_number : 0);
}

bool
compare_line_name(struct costs *ct, int side, struct prof_symbols *symbols,
    const struct prof_label *label, char *name, size_t size)
{
	struct prof_line lines[MAX_INLINED];
	const size_t n = prof_symbols_lines(symbols, label->lb_space,
	    &label->lb_frame, lines, MAX_INLINED);
	const char *file = n == 0 ? NULL : lines[0].ln_file, *slash;
	char function[512], place[1024];
	unsigned begin;
	long number;

	if (file == NULL) {
		snprintf(name, size, "%s", label->lb_function->fu_name);
		return (false);
	}
	number = lines[0].ln_number;
	slash = strrchr(file, '/');
	prof_function_base_name(lines[0].ln_function, function,
	    sizeof(function));
	snprintf(place, sizeof(place), "%s %s", function,
	    slash != NULL ? slash + 1 : file);
	begin = n > 1 ? 0 : begins_at(symbols, label, file);
	if (begin > 0 && side == 1)
		beginning_add(ct, place, begin);
	if (begin > 0 && side == 0)
		number += shift_of(ct, place, begin);
	snprintf(name, size, "%s:%ld", place, number);
	return (n > 1);
}
