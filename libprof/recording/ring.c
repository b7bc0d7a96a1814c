/* SPDX-License-Identifier: ISC */
/*
 * The newest part of a recording, in memory.  Three queues, in the order in
 * which a reader needs them:
 *
 *	rest	descriptions, process events, symbols: kept to the end
 *	stacks	kept while samples of their generation are
 *	samples	the oldest are given up when the ring is full or they are old
 *
 * A generation is a dictionary of stacks: when the writer begins a new one, no
 * later sample refers to stacks of the one before.
 *
 * Called by output.c, in the writer's thread; the time of the first sample [a]
 * may be read by any.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ring.h"

enum { QUEUE_REST, QUEUE_STACKS, QUEUE_SAMPLES, NQUEUES };

struct queue {
	struct prof_ring_chunk *qu_first;
	struct prof_ring_chunk *qu_last;
};

struct prof_ring {
	struct prof_ring_limits rg_limits;
	struct queue	 rg_queue[NQUEUES];
	uint64_t	 rg_bytes;
	_Atomic uint64_t rg_first_ns;	/* [a] of the first samples */
	uint64_t	*rg_overwritten;	/* per event */
	size_t		 rg_nevents;
	uint64_t	 rg_valued;	/* of them, with values of counters */
};

struct prof_ring *
prof_ring_new(const struct prof_ring_limits *limits)
{
	struct prof_ring *ring = calloc(1, sizeof(*ring));

	if (ring != NULL)
		ring->rg_limits = *limits;
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

static void
queue_take(struct prof_ring *ring, struct queue *queue)
{
	struct prof_ring_chunk *chunk = queue->qu_first;

	queue->qu_first = chunk->rc_next;
	if (queue->qu_first == NULL)
		queue->qu_last = NULL;
	ring->rg_bytes -= chunk->rc_length;
	chunk_free(chunk);
}

/*
 * Of at least two.  There is room for each event that a kept chunk has: see
 * ring_count.
 */
static void
samples_give_up(struct prof_ring *ring)
{
	struct queue *samples = &ring->rg_queue[QUEUE_SAMPLES];
	struct queue *stacks = &ring->rg_queue[QUEUE_STACKS];
	const struct prof_buf *tallies = &samples->qu_first->rc_tallies;
	const struct prof_tally *tally = (const void *)tallies->bf_data;

	for (size_t n = tallies->bf_len / sizeof(*tally); n > 0; n--, tally++)
		ring->rg_overwritten[tally->ty_event] += tally->ty_count;
	ring->rg_valued += samples->qu_first->rc_nvalued;
	queue_take(ring, samples);
	while (stacks->qu_first != NULL && stacks->qu_first->rc_generation <
	    samples->qu_first->rc_generation)
		queue_take(ring, stacks);
}

/* The last samples stay, however little else leaves them. */
static void
ring_trim(struct prof_ring *ring)
{
	const struct prof_ring_limits *limits = &ring->rg_limits;
	const struct queue *samples = &ring->rg_queue[QUEUE_SAMPLES];

	while (samples->qu_first != samples->qu_last &&
	    (ring->rg_bytes > limits->rl_bytes || (limits->rl_ns != 0 &&
	    samples->qu_first->rc_last_ns + limits->rl_ns <
	    samples->qu_last->rc_last_ns)))
		samples_give_up(ring);
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
    const struct prof_batch *batch, uint32_t generation,
    const struct prof_buf *bytes)
{
	struct queue *queue = &ring->rg_queue[type == PROF_C_SAMPLE ?
	    QUEUE_SAMPLES : type == PROF_C_STACK ? QUEUE_STACKS : QUEUE_REST];
	struct prof_ring_chunk *chunk = calloc(1, sizeof(*chunk) +
	    bytes->bf_len);

	if (chunk == NULL)
		return (-1);
	chunk->rc_type = type;
	chunk->rc_generation = generation;
	chunk->rc_length = bytes->bf_len;
	memcpy(chunk->rc_bytes, bytes->bf_data, bytes->bf_len);
	if (!chunk_count(ring, chunk, batch)) {
		chunk_free(chunk);
		return (-1);
	}
	if (queue->qu_last != NULL)
		queue->qu_last->rc_next = chunk;
	else
		queue->qu_first = chunk;
	queue->qu_last = chunk;
	ring->rg_bytes += chunk->rc_length;
	ring_trim(ring);
	atomic_store_explicit(&ring->rg_first_ns, first_ns_of(ring),
	    memory_order_relaxed);
	return (0);
}

/* ------------------------------------------------------------ reading */

const struct prof_ring_chunk *
prof_ring_next(const struct prof_ring *ring,
    const struct prof_ring_chunk *chunk)
{
	unsigned n = 0;

	if (chunk != NULL && chunk->rc_next != NULL)
		return (chunk->rc_next);
	if (chunk != NULL)
		n = 1 + (chunk->rc_type == PROF_C_SAMPLE ? QUEUE_SAMPLES :
		    chunk->rc_type == PROF_C_STACK ? QUEUE_STACKS :
		    QUEUE_REST);
	while (n < NQUEUES && ring->rg_queue[n].qu_first == NULL)
		n++;
	return (n < NQUEUES ? ring->rg_queue[n].qu_first : NULL);
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
