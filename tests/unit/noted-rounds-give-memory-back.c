/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: after a round with 400,000 changes the memory that it took is
 * given back, and a round with few takes no more than before.
 * Easy to get wrong: an array that doubles keeps the size of the worst storm.
 */
#include <malloc.h>

#include "cli-check.h"
#include "process/symbolize.h"

static size_t
used(void)
{
	const struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd);
}

static void
noted_round(struct prof_noted *noted, uint64_t *time_ns, int changes)
{
	for (int n = 0; n < changes; n++)
		CHECK(prof_noted_renew(noted, 100, ++*time_ns) == 0,
		    "no memory");
	CHECK(prof_noted_round(noted) == 0, "the round failed");
}

int
main(void)
{
	struct prof_noted *noted = prof_noted_new(0);
	uint64_t time_ns = 0;
	size_t before;

	CHECK(noted != NULL, "no memory");
	noted_round(noted, &time_ns, 100);
	before = used();
	noted_round(noted, &time_ns, 400000);
	noted_round(noted, &time_ns, 100);
	printf("%zu bytes before, %zu after\n", before, used());
	CHECK(used() < before + 100000, "it is kept");
	prof_noted_free(noted);
	return (0);
}
