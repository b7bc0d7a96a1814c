/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a recording of a newer major version is refused, of a newer
 * minor or an older version read, and a file that is no recording is refused
 * with a sentence that says what it is and a cure.
 */
#include <fcntl.h>

#include "recording-lib.h"

static void
expect(const void *bytes, size_t length, int code, const char *text)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader;

	reader = prof_reader_open_memory(bytes, length, &error);
	if (code == PROF_OK) {
		if (reader == NULL)
			CHECK_OK(-1, &error);
		prof_reader_close(reader);
		return;
	}
	CHECK(reader == NULL);
	if (error.pe_code != code || strstr(error.pe_text, text) == NULL ||
	    error.pe_cure[0] == '\0') {
		printf("wanted %s (%s), got %s: %s (%s)\n",
		    prof_code_name(code), text,
		    prof_code_name(error.pe_code), error.pe_text,
		    error.pe_cure);
		exit(1);
	}
}

static void
expect_path(const char *path, int code, const char *text)
{
	struct prof_err error = { 0 };

	CHECK(prof_reader_open(path, &error) == NULL);
	CHECK(error.pe_code == code);
	CHECK(strstr(error.pe_text, text) != NULL);
	CHECK(strstr(error.pe_text, path) != NULL);
	CHECK(error.pe_cure[0] != '\0');
}

int
main(void)
{
	static const char perf_data[104] = "PERFILE2h";
	static const char elf[64] = "\x7f" "ELF\2\1\1";
	struct prof_err error = { 0 };
	size_t length;
	uint8_t *bytes;

	made_recording(work_path("x.dtp"), 3, 50, false);
	bytes = file_bytes(work_path("x.dtp"), &length);
	expect(bytes, length, PROF_OK, "");
	bytes[8]++;			/* major */
	expect(bytes, length, PROF_E_NEWER, "format 3.0");
	bytes[8] = 0;
	expect(bytes, length, PROF_OK, "");
	bytes[8] = 2;
	bytes[10] = 9;			/* minor */
	expect(bytes, length, PROF_OK, "");
	bytes[12] ^= 5;			/* mark of the byte order */
	expect(bytes, length, PROF_E_FORMAT, "byte order");
	bytes[12] ^= 5;
	bytes[19] = 0xff;		/* length of the header */
	expect(bytes, length, PROF_E_DAMAGED, "header");

	expect(perf_data, sizeof(perf_data), PROF_E_FORMAT, "perf");
	/* A library user opens it so; our commands open perf.data as it is. */
	CHECK(prof_reader_open_memory(perf_data, sizeof(perf_data), &error) ==
	    NULL && strstr(error.pe_cure, "dtprof import") != NULL);
	expect(elf, sizeof(elf), PROF_E_FORMAT, "program");
	expect("\x1f\x8b\x08", 3, PROF_E_FORMAT, "gzip");
	expect("\x28\xb5\x2f\xfd", 4, PROF_E_FORMAT, "zstd");
	expect("", 0, PROF_E_FORMAT, "empty");
	expect("x", 1, PROF_E_FORMAT, "not a dtprof recording");
	expect("\x89" "DTP", 4, PROF_E_DAMAGED, "truncated");

	expect_path("/", PROF_E_FORMAT, "directory");
	expect_path("/dev/null", PROF_E_FORMAT, "empty");
	expect_path(work_path("nothing.dtp"), PROF_E_IO, "no such file");
	expect_path("/proc/self/exe", PROF_E_FORMAT, "program");
	free(bytes);
	printf("versions and 11 foreign files\n");
	return (0);
}
