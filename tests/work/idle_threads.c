/* SPDX-License-Identifier: ISC */
/*
 * idle_threads N BUSY MS: N threads that sleep until killed, and BUSY ones that
 * sleep for MS milliseconds, again and again.  Prints a line when all have
 * started.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES	65536

static long nap_us;

static void *
sleep_long(void *arg)
{
	for (;;)
		(void)pause();
	return (arg);
}

static void *
sleep_short(void *arg)
{
	for (;;)
		(void)usleep((unsigned)nap_us);
	return (arg);
}

static void
threads_begin(int n, void *(*fn)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (n-- > 0)
		if (pthread_create(&thread, &attr, fn, NULL) != 0)
			errx(1, "no thread");
	pthread_attr_destroy(&attr);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return (2);
	nap_us = 1000 * atol(argv[3]);
	threads_begin(atoi(argv[1]), sleep_long);
	threads_begin(atoi(argv[2]), sleep_short);
	sleep(1);
	puts("ready");
	fflush(stdout);
	(void)pause();
	return (0);
}
