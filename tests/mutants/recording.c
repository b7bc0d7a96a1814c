/* SPDX-License-Identifier: ISC */
/*
 * Recordings: chunks are unpacked, changed inside or among each other, packed
 * again, numbered, and get the checksum that is right for them.  One in a
 * while has a deep stack that many threads have, with script frames or
 * without.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "abi/dtp_abi.h"
#include "mutants.h"
#include "prof.h"

#define MAX_CHUNKS	256
#define NCODES		10	/* types of chunks, and one that is none */

struct chunk {
	uint16_t	 ch_type;
	struct prof_buf	 ch_head;
	struct prof_buf	 ch_raw;
};

struct recording {
	struct chunk	 re_chunk[MAX_CHUNKS];
	size_t		 re_n;
};

/* ------------------------------------------------------------ take apart */

static void
unpack(const struct prof_chunk *from, struct chunk *to)
{
	const uint8_t *body = from->ck_payload + from->ck_head;
	const size_t length = from->ck_stored - from->ck_head;
	size_t n;

	memset(to, 0, sizeof(*to));
	to->ch_type = from->ck_type;
	prof_buf_bytes(&to->ch_head, from->ck_payload, from->ck_head);
	if (from->ck_codec != PROF_CODEC_ZSTD) {
		prof_buf_bytes(&to->ch_raw, body, length);
		return;
	}
	if (prof_buf_room(&to->ch_raw, from->ck_raw) == NULL)
		return;
	n = ZSTD_decompress(to->ch_raw.bf_data, from->ck_raw, body, length);
	if (!ZSTD_isError(n))
		to->ch_raw.bf_len = n;
}

static void
take_apart(const struct prof_buf *seed, struct recording *recording)
{
	size_t at = PROF_FILE_HEADER;
	struct prof_chunk chunk;

	recording->re_n = 0;
	while (at < seed->bf_len && recording->re_n < MAX_CHUNKS &&
	    prof_chunk_parse(seed->bf_data + at, seed->bf_len - at, &chunk) &&
	    chunk.ck_stored <= seed->bf_len - at - PROF_CHUNK_HEADER) {
		unpack(&chunk, &recording->re_chunk[recording->re_n++]);
		at += PROF_CHUNK_HEADER + chunk.ck_stored;
	}
}

static void
forget(struct recording *recording)
{
	while (recording->re_n > 0) {
		recording->re_n--;
		prof_buf_free(&recording->re_chunk[recording->re_n].ch_head);
		prof_buf_free(&recording->re_chunk[recording->re_n].ch_raw);
	}
}

/* --------------------------------------------------------------- change */

/* At the end, empty; NULL: there is no room. */
static struct chunk *
chunk_new(struct recording *recording, uint16_t type)
{
	struct chunk *chunk;

	if (recording->re_n == MAX_CHUNKS)
		return (NULL);
	chunk = &recording->re_chunk[recording->re_n++];
	memset(chunk, 0, sizeof(*chunk));
	chunk->ch_type = type;
	return (chunk);
}

static void
add_event(struct recording *recording)
{
	struct chunk *chunk = chunk_new(recording, PROF_C_EVENT);

	if (chunk == NULL)
		return;
	prof_buf_varint(&chunk->ch_raw, 1);
	for (unsigned n = 0; n < 4; n++)
		prof_buf_string(&chunk->ch_raw, "events");
	for (unsigned n = 0; n < 6; n++)
		prof_buf_varint(&chunk->ch_raw, n == 2 ? DTP_P_USTACK : 0);
}

static void
add_deep_stack(struct recording *recording, uint32_t number, size_t depth)
{
	struct chunk *chunk = chunk_new(recording, PROF_C_STACK);

	if (chunk == NULL)
		return;
	prof_buf_varint(&chunk->ch_head, number);
	prof_buf_varint(&chunk->ch_head, 1);
	prof_buf_varint(&chunk->ch_raw, 0);
	prof_buf_varint(&chunk->ch_raw, 0);
	prof_buf_varint(&chunk->ch_raw, depth);
	for (size_t n = 0; n < depth; n++)
		prof_buf_varint(&chunk->ch_raw, prof_zigzag(n * 16));
}

static void
put_section(struct chunk *chunk, unsigned id, struct prof_buf *part)
{
	prof_buf_section(&chunk->ch_raw, id, part);
	prof_buf_free(part);
}

/*
 * A sample of that stack for each of so many threads; has_script: its frames
 * are those of a script, too.
 */
static void
add_samples(struct recording *recording, uint32_t number, size_t threads,
    bool has_script)
{
	static const unsigned columns[] = { PROF_SS_SHAPE, PROF_SS_CPU,
	    PROF_SS_TIME, PROF_SS_TASK, PROF_SS_ULEAF, PROF_SS_USTACK,
	    PROF_SS_INSTRUCTION, PROF_SS_SCRIPT };
	const unsigned ncolumns = has_script ? 8 : 6;
	struct chunk *chunk = chunk_new(recording, PROF_C_SAMPLE);
	struct prof_buf part = { 0 };
	unsigned c;
	size_t n;

	if (chunk == NULL)
		return;
	prof_buf_varint(&chunk->ch_head, threads);
	prof_buf_varint(&chunk->ch_head, 0);
	prof_buf_varint(&chunk->ch_head, threads);
	prof_buf_varint(&chunk->ch_head, 1);
	prof_buf_varint(&chunk->ch_head, 1);
	prof_buf_varint(&chunk->ch_head, 0);
	prof_buf_varint(&chunk->ch_head, threads);
	prof_buf_varint(&part, PROF_SH_USTACK | (has_script ?
	    PROF_SH_SCRIPT : 0));
	prof_buf_bytes(&part, "\x01\x00\x01\x00\x00", 5);
	put_section(chunk, PROF_SS_SHAPES, &part);
	for (n = 0; n < threads; n++) {
		prof_buf_varint(&part, 100 + n);
		prof_buf_varint(&part, 0);
	}
	put_section(chunk, PROF_SS_TASKS, &part);
	prof_buf_varint(&part, prof_zigzag(0x1000));
	put_section(chunk, PROF_SS_ADDRS, &part);
	for (c = 0; c < ncolumns; c++) {
		for (n = 0; n < threads; n++)
			prof_buf_varint(&part, columns[c] == PROF_SS_TASK ?
			    n : columns[c] == PROF_SS_TIME ? prof_zigzag(1) :
			    columns[c] == PROF_SS_USTACK ||
			    columns[c] == PROF_SS_SCRIPT ? number : 0);
		put_section(chunk, columns[c], &part);
	}
}

