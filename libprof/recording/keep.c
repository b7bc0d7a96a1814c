/* SPDX-License-Identifier: ISC */
/*
 * The chunks that a reader keeps in memory: descriptions, process events and
 * stacks (keep_counts.c has the rest).  Called by scan.c for each whole chunk
 * in the order of the file.  A body that does not decode although its
 * checksum is right counts as damaged; what came out of it before stays.
 */
#include <stdlib.h>

#include "abi/dtp_abi.h"
#include "base/error.h"
#include "reader.h"
#include "table.h"

#define MAX_PAIRS	4096
#define TABLE_PER_BYTE	16	/* memory that names take in the end */
#define STRING_BYTES	96	/* memory of a string besides its text */

/*
 * What process events take in memory besides their bytes: here, and what is
 * made of each that changes names or mappings (profile/history.c,
 * process/processes.c).
 */
#define LIFE_HERE	24
#define LIFE_THREAD	64
#define LIFE_PROCESS	192
#define LIFE_EXEC	128
#define LIFE_MAPPING	16	/* which have a budget of their own */
#define LIFE_EXIT	8
/* So many may be left out, and two more for each byte of the file. */
#define LEFT_OUT_FIRST	(1u << 20)

static int	keep_info(struct prof_reader *, struct prof_cur *);
static int	keep_event(struct prof_reader *, struct prof_cur *);
static int	keep_life(struct prof_reader *, struct prof_cur *);
static int	keep_stacks(struct prof_reader *, const struct prof_chunk *,
		    struct prof_cur *);
static int	keep_symbols(struct prof_reader *, struct prof_cur *);

