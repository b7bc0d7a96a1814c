/* SPDX-License-Identifier: ISC */
/*
 * One sample into the columns of a batch.  This runs in the thread that
 * drains the streams, once for every sample, and so decides how many samples
 * one core can take: two hashes of the frames, some table look-ups, and about
 * ten bytes appended.  Nothing is allocated but when a buffer or a table
 * doubles.
 *
 * The innermost pc of a stack stays outside of the stack's dictionary entry:
 * with it, a timer sample would make a new stack of almost every sample.  So
 * does the instruction of the innermost script frame.
 */
#include "batch.h"
#include "frame.h"

static uint32_t	pack_stack(struct prof_packer *, struct prof_batch *,
		    const uint64_t *, uint32_t);
static uint32_t	pack_frames(struct prof_packer *, struct prof_batch *,
		    const uint64_t *, uint32_t, unsigned, unsigned);
static int	pack_script(struct prof_packer *, struct prof_batch *,
		    const struct prof_record *);
static int	pack_addr(struct prof_packer *, struct prof_batch *,
		    unsigned, uint64_t);
static int	pack_string(struct prof_packer *, struct prof_batch *,
		    unsigned, const char *);
static int	pack_args(struct prof_packer *, struct prof_batch *,
		    const struct prof_record *, struct prof_previous *);
static void	pack_values(struct prof_batch *, const struct prof_record *);
static void	pack_clock(struct prof_batch *, const struct prof_record *,
		    struct prof_previous *);
static int	pack_shape(struct prof_packer *, struct prof_batch *,
		    const struct prof_record *, unsigned);
static int	pack_task(struct prof_packer *, struct prof_batch *,
		    const struct prof_record *);
static int	pack_tally(struct prof_packer *, struct prof_batch *,
		    const struct prof_record *);
static void	pack_time(struct prof_batch *, uint64_t);

static inline uint32_t
count_args(const struct prof_record *record)
{
	return (record->pr_nargs < PROF_MAX_ARGS ? record->pr_nargs :
	    PROF_MAX_ARGS);
}

/* The pc that the stacks imply. */
static inline uint64_t
innermost_pc(const struct prof_record *record)
{
	if (record->pr_nkernel > 0)
		return (record->pr_kernel[0]);
	if (record->pr_nuser > 0)
		return (record->pr_user[0]);
	return (0);
}

static inline unsigned
shape_bits(const struct prof_record *record,
    const struct prof_previous *previous)
{
	unsigned bits = 0;

	if (record->pr_in_kernel)
		bits |= PROF_SH_KERNEL;
	if (record->pr_nested)
		bits |= PROF_SH_NESTED;
	if (record->pr_nkernel > 0)
		bits |= PROF_SH_KSTACK;
	if (record->pr_nuser > 0)
		bits |= PROF_SH_USTACK;
	if (record->pr_ip != innermost_pc(record))
		bits |= PROF_SH_IP;
	if (record->pr_comm != NULL && record->pr_comm[0] != '\0')
		bits |= PROF_SH_COMM;
	if (record->pr_weight != previous->pv_weight)
		bits |= PROF_SH_WEIGHT;
	if (record->pr_nvalues > 0)
		bits |= PROF_SH_VALUES;
	if (record->pr_nscript > 0)
		bits |= PROF_SH_SCRIPT;
	if (record->pr_has_clock)
		bits |= PROF_SH_CLOCK;
	if (record->pr_by_chance)
		bits |= PROF_SH_CHANCE | ((record->pr_by_chance - 1U) <<
		    PROF_SH_STEP_SHIFT & PROF_SH_STEP);
	return (bits);
}

int
prof_pack_sample(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record)
{
	struct prof_previous *previous =
	    &packer->pk_previous[record->pr_event];
	struct prof_buf *columns = batch->ba_columns;
	unsigned bits = shape_bits(record, previous);

	packer->pk_kstack = 0;
	if (bits & PROF_SH_KSTACK)
		packer->pk_kstack = pack_frames(packer, batch,
		    record->pr_kernel, record->pr_nkernel, PROF_SS_KLEAF,
		    PROF_SS_KSTACK);
	if (bits & PROF_SH_USTACK)
		packer->pk_ustack = pack_frames(packer, batch,
		    record->pr_user, record->pr_nuser, PROF_SS_ULEAF,
		    PROF_SS_USTACK);
	else
		packer->pk_ustack = 0;
	if (packer->pk_kstack == PROF_INTERN_FAILED ||
	    packer->pk_ustack == PROF_INTERN_FAILED)
		return (-1);
	if (bits & PROF_SH_SCRIPT && pack_script(packer, batch, record) == -1)
		return (-1);
	if (bits & PROF_SH_IP &&
	    pack_addr(packer, batch, PROF_SS_IP, record->pr_ip) == -1)
		return (-1);
	if (bits & PROF_SH_COMM &&
	    pack_string(packer, batch, PROF_SS_COMM, record->pr_comm) == -1)
		return (-1);
	if (bits & PROF_SH_WEIGHT) {
		prof_buf_varint(&columns[PROF_SS_WEIGHT],
		    prof_zigzag(record->pr_weight - previous->pv_weight));
		previous->pv_weight = record->pr_weight;
	}
	if (bits & PROF_SH_VALUES)
		pack_values(batch, record);
	if (bits & PROF_SH_CLOCK)
		pack_clock(batch, record, previous);
	if (pack_args(packer, batch, record, previous) == -1 ||
	    pack_shape(packer, batch, record, bits) == -1 ||
	    pack_task(packer, batch, record) == -1 ||
	    pack_tally(packer, batch, record) == -1)
		return (-1);
	prof_buf_varint(&columns[PROF_SS_CPU], record->pr_cpu);
	pack_time(batch, record->pr_time_ns);
	batch->ba_nsamples++;
	return (0);
}

