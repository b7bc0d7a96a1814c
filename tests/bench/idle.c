/* SPDX-License-Identifier: ISC */
/*
 * idle N BUSY: N threads that sleep until killed, and BUSY ones that sleep for
 * a millisecond, again and again.  Prints a line when all are there.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES	65536

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
		(void)usleep(1000);
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
	if (argc != 3)
		return (2);
	threads_begin(atoi(argv[1]), sleep_long);
	threads_begin(atoi(argv[2]), sleep_short);
	sleep(1);
	puts("ready");
	fflush(stdout);
	(void)pause();
	return (0);
}
