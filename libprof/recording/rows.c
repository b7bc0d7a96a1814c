/* SPDX-License-Identifier: ISC */
/*
 * The rows of the accounting: one for each event and CPU, its counters in the
 * order of their bits (counters.def), zeros left out.  Written by the writer's
 * thread, read at open.  The number of samples in the file (pa_written) is not
 * stored: the reader counts them in the chunks that it can read, and so cannot
 * be told wrong.
 */
#include "batch.h"

/* A bit that says that the count is known: no number belongs to it. */
#define HAS_COUNT_BIT	32
#define HAS_COUNT	((uint64_t)1 << HAS_COUNT_BIT)
#define NBITS		45
#define PROF_NO_BIT	NBITS

/* Where the counter of a bit stands; 0, where pa_has_count is: nowhere. */
static const size_t counters[NBITS + 1] = {
#define PROF_COUNTER(bit, name, type, role, source, text)		\
	[bit] = offsetof(struct prof_accounting, pa_##name),
#define PROF_COUNTER_STACK(bit, name, status)				\
	[bit] = offsetof(struct prof_accounting, pa_##name) +		\
	    PROF_STACK_##status * sizeof(uint64_t),
#include "counters.def"
};

_Static_assert(NBITS <= 64, "too many counters for the 64 bits of the mask");
_Static_assert(offsetof(struct prof_accounting, pa_has_count) == 0,
    "no counter may be at offset 0");
_Static_assert(PROF_STACK_NSTATUS == 12, "each stack status needs a counter");

static uint64_t
counter_get(const struct prof_row *row, size_t n)
{
	uint64_t value;

	memcpy(&value, (const char *)&row->rw_accounting + counters[n],
	    sizeof(value));
	return (counters[n] == offsetof(struct prof_accounting,
	    pa_unaccounted) ? prof_zigzag(value) : value);
}

static void
counter_set(struct prof_row *row, size_t n, uint64_t value)
{
	if (counters[n] == offsetof(struct prof_accounting, pa_unaccounted))
		value = prof_unzigzag(value);
	memcpy((char *)&row->rw_accounting + counters[n], &value,
	    sizeof(value));
}

void
prof_pack_row(struct prof_buf *buf, const struct prof_row *row)
{
	uint8_t bytes[(NBITS + 3) * 10];
	struct prof_buf body = { bytes, 0, sizeof(bytes), false };
	uint64_t mask = row->rw_accounting.pa_has_count ? HAS_COUNT : 0;
	size_t i;

	for (i = 0; i < NBITS; i++)
		if (counters[i] != 0 && counter_get(row, i) != 0)
			mask |= (uint64_t)1 << i;
	prof_buf_varint(&body, row->rw_cpu);
	prof_buf_varint(&body, row->rw_event);
	prof_buf_varint(&body, mask);
	for (i = 0; i < NBITS; i++)
		if (counters[i] != 0 && (mask >> i & 1) != 0)
			prof_buf_varint(&body, counter_get(row, i));
	prof_buf_varint(buf, body.bf_len);
	prof_buf_bytes(buf, body.bf_data, body.bf_len);
}

bool
prof_unpack_row(struct prof_cur *cur, struct prof_row *row)
{
	struct prof_cur body = prof_cur_take(cur, prof_cur_varint(cur));
	uint64_t mask;
	size_t i;

	memset(row, 0, sizeof(*row));
	row->rw_cpu = prof_cur_u32(&body);
	row->rw_event = prof_cur_u32(&body);
	mask = prof_cur_varint(&body);
	for (i = 0; i < NBITS; i++)
		if (counters[i] != 0 && (mask >> i & 1) != 0)
			counter_set(row, i, prof_cur_varint(&body));
	row->rw_accounting.pa_has_count = (mask & HAS_COUNT) != 0;
	return (!cur->cu_bad && !body.cu_bad);
}
