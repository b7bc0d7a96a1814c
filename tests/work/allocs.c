/* SPDX-License-Identifier: ISC */
/*
 * Allocations of known sizes, by each function that allocates: blocks that are
 * never freed, a cache that grows up to a bound, blocks that grow, blocks that
 * another thread frees.  Says, to the byte, how much it was all together, what
 * it still holds, and how much of that is leaked.
 *
 *	allocs ROUNDS [MILLISECONDS]	wait for so long, then begin
 *	allocs ROUNDS -			wait for a line
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CACHE	64
#define PASSED	128

void	*volatile leaked[1 << 16];
static void *volatile cache[CACHE];
static void *volatile passed[PASSED];
static size_t cached[CACHE];
static unsigned long total, held, leaks;
static int volatile is_over;

static void *
give_malloc(size_t size)
{
	total += size;
	return (malloc(size));
}

static void *
give_calloc(size_t n, size_t size)
{
	total += n * size;
	return (calloc(n, size));
}

static void *
give_realloc(void *old, size_t size)
{
	total += size;
	return (realloc(old, size));
}

static void *
give_aligned(unsigned n, size_t size)
{
	void *block = NULL;

	total += size;
	switch (n % 4) {
	case 0:
		if (posix_memalign(&block, 64, size) != 0)
			abort();
		return (block);
	case 1:
		return (aligned_alloc(128, size));
	case 2:
		/* No more than malloc does. */
		return (memalign(8, size));
	default:
		return (posix_memalign(&block, 16, size) == 0 ? block : NULL);
	}
}

/* What is leaked, and how much of it is held. */
static void
give_leak(unsigned round)
{
	const size_t size = 700 + round % 100;

	leaked[round % (1 << 16)] = give_malloc(size);
	leaks += size;
}

static void
give_cache(unsigned round)
{
	const unsigned at = round % CACHE;

	free(cache[at]);
	cached[at] = 2000 + round % 500;
	cache[at] = give_calloc(1, cached[at]);
}

/* Some of each is freed at the end, in a place that is not the first. */
static void
give_growing(unsigned round)
{
	void *volatile block = NULL;

	for (unsigned n = 1; n < 6; n++)
		block = give_realloc(block, n * 300 + round % 10);
	free(block);
	block = give_aligned(round, 384);
	free(block);
}

static void
give_other(unsigned round)
{
	const unsigned at = round % PASSED;

	/* Not until the other thread has taken the last one. */
	while (__atomic_load_n(&passed[at], __ATOMIC_ACQUIRE) != NULL)
		usleep(100);
	__atomic_store_n(&passed[at], give_malloc(1500), __ATOMIC_RELEASE);
}

static void *
take(void *arg)
{
	for (unsigned n = 0; !is_over || passed[n % PASSED] != NULL; n++) {
		void *block = __atomic_exchange_n(&passed[n % PASSED], NULL,
		    __ATOMIC_ACQ_REL);

		free(block);
		if (block == NULL && n % PASSED == 0)
			usleep(100);
	}
	for (unsigned n = 0; n < PASSED; n++)
		free(__atomic_exchange_n(&passed[n], NULL, __ATOMIC_ACQ_REL));
	return (arg);
}

int
main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t other;

	char go;

	if (argc > 2 && atoi(argv[2]) > 0)
		usleep((useconds_t)atoi(argv[2]) * 1000);
	else if (argc > 2 && read(STDIN_FILENO, &go, 1) == -1)
		return (1);
	if (pthread_create(&other, NULL, take, NULL) != 0)
		return (1);
	for (unsigned n = 0; n < rounds; n++) {
		give_leak(n);
		give_cache(n);
		give_growing(n);
		give_other(n);
	}
	is_over = 1;
	pthread_join(other, NULL);
	held = leaks;
	for (unsigned n = 0; n < CACHE; n++)
		held += cached[n];
	printf("{\"total\": %lu, \"held\": %lu, \"leaked\": %lu}\n", total,
	    held, leaks);
	return (0);
}
