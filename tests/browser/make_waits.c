/* SPDX-License-Identifier: ISC */
/*
 * A recording of threads that wait, each known to the nanosecond:
 *
 *	make_waits THREADS SECONDS WAITS out.dtp [waits.txt]
 *
 * A hundred threads make a process.  A wait has a blocked part, and each
 * fourth a runnable one; both are stored when it ends, as a recorder does.
 * waits.txt gets a line for each part: thread, state, when it began, ended and
 * was stored.
 * Half of the way there is a marker, and a loss a tenth before; later there is
 * a pause between two samples, thread 0 in waits.txt.  Used by tests of the
 * timeline, small, and at full size.
 */
#include "../unit/recording-lib.h"

#define BEGIN		5000000000ULL
#define KERNEL		0xffffffff81000000ULL
#define FUNCTIONS	40

static struct prof_writer *writer;
static FILE *truth;

/* What is to be written of a sample. */
struct row {
	uint64_t	rw_time_ns;
	uint64_t	rw_weight;
	uint64_t	rw_end_ns;	/* of a wait */
	uint32_t	rw_thread;
	uint8_t		rw_event;	/* 1: cpu-clock, 2: off-cpu */
	uint8_t		rw_is_runnable;
	uint8_t		rw_function;
};

static struct row *rows;
static size_t nrows;

static int
row_compare(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;

	return (ra->rw_time_ns < rb->rw_time_ns ? -1 :
	    ra->rw_time_ns > rb->rw_time_ns);
}

static void
row_add(const struct row *row)
{
	rows[nrows++] = *row;
}

static void
record_add(const struct prof_record *record)
{
	struct prof_record whole = *record;

	if (whole.pr_comm == NULL)
		whole.pr_comm = "";
	if (whole.pr_path == NULL)
		whole.pr_path = "";
	CHECK_OK(prof_writer_add(writer, &whole), prof_writer_error(writer));
}

static uint32_t
pid_of(uint32_t thread)
{
	return (1000 + thread / 100 * 100);
}

static void
write_events(void)
{
	struct prof_event_info info[3] = {
		{ .pi_name = "proc", .pi_unit = "events" },
		{ .pi_name = "cpu-clock", .pi_unit = "ns",
		    .pi_frequency_hz = 1000 },
		{ .pi_name = "off-cpu", .pi_unit = "ns", .pi_nargs = 2,
		    .pi_arg_names = { "state", "prev_state" },
		    .pi_arg_types = { "const char *", "unsigned int" },
		    .pi_arg_is_str = { 1, 0 } },
	};

	for (size_t i = 0; i < 3; i++) {
		info[i].pi_probe = info[i].pi_name;
		info[i].pi_provider = "made";
		CHECK_OK(prof_writer_event(writer, &info[i]),
		    prof_writer_error(writer));
	}
}

static void
write_tasks(uint32_t threads)
{
	char name[32];

	record_add(&(struct prof_record){ .pr_type = PROF_R_START,
	    .pr_time_ns = BEGIN });
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "wait_%u", i);
		record_add(&(struct prof_record){ .pr_type = PROF_R_KSYMBOL,
		    .pr_time_ns = BEGIN, .pr_addr = KERNEL + i * 4096,
		    .pr_len = 4096, .pr_path = name });
	}
	for (uint32_t i = 0; i < threads; i++) {
		snprintf(name, sizeof(name), "worker-%u", i);
		record_add(&(struct prof_record){ .pr_type = PROF_R_TASK,
		    .pr_time_ns = BEGIN, .pr_pid = pid_of(i),
		    .pr_tid = 1000 + i, .pr_comm = name });
	}
}

/* One thread: run, wait, run, ... */
static void
make_thread(uint32_t thread, uint64_t end_ns, uint64_t each_ns)
{
	uint64_t now_ns = BEGIN + below(1000000), run_ns;
	struct row row = { .rw_thread = thread };

	for (;;) {
		run_ns = 1000 + below((uint32_t)each_ns / 8);
		row.rw_event = 1;
		row.rw_weight = 1000000;
		row.rw_time_ns = now_ns + run_ns / 2;
		row.rw_function = (uint8_t)below(FUNCTIONS);
		if (below(8) == 0 && row.rw_time_ns < end_ns)
			row_add(&row);
		now_ns += run_ns;
		row.rw_event = 2;
		row.rw_is_runnable = 0;
		row.rw_weight = each_ns / 8 + rnd() % (each_ns * 3 / 2);
		now_ns += row.rw_weight;
		row.rw_time_ns = row.rw_end_ns = now_ns;
		row.rw_function = (uint8_t)below(FUNCTIONS);
		if (now_ns >= end_ns)
			return;
		if (below(4) != 0) {
			row_add(&row);
			continue;
		}
		run_ns = 1000 + below(4000000);
		now_ns += run_ns;
		row.rw_time_ns = now_ns;
		if (now_ns >= end_ns)
			return;
		row_add(&row);
		row.rw_is_runnable = 1;
		row.rw_weight = run_ns;
		row.rw_end_ns = now_ns;
		row.rw_time_ns += 300;
		row_add(&row);
	}
}

