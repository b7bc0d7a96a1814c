/* SPDX-License-Identifier: ISC */
/*
 * Makes a known number of system calls, each with its own number in it.
 *
 *	calls [-c cpu] [-t threads] [-u us] [-w] N
 *
 * Every thread calls close(0x40000000 + i) for i = 0, 1, .. N - 1; there is
 * no such descriptor, so each returns -EBADF and does nothing else.  N of 0
 * goes on until SIGTERM.  -c pins everything to a CPU; -u pauses after each
 * call; -w waits first until standard input ends, so that a test can look at
 * the process before.
 *
 * Prints one line of JSON: who it was and how many calls it made.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FIRST	0x40000000UL

static unsigned long wanted;
static long pause_us;
static volatile sig_atomic_t ended;

static void
on_term(int sig)
{
	(void)sig;
	ended = 1;
}

static void *
call(void *made)
{
	const struct timespec pause = { 0, pause_us * 1000 };
	unsigned long i;

	for (i = 0; wanted != 0 ? i < wanted : !ended; i++) {
		if (syscall(SYS_close, FIRST + i) != -1 || errno != EBADF)
			abort();
		if (pause_us != 0)
			nanosleep(&pause, NULL);
	}
	*(unsigned long *)made = i;
	return (NULL);
}

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == -1) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void
await_end_of_input(void)
{
	char byte;

	while (read(0, &byte, 1) == 1)
		continue;
}

int
main(int argc, char **argv)
{
	unsigned long made[64] = { 0 }, sum = 0;
	pthread_t thread[64];
	int i, option, nthreads = 1, waits = 0;

	while ((option = getopt(argc, argv, "c:t:u:w")) != -1)
		if (option == 'c')
			pin(atoi(optarg));
		else if (option == 't')
			nthreads = atoi(optarg);
		else if (option == 'u')
			pause_us = atol(optarg);
		else if (option == 'w')
			waits = 1;
		else
			return (2);
	if (optind + 1 != argc || nthreads < 1 || nthreads > 64)
		return (2);
	wanted = strtoul(argv[optind], NULL, 0);
	signal(SIGTERM, on_term);
	if (waits)
		await_end_of_input();
	for (i = 1; i < nthreads; i++)
		if (pthread_create(&thread[i], NULL, call, &made[i]) != 0)
			return (1);
	call(&made[0]);
	for (i = 1; i < nthreads; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < nthreads; i++)
		sum += made[i];
	printf("{\"pid\": %d, \"threads\": %d, \"calls\": %lu}\n", getpid(),
	    nthreads, sum);
	return (0);
}
