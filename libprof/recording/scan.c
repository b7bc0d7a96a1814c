/* SPDX-License-Identifier: ISC */
/*
 * Finds the chunks of a recording, once, at open: checks each, hands it to
 * keep.c, and where one is damaged looks for the next whole one.  Says at the
 * end what is missing.  A file can be made so that looking costs more and
 * more, so the bytes that may be hashed while looking are limited.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "base/error.h"
#include "reader.h"

#define RESYNC_FIRST	(64u << 20)
#define RESYNC_PER_BYTE	4
#define WINDOW		(64u << 10)

static int	scan_describe(struct prof_reader *);

int
prof_scan_chunk(const struct prof_reader *reader, size_t at,
    struct prof_chunk *chunk, struct prof_buf *buf)
{
	const struct prof_source *source = &reader->rd_source;
	const uint8_t *bytes = prof_source_at(source, at, PROF_CHUNK_HEADER,
	    buf);

	if (bytes != NULL && prof_chunk_parse(bytes, PROF_CHUNK_HEADER,
	    chunk)) {
		bytes = prof_source_at(source, at, PROF_CHUNK_HEADER +
		    (size_t)chunk->ck_stored, buf);
		/* Again: it may be another one by now. */
		if (bytes != NULL && prof_chunk_parse(bytes,
		    PROF_CHUNK_HEADER + (size_t)chunk->ck_stored, chunk))
			return (prof_chunk_whole(bytes, chunk));
	}
	return (buf->bf_failed ? -1 : 0);
}

/* May so much be hashed yet?  Of a header without a payload nothing is. */
static bool
resync_pays(struct prof_reader *reader, const uint8_t *header, size_t at)
{
	struct prof_chunk chunk;
	size_t cost;

	if (!prof_chunk_parse(header, PROF_CHUNK_HEADER, &chunk))
		return (false);
	cost = chunk.ck_stored + PROF_CHUNK_HEADER;
	if (cost > reader->rd_source.so_length - at)
		return (false);
	if (cost > reader->rd_resync) {
		reader->rd_resync = 0;
		return (false);
	}
	reader->rd_resync -= cost;
	return (true);
}

/*
 * The next whole chunk in a window of the file that ends where a header can
 * begin no more.  1, 0: there is none, -1: no memory.
 */
static int
resync_window(struct prof_reader *reader, const uint8_t *bytes, size_t length,
    size_t base, size_t *found)
{
	const uint8_t *hit = bytes, *end = bytes + length;
	struct prof_chunk chunk;
	int rv = 0;

	while (rv == 0 && reader->rd_resync > 0 && (hit = memmem(hit,
	    (size_t)(end - hit), PROF_CHUNK_MAGIC, 4)) != NULL &&
	    end - hit >= PROF_CHUNK_HEADER) {
		*found = base + (size_t)(hit - bytes);
		if (resync_pays(reader, hit, *found))
			rv = prof_scan_chunk(reader, *found, &chunk,
			    &reader->rd_stored);
		hit++;
	}
	return (rv);
}

/*
 * The next whole chunk after a damaged place.  1, 0: there is none, -1: no
 * memory.
 */
static int
scan_resync(struct prof_reader *reader, size_t from, size_t *found)
{
	const size_t end = reader->rd_source.so_length;
	struct prof_buf buf = { 0 };
	const uint8_t *bytes;
	size_t at = from + 1, length;
	int rv = 0;

	while (rv == 0 && reader->rd_resync > 0 && at < end &&
	    end - at >= PROF_CHUNK_HEADER) {
		length = end - at < WINDOW ? end - at : WINDOW;
		bytes = prof_source_at(&reader->rd_source, at, length, &buf);
		if (bytes == NULL)
			break;
		rv = resync_window(reader, bytes, length, at, found);
		at += length - (PROF_CHUNK_HEADER - 1);
	}
	if (rv == -1 || buf.bf_failed)
		rv = prof_fail_nomem(&reader->rd_error);
	prof_buf_free(&buf);
	return (rv);
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

/*
 * The chunk where the scan is, or the next whole one.  1, 0: no more, -1:
 * failed.
 */
static int
scan_next(struct prof_reader *reader, struct prof_chunk *chunk)
{
	const size_t at = reader->rd_scan_at;
	size_t found = at;
	bool damaged = false;
	int rv = prof_scan_chunk(reader, at, chunk, &reader->rd_stored);

	if (rv == 0) {
		rv = scan_resync(reader, at, &found);
		if (rv == 0)
			reader->rd_tail_torn = true;
		if (rv != 1)
			return (rv);
		scan_damage(reader, at);
		damaged = true;
		reader->rd_scan_at = found;
		rv = prof_scan_chunk(reader, found, chunk,
		    &reader->rd_stored);
	}
	if (rv == 1)
		scan_gap(reader, reader->rd_scan_at, chunk->ck_sequence,
		    damaged);
	return (rv == -1 ? prof_fail_nomem(&reader->rd_error) : rv);
}

int
prof_scan(struct prof_reader *reader)
{
	const size_t length = reader->rd_source.so_length;
	struct prof_chunk chunk;
	int rv;

	reader->rd_resync = RESYNC_FIRST;
	if (length < SIZE_MAX / (2 * RESYNC_PER_BYTE))
		reader->rd_resync += length * RESYNC_PER_BYTE;
	/* Place 0 of the strings is the empty one. */
	if (prof_array_add(reader, &reader->rd_strings, 1) == NULL)
		return (-1);
	while (reader->rd_scan_at < length && !reader->rd_ended) {
		rv = scan_next(reader, &chunk);
		if (rv == -1)
			return (-1);
		if (rv == 0)
			break;
		reader->rd_nchunks++;
		rv = prof_keep(reader, &chunk);
		if (rv == -1)
			return (-1);
		if (rv == 0)
			scan_damage(reader, reader->rd_scan_at);
		reader->rd_scan_at += PROF_CHUNK_HEADER + chunk.ck_stored;
	}
	reader->rd_end = reader->rd_scan_at;
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
		[PROF_END_FILE_LIMIT] = "the file size limit was reached",
		[PROF_END_IO] = "writing failed"
	};
	uint32_t reason = reader->rd_end_reason;
	char damage[96] = "", *text;

	if (reader->rd_missing > 0)
		(void)snprintf(damage, sizeof(damage),
		    "%u damaged chunks are left out, the first at byte %zu",
		    reader->rd_missing, reader->rd_first_damage);
	if (!reader->rd_ended) {
		if (asprintf(&text, reader->rd_source.so_is_written ?
		    "in progress: %zu bytes written so far%s%s" :
		    "cut after %zu bytes without an END chunk (recorder "
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
