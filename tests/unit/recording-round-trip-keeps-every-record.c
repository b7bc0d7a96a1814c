/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: every record of every type comes back from a recording as it
 * was added, samples in order of time and merged with the lives in between.
 *
 * Easy to get wrong: columns fall out of step after a sample without a stack,
 * differences wrap at 2^64, and a stack that is used for kernel and user
 * frames at once has two innermost pcs.
 */
#include "recording-lib.h"

#define RECORDS		40000

struct life_order {
	const struct made *lo_made;
	size_t		 lo_number;
};

static int
life_order_compare(const void *a, const void *b)
{
	const struct life_order *la = a, *lb = b;
	uint64_t ta = la->lo_made->md_record.pr_time_ns;
	uint64_t tb = lb->lo_made->md_record.pr_time_ns;

	if (ta != tb)
		return (ta < tb ? -1 : 1);
	return (la->lo_number < lb->lo_number ? -1 : 1);
}

static void
write_all(const char *path, const struct made *samples, size_t nsamples,
    const struct made *lives, size_t nlives)
{
	struct prof_writer *writer;
	struct prof_err error;
	size_t s = 0, l = 0;

	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		CHECK_OK(-1, &error);
	CHECK(prof_writer_info(writer, "command", "a 'b c'") == 0);
	CHECK(prof_writer_info(writer, "machine.kernel", "old") == 0);
	CHECK(prof_writer_info(writer, "machine.kernel", "6.1") == 0);
	made_events(writer);
	while (s < nsamples || l < nlives) {
		if (l == nlives || (s < nsamples && below(8) != 0))
			CHECK_OK(prof_writer_add(writer,
			    &samples[s++].md_record),
			    prof_writer_error(writer));
		else
			CHECK_OK(prof_writer_add(writer,
			    &lives[l++].md_record),
			    prof_writer_error(writer));
		if (below(3000) == 0)
			CHECK(prof_writer_flush(writer) == 0);
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static void
read_all(struct prof_reader *reader, const struct made *samples,
    size_t nsamples, const struct life_order *lives, size_t nlives)
{
	const struct prof_record *expected;
	struct prof_record record;
	const char *what;
	size_t s = 0, l = 0;
	uint64_t last = 0;
	int rv;

	while ((rv = prof_reader_record(reader, &record)) == 1) {
		CHECK(record.pr_time_ns >= last);
		last = record.pr_time_ns;
		if (record.pr_type == PROF_R_SAMPLE) {
			CHECK(s < nsamples);
			expected = &samples[s++].md_record;
		} else {
			CHECK(l < nlives);
			expected = &lives[l++].lo_made->md_record;
		}
		what = difference(expected, &record);
		if (what != NULL) {
			printf("sample %zu, life %zu: %s differs\n", s, l,
			    what);
			exit(1);
		}
	}
	CHECK(rv == 0);
	CHECK(s == nsamples);
	CHECK(l == nlives);
}

static void
read_descriptions(const struct prof_reader *reader)
{
	const struct prof_event_info *info;
	const char *key, *value;

	CHECK(prof_reader_cut(reader) == NULL);
	CHECK(strcmp(prof_reader_info(reader, "command"), "a 'b c'") == 0);
	CHECK(strcmp(prof_reader_info(reader, "machine.kernel"), "6.1") == 0);
	CHECK(prof_reader_info(reader, "nothing") == NULL);
	CHECK(prof_reader_info_at(reader, 1, &key, &value) == 1);
	CHECK(strcmp(key, "machine.kernel") == 0);
	CHECK(prof_reader_info_at(reader, 2, &key, &value) == 0);
	CHECK(prof_reader_nevents(reader) == MADE_EVENTS);
	CHECK(prof_reader_event(reader, MADE_EVENTS) == NULL);
	info = prof_reader_event(reader, 4);
	CHECK(strcmp(info->pi_name, "syscall::openat:entry") == 0);
	CHECK(info->pi_is_syscall && info->pi_parts == 12);
	CHECK(info->pi_nargs == 4 && info->pi_arg_is_str[1]);
	CHECK(!info->pi_arg_is_str[0] && info->pi_arg_is_signed[0]);
	CHECK(strcmp(info->pi_arg_types[3], "u32") == 0);
	CHECK(prof_reader_event(reader, 2)->pi_frequency_hz == 999);
	CHECK(prof_reader_event(reader, 1)->pi_period == 1000);
	CHECK(strcmp(prof_reader_event(reader, 2)->pi_unit, "ns") == 0);
}

int
main(void)
{
	struct made *samples = calloc(RECORDS, sizeof(*samples));
	struct made *lives = calloc(RECORDS / 8, sizeof(*lives));
	struct life_order *order = calloc(RECORDS / 8, sizeof(*order));
	struct prof_reader *reader;
	struct prof_err error;
	uint64_t time_ns = 1000000, seed;
	size_t i;

	CHECK(samples != NULL && lives != NULL && order != NULL);
	for (seed = 1; seed <= 3; seed++) {
		random_state = seed;
		for (i = 0; i < RECORDS; i++)
			made_sample(&samples[i], time_ns += below(5000));
		for (i = 0; i < RECORDS / 8; i++) {
			made_life(&lives[i], 1000000 +
			    (uint64_t)below(RECORDS) * 2500);
			order[i].lo_made = &lives[i];
			order[i].lo_number = i;
		}
		qsort(order, RECORDS / 8, sizeof(*order),
		    life_order_compare);
		write_all(work_path("x.dtp"), samples, RECORDS, lives,
		    RECORDS / 8);
		reader = prof_reader_open(work_path("x.dtp"), &error);
		if (reader == NULL)
			CHECK_OK(-1, &error);
		read_descriptions(reader);
		CHECK(prof_reader_nsamples(reader) == RECORDS);
		read_all(reader, samples, RECORDS, order, RECORDS / 8);
		CHECK(prof_reader_rewind(reader) == 0);
		read_all(reader, samples, RECORDS, order, RECORDS / 8);
		prof_reader_close(reader);
	}
	printf("%u samples and %u lives, 3 seeds, read twice\n", RECORDS,
	    RECORDS / 8);
	free(samples);
	free(lives);
	free(order);
	return (0);
}
