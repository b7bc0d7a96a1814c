/* SPDX-License-Identifier: ISC */
/*
 * Uses a known amount of CPU time.
 *
 *	spin [-c cpu] [-t threads] ms
 *
 * Every thread turns a loop until it has used ms milliseconds of CPU time;
 * 0: until it is killed.  Makes no system calls but for looking at that
 * clock, once in a while.  Prints "pid ns", the CPU time of the process.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long wanted_ms;
static volatile unsigned long sink;

static unsigned long
used_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ((unsigned long)now.tv_sec * 1000000000UL +
	    (unsigned long)now.tv_nsec);
}

static void *
turn(void *arg)
{
	unsigned long x = 1;

	do
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005UL + 1442695040888963407UL;
	while (wanted_ms == 0 || used_ns(CLOCK_THREAD_CPUTIME_ID) <
	    (unsigned long)wanted_ms * 1000000UL);
	sink = x;
	return (arg);
}

int
main(int argc, char **argv)
{
	int option, nthreads = 1;
	pthread_t *thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	while ((option = getopt(argc, argv, "c:t:")) != -1)
		if (option == 'c')
			CPU_SET(atoi(optarg), &set);
		else if (option == 't')
			nthreads = atoi(optarg);
		else
			return (2);
	if (optind + 1 != argc || nthreads < 1)
		return (2);
	if (CPU_COUNT(&set) > 0 &&
	    sched_setaffinity(0, sizeof(set), &set) == -1)
		return (1);
	wanted_ms = atol(argv[optind]);
	thread = calloc((size_t)nthreads, sizeof(*thread));
	if (thread == NULL)
		return (1);
	for (int i = 1; i < nthreads; i++)
		if (pthread_create(&thread[i], NULL, turn, NULL) != 0)
			return (1);
	turn(NULL);
	for (int i = 1; i < nthreads; i++)
		pthread_join(thread[i], NULL);
	printf("%d %lu\n", getpid(), used_ns(CLOCK_PROCESS_CPUTIME_ID));
	return (0);
}
