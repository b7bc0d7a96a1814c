/* SPDX-License-Identifier: ISC */
/*
 * The rows of the accounting: one for each event and CPU, its counters in a
 * fixed order, zeros left out.  Written by the writer's thread, read at open.
 * The number of samples in the file (pa_written) is not stored: the reader
 * counts them in the chunks that it can read, and so cannot be told wrong.
 */
#include "batch.h"

#define COUNTER(member)	offsetof(struct prof_accounting, member)
#define STATUS(member, n)						\
	(offsetof(struct prof_accounting, member) + (n) * sizeof(uint64_t))

/* Appended, never renumbered. */
static const size_t counters[] = {
	COUNTER(pa_fired), COUNTER(pa_stored), COUNTER(pa_full),
	COUNTER(pa_nested), COUNTER(pa_filtered), COUNTER(pa_error),
	COUNTER(pa_nested_stored), COUNTER(pa_self), COUNTER(pa_outside),
	COUNTER(pa_late), COUNTER(pa_arg_fault), COUNTER(pa_weight),
	COUNTER(pa_outside_weight),
	STATUS(pa_kstack, 0), STATUS(pa_kstack, 1), STATUS(pa_kstack, 2),
	STATUS(pa_kstack, 3), STATUS(pa_kstack, 4),
	STATUS(pa_ustack, 0), STATUS(pa_ustack, 1), STATUS(pa_ustack, 2),
	STATUS(pa_ustack, 3), STATUS(pa_ustack, 4),
	COUNTER(pa_read), COUNTER(pa_missed), COUNTER(pa_count),
	COUNTER(pa_enabled_ns), COUNTER(pa_running_ns),
	COUNTER(pa_unaccounted), COUNTER(pa_bound), COUNTER(pa_instances),
	COUNTER(pa_lost_ring),
	STATUS(pa_ustack, 5), STATUS(pa_ustack, 6), STATUS(pa_ustack, 7),
	STATUS(pa_ustack, 8), STATUS(pa_ustack, 9), STATUS(pa_ustack, 10),
	COUNTER(pa_side_read), COUNTER(pa_side_lost)
};
#define NCOUNTERS	(sizeof(counters) / sizeof(counters[0]))

/* A bit among those of the counters that is none; later ones are above it. */
#define HAS_COUNT_BIT	32
#define HAS_COUNT	((uint64_t)1 << HAS_COUNT_BIT)

_Static_assert(NCOUNTERS < 63, "the mask is one 64-bit word");
_Static_assert(PROF_STACK_NSTATUS == 11, "every status is a counter");

static uint64_t
counter_bit(size_t n)
{
	return ((uint64_t)1 << (n < HAS_COUNT_BIT ? n : n + 1));
}

static uint64_t
counter_get(const struct prof_row *row, size_t n)
{
	uint64_t value;

	memcpy(&value, (const char *)&row->rw_accounting + counters[n],
	    sizeof(value));
	return (counters[n] == COUNTER(pa_unaccounted) ?
	    prof_zigzag(value) : value);
}

static void
counter_set(struct prof_row *row, size_t n, uint64_t value)
{
	if (counters[n] == COUNTER(pa_unaccounted))
		value = prof_unzigzag(value);
	memcpy((char *)&row->rw_accounting + counters[n], &value,
	    sizeof(value));
}

void
prof_pack_row(struct prof_buf *buf, const struct prof_row *row)
{
	uint8_t bytes[(NCOUNTERS + 3) * 10];
	struct prof_buf body = { bytes, 0, sizeof(bytes), false };
	uint64_t mask = row->rw_accounting.pa_has_count ? HAS_COUNT : 0;
	size_t i;

	for (i = 0; i < NCOUNTERS; i++)
		if (counter_get(row, i) != 0)
			mask |= counter_bit(i);
	prof_buf_varint(&body, row->rw_cpu);
	prof_buf_varint(&body, row->rw_event);
	prof_buf_varint(&body, mask);
	for (i = 0; i < NCOUNTERS; i++)
		if (mask & counter_bit(i))
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
	for (i = 0; i < NCOUNTERS; i++)
		if (mask & counter_bit(i))
			counter_set(row, i, prof_cur_varint(&body));
	row->rw_accounting.pa_has_count = (mask & HAS_COUNT) != 0;
	return (!cur->cu_bad && !body.cu_bad);
}
