/* SPDX-License-Identifier: ISC */
/*
 * Samples one after the other, with their frames.  decode.c says which stack
 * a sample has; here the stack is walked from its node to the outermost
 * caller the first time a sample uses it, into an array with a free place in
 * front:
 *
 *	rd_frames: ... | leaf | frame | frame | ... | leaf | frame | ...
 *	                 ^ written by each sample that uses the stack
 *
 * so most samples copy no frames at all.  The arrays are forgotten together
 * when they exceed MAX_FRAMES; the tree stays.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/search.h"
#include "reader.h"

#define MAX_FRAMES	(2u << 20)	/* 16 MiB */

static bool	stacks_expand(struct prof_reader *, struct prof_sample *);

/* Kernel or user frames of a sample; fr_list[0] is the innermost pc. */
struct frames {
	uint64_t	*fr_list;	/* NULL: its chunk was lost */
	uint32_t	 fr_count;
};

void
prof_expand_rewind(struct prof_reader *reader)
{
	reader->rd_sample_at = 0;
	if (reader->rd_decoder != NULL)
		prof_decoder_skip(reader->rd_decoder);
}

int
prof_expand_next(struct prof_reader *reader)
{
	if (reader->rd_decoder == NULL) {
		reader->rd_decoder = prof_decoder_new(reader,
		    &reader->rd_error);
		if (reader->rd_decoder == NULL)
			return (-1);
	}
	while (prof_decoder_next(reader->rd_decoder) == NULL) {
		if (reader->rd_sample_at > 0 && prof_decoder_damage(reader,
		    reader->rd_sample_at - 1, 1) == -1)
			return (-1);
		if (reader->rd_sample_at >= reader->rd_samples.ar_count)
			return (0);
		if (prof_decoder_open(reader->rd_decoder,
		    reader->rd_sample_at++) == -1)
			return (-1);
	}
	if (!stacks_expand(reader, &reader->rd_decoder->de_sample))
		return (-1);
	reader->rd_sample = &reader->rd_decoder->de_sample.sm_record;
	return (0);
}

/* --------------------------------------------------- stacks by number */

/* The node of a stack's innermost frame; NULL: its chunk was lost. */
static const uint32_t *
stack_find(const struct prof_reader *reader, uint32_t number, size_t *hint)
{
	const struct prof_segment *segments = reader->rd_segments.ar_items;
	const size_t count = reader->rd_segments.ar_count;
	const struct prof_segment *segment;
	size_t n;

	if (count == 0)
		return (NULL);
	segment = &segments[*hint];
	if (number < segment->sg_first ||
	    number - segment->sg_first >= segment->sg_count) {
		n = PROF_BEFORE(i, count, segments[i].sg_first <= number);
		*hint = n == 0 ? 0 : n - 1;
		segment = &segments[*hint];
	}
	if (number < segment->sg_first ||
	    number - segment->sg_first >= segment->sg_count)
		return (NULL);
	return ((uint32_t *)reader->rd_leaves.ar_items + segment->sg_leaf +
	    (number - segment->sg_first));
}

uint32_t
prof_stack_node(const struct prof_reader *reader, uint32_t number)
{
	size_t hint = 0;
	const uint32_t *leaf = stack_find(reader, number, &hint);

	return (leaf == NULL ? 0 : *leaf);
}

uint32_t
prof_stack_caller(const struct prof_reader *reader, uint32_t at, uint64_t *pc)
{
	const struct prof_node *node =
	    (struct prof_node *)reader->rd_nodes.ar_items + (at - 1);

	*pc = node->nd_pc;
	return (node->nd_caller);
}

size_t
prof_stack_nnodes(const struct prof_reader *reader)
{
	return (reader->rd_nodes.ar_count);
}

/* ------------------------------------------------- frames of a sample */

