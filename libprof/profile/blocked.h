/* SPDX-License-Identifier: ISC */
/* Which locks threads waited for, and who held them; see blocked.c. */
#ifndef PROF_BLOCKED_H
#define PROF_BLOCKED_H

#include <stddef.h>
#include <stdint.h>

#include "prof.h"

enum prof_blocked_state {
	PROF_BLOCKED_RUNNING, PROF_BLOCKED_RUNNABLE, PROF_BLOCKED_BLOCKED,
	PROF_BLOCKED_NSTATES
};

/* What a holder did while others waited. */
struct prof_blocked_part {
	enum prof_blocked_state bp_state;
	const struct prof_function *bp_function; /* NULL: no stack is known */
	uint64_t	 bp_ns;
};

/* All waits for a lock of a process that had the same holder. */
struct prof_blocked_row {
	uint32_t	 bl_pid;
	const char	*bl_lock;	/* its address, or its object */
	const char	*bl_holder;	/* "-": not known */
	uint64_t	 bl_ns;		/* of all waiters together */
	uint64_t	 bl_waits;
	size_t		 bl_nwaiters;
	uint64_t	 bl_meanwhile_ns; /* with at least one waiter */
	struct prof_blocked_part *bl_part;	/* the longest first */
	size_t		 bl_nparts;
};

struct prof_blocked;

/*
 * Waits for locks that the options choose.  Both passes begin at the first
 * record of the reader.  Owned by caller; reader and symbols must outlive it.
 */
struct prof_blocked *prof_blocked_new(struct prof_reader *reader,
	    struct prof_symbols *symbols,
	    const struct prof_profile_options *options, struct prof_err *error);
/* By time, the longest first; NULL: no more. */
const struct prof_blocked_row *prof_blocked_row(
	    const struct prof_blocked *blocked, size_t n);
size_t	prof_blocked_nrows(const struct prof_blocked *blocked);
void	prof_blocked_free(struct prof_blocked *blocked);

#endif /* PROF_BLOCKED_H */
