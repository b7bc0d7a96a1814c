/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: records of many CPUs come out in order of time, those of one CPU
 * in the order they were added, a life before a sample of the same time, and
 * two readings of one file are the same.
 *
 * Easy to get wrong: equal times, and lives that arrive late.
 */
#include "recording-lib.h"

#define SAMPLES	30000
#define CPUS	37

static void
write_file(const char *path)
{
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1 };
	struct prof_record life = { .pr_type = PROF_R_MARK };
	struct prof_writer *writer;
	struct prof_err error;
	uint64_t time_ns = 500;
	uint32_t i;

	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		CHECK_OK(-1, &error);
	made_events(writer);
	for (i = 0; i < SAMPLES; i++) {
		time_ns += below(3);	/* often the same */
		sample.pr_time_ns = time_ns;
		sample.pr_cpu = below(CPUS);
		sample.pr_nargs = 1;
		sample.pr_args[0] = i;
		CHECK(prof_writer_add(writer, &sample) == 0);
		if (below(10) == 0) {	/* late by as much as it can be */
			life.pr_time_ns = 500 + below((uint32_t)time_ns);
			life.pr_weight = i;
			CHECK(prof_writer_add(writer, &life) == 0);
		}
		if (below(5000) == 0)
			CHECK(prof_writer_flush(writer) == 0);
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

int
main(void)
{
	struct prof_record record, before = { 0 };
	struct prof_reader *reader;
	struct digest_list first, second;
	struct prof_err error;
	uint64_t next = 0, marks = 0, equal = 0;

	random_state = 5;
	write_file(work_path("x.dtp"));
	reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(reader != NULL);
	while (prof_reader_record(reader, &record) == 1) {
		CHECK(record.pr_time_ns >= before.pr_time_ns);
		equal += record.pr_time_ns == before.pr_time_ns;
		if (record.pr_type == PROF_R_SAMPLE) {
			CHECK(record.pr_args[0] == next);
			next++;
		} else {
			marks++;
			if (before.pr_type == PROF_R_SAMPLE)
				CHECK(record.pr_time_ns > before.pr_time_ns);
			else if (record.pr_time_ns == before.pr_time_ns)
				CHECK(record.pr_weight > before.pr_weight);
		}
		before = record;
	}
	CHECK(next == SAMPLES && marks > 1000 && equal > 1000);
	CHECK(prof_reader_rewind(reader) == 0);
	first = digest_all(reader);
	prof_reader_close(reader);
	reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(reader != NULL);
	second = digest_all(reader);
	prof_reader_close(reader);
	CHECK(first.dl_count == SAMPLES + marks);
	CHECK(second.dl_count == first.dl_count);
	CHECK(memcmp(first.dl_hash, second.dl_hash, 8 * first.dl_count) == 0);
	printf("%" PRIu64 " samples, %" PRIu64 " lives, %" PRIu64 " at the "
	    "same time as the one before\n", next, marks, equal);
	digest_free(&first);
	digest_free(&second);
	return (0);
}