/* Room for three of the deepest stacks, so that all of a sample stay. */
static int
frames_room(struct prof_reader *reader)
{
	size_t need = reader->rd_nframes + 3 * (PROF_MAX_FRAMES + 1), cap;
	uint64_t *frames;

	if (need <= reader->rd_cap_frames)
		return (0);
	if (reader->rd_cap_frames >= MAX_FRAMES) {
		memset(reader->rd_place, 0, (reader->rd_leaves.ar_count + 1) *
		    sizeof(*reader->rd_place));
		reader->rd_nframes = 1;
		return (0);
	}
	cap = reader->rd_cap_frames == 0 ? 65536 : 2 * reader->rd_cap_frames;
	frames = reallocarray(reader->rd_frames, cap, sizeof(*frames));
	if (frames == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	reader->rd_frames = frames;
	reader->rd_cap_frames = cap;
	if (reader->rd_nframes == 0)
		reader->rd_nframes = 1;	/* place 0 says "not walked yet" */
	return (0);
}

/* The place in front of a stack's frames, and their number. */
static uint64_t *
stack_walk(struct prof_reader *reader, uint32_t number, uint32_t *countp)
{
	const struct prof_node *nodes = reader->rd_nodes.ar_items, *node;
	const uint32_t *leaf = stack_find(reader, number,
	    &reader->rd_segment_at);
	uint32_t *place, at;
	uint64_t *frames;

	if (leaf == NULL || *leaf == 0)
		return (NULL);
	*countp = nodes[*leaf - 1].nd_depth;
	place = &reader->rd_place[leaf -
	    (uint32_t *)reader->rd_leaves.ar_items];
	if (*place != 0)
		return (reader->rd_frames + *place);
	*place = (uint32_t)reader->rd_nframes;
	frames = reader->rd_frames + reader->rd_nframes;
	reader->rd_nframes += *countp + 1;
	*frames = 0;
	for (at = *leaf; at != 0; at = node->nd_caller) {
		node = &nodes[at - 1];
		frames[1 + *countp - node->nd_depth] = node->nd_pc;
	}
	return (frames);
}

/*
 * The frames of one list: the innermost pc before those of the stack.
 * Without its stack's chunk only the pc is left, which pr_ip holds.
 */
static void
stack_get(struct prof_reader *reader, const struct prof_stack *stack,
    uint64_t *alone, struct frames *frames)
{
	frames->fr_list = NULL;
	frames->fr_count = 0;
	if (!stack->sk_there)
		return;
	frames->fr_list = stack->sk_number == 0 ? alone :
	    stack_walk(reader, stack->sk_number, &frames->fr_count);
	if (frames->fr_list != NULL) {
		frames->fr_list[0] = stack->sk_leaf;
		frames->fr_count++;
	}
}

/* Script frames, if their chunk is there; the innermost gets its place. */
static void
expand_script(struct prof_reader *reader, const struct prof_stack *stack,
    struct prof_record *record)
{
	uint64_t *list = stack_walk(reader, stack->sk_number,
	    &record->pr_nscript);

	if (list == NULL) {
		record->pr_ustatus = PROF_STACK_FAULT;
		return;
	}
	list[1] = (list[1] & ~(uint64_t)PROF_FRAME_INSTRUCTION) |
	    stack->sk_leaf;
	record->pr_script = list + 1;
}

/* Kernel and user frames that are one stack need two places for the leaf. */
static int
stack_twin(struct prof_reader *reader, uint64_t kernel_leaf,
    struct frames *user)
{
	if (reader->rd_twin == NULL)
		reader->rd_twin = calloc(PROF_MAX_FRAMES + 1,
		    sizeof(*reader->rd_twin));
	if (reader->rd_twin == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	memcpy(reader->rd_twin, user->fr_list,
	    user->fr_count * sizeof(*reader->rd_twin));
	user->fr_list[0] = kernel_leaf;
	user->fr_list = reader->rd_twin;
	return (0);
}

/* False: no memory; rd_error says it. */
static bool
stacks_expand(struct prof_reader *reader, struct prof_sample *sample)
{
	struct prof_record *record = &sample->sm_record;
	struct frames kernel, user;

	if (frames_room(reader) == -1)
		return (false);
	stack_get(reader, &sample->sm_kernel, &reader->rd_alone[0], &kernel);
	stack_get(reader, &sample->sm_user, &reader->rd_alone[1], &user);
	if (sample->sm_user.sk_there && user.fr_list == NULL)
		record->pr_ustatus = PROF_STACK_FAULT;
	if (sample->sm_kernel.sk_there && kernel.fr_list == NULL)
		record->pr_kstatus = PROF_STACK_FAULT;
	if (kernel.fr_list != NULL && kernel.fr_list == user.fr_list &&
	    stack_twin(reader, sample->sm_kernel.sk_leaf, &user) == -1)
		return (false);
	record->pr_kernel = kernel.fr_list;
	record->pr_nkernel = kernel.fr_count;
	record->pr_user = user.fr_list;
	record->pr_nuser = user.fr_count;
	record->pr_script = NULL;
	record->pr_nscript = 0;
	if (sample->sm_script.sk_there)
		expand_script(reader, &sample->sm_script, record);
	return (true);
}
