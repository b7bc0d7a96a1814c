/* SPDX-License-Identifier: ISC */
/*
 * A hot line, and in it a hot instruction, in a function that is inlined into
 * work(): divisions that wait for each other.  The test that annotates it
 * compiles it itself, to know how.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) uint64_t
slow(uint64_t a, uint64_t b)
{
	for (int n = 0; n < 16; n++)
		a = (a | 1ULL << 63) / b + 3;	/* the hot line */
	return (a ^ b);
}

__attribute__((noinline)) static uint64_t
work(uint64_t n)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < n; i++) {
		sum += i * 3;
		sum += slow(sum << 40, i | 1);
	}
	return (sum);
}

int
main(int argc, char **argv)
{
	const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	printf("%llu\n", (unsigned long long)work(n));
	return (0);
}
