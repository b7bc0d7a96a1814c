/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: bytes that change anywhere in a recording cost the chunks they
 * are in and no more, the reader says how many, and no record is ever yielded
 * that was not written; a sample whose stacks were lost says so.  A chunk that
 * does not decode although its checksum holds is said to be missing as well.
 *
 * Easy to get wrong: a damaged length swallows the chunks behind it, and a
 * lost stack chunk makes later samples show another stack.  Samples are decoded
 * long after the open, which is when damage was counted.
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
	while (prof_reader_record(reader, &record) == 1) {
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

/* What the profile and its quality say of it, too. */
static void
check_profile(struct prof_reader *reader, const char *cut)
{
	struct prof_err error = { 0 };
	struct prof_symbols *symbols = prof_symbols_open(reader, NULL,
	    &error);
	struct prof_profile *profile;
	struct prof_quality quality;
	size_t e, said = 0;

	CHECK(symbols != NULL);
	profile = prof_profile_new(reader, symbols, NULL, &error);
	CHECK(profile != NULL);
	CHECK(prof_reader_cut(reader) != NULL);
	CHECK(strcmp(prof_reader_cut(reader), cut) == 0);
	for (e = 0; e < MADE_EVENTS; e++) {
		prof_profile_quality(profile, e, &quality);
		said += strstr(quality.pq_text, "cut short") != NULL;
	}
	CHECK(said > 0);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
}

/* The checksum is right, and what it is of is none of ours. */
static size_t
check_made(const uint8_t *bytes, size_t length, const char *cut,
    const struct digest_list *whole)
{
	struct prof_reader *reader;
	struct digest_list list;
	struct prof_err error;
	size_t lost;

	reader = prof_reader_open_memory(bytes, length, &error);
	CHECK(reader != NULL && prof_reader_cut(reader) == NULL);
	check_profile(reader, cut);
	prof_reader_close(reader);
	reader = prof_reader_open_memory(bytes, length, &error);
	CHECK(reader != NULL);
	list = digest_all(reader);
	check_subsequence(&list, whole);
	lost = whole->dl_count - list.dl_count;
	CHECK(prof_reader_cut(reader) != NULL);
	CHECK(strcmp(prof_reader_cut(reader), cut) == 0);
	digest_free(&list);
	/* And once is enough. */
	CHECK(prof_reader_rewind(reader) == 0);
	list = digest_all(reader);
	check_profile(reader, cut);
	digest_free(&list);
	prof_reader_close(reader);
	return (lost);
}

/* The last bytes of each chunk of samples: of its body, or of a column. */
static void
each_made(uint8_t *bytes, size_t length, const struct digest_list *whole)
{
	uint8_t kept[PROF_CHUNK_HEADER], tail[8], *end;
	struct prof_chunk chunk;
	size_t at = PROF_FILE_HEADER, lost, n = 0, all = 0;
	char cut[96];

	for (; at < length; at += PROF_CHUNK_HEADER + chunk.ck_stored) {
		CHECK(prof_chunk_parse(bytes + at, length - at, &chunk));
		if (chunk.ck_type != PROF_C_SAMPLE)
			continue;
		end = bytes + at + PROF_CHUNK_HEADER + chunk.ck_stored;
		memcpy(kept, bytes + at, sizeof(kept));
		memcpy(tail, end - sizeof(tail), sizeof(tail));
		memset(end - sizeof(tail), 0xff, sizeof(tail));
		prof_chunk_header(&chunk, bytes + at);
		(void)snprintf(cut, sizeof(cut), "1 damaged chunks are left "
		    "out, the first at byte %zu", at);
		lost = check_made(bytes, length, cut, whole);
		CHECK(lost > 0);
		memcpy(end - sizeof(tail), tail, sizeof(tail));
		memcpy(bytes + at, kept, sizeof(kept));
		all += lost;
		n++;
	}
	CHECK(n > 1);
	printf("%zu chunks whose checksum holds do not decode: %zu records "
	    "lost, each time said\n", n, all);
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
	each_made(bytes, length, &whole);
	random_state = 99;
	for (i = 0; i < tries; i++)
		try_flips(bytes, length, &whole, &opened, &bare);
	CHECK(opened > tries / 2 && bare > 0);
	printf("%zu times some bytes changed, opened %zu times\n", tries,
	    opened);
	free(bytes);
	made_recording(work_path("x.dtp"), 11, 400, true);
	bytes = file_bytes(work_path("x.dtp"), &length);
	each_made(bytes, length, &whole);
	digest_free(&whole);
	free(bytes);
	return (0);
}
