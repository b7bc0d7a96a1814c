/* SPDX-License-Identifier: ISC */
/*
 * Random numbers that a seed repeats, and the orders in which bench could
 * have made the runs: within each block the sides are dealt anew.
 *
 * Called by statistics_family.c.  An order deals the sides to runs, not to
 * samples: samples of one run share its luck.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "statistics.h"

static uint64_t
bits_rotate(uint64_t x, int k)
{
	return (x << k | x >> (64 - k));
}

void
prof_random_seed(struct prof_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		random->rd_state[i] = z ^ z >> 31;
	}
}

uint64_t
prof_random_next(struct prof_random *random)
{
	uint64_t *s = random->rd_state;
	const uint64_t result = bits_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = bits_rotate(s[3], 45);
	return (result);
}

/*
 * Lemire's way: the upper half of x * n is even but for the few x whose lower
 * half is small, which are drawn again; a division only for those.
 */
uint64_t
prof_random_below(struct prof_random *random, uint64_t n)
{
	unsigned __int128 product;
	uint64_t low;

	do {
		product = (unsigned __int128)prof_random_next(random) * n;
		low = (uint64_t)product;
	} while (low < n && low < -n % n);
	return ((uint64_t)(product >> 64));
}

/* -------------------------------------------------------------- orders */

/* Runs of a block: from ob_first, ob_n of them, ob_new on side 1. */
struct prof_order_block {
	size_t	ob_first;
	size_t	ob_n;
	size_t	ob_new;
};

static void
orders_add_blocks(struct prof_orders *or, const struct prof_design *design)
{
	struct prof_order_block *block = NULL;

	for (size_t i = 0; i < design->dg_n; i++) {
		if (i == 0 || design->dg_block[i] != design->dg_block[i - 1]) {
			block = &or->or_block[or->or_nblocks++];
			block->ob_first = i;
		}
		block->ob_n++;
		block->ob_new += design->dg_side[i];
		if (design->dg_side[i])
			or->or_seen[or->or_nnew++] = i;
	}
}

/* How many orders there are; stops counting at the limit. */
static double
orders_number(const struct prof_orders *or, double limit)
{
	double all = 1;

	for (size_t b = 0; b < or->or_nblocks && all <= limit; b++) {
		const struct prof_order_block *block = &or->or_block[b];
		const size_t base = block->ob_n - block->ob_new;
		const size_t few = base < block->ob_new ? base :
		    block->ob_new;

		/* Of the smaller side: on the way to the larger are more. */
		for (size_t i = 0; i < few && all <= limit; i++)
			all = all * (double)(block->ob_n - i) /
			    (double)(i + 1);
	}
	return (all);
}

/* Does each order have a mirror image, which sets the sides as far apart? */
static bool
orders_are_even(const struct prof_orders *or)
{
	for (size_t b = 0; b < or->or_nblocks; b++) {
		const struct prof_order_block *block = &or->or_block[b];

		if (block->ob_new != 0 && block->ob_new != block->ob_n &&
		    block->ob_n != 2 * block->ob_new)
			return (false);
	}
	return (true);
}

int
prof_orders_init(struct prof_orders *or, const struct prof_design *design,
    size_t draws, uint64_t seed)
{
	const size_t n = design->dg_n + 1;
	double all;

	memset(or, 0, sizeof(*or));
	or->or_block = calloc(n, sizeof(*or->or_block));
	or->or_seen = calloc(n, sizeof(*or->or_seen));
	or->or_chosen = calloc(n, sizeof(*or->or_chosen));
	or->or_pool = calloc(n, sizeof(*or->or_pool));
	if (or->or_block == NULL || or->or_seen == NULL ||
	    or->or_chosen == NULL || or->or_pool == NULL)
		return (-1);
	orders_add_blocks(or, design);
	all = round(orders_number(or, PROF_EXACT_ORDERS + 1));
	or->or_is_exact = all <= PROF_EXACT_ORDERS;
	/* What was seen is one of them, and drawn first. */
	or->or_n = or->or_is_exact ? (size_t)all : draws + 1;
	or->or_floor = (or->or_is_exact && orders_are_even(or) && all > 1 ?
	    2 : 1) / (double)or->or_n;
	or->or_seed = seed;
	prof_orders_rewind(or);
	return (0);
}

void
prof_orders_fini(struct prof_orders *or)
{
	free(or->or_block);
	free(or->or_seen);
	free(or->or_chosen);
	free(or->or_pool);
}

void
prof_orders_rewind(struct prof_orders *or)
{
	or->or_at = 0;
	prof_random_seed(&or->or_random, or->or_seed);
}

/* The next of the ways to choose k of n, in order; false: that was the last. */
static bool
choice_next(size_t *chosen, size_t k, size_t n, size_t first)
{
	for (size_t i = k; i-- > 0;) {
		if (chosen[i] - first == n - k + i)
			continue;
		chosen[i]++;
		for (size_t j = i + 1; j < k; j++)
			chosen[j] = chosen[j - 1] + 1;
		return (true);
	}
	for (size_t i = 0; i < k; i++)
		chosen[i] = first + i;
	return (false);
}

/* As an odometer turns: a block that is through begins again. */
static void
orders_count_up(struct prof_orders *or)
{
	size_t at = 0;

	for (size_t b = 0; b < or->or_nblocks; b++) {
		const struct prof_order_block *block = &or->or_block[b];

		if (or->or_at == 0)
			for (size_t i = 0; i < block->ob_new; i++)
				or->or_chosen[at + i] = block->ob_first + i;
		else if (choice_next(or->or_chosen + at, block->ob_new,
		    block->ob_n, block->ob_first))
			break;
		at += block->ob_new;
	}
}

static void
orders_draw(struct prof_orders *or)
{
	size_t at = 0;

	for (size_t b = 0; b < or->or_nblocks; b++) {
		const struct prof_order_block *block = &or->or_block[b];
		size_t *pool = or->or_pool + block->ob_first;

		for (size_t i = 0; i < block->ob_new; i++) {
			const size_t j = i + (size_t)prof_random_below(
			    &or->or_random, block->ob_n - i);
			const size_t run = pool[j];

			pool[j] = pool[i];
			pool[i] = or->or_chosen[at++] = run;
		}
	}
}

bool
prof_orders_next(struct prof_orders *or)
{
	if (or->or_at == or->or_n)
		return (false);
	if (or->or_is_exact)
		orders_count_up(or);
	else if (or->or_at > 0)
		orders_draw(or);
	else {
		memcpy(or->or_chosen, or->or_seen, or->or_nnew *
		    sizeof(*or->or_chosen));
		for (size_t b = 0; b < or->or_nblocks; b++)
			for (size_t i = 0; i < or->or_block[b].ob_n; i++)
				or->or_pool[or->or_block[b].ob_first + i] =
				    or->or_block[b].ob_first + i;
	}
	or->or_at++;
	return (true);
}
