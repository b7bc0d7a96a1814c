/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a recording, or a file that is imported, which another process
 * cuts at any time while it is read costs what was cut, and never the reader;
 * what is cut after it was opened is called damaged.
 *
 * Easy to get wrong: a mapping of a file that became shorter kills whoever
 * looks at it, and a full disk cuts our own recordings.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>

#include "recording-lib.h"

#define SAMPLES		8000
#define ROUNDS		60

int	main(void);

static char	*bytes;
static size_t	 size;

static void
write_file(const char *path)
{
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "p",
	    .pi_provider = "p", .pi_unit = "events", .pi_period = 1 };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_weight = 1, .pr_ustatus = PROF_STACK_OK,
	    .pr_comm = "", .pr_path = "", .pr_nuser = 40 };
	uint64_t frames[40];
	struct prof_writer *writer;
	struct prof_err error;

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(prof_writer_event(writer, &info) == 0);
	CHECK(prof_writer_event(writer, &info) == 0);
	record.pr_user = frames;
	for (unsigned n = 0; n < SAMPLES; n++) {
		for (unsigned i = 0; i < 40; i++)
			frames[i] = rnd();
		record.pr_time_ns = n;
		CHECK(prof_writer_add(writer, &record) == 0);
	}
	CHECK(prof_writer_close(writer, &error) == 0);
}

static void
keep_bytes(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	CHECK(fd != -1 && fstat(fd, &st) == 0);
	size = (size_t)st.st_size;
	CHECK((bytes = malloc(size)) != NULL);
	CHECK(read(fd, bytes, size) == st.st_size);
	close(fd);
}

/* Somebody who cuts and restores it all the time. */
static pid_t
vandal(const char *path)
{
	int fd = open(path, O_WRONLY);
	pid_t pid = fork();
	uint32_t n;

	if (pid != 0) {
		close(fd);
		return (pid);
	}
	for (n = 1;; n = n * 1103515245 + 12345) {
		if (ftruncate(fd, (off_t)(n % size)) == -1 ||
		    pwrite(fd, bytes, size, 0) != (ssize_t)size)
			_exit(1);
	}
}

static uint64_t
read_all(struct prof_reader *reader)
{
	struct prof_record record;
	uint64_t n = 0;

	while (prof_reader_record(reader, &record) == 1)
		n += record.pr_type == PROF_R_SAMPLE;
	return (n);
}

/* Just opened, then cut in its middle. */
static void
cut_after_opening(const char *path)
{
	struct prof_reader *reader;
	struct prof_err error;
	uint64_t n;

	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL && prof_reader_cut(reader) == NULL);
	CHECK(truncate(path, (off_t)(size / 2)) == 0);
	n = read_all(reader);
	CHECK(n > 0 && n < SAMPLES && prof_reader_cut(reader) != NULL);
	CHECK(strstr(prof_reader_cut(reader), "damaged") != NULL);
	printf("cut in its middle: %" PRIu64 " samples, %s\n", n,
	    prof_reader_cut(reader));
	prof_reader_close(reader);
}

static void
cut_all_the_time(const char *path, const char *output)
{
	const struct prof_import_options options = {
	    .im_size = sizeof(options), .im_input = path,
	    .im_output = output };
	struct prof_reader *reader;
	unsigned n, whole = 0;
	struct prof_err error;
	pid_t pid = vandal(path);

	CHECK(pid > 0);
	for (n = 0; n < ROUNDS; n++) {
		reader = prof_reader_open(path, &error);
		if (reader != NULL)
			whole += read_all(reader) == SAMPLES;
		prof_reader_close(reader);
		/* It is none of its formats, and is looked through. */
		prof_import_free(prof_import_new(&options, &error));
	}
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	printf("cut all the time: %u times read, %u times whole\n", n, whole);
}

int
main(void)
{
	char path[] = "/tmp/recording-cut.XXXXXX", output[64];

	CHECK(mkdtemp(path) != NULL && rmdir(path) == 0);
	snprintf(output, sizeof(output), "%s.out", path);
	write_file(path);
	keep_bytes(path);
	cut_after_opening(path);
	cut_all_the_time(path, output);
	CHECK(unlink(path) == 0);
	(void)unlink(output);
	return (0);
}
