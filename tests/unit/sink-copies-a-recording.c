/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a recording that is sent into the file writer's sink is the same
 * recording, and each record is told to the slot of its kind alone; a sink
 * without a slot for losses is refused, and one that wants no more gets none.
 * Easy to get wrong for a type of record that was added later, and where a
 * slot that is not there meets records of its kind.
 */
#include "recording-lib.h"
#include "recording/sink.h"

#define RECORDS	4000

struct seen {
	uint64_t	se_task;
	uint64_t	se_mapping;
	uint64_t	se_sample;
	uint64_t	se_mark;
	uint64_t	se_lost;
	uint64_t	se_end;
	uint64_t	se_limit;
};

static int
see_task(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type >= PROF_R_FORK &&
	    record->pr_type <= PROF_R_TASK);
	seen->se_task++;
	return (0);
}

static int
see_mapping(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type == PROF_R_MMAP ||
	    record->pr_type == PROF_R_KSYMBOL);
	seen->se_mapping++;
	return (0);
}

static int
see_sample(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type == PROF_R_SAMPLE);
	return (++seen->se_sample == seen->se_limit);
}

static int
see_mark(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type == PROF_R_MARK ||
	    record->pr_type == PROF_R_START ||
	    record->pr_type == PROF_R_STOP ||
	    record->pr_type == PROF_R_PAUSE ||
	    record->pr_type == PROF_R_RESUME);
	seen->se_mark++;
	return (0);
}

static int
see_lost(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type == PROF_R_LOST ||
	    record->pr_type == PROF_R_THROTTLE ||
	    record->pr_type == PROF_R_UNTHROTTLE ||
	    record->pr_type == PROF_R_TURNS);
	seen->se_lost++;
	return (0);
}

static int
see_end(void *arg, const struct prof_accounting *accounting, size_t nevents)
{
	struct seen *seen = arg;

	(void)accounting;
	CHECK(nevents == MADE_EVENTS);
	seen->se_end++;
	return (0);
}

static struct prof_reader *
open_one(const char *path)
{
	struct prof_err error;
	struct prof_reader *reader = prof_reader_open(path, &error);

	CHECK_OK(reader == NULL ? -1 : 0, &error);
	return (reader);
}

static void
write_one(const char *path)
{
	static struct made made;
	struct prof_err error;
	struct prof_writer *writer = prof_writer_open(path, &error);

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	CHECK(prof_writer_info(writer, "command", "a b") == 0);
	made_events(writer);
	for (uint64_t n = 1; n <= RECORDS; n++) {
		if (below(3) == 0)
			made_life(&made, n);
		else
			made_sample(&made, n);
		CHECK_OK(prof_writer_add(writer, &made.md_record),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static void
copied(struct prof_reader *reader, const char *path)
{
	struct prof_record record, copy;
	struct prof_err error;
	struct prof_writer *writer = prof_writer_open(path, &error);
	struct prof_reader *again;
	const char *what;
	struct prof_sink sink;
	uint64_t n = 0;

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	sink = prof_writer_sink(writer);
	CHECK_OK(prof_reader_send(reader, &sink), prof_reader_error(reader));
	CHECK_OK(prof_writer_close(writer, &error), &error);
	again = open_one(path);
	CHECK(strcmp(prof_reader_info(again, "command"), "a b") == 0);
	CHECK(prof_reader_nevents(again) == prof_reader_nevents(reader));
	CHECK(prof_reader_rewind(reader) == 0);
	for (; prof_reader_record(reader, &record) == 1; n++) {
		CHECK(prof_reader_record(again, &copy) == 1);
		what = difference(&record, &copy);
		if (what != NULL) {
			printf("record %" PRIu64 ": %s differs\n", n, what);
			exit(1);
		}
	}
	CHECK(prof_reader_record(again, &copy) == 0 && n == RECORDS);
	prof_reader_close(again);
	printf("ok: %" PRIu64 " records copied\n", n);
}

static void
slots(struct prof_reader *reader)
{
	struct seen seen = { 0 };
	struct prof_sink sink = { .sk_arg = &seen,
	    .sk_task = see_task, .sk_mapping = see_mapping,
	    .sk_sample = see_sample, .sk_mark = see_mark,
	    .sk_lost = see_lost, .sk_end = see_end };

	CHECK(prof_reader_send(reader, &sink) == 0);
	CHECK(seen.se_task > 0 && seen.se_mapping > 0 && seen.se_mark > 0 &&
	    seen.se_lost > 0 && seen.se_end == 1);
	CHECK(seen.se_task + seen.se_mapping + seen.se_sample + seen.se_mark +
	    seen.se_lost == RECORDS);
	printf("ok: each record in one slot\n");

	sink.sk_task = sink.sk_mapping = sink.sk_mark = NULL;
	seen = (struct seen){ .se_limit = 10 };
	CHECK(prof_reader_send(reader, &sink) == 1);
	CHECK(seen.se_sample == 10 && seen.se_end == 0 && seen.se_task == 0);
	printf("ok: no more than is wanted\n");

	sink.sk_lost = NULL;
	CHECK(prof_reader_send(reader, &sink) == -1);
	CHECK(prof_reader_error(reader)->pe_code == PROF_E_USAGE);
	CHECK(seen.se_sample == 10);
	printf("ok: losses must be taken: %s\n",
	    prof_reader_error(reader)->pe_text);
}

int
main(void)
{
	struct prof_reader *reader;

	write_one(work_path("one.dtp"));
	reader = open_one(work_path("one.dtp"));
	copied(reader, work_path("two.dtp"));
	slots(reader);
	prof_reader_close(reader);
	return (0);
}
