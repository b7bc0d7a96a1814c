/* SPDX-License-Identifier: ISC */
/*
 * How fast samples go into a recording and come back, and how many bytes one
 * takes: 22 user frames over 4096 paths, three threads on two CPUs.
 *
 *	recording [samples [file]]
 *
 * Two kinds of sample: "call" is a system call's entry (the pc is always the
 * same few), "timer" is a clock (64 pcs in each leaf function, weights that
 * differ).  Time is given for the thread that adds (its CPU time, what it
 * costs the drain), for the writer's thread, and for reading.  The time
 * between samples is random around a mean, so its bytes are honest.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recording/query.h"
#include "recording/write.h"

#define FRAMES		22
#define PATHS		4096
#define ROUNDS		5

struct kind {
	const char	*kd_name;
	double		 kd_mean_ns;
	uint32_t	 kd_leaves;
	bool		 kd_weights;
};

static uint64_t frames[PATHS][FRAMES];
static uint64_t random_state;

static uint64_t
rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL);
}

/* Six branches of four ways each among 18 levels of four functions. */
static void
make_paths(void)
{
	uint32_t path, level, choice;

	for (path = 0; path < PATHS; path++) {
		for (level = 0; level < FRAMES; level++) {
			choice = level < 18 && level % 3 == 0 ?
			    path >> (level / 3 * 2) & 3 : 0;
			frames[path][FRAMES - 1 - level] = 0x555555554000 +
			    level * 0x400 + choice * 0x90 + 0x1b;
		}
	}
}

static double
seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ((double)now.tv_sec + (double)now.tv_nsec / 1e9);
}

static void
fail(const struct prof_err *error)
{
	(void)fprintf(stderr, "%s\n", error->pe_text);
	exit(1);
}

static uint64_t
make_sample(const struct kind *kind, struct prof_record *record,
    uint64_t *stack, uint64_t time_ns)
{
	double u = (double)(rnd() >> 11) / 9007199254740992.0;
	uint64_t r = rnd();

	time_ns += (uint64_t)(kind->kd_mean_ns * 0.4 -
	    kind->kd_mean_ns * 0.6 * log(1 - u));
	memcpy(stack, frames[r & (PATHS - 1)], sizeof(frames[0]));
	stack[0] += (r >> 12) % kind->kd_leaves * 4;
	record->pr_time_ns = time_ns;
	record->pr_ip = stack[0];
	record->pr_tid = 1000 + (uint32_t)(r >> 40) % 3;
	record->pr_cpu = (uint32_t)(r >> 50) & 1;
	record->pr_weight = kind->kd_weights ?
	    1000000 + (r >> 52) : 1;
	return (time_ns);
}

/* What making a sample costs, to be taken off. */
static double
cost_of_making(const struct kind *kind, uint64_t n)
{
	struct prof_record record = { .pr_type = PROF_R_SAMPLE };
	uint64_t stack[FRAMES], time_ns = 0, i;
	double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);

	random_state = 42;
	for (i = 0; i < n; i++)
		time_ns = make_sample(kind, &record, stack, time_ns);
	return (seconds_of(CLOCK_THREAD_CPUTIME_ID) - start);
}

static void
write_once(const struct kind *kind, const char *path, uint64_t n,
    double times[2])
{
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "e",
	    .pi_provider = "pmc", .pi_unit = "events", .pi_period = 1 };
	uint64_t stack[FRAMES], time_ns = 5000000000000, i;
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_pid = 1000, .pr_nuser = FRAMES, .pr_user = stack,
	    .pr_ustatus = PROF_STACK_OK, .pr_comm = "" };
	struct prof_writer *writer;
	struct prof_err error;
	double start, all = seconds_of(CLOCK_PROCESS_CPUTIME_ID);

	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		fail(&error);
	if (prof_writer_event(writer, &info) == -1)
		fail(prof_writer_error(writer));
	random_state = 42;
	start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < n; i++) {
		time_ns = make_sample(kind, &record, stack, time_ns);
		if (prof_writer_add(writer, &record) == -1)
			fail(prof_writer_error(writer));
	}
	times[0] = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
	if (prof_writer_close(writer, &error) == -1)
		fail(&error);
	times[1] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all - times[0];
}

static double
read_once(const char *path, uint64_t n, double *open_s)
{
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error;
	double start = seconds_of(CLOCK_THREAD_CPUTIME_ID), opened;
	uint64_t count = 0, sum = 0;

	reader = prof_reader_open(path, &error);
	if (reader == NULL)
		fail(&error);
	opened = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	*open_s = opened - start;
	while (prof_reader_record(reader, &record) == 1) {
		count++;
		sum += record.pr_user[record.pr_nuser - 1];
	}
	prof_reader_close(reader);
	if (count != n || sum == 0)
		exit(1);
	return (seconds_of(CLOCK_THREAD_CPUTIME_ID) - opened);
}

static int
compare(const void *a, const void *b)
{
	double da = *(const double *)a, db = *(const double *)b;

	return (da < db ? -1 : da > db);
}

static void
show(const char *what, double *values, uint64_t n)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	printf("  %-28s %6.1f / %6.1f / %6.1f ns a sample, %.2f M/s\n", what,
	    values[0] / (double)n * 1e9, values[ROUNDS / 2] / (double)n * 1e9,
	    values[ROUNDS - 1] / (double)n * 1e9,
	    (double)n / values[ROUNDS / 2] / 1e6);
}

static void
measure(const struct kind *kind, const char *path, uint64_t n)
{
	double add[ROUNDS], thread[ROUNDS], decode[ROUNDS], open_s[ROUNDS];
	double times[2], making;
	struct stat st;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		making = cost_of_making(kind, n);
		write_once(kind, path, n, times);
		add[i] = times[0] - making;
		thread[i] = times[1];
		decode[i] = read_once(path, n, &open_s[i]);
	}
	if (stat(path, &st) == -1)
		exit(1);
	printf("%s: %" PRIu64 " samples, %.2f bytes each on disk\n",
	    kind->kd_name, n, (double)st.st_size / (double)n);
	show("add (the drain's thread)", add, n);
	show("compress and write (its own)", thread, n);
	show("open (checksums, stacks)", open_s, n);
	show("read every sample", decode, n);
	(void)unlink(path);
}

int
main(int argc, char *argv[])
{
	static const struct kind kinds[] = {
		{ "call", 1000, 1, false },
		{ "timer", 20000, 64, true },
	};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const char *path = argc > 2 ? argv[2] : "bench-recording.dtp";
	size_t i;

	make_paths();
	printf("minimum / median / maximum of %d rounds, CPU time\n", ROUNDS);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i], path, n);
	return (0);
}
