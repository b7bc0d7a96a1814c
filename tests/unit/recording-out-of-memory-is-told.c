/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: memory that runs out while a recording is read is an error, and
 * what can be read is all there when there is memory again.  While one is
 * written, by the caller or by the writer's thread, the recording still gets
 * its END, which says that it is not whole.
 *
 * Easy to get wrong: a buffer that could not grow remembers it, and what was
 * to be in it looks damaged, or like nothing at all; and what never came to
 * the thread did not fail there.
 */
#include <stdatomic.h>

#include "recording-lib.h"

#define RECORDS	400

void	*__real_realloc(void *, size_t);
void	*__wrap_realloc(void *, size_t);

/* Who gets no more memory; mk/c.mk links it so. */
static atomic_bool none_here, none_elsewhere;

void *
__wrap_realloc(void *at, size_t size)
{
	if (getpid() == gettid() ? none_here : none_elsewhere)
		return (NULL);
	return (__real_realloc(at, size));
}

static size_t
count_all(struct prof_reader *reader, int *rv)
{
	struct prof_record record;
	size_t n = 0;

	while ((*rv = prof_reader_record(reader, &record)) == 1)
		n++;
	return (n);
}

static void
reading(void)
{
	struct prof_reader *reader;
	struct prof_err error;
	int rv;

	made_recording(work_path("x.dtp"), 11, RECORDS, false);
	reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(reader != NULL);
	none_here = true;
	(void)count_all(reader, &rv);
	none_here = false;
	CHECK(rv == -1);
	CHECK(prof_reader_error(reader)->pe_code == PROF_E_NOMEM);
	CHECK(prof_reader_cut(reader) == NULL);
	CHECK(prof_reader_rewind(reader) == 0);
	CHECK(count_all(reader, &rv) == RECORDS && rv == 0);
	CHECK(prof_reader_cut(reader) == NULL);
	prof_reader_close(reader);
	printf("read without memory: an error, and no damage\n");
}

/* Until there is no memory for it, from the n-th record on. */
static void
writing(const char *what, atomic_bool *none, uint32_t n)
{
	struct made *made = calloc(1, sizeof(*made));
	struct prof_writer *writer;
	struct prof_reader *reader;
	struct prof_err error = { 0 };
	uint32_t i;
	int rv;

	CHECK(made != NULL);
	random_state = 5;
	writer = prof_writer_open(work_path("y.dtp"), &error);
	CHECK(writer != NULL);
	made_events(writer);
	for (i = 0; i < UINT32_MAX; i++) {
		while (i == n && prof_writer_written(writer, 1) == 0)
			(void)usleep(1000);
		*none = i >= n;
		made_sample(made, i);
		/* Each of these is a batch, larger than those before. */
		if (prof_writer_add(writer, &made->md_record) == -1 ||
		    ((i & (i + 1)) == 0 && prof_writer_flush(writer) == -1))
			break;
	}
	*none = false;
	CHECK(i > n && i < UINT32_MAX);
	CHECK(prof_writer_close(writer, &error) == -1);
	CHECK(error.pe_code == PROF_E_NOMEM);
	reader = prof_reader_open(work_path("y.dtp"), &error);
	CHECK(reader != NULL);
	CHECK(prof_reader_cut(reader) != NULL);
	CHECK(strstr(prof_reader_cut(reader), "writing failed") != NULL);
	CHECK(strstr(prof_reader_cut(reader), "damaged") == NULL);
	CHECK(count_all(reader, &rv) > 0 && rv == 0);
	printf("%s without memory: %s\n", what, prof_reader_cut(reader));
	prof_reader_close(reader);
	free(made);
}

int
main(void)
{
	reading();
	writing("packed", &none_here, 500);
	writing("written", &none_elsewhere, 500);
	return (0);
}
