/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: bytes that change anywhere in a recording cost the chunks they
 * are in and no more, the reader says how many, and no record is ever yielded
 * that was not written; a sample whose stacks were lost says so.
 *
 * Easy to get wrong: a damaged length swallows the chunks behind it, and a
 * lost stack chunk makes later samples show another stack.
 */
#include "recording-lib.h"
#include "recording/format.h"

#define TRIES	3000	/* a third where LOOPS asks for less */

/* Each record of list is one of whole, in order, but for lost stacks. */
static size_t
check_subsequence(const struct digest_list *list,
    const struct digest_list *whole)
{
	size_t i, at = 0, bare = 0;

	for (i = 0; i < list->dl_count; i++, at++) {
		while (at < whole->dl_count &&
		    whole->dl_bare[at] != list->dl_bare[i])
			at++;
		CHECK(at < whole->dl_count);
		bare += whole->dl_hash[at] != list->dl_hash[i];
	}
	return (bare);
}

/* Frames may be missing only with a status that admits it. */
static void
check_faults(struct prof_reader *reader)
{
	struct prof_record record;

	CHECK(prof_reader_rewind(reader) == 0);
	while (prof_reader_next(reader, &record) == 1) {
		if (record.pr_type != PROF_R_SAMPLE)
			continue;
		CHECK(record.pr_nuser == 0 || record.pr_user[0] != 0 ||
		    record.pr_ip == 0 || record.pr_nkernel > 0);
	}
}

static void
try_flips(const uint8_t *bytes, size_t length,
    const struct digest_list *whole, size_t *opened, size_t *bare)
{
	uint8_t *copy = malloc(length);
	struct prof_reader *reader;
	struct digest_list list;
	struct prof_err error = { 0 };
	uint32_t n = 1 + below(4), i;

	CHECK(copy != NULL);
	memcpy(copy, bytes, length);
	for (i = 0; i < n; i++)
		copy[below((uint32_t)length)] ^= (uint8_t)(1 + below(255));
	reader = prof_reader_open_memory(copy, length, &error);
	if (reader == NULL) {
		CHECK(error.pe_code != PROF_OK && error.pe_text[0] != '\0');
	} else {
		list = digest_all(reader);
		*bare += check_subsequence(&list, whole);
		if (list.dl_count < whole->dl_count)
			CHECK(prof_reader_cut(reader) != NULL);
		check_faults(reader);
		digest_free(&list);
		prof_reader_close(reader);
		(*opened)++;
	}
	free(copy);
}

/* Damage one chunk on purpose: all the others must stay. */
static void
each_chunk(uint8_t *bytes, size_t length, const struct digest_list *whole)
{
	struct prof_chunk chunk;
	struct prof_reader *reader;
	struct digest_list list;
	struct prof_err error;
	size_t at = PROF_FILE_HEADER, lost = 0, bare = 0, n = 0;

	while (at < length) {
		CHECK(prof_chunk_parse(bytes + at, length - at, &chunk));
		bytes[at + 9] ^= 0x40;	/* its length: far too long */
		reader = prof_reader_open_memory(bytes, length, &error);
		CHECK(reader != NULL);
		CHECK(prof_reader_cut(reader) != NULL);
		list = digest_all(reader);
		bare += check_subsequence(&list, whole);
		lost += whole->dl_count - list.dl_count;
		digest_free(&list);
		prof_reader_close(reader);
		bytes[at + 9] ^= 0x40;
		at += PROF_CHUNK_HEADER + chunk.ck_stored;
		n++;
	}
	/* Each record is in one chunk, so each was lost exactly once. */
	CHECK(lost == whole->dl_count);
	CHECK(bare > 0);
	printf("%zu chunks, each record lost with one of them; %zu samples "
	    "without a stack\n", n, bare);
}

int
main(void)
{
	struct prof_reader *reader;
	struct digest_list whole;
	struct prof_err error;
	const size_t tries = TRIES / (getenv("LOOPS") != NULL ? 3 : 1);
	size_t length, opened = 0, bare = 0, i;
	uint8_t *bytes;

	made_recording(work_path("x.dtp"), 11, 400, false);
	bytes = file_bytes(work_path("x.dtp"), &length);
	reader = prof_reader_open_memory(bytes, length, &error);
	CHECK(reader != NULL);
	whole = digest_all(reader);
	CHECK(whole.dl_count == 400);
	prof_reader_close(reader);
	each_chunk(bytes, length, &whole);
	random_state = 99;
	for (i = 0; i < tries; i++)
		try_flips(bytes, length, &whole, &opened, &bare);
	CHECK(opened > tries / 2 && bare > 0);
	printf("%zu times some bytes changed, opened %zu times\n", tries,
	    opened);
	digest_free(&whole);
	free(bytes);
	return (0);
}
