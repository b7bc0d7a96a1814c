/* SPDX-License-Identifier: ISC */
/*
 * The newest part of a recording, in memory.  Four queues, in the order in
 * which a reader needs them:
 *
 *	rest	descriptions, process events: kept while samples of their
 *		generation are
 *	stacks	likewise
 *	samples	the oldest are given up when the ring is full or they are old
 *	symbols	kept to the end; the oldest are given up when they are many
 *
 * A generation begins with what lasts of those before (write_base.c) and has a
 * dictionary of stacks of its own: its samples refer to nothing older.  A
 * reader needs the beginning of the oldest generation alone.
 *
 * The limit is for what is kept of each time: not for symbols, nor for
 * beginnings, which are a small part of their generation.
 *
 * Called by output.c, in the writer's thread; the limit [a] may be set, and the
 * time of the first sample [a] be read by any.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ring.h"

#define MAX_SYMBOLS	(16u << 20)	/* bytes */

enum { QUEUE_REST, QUEUE_STACKS, QUEUE_SAMPLES, QUEUE_SYMBOLS, NQUEUES };

struct queue {
	struct prof_ring_chunk *qu_first;
	struct prof_ring_chunk *qu_last;
};

struct prof_ring {
	_Atomic uint64_t rg_most;	/* [a] bytes, of rg_bytes */
	uint64_t	 rg_most_ns;	/* 0: of any age */
	struct queue	 rg_queue[NQUEUES];
	uint64_t	 rg_bytes;	/* that the limit is for */
	uint64_t	 rg_symbol_bytes;
	uint32_t	 rg_oldest;	/* generation */
	_Atomic uint64_t rg_first_ns;	/* [a] of the first samples */
	uint64_t	*rg_overwritten;	/* per event */
	size_t		 rg_nevents;
	uint64_t	 rg_valued;	/* of them, with values of counters */
};

struct prof_ring *
prof_ring_new(const struct prof_ring_limits *limits)
{
	struct prof_ring *ring = calloc(1, sizeof(*ring));

	if (ring == NULL)
		return (NULL);
	ring->rg_most = limits->rl_bytes;
	ring->rg_most_ns = limits->rl_ns;
	return (ring);
}

static void
chunk_free(struct prof_ring_chunk *chunk)
{
	prof_buf_free(&chunk->rc_tallies);
	free(chunk);
}

void
prof_ring_free(struct prof_ring *ring)
{
	struct prof_ring_chunk *chunk, *next;

	if (ring == NULL)
		return;
	for (unsigned n = 0; n < NQUEUES; n++)
		for (chunk = ring->rg_queue[n].qu_first; chunk != NULL;
		    chunk = next) {
			next = chunk->rc_next;
			chunk_free(chunk);
		}
	free(ring->rg_overwritten);
	free(ring);
}

static unsigned
queue_of(uint32_t type)
{
	switch (type) {
	case PROF_C_SAMPLE:
		return (QUEUE_SAMPLES);
	case PROF_C_STACK:
		return (QUEUE_STACKS);
	case PROF_C_SYMBOL:
		return (QUEUE_SYMBOLS);
	default:
		return (QUEUE_REST);
	}
}

/* Where a chunk's bytes are counted; NULL: nowhere. */
static uint64_t *
chunk_charge(struct prof_ring *ring, const struct prof_ring_chunk *chunk)
{
	return (chunk->rc_type == PROF_C_SYMBOL ? &ring->rg_symbol_bytes :
	    chunk->rc_is_base ? NULL : &ring->rg_bytes);
}

static void
queue_take(struct prof_ring *ring, struct queue *queue)
{
	struct prof_ring_chunk *chunk = queue->qu_first;
	uint64_t *charge = chunk_charge(ring, chunk);

	queue->qu_first = chunk->rc_next;
	if (queue->qu_first == NULL)
		queue->qu_last = NULL;
	if (charge != NULL)
		*charge -= chunk->rc_length;
	chunk_free(chunk);
}

static void
older_take(struct prof_ring *ring, struct queue *queue)
{
	while (queue->qu_first != NULL &&
	    queue->qu_first->rc_generation < ring->rg_oldest)
		queue_take(ring, queue);
}

/* There is room for each event that a kept chunk has: see ring_count. */
static void
samples_give_up(struct prof_ring *ring)
{
	struct queue *samples = &ring->rg_queue[QUEUE_SAMPLES];
	const struct prof_buf *tallies = &samples->qu_first->rc_tallies;
	const struct prof_tally *tally = (const void *)tallies->bf_data;

	for (size_t n = tallies->bf_len / sizeof(*tally); n > 0; n--, tally++)
		ring->rg_overwritten[tally->ty_event] += tally->ty_count;
	ring->rg_valued += samples->qu_first->rc_nvalued;
	queue_take(ring, samples);
}

/* Where no samples come, what is older than the last generation is over. */
static void
generations_give_up(struct prof_ring *ring, uint32_t newest)
{
	const struct prof_ring_chunk *first =
	    ring->rg_queue[QUEUE_SAMPLES].qu_first;
	const uint32_t oldest = first != NULL ? first->rc_generation :
	    newest > 0 ? newest - 1 : 0;

	if (oldest <= ring->rg_oldest)
		return;
	ring->rg_oldest = oldest;
	older_take(ring, &ring->rg_queue[QUEUE_REST]);
	older_take(ring, &ring->rg_queue[QUEUE_STACKS]);
}

