/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: memory that runs out while a recording is read is an error, and
 * what can be read is all there when there is memory again.
 *
 * Easy to get wrong: a buffer that could not grow remembers it, and what was
 * to be in it looks damaged, or like nothing at all.
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

	while ((*rv = prof_reader_next(reader, &record)) == 1)
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

int
main(void)
{
	reading();
	return (0);
}