static void
write_truth(const struct row *row, const char *state)
{
	const uint64_t end_ns = row->rw_end_ns - BEGIN;

	fprintf(truth, "%u %s %llu %llu %llu\n", 1000 + row->rw_thread, state,
	    (unsigned long long)(end_ns - row->rw_weight),
	    (unsigned long long)end_ns,
	    (unsigned long long)(row->rw_time_ns - BEGIN));
}

static void
write_sample(const struct row *row)
{
	const uint64_t frame = KERNEL + row->rw_function * 4096ULL + 16;
	const uint64_t frames[2] = { frame, KERNEL + 16 };
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE, .pr_event = row->rw_event,
		.pr_pid = pid_of(row->rw_thread),
		.pr_tid = 1000 + row->rw_thread, .pr_cpu = row->rw_thread % 2,
		.pr_time_ns = row->rw_time_ns, .pr_weight = row->rw_weight,
		.pr_in_kernel = 1, .pr_ip = frame, .pr_nkernel = 2,
		.pr_kernel = frames, .pr_kstatus = PROF_STACK_OK,
	};

	if (row->rw_event == 2) {
		record.pr_nargs = 2;
		record.pr_strs[0] = row->rw_is_runnable ? "runnable" :
		    "blocked";
		record.pr_args[1] = 1;
		if (truth != NULL)
			write_truth(row, record.pr_strs[0]);
	}
	record_add(&record);
}

/* Between a sample and the next. */
static void
write_pause(const struct row *row)
{
	record_add(&(struct prof_record){ .pr_type = PROF_R_PAUSE,
	    .pr_time_ns = row[0].rw_time_ns });
	record_add(&(struct prof_record){ .pr_type = PROF_R_RESUME,
	    .pr_time_ns = row[1].rw_time_ns });
	if (truth != NULL)
		fprintf(truth, "0 paused %llu %llu 0\n",
		    (unsigned long long)(row[0].rw_time_ns - BEGIN),
		    (unsigned long long)(row[1].rw_time_ns - BEGIN));
}

int
main(int argc, char **argv)
{
	struct prof_err error = { 0 };
	uint32_t threads, waits;
	uint64_t span_ns;

	if (argc != 5 && argc != 6)
		return (2);
	if (argc == 6)
		truth = fopen(argv[5], "w");
	CHECK(argc == 5 || truth != NULL);
	threads = (uint32_t)strtoul(argv[1], NULL, 10);
	span_ns = strtoull(argv[2], NULL, 10) * 1000000000;
	waits = (uint32_t)strtoul(argv[3], NULL, 10);
	rows = calloc(waits * 3ULL + 1000, sizeof(*rows));
	writer = prof_writer_open(argv[4], &error);
	CHECK(rows != NULL && writer != NULL);
	CHECK(prof_writer_info(writer, "command", "made --waits") == 0);
	write_events();
	write_tasks(threads);
	for (uint32_t i = 0; i < threads; i++)
		make_thread(i, BEGIN + span_ns, span_ns / waits * threads);
	qsort(rows, nrows, sizeof(*rows), row_compare);
	for (size_t i = 0; i < nrows; i++) {
		if (i == nrows / 2)
			record_add(&(struct prof_record){
			    .pr_type = PROF_R_MARK, .pr_path = "half",
			    .pr_time_ns = rows[i].rw_time_ns });
		if (i == nrows / 2)
			record_add(&(struct prof_record){
			    .pr_type = PROF_R_LOST, .pr_event = 1,
			    .pr_weight = 77,
			    .pr_addr = rows[i].rw_time_ns - span_ns / 10,
			    .pr_time_ns = rows[i].rw_time_ns });
		write_sample(&rows[i]);
		if (i == nrows * 3 / 4)
			write_pause(&rows[i]);
		if (i % 100000 == 99999)
			CHECK(prof_writer_flush(writer) == 0);
	}
	record_add(&(struct prof_record){ .pr_type = PROF_R_STOP,
	    .pr_time_ns = BEGIN + span_ns });
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(truth == NULL || fclose(truth) == 0);
	printf("%zu samples\n", nrows);
	return (0);
}