static inline uint32_t
count_values(const struct prof_record *record)
{
	return (record->pr_nvalues < PROF_MAX_VALUES ? record->pr_nvalues :
	    PROF_MAX_VALUES);
}

/* How long the time was is only of interest where part of it is missing. */
static void
pack_values(struct prof_batch *batch, const struct prof_record *record)
{
	uint32_t n = count_values(record), i;
	uint64_t idle = 0;

	batch->ba_nvalued++;
	/* Less than no time is nothing, not a number that has wrapped. */
	if (record->pr_values_running_ns < record->pr_values_ns)
		idle = record->pr_values_ns - record->pr_values_running_ns;
	prof_buf_varint(&batch->ba_columns[PROF_SS_IDLE], idle);
	if (idle != 0)
		prof_buf_varint(&batch->ba_columns[PROF_SS_WHOLE],
		    record->pr_values_ns);
	for (i = 0; i < n; i++)
		prof_buf_varint(&batch->ba_columns[PROF_SS_VALUE0 + i],
		    record->pr_values[i]);
}

static void
pack_clock(struct prof_batch *batch, const struct prof_record *record,
    struct prof_previous *previous)
{
	prof_buf_varint(&batch->ba_columns[PROF_SS_RUNNING],
	    prof_zigzag(record->pr_running_ns - previous->pv_running_ns));
	prof_buf_varint(&batch->ba_columns[PROF_SS_OFF],
	    prof_zigzag(record->pr_off_ns - previous->pv_off_ns));
	previous->pv_running_ns = record->pr_running_ns;
	previous->pv_off_ns = record->pr_off_ns;
}

static void
pack_time(struct prof_batch *batch, uint64_t time_ns)
{
	if (batch->ba_nsamples == 0) {
		batch->ba_first_ns = batch->ba_last_ns = time_ns;
		batch->ba_time = 0;
	}
	if (time_ns < batch->ba_first_ns)
		batch->ba_first_ns = time_ns;
	if (time_ns > batch->ba_last_ns)
		batch->ba_last_ns = time_ns;
	prof_buf_varint(&batch->ba_columns[PROF_SS_TIME],
	    prof_zigzag(time_ns - batch->ba_time));
	batch->ba_time = time_ns;
}

/*
 * What most samples of an event have in common is a row of a table, and each
 * sample names its row.  The key holds all of the row.
 */
static int
pack_shape(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record, unsigned bits)
{
	struct prof_buf *table = &batch->ba_columns[PROF_SS_SHAPES];
	unsigned kstatus = record->pr_kstatus, ustatus = record->pr_ustatus;
	uint32_t nargs = count_args(record), number, i;
	unsigned strings = 0;
	uint64_t key;
	bool is_new;

	if (record->pr_nkernel > PROF_MAX_FRAMES)
		kstatus = PROF_STACK_DEEP;
	if (record->pr_nuser > PROF_MAX_FRAMES)
		ustatus = PROF_STACK_DEEP;
	for (i = 0; i < nargs; i++)
		strings |= (unsigned)(record->pr_strs[i] != NULL) << i;
	/* 4 bits of nargs leave room for nvalues, 16 of event for bits. */
	key = (bits & 0xff) | (uint64_t)(bits >> 8) << 56 | kstatus << 8 |
	    ustatus << 16 | (uint64_t)strings << 24 |
	    (uint64_t)nargs << 32 | (uint64_t)count_values(record) << 36 |
	    (uint64_t)record->pr_event << 40;
	number = prof_map_get(&packer->pk_shapes, key, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		prof_buf_varint(table, bits);
		prof_buf_varint(table, record->pr_event);
		prof_buf_varint(table, kstatus);
		prof_buf_varint(table, ustatus);
		prof_buf_varint(table, nargs);
		prof_buf_varint(table, strings);
		if (bits & PROF_SH_VALUES)
			prof_buf_varint(table, count_values(record));
	}
	prof_buf_varint(&batch->ba_columns[PROF_SS_SHAPE], number);
	return (0);
}

static int
pack_task(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record)
{
	struct prof_buf *table = &batch->ba_columns[PROF_SS_TASKS];
	uint32_t number;
	bool is_new;

	number = prof_map_get(&packer->pk_tasks,
	    (uint64_t)record->pr_pid << 32 | record->pr_tid, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		prof_buf_varint(table, record->pr_pid);
		prof_buf_varint(table,
		    prof_zigzag((uint64_t)record->pr_tid - record->pr_pid));
	}
	prof_buf_varint(&batch->ba_columns[PROF_SS_TASK], number);
	return (0);
}

