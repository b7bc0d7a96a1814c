/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a recorder that is killed at any moment leaves a file that reads
 * from its first sample to its last whole chunk without a gap, says that it
 * was cut, and holds everything that a flush put there before.
 */
#include <sys/wait.h>

#include <signal.h>
#include <time.h>

#include "recording-lib.h"

#define TRIES	60

/* Records for ever; each flush that has come through goes to the pipe. */
static void
record(const char *path, int report)
{
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_nargs = 1 };
	struct prof_accounting rows[MADE_EVENTS];
	struct prof_writer *writer;
	struct prof_err error;
	uint64_t i, frames[3], done;

	memset(rows, 0, sizeof(rows));

	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		_exit(1);
	made_events(writer);
	for (i = 0;; i++) {
		sample.pr_time_ns = i;
		sample.pr_args[0] = i;
		frames[0] = i;
		frames[1] = i / 7;	/* new stacks all the time */
		frames[2] = 1;
		sample.pr_ip = frames[0];
		sample.pr_user = frames;
		sample.pr_nuser = 3;
		if (prof_writer_add(writer, &sample) == -1)
			_exit(1);
		if (i % 5000 != 0)
			continue;
		rows[1].pa_read = i + 1;
		if (prof_writer_accounting(writer, 0, rows, MADE_EVENTS) == -1)
			_exit(1);
		if (prof_writer_flush(writer) == -1)
			_exit(1);
		done = prof_writer_written(writer, 1);
		if (write(report, &done, sizeof(done)) != sizeof(done))
			_exit(1);
	}
}

static uint64_t
check_file(const char *path, uint64_t least)
{
	struct prof_reader *reader;
	struct prof_accounting row;
	struct prof_record sample;
	struct prof_err error;
	uint64_t n = 0;

	reader = prof_reader_open(path, &error);
	if (reader == NULL)
		CHECK_OK(-1, &error);
	CHECK(prof_reader_cut(reader) != NULL);
	CHECK(strstr(prof_reader_cut(reader), "without an END") != NULL);
	CHECK(strstr(prof_reader_cut(reader), "damaged") == NULL);
	while (prof_reader_record(reader, &sample) == 1) {
		CHECK(sample.pr_args[0] == n && sample.pr_nuser == 3);
		CHECK(sample.pr_user[0] == n && sample.pr_user[1] == n / 7);
		n++;
	}
	CHECK(n >= least && n == prof_reader_nsamples(reader));
	/* The accounting of each flush follows its samples. */
	if (n > 5001) {
		CHECK(prof_reader_accounting(reader, 1, 0, &row) == 0);
		CHECK(row.pa_read % 5000 == 1 && row.pa_written == n);
		CHECK(row.pa_read + 2 * 5000 > n);
	}
	prof_reader_close(reader);
	return (n);
}

int
main(void)
{
	struct timespec pause = { 0, 0 };
	const char *path = work_path("x.dtp");
	uint64_t least, value, total = 0;
	int fds[2], i, status;
	pid_t pid;

	random_state = 17;
	for (i = 0; i < TRIES; i++) {
		CHECK(pipe(fds) == 0);
		pid = fork();
		if (pid == 0)
			record(path, fds[1]);
		(void)close(fds[1]);
		/* Not before it has opened; then at any moment. */
		CHECK(read(fds[0], &value, sizeof(value)) == sizeof(value));
		pause.tv_nsec = (long)below(20000000);
		(void)nanosleep(&pause, NULL);
		CHECK(kill(pid, SIGKILL) == 0);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		for (least = value; read(fds[0], &value, sizeof(value)) ==
		    sizeof(value); )
			least = value;
		(void)close(fds[0]);
		total += check_file(path, least);
	}
	CHECK(total > 0);
	printf("killed %d times, %" PRIu64 " samples read\n", TRIES, total);
	return (0);
}
