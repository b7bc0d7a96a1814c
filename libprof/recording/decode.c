/* SPDX-License-Identifier: ISC */
/*
 * Samples, one after the other.  A SAMPLE chunk is decompressed, its tables
 * are read into arrays, and each sample then takes the next value of each
 * column that its shape names.  Nothing is carried from chunk to chunk but
 * the stacks.
 *
 * A stack is walked from its node to the outermost caller the first time a
 * sample uses it, into an array with a free place in front:
 *
 *	rd_frames: ... | leaf | frame | frame | ... | leaf | frame | ...
 *	                 ^ written by each sample that uses the stack
 *
 * so most samples copy no frames at all.  The arrays are forgotten together
 * when they exceed MAX_FRAMES; the tree stays.
 */
#include <stdlib.h>

#include "reader.h"

#define MAX_FRAMES	(8u << 20)	/* 64 MiB */

static int	decode_open(struct prof_reader *);
static int	decode_table(struct prof_reader *, unsigned, struct prof_cur);
static bool	decode_sample(struct prof_reader *);
static bool	decode_args(struct prof_reader *, const struct prof_shape *);
static bool	decode_stacks(struct prof_reader *, const struct prof_shape *);

/* Kernel or user frames of a sample; fr_list[0] is the innermost pc. */
struct frames {
	uint64_t	*fr_list;	/* NULL: its chunk was lost */
	uint32_t	 fr_count;
	uint32_t	 fr_number;	/* of the stack, 0: the pc alone */
	uint64_t	 fr_leaf;
};

void
prof_decode_rewind(struct prof_reader *reader)
{
	reader->rd_sample_at = 0;
	reader->rd_left = 0;
}

int
prof_decode_next(struct prof_reader *reader)
{
	int rv;

	for (;;) {
		while (reader->rd_left == 0) {
			rv = decode_open(reader);
			if (rv != 1)
				return (rv);
		}
		reader->rd_left--;
		if (!decode_sample(reader)) {
			/* Its checksum was right, so it was made like this. */
			reader->rd_left = 0;
			continue;
		}
		if (reader->rd_error.pe_code != PROF_OK)
			return (-1);
		return (1);
	}
}

/* ----------------------------------------------------------- chunks */

/* Begin the next chunk.  1, 0: there is none, -1: failed. */
static int
decode_open(struct prof_reader *reader)
{
	const struct prof_sample_chunk *samples = reader->rd_samples.ar_items;
	const struct prof_sample_chunk *next;
	struct prof_chunk chunk;
	struct prof_cur body, part;
	uint64_t id;
	size_t i;

	if (reader->rd_sample_at >= reader->rd_samples.ar_count)
		return (0);
	next = &samples[reader->rd_sample_at++];
	if (!prof_chunk_parse(reader->rd_bytes + next->sc_offset,
	    reader->rd_length - next->sc_offset, &chunk) ||
	    !prof_scan_body(reader, &chunk, &body))
		return (1);
	reader->rd_shapes.ar_count = reader->rd_tasks.ar_count = 0;
	reader->rd_addrs.ar_count = reader->rd_words.ar_count = 0;
	for (i = 0; i < PROF_SS_END; i++)
		reader->rd_columns[i] = prof_cur_of(NULL, 0);
	while (prof_cur_left(&body) > 0) {
		id = prof_cur_varint(&body);
		part = prof_cur_take(&body, prof_cur_varint(&body));
		if (part.cu_bad)
			return (1);
		if (id < PROF_SS_SHAPE) {
			if (decode_table(reader, (unsigned)id, part) == -1)
				return (-1);
		} else if (id < PROF_SS_END) {
			reader->rd_columns[id] = part;
		}
	}
	memset(reader->rd_previous, 0, reader->rd_nevents *
	    sizeof(*reader->rd_previous));
	reader->rd_time = 0;
	reader->rd_left = next->sc_count;
	return (1);
}

