/* SPDX-License-Identifier: ISC */
/*
 * A workload for the guest: two functions with the same loop, one of which
 * turns three times as often, so that their shares of the cycles are 25 and
 * 75 %.  They take turns for the given number of rounds.  The loop is written
 * once, in a macro: the compiler must give both the same instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PHASE(name)							\
	__attribute__((noinline, aligned(64))) void			\
	name(uint64_t turns)						\
	{								\
		while (turns-- > 0)					\
			__asm__ volatile("" : "+r" (turns));		\
	}

void phase_one(uint64_t);
void phase_three(uint64_t);

PHASE(phase_one)
PHASE(phase_three)

int
main(int argc, char **argv)
{
	uint64_t millions, rounds, i;

	millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	if (millions == 0) {
		fprintf(stderr, "usage: guest_phases MILLIONS [ROUNDS]\n");
		return (2);
	}
	for (i = 0; i < rounds; i++) {
		phase_one(millions * 1000000);
		phase_three(millions * 3000000);
	}
	return (0);
}
