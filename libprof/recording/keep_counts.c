/* SPDX-License-Identifier: ISC */
/*
 * What a reader keeps of the numbers: the heads of SAMPLE chunks, which say
 * how many samples of which event and CPU are in them, the rows of the
 * accounting, and the END.  When all chunks were seen, everything that is
 * kept is sorted here.  Called by keep.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "reader.h"

/* ------------------------------------- heads of samples, accounting, end */

int
prof_keep_samples(struct prof_reader *reader, const struct prof_chunk *chunk)
{
	struct prof_cur head = prof_cur_of(chunk->ck_payload, chunk->ck_head);
	struct prof_sample_chunk *found;
	struct prof_tally *tally;
	uint64_t count, ntallies, sum = 0;
	size_t before = reader->rd_tallies.ar_count;

	count = prof_cur_varint(&head);
	(void)prof_cur_varint(&head);	/* first time */
	(void)prof_cur_varint(&head);	/* duration */
	ntallies = prof_cur_varint(&head);
	while (ntallies-- > 0 && !head.cu_bad) {
		tally = prof_array_add(reader, &reader->rd_tallies,
		    sizeof(*tally));
		if (tally == NULL)
			return (-1);
		tally->ty_event = prof_cur_u32(&head);
		tally->ty_cpu = prof_cur_u32(&head);
		tally->ty_count = prof_cur_u32(&head);
		sum += tally->ty_count;
		if (tally->ty_event >= PROF_MAX_EVENTS)
			head.cu_bad = true;
		else if (prof_keep_events(reader, tally->ty_event + 1) == -1)
			return (-1);
	}
	/* Each sample takes a byte of each of four columns at least. */
	if (head.cu_bad || sum != count || count > chunk->ck_raw / 4) {
		reader->rd_tallies.ar_count = before;
		return (0);
	}
	found = prof_array_add(reader, &reader->rd_samples, sizeof(*found));
	if (found == NULL)
		return (-1);
	found->sc_offset = reader->rd_scan_at;
	found->sc_count = count;
	reader->rd_nsamples += count;
	return (1);
}

int
prof_keep_rows(struct prof_reader *reader, struct prof_cur *body)
{
	struct prof_row *row, decoded;

	while (prof_cur_left(body) > 0) {
		if (!prof_unpack_row(body, &decoded) ||
		    decoded.rw_event >= PROF_MAX_EVENTS ||
		    decoded.rw_cpu > INT32_MAX)
			return (0);
		row = prof_array_add(reader, &reader->rd_rows, sizeof(*row));
		if (row == NULL)
			return (-1);
		*row = decoded;
		row->rw_next = (uint32_t)reader->rd_rows.ar_count;
	}
	return (1);
}

int
prof_keep_end(struct prof_reader *reader, struct prof_cur *body)
{
	if (prof_cur_left(body) < PROF_END_LEN)
		return (0);
	reader->rd_ended = true;
	reader->rd_end_reason = (uint32_t)prof_get_le(body->cu_at, 4);
	return (1);
}

/* ------------------------------------------------------------ sorting */

static int
life_compare(const void *a, const void *b)
{
	const struct prof_life *la = a, *lb = b;

	if (la->li_time_ns != lb->li_time_ns)
		return (la->li_time_ns < lb->li_time_ns ? -1 : 1);
	return (la->li_at < lb->li_at ? -1 : 1);
}

static int
segment_compare(const void *a, const void *b)
{
	const struct prof_segment *sa = a, *sb = b;

	if (sa->sg_first != sb->sg_first)
		return (sa->sg_first < sb->sg_first ? -1 : 1);
	return (sa->sg_leaf < sb->sg_leaf ? -1 : 1);
}

static int
row_compare(const void *a, const void *b)
{
	const struct prof_row *ra = a, *rb = b;

	if (ra->rw_event != rb->rw_event)
		return (ra->rw_event < rb->rw_event ? -1 : 1);
	if (ra->rw_cpu != rb->rw_cpu)
		return (ra->rw_cpu < rb->rw_cpu ? -1 : 1);
	return (ra->rw_next < rb->rw_next ? -1 : 1);
}

static int
tally_compare(const void *a, const void *b)
{
	const struct prof_tally *ta = a, *tb = b;

	if (ta->ty_event != tb->ty_event)
		return (ta->ty_event < tb->ty_event ? -1 : 1);
	return (ta->ty_cpu < tb->ty_cpu ? -1 : ta->ty_cpu > tb->ty_cpu);
}

