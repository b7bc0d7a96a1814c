/* SPDX-License-Identifier: ISC */
/*
 * A known stack without frame pointers, kept busy.
 *
 *	deep [depth]
 *
 * main calls outer, which calls down into itself depth times (30), which
 * calls inner through qsort of the C library, and inner turns a loop for
 * ever.  Frames differ in size; some move the stack pointer as they run.
 */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned long sink;

static int __attribute__((noinline))
inner(const void *a, const void *b)
{
	unsigned long x = (unsigned long)a ^ (unsigned long)b;

	for (;;) {
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005UL + 1442695040888963407UL;
		sink = x;
	}
	return (0);
}

static int __attribute__((noinline))
outer(int depth)
{
	char *room = alloca((size_t)(depth % 7) * 40 + 8);
	int pair[2] = { 2, 1 };

	memset(room, depth, 8);
	if (depth == 0)
		qsort(pair, 2, sizeof(*pair), inner);
	else
		sink += (unsigned long)outer(depth - 1);
	return (room[0] + pair[0]);
}

int
main(int argc, char *argv[])
{
	return (outer(argc > 1 ? atoi(argv[1]) : 30));
}
