/* SPDX-License-Identifier: ISC */
/*
 * A workload for the guest: one task that does nothing but count down, the
 * given number of millions of times, with three instructions a turn.  In
 * the guest an instruction takes a known time, so the cycles are known.
 *
 * With -f nothing but interrupts gets between: the kernel's driver drops an
 * overflow that is pending while the scheduler takes the task off the CPU,
 * so samples are exactly count / period only for a task that stays there.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
burn(uint64_t turns)
{
	while (turns-- > 0)
		__asm__ volatile("" : "+r" (turns));
}

int
main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 1 };
	uint64_t millions;

	if (argc > 1 && strcmp(argv[1], "-f") == 0) {
		if (sched_setscheduler(0, SCHED_FIFO, &first) == -1) {
			fprintf(stderr, "guest_burn: SCHED_FIFO: %s\n",
			    strerror(errno));
			return (1);
		}
		argv++;
		argc--;
	}
	millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	if (millions == 0) {
		fprintf(stderr, "usage: guest_burn [-f] MILLIONS\n");
		return (2);
	}
	burn(millions * 1000000);
	return (0);
}
