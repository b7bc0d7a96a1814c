/* SPDX-License-Identifier: ISC */
/* Who ended waits, and who ended the waits of these; see chains.c. */
#ifndef PROF_CHAINS_H
#define PROF_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "prof.h"

#define PROF_CHAIN_LINKS	8	/* threads of a chain at most */

/* Why a chain ends behind its last thread. */
enum prof_chain_end {
	PROF_CHAIN_HARDIRQ,	/* such an interrupt woke the thread */
	PROF_CHAIN_SOFTIRQ,
	PROF_CHAIN_IDLE,
	PROF_CHAIN_NO_WAIT,	/* no wait of the thread is in this time */
	PROF_CHAIN_NOT_RECORDED, /* the thread is no target */
	PROF_CHAIN_UNKNOWN,	/* of the waker, or samples were lost */
	PROF_CHAIN_LIMIT,	/* PROF_CHAIN_LINKS */
	PROF_CHAIN_NENDS
};

/* A thread that the thread of the next link woke. */
struct prof_chain_link {
	const char	*cl_thread;	/* its name */
	const char	*cl_reason;	/* NULL: no wait of it is known */
	uint64_t	 cl_ns;	/* of that wait, while all before waited */
};

/* All waits with the same chain. */
struct prof_chain {
	struct prof_chain_link ca_link[PROF_CHAIN_LINKS]; /* the waiter first */
	size_t		 ca_nlinks;
	enum prof_chain_end ca_end;
	uint64_t	 ca_ns;
	uint64_t	 ca_waits;
	uint64_t	 ca_longest_ns;
};

struct prof_chains;

/*
 * Of blocked time that the options choose; wakers may be any.  Owned by caller;
 * reader and symbols must outlive it.
 */
struct prof_chains *prof_chains_new(struct prof_reader *reader,
	    struct prof_symbols *symbols,
	    const struct prof_profile_options *options, struct prof_err *error);
/* By time, the longest first; NULL: no more. */
const struct prof_chain *prof_chains_at(const struct prof_chains *chains,
	    size_t n);
size_t	prof_chains_n(const struct prof_chains *chains);
void	prof_chains_free(struct prof_chains *chains);

#endif /* PROF_CHAINS_H */
