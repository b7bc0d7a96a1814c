/* SPDX-License-Identifier: ISC */
/*
 * The program of the README's five tasks: a server in miniature, with
 * something to find for each of them.
 *
 *	cc -g -O2 -fno-inline -o tour tour.c
 *	./tour &		answers requests, for ever
 *	./tour 30000		answers so many, and ends
 *
 * answer() looks a key up and sums up what was asked; now and then it fills a
 * cache anew, and waits for the disk, which is a sleep here.  Built with
 * -DBINARY it finds keys in fewer steps.
 */
#include <sys/mman.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEYS	8000
#define CACHE	(1 << 20)

static unsigned keys[KEYS];
static unsigned long sum;

static int
find(unsigned key)
{
#ifdef BINARY
	int low = 0, high = KEYS - 1, middle;

	while (low <= high) {
		middle = (low + high) / 2;
		if (keys[middle] == key)
			return (middle);
		if (keys[middle] > key)
			high = middle - 1;
		else
			low = middle + 1;
	}
#else
	for (int n = 0; n < KEYS; n++)
		if (keys[n] == key)
			return (n);
#endif
	return (-1);
}

static void
checksum(const char *text)
{
	for (int round = 0; round < 60; round++)
		for (const char *c = text; *c != '\0'; c++)
			sum = sum * 31 + (unsigned char)*c;
}

/* In steps of a page: each is a fault. */
static void
touch(char *memory)
{
	for (long n = 0; n < CACHE; n += 4096)
		memory[n] = 1;
}

static void
fill_cache(void)
{
	char *cache = mmap(NULL, CACHE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (cache == MAP_FAILED)
		exit(1);
	touch(cache);
	munmap(cache, CACHE);
}

static void
wait_for_disk(void)
{
	const struct timespec time = { .tv_nsec = 500000 };

	nanosleep(&time, NULL);
}

static void
answer(unsigned request)
{
	char text[16];

	if (find(keys[request * 7 % KEYS]) == -1)
		exit(1);
	snprintf(text, sizeof(text), "%010u", request);
	checksum(text);
	if (request % 5000 == 0)
		fill_cache();
	if (request % 1000 == 0)
		wait_for_disk();
}

int
main(int argc, char **argv)
{
	unsigned requests = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	for (unsigned n = 0; n < KEYS; n++)
		keys[n] = n * 3 + 1;
	for (unsigned n = 1; requests == 0 || n <= requests; n++)
		answer(n);
	return (sum == 0);
}