static int
table_shapes(struct prof_reader *reader, struct prof_cur *cur)
{
	struct prof_shape *shape;

	shape = prof_array_add(reader, &reader->rd_shapes, sizeof(*shape));
	if (shape == NULL)
		return (-1);
	shape->sh_bits = (uint8_t)prof_cur_varint(cur);
	shape->sh_event = prof_cur_u32(cur);
	shape->sh_kstatus = (uint8_t)prof_cur_varint(cur);
	shape->sh_ustatus = (uint8_t)prof_cur_varint(cur);
	shape->sh_nargs = (uint8_t)prof_cur_varint(cur);
	shape->sh_strings = prof_cur_u32(cur);
	if (shape->sh_nargs > PROF_MAX_ARGS ||
	    shape->sh_event >= reader->rd_nevents)
		cur->cu_bad = true;
	if (shape->sh_kstatus >= PROF_STACK_NSTATUS)
		shape->sh_kstatus = PROF_STACK_FAULT;
	if (shape->sh_ustatus >= PROF_STACK_NSTATUS)
		shape->sh_ustatus = PROF_STACK_FAULT;
	return (0);
}

static int
table_tasks(struct prof_reader *reader, struct prof_cur *cur)
{
	struct prof_task *task;

	task = prof_array_add(reader, &reader->rd_tasks, sizeof(*task));
	if (task == NULL)
		return (-1);
	task->tk_pid = prof_cur_u32(cur);
	task->tk_tid = task->tk_pid +
	    (uint32_t)prof_unzigzag(prof_cur_varint(cur));
	return (0);
}

static int
table_addrs(struct prof_reader *reader, struct prof_cur *cur)
{
	uint64_t last = 0, *addr;

	if (reader->rd_addrs.ar_count > 0)
		last = ((uint64_t *)reader->rd_addrs.ar_items)
		    [reader->rd_addrs.ar_count - 1];
	addr = prof_array_add(reader, &reader->rd_addrs, sizeof(*addr));
	if (addr == NULL)
		return (-1);
	*addr = last + prof_unzigzag(prof_cur_varint(cur));
	return (0);
}

static int
table_words(struct prof_reader *reader, struct prof_cur *cur)
{
	const char **word;

	word = prof_array_add(reader, &reader->rd_words, sizeof(*word));
	if (word == NULL)
		return (-1);
	*word = prof_cur_string(cur);
	return (0);
}

/* A table is cut where it cannot be read; -1: no memory. */
static int
decode_table(struct prof_reader *reader, unsigned id, struct prof_cur part)
{
	static int (*const entries[PROF_SS_SHAPE])(struct prof_reader *,
	    struct prof_cur *) = {
		[PROF_SS_SHAPES] = table_shapes,
		[PROF_SS_TASKS] = table_tasks,
		[PROF_SS_ADDRS] = table_addrs,
		[PROF_SS_STRINGS] = table_words
	};
	struct prof_array *arrays[PROF_SS_SHAPE] = {
		[PROF_SS_SHAPES] = &reader->rd_shapes,
		[PROF_SS_TASKS] = &reader->rd_tasks,
		[PROF_SS_ADDRS] = &reader->rd_addrs,
		[PROF_SS_STRINGS] = &reader->rd_words
	};

	if (entries[id] == NULL)
		return (0);
	while (prof_cur_left(&part) > 0) {
		if (entries[id](reader, &part) == -1)
			return (-1);
		if (part.cu_bad)
			arrays[id]->ar_count--;
	}
	return (0);
}

/* ---------------------------------------------------------- a sample */

/* Item n of a table, n being the next of a column; NULL: damaged. */
static inline const void *
column_item(struct prof_reader *reader, unsigned column,
    const struct prof_array *table, size_t size)
{
	struct prof_cur *cur = &reader->rd_columns[column];
	uint64_t n = prof_cur_varint(cur);

	if (cur->cu_bad || n >= table->ar_count)
		return (NULL);
	return ((const char *)table->ar_items + n * size);
}