static void
deepen(struct chance *chance, struct recording *recording)
{
	const uint32_t number = 1000000;
	const bool has_script = chance_is(chance, 2);
	const size_t threads = 1 + chance_below(chance, has_script ? 20000 :
	    3000);

	/* What stands behind END is not read. */
	while (recording->re_n > 0 && recording->re_chunk[recording->re_n -
	    1].ch_type >= PROF_C_ACCOUNTING) {
		recording->re_n--;
		prof_buf_free(&recording->re_chunk[recording->re_n].ch_head);
		prof_buf_free(&recording->re_chunk[recording->re_n].ch_raw);
	}
	add_event(recording);
	add_deep_stack(recording, number, 1 + chance_below(chance, 8192));
	add_samples(recording, number, threads, has_script);
}

static void
change(struct chance *chance, struct recording *recording)
{
	struct chunk *chunk = &recording->re_chunk[chance_below(chance,
	    recording->re_n)], other;

	switch (chance_below(chance, 12)) {
	case 0:
		bytes_mutate(chance, &chunk->ch_head);
		return;
	case 1:
		other = *chunk;
		*chunk = recording->re_chunk[recording->re_n - 1];
		recording->re_chunk[recording->re_n - 1] = other;
		return;
	case 2:
		chunk->ch_type = (uint16_t)chance_below(chance, NCODES + 1);
		return;
	case 3:
		chunk = chunk_new(recording, 0);
		if (chunk == NULL)
			return;
		other = recording->re_chunk[chance_below(chance,
		    recording->re_n - 1)];
		chunk->ch_type = other.ch_type;
		prof_buf_bytes(&chunk->ch_head, other.ch_head.bf_data,
		    other.ch_head.bf_len);
		prof_buf_bytes(&chunk->ch_raw, other.ch_raw.bf_data,
		    other.ch_raw.bf_len);
		return;
	default:
		bytes_mutate(chance, &chunk->ch_raw);
		return;
	}
}

/* --------------------------------------------------------- put together */

static void
pack(struct chance *chance, const struct chunk *from, uint32_t sequence,
    struct prof_buf *out)
{
	const bool packs = !chance_is(chance, 4);
	size_t bound = ZSTD_compressBound(from->ch_raw.bf_len), length;
	uint8_t header[PROF_CHUNK_HEADER];
	struct prof_chunk chunk = { .ck_type = from->ch_type,
	    .ck_sequence = sequence, .ck_codec = packs,
	    .ck_raw = (uint32_t)from->ch_raw.bf_len };
	struct prof_buf payload = { 0 };

	prof_buf_bytes(&payload, from->ch_head.bf_data, from->ch_head.bf_len);
	if (!packs) {
		prof_buf_bytes(&payload, from->ch_raw.bf_data,
		    from->ch_raw.bf_len);
	} else if (prof_buf_room(&payload, bound) != NULL) {
		length = ZSTD_compress(payload.bf_data + payload.bf_len,
		    bound, from->ch_raw.bf_data, from->ch_raw.bf_len, 1);
		payload.bf_len += ZSTD_isError(length) ? 0 : length;
	}
	chunk.ck_head = (uint32_t)from->ch_head.bf_len;
	if (chance_is(chance, 64))
		chunk.ck_raw = (uint32_t)chance_value(chance);
	chunk.ck_stored = (uint32_t)payload.bf_len;
	chunk.ck_payload = payload.bf_data;
	prof_chunk_header(&chunk, header);
	prof_buf_bytes(out, header, sizeof(header));
	prof_buf_bytes(out, payload.bf_data, payload.bf_len);
	prof_buf_free(&payload);
}

static void
recording_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	static struct recording recording;
	uint8_t header[PROF_FILE_HEADER];
	size_t n;

	take_apart(seed, &recording);
	for (n = chance_below(chance, 4); n > 0 && recording.re_n > 0; n--)
		change(chance, &recording);
	if (chance_is(chance, 256))
		deepen(chance, &recording);
	prof_file_header(header);
	prof_buf_bytes(out, header, sizeof(header));
	for (n = 0; n < recording.re_n; n++)
		pack(chance, &recording.re_chunk[n], (uint32_t)n, out);
	forget(&recording);
	/* Some for the door itself. */
	if (chance_is(chance, 32))
		bytes_mutate(chance, out);
}

static bool
recording_run(struct chance *chance, int fd, size_t length)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return (reading_all(chance, path, fd, length));
}

const struct format format_recording = { "recording", recording_mutate,
    recording_run };
