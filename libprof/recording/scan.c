/* SPDX-License-Identifier: ISC */
/*
 * Finds the chunks of a recording, once, at open: checks each, hands it to
 * keep.c, and where one is damaged looks for the next whole one.  Says at the
 * end what is missing.  A file can be made so that looking costs more and
 * more, so the bytes that may be hashed while looking are limited.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "reader.h"

#define RESYNC_FIRST	(64u << 20)
#define RESYNC_PER_BYTE	4

static int	scan_describe(struct prof_reader *);

/* The whole chunk at an offset, checked. */
static bool
scan_at(const struct prof_reader *reader, size_t at, struct prof_chunk *chunk)
{
	size_t left = reader->rd_length - at;

	return (prof_chunk_parse(reader->rd_bytes + at, left, chunk) &&
	    chunk->ck_stored <= left - PROF_CHUNK_HEADER &&
	    prof_chunk_whole(reader->rd_bytes + at, chunk));
}

/* The next whole chunk after a damaged place; 0: there is none. */
static size_t
scan_resync(struct prof_reader *reader, size_t from)
{
	const uint8_t *bytes = reader->rd_bytes, *hit;
	struct prof_chunk chunk;
	size_t at, cost;

	for (at = from + 1; at < reader->rd_length; at++) {
		hit = memmem(bytes + at, reader->rd_length - at,
		    PROF_CHUNK_MAGIC, 4);
		if (hit == NULL)
			return (0);
		at = (size_t)(hit - bytes);
		if (!prof_chunk_parse(hit, reader->rd_length - at, &chunk) ||
		    chunk.ck_stored > reader->rd_length - at -
		    PROF_CHUNK_HEADER)
			continue;
		cost = chunk.ck_stored + PROF_CHUNK_HEADER;
		if (cost > reader->rd_resync)
			return (0);
		reader->rd_resync -= cost;
		if (prof_chunk_whole(hit, &chunk))
			return (at);
	}
	return (0);
}

static void
scan_damage(struct prof_reader *reader, size_t at)
{
	if (reader->rd_missing++ == 0 || at < reader->rd_first_damage)
		reader->rd_first_damage = at;
}

/* The numbers of chunks say how many are gone; one was counted already. */
static void
scan_gap(struct prof_reader *reader, size_t at, uint32_t sequence,
    bool damaged)
{
	uint32_t expected = reader->rd_next_sequence;

	reader->rd_next_sequence = sequence + 1;
	if (sequence <= expected)
		return;
	if (!damaged)
		scan_damage(reader, at);
	reader->rd_missing += sequence - expected - 1;
}

int
prof_scan(struct prof_reader *reader)
{
	size_t at = prof_get_le(reader->rd_bytes + 16, 4), next;
	struct prof_chunk chunk;
	bool damaged = false;
	int rv;

	reader->rd_resync = RESYNC_FIRST;
	if (reader->rd_length < SIZE_MAX / (2 * RESYNC_PER_BYTE))
		reader->rd_resync += reader->rd_length * RESYNC_PER_BYTE;
	/* Place 0 of the strings is the empty one. */
	if (prof_array_add(reader, &reader->rd_strings, 1) == NULL)
		return (-1);
	while (at < reader->rd_length && !reader->rd_ended) {
		if (!scan_at(reader, at, &chunk)) {
			next = scan_resync(reader, at);
			if (next == 0) {
				reader->rd_tail_torn = true;
				break;
			}
			scan_damage(reader, at);
			damaged = true;
			at = next;
			continue;
		}
		scan_gap(reader, at, chunk.ck_sequence, damaged);
		damaged = false;
		reader->rd_nchunks++;
		rv = prof_keep(reader, &chunk);
		if (rv == -1)
			return (-1);
		if (rv == 0)
			scan_damage(reader, at);
		at += PROF_CHUNK_HEADER + chunk.ck_stored;
	}
	reader->rd_end = at;
	return (scan_describe(reader));
}

int
prof_decoder_damage(struct prof_reader *reader, size_t first, size_t n)
{
	struct prof_sample_chunk *chunk = reader->rd_samples.ar_items;
	uint32_t before = reader->rd_missing;

	for (; n > 0; n--, first++) {
		if (!chunk[first].sc_damaged || chunk[first].sc_counted)
			continue;
		chunk[first].sc_counted = true;
		scan_damage(reader, chunk[first].sc_offset);
	}
	return (reader->rd_missing == before ? 0 : scan_describe(reader));
}

/* Nothing to say about a whole recording. */
static int
scan_describe(struct prof_reader *reader)
{
	static const char *const reasons[] = {
		[PROF_END_DISK_FULL] = "the disk was full",
		[PROF_END_FILE_LIMIT] = "the largest size of a file was "
		    "reached",
		[PROF_END_IO] = "writing failed"
	};
	uint32_t reason = reader->rd_end_reason;
	char damage[96] = "", *text;

	if (reader->rd_missing > 0)
		(void)snprintf(damage, sizeof(damage),
		    "%u damaged chunks left out, the first at byte %zu",
		    reader->rd_missing, reader->rd_first_damage);
	if (!reader->rd_ended) {
		if (asprintf(&text, "cut after %zu bytes: no END (recorder "
		    "killed, or power lost)%s%s", reader->rd_end,
		    damage[0] != '\0' ? "; " : "", damage) == -1)
			text = NULL;
	} else if (reason != PROF_END_WHOLE) {
		if (reason >= sizeof(reasons) / sizeof(reasons[0]))
			reason = PROF_END_IO;
		if (asprintf(&text, "cut after %zu bytes: %s%s%s",
		    reader->rd_end, reasons[reason],
		    damage[0] != '\0' ? "; " : "", damage) == -1)
			text = NULL;
	} else if (damage[0] != '\0') {
		text = strdup(damage);
	} else {
		return (0);
	}
	if (text == NULL)
		return (prof_fail_nomem(&reader->rd_error));
	free(reader->rd_cut);
	reader->rd_cut = text;
	return (0);
}

int
prof_inflate_body(struct prof_inflate *inflate, const struct prof_chunk *chunk,
    struct prof_cur *body)
{
	const uint8_t *stored = chunk->ck_payload + chunk->ck_head;
	size_t len = chunk->ck_stored - chunk->ck_head, got;
	struct prof_buf *raw = &inflate->if_raw;

	if (chunk->ck_codec == PROF_CODEC_NONE) {
		*body = prof_cur_of(stored, len);
		return (len == chunk->ck_raw ? 1 : 0);
	}
	if (chunk->ck_codec != PROF_CODEC_ZSTD)
		return (0);
	raw->bf_len = 0;
	if (prof_buf_room(raw, chunk->ck_raw + 1) == NULL) {
		raw->bf_failed = false;	/* a smaller chunk may fit */
		return (-1);
	}
	got = ZSTD_decompressDCtx(inflate->if_zstd, raw->bf_data,
	    chunk->ck_raw, stored, len);
	*body = prof_cur_of(raw->bf_data, chunk->ck_raw);
	return (!ZSTD_isError(got) && got == chunk->ck_raw ? 1 : 0);
}

void
prof_inflate_free(struct prof_inflate *inflate)
{
	prof_buf_free(&inflate->if_raw);
	ZSTD_freeDCtx(inflate->if_zstd);
}
