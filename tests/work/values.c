/* SPDX-License-Identifier: ISC */
/*
 * Threads that count themselves what a profiler may count of them.
 *
 *	values [-p] ROUNDS THREADS
 *
 * Each thread goes from CPU to CPU.  In a round it first calls alpha(), which
 * touches 3 pages for the first time and sleeps, then beta(), which touches
 * 11.  Each ends with pwrite(-1, nanoseconds, faults, switches), which does
 * nothing: these are what the kernel has counted for the thread so far
 * (getrusage, CLOCK_THREAD_CPUTIME_ID).  Before it each computes a while, so
 * that taking a sample is short beside it.  Huge pages are declined.
 *
 * -p prints "ready", and waits for a line of input before the first round.
 * Besides the threads a process of its own touches pages as fast as it can,
 * on each CPU, until they have ended: its faults are nobody else's.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALPHA	3
#define BETA	11
#define STEPS	100000
#define WARM	2	/* rounds before those that are asked for */

void	alpha(volatile char *);
void	beta(volatile char *);

static long rounds, page;
static pthread_barrier_t warm, go;

static void
mark(void)
{
	struct timespec ts;
	struct rusage ru;
	volatile long step;

	for (step = 0; step < STEPS; step++)
		;
	if (getrusage(RUSAGE_THREAD, &ru) == -1 ||
	    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) == -1)
		abort();
	(void)syscall(SYS_pwrite64, -1, ts.tv_sec * 1000000000L + ts.tv_nsec,
	    ru.ru_minflt + ru.ru_majflt, ru.ru_nvcsw + ru.ru_nivcsw);
}

__attribute__((noinline)) void
alpha(volatile char *pages)
{
	const struct timespec pause = { 0, 20000 };

	for (long i = 0; i < ALPHA; i++)
		pages[i * page] = 1;
	nanosleep(&pause, NULL);
	mark();
}

__attribute__((noinline)) void
beta(volatile char *pages)
{
	for (long i = 0; i < BETA; i++)
		pages[i * page] = 1;
	mark();
}

static char *
fresh(long pages)
{
	char *memory = mmap(NULL, (size_t)(pages * page),
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	(void)madvise(memory, (size_t)(pages * page), MADV_NOHUGEPAGE);
	return (memory);
}

static void
move_to(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu % sysconf(_SC_NPROCESSORS_ONLN)), &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void *
work(void *arg)
{
	char *memory = fresh((rounds + WARM) * (ALPHA + BETA));

	for (long i = 0; i < rounds + WARM; i++) {
		if (i == WARM) {
			pthread_barrier_wait(&warm);
			pthread_barrier_wait(&go);
		}
		move_to((long)(size_t)arg + i / 4);
		alpha(memory);
		memory += ALPHA * page;
		beta(memory);
		memory += BETA * page;
	}
	return (NULL);
}

static pid_t
disturb(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return (pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (long cpu = 0; ; cpu++) {
		char *memory = fresh(64);

		move_to(cpu);
		memset(memory, 1, (size_t)(64 * page));
		munmap(memory, (size_t)(64 * page));
		usleep(200);
	}
}

int
main(int argc, char **argv)
{
	const bool waits = argc > 1 && strcmp(argv[1], "-p") == 0;
	pthread_t thread[64];
	size_t n, nthreads;
	pid_t other;

	if (argc - waits != 3)
		return (2);
	page = sysconf(_SC_PAGESIZE);
	rounds = atol(argv[argc - 2]);
	nthreads = (size_t)atol(argv[argc - 1]);
	if (rounds < 1 || nthreads < 1 || nthreads > 64)
		return (2);
	other = disturb();
	pthread_barrier_init(&warm, NULL, (unsigned)nthreads + 1);
	pthread_barrier_init(&go, NULL, (unsigned)nthreads + 1);
	for (n = 0; n < nthreads; n++)
		if (pthread_create(&thread[n], NULL, work, (void *)n) != 0)
			return (1);
	pthread_barrier_wait(&warm);
	if (waits) {
		puts("ready");
		fflush(stdout);
		if (getchar() == EOF)
			return (1);
	}
	pthread_barrier_wait(&go);
	for (n = 0; n < nthreads; n++)
		pthread_join(thread[n], NULL);
	kill(other, SIGKILL);
	return (0);
}