static int
int_compare(const void *a, const void *b)
{
	int ia = *(const int *)a, ib = *(const int *)b;

	return (ia < ib ? -1 : ia > ib);
}

static void
array_sort(struct prof_array *array, size_t size,
    int (*compare)(const void *, const void *))
{
	const char *items = array->ar_items;
	size_t n;

	/* Mostly it is in order, and sorting takes as much memory again. */
	for (n = 1; n < array->ar_count; n++)
		if (compare(items + (n - 1) * size, items + n * size) > 0)
			break;
	if (n < array->ar_count)
		qsort(array->ar_items, array->ar_count, size, compare);
}

/* Of rows of the same event and CPU the last counts. */
static void
rows_last(struct prof_array *array)
{
	struct prof_row *rows = array->ar_items;
	size_t i, n = 0;

	for (i = 0; i < array->ar_count; i++) {
		if (i + 1 < array->ar_count &&
		    rows[i].rw_event == rows[i + 1].rw_event &&
		    rows[i].rw_cpu == rows[i + 1].rw_cpu)
			continue;
		rows[n++] = rows[i];
	}
	array->ar_count = n;
}

static void
tallies_sum(struct prof_array *array)
{
	struct prof_tally *tallies = array->ar_items;
	size_t i, n = 0;

	for (i = 0; i < array->ar_count; i++) {
		if (n > 0 && tallies[i].ty_event == tallies[n - 1].ty_event &&
		    tallies[i].ty_cpu == tallies[n - 1].ty_cpu)
			tallies[n - 1].ty_count += tallies[i].ty_count;
		else
			tallies[n++] = tallies[i];
	}
	array->ar_count = n;
}

static int
keep_cpus(struct prof_reader *reader)
{
	const struct prof_row *rows = reader->rd_rows.ar_items;
	size_t i, n = 0;
	int *cpus, *cpu;

	for (i = 0; i < reader->rd_rows.ar_count; i++) {
		if (rows[i].rw_cpu == 0)
			continue;
		cpu = prof_array_add(reader, &reader->rd_cpus, sizeof(*cpu));
		if (cpu == NULL)
			return (-1);
		*cpu = (int)(rows[i].rw_cpu - 1);
	}
	array_sort(&reader->rd_cpus, sizeof(int), int_compare);
	cpus = reader->rd_cpus.ar_items;
	for (i = 0; i < reader->rd_cpus.ar_count; i++)
		if (n == 0 || cpus[n - 1] != cpus[i])
			cpus[n++] = cpus[i];
	reader->rd_cpus.ar_count = n;
	return (0);
}

/*
 * Samples before a time were given up: for a reader, recording began then.
 */
static void
begin_later(struct prof_reader *reader)
{
	const char *from = prof_reader_info(reader, "dump.from_ns");
	struct prof_life *life = reader->rd_life_records.ar_items;
	const uint64_t from_ns = from == NULL ? 0 : strtoull(from, NULL, 10);
	struct prof_life_fields fields;

	for (size_t n = 0; n < reader->rd_life_records.ar_count; n++, life++) {
		if (life->li_time_ns >= from_ns)
			continue;
		prof_life_unpack(reader, life, &fields);
		if (fields.lf_type == PROF_R_START ||
		    fields.lf_type == PROF_R_PAUSE ||
		    fields.lf_type == PROF_R_RESUME)
			life->li_time_ns = from_ns;
	}
}

int
prof_keep_done(struct prof_reader *reader)
{
	size_t nleaves = reader->rd_leaves.ar_count;

	begin_later(reader);
	array_sort(&reader->rd_life_records, sizeof(struct prof_life),
	    life_compare);
	array_sort(&reader->rd_segments, sizeof(struct prof_segment),
	    segment_compare);
	array_sort(&reader->rd_rows, sizeof(struct prof_row), row_compare);
	array_sort(&reader->rd_tallies, sizeof(struct prof_tally),
	    tally_compare);
	rows_last(&reader->rd_rows);
	tallies_sum(&reader->rd_tallies);
	reader->rd_place = calloc(nleaves + 1, sizeof(*reader->rd_place));
	if (reader->rd_place == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	return (keep_cpus(reader));
}
