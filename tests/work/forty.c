/* SPDX-License-Identifier: ISC */
/*
 * A program of 40 functions, from 8 % to 0.1 % of its time, that can be made
 * slower by known amounts.
 *
 *	forty [--heap] rounds [function permille] ...
 *
 * permille: by how many thousandths of the whole program the function's work
 * grows; negative, it shrinks.  Work is iterations of a loop, so it does not
 * depend on the clock; each waits for the product of the one before, so it
 * takes as long in every function, however the linker places them.
 *
 * --heap: one function in five, by which the program gets two modes, goes
 * from page to page of a heap that is made of arenas of 3 MiB, 4 MiB apart.
 * Where the heap begins is random (ASLR): in every other run each arena holds
 * a whole huge page, in the others none does.
 */
#include <sys/mman.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHOLE	200000		/* iterations of all functions in a round */
#define ARENAS	8
#define ARENA	(3UL << 20)
#define APART	(4UL << 20)
#define PAGE	4096UL
#define PAGES	((unsigned)(ARENAS * ARENA / PAGE))

static volatile unsigned long sink;
static void **heap;		/* NULL: without */

/* A word in the n-th page of all arenas, in another cache line each. */
static void **
heap_word(char *bytes, unsigned n)
{
	const unsigned in_arena = ARENA / PAGE;

	return ((void **)(void *)(bytes + n / in_arena * APART +
	    n % in_arena * PAGE + n * 64 % PAGE));
}

/* Each word leads to the next, in an order of chance. */
static void
make_heap(void)
{
	static unsigned order[PAGES];
	char *bytes = sbrk(ARENAS * APART + PAGE);

	if (bytes == (void *)-1)
		exit(1);
	bytes += -(uintptr_t)bytes % PAGE;
	for (unsigned a = 0; a < ARENAS; a++) {
		(void)madvise(bytes + a * APART, ARENA, MADV_HUGEPAGE);
		memset(bytes + a * APART, 1, ARENA);
	}
	srand(1);
	for (unsigned i = 0; i < PAGES; i++) {
		const unsigned k = (unsigned)rand() % (i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (unsigned i = 0; i < PAGES; i++)
		*heap_word(bytes, order[i]) =
		    heap_word(bytes, order[(i + 1) % PAGES]);
	heap = heap_word(bytes, 0);
}

/* A step takes as long as many iterations below. */
static inline __attribute__((always_inline)) unsigned long
walk_heap(long work)
{
	void **at = heap;

	for (long i = 0; i < work / 12; i++)
		at = *at;
	heap = at;
	return ((unsigned long)at);
}

/* Each adds another number, so that no two are merged. */
#define F(n)								\
static void __attribute__((noinline))					\
f##n(long work)								\
{									\
	unsigned long x = sink;						\
									\
	if (heap != NULL && n % 5 == 0) {				\
		sink = walk_heap(work);					\
		return;							\
	}								\
	for (long i = 0; i < work; i++)					\
		x = x * 6364136223846793005UL + n;			\
	sink = x;							\
}
#define TEN(t)	F(t##0) F(t##1) F(t##2) F(t##3) F(t##4) F(t##5) F(t##6)	\
		F(t##7) F(t##8) F(t##9)
TEN(1) TEN(2) TEN(3) TEN(4)

#define N(t)	f##t##0, f##t##1, f##t##2, f##t##3, f##t##4, f##t##5,	\
		f##t##6, f##t##7, f##t##8, f##t##9
static void (*const functions[40])(long) = { N(1), N(2), N(3), N(4) };

int
main(int argc, char **argv)
{
	const int first = argc > 1 && strcmp(argv[1], "--heap") == 0 ? 2 : 1;
	const long rounds = argc > first ? atol(argv[first]) : 100;
	long work[40];
	double sum = 0;

	if (first == 2)
		make_heap();
	for (int f = 0; f < 40; f++)
		sum += pow(0.9, f);
	for (int f = 0; f < 40; f++)
		work[f] = (long)(WHOLE * pow(0.9, f) / sum);
	for (int i = first + 1; i + 1 < argc; i += 2)
		work[(unsigned)atoi(argv[i]) % 40] +=
		    WHOLE / 1000 * atol(argv[i + 1]);
	for (long r = 0; r < rounds; r++)
		for (int f = 0; f < 40; f++)
			functions[f](work[f] > 0 ? work[f] : 0);
	return (0);
}
