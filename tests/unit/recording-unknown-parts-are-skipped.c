/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: chunks, records of lives, fields of them and sections that this
 * reader does not know are passed over by their size, and everything beside
 * them reads as before.
 */
#include "recording-lib.h"
#include "recording/format.h"

/* Write a chunk that holds body behind what out holds. */
static void
add_chunk(struct prof_buf *out, uint16_t type, uint8_t codec,
    const struct prof_buf *head, const struct prof_buf *body,
    uint32_t sequence)
{
	uint8_t header[PROF_CHUNK_HEADER];
	struct prof_buf payload = { 0 };
	struct prof_chunk chunk = { .ck_type = type, .ck_codec = codec,
	    .ck_sequence = sequence };

	if (head != NULL)
		prof_buf_bytes(&payload, head->bf_data, head->bf_len);
	chunk.ck_head = (uint32_t)payload.bf_len;
	prof_buf_bytes(&payload, body->bf_data, body->bf_len);
	chunk.ck_stored = (uint32_t)payload.bf_len;
	chunk.ck_raw = (uint32_t)body->bf_len;
	chunk.ck_payload = payload.bf_data;
	prof_chunk_header(&chunk, header);
	prof_buf_bytes(out, header, sizeof(header));
	prof_buf_bytes(out, payload.bf_data, payload.bf_len);
	prof_buf_free(&payload);
}

/* A LIFE chunk: a type of the future, then a MARK with a field of it. */
static void
add_process_events(struct prof_buf *out, uint32_t sequence)
{
	struct prof_buf record = { 0 }, records = { 0 }, body = { 0 };
	struct prof_buf unknown = { 0 };

	prof_buf_varint(&record, 4711);		/* type */
	prof_buf_varint(&record, prof_zigzag(77));
	prof_buf_bytes(&record, "whatever", 8);
	prof_buf_varint(&records, record.bf_len);
	prof_buf_bytes(&records, record.bf_data, record.bf_len);
	record.bf_len = 0;
	prof_buf_varint(&record, PROF_R_MARK);
	prof_buf_varint(&record, prof_zigzag(0));
	prof_buf_varint(&record, 1u << PROF_LF_PID | (uint64_t)1 << 40);
	prof_buf_varint(&record, 1234);
	prof_buf_varint(&record, 999999);	/* the unknown field */
	prof_buf_bytes(&record, "more", 4);
	prof_buf_varint(&records, record.bf_len);
	prof_buf_bytes(&records, record.bf_data, record.bf_len);
	prof_buf_bytes(&unknown, "section", 7);
	prof_buf_section(&body, 50, &unknown);
	prof_buf_section(&body, PROF_LS_RECORDS, &records);
	prof_buf_section(&body, 51, &unknown);
	add_chunk(out, PROF_C_LIFE, PROF_CODEC_NONE, NULL, &body, sequence);
	prof_buf_free(&record);
	prof_buf_free(&records);
	prof_buf_free(&body);
	prof_buf_free(&unknown);
}

/* The same chunk, with a section of the future before and behind. */
static void
add_grown(struct prof_buf *out, const struct prof_chunk *chunk,
    uint32_t sequence)
{
	struct prof_buf head = { 0 }, body = { 0 }, unknown = { 0 };

	prof_buf_bytes(&unknown, "future", 6);
	prof_buf_bytes(&head, chunk->ck_payload, chunk->ck_head);
	prof_buf_section(&body, 200, &unknown);
	prof_buf_bytes(&body, chunk->ck_payload + chunk->ck_head,
	    chunk->ck_stored - chunk->ck_head);
	prof_buf_section(&body, 77, &unknown);
	add_chunk(out, chunk->ck_type, PROF_CODEC_NONE, &head, &body,
	    sequence);
	prof_buf_free(&head);
	prof_buf_free(&body);
	prof_buf_free(&unknown);
}

/* Every chunk of the file once more, with strangers in between. */
static void
rewrite(struct prof_buf *out, const uint8_t *bytes, size_t length)
{
	struct prof_buf junk = { 0 };
	struct prof_chunk chunk;
	size_t at = PROF_FILE_HEADER;
	uint32_t sequence = 0;

	prof_buf_bytes(out, bytes, PROF_FILE_HEADER);
	prof_put_le(out->bf_data + 16, PROF_FILE_HEADER + 8, 4);
	prof_buf_bytes(out, "longer!!", 8);
	prof_buf_bytes(&junk, "a body of the future", 20);
	while (at < length) {
		CHECK(prof_chunk_parse(bytes + at, length - at, &chunk));
		add_chunk(out, 4000, 99, NULL, &junk, sequence++);
		if (chunk.ck_type == PROF_C_END)
			add_process_events(out, sequence++);
		if (chunk.ck_type == PROF_C_SAMPLE ||
		    chunk.ck_type == PROF_C_LIFE) {
			add_grown(out, &chunk, sequence++);
		} else {
			struct prof_buf head = { 0 }, body = { 0 };

			prof_buf_bytes(&head, chunk.ck_payload,
			    chunk.ck_head);
			prof_buf_bytes(&body, chunk.ck_payload +
			    chunk.ck_head, chunk.ck_stored - chunk.ck_head);
			add_chunk(out, chunk.ck_type, PROF_CODEC_NONE, &head,
			    &body, sequence++);
			prof_buf_free(&head);
			prof_buf_free(&body);
		}
		at += PROF_CHUNK_HEADER + chunk.ck_stored;
	}
	prof_buf_free(&junk);
}

int
main(void)
{
	struct prof_reader *reader;
	struct prof_record record;
	struct digest_list before, after;
	struct prof_buf grown = { 0 };
	struct prof_err error;
	size_t length;
	uint8_t *bytes;

	made_recording(work_path("x.dtp"), 21, 300, true);
	bytes = file_bytes(work_path("x.dtp"), &length);
	rewrite(&grown, bytes, length);
	reader = prof_reader_open_memory(bytes, length, &error);
	CHECK(reader != NULL);
	before = digest_all(reader);
	prof_reader_close(reader);

	reader = prof_reader_open_memory(grown.bf_data, grown.bf_len, &error);
	if (reader == NULL)
		CHECK_OK(-1, &error);
	CHECK(prof_reader_cut(reader) == NULL);
	/* The mark of 77 ns comes first, everything else as before. */
	CHECK(prof_reader_record(reader, &record) == 1);
	CHECK(record.pr_type == PROF_R_MARK && record.pr_time_ns == 77);
	CHECK(record.pr_pid == 1234);
	after = digest_all(reader);
	prof_reader_close(reader);
	CHECK(before.dl_count == 300 && after.dl_count == 300);
	CHECK(memcmp(before.dl_hash, after.dl_hash, 300 * 8) == 0);
	printf("300 records beside unknown ones\n");
	digest_free(&before);
	digest_free(&after);
	prof_buf_free(&grown);
	free(bytes);
	return (0);
}
