/* SPDX-License-Identifier: ISC */
/*
 * How much memory a profile may take, by the size of its recording alone, so
 * that it is the same everywhere.  What real programs leave stays far below:
 * a sample that is unlike all others takes four bytes of the file or more,
 * and 200 here.  Half of it is for gathering, half for the tree.
 *
 * Called by calls.c, chains.c, gather.c, label.c, tree.c and waits.c.
 */
#include "profile_impl.h"
#include "recording/query.h"

/* Up to LARGE a small file gets more for each byte: its stacks are packed. */
#define FIRST		(40u << 20)
#define FIRST_PER_BYTE	512
#define LARGE		(224u << 20)
#define PER_BYTE	32
#define STEPS_FIRST	(24u << 20)
#define STEPS_PER_BYTE	64

struct prof_budget
prof_budget_of(const struct prof_reader *reader)
{
	const uint64_t length = prof_reader_length(reader) &
	    (UINT64_MAX >> 8);
	const uint64_t small = FIRST + FIRST_PER_BYTE * length;
	const struct prof_budget budget = {
		.bu_left = (small < LARGE ? small : LARGE) + PER_BYTE * length,
		.bu_steps = STEPS_FIRST + STEPS_PER_BYTE * length,
	};

	return (budget);
}

bool
prof_budget_take(struct prof_budget *budget, uint64_t bytes)
{
	if (budget == NULL)
		return (true);
	if (bytes > budget->bu_left) {
		budget->bu_reached = true;
		return (false);
	}
	budget->bu_left -= bytes;
	return (true);
}

bool
prof_budget_step(struct prof_budget *budget)
{
	if (budget->bu_steps == 0) {
		budget->bu_reached = true;
		return (false);
	}
	budget->bu_steps--;
	return (true);
}
