/* SPDX-License-Identifier: ISC */
/*
 * The chunks that a reader keeps in memory: descriptions, lives, stacks,
 * accounting, and of SAMPLE chunks the head.  Called by scan.c for each whole
 * chunk in the order of the file.  A body that does not decode although its
 * checksum is right counts as damaged; what came out of it before stays.
 */
#include <stdlib.h>

#include "reader.h"

#define MAX_PAIRS	4096

static int	keep_info(struct prof_reader *, struct prof_cur *);
static int	keep_event(struct prof_reader *, struct prof_cur *);
static int	keep_lives(struct prof_reader *, struct prof_cur *);
static int	keep_stacks(struct prof_reader *, const struct prof_chunk *,
		    struct prof_cur *);
static int	keep_samples(struct prof_reader *, const struct prof_chunk *);
static int	keep_rows(struct prof_reader *, struct prof_cur *);
static int	keep_end(struct prof_reader *, struct prof_cur *);
static int	events_grow(struct prof_reader *, uint32_t);

int
prof_keep(struct prof_reader *reader, const struct prof_chunk *chunk)
{
	struct prof_cur body;

	if (chunk->ck_type == PROF_C_SAMPLE)
		return (keep_samples(reader, chunk));
	if (chunk->ck_type > PROF_C_END || chunk->ck_type == PROF_C_INDEX)
		return (1);
	if (!prof_scan_body(reader, chunk, &body))
		return (0);
	switch (chunk->ck_type) {
	case PROF_C_INFO:
		return (keep_info(reader, &body));
	case PROF_C_EVENT:
		return (keep_event(reader, &body));
	case PROF_C_LIFE:
		return (keep_lives(reader, &body));
	case PROF_C_STACK:
		return (keep_stacks(reader, chunk, &body));
	case PROF_C_ACCOUNTING:
		return (keep_rows(reader, &body));
	case PROF_C_END:
		return (keep_end(reader, &body));
	default:
		return (1);
	}
}

/* ------------------------------------------------------ descriptions */

/* The last value of a key counts. */
static int
keep_info(struct prof_reader *reader, struct prof_cur *body)
{
	struct prof_pair *pairs, *pair;
	const char *key, *value;
	size_t i;

	while (prof_cur_left(body) > 0) {
		key = prof_cur_string(body);
		value = prof_cur_string(body);
		if (key == NULL || value == NULL)
			return (0);
		pairs = reader->rd_pairs.ar_items;
		for (i = 0; i < reader->rd_pairs.ar_count; i++)
			if (strcmp(pairs[i].pa_key, key) == 0)
				break;
		if (i >= MAX_PAIRS)
			return (0);
		value = prof_reader_text(reader, value);
		if (value == NULL)
			return (-1);
		if (i < reader->rd_pairs.ar_count) {
			pairs[i].pa_value = value;
			continue;
		}
		key = prof_reader_text(reader, key);
		pair = key == NULL ? NULL : prof_array_add(reader,
		    &reader->rd_pairs, sizeof(*pair));
		if (pair == NULL)
			return (-1);
		pair->pa_key = key;
		pair->pa_value = value;
	}
	return (1);
}

/* 1: done, 0: damaged, -1: failed */
static int
event_text(struct prof_reader *reader, struct prof_cur *body,
    const char **textp)
{
	const char *text = prof_cur_string(body);

	if (text == NULL)
		return (0);
	*textp = prof_reader_text(reader, text);
	return (*textp == NULL ? -1 : 1);
}

static int
event_decode(struct prof_reader *reader, struct prof_cur *body,
    struct prof_event_info *info)
{
	uint64_t flags;
	uint32_t i;
	int rv;

	if ((rv = event_text(reader, body, &info->pi_name)) != 1 ||
	    (rv = event_text(reader, body, &info->pi_probe)) != 1 ||
	    (rv = event_text(reader, body, &info->pi_provider)) != 1 ||
	    (rv = event_text(reader, body, &info->pi_unit)) != 1)
		return (rv);
	info->pi_period = prof_cur_varint(body);
	info->pi_frequency_hz = prof_cur_varint(body);
	info->pi_parts = prof_cur_u32(body);
	info->pi_is_syscall = prof_cur_varint(body) != 0;
	info->pi_nargs = prof_cur_u32(body);
	if (body->cu_bad || info->pi_nargs > PROF_MAX_ARGS)
		return (0);
	for (i = 0; i < info->pi_nargs; i++) {
		if ((rv = event_text(reader, body,
		    &info->pi_arg_names[i])) != 1 ||
		    (rv = event_text(reader, body,
		    &info->pi_arg_types[i])) != 1)
			return (rv);
		flags = prof_cur_varint(body);
		info->pi_arg_is_str[i] = (flags & 1) != 0;
		info->pi_arg_is_signed[i] = (flags & 2) != 0;
	}
	return (body->cu_bad ? 0 : 1);
}

