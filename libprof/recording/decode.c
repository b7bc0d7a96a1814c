/* SPDX-License-Identifier: ISC */
/*
 * Samples out of SAMPLE chunks.  A chunk is decompressed, its tables are read
 * into arrays, and each sample then takes the next value of each column that
 * its shape names.  Nothing is carried from chunk to chunk, and a decoder
 * only reads what its reader keeps, so several may work at once on different
 * chunks; of its own chunk it notes there that it does not decode.
 *
 * Stacks stay numbers here: expand.c makes frames of them for
 * prof_reader_record, profile/ looks at each just once.
 */
#include <stdlib.h>

#include "base/error.h"
#include "reader.h"

#define MAX_TABLES	(32u << 20)	/* bytes; a batch of ours has a tenth */

static int	decode_table(struct prof_decoder *, unsigned, struct prof_cur);
static bool	decode_sample(struct prof_decoder *);
static bool	decode_args(struct prof_decoder *, const struct prof_shape *);
static bool	decode_values(struct prof_decoder *,
		    const struct prof_shape *);
static bool	decode_clock(struct prof_decoder *, const struct prof_shape *);
static bool	decode_stacks(struct prof_decoder *,
		    const struct prof_shape *);

struct prof_decoder *
prof_decoder_new(const struct prof_reader *reader, struct prof_err *error)
{
	struct prof_decoder *decoder;

	decoder = calloc(1, sizeof(*decoder));
	if (decoder == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	decoder->de_reader = reader;
	decoder->de_error = error;
	/* There is one in each thread. */
	decoder->de_budget = reader->rd_budget < MAX_TABLES ?
	    reader->rd_budget : MAX_TABLES;
	decoder->de_inflate.if_zstd = ZSTD_createDCtx();
	decoder->de_previous = calloc(reader->rd_nevents + 1,
	    sizeof(*decoder->de_previous));
	decoder->de_sample.sm_record.pr_type = PROF_R_SAMPLE;
	decoder->de_sample.sm_record.pr_path = "";
	if (decoder->de_inflate.if_zstd == NULL ||
	    decoder->de_previous == NULL) {
		prof_fail_nomem(error);
		prof_decoder_free(decoder);
		return (NULL);
	}
	return (decoder);
}

struct prof_decoder *
prof_decoder_elapsed(const struct prof_reader *reader, struct prof_err *error)
{
	struct prof_decoder *decoder = prof_decoder_new(reader, error);

	if (decoder != NULL)
		decoder->de_is_elapsed = true;
	return (decoder);
}

void
prof_decoder_free(struct prof_decoder *decoder)
{
	if (decoder == NULL)
		return;
	free(decoder->de_shapes.ar_items);
	free(decoder->de_tasks.ar_items);
	free(decoder->de_addrs.ar_items);
	free(decoder->de_words.ar_items);
	free(decoder->de_previous);
	prof_inflate_free(&decoder->de_inflate);
	prof_buf_free(&decoder->de_stored);
	free(decoder);
}

size_t
prof_decoder_nchunks(const struct prof_reader *reader)
{
	return (reader->rd_samples.ar_count);
}

/* Its checksum was right, so it was made like this: no more samples. */
static int
chunk_damaged(struct prof_decoder *decoder)
{
	decoder->de_left = 0;
	decoder->de_chunk->sc_damaged = true;
	return (0);
}

const struct prof_sample *
prof_decoder_next(struct prof_decoder *decoder)
{
	do {
		if (decoder->de_left == 0)
			return (NULL);
		decoder->de_left--;
		if (!decode_sample(decoder)) {
			chunk_damaged(decoder);
			return (NULL);
		}
	} while (decoder->de_is_elapsed && !prof_elapsed_convert(
	    decoder->de_reader, &decoder->de_sample.sm_record));
	return (&decoder->de_sample);
}

int
prof_samples_each(const struct prof_reader *reader,
    int (*fn)(void *arg, const struct prof_sample *sample), void *arg,
    struct prof_err *error)
{
	struct prof_decoder *decoder = prof_decoder_new(reader, error);
	const struct prof_sample *sample;
	int rv = decoder == NULL ? -1 : 0;

	for (size_t n = 0; rv == 0 && n < prof_decoder_nchunks(reader); n++) {
		rv = prof_decoder_open(decoder, n);
		while (rv == 0 &&
		    (sample = prof_decoder_next(decoder)) != NULL)
			rv = fn(arg, sample);
	}
	prof_decoder_free(decoder);
	return (rv == -1 ? prof_fail_nomem(error) : rv);
}

void
prof_decoder_skip(struct prof_decoder *decoder)
{
	decoder->de_left = 0;
}

/* ----------------------------------------------------------- chunks */

int
prof_decoder_open(struct prof_decoder *decoder, size_t n)
{
	const struct prof_reader *reader = decoder->de_reader;
	struct prof_sample_chunk *at =
	    (struct prof_sample_chunk *)reader->rd_samples.ar_items + n;
	struct prof_chunk chunk;
	struct prof_cur body, part;
	uint64_t id;
	size_t i;
	int rv = 0;

	decoder->de_left = 0;
	decoder->de_chunk = at;
	rv = prof_scan_chunk(reader, at->sc_offset, &chunk,
	    &decoder->de_stored);
	if (rv == 1)
		rv = prof_inflate_body(&decoder->de_inflate, &chunk, &body);
	if (rv == -1)
		return (prof_fail_nomem(decoder->de_error));
	if (rv == 0)
		return (chunk_damaged(decoder));
	decoder->de_shapes.ar_count = decoder->de_tasks.ar_count = 0;
	decoder->de_addrs.ar_count = decoder->de_words.ar_count = 0;
	for (i = 0; i < PROF_SS_END; i++)
		decoder->de_columns[i] = prof_cur_of(NULL, 0);
	while (prof_cur_left(&body) > 0) {
		id = prof_cur_varint(&body);
		part = prof_cur_take(&body, prof_cur_varint(&body));
		if (part.cu_bad)
			return (chunk_damaged(decoder));
		if (id < PROF_SS_SHAPE) {
			if (decode_table(decoder, (unsigned)id, part) == -1)
				return (-1);
		} else if (id < PROF_SS_END) {
			decoder->de_columns[id] = part;
		}
	}
	memset(decoder->de_previous, 0, reader->rd_nevents *
	    sizeof(*decoder->de_previous));
	decoder->de_time = 0;
	decoder->de_left = at->sc_count;
	return (0);
}

/* Room for one more entry, zeroed; NULL: the error says why. */
static void *
table_add(struct prof_decoder *decoder, struct prof_array *table, size_t size)
{
	size_t cap = table->ar_cap == 0 ? 64 : 2 * table->ar_cap, bytes;
	void *items;

	if (table->ar_count == table->ar_cap) {
		bytes = (cap - table->ar_cap) * size;
		if (bytes > decoder->de_budget) {
			prof_reader_exceeded(decoder->de_error);
			return (NULL);
		}
		items = reallocarray(table->ar_items, cap, size);
		if (items == NULL) {
			prof_fail_nomem(decoder->de_error);
			return (NULL);
		}
		decoder->de_budget -= bytes;
		table->ar_items = items;
		table->ar_cap = cap;
	}
	items = (char *)table->ar_items + table->ar_count++ * size;
	memset(items, 0, size);
	return (items);
}

static int
table_shapes(struct prof_decoder *decoder, struct prof_cur *cur)
{
	struct prof_shape *shape;

	shape = table_add(decoder, &decoder->de_shapes, sizeof(*shape));
	if (shape == NULL)
		return (-1);
	shape->sh_bits = (uint16_t)prof_cur_varint(cur);
	shape->sh_event = prof_cur_u32(cur);
	shape->sh_kstatus = (uint8_t)prof_cur_varint(cur);
	shape->sh_ustatus = (uint8_t)prof_cur_varint(cur);
	shape->sh_nargs = (uint8_t)prof_cur_varint(cur);
	shape->sh_strings = prof_cur_u32(cur);
	if (shape->sh_bits & PROF_SH_VALUES)
		shape->sh_nvalues = (uint8_t)prof_cur_varint(cur);
	if (shape->sh_nargs > PROF_MAX_ARGS ||
	    shape->sh_nvalues > PROF_MAX_VALUES ||
	    shape->sh_event >= decoder->de_reader->rd_nevents)
		cur->cu_bad = true;
	if (shape->sh_kstatus >= PROF_STACK_NSTATUS)
		shape->sh_kstatus = PROF_STACK_FAULT;
	if (shape->sh_ustatus >= PROF_STACK_NSTATUS)
		shape->sh_ustatus = PROF_STACK_FAULT;
	return (0);
}

static int
table_tasks(struct prof_decoder *decoder, struct prof_cur *cur)
{
	struct prof_task *task;

	task = table_add(decoder, &decoder->de_tasks, sizeof(*task));
	if (task == NULL)
		return (-1);
	task->tk_pid = prof_cur_u32(cur);
	task->tk_tid = task->tk_pid +
	    (uint32_t)prof_unzigzag(prof_cur_varint(cur));
	return (0);
}

static int
table_addrs(struct prof_decoder *decoder, struct prof_cur *cur)
{
	uint64_t last = 0, *addr;

	if (decoder->de_addrs.ar_count > 0)
		last = ((uint64_t *)decoder->de_addrs.ar_items)
		    [decoder->de_addrs.ar_count - 1];
	addr = table_add(decoder, &decoder->de_addrs, sizeof(*addr));
	if (addr == NULL)
		return (-1);
	*addr = last + prof_unzigzag(prof_cur_varint(cur));
	return (0);
}

static int
table_words(struct prof_decoder *decoder, struct prof_cur *cur)
{
	const char **word;

	word = table_add(decoder, &decoder->de_words, sizeof(*word));
	if (word == NULL)
		return (-1);
	*word = prof_cur_string(cur);
	return (0);
}

/* A table is cut where it cannot be read; -1: no memory. */
static int
decode_table(struct prof_decoder *decoder, unsigned id, struct prof_cur part)
{
	static int (*const entries[PROF_SS_SHAPE])(struct prof_decoder *,
	    struct prof_cur *) = {
		[PROF_SS_SHAPES] = table_shapes,
		[PROF_SS_TASKS] = table_tasks,
		[PROF_SS_ADDRS] = table_addrs,
		[PROF_SS_STRINGS] = table_words
	};
	struct prof_array *arrays[PROF_SS_SHAPE] = {
		[PROF_SS_SHAPES] = &decoder->de_shapes,
		[PROF_SS_TASKS] = &decoder->de_tasks,
		[PROF_SS_ADDRS] = &decoder->de_addrs,
		[PROF_SS_STRINGS] = &decoder->de_words
	};

	if (entries[id] == NULL)
		return (0);
	while (prof_cur_left(&part) > 0) {
		if (entries[id](decoder, &part) == -1)
			return (-1);
		if (part.cu_bad)
			arrays[id]->ar_count--;
	}
	return (0);
}

/* ---------------------------------------------------------- a sample */

/* Item n of a table, n being the next of a column; NULL: damaged. */
static inline const void *
column_item(struct prof_decoder *decoder, unsigned column,
    const struct prof_array *table, size_t size)
{
	struct prof_cur *cur = &decoder->de_columns[column];
	uint64_t n = prof_cur_varint(cur);

	if (cur->cu_bad || n >= table->ar_count)
		return (NULL);
	return ((const char *)table->ar_items + n * size);
}

static const char *
column_word(struct prof_decoder *decoder, unsigned column)
{
	const char *const *word = column_item(decoder, column,
	    &decoder->de_words, sizeof(*word));

	return (word == NULL ? NULL : *word);
}

static bool
decode_sample(struct prof_decoder *decoder)
{
	struct prof_record *record = &decoder->de_sample.sm_record;
	struct prof_cur *columns = decoder->de_columns;
	const struct prof_shape *shape;
	const struct prof_task *task;
	struct prof_previous *previous;
	uint64_t cpu;

	shape = column_item(decoder, PROF_SS_SHAPE, &decoder->de_shapes,
	    sizeof(*shape));
	task = column_item(decoder, PROF_SS_TASK, &decoder->de_tasks,
	    sizeof(*task));
	cpu = prof_cur_varint(&columns[PROF_SS_CPU]);
	decoder->de_time += prof_unzigzag(
	    prof_cur_varint(&columns[PROF_SS_TIME]));
	if (shape == NULL || task == NULL || cpu > UINT32_MAX ||
	    columns[PROF_SS_CPU].cu_bad || columns[PROF_SS_TIME].cu_bad)
		return (false);
	record->pr_event = shape->sh_event;
	record->pr_cpu = (uint32_t)cpu;
	record->pr_pid = task->tk_pid;
	record->pr_tid = task->tk_tid;
	record->pr_time_ns = decoder->de_time;
	record->pr_in_kernel = (shape->sh_bits & PROF_SH_KERNEL) != 0;
	record->pr_nested = (shape->sh_bits & PROF_SH_NESTED) != 0;
	record->pr_by_chance = (shape->sh_bits & PROF_SH_CHANCE) == 0 ? 0 :
	    (uint8_t)(1 + ((shape->sh_bits & PROF_SH_STEP) >>
	    PROF_SH_STEP_SHIFT));
	record->pr_kstatus = shape->sh_kstatus;
	record->pr_ustatus = shape->sh_ustatus;
	record->pr_comm = "";
	previous = &decoder->de_previous[shape->sh_event];
	if (shape->sh_bits & PROF_SH_WEIGHT)
		previous->pv_weight += prof_unzigzag(
		    prof_cur_varint(&columns[PROF_SS_WEIGHT]));
	record->pr_weight = previous->pv_weight;
	if (shape->sh_bits & PROF_SH_COMM)
		record->pr_comm = column_word(decoder, PROF_SS_COMM);
	if (record->pr_comm == NULL || columns[PROF_SS_WEIGHT].cu_bad)
		return (false);
	return (decode_args(decoder, shape) &&
	    decode_values(decoder, shape) && decode_clock(decoder, shape) &&
	    decode_stacks(decoder, shape));
}

static bool
decode_args(struct prof_decoder *decoder, const struct prof_shape *shape)
{
	struct prof_record *record = &decoder->de_sample.sm_record;
	struct prof_previous *previous =
	    &decoder->de_previous[shape->sh_event];
	struct prof_cur *cur;
	unsigned i;

	/* The record is that of the sample before. */
	for (i = shape->sh_nargs; i < record->pr_nargs; i++) {
		record->pr_args[i] = 0;
		record->pr_strs[i] = NULL;
	}
	record->pr_nargs = shape->sh_nargs;
	for (i = 0; i < shape->sh_nargs; i++) {
		record->pr_args[i] = 0;
		if (shape->sh_strings & 1u << i) {
			record->pr_strs[i] = column_word(decoder,
			    PROF_SS_ARG0 + i);
			if (record->pr_strs[i] == NULL)
				return (false);
			continue;
		}
		record->pr_strs[i] = NULL;
		cur = &decoder->de_columns[PROF_SS_ARG0 + i];
		previous->pv_args[i] += prof_unzigzag(prof_cur_varint(cur));
		record->pr_args[i] = previous->pv_args[i];
		if (cur->cu_bad)
			return (false);
	}
	return (true);
}

static bool
decode_values(struct prof_decoder *decoder, const struct prof_shape *shape)
{
	struct prof_record *record = &decoder->de_sample.sm_record;
	struct prof_cur *columns = decoder->de_columns;
	uint64_t idle;
	unsigned i;

	record->pr_nvalues = shape->sh_nvalues;
	record->pr_values_ns = record->pr_values_running_ns = 0;
	if (shape->sh_nvalues == 0)
		return (true);
	idle = prof_cur_varint(&columns[PROF_SS_IDLE]);
	if (idle != 0) {
		record->pr_values_ns =
		    prof_cur_varint(&columns[PROF_SS_WHOLE]);
		record->pr_values_running_ns = record->pr_values_ns - idle;
	}
	for (i = 0; i < shape->sh_nvalues; i++) {
		record->pr_values[i] =
		    prof_cur_varint(&columns[PROF_SS_VALUE0 + i]);
		if (columns[PROF_SS_VALUE0 + i].cu_bad)
			return (false);
	}
	return (idle <= record->pr_values_ns &&
	    !columns[PROF_SS_IDLE].cu_bad && !columns[PROF_SS_WHOLE].cu_bad);
}

static bool
decode_clock(struct prof_decoder *decoder, const struct prof_shape *shape)
{
	struct prof_record *record = &decoder->de_sample.sm_record;
	struct prof_previous *previous =
	    &decoder->de_previous[shape->sh_event];
	struct prof_cur *running = &decoder->de_columns[PROF_SS_RUNNING];
	struct prof_cur *off = &decoder->de_columns[PROF_SS_OFF];

	record->pr_has_clock = (shape->sh_bits & PROF_SH_CLOCK) != 0;
	if (!record->pr_has_clock)
		return (true);
	previous->pv_running_ns += prof_unzigzag(prof_cur_varint(running));
	previous->pv_off_ns += prof_unzigzag(prof_cur_varint(off));
	record->pr_running_ns = previous->pv_running_ns;
	record->pr_off_ns = previous->pv_off_ns;
	return (!running->cu_bad && !off->cu_bad);
}

/* The innermost pc of one column and the number of another. */
static bool
decode_stack(struct prof_decoder *decoder, unsigned leaf_column,
    unsigned stack_column, struct prof_stack *stack)
{
	struct prof_cur *cur = &decoder->de_columns[stack_column];
	const uint64_t *leaf = column_item(decoder, leaf_column,
	    &decoder->de_addrs, sizeof(*leaf));

	stack->sk_number = prof_cur_u32(cur);
	if (leaf == NULL || cur->cu_bad)
		return (false);
	stack->sk_leaf = *leaf;
	stack->sk_there = true;
	return (true);
}

/* All frames are in the dictionary, but not where the innermost one is. */
static bool
decode_script(struct prof_decoder *decoder, struct prof_stack *stack)
{
	struct prof_cur *instruction =
	    &decoder->de_columns[PROF_SS_INSTRUCTION];
	struct prof_cur *number = &decoder->de_columns[PROF_SS_SCRIPT];

	stack->sk_leaf = prof_cur_varint(instruction) &
	    PROF_FRAME_INSTRUCTION;
	stack->sk_number = prof_cur_u32(number);
	stack->sk_there = true;
	return (!instruction->cu_bad && !number->cu_bad &&
	    stack->sk_number != 0);
}

static bool
decode_stacks(struct prof_decoder *decoder, const struct prof_shape *shape)
{
	struct prof_sample *sample = &decoder->de_sample;
	struct prof_record *record = &sample->sm_record;
	const uint64_t *ip;

	memset(&sample->sm_kernel, 0, sizeof(sample->sm_kernel));
	memset(&sample->sm_user, 0, sizeof(sample->sm_user));
	sample->sm_script.sk_there = false;
	record->pr_ip = 0;
	if (shape->sh_bits & PROF_SH_USTACK) {
		if (!decode_stack(decoder, PROF_SS_ULEAF, PROF_SS_USTACK,
		    &sample->sm_user))
			return (false);
		record->pr_ip = sample->sm_user.sk_leaf;
	}
	if (shape->sh_bits & PROF_SH_KSTACK) {
		if (!decode_stack(decoder, PROF_SS_KLEAF, PROF_SS_KSTACK,
		    &sample->sm_kernel))
			return (false);
		record->pr_ip = sample->sm_kernel.sk_leaf;
	}
	if (shape->sh_bits & PROF_SH_SCRIPT &&
	    !decode_script(decoder, &sample->sm_script))
		return (false);
	if ((shape->sh_bits & PROF_SH_IP) == 0)
		return (true);
	ip = column_item(decoder, PROF_SS_IP, &decoder->de_addrs,
	    sizeof(*ip));
	if (ip == NULL)
		return (false);
	record->pr_ip = *ip;
	return (true);
}
