/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: 1024 CPUs with ids far apart are recorded, accounted and read
 * like any others, and the accounting of all is the sum of each.
 *
 * Easy to get wrong: an array by CPU id, or a mask of 32 or 64 bits.
 */
#include "recording-lib.h"

#define CPUS	1024

static uint32_t
cpu_of(uint32_t n)
{
	return (n * 977 + (n & 3));	/* up to a million */
}

static void
write_file(const char *path, uint64_t samples[CPUS])
{
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1 };
	struct prof_accounting rows[MADE_EVENTS];
	struct prof_writer *writer;
	struct prof_err error;
	uint32_t i, n;

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	made_events(writer);
	for (i = 0; i < 200000; i++) {
		n = below(CPUS);
		samples[n]++;
		sample.pr_cpu = cpu_of(n);
		sample.pr_time_ns = i;
		CHECK(prof_writer_add(writer, &sample) == 0);
	}
	memset(rows, 0, sizeof(rows));
	for (n = CPUS; n-- > 0; ) {
		rows[1].pa_fired = rows[1].pa_stored = samples[n];
		rows[1].pa_read = samples[n];
		rows[2].pa_fired = 1;
		/* Twice: the last one counts. */
		CHECK(prof_writer_accounting(writer, (int)cpu_of(n), rows,
		    MADE_EVENTS) == 0);
		rows[2].pa_fired = 2;
		CHECK(prof_writer_accounting(writer, (int)cpu_of(n), rows,
		    MADE_EVENTS) == 0);
		if (n % 300 == 0)
			CHECK(prof_writer_flush(writer) == 0);
	}
	memset(rows, 0, sizeof(rows));
	rows[1].pa_missed = 17;
	rows[1].pa_unaccounted = -3;
	CHECK(prof_writer_accounting(writer, -1, rows, MADE_EVENTS) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	static uint64_t samples[CPUS], seen[CPUS];
	struct prof_accounting sum, row;
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error;
	uint32_t n;

	random_state = 77;
	write_file(work_path("x.dtp"), samples);
	reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(reader != NULL);
	for (n = 0; n < CPUS; n++) {
		CHECK(prof_reader_cpu(reader, n) == (int)cpu_of(n));
		CHECK(prof_reader_accounting(reader, 1, (int)cpu_of(n),
		    &row) == 0);
		CHECK(row.pa_stored == samples[n]);
		CHECK(row.pa_written == samples[n]);
		CHECK(row.pa_missed == 0);
	}
	CHECK(prof_reader_cpu(reader, CPUS) == -1);
	CHECK(prof_reader_accounting(reader, 1, 5, &row) == -1);
	CHECK(prof_reader_accounting(reader, 1, -1, &sum) == 0);
	CHECK(sum.pa_fired == 200000 && sum.pa_written == 200000);
	CHECK(sum.pa_missed == 17 && sum.pa_unaccounted == -3);
	CHECK(prof_reader_accounting(reader, 2, -1, &sum) == 0);
	CHECK(sum.pa_fired == 2 * CPUS && sum.pa_written == 0);
	CHECK(prof_reader_accounting(reader, 99, -1, &sum) == -1);
	while (prof_reader_record(reader, &record) == 1) {
		for (n = record.pr_cpu / 977; cpu_of(n) != record.pr_cpu; n--)
			CHECK(n > 0);
		seen[n]++;
	}
	CHECK(memcmp(seen, samples, sizeof(seen)) == 0);
	prof_reader_close(reader);
	printf("%u CPUs, the last one is %u\n", CPUS, cpu_of(CPUS - 1));
	return (0);
}
