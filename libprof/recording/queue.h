/* SPDX-License-Identifier: ISC */
/* Copies of records, in the order in which they came; see queue.c. */
#ifndef PROF_QUEUE_H
#define PROF_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/* A record and what it points to. */
struct prof_waiting {
	struct prof_record wt_record;
	char		*wt_pool;
	size_t		 wt_bytes;
	uint64_t	 wt_since_ns;	/* prof_now_ns() */
};

struct prof_queue {
	struct prof_waiting *qu_waiting;
	size_t		 qu_n;
	size_t		 qu_cap;
	size_t		 qu_bytes;
};

/* A copy, which waits from now on; -1: no memory.  Its pool is the caller's. */
int	prof_waiting_set(struct prof_waiting *waiting,
	    const struct prof_record *record);
/* -1: no memory for it. */
int	prof_queue_put(struct prof_queue *queue,
	    const struct prof_record *record);
/*
 * How many of the first are due: those that have waited for wait_ns, and those
 * without which the others take fewer than most bytes.
 */
size_t	prof_queue_due(const struct prof_queue *queue, uint64_t wait_ns,
	    size_t most);
/* Drop the first n. */
void	prof_queue_drop(struct prof_queue *queue, size_t n);
/* Drop all, and the memory. */
void	prof_queue_fini(struct prof_queue *queue);

#endif /* PROF_QUEUE_H */