/* The last samples stay, unless process events alone fill the ring. */
static bool
ring_has_excess(const struct prof_ring *ring, uint32_t newest)
{
	const bool is_over = ring->rg_bytes > atomic_load_explicit(
	    &ring->rg_most, memory_order_relaxed);
	const struct queue *samples = &ring->rg_queue[QUEUE_SAMPLES];

	if (samples->qu_first == samples->qu_last)
		return (samples->qu_first != NULL && is_over &&
		    samples->qu_first->rc_generation + 1 < newest);
	return (is_over || (ring->rg_most_ns != 0 &&
	    samples->qu_first->rc_last_ns + ring->rg_most_ns <
	    samples->qu_last->rc_last_ns));
}

static void
ring_trim(struct prof_ring *ring, uint32_t newest)
{
	struct queue *symbols = &ring->rg_queue[QUEUE_SYMBOLS];

	while (ring_has_excess(ring, newest)) {
		samples_give_up(ring);
		generations_give_up(ring, newest);
	}
	generations_give_up(ring, newest);
	while (ring->rg_symbol_bytes > MAX_SYMBOLS &&
	    symbols->qu_first != symbols->qu_last)
		queue_take(ring, symbols);
}

static uint64_t
first_ns_of(const struct prof_ring *ring)
{
	const struct prof_ring_chunk *first =
	    ring->rg_queue[QUEUE_SAMPLES].qu_first;

	return (first == NULL ? 0 : first->rc_first_ns);
}

static bool
ring_count(struct prof_ring *ring, const struct prof_buf *tallies)
{
	const struct prof_tally *tally = (const void *)tallies->bf_data;

	for (size_t n = tallies->bf_len / sizeof(*tally); n > 0; n--, tally++)
		while (tally->ty_event >= ring->rg_nevents)
			if (prof_append(&ring->rg_overwritten,
			    &ring->rg_nevents,
			    sizeof(*ring->rg_overwritten)) == NULL)
				return (false);
	return (true);
}

static bool
chunk_count(struct prof_ring *ring, struct prof_ring_chunk *chunk,
    const struct prof_batch *batch)
{
	if (batch == NULL)
		return (true);
	chunk->rc_nsamples = batch->ba_nsamples;
	chunk->rc_nvalued = batch->ba_nvalued;
	chunk->rc_first_ns = batch->ba_first_ns;
	chunk->rc_last_ns = batch->ba_last_ns;
	prof_buf_bytes(&chunk->rc_tallies, batch->ba_tallies.bf_data,
	    batch->ba_tallies.bf_len);
	return (!chunk->rc_tallies.bf_failed &&
	    ring_count(ring, &chunk->rc_tallies));
}

int
prof_ring_add(struct prof_ring *ring, enum prof_chunk_type type,
    const struct prof_ring_part *part, const struct prof_buf *bytes)
{
	struct queue *queue = &ring->rg_queue[queue_of(type)];
	struct prof_ring_chunk *chunk = calloc(1, sizeof(*chunk) +
	    bytes->bf_len);
	uint64_t *charge;

	if (chunk == NULL)
		return (-1);
	chunk->rc_type = type;
	chunk->rc_generation = part->rp_generation;
	chunk->rc_is_base = part->rp_is_base;
	chunk->rc_length = bytes->bf_len;
	memcpy(chunk->rc_bytes, bytes->bf_data, bytes->bf_len);
	if (!chunk_count(ring, chunk, part->rp_samples)) {
		chunk_free(chunk);
		return (-1);
	}
	if (queue->qu_last != NULL)
		queue->qu_last->rc_next = chunk;
	else
		queue->qu_first = chunk;
	queue->qu_last = chunk;
	if ((charge = chunk_charge(ring, chunk)) != NULL)
		*charge += chunk->rc_length;
	ring_trim(ring, part->rp_generation);
	atomic_store_explicit(&ring->rg_first_ns, first_ns_of(ring),
	    memory_order_relaxed);
	return (0);
}

void
prof_ring_limit(struct prof_ring *ring, uint64_t bytes)
{
	atomic_store_explicit(&ring->rg_most, bytes, memory_order_relaxed);
}

/* ------------------------------------------------------------ reading */

/* What it begins with is known from the generation before. */
static bool
chunk_repeats(const struct prof_ring *ring,
    const struct prof_ring_chunk *chunk)
{
	return (chunk->rc_is_base && chunk->rc_generation != ring->rg_oldest);
}

const struct prof_ring_chunk *
prof_ring_next(const struct prof_ring *ring,
    const struct prof_ring_chunk *chunk)
{
	unsigned n = 0;

	if (chunk != NULL) {
		n = queue_of(chunk->rc_type) + 1;
		chunk = chunk->rc_next;
	}
	for (;;) {
		while (chunk != NULL && chunk_repeats(ring, chunk))
			chunk = chunk->rc_next;
		if (chunk != NULL || n == NQUEUES)
			return (chunk);
		chunk = ring->rg_queue[n++].qu_first;
	}
}

uint64_t
prof_ring_bytes(const struct prof_ring *ring)
{
	return (ring->rg_bytes);
}

uint64_t
prof_ring_first_ns(const struct prof_ring *ring)
{
	return (atomic_load_explicit(&ring->rg_first_ns,
	    memory_order_relaxed));
}

uint64_t
prof_ring_overwritten(const struct prof_ring *ring, size_t event)
{
	return (event < ring->rg_nevents ? ring->rg_overwritten[event] : 0);
}

uint64_t
prof_ring_overwritten_valued(const struct prof_ring *ring)
{
	return (ring->rg_valued);
}
