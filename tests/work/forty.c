/* SPDX-License-Identifier: ISC */
/*
 * A program of 40 functions, from 8 % to 0.1 % of its time, that can be made
 * slower by known amounts.
 *
 *	forty rounds [function permille] ...
 *
 * permille: by how many thousandths of the whole program the function's work
 * grows; negative, it shrinks.  Work is iterations of a loop, so it does not
 * depend on the clock; each waits for the product of the one before, so it
 * takes as long in every function, however the linker places them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE	200000		/* iterations of all functions in a round */

static volatile unsigned long sink;

/* Each adds another number, so that no two are merged. */
#define F(n)								\
static void __attribute__((noinline))					\
f##n(long work)								\
{									\
	unsigned long x = sink;						\
									\
	for (long i = 0; i < work; i++)					\
		x = x * 6364136223846793005UL + n;			\
	sink = x;							\
}
#define TEN(t)	F(t##0) F(t##1) F(t##2) F(t##3) F(t##4) F(t##5) F(t##6)	\
		F(t##7) F(t##8) F(t##9)
TEN(1) TEN(2) TEN(3) TEN(4)

#define N(t)	f##t##0, f##t##1, f##t##2, f##t##3, f##t##4, f##t##5,	\
		f##t##6, f##t##7, f##t##8, f##t##9
static void (*const functions[40])(long) = { N(1), N(2), N(3), N(4) };

int
main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 100;
	long work[40];
	double sum = 0;

	for (int f = 0; f < 40; f++)
		sum += pow(0.9, f);
	for (int f = 0; f < 40; f++)
		work[f] = (long)(WHOLE * pow(0.9, f) / sum);
	for (int i = 2; i + 1 < argc; i += 2)
		work[(unsigned)atoi(argv[i]) % 40] +=
		    WHOLE / 1000 * atol(argv[i + 1]);
	for (long r = 0; r < rounds; r++)
		for (int f = 0; f < 40; f++)
			functions[f](work[f] > 0 ? work[f] : 0);
	return (0);
}
