/* SPDX-License-Identifier: ISC */
/*
 * Work whose answer is known, in two processes of two threads each:
 *
 *	known [-n name] rounds
 *
 * The thread called NAME-k, k from 1 to 4, does k times so many rounds.  Of
 * the loops of a round seventy() turns 70 %, twenty() 20 %, and again(),
 * which calls itself five times below ten(), the rest.  In each round
 * seventy() asks the kernel for its process group twice, twenty() once.
 * Rounds are half to one and a half times as long as the average: equal ones
 * can be in step with a sampling clock, which then sees what it happens to.
 *
 * At its end each thread prints a line of JSON: who it was, how many rounds
 * and questions it made, and the CPU time that it used in each function by
 * its own clock.  Tests compile this themselves, optimised; what must have a
 * frame is never inlined, and calls another function last of nothing.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TENTH	60000		/* turns of one tenth of a round, on average */
#define DEPTH	5		/* how often again() calls itself */
#define FRAME	__attribute__((noinline, noclone)) static
#define HERE()	__asm__ volatile("" ::: "memory")

static const char *name = "known";
static unsigned long rounds;
static __thread unsigned long tenth;

static inline __attribute__((always_inline)) void
turn(uint64_t turns)
{
	uint64_t x = turns;

	for (; turns > 0; turns--) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(x));
	}
}

FRAME void
ask(unsigned times)
{
	for (unsigned n = 0; n < times; n++)
		if (syscall(SYS_getpgid, 0) < 0)
			abort();
	HERE();
}

FRAME void
seventy(void)
{
	turn(7 * tenth);
	ask(2);
	HERE();
}

FRAME void
twenty(void)
{
	turn(2 * tenth);
	ask(1);
	HERE();
}

FRAME void
again(unsigned deeper)
{
	turn(tenth / (DEPTH + 1));
	if (deeper > 0)
		again(deeper - 1);
	HERE();
}

FRAME void
ten(void)
{
	again(DEPTH);
	HERE();
}

static uint64_t
used_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

FRAME void *
work(void *k)
{
	static void (*const part[])(void) = { seventy, twenty, ten };
	const unsigned long mine = rounds * *(const unsigned *)k;
	uint64_t ns[3] = { 0 }, before = used_ns(), after;
	char comm[16];

	snprintf(comm, sizeof(comm), "%.12s-%u", name, *(const unsigned *)k);
	(void)prctl(PR_SET_NAME, comm);
	for (unsigned long round = 0; round < mine; round++) {
		/* Golden sections spread evenly, however many there are. */
		tenth = TENTH / 2 + (round * 40503 % 65536) * TENTH / 65536;
		for (unsigned n = 0; n < 3; n++, before = after) {
			part[n]();
			after = used_ns();
			ns[n] += after - before;
		}
	}
	printf("{\"k\": %u, \"pid\": %d, \"tid\": %ld, \"rounds\": %lu, "
	    "\"asked\": %lu, \"seventy\": %lu, \"twenty\": %lu, "
	    "\"ten\": %lu}\n", *(const unsigned *)k, getpid(),
	    syscall(SYS_gettid), mine, 3 * mine, ns[0], ns[1], ns[2]);
	return (NULL);
}

int
main(int argc, char **argv)
{
	unsigned k[2] = { 1, 2 };
	pthread_t thread;
	pid_t child;

	if (argc > 2 && getopt(argc, argv, "n:") == 'n')
		name = optarg;
	rounds = optind < argc ? strtoul(argv[optind], NULL, 10) : 0;
	if (rounds == 0)
		return (2);
	child = fork();
	if (child == 0) {
		k[0] = 3;
		k[1] = 4;
	}
	if (child == -1 || pthread_create(&thread, NULL, work, &k[1]) != 0)
		return (1);
	(void)work(&k[0]);
	(void)pthread_join(thread, NULL);
	if (child > 0)
		(void)wait(NULL);
	return (0);
}