static int
pack_tally(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record)
{
	struct prof_tally tally;
	uint32_t number;
	bool is_new;

	number = prof_map_get(&packer->pk_pairs,
	    (uint64_t)record->pr_event << 32 | record->pr_cpu, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		tally.ty_event = record->pr_event;
		tally.ty_cpu = record->pr_cpu;
		tally.ty_count = 0;
		prof_buf_bytes(&batch->ba_tallies, &tally, sizeof(tally));
		if (batch->ba_tallies.bf_failed)
			return (-1);
	}
	((struct prof_tally *)(void *)batch->ba_tallies.bf_data)
	    [number].ty_count++;
	return (0);
}

/* Innermost pc to one column, the rest as a stack's number to another. */
static uint32_t
pack_frames(struct prof_packer *packer, struct prof_batch *batch,
    const uint64_t *frames, uint32_t count, unsigned leaf_column,
    unsigned stack_column)
{
	uint32_t id;

	if (count > PROF_MAX_FRAMES)
		count = PROF_MAX_FRAMES;
	if (pack_addr(packer, batch, leaf_column, frames[0]) == -1)
		return (PROF_INTERN_FAILED);
	id = packer->pk_again && stack_column == PROF_SS_USTACK ?
	    packer->pk_ustack :
	    pack_stack(packer, batch, frames + 1, count - 1);
	if (id != PROF_INTERN_FAILED)
		prof_buf_varint(&batch->ba_columns[stack_column], id);
	return (id);
}

static int
pack_script(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record)
{
	const uint32_t count = record->pr_nscript < PROF_MAX_FRAMES ?
	    record->pr_nscript : PROF_MAX_FRAMES;
	struct prof_buf *words = &packer->pk_script;
	uint64_t *first;
	uint32_t id;

	words->bf_len = 0;
	prof_buf_bytes(words, record->pr_script, count * sizeof(*first));
	if (words->bf_failed)
		return (-1);
	first = (void *)words->bf_data;
	*first &= ~(uint64_t)PROF_FRAME_INSTRUCTION;
	id = pack_stack(packer, batch, first, count);
	if (id == PROF_INTERN_FAILED)
		return (-1);
	prof_buf_varint(&batch->ba_columns[PROF_SS_INSTRUCTION],
	    record->pr_script[0] & PROF_FRAME_INSTRUCTION);
	prof_buf_varint(&batch->ba_columns[PROF_SS_SCRIPT], id);
	return (0);
}

static uint32_t
pack_stack(struct prof_packer *packer, struct prof_batch *batch,
    const uint64_t *frames, uint32_t count)
{
	struct prof_new_stack stack;
	uint32_t number;
	bool is_new;

	if (count == 0)
		return (0);
	number = prof_dict_find(&packer->pk_stacks, frames,
	    count * sizeof(*frames), &is_new);
	if (number == PROF_INTERN_FAILED)
		return (number);
	stack.ns_id = packer->pk_stack_base + number + 1;
	if (!is_new)
		return (stack.ns_id);
	stack.ns_count = count;
	stack.ns_first = batch->ba_frames.bf_len / sizeof(*frames);
	prof_buf_bytes(&batch->ba_frames, frames, count * sizeof(*frames));
	prof_buf_bytes(&batch->ba_stacks, &stack, sizeof(stack));
	return (stack.ns_id);
}

static int
pack_addr(struct prof_packer *packer, struct prof_batch *batch,
    unsigned column, uint64_t addr)
{
	uint32_t number;
	bool is_new;

	number = prof_map_get(&packer->pk_addrs, addr, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		prof_buf_varint(&batch->ba_columns[PROF_SS_ADDRS],
		    prof_zigzag(addr - packer->pk_last_addr));
		packer->pk_last_addr = addr;
	}
	prof_buf_varint(&batch->ba_columns[column], number);
	return (0);
}

static int
pack_string(struct prof_packer *packer, struct prof_batch *batch,
    unsigned column, const char *text)
{
	uint32_t number;
	bool is_new;

	number = prof_dict_find(&packer->pk_strings, text,
	    strnlen(text, PROF_MAX_STRING), &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new)
		prof_buf_string(&batch->ba_columns[PROF_SS_STRINGS], text);
	prof_buf_varint(&batch->ba_columns[column], number);
	return (0);
}

static int
pack_args(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record, struct prof_previous *previous)
{
	uint32_t nargs = count_args(record), i;

	for (i = 0; i < nargs; i++) {
		if (record->pr_strs[i] == NULL) {
			prof_buf_varint(&batch->ba_columns[PROF_SS_ARG0 + i],
			    prof_zigzag(record->pr_args[i] -
			    previous->pv_args[i]));
			previous->pv_args[i] = record->pr_args[i];
			continue;
		}
		if (pack_string(packer, batch, PROF_SS_ARG0 + i,
		    record->pr_strs[i]) == -1)
			return (-1);
	}
	return (0);
}