static const char *
column_word(struct prof_reader *reader, unsigned column)
{
	const char *const *word = column_item(reader, column,
	    &reader->rd_words, sizeof(*word));

	return (word == NULL ? NULL : *word);
}

static bool
decode_sample(struct prof_reader *reader)
{
	struct prof_record *record = &reader->rd_sample;
	struct prof_cur *columns = reader->rd_columns;
	const struct prof_shape *shape;
	const struct prof_task *task;
	struct prof_previous *previous;
	uint64_t cpu;

	shape = column_item(reader, PROF_SS_SHAPE, &reader->rd_shapes,
	    sizeof(*shape));
	task = column_item(reader, PROF_SS_TASK, &reader->rd_tasks,
	    sizeof(*task));
	cpu = prof_cur_varint(&columns[PROF_SS_CPU]);
	reader->rd_time += prof_unzigzag(
	    prof_cur_varint(&columns[PROF_SS_TIME]));
	if (shape == NULL || task == NULL || cpu > UINT32_MAX ||
	    columns[PROF_SS_CPU].cu_bad || columns[PROF_SS_TIME].cu_bad)
		return (false);
	memset(record, 0, sizeof(*record));
	record->pr_type = PROF_R_SAMPLE;
	record->pr_event = shape->sh_event;
	record->pr_cpu = (uint32_t)cpu;
	record->pr_pid = task->tk_pid;
	record->pr_tid = task->tk_tid;
	record->pr_time_ns = reader->rd_time;
	record->pr_in_kernel = (shape->sh_bits & PROF_SH_KERNEL) != 0;
	record->pr_nested = (shape->sh_bits & PROF_SH_NESTED) != 0;
	record->pr_kstatus = shape->sh_kstatus;
	record->pr_ustatus = shape->sh_ustatus;
	record->pr_path = "";
	record->pr_comm = "";
	previous = &reader->rd_previous[shape->sh_event];
	if (shape->sh_bits & PROF_SH_WEIGHT)
		previous->pv_weight += prof_unzigzag(
		    prof_cur_varint(&columns[PROF_SS_WEIGHT]));
	record->pr_weight = previous->pv_weight;
	if (shape->sh_bits & PROF_SH_COMM)
		record->pr_comm = column_word(reader, PROF_SS_COMM);
	if (record->pr_comm == NULL || columns[PROF_SS_WEIGHT].cu_bad)
		return (false);
	return (decode_args(reader, shape) && decode_stacks(reader, shape));
}

static bool
decode_args(struct prof_reader *reader, const struct prof_shape *shape)
{
	struct prof_record *record = &reader->rd_sample;
	struct prof_previous *previous =
	    &reader->rd_previous[shape->sh_event];
	struct prof_cur *cur;
	unsigned i;

	record->pr_nargs = shape->sh_nargs;
	for (i = 0; i < shape->sh_nargs; i++) {
		if (shape->sh_strings & 1u << i) {
			record->pr_strs[i] = column_word(reader,
			    PROF_SS_ARG0 + i);
			if (record->pr_strs[i] == NULL)
				return (false);
			continue;
		}
		cur = &reader->rd_columns[PROF_SS_ARG0 + i];
		previous->pv_args[i] += prof_unzigzag(prof_cur_varint(cur));
		record->pr_args[i] = previous->pv_args[i];
		if (cur->cu_bad)
			return (false);
	}
	return (true);
}

/* ------------------------------------------------------------ stacks */

/* The node of a stack's innermost frame; NULL: its chunk was lost. */
static uint32_t *
stack_find(struct prof_reader *reader, uint32_t number)
{
	const struct prof_segment *segments = reader->rd_segments.ar_items;
	size_t low = 0, high = reader->rd_segments.ar_count, middle;
	const struct prof_segment *segment;

	if (high == 0)
		return (NULL);
	segment = &segments[reader->rd_segment_at];
	if (number < segment->sg_first ||
	    number - segment->sg_first >= segment->sg_count) {
		while (high - low > 1) {
			middle = low + (high - low) / 2;
			if (segments[middle].sg_first <= number)
				low = middle;
			else
				high = middle;
		}
		segment = &segments[low];
		reader->rd_segment_at = low;
	}
	if (number < segment->sg_first ||
	    number - segment->sg_first >= segment->sg_count)
		return (NULL);
	return ((uint32_t *)reader->rd_leaves.ar_items + segment->sg_leaf +
	    (number - segment->sg_first));
}

