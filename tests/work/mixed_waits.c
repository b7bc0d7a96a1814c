/* SPDX-License-Identifier: ISC */
/*
 * Two threads pass a byte back and forth through two pipes, the given number of
 * times.  After every so many, one of them sleeps, in one function or in
 * another: two thirds of the sleeps are short, and one third is long.  Prints
 * the time and number of sleeps of each function, by CLOCK_MONOTONIC.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
/* What is called is not jumped to. */
#define RETURNS	__asm__ volatile("" ::: "memory")
#define SHORT_NS	1500000
#define LONG_NS		6000000

static int ping[2], pong[2];

static long long
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec * 1000000000LL + now.tv_nsec);
}

static void
sleep_for(long ns)
{
	const struct timespec rest = { 0, ns };

	if (nanosleep(&rest, NULL) == -1)
		err(1, "nanosleep");
	RETURNS;
}

APART static void
sleep_short(void)
{
	sleep_for(SHORT_NS);
	RETURNS;
}

APART static void
sleep_long(void)
{
	sleep_for(LONG_NS);
	RETURNS;
}

static void
pass(int from, int to)
{
	char byte = 0;

	if ((from != -1 && read(from, &byte, 1) != 1) ||
	    write(to, &byte, 1) != 1)
		err(1, "pipe");
}

static void *
answer(void *arg)
{
	for (long n = *(long *)arg; n > 0; n--)
		pass(ping[0], pong[1]);
	return (NULL);
}

int
main(int argc, char **argv)
{
	long long took[2] = { 0 }, began;
	long times, every, number[2] = { 0 };
	pthread_t thread;
	int is_long;

	if (argc != 3)
		errx(2, "usage: mixed_waits TIMES EVERY");
	times = atol(argv[1]);
	every = atol(argv[2]);
	if (pipe(ping) == -1 || pipe(pong) == -1)
		err(1, "pipe");
	if (pthread_create(&thread, NULL, answer, &times) != 0)
		errx(1, "no thread");
	for (long n = 1; n <= times; n++) {
		pass(n == 1 ? -1 : pong[0], ping[1]);
		if (n % every != 0)
			continue;
		is_long = n / every % 3 == 0;
		began = now_ns();
		if (is_long)
			sleep_long();
		else
			sleep_short();
		took[is_long] += now_ns() - began;
		number[is_long]++;
	}
	pthread_join(thread, NULL);
	printf("sleep_short %lld %ld\nsleep_long %lld %ld\n", took[0],
	    number[0], took[1], number[1]);
	return (0);
}
