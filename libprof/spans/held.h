/* SPDX-License-Identifier: ISC */
/* Allocations that were still held when the recording ended. */
#ifndef PROF_HELD_H
#define PROF_HELD_H

#include <stdbool.h>

#include "base/record.h"

struct prof_held;

/*
 * What is not shown as held, in bytes: what nobody could follow, and what may
 * have been freed while events were lost or not recorded.
 */
struct prof_held_rest {
	uint64_t	hr_unfollowed;
	uint64_t	hr_unsure;
};

/* Owned by the caller; NULL: the error says why. */
struct prof_held *prof_held_new(struct prof_reader *reader,
	    struct prof_err *error);
/* Is the sample an allocation that was held? */
bool	prof_held_has(const struct prof_held *held,
	    const struct prof_record *record);
/* NULL: nothing. */
struct prof_held_rest prof_held_rest(const struct prof_held *held);
void	prof_held_free(struct prof_held *held);

#endif /* PROF_HELD_H */