static int
keep_event(struct prof_reader *reader, struct prof_cur *body)
{
	struct prof_event_info *info;
	uint32_t n = prof_cur_u32(body);
	int rv;

	if (body->cu_bad || n >= PROF_MAX_EVENTS)
		return (0);
	if (events_grow(reader, n + 1) == -1)
		return (-1);
	info = calloc(1, sizeof(*info));
	if (info == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	rv = event_decode(reader, body, info);
	if (rv == 1 && reader->rd_events[n] == &reader->rd_unknown) {
		reader->rd_events[n] = info;
		return (1);
	}
	free(info);	/* damaged, or described twice: the first counts */
	return (rv);
}

/* Events whose description was lost are there, too, without a name. */
static int
events_grow(struct prof_reader *reader, uint32_t n)
{
	struct prof_event_info **events;

	if (n <= reader->rd_nevents)
		return (0);
	reader->rd_unknown.pi_name = reader->rd_unknown.pi_probe = "unknown";
	reader->rd_unknown.pi_provider = "";
	reader->rd_unknown.pi_unit = "events";
	events = reallocarray(reader->rd_events, n, sizeof(*events));
	if (events == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	reader->rd_events = events;
	while (reader->rd_nevents < n)
		events[reader->rd_nevents++] = &reader->rd_unknown;
	return (0);
}

/* ------------------------------------------------------------- lives */

/* Copy the chunk's strings; places of them in the array of words. */
static int
lives_strings(struct prof_reader *reader, struct prof_cur strings,
    struct prof_array *places)
{
	const char *text;
	uint32_t *place;
	char *copy;
	size_t len;

	while (prof_cur_left(&strings) > 0) {
		text = prof_cur_string(&strings);
		if (text == NULL)
			return (0);
		len = strlen(text) + 1;
		if (reader->rd_strings.ar_count > UINT32_MAX - len)
			return (0);
		place = prof_array_add(reader, places, sizeof(*place));
		if (place == NULL)
			return (-1);
		*place = (uint32_t)reader->rd_strings.ar_count;
		copy = prof_array_extend(reader, &reader->rd_strings, 1, len);
		if (copy == NULL)
			return (-1);
		memcpy(copy, text, len);
	}
	return (1);
}

static uint32_t
life_string(const struct prof_array *places, uint64_t number)
{
	const uint32_t *place = places->ar_items;

	return (number == 0 || number > places->ar_count ? 0 :
	    place[number - 1]);
}

/* One record; types and fields that are not known yet are passed over. */
static int
life_decode(struct prof_reader *reader, struct prof_cur record,
    const struct prof_array *places, uint64_t *last)
{
	struct prof_life *life;
	uint64_t type, mask;
	struct prof_cur id;
	unsigned i;

	type = prof_cur_varint(&record);
	*last += prof_unzigzag(prof_cur_varint(&record));
	if (record.cu_bad)
		return (0);
	if (type <= PROF_R_SAMPLE || type > PROF_R_KSYMBOL)
		return (1);
	life = prof_array_add(reader, &reader->rd_lives, sizeof(*life));
	if (life == NULL)
		return (-1);
	life->li_type = (uint8_t)type;
	life->li_time_ns = *last;
	life->li_number = (uint32_t)reader->rd_lives.ar_count;
	mask = prof_cur_varint(&record);
	for (i = 0; i < 64; i++) {
		if ((mask & (uint64_t)1 << i) == 0)
			continue;
		if (i < PROF_LF_NFIELDS)
			life->li_fields[i] = prof_cur_varint(&record);
		else	/* of a later minor version */
			(void)prof_cur_varint(&record);
	}
	if (life->li_fields[PROF_LF_EVENT] >= PROF_MAX_EVENTS)
		record.cu_bad = true;
	else if (events_grow(reader,
	    (uint32_t)life->li_fields[PROF_LF_EVENT] + 1) == -1)
		return (-1);
	life->li_comm = life_string(places, life->li_fields[PROF_LF_COMM]);
	life->li_path = life_string(places, life->li_fields[PROF_LF_PATH]);
	id = prof_cur_take(&record, life->li_fields[PROF_LF_BUILD_ID]);
	if (record.cu_bad || id.cu_bad ||
	    prof_cur_left(&id) > sizeof(life->li_build_id)) {
		reader->rd_lives.ar_count--;
		return (0);
	}
	memcpy(life->li_build_id, id.cu_at, prof_cur_left(&id));
	return (1);
}

static int
keep_lives(struct prof_reader *reader, struct prof_cur *body)
{
	struct prof_cur part, records = prof_cur_of(NULL, 0);
	struct prof_array places = { 0 };
	uint64_t id, last = 0;
	int rv = 1;

	while (rv == 1 && prof_cur_left(body) > 0) {
		id = prof_cur_varint(body);
		part = prof_cur_take(body, prof_cur_varint(body));
		if (part.cu_bad)
			rv = 0;
		else if (id == PROF_LS_STRINGS)
			rv = lives_strings(reader, part, &places);
		else if (id == PROF_LS_RECORDS)
			records = part;
	}
	while (rv == 1 && prof_cur_left(&records) > 0) {
		part = prof_cur_take(&records, prof_cur_varint(&records));
		rv = part.cu_bad ? 0 :
		    life_decode(reader, part, &places, &last);
	}
	reader->rd_budget += places.ar_cap * sizeof(uint32_t);
	free(places.ar_items);
	return (rv);
}

/* ------------------------------------------------------------ stacks */

/* The frames that are new in this stack; path[d] is the node at depth d. */
static int
stack_frames(struct prof_reader *reader, struct prof_cur *body,
    uint32_t *path, uint32_t from, uint32_t to, uint64_t *last)
{
	struct prof_node *node;

	for (; from < to; from++) {
		node = prof_array_add(reader, &reader->rd_nodes,
		    sizeof(*node));
		if (node == NULL)
			return (-1);
		*last += prof_unzigzag(prof_cur_varint(body));
		if (body->cu_bad)
			return (0);
		node->nd_pc = *last;
		node->nd_caller = from == 0 ? 0 : path[from - 1];
		node->nd_depth = from + 1;
		path[from] = (uint32_t)reader->rd_nodes.ar_count;
	}
	return (1);
}

static int
keep_stacks(struct prof_reader *reader, const struct prof_chunk *chunk,
    struct prof_cur *body)
{
	struct prof_cur head = prof_cur_of(chunk->ck_payload, chunk->ck_head);
	uint64_t base = prof_cur_varint(&head), last = 0;
	uint64_t count = prof_cur_varint(&head), number, shared, fresh;
	uint32_t path[PROF_MAX_FRAMES], depth = 0, *leaves;
	struct prof_segment *segment;
	size_t first;
	int rv;

	/* Each stack takes at least three bytes and a frame. */
	if (head.cu_bad || base == 0 || base > UINT32_MAX ||
	    count > prof_cur_left(body) / 3 || count == 0)
		return (0);
	segment = prof_array_add(reader, &reader->rd_segments,
	    sizeof(*segment));
	first = reader->rd_leaves.ar_count;
	leaves = prof_array_extend(reader, &reader->rd_leaves,
	    sizeof(*leaves), (size_t)count);
	if (segment == NULL || leaves == NULL)
		return (-1);
	memset(leaves, 0, (size_t)count * sizeof(*leaves));
	segment->sg_first = base;
	segment->sg_count = (uint32_t)count;
	segment->sg_leaf = (uint32_t)first;
	while (prof_cur_left(body) > 0) {
		number = prof_cur_varint(body);
		shared = prof_cur_varint(body);
		fresh = prof_cur_varint(body);
		if (body->cu_bad || number >= count || shared > depth ||
		    fresh > PROF_MAX_FRAMES - shared || shared + fresh == 0)
			return (0);
		depth = (uint32_t)(shared + fresh);
		rv = stack_frames(reader, body, path, (uint32_t)shared, depth,
		    &last);
		if (rv != 1)
			return (rv);
		leaves[number] = path[depth - 1];
	}
	return (1);
}

/* ------------------------------------- heads of samples, accounting, end */

static int
keep_samples(struct prof_reader *reader, const struct prof_chunk *chunk)
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
		else if (events_grow(reader, tally->ty_event + 1) == -1)
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
	found->sc_offset = (size_t)(chunk->ck_payload - reader->rd_bytes) -
	    PROF_CHUNK_HEADER;
	found->sc_count = count;
	reader->rd_nsamples += count;
	return (1);
}

static int
keep_rows(struct prof_reader *reader, struct prof_cur *body)
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

static int
keep_end(struct prof_reader *reader, struct prof_cur *body)
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
	return (la->li_number < lb->li_number ? -1 : 1);
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
	if (array->ar_count > 1)
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

int
prof_keep_done(struct prof_reader *reader)
{
	size_t nleaves = reader->rd_leaves.ar_count;
	size_t nevents = reader->rd_nevents;

	array_sort(&reader->rd_lives, sizeof(struct prof_life), life_compare);
	array_sort(&reader->rd_segments, sizeof(struct prof_segment),
	    segment_compare);
	array_sort(&reader->rd_rows, sizeof(struct prof_row), row_compare);
	array_sort(&reader->rd_tallies, sizeof(struct prof_tally),
	    tally_compare);
	rows_last(&reader->rd_rows);
	tallies_sum(&reader->rd_tallies);
	reader->rd_place = calloc(nleaves + 1, sizeof(*reader->rd_place));
	reader->rd_previous = calloc(nevents + 1,
	    sizeof(*reader->rd_previous));
	if (reader->rd_place == NULL || reader->rd_previous == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	return (keep_cpus(reader));
}
