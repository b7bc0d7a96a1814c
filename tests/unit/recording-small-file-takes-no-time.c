/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: how long a recording takes to read grows as what it says does,
 * whatever that is: with 4,000 descriptions, given again and again, as with one
 * of them; and mappings that come in descending order, each in front of all
 * others, have an end that is said.
 *
 * Easy to get wrong: each step is short, and there are as many of them as the
 * square of what a file may hold.
 */
#include <time.h>

#include "process/symbols.h"
#include "recording-lib.h"

#define KEYS		4000u
#define AGAIN		100000u
#define MOST		20	/* times as long */
#define MAPPINGS	40000u

int	main(void);

static double
cpu_seconds(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

/* Of a file in which these are described, the last one again and again. */
static double
time_of(unsigned keys)
{
	const char *path = work_path("x.dtp");
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);
	struct prof_reader *reader;
	double began;
	char key[32];

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	for (unsigned n = 0; n < AGAIN; n++) {
		(void)snprintf(key, sizeof(key), "a.description.%u",
		    n < keys ? n : keys - 1);
		CHECK_OK(prof_writer_info(writer, key, "v"),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	began = cpu_seconds();
	reader = prof_reader_open(path, &error);
	began = cpu_seconds() - began;
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	CHECK(prof_reader_info(reader, key) != NULL);
	prof_reader_close(reader);
	return (began);
}

static void
descending_mappings(void)
{
	struct prof_record record = { .pr_type = PROF_R_MMAP, .pr_pid = 7,
	    .pr_tid = 7, .pr_len = 4096, .pr_ino = 1, .pr_comm = "",
	    .pr_path = "/nonexistent/program" };
	const char *path = work_path("y.dtp"), *note;
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);
	struct prof_symbols *symbols;
	struct prof_reader *reader;

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	for (unsigned n = 0; n < MAPPINGS; n++) {
		record.pr_time_ns = n;
		record.pr_addr = 0x7f0000000000 - 8192 * (uint64_t)n;
		CHECK_OK(prof_writer_add(writer, &record),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	note = prof_symbols_limit(symbols, 0);
	printf("descending mappings: %s\n", note == NULL ? "no end" : note);
	CHECK(note != NULL && strstr(note, "mappings") != NULL);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	double one = time_of(1), many = time_of(KEYS);

	printf("one description %u times: %.3f s of CPU time, %u of them: "
	    "%.3f s\n", AGAIN, one, KEYS, many);
	CHECK(many < MOST * one);
	descending_mappings();
	return (0);
}
