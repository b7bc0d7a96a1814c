/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a small file that claims to hold enormous things is read or
 * refused within 512 MiB of memory: compressed nothing, counts, lengths, and
 * stacks that share everything.
 */
#include <sys/resource.h>

#include <zstd.h>

#include "recording-lib.h"
#include "recording/format.h"

static void
add_chunk(struct prof_buf *out, uint16_t type, const struct prof_buf *head,
    const void *body, size_t raw, uint32_t sequence)
{
	uint8_t header[PROF_CHUNK_HEADER], *stored;
	struct prof_chunk chunk = { .ck_type = type, .ck_codec = 1,
	    .ck_sequence = sequence };
	size_t bound = ZSTD_compressBound(raw), len;

	stored = malloc(head->bf_len + bound);
	CHECK(stored != NULL);
	if (head->bf_len > 0)
		memcpy(stored, head->bf_data, head->bf_len);
	len = ZSTD_compress(stored + head->bf_len, bound, body, raw, 1);
	CHECK(!ZSTD_isError(len));
	chunk.ck_head = (uint32_t)head->bf_len;
	chunk.ck_stored = (uint32_t)(head->bf_len + len);
	chunk.ck_raw = (uint32_t)raw;
	chunk.ck_payload = stored;
	prof_chunk_header(&chunk, header);
	prof_buf_bytes(out, header, sizeof(header));
	prof_buf_bytes(out, stored, chunk.ck_stored);
	free(stored);
}

static void
read_it(const char *what, struct prof_buf *file)
{
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error = { 0 };
	uint64_t n = 0;

	reader = prof_reader_open_memory(file->bf_data, file->bf_len, &error);
	if (reader == NULL) {
		CHECK(error.pe_code == PROF_E_DAMAGED);
		printf("%s, %zu bytes: %s\n", what, file->bf_len,
		    error.pe_text);
	} else {
		while (n < 100000 && prof_reader_record(reader, &record) == 1)
			n++;
		printf("%s, %zu bytes: %" PRIu64 " records\n", what,
		    file->bf_len, n);
		prof_reader_close(reader);
	}
	prof_buf_free(file);
}

static void
begin(struct prof_buf *file)
{
	uint8_t header[PROF_FILE_HEADER];

	memset(file, 0, sizeof(*file));
	prof_file_header(header);
	prof_buf_bytes(file, header, sizeof(header));
}

/* Body after body of the same bytes: a ten-thousandth of it on disk. */
static void
bombs(uint16_t type, const char *what, const struct prof_buf *unit)
{
	struct prof_buf file, head = { 0 }, body = { 0 }, section = { 0 };
	uint32_t i;

	begin(&file);
	while (section.bf_len + unit->bf_len < PROF_MAX_RAW - 100)
		prof_buf_bytes(&section, unit->bf_data, unit->bf_len);
	if (type == PROF_C_LIFE) {
		prof_buf_section(&body, PROF_LS_RECORDS, &section);
		prof_buf_varint(&head, 1);
	} else {
		prof_buf_bytes(&body, section.bf_data, section.bf_len);
		prof_buf_varint(&head, 1);
		prof_buf_varint(&head, body.bf_len / 4);
	}
	for (i = 0; i < 100; i++)
		add_chunk(&file, type, &head, body.bf_data, body.bf_len, i);
	read_it(what, &file);
	prof_buf_free(&head);
	prof_buf_free(&body);
	prof_buf_free(&section);
}

/* One deep stack, and many that share all of it but a frame. */
static void
deep_stacks(void)
{
	struct prof_buf file, head = { 0 }, body = { 0 };
	uint32_t n = 1000000, i;

	begin(&file);
	prof_buf_varint(&head, 1);
	prof_buf_varint(&head, n);
	for (i = 0; i < n; i++) {
		prof_buf_varint(&body, i);
		prof_buf_varint(&body, i == 0 ? 0 : PROF_MAX_FRAMES - 1);
		prof_buf_varint(&body, i == 0 ? PROF_MAX_FRAMES : 1);
		if (i == 0)
			for (uint32_t k = 0; k < PROF_MAX_FRAMES; k++)
				prof_buf_varint(&body, 2);
		else
			prof_buf_varint(&body, 2);
	}
	add_chunk(&file, PROF_C_STACK, &head, body.bf_data, body.bf_len, 0);
	read_it("stacks that share", &file);
	prof_buf_free(&head);
	prof_buf_free(&body);
}

int
main(void)
{
	struct rlimit limit = { 512u << 20, 512u << 20 };
	struct prof_buf unit = { 0 };
	char text[1000] = "";

#if !defined(__SANITIZE_ADDRESS__)
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
#else
	(void)limit;
#endif
	prof_buf_varint(&unit, 3);		/* a record of three bytes */
	prof_buf_varint(&unit, PROF_R_EXIT);
	prof_buf_varint(&unit, 2);
	prof_buf_varint(&unit, 0);
	bombs(PROF_C_LIFE, "lives", &unit);
	unit.bf_len = 0;
	prof_buf_varint(&unit, 0);		/* a stack of one frame */
	prof_buf_varint(&unit, 0);
	prof_buf_varint(&unit, 1);
	prof_buf_varint(&unit, 2);
	bombs(PROF_C_STACK, "stacks", &unit);
	unit.bf_len = 0;
	prof_buf_varint(&unit, 3);		/* a row without counters */
	prof_buf_varint(&unit, 1);
	prof_buf_varint(&unit, 1);
	prof_buf_varint(&unit, 0);
	bombs(PROF_C_ACCOUNTING, "accounting", &unit);
	unit.bf_len = 0;
	prof_buf_string(&unit, "k");
	prof_buf_string(&unit, "v");
	bombs(PROF_C_INFO, "descriptions", &unit);
	unit.bf_len = 0;
	prof_buf_string(&unit, "k");
	memset(text, 'v', sizeof(text) - 1);
	prof_buf_string(&unit, text);
	bombs(PROF_C_INFO, "long descriptions", &unit);
	deep_stacks();
	prof_buf_free(&unit);
	return (0);
}
