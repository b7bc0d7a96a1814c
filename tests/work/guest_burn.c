/* SPDX-License-Identifier: ISC */
/*
 * A workload for the guest: one task that does nothing but count down, the
 * given number of millions of times, with three instructions a turn.  In
 * the guest an instruction takes a known time, so the cycles are known.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void
burn(uint64_t turns)
{
	while (turns-- > 0)
		__asm__ volatile("" : "+r" (turns));
}

int
main(int argc, char **argv)
{
	uint64_t millions;

	millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	if (millions == 0) {
		fprintf(stderr, "usage: guest_burn MILLIONS\n");
		return (2);
	}
	burn(millions * 1000000);
	return (0);
}
