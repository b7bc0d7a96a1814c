/* SPDX-License-Identifier: ISC */
/*
 * A batch: its memory, and how it becomes the bodies of chunks.  The memory
 * is kept when a batch has been written, so that a recording allocates
 * nothing once it runs.  Bodies are laid out in the writer's thread; sorting
 * the new stacks there lets neighbours share their outer frames.
 */
#include <stdlib.h>

#include "batch.h"
#include "output.h"

struct prof_batch *
prof_batch_new(void)
{
	return (calloc(1, sizeof(struct prof_batch)));
}

/* Everything that a batch holds, for what is done to each. */
static size_t
batch_buffers(struct prof_batch *batch, struct prof_buf *buffers[])
{
	size_t n = 0, i;

	buffers[n++] = &batch->ba_info;
	buffers[n++] = &batch->ba_event;
	buffers[n++] = &batch->ba_life_strings;
	buffers[n++] = &batch->ba_life;
	buffers[n++] = &batch->ba_stacks;
	buffers[n++] = &batch->ba_frames;
	buffers[n++] = &batch->ba_tallies;
	buffers[n++] = &batch->ba_rows;
	buffers[n++] = &batch->ba_symbols;
	for (i = 0; i < PROF_SS_END; i++)
		buffers[n++] = &batch->ba_columns[i];
	return (n);
}
#define BATCH_BUFFERS	(9 + PROF_SS_END)

void
prof_batch_reset(struct prof_batch *batch)
{
	struct prof_buf *buffers[BATCH_BUFFERS];
	size_t n = batch_buffers(batch, buffers);

	while (n-- > 0)
		buffers[n]->bf_len = 0;
	batch->ba_next = NULL;
	batch->ba_dump = NULL;
	batch->ba_output = NULL;
	batch->ba_is_base = false;
	batch->ba_bytes = 0;
	batch->ba_nlife = 0;
	batch->ba_nsamples = 0;
	batch->ba_nvalued = 0;
}

void
prof_batch_free(struct prof_batch *batch)
{
	struct prof_buf *buffers[BATCH_BUFFERS];
	size_t n;

	if (batch == NULL)
		return;
	n = batch_buffers(batch, buffers);
	while (n-- > 0)
		prof_buf_free(buffers[n]);
	free(batch);
}

bool
prof_batch_failed(const struct prof_batch *batch)
{
	struct prof_buf *buffers[BATCH_BUFFERS];
	size_t n = batch_buffers((struct prof_batch *)batch, buffers);

	while (n-- > 0)
		if (buffers[n]->bf_failed)
			return (true);
	return (false);
}

size_t
prof_batch_size(const struct prof_batch *batch)
{
	size_t bytes, i;

	bytes = batch->ba_info.bf_len + batch->ba_event.bf_len +
	    batch->ba_life_strings.bf_len + batch->ba_life.bf_len +
	    batch->ba_frames.bf_len + batch->ba_symbols.bf_len;
	for (i = 0; i < PROF_SS_END; i++)
		bytes += batch->ba_columns[i].bf_len;
	return (bytes);
}

bool
prof_batch_empty(const struct prof_batch *batch)
{
	return (prof_batch_size(batch) == 0 && batch->ba_rows.bf_len == 0);
}

/* ------------------------------------------------- bodies of chunks */

static void
body_section(struct prof_body *body, unsigned id, const struct prof_buf *from)
{
	prof_buf_section(&body->bd_buf, id, from);
	if (body->bd_ncuts < PROF_MAX_CUTS)
		body->bd_cuts[body->bd_ncuts++] = body->bd_buf.bf_len;
}

/* From the outermost frame inwards, so that shared callers come together. */
static int
stack_compare(const void *a, const void *b, void *arg)
{
	const struct prof_new_stack *sa = a, *sb = b;
	const uint64_t *frames = arg;
	const uint64_t *fa = frames + sa->ns_first + sa->ns_count;
	const uint64_t *fb = frames + sb->ns_first + sb->ns_count;
	uint32_t n = sa->ns_count < sb->ns_count ? sa->ns_count :
	    sb->ns_count;

	while (n-- > 0) {
		fa--;
		fb--;
		if (*fa != *fb)
			return (*fa < *fb ? -1 : 1);
	}
	if (sa->ns_count != sb->ns_count)
		return (sa->ns_count < sb->ns_count ? -1 : 1);
	return (sa->ns_id < sb->ns_id ? -1 : sa->ns_id > sb->ns_id);
}

static uint32_t
shared_frames(const struct prof_new_stack *a, const struct prof_new_stack *b,
    const uint64_t *frames)
{
	const uint64_t *fa = frames + a->ns_first + a->ns_count;
	const uint64_t *fb = frames + b->ns_first + b->ns_count;
	uint32_t n = 0;

	while (n < a->ns_count && n < b->ns_count && *--fa == *--fb)
		n++;
	return (n);
}

void
prof_body_stacks(struct prof_body *body, const struct prof_batch *batch)
{
	struct prof_new_stack *stacks = (void *)batch->ba_stacks.bf_data;
	const uint64_t *frames = (const void *)batch->ba_frames.bf_data;
	size_t n = batch->ba_stacks.bf_len / sizeof(*stacks), i;
	uint32_t shared, k;
	uint64_t last = 0, frame;

	prof_buf_varint(&body->bd_head, batch->ba_stack_base);
	prof_buf_varint(&body->bd_head, n);
	qsort_r(stacks, n, sizeof(*stacks), stack_compare, (void *)frames);
	for (i = 0; i < n; i++) {
		shared = i == 0 ? 0 :
		    shared_frames(&stacks[i - 1], &stacks[i], frames);
		prof_buf_varint(&body->bd_buf,
		    stacks[i].ns_id - batch->ba_stack_base);
		prof_buf_varint(&body->bd_buf, shared);
		prof_buf_varint(&body->bd_buf, stacks[i].ns_count - shared);
		for (k = stacks[i].ns_count - shared; k-- > 0; ) {
			frame = frames[stacks[i].ns_first + k];
			prof_buf_varint(&body->bd_buf,
			    prof_zigzag(frame - last));
			last = frame;
		}
	}
}

void
prof_body_life(struct prof_body *body, const struct prof_batch *batch)
{
	prof_buf_varint(&body->bd_head, batch->ba_nlife);
	body_section(body, PROF_LS_STRINGS, &batch->ba_life_strings);
	body_section(body, PROF_LS_RECORDS, &batch->ba_life);
}

void
prof_body_samples(struct prof_body *body, const struct prof_batch *batch)
{
	const struct prof_tally *tallies =
	    (const void *)batch->ba_tallies.bf_data;
	size_t n = batch->ba_tallies.bf_len / sizeof(*tallies), i;

	prof_buf_varint(&body->bd_head, batch->ba_nsamples);
	prof_buf_varint(&body->bd_head, batch->ba_first_ns);
	prof_buf_varint(&body->bd_head,
	    batch->ba_last_ns - batch->ba_first_ns);
	prof_buf_varint(&body->bd_head, n);
	for (i = 0; i < n; i++) {
		prof_buf_varint(&body->bd_head, tallies[i].ty_event);
		prof_buf_varint(&body->bd_head, tallies[i].ty_cpu);
		prof_buf_varint(&body->bd_head, tallies[i].ty_count);
	}
	for (i = PROF_SS_SHAPES; i < PROF_SS_END; i++)
		body_section(body, (unsigned)i, &batch->ba_columns[i]);
}
