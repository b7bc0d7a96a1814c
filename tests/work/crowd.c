/* SPDX-License-Identifier: ISC */
/*
 * crowd threads|processes N: waits for a line; then N threads that all live at
 * once, or N processes that live for about a millisecond, 64 of them at once,
 * run and sleep.  Prints the sums of their fields of schedstat, read when they
 * never run again: of threads that wait for the end, of processes that nobody
 * has waited for yet.  Then waits for another line.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE	64
#define ROUNDS	40

static volatile uint64_t sink;
static unsigned long long sums[3];
static pid_t *tids;
static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint ready;

static void
burn(unsigned rounds)
{
	uint64_t sum = sink;

	while (rounds-- > 0)
		sum = sum * 6364136223846793005u + 1442695u;
	sink = sum;
}

static void
nap(long us)
{
	const struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

/* Add the fields of a thread; -1: it is not there. */
static int
schedstat_add(pid_t tid)
{
	unsigned long long field[3];
	char path[64];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	if ((file = fopen(path, "re")) == NULL)
		return (-1);
	n = fscanf(file, "%llu %llu %llu", &field[0], &field[1], &field[2]);
	fclose(file);
	for (int i = 0; i < 3 && n == 3; i++)
		sums[i] += field[i];
	return (n == 3 ? 0 : -1);
}

static void *
thread_live(void *arg)
{
	const unsigned n = (unsigned)(uintptr_t)arg;

	for (unsigned round = 0; round < ROUNDS; round++) {
		burn(10000 + n % 7 * 10000);
		nap(2000 + n % 11 * 1000);
	}
	tids[n] = (pid_t)syscall(SYS_gettid);
	atomic_fetch_add(&ready, 1);
	pthread_mutex_lock(&end);
	pthread_mutex_unlock(&end);
	return (NULL);
}

static int
threads_live(unsigned n)
{
	pthread_attr_t attr;
	pthread_t thread;

	tids = calloc(n, sizeof(*tids));
	if (tids == NULL || pthread_attr_init(&attr) != 0 ||
	    pthread_attr_setstacksize(&attr, 65536) != 0 ||
	    pthread_mutex_lock(&end) != 0)
		return (-1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, thread_live,
		    (void *)(uintptr_t)i) != 0)
			return (-1);
	while (atomic_load(&ready) < n)
		nap(10000);
	nap(500000);	/* they wait now */
	for (unsigned i = 0; i < n; i++)
		if (schedstat_add(tids[i]) == -1)
			return (-1);
	return (0);
}

static int
process_reap(pid_t pid)
{
	return (schedstat_add(pid) == -1 || waitpid(pid, NULL, 0) != pid ?
	    -1 : 0);
}

/* A process has ended long before it is reaped. */
static int
processes_live(unsigned n)
{
	pid_t pids[2 * AT_ONCE] = { 0 }, *oldest;
	siginfo_t info;

	for (unsigned i = 0; i < n + 2 * AT_ONCE; i++) {
		oldest = &pids[i % (2 * AT_ONCE)];
		if (*oldest != 0 && process_reap(*oldest) == -1)
			return (-1);
		*oldest = i < n ? fork() : 0;
		if (*oldest == -1)
			return (-1);
		if (*oldest == 0 && i < n) {
			burn(200000);
			nap(300);
			burn(200000);
			_exit(0);
		}
		oldest = &pids[(i + AT_ONCE) % (2 * AT_ONCE)];
		if (*oldest != 0 && waitid(P_PID, (id_t)*oldest, &info,
		    WEXITED | WNOWAIT) == -1)
			return (-1);
		if (i == n)
			nap(100000);
	}
	return (0);
}

int
main(int argc, char **argv)
{
	char line[16];
	unsigned n;

	if (argc != 3)
		return (2);
	n = (unsigned)strtoul(argv[2], NULL, 10);
	if (fgets(line, sizeof(line), stdin) == NULL ||
	    (strcmp(argv[1], "threads") == 0 ? threads_live(n) :
	    processes_live(n)) == -1)
		return (1);
	printf("done %llu %llu %llu\n", sums[0], sums[1], sums[2]);
	fflush(stdout);
	(void)fgets(line, sizeof(line), stdin);
	_exit(0);
}
