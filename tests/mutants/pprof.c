/* SPDX-License-Identifier: ISC */
/*
 * Profiles of pprof: messages of a protocol buffer, changed inside, removed,
 * or repeated, at any depth; then in gzip again, mostly.
 */
#include <zlib.h>

#include "mutants.h"

#define MAX_RAW		(64u << 20)
#define DEPTH		4

static void
unzip(const struct prof_buf *from, struct prof_buf *to)
{
	z_stream z = { 0 };
	int rv = Z_OK;

	if (inflateInit2(&z, 15 + 32) != Z_OK)
		return;
	z.next_in = from->bf_data;
	z.avail_in = (uInt)from->bf_len;
	while (rv == Z_OK && to->bf_len < MAX_RAW) {
		z.next_out = prof_buf_room(to, 65536);
		if (z.next_out == NULL)
			break;
		z.avail_out = 65536;
		rv = inflate(&z, Z_NO_FLUSH);
		to->bf_len += 65536 - z.avail_out;
	}
	inflateEnd(&z);
	if (to->bf_len == 0)	/* it was plain */
		prof_buf_bytes(to, from->bf_data, from->bf_len);
}

static void
zip(const struct prof_buf *from, struct prof_buf *to)
{
	z_stream z = { 0 };
	uLong bound;

	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	bound = deflateBound(&z, from->bf_len);
	z.next_in = from->bf_data;
	z.avail_in = (uInt)from->bf_len;
	z.next_out = prof_buf_room(to, bound);
	z.avail_out = (uInt)bound;
	if (z.next_out != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END)
		to->bf_len += z.total_out;
	deflateEnd(&z);
}

/* A field: its key's length, where its value begins, and that one's length. */
struct field {
	size_t		fi_at;
	size_t		fi_value;
	size_t		fi_length;
	bool		fi_is_message;
};

static bool
field_at(const struct prof_buf *buf, size_t at, struct field *field)
{
	struct prof_cur cur = prof_cur_of(buf->bf_data + at,
	    buf->bf_len - at);
	const uint64_t key = prof_cur_varint(&cur);
	uint64_t length = 0;

	field->fi_at = at;
	field->fi_is_message = (key & 7) == 2;
	if (field->fi_is_message)
		length = prof_cur_varint(&cur);
	field->fi_value = (size_t)(cur.cu_at - buf->bf_data);
	if ((key & 7) == 0)
		(void)prof_cur_varint(&cur);
	else if ((key & 7) != 2)
		length = (key & 7) == 1 ? 8 : 4;
	field->fi_length = (key & 7) == 0 ?
	    (size_t)(cur.cu_at - buf->bf_data) - field->fi_value : length;
	return (!cur.cu_bad && field->fi_length <= buf->bf_len -
	    field->fi_value);
}

/* One of all, with the same chance for each. */
static bool
field_pick(struct chance *chance, const struct prof_buf *buf,
    struct field *picked)
{
	struct field field;
	size_t at = 0, n = 0;

	while (at < buf->bf_len && field_at(buf, at, &field)) {
		if (chance_is(chance, ++n))
			*picked = field;
		at = field.fi_value + field.fi_length;
	}
	return (n > 0);
}

static void	message_mutate(struct chance *, struct prof_buf *, unsigned);

/* Change it, and put it back with the length that it has then. */
static void
field_mutate(struct chance *chance, struct prof_buf *buf,
    const struct field *field, unsigned depth)
{
	struct prof_buf value = { 0 }, whole = { 0 };
	struct prof_cur cur = prof_cur_of(buf->bf_data + field->fi_at,
	    buf->bf_len - field->fi_at);
	const uint64_t key = prof_cur_varint(&cur);

	prof_buf_varint(&whole, key);
	if (field->fi_is_message) {
		prof_buf_bytes(&value, buf->bf_data + field->fi_value,
		    field->fi_length);
		message_mutate(chance, &value, depth + 1);
		prof_buf_varint(&whole, value.bf_len);
		prof_buf_bytes(&whole, value.bf_data, value.bf_len);
		prof_buf_free(&value);
	} else
		prof_buf_varint(&whole, chance_value(chance));
	bytes_replace(buf, field->fi_at, field->fi_value - field->fi_at +
	    field->fi_length, whole.bf_data, whole.bf_len);
	prof_buf_free(&whole);
}

static void
message_mutate(struct chance *chance, struct prof_buf *buf, unsigned depth)
{
	struct prof_buf copy = { 0 };
	struct field field;
	size_t length, n;

	if (depth == DEPTH || !field_pick(chance, buf, &field) ||
	    (depth > 1 && chance_is(chance, 3))) {
		bytes_mutate(chance, buf);
		return;
	}
	length = field.fi_value - field.fi_at + field.fi_length;
	switch (chance_below(chance, 6)) {
	case 0:
		bytes_replace(buf, field.fi_at, length, "", 0);
		return;
	case 1:
		prof_buf_bytes(&copy, buf->bf_data + field.fi_at, length);
		n = chance_is(chance, 8) ? chance_below(chance, 1000) : 1;
		while (n-- > 0)
			bytes_replace(buf, field.fi_at, 0, copy.bf_data,
			    copy.bf_len);
		prof_buf_free(&copy);
		return;
	default:
		field_mutate(chance, buf, &field, depth);
		return;
	}
}

static void
pprof_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	struct prof_buf raw = { 0 };

	unzip(seed, &raw);
	for (size_t n = chance_below(chance, 4); n > 0; n--)
		message_mutate(chance, &raw, 0);
	if (chance_is(chance, 4))
		prof_buf_bytes(out, raw.bf_data, raw.bf_len);
	else
		zip(&raw, out);
	prof_buf_free(&raw);
	if (chance_is(chance, 32))
		bytes_mutate(chance, out);
}

const struct format format_pprof = { "pprof", pprof_mutate,
    reading_import };