int
prof_keep(struct prof_reader *reader, const struct prof_chunk *chunk)
{
	struct prof_cur body;
	int rv;

	if (chunk->ck_type == PROF_C_SAMPLE)
		return (prof_keep_samples(reader, chunk));
	if (chunk->ck_type > PROF_C_SYMBOL || chunk->ck_type == PROF_C_INDEX)
		return (1);
	rv = prof_inflate_body(&reader->rd_inflate, chunk, &body);
	if (rv != 1)
		return (rv == 0 ? 0 : prof_fail_nomem(&reader->rd_error));
	switch (chunk->ck_type) {
	case PROF_C_INFO:
		return (keep_info(reader, &body));
	case PROF_C_EVENT:
		return (keep_event(reader, &body));
	case PROF_C_LIFE:
		return (keep_life(reader, &body));
	case PROF_C_STACK:
		return (keep_stacks(reader, chunk, &body));
	case PROF_C_ACCOUNTING:
		return (prof_keep_rows(reader, &body));
	case PROF_C_END:
		return (prof_keep_end(reader, &body));
	case PROF_C_SYMBOL:
		return (keep_symbols(reader, &body));
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
	bool is_new;
	uint32_t i;

	while (prof_cur_left(body) > 0) {
		key = prof_cur_string(body);
		value = prof_cur_string(body);
		if (key == NULL || value == NULL)
			return (0);
		if (reader->rd_by_key.dt_count >= MAX_PAIRS &&
		    prof_dict_peek(&reader->rd_by_key, key, strlen(key)) ==
		    PROF_INTERN_FAILED)
			return (0);
		i = prof_dict_find(&reader->rd_by_key, key, strlen(key),
		    &is_new);
		if (i == PROF_INTERN_FAILED)
			return (prof_fail_nomem(&reader->rd_error));
		value = prof_reader_text(reader, value);
		if (value == NULL)
			return (-1);
		pairs = reader->rd_pairs.ar_items;
		if (!is_new) {
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

/* Those of a recording that was made without any say nothing about it. */
static int
event_counters(struct prof_reader *reader, struct prof_cur *body,
    struct prof_event_info *info)
{
	uint32_t i, n, last = 0;

	if (prof_cur_left(body) == 0)
		return (1);
	n = prof_cur_u32(body);
	if (n > PROF_MAX_VALUES)
		return (0);
	for (i = 0; i < n; i++) {
		info->pi_counter[i] = prof_cur_u32(body);
		if (info->pi_counter[i] >= PROF_MAX_EVENTS)
			return (0);
		if (info->pi_counter[i] > last)
			last = info->pi_counter[i];
	}
	info->pi_ncounters = n;
	return (body->cu_bad ? 0 : prof_keep_events(reader, last + 1) == -1 ?
	    -1 : 1);
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
	flags = prof_cur_varint(body);
	info->pi_is_syscall = flags != 0;
	info->pi_is_call = flags == 2;
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
	info->pi_is_counter = (info->pi_parts & DTP_P_COUNTER) != 0;
	info->pi_is_of_span = (info->pi_parts & DTP_P_SPAN) != 0;
	return (body->cu_bad ? 0 : event_counters(reader, body, info));
}

static int
keep_event(struct prof_reader *reader, struct prof_cur *body)
{
	struct prof_event_info *info;
	uint32_t n = prof_cur_u32(body);
	int rv;

	if (body->cu_bad || n >= PROF_MAX_EVENTS)
		return (0);
	if (prof_keep_events(reader, n + 1) == -1)
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
int
prof_keep_events(struct prof_reader *reader, uint32_t n)
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

/* ---------------------------------------------------- process events */

/* Where a string is kept; 1, 0: there are too many, -1: failed. */
static int
string_place(struct prof_reader *reader, const char *text, uint32_t *place)
{
	size_t len = strlen(text) + 1;
	uint32_t number, *known;
	bool is_new;
	char *copy;

	number = prof_dict_peek(&reader->rd_by_string, text, len);
	if (number == PROF_INTERN_FAILED &&
	    !prof_reader_charge(reader, STRING_BYTES))
		return (-1);
	number = prof_dict_find(&reader->rd_by_string, text, len, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (prof_fail_nomem(&reader->rd_error));
	if (!is_new) {
		*place = ((uint32_t *)reader->rd_places.ar_items)[number];
		return (1);
	}
	if (reader->rd_strings.ar_count > UINT32_MAX - len)
		return (0);
	*place = (uint32_t)reader->rd_strings.ar_count;
	known = prof_array_add(reader, &reader->rd_places,
	    sizeof(*known));
	copy = known == NULL ? NULL :
	    prof_array_extend(reader, &reader->rd_strings, 1, len);
	if (copy == NULL)
		return (-1);
	memcpy(copy, text, len);
	*known = *place;
	return (1);
}

/* Keep the chunk's strings; places of them in the array of words. */
static int
life_strings(struct prof_reader *reader, struct prof_cur strings,
    struct prof_array *places)
{
	uint32_t *place, at = 0;
	const char *text;
	int rv;

	while (prof_cur_left(&strings) > 0) {
		text = prof_cur_string(&strings);
		if (text == NULL)
			return (0);
		if ((rv = string_place(reader, text, &at)) != 1)
			return (rv);
		place = prof_array_add(reader, places, sizeof(*place));
		if (place == NULL)
			return (-1);
		*place = at;
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

/* 0: it is kept whatever it takes, as marks and losses are. */
static size_t
life_cost(const struct prof_reader *reader,
    const struct prof_life_fields *fields)
{
	const uint64_t *field = fields->lf_field;
	const char *path = (const char *)reader->rd_strings.ar_items;

	switch (fields->lf_type) {
	case PROF_R_FORK:
	case PROF_R_TASK:
		return (field[PROF_LF_PID] == field[PROF_LF_TID] ?
		    LIFE_PROCESS : LIFE_THREAD);
	case PROF_R_EXEC:
		return (LIFE_EXEC);
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		/* Symbols and modules of the kernel have a copy each. */
		return (LIFE_MAPPING + (field[PROF_LF_PID] == UINT32_MAX ||
		    fields->lf_type == PROF_R_KSYMBOL ?
		    LIFE_THREAD + strlen(path + field[PROF_LF_PATH]) : 0));
	case PROF_R_COMM:
		return (LIFE_THREAD);
	case PROF_R_EXIT:
		return (LIFE_EXIT);
	default:
		return (0);
	}
}

/*
 * Is there room for it?  What comes after one that was left out is, too.
 * -1: so many are no recording's.
 */
static int
life_fits(struct prof_reader *reader, const struct prof_life_fields *fields,
    uint64_t time_ns, size_t bytes)
{
	size_t cost = life_cost(reader, fields);

	if (cost == 0)
		return (1);
	cost += LIFE_HERE + bytes + bytes / 2;
	if (reader->rd_left_out == 0 && cost <= reader->rd_life_budget) {
		reader->rd_life_budget -= cost;
		return (1);
	}
	if (reader->rd_left_out / 2 > LEFT_OUT_FIRST / 2 +
	    reader->rd_source.so_length)
		return (prof_reader_exceeded(&reader->rd_error));
	if (reader->rd_left_out++ == 0 || time_ns < reader->rd_left_out_ns)
		reader->rd_left_out_ns = time_ns;
	return (0);
}

static int
life_pack(struct prof_reader *reader, const struct prof_life_fields *fields,
    uint64_t time_ns)
{
	uint8_t bytes[PROF_LF_NFIELDS * 10 + 64];
	struct prof_buf buf = { bytes, 0, sizeof(bytes), false };
	struct prof_life *life;
	uint64_t mask = 0, left;
	char *at;
	unsigned i;
	int rv;

	if (reader->rd_life_bytes.ar_count > UINT32_MAX - sizeof(bytes))
		return (prof_fail(&reader->rd_error, PROF_E_DAMAGED,
		    "too many process events"));
	for (i = 0; i < PROF_LF_NFIELDS; i++)
		mask |= (uint64_t)(fields->lf_field[i] != 0) << i;
	prof_buf_bytes(&buf, &fields->lf_type, 1);
	prof_buf_varint(&buf, mask);
	for (left = mask; left != 0; left &= left - 1)
		prof_buf_varint(&buf,
		    fields->lf_field[__builtin_ctzll(left)]);
	prof_buf_bytes(&buf, fields->lf_build_id,
	    fields->lf_field[PROF_LF_BUILD_ID]);
	if ((rv = life_fits(reader, fields, time_ns, buf.bf_len)) != 1)
		return (rv == 0 ? 1 : -1);
	life = prof_array_add(reader, &reader->rd_life_records, sizeof(*life));
	if (life == NULL)
		return (-1);
	life->li_time_ns = time_ns;
	life->li_at = (uint32_t)reader->rd_life_bytes.ar_count;
	at = prof_array_extend(reader, &reader->rd_life_bytes, 1, buf.bf_len);
	if (at == NULL)
		return (-1);
	memcpy(at, bytes, buf.bf_len);
	return (1);
}

/* It stands first. */
uint8_t
prof_life_type(const struct prof_reader *reader, const struct prof_life *life)
{
	return (((const uint8_t *)reader->rd_life_bytes.ar_items)[life->li_at]);
}

void
prof_life_unpack(const struct prof_reader *reader,
    const struct prof_life *life, struct prof_life_fields *fields)
{
	struct prof_cur cur = prof_cur_of(
	    (const char *)reader->rd_life_bytes.ar_items + life->li_at,
	    reader->rd_life_bytes.ar_count - life->li_at);
	uint64_t mask;

	memset(fields, 0, sizeof(*fields));
	fields->lf_type = *cur.cu_at++;
	for (mask = prof_cur_varint(&cur); mask != 0; mask &= mask - 1)
		fields->lf_field[__builtin_ctzll(mask)] =
		    prof_cur_varint(&cur);
	memcpy(fields->lf_build_id, cur.cu_at,
	    fields->lf_field[PROF_LF_BUILD_ID]);
}

/* One record; types and fields that are not known yet are passed over. */
static int
life_decode(struct prof_reader *reader, struct prof_cur record,
    const struct prof_array *places, uint64_t *last)
{
	struct prof_life_fields fields = { .lf_type = 0 };
	uint64_t *field = fields.lf_field, type, mask, value;
	struct prof_cur id;

	type = prof_cur_varint(&record);
	*last += prof_unzigzag(prof_cur_varint(&record));
	if (record.cu_bad)
		return (0);
	if (type <= PROF_R_SAMPLE || type > PROF_R_TURNS)
		return (1);
	fields.lf_type = (uint8_t)type;
	for (mask = prof_cur_varint(&record); mask != 0; mask &= mask - 1) {
		value = prof_cur_varint(&record);
		/* Others are of a later minor version. */
		if (__builtin_ctzll(mask) < PROF_LF_NFIELDS)
			field[__builtin_ctzll(mask)] = value;
	}
	if (field[PROF_LF_EVENT] >= PROF_MAX_EVENTS)
		return (0);
	if (prof_keep_events(reader, (uint32_t)field[PROF_LF_EVENT] + 1) == -1)
		return (-1);
	field[PROF_LF_COMM] = life_string(places, field[PROF_LF_COMM]);
	field[PROF_LF_PATH] = life_string(places, field[PROF_LF_PATH]);
	id = prof_cur_take(&record, field[PROF_LF_BUILD_ID]);
	if (record.cu_bad || id.cu_bad ||
	    prof_cur_left(&id) > sizeof(fields.lf_build_id))
		return (0);
	memcpy(fields.lf_build_id, id.cu_at, prof_cur_left(&id));
	if (type == PROF_R_LOST && field[PROF_LF_ADDR] == 0)
		reader->rd_side_said += field[PROF_LF_WEIGHT];
	return (life_pack(reader, &fields, *last));
}

static int
keep_life(struct prof_reader *reader, struct prof_cur *body)
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
			rv = life_strings(reader, part, &places);
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

/* ----------------------------------------------------------- symbols */

/*
 * Kept as it is, for whoever asks for names; most do not.  What is not whole
 * is not kept at all: half a table could give a name to another's code.  All
 * tables share the reader's budget; one that does not fit is left out.
 */
static int
keep_symbols(struct prof_reader *reader, struct prof_cur *body)
{
	const size_t len = prof_cur_left(body);
	const uint8_t *bytes = body->cu_at;
	struct prof_table_function function;
	struct prof_table_code code;
	struct prof_kept *kept;
	struct prof_table table;
	int rv = prof_table_unpack(body, &table);

	if (rv != 1)
		return (rv == 0);
	do {
		rv = table.tb_kind == PROF_TABLE_SCRIPT ?
		    prof_table_unpack_code(body, &code) :
		    prof_table_unpack_function(body, &table, &function);
	} while (rv == 1);
	if (rv == -1)
		return (0);
	if (reader->rd_budget / TABLE_PER_BYTE < len) {
		reader->rd_names_left_out++;
		return (1);
	}
	reader->rd_budget -= len * TABLE_PER_BYTE;
	kept = prof_array_add(reader, &reader->rd_symbols, sizeof(*kept));
	if (kept == NULL)
		return (-1);
	kept->kp_bytes = malloc(len);
	if (kept->kp_bytes == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	memcpy(kept->kp_bytes, bytes, len);
	kept->kp_len = len;
	return (1);
}
