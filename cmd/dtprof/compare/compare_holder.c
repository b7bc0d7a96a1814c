/* SPDX-License-Identifier: ISC */
/*
 * For which lock slow spans wait in a function, which thread holds it, and what
 * that thread does meanwhile.
 *
 * Called by compare_spans.c, for the function that explains the most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/emit.h"
#include "compare.h"

static const char *const states[PROF_BLOCKED_NSTATES] = {
	"running", "runnable", "blocked"
};

/* "(FILTER) && stack == "FUNCTION""; owned by caller; NULL: it has no text. */
static char *
filter_of(const char *filter, const char *function)
{
	char *text;

	if (strpbrk(function, "\"\\") != NULL || asprintf(&text, "(%s) && "
	    "stack == \"%s\"", filter, function) == -1)
		return (NULL);
	return (text);
}

struct prof_blocked *
compare_holder(struct prof_reader *reader, struct prof_symbols *symbols,
    const char *filter, const char *function)
{
	struct prof_profile_options options = { .pl_size = sizeof(options) };
	char *text = filter_of(filter, function);
	struct prof_blocked *blocked;
	struct prof_err error = { 0 };

	if (text == NULL)
		return (NULL);
	options.pl_filter = text;
	blocked = prof_blocked_new(reader, symbols, &options, &error);
	free(text);
	return (blocked);
}

/* The lock with the longest waits; NULL: they are for none. */
static const struct prof_blocked_row *
row_of(const struct prof_blocked *blocked)
{
	return (blocked == NULL ? NULL : prof_blocked_row(blocked, 0));
}

/* A sentence, after another one. */
void
compare_holder_say(const struct prof_blocked *blocked, FILE *stream)
{
	const struct prof_blocked_row *row = row_of(blocked);
	const struct prof_blocked_part *part;

	if (row == NULL)
		return;
	fprintf(stream, " Slow spans wait there for the lock %s, ",
	    row->bl_lock);
	if (strcmp(row->bl_holder, "-") == 0) {
		fputs("whose holder is not known.", stream);
		return;
	}
	fprintf(stream, "held by %s", row->bl_holder);
	part = row->bl_part;
	if (row->bl_nparts > 0) {
		fprintf(stream, ", which was %s", states[part->bp_state]);
		if (part->bp_function != NULL)
			fprintf(stream, " in %s", part->bp_function->fu_name);
		fprintf(stream, " for %.0f%% of that time", 100 *
		    (double)part->bp_ns / (double)row->bl_meanwhile_ns);
	}
	fputs(".", stream);
}

void
compare_holder_emit(const struct prof_blocked *blocked, struct emit *em)
{
	const struct prof_blocked_row *row = row_of(blocked);
	const struct prof_blocked_part *part = row == NULL ||
	    row->bl_nparts == 0 ? NULL : row->bl_part;

	EMIT(em, TEXT("lock", row == NULL ? NULL : row->bl_lock),
	    TEXT("holder", row == NULL || strcmp(row->bl_holder, "-") == 0 ?
	    NULL : row->bl_holder),
	    TEXT("holder_state", part == NULL ? NULL : states[part->bp_state]),
	    TEXT("holder_function", part == NULL || part->bp_function == NULL ?
	    NULL : part->bp_function->fu_name));
}