/* Room for two of the deepest stacks, so that both of a sample stay. */
static int
frames_room(struct prof_reader *reader)
{
	size_t need = reader->rd_nframes + 2 * (PROF_MAX_FRAMES + 1), cap;
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
	uint32_t *leaf = stack_find(reader, number), *place, at;
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
 * The frames of one list: the innermost pc of one column before the stack of
 * another.  Without its stack's chunk only the pc is left.
 */
static bool
stack_get(struct prof_reader *reader, unsigned leaf_column,
    unsigned stack_column, struct frames *frames)
{
	struct prof_cur *cur = &reader->rd_columns[stack_column];
	const uint64_t *leaf = column_item(reader, leaf_column,
	    &reader->rd_addrs, sizeof(*leaf));

	frames->fr_number = prof_cur_u32(cur);
	if (leaf == NULL || cur->cu_bad)
		return (false);
	frames->fr_leaf = *leaf;
	frames->fr_count = 0;
	frames->fr_list = frames->fr_number == 0 ?
	    &reader->rd_alone[stack_column == PROF_SS_USTACK] :
	    stack_walk(reader, frames->fr_number, &frames->fr_count);
	if (frames->fr_list != NULL) {
		frames->fr_list[0] = *leaf;
		frames->fr_count++;
	}
	return (true);
}

/* Kernel and user frames that are one stack need two places for the leaf. */
static int
stack_twin(struct prof_reader *reader, const struct frames *kernel,
    struct frames *user)
{
	if (reader->rd_twin == NULL)
		reader->rd_twin = calloc(PROF_MAX_FRAMES + 1,
		    sizeof(*reader->rd_twin));
	if (reader->rd_twin == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	memcpy(reader->rd_twin, user->fr_list,
	    user->fr_count * sizeof(*reader->rd_twin));
	kernel->fr_list[0] = kernel->fr_leaf;
	user->fr_list = reader->rd_twin;
	return (0);
}

static bool
decode_stacks(struct prof_reader *reader, const struct prof_shape *shape)
{
	struct prof_record *record = &reader->rd_sample;
	struct frames kernel = { 0 }, user = { 0 };
	const uint64_t *ip;

	if (frames_room(reader) == -1)
		return (true);	/* rd_error says it */
	if (shape->sh_bits & PROF_SH_USTACK) {
		if (!stack_get(reader, PROF_SS_ULEAF, PROF_SS_USTACK, &user))
			return (false);
		record->pr_ip = user.fr_leaf;
		if (user.fr_list == NULL)
			record->pr_ustatus = PROF_STACK_FAULT;
	}
	if (shape->sh_bits & PROF_SH_KSTACK) {
		if (!stack_get(reader, PROF_SS_KLEAF, PROF_SS_KSTACK,
		    &kernel))
			return (false);
		record->pr_ip = kernel.fr_leaf;
		if (kernel.fr_list == NULL)
			record->pr_kstatus = PROF_STACK_FAULT;
	}
	if (kernel.fr_list != NULL && kernel.fr_list == user.fr_list) {
		user.fr_list[0] = user.fr_leaf;
		if (stack_twin(reader, &kernel, &user) == -1)
			return (true);
	}
	record->pr_kernel = kernel.fr_list;
	record->pr_nkernel = kernel.fr_count;
	record->pr_user = user.fr_list;
	record->pr_nuser = user.fr_count;
	if ((shape->sh_bits & PROF_SH_IP) == 0)
		return (true);
	ip = column_item(reader, PROF_SS_IP, &reader->rd_addrs, sizeof(*ip));
	if (ip == NULL)
		return (false);
	record->pr_ip = *ip;
	return (true);
}
