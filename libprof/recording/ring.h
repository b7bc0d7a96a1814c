/* SPDX-License-Identifier: ISC */
/*
 * Chunks that are kept in memory in place of a file: of samples only the
 * newest (struct prof_ring_limits).  Included by recording/ alone.
 */
#ifndef PROF_RING_H
#define PROF_RING_H

#include "batch.h"
#include "write.h"

struct prof_ring;

/* A chunk with its header, as it would be in a file. */
struct prof_ring_chunk {
	struct prof_ring_chunk *rc_next;	/* of the same queue */
	size_t		 rc_length;
	uint32_t	 rc_type;
	uint32_t	 rc_generation;	/* see ring.c */
	bool		 rc_is_base;	/* its generation begins with it */
	/* Of samples: how many, their times, and the tallies. */
	uint32_t	 rc_nsamples;
	uint32_t	 rc_nvalued;	/* with values of counters */
	uint64_t	 rc_first_ns;
	uint64_t	 rc_last_ns;
	struct prof_buf	 rc_tallies;
	uint8_t		 rc_bytes[];
};

struct prof_ring *prof_ring_new(const struct prof_ring_limits *limits);
void	prof_ring_free(struct prof_ring *ring);
/* Another limit, from the next chunk on; from any thread. */
void	prof_ring_limit(struct prof_ring *ring, uint64_t bytes);
/* What a chunk is a part of; rp_samples: of samples, else NULL. */
struct prof_ring_part {
	const struct prof_batch *rp_samples;
	uint32_t	 rp_generation;
	bool		 rp_is_base;
};

/* Keep a copy, and give up the oldest that are too many now.  -1: no memory. */
int	prof_ring_add(struct prof_ring *ring, enum prof_chunk_type type,
	    const struct prof_ring_part *part, const struct prof_buf *bytes);
/* In the order in which they can be read; NULL: the first, and no more. */
const struct prof_ring_chunk *prof_ring_next(const struct prof_ring *ring,
	    const struct prof_ring_chunk *chunk);
uint64_t prof_ring_bytes(const struct prof_ring *ring);
/* Of the first sample; 0: there is none.  By any thread. */
uint64_t prof_ring_first_ns(const struct prof_ring *ring);
/* Samples of an event that were given up. */
uint64_t prof_ring_overwritten(const struct prof_ring *ring, size_t event);
/* Those of all events that brought values of counters. */
uint64_t prof_ring_overwritten_valued(const struct prof_ring *ring);

#endif /* PROF_RING_H */
