/* SPDX-License-Identifier: ISC */
/*
 * Random numbers that a seed repeats, and the orders in which bench could
 * have made the runs: within each block the sides are dealt anew; or, of
 * hosts, the sides that one had over time are dealt to another.
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
			or->or_seen[or->or_nseen++] = i;
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

/* ---------------------------------------------------------------- paths */

/* The version that a host ran in a window. */
enum {
	PATH_BASE,
	PATH_HALF,	/* not known: the sides around it differ */
	PATH_NEW
};

/*
 * In windows in which a host was not seen it had the side of those around,
 * where these agree.
 */
static void
path_fill(uint8_t *path, const uint8_t *is_seen, size_t n)
{
	size_t last = n;

	for (size_t w = 0; w <= n; w++) {
		if (w < n && !is_seen[w])
			continue;
		for (size_t i = last == n ? 0 : last + 1; i < w; i++)
			path[i] = last == n ? path[w] : w == n ||
			    path[w] == path[last] ? path[last] : PATH_HALF;
		last = w;
	}
}

static int
paths_init(struct prof_orders *or, const struct prof_design *design)
{
	uint8_t *is_seen;
	size_t n = 0;

	for (size_t i = 0; i < design->dg_n; i++)
		if (design->dg_window[i] >= n)
			n = design->dg_window[i] + 1;
	or->or_nwindows = n;
	or->or_path = calloc(or->or_nblocks + 1, n);
	is_seen = calloc(or->or_nblocks + 1, n);
	if (or->or_path == NULL || is_seen == NULL) {
		free(is_seen);
		return (-1);
	}
	for (size_t b = 0; b < or->or_nblocks; b++) {
		const struct prof_order_block *block = &or->or_block[b];

		for (size_t i = 0; i < block->ob_n; i++) {
			const size_t run = block->ob_first + i, at = b * n +
			    design->dg_window[run];

			or->or_path[at] = design->dg_side[run] ? PATH_NEW :
			    PATH_BASE;
			is_seen[at] = 1;
		}
		path_fill(or->or_path + b * n, is_seen + b * n, n);
	}
	free(is_seen);
	return (0);
}

static uint32_t
group_of(const struct prof_orders *or, size_t block)
{
	return (or->or_design->dg_group[or->or_block[block].ob_first]);
}

/*
 * How likely is it to draw the order that was seen?  Block by block: of those
 * of its group that are left, how many have the same path.
 */
static double
paths_floor(const struct prof_orders *or)
{
	const size_t n = or->or_nwindows;
	double p = 1;

	for (size_t b = 0; b < or->or_nblocks; b++) {
		size_t same = 0, all = 0;

		for (size_t c = b; c < or->or_nblocks &&
		    group_of(or, b) == group_of(or, c); c++) {
			all++;
			same += memcmp(or->or_path + b * n, or->or_path +
			    c * n, n) == 0;
		}
		p *= (double)same / (double)all;
	}
	return (p);
}

/* Who has whose path, in or_pool. */
static void
paths_deal(struct prof_orders *or)
{
	size_t first = 0, with;

	for (size_t b = 0; b < or->or_nblocks; b++) {
		if (group_of(or, b) != group_of(or, first))
			first = b;
		with = first + (size_t)prof_random_below(&or->or_random,
		    b - first + 1);
		or->or_pool[b] = b;
		or->or_pool[b] = or->or_pool[with];
		or->or_pool[with] = b;
	}
}

/* The runs whose host has the new side in their window, or half of it. */
static void
paths_choose(struct prof_orders *or)
{
	or->or_nnew = 0;
	for (size_t b = 0; b < or->or_nblocks; b++) {
		const struct prof_order_block *block = &or->or_block[b];
		const uint8_t *path = or->or_path +
		    or->or_pool[b] * or->or_nwindows;

		for (size_t i = block->ob_first;
		    i < block->ob_first + block->ob_n; i++) {
			const uint8_t what = path[or->or_design->dg_window[i]];

			if (what == PATH_BASE)
				continue;
			or->or_part[or->or_nnew] = what / (double)PATH_NEW;
			or->or_chosen[or->or_nnew++] = i;
		}
	}
}

/* The observed order. */
static void
orders_begin(struct prof_orders *or)
{
	or->or_nnew = or->or_nseen;
	for (size_t i = 0; i < or->or_nseen; i++) {
		or->or_chosen[i] = or->or_seen[i];
		or->or_part[i] = 1;
	}
	for (size_t i = 0; i < or->or_design->dg_n; i++)
		or->or_pool[i] = i;
}

/* --------------------------------------------------------------- public */

int
prof_orders_init(struct prof_orders *or, const struct prof_design *design,
    size_t draws, uint64_t seed)
{
	const size_t n = design->dg_n + 1;
	const bool by_path = design->dg_window != NULL;
	double all;

	memset(or, 0, sizeof(*or));
	or->or_design = design;
	or->or_block = calloc(n, sizeof(*or->or_block));
	or->or_seen = calloc(n, sizeof(*or->or_seen));
	or->or_chosen = calloc(n, sizeof(*or->or_chosen));
	or->or_part = calloc(n, sizeof(*or->or_part));
	or->or_pool = calloc(n, sizeof(*or->or_pool));
	if (or->or_block == NULL || or->or_seen == NULL ||
	    or->or_chosen == NULL || or->or_part == NULL ||
	    or->or_pool == NULL)
		return (-1);
	orders_add_blocks(or, design);
	if (by_path && paths_init(or, design) == -1)
		return (-1);
	all = round(orders_number(or, PROF_EXACT_ORDERS + 1));
	or->or_is_exact = !by_path && all <= PROF_EXACT_ORDERS;
	/* What was seen is one of them, and drawn first. */
	or->or_n = or->or_is_exact ? (size_t)all : draws + 1;
	or->or_floor = (or->or_is_exact && orders_are_even(or) && all > 1 ?
	    2 : 1) / (double)or->or_n;
	if (by_path)
		or->or_floor = fmax(or->or_floor, paths_floor(or));
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
	free(or->or_part);
	free(or->or_pool);
	free(or->or_path);
}

void
prof_orders_rewind(struct prof_orders *or)
{
	or->or_at = 0;
	prof_random_seed(&or->or_random, or->or_seed);
	orders_begin(or);
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
	else if (or->or_at > 0 && or->or_nwindows > 0) {
		paths_deal(or);
		paths_choose(or);
	} else if (or->or_at > 0)
		orders_draw(or);
	or->or_at++;
	return (true);
}
