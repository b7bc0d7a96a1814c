/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a recording cut at any byte at all is refused cleanly or reads
 * to its last whole chunk, says that it was cut, and yields a subsequence of
 * what the whole one yields: every chunk's samples or none of them.
 *
 * Easy to get wrong: a length in the half of a header that is left, a stack
 * whose chunk is there without the samples, END taken for granted.  Where
 * LOOPS asks for less, as under the sanitizers, only every third length is
 * tried, and the whole.
 */
#include "recording-lib.h"

static void
try_length(const uint8_t *bytes, size_t cut, size_t length,
    const struct digest_list *whole, size_t *most)
{
	struct prof_reader *reader;
	struct digest_list list;
	struct prof_err error = { 0 };
	uint8_t *copy = malloc(cut + 1);
	size_t i, at = 0;

	/* Its own allocation, so that a sanitizer sees each byte beyond. */
	CHECK(copy != NULL);
	memcpy(copy, bytes, cut);
	reader = prof_reader_open_memory(copy, cut, &error);
	if (reader == NULL) {
		CHECK(cut < 64);
		CHECK(error.pe_code == PROF_E_FORMAT ||
		    error.pe_code == PROF_E_DAMAGED);
		CHECK(error.pe_text[0] != '\0' && error.pe_cure[0] != '\0');
		free(copy);
		return;
	}
	CHECK((prof_reader_cut(reader) == NULL) == (cut == length));
	list = digest_all(reader);
	CHECK(list.dl_count >= *most);	/* more bytes, no fewer records */
	*most = list.dl_count;
	for (i = 0; i < list.dl_count; i++, at++) {
		while (at < whole->dl_count &&
		    whole->dl_hash[at] != list.dl_hash[i])
			at++;
		CHECK(at < whole->dl_count);
	}
	digest_free(&list);
	prof_reader_close(reader);
	free(copy);
}

int
main(void)
{
	struct prof_reader *reader;
	struct digest_list whole;
	struct prof_err error;
	const size_t step = getenv("LOOPS") != NULL ? 3 : 1;
	size_t length, cut, most = 0;
	uint8_t *bytes;

	made_recording(work_path("x.dtp"), 7, 120, false);
	bytes = file_bytes(work_path("x.dtp"), &length);
	reader = prof_reader_open_memory(bytes, length, &error);
	CHECK(reader != NULL);
	whole = digest_all(reader);
	CHECK(whole.dl_count == 120);
	prof_reader_close(reader);
	/* Ends at the whole length. */
	for (cut = length % step; cut <= length; cut += step)
		try_length(bytes, cut, length, &whole, &most);
	CHECK(most == whole.dl_count);
	printf("cut at one in %zu of %zu bytes\n", step, length);
	digest_free(&whole);
	free(bytes);
	return (0);
}
