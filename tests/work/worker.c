/* SPDX-License-Identifier: ISC */
/*
 * A program of a known amount of work.  In each of ROUNDS rounds it waits and
 * computes, so many microseconds in each function:
 *
 *	worker ROUNDS FETCH STORE PARSE
 *
 * fetch sleeps; store waits in read(2) for a thread that answers late; parse
 * computes, by the clock of its thread.  Used by tests of comparisons.
 */
#include <sys/types.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
/* What is called is not jumped to. */
#define RETURNS	__asm__ volatile("" ::: "memory")

static int asked[2], answered[2];
static long store_us;

static void *
answer(void *arg)
{
	char byte;

	while (read(asked[0], &byte, 1) == 1) {
		usleep((useconds_t)store_us);
		if (write(answered[1], &byte, 1) != 1)
			break;
	}
	return (arg);
}

APART static void
fetch(long us)
{
	const struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
	RETURNS;
}

APART static void
store(void)
{
	char byte = 0;

	if (write(asked[1], &byte, 1) != 1 || read(answered[0], &byte, 1) != 1)
		abort();
	RETURNS;
}

APART static void
parse(long us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 2000; i++)
			continue;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 +
	    (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

int
main(int argc, char *argv[])
{
	pthread_t thread;

	if (argc != 5) {
		fprintf(stderr, "usage: worker ROUNDS FETCH STORE PARSE\n");
		return (2);
	}
	store_us = atol(argv[3]);
	if (pipe(asked) == -1 || pipe(answered) == -1 ||
	    pthread_create(&thread, NULL, answer, NULL) != 0)
		return (1);
	for (long n = atol(argv[1]); n > 0; n--) {
		fetch(atol(argv[2]));
		store();
		parse(atol(argv[4]));
	}
	close(asked[1]);
	pthread_join(thread, NULL);
	return (0);
}
