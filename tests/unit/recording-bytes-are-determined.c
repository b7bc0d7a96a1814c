/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a file depends on what was recorded alone: the same records make
 * the same bytes, at another time and by another process, and a recording
 * that is read and written again makes the same twice.
 *
 * Easy to get wrong: padding of structs, leftovers in buffers that are used
 * again, the seed of a hash, the moment at which the thread got its turn.
 */
#include <sys/wait.h>

#include "recording-lib.h"

static void
convert(const char *from, const char *to)
{
	struct prof_reader *reader;
	struct prof_writer *writer;
	struct prof_record record;
	struct prof_accounting rows[MADE_EVENTS];
	struct prof_err error;
	const char *key, *value;
	size_t i, c;
	int cpu;

	reader = prof_reader_open(from, &error);
	CHECK(reader != NULL);
	writer = prof_writer_open(to, &error);
	CHECK(writer != NULL);
	for (i = 0; prof_reader_info_at(reader, i, &key, &value) == 1; i++)
		CHECK(prof_writer_info(writer, key, value) == 0);
	for (i = 0; i < prof_reader_nevents(reader); i++)
		CHECK(prof_writer_event(writer,
		    prof_reader_event(reader, i)) == 0);
	while (prof_reader_record(reader, &record) == 1)
		CHECK(prof_writer_add(writer, &record) == 0);
	for (c = 0; (cpu = prof_reader_cpu(reader, c)) != -1; c++) {
		for (i = 0; i < MADE_EVENTS; i++)
			CHECK(prof_reader_accounting(reader, i, cpu,
			    &rows[i]) == 0);
		CHECK(prof_writer_accounting(writer, cpu, rows,
		    MADE_EVENTS) == 0);
	}
	prof_reader_close(reader);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static void
same_bytes(const char *a, const char *b)
{
	size_t la, lb;
	uint8_t *ba = file_bytes(a, &la), *bb = file_bytes(b, &lb);

	CHECK(la > 10000);
	CHECK(la == lb && memcmp(ba, bb, la) == 0);
	free(ba);
	free(bb);
}

int
main(void)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	char path[5][400];
	int i, status;
	pid_t pid;

	for (i = 0; i < 5; i++)
		(void)snprintf(path[i], sizeof(path[i]), "%s",
		    work_path(names[i]));
	made_recording(path[0], 1, 3000, false);
	pid = fork();
	if (pid == 0) {		/* another process: another seed */
		made_recording(path[1], 1, 3000, false);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	same_bytes(path[0], path[1]);
	convert(path[0], path[2]);
	convert(path[0], path[3]);
	same_bytes(path[2], path[3]);
	convert(path[2], path[4]);
	same_bytes(path[2], path[4]);
	printf("the same bytes in five files\n");
	return (0);
}
