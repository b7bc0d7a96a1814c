/* SPDX-License-Identifier: ISC */
/*
 * Functions in the stacks of samples, for filters that ask for them.  Included
 * by select.c and by the commands that filter samples themselves.
 */
#ifndef PROF_CALLS_H
#define PROF_CALLS_H

#include "filter/filter.h"
#include "recording/decode.h"

/*
 * For one thread.  The filter names the functions; the answer is valid for all
 * filters of the same expression.  If symbols is NULL, it opens its own.
 * Owned by caller; reader, symbols and filter must outlive it.
 */
struct prof_calls;
struct prof_calls *prof_calls_new(struct prof_reader *reader,
	    struct prof_symbols *symbols, const struct prof_filter *filter,
	    struct prof_err *error);
/*
 * The calls of prof_filter_holds_in that the stack of a sample has: all of its
 * frames, shown or not, and what is inlined there.
 */
uint64_t prof_calls_of(struct prof_calls *calls,
	    const struct prof_sample *sample);
/* -1: memory ran out or the budget was exceeded, so answers are incomplete. */
int	prof_calls_check(const struct prof_calls *calls,
	    struct prof_err *error);
void	prof_calls_free(struct prof_calls *calls);

#endif /* PROF_CALLS_H */
