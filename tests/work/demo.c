/* SPDX-License-Identifier: ISC */
/*
 * The demonstration's workload: its answer is known.  Of the loops it turns,
 * seventy(), twenty() and ten() do these percentages, exactly; the time they
 * take is the same share as nearly as the processor is even.  Between the
 * rounds it makes a few system calls and sleeps once in a while, so that
 * there is something to see for probes.
 *
 * demo [seconds]: CPU time to use; default 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TENTH	20000		/* turns of one tenth of a round */

static volatile unsigned long sink;

/* Inlined: the time is that of its callers. */
static inline void __attribute__((always_inline))
turn(unsigned long turns)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < turns; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
}

static void __attribute__((noinline))
seventy(void)
{
	turn(7 * TENTH);
	sink++;		/* not a tail call: the frame stays on the stack */
}

static void __attribute__((noinline))
twenty(void)
{
	turn(2 * TENTH);
	sink++;
}

static void __attribute__((noinline))
ten(void)
{
	turn(1 * TENTH);
	sink++;
}

static double
cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (now.tv_sec + now.tv_nsec / 1e9);
}

int
main(int argc, char **argv)
{
	struct timespec nap = { 0, 1000000 };
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	unsigned long rounds = 0, calls = 0;

	while (cpu_seconds() < seconds) {
		seventy();
		twenty();
		ten();
		if (++rounds % 64 == 0) {
			calls += getppid() > 0;
			(void)nanosleep(&nap, NULL);
		}
	}
	printf("demo: %lu rounds, %lu calls of getppid\n", rounds, calls);
	return (0);
}
