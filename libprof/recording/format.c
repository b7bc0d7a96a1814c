/* SPDX-License-Identifier: ISC */
/*
 * The smallest pieces of a recording: integers, strings, sections, and the
 * headers of file and chunks, both ways.  write.c and read.c stand on it; it
 * does no input or output.  Whatever is read is bounded by a cursor, so a
 * length from a file can never lead outside of it.
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <xxhash.h>

#include "format.h"

#define BUF_FIRST	4096

uint8_t *
prof_buf_grow(struct prof_buf *buf, size_t room)
{
	size_t cap = buf->bf_cap == 0 ? BUF_FIRST : buf->bf_cap;
	uint8_t *data;

	if (buf->bf_failed || room > SIZE_MAX / 4 - buf->bf_len) {
		buf->bf_failed = true;
		return (NULL);
	}
	while (cap - buf->bf_len < room)
		cap *= 2;
	data = realloc(buf->bf_data, cap);
	if (data == NULL) {
		buf->bf_failed = true;
		return (NULL);
	}
	buf->bf_data = data;
	buf->bf_cap = cap;
	return (data + buf->bf_len);
}

void
prof_buf_free(struct prof_buf *buf)
{
	free(buf->bf_data);
	memset(buf, 0, sizeof(*buf));
}

void
prof_buf_bytes(struct prof_buf *buf, const void *bytes, size_t len)
{
	uint8_t *at;

	if (len == 0 || (at = prof_buf_room(buf, len)) == NULL)
		return;
	memcpy(at, bytes, len);
	buf->bf_len += len;
}

/* Length, bytes and a NUL; cut at PROF_MAX_STRING. */
void
prof_buf_string(struct prof_buf *buf, const char *text)
{
	size_t len = text == NULL ? 0 : strnlen(text, PROF_MAX_STRING);

	prof_buf_varint(buf, len);
	prof_buf_bytes(buf, text, len);
	prof_buf_bytes(buf, "", 1);
}

/* Id, length, bytes; an empty one is left out. */
void
prof_buf_section(struct prof_buf *buf, unsigned id,
    const struct prof_buf *from)
{
	if (from->bf_len == 0)
		return;
	prof_buf_varint(buf, id);
	prof_buf_varint(buf, from->bf_len);
	prof_buf_bytes(buf, from->bf_data, from->bf_len);
}

uint64_t
prof_cur_varint_slow(struct prof_cur *cur)
{
	const uint8_t *at = cur->cu_at;
	uint64_t value = 0;
	unsigned shift;
	uint8_t byte;

	/* Times have three, and it is not one or two. */
	if (prof_cur_left(cur) > 2 && at[2] < 0x80) {
		cur->cu_at += 3;
		return ((at[0] & 0x7fU) | (at[1] & 0x7fU) << 7 |
		    (uint64_t)at[2] << 14);
	}
	for (shift = 0; shift < 64; shift += 7) {
		if (cur->cu_at >= cur->cu_end)
			break;
		byte = *cur->cu_at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return (value);
	}
	cur->cu_at = cur->cu_end;
	cur->cu_bad = true;
	return (0);
}

const char *
prof_cur_string(struct prof_cur *cur)
{
	uint64_t len = prof_cur_varint(cur);
	const char *text = (const char *)cur->cu_at;

	if (cur->cu_bad || len > PROF_MAX_STRING ||
	    len >= prof_cur_left(cur) || text[len] != '\0' ||
	    memchr(text, '\0', (size_t)len) != NULL) {
		cur->cu_bad = true;
		return (NULL);
	}
	cur->cu_at += len + 1;
	return (text);
}

struct prof_cur
prof_cur_take(struct prof_cur *cur, uint64_t len)
{
	struct prof_cur part;

	if (cur->cu_bad || len > prof_cur_left(cur)) {
		cur->cu_bad = true;
		cur->cu_at = cur->cu_end;
		len = 0;
	}
	part = prof_cur_of(cur->cu_at, (size_t)len);
	part.cu_bad = cur->cu_bad;
	cur->cu_at += len;
	return (part);
}

void
prof_put_le(uint8_t *at, uint64_t value, unsigned bytes)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

uint64_t
prof_get_le(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return (value);
}

uint64_t
prof_checksum(const uint8_t *header, const void *payload, size_t len)
{
	XXH64_state_t state;

	XXH64_reset(&state, 0);
	XXH64_update(&state, header, PROF_CHUNK_HEADER - 8);
	if (len > 0)
		XXH64_update(&state, payload, len);
	return (XXH64_digest(&state));
}

void
prof_file_header(uint8_t header[PROF_FILE_HEADER])
{
	memset(header, 0, PROF_FILE_HEADER);
	memcpy(header, PROF_FILE_MAGIC, PROF_FILE_MAGIC_LEN);
	prof_put_le(header + 8, PROF_FILE_MAJOR, 2);
	prof_put_le(header + 10, PROF_FILE_MINOR, 2);
	prof_put_le(header + 12, PROF_FILE_ORDER, 4);
	prof_put_le(header + 16, PROF_FILE_HEADER, 4);
}

void
prof_chunk_header(struct prof_chunk *chunk, uint8_t header[PROF_CHUNK_HEADER])
{
	memcpy(header, PROF_CHUNK_MAGIC, 4);
	prof_put_le(header + 4, chunk->ck_type, 2);
	header[6] = chunk->ck_codec;
	header[7] = 0;
	prof_put_le(header + 8, chunk->ck_stored, 4);
	prof_put_le(header + 12, chunk->ck_head, 4);
	prof_put_le(header + 16, chunk->ck_raw, 4);
	prof_put_le(header + 20, chunk->ck_sequence, 4);
	chunk->ck_checksum = prof_checksum(header, chunk->ck_payload,
	    chunk->ck_stored);
	prof_put_le(header + 24, chunk->ck_checksum, 8);
}

bool
prof_chunk_parse(const uint8_t *at, size_t left, struct prof_chunk *chunk)
{
	if (left < PROF_CHUNK_HEADER || memcmp(at, PROF_CHUNK_MAGIC, 4) != 0)
		return (false);
	chunk->ck_type = (uint16_t)prof_get_le(at + 4, 2);
	chunk->ck_codec = at[6];
	chunk->ck_stored = (uint32_t)prof_get_le(at + 8, 4);
	chunk->ck_head = (uint32_t)prof_get_le(at + 12, 4);
	chunk->ck_raw = (uint32_t)prof_get_le(at + 16, 4);
	chunk->ck_sequence = (uint32_t)prof_get_le(at + 20, 4);
	chunk->ck_checksum = prof_get_le(at + 24, 8);
	chunk->ck_payload = at + PROF_CHUNK_HEADER;
	return (chunk->ck_stored <= PROF_MAX_STORED &&
	    chunk->ck_raw <= PROF_MAX_RAW &&
	    chunk->ck_head <= chunk->ck_stored);
}

bool
prof_chunk_whole(const uint8_t *at, const struct prof_chunk *chunk)
{
	return (prof_checksum(at, chunk->ck_payload, chunk->ck_stored) ==
	    chunk->ck_checksum);
}
