/* SPDX-License-Identifier: ISC */
/*
 * What is drawn by chance, and can be drawn again by its seed: permutation
 * tests within blocks, and the bootstrap.
 *
 * Called by comparison.c.  Both work on runs, not on samples inside of runs:
 * samples of a run share its luck.  One arrangement of the sides is used for
 * all quantities measured in the same runs, which is also why a hundred
 * functions cost little more than one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prof_impl.h"
#include "statistics.h"

/* Runs of a block: from be_first, be_n of them, be_new on side 1. */
struct block {
	size_t	be_first;
	size_t	be_n;
	size_t	be_new;
};

struct blocks {
	struct block	*bl_block;
	size_t		 bl_n;
	size_t		 bl_nnew;	/* runs on side 1 */
};

static uint64_t
rotate(uint64_t x, int k)
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
	const uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
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

static int
blocks_of(const struct prof_design *design, struct blocks *blocks)
{
	struct block *block = NULL;

	memset(blocks, 0, sizeof(*blocks));
	blocks->bl_block = calloc(design->dg_n + 1, sizeof(*block));
	if (blocks->bl_block == NULL)
		return (-1);
	for (size_t i = 0; i < design->dg_n; i++) {
		if (i == 0 || design->dg_block[i] != design->dg_block[i - 1]) {
			block = &blocks->bl_block[blocks->bl_n++];
			block->be_first = i;
		}
		block->be_n++;
		block->be_new += design->dg_side[i];
		blocks->bl_nnew += design->dg_side[i];
	}
	return (0);
}

/* In how many ways the sides can be dealt; stops counting at the limit. */
static double
arrangements(const struct blocks *blocks, double limit)
{
	double all = 1;

	for (size_t b = 0; b < blocks->bl_n && all <= limit; b++) {
		const struct block *block = &blocks->bl_block[b];
		const size_t base = block->be_n - block->be_new;
		const size_t few = base < block->be_new ? base :
		    block->be_new;

		/* Of the smaller side: on the way to the larger are more. */
		for (size_t i = 0; i < few && all <= limit; i++)
			all = all * (double)(block->be_n - i) /
			    (double)(i + 1);
	}
	return (all);
}

/* Are the sides just as far apart when each takes the other's runs? */
static bool
is_even(const struct blocks *blocks)
{
	for (size_t b = 0; b < blocks->bl_n; b++) {
		const struct block *block = &blocks->bl_block[b];

		if (block->be_new != 0 && block->be_new != block->be_n &&
		    block->be_n != 2 * block->be_new)
			return (false);
	}
	return (true);
}

double
prof_permute_floor(const struct prof_design *design)
{
	struct blocks blocks;
	double all, floor_;

	if (blocks_of(design, &blocks) == -1)
		return (NAN);
	all = round(arrangements(&blocks, PROF_EXACT_ARRANGEMENTS));
	floor_ = all <= PROF_EXACT_ARRANGEMENTS ?
	    fmin(1, (is_even(&blocks) ? 2 : 1) / all) :
	    1.0 / (PROF_DRAWS + 1);
	free(blocks.bl_block);
	return (floor_);
}

/* -------------------------------------------------------- permutations */

/* What one pass over arrangements works on. */
struct permute {
	struct blocks	 pm_blocks;
	size_t		 pm_n;		/* runs */
	size_t		 pm_nrows;
	double		*pm_values;	/* less the mean of their block */
	double		*pm_seen;	/* by row: how far apart it was */
	uint64_t	*pm_count;	/* by row: as far apart, or farther */
	size_t		*pm_chosen;	/* runs on side 1, block by block */
	size_t		*pm_pool;	/* runs, to draw from */
};

static double
sum_chosen(const struct permute *pm, size_t row)
{
	const double *values = pm->pm_values + row * pm->pm_n;
	double sum = 0;

	for (size_t i = 0; i < pm->pm_blocks.bl_nnew; i++)
		sum += values[pm->pm_chosen[i]];
	return (sum);
}

static void
count_arrangement(struct permute *pm)
{
	for (size_t row = 0; row < pm->pm_nrows; row++)
		pm->pm_count[row] += fabs(sum_chosen(pm, row)) >=
		    pm->pm_seen[row];
}

/*
 * Take the level of each block out.  What is left of rounding must not make
 * an arrangement that is as far apart look nearer: hence a little less than
 * was seen.
 */
static void
align(struct permute *pm, const struct prof_design *design,
    const double *values)
{
	size_t chosen = 0;

	for (size_t i = 0; i < design->dg_n; i++)
		if (design->dg_side[i])
			pm->pm_chosen[chosen++] = i;
	for (size_t row = 0; row < pm->pm_nrows; row++) {
		double *to = pm->pm_values + row * pm->pm_n, size = 0;
		const double *from = values + row * pm->pm_n;

		for (size_t b = 0; b < pm->pm_blocks.bl_n; b++) {
			const struct block *bl = &pm->pm_blocks.bl_block[b];
			double mean = 0;

			/* Divided first: the sum of huge values overflows. */
			for (size_t i = 0; i < bl->be_n; i++)
				mean += from[bl->be_first + i] /
				    (double)bl->be_n;
			for (size_t i = 0; i < bl->be_n; i++)
				to[bl->be_first + i] =
				    from[bl->be_first + i] - mean;
		}
		for (size_t i = 0; i < pm->pm_n; i++)
			size += fabs(from[i]) / 1e12;
		pm->pm_seen[row] = fabs(sum_chosen(pm, row)) - size;
	}
}

/* The next of the ways to choose k of n, in order; 0: that was the last. */
static int
next_choice(size_t *chosen, size_t k, size_t n, size_t first)
{
	for (size_t i = k; i-- > 0;) {
		if (chosen[i] - first == n - k + i)
			continue;
		chosen[i]++;
		for (size_t j = i + 1; j < k; j++)
			chosen[j] = chosen[j - 1] + 1;
		return (1);
	}
	for (size_t i = 0; i < k; i++)
		chosen[i] = first + i;
	return (0);
}

/* As an odometer turns: a block that is through begins again. */
static uint64_t
count_all(struct permute *pm)
{
	uint64_t n = 0;
	size_t b, at;

	for (b = at = 0; b < pm->pm_blocks.bl_n; b++)
		for (size_t i = 0; i < pm->pm_blocks.bl_block[b].be_new; i++)
			pm->pm_chosen[at++] =
			    pm->pm_blocks.bl_block[b].be_first + i;
	do {
		count_arrangement(pm);
		n++;
		for (b = at = 0; b < pm->pm_blocks.bl_n; b++) {
			const struct block *bl = &pm->pm_blocks.bl_block[b];

			if (next_choice(pm->pm_chosen + at, bl->be_new,
			    bl->be_n, bl->be_first))
				break;
			at += bl->be_new;
		}
	} while (b < pm->pm_blocks.bl_n);
	return (n);
}

static void
draw_one(struct permute *pm, struct prof_random *random)
{
	size_t at = 0;

	for (size_t b = 0; b < pm->pm_blocks.bl_n; b++) {
		const struct block *bl = &pm->pm_blocks.bl_block[b];
		size_t *pool = pm->pm_pool + bl->be_first;

		for (size_t i = 0; i < bl->be_new; i++) {
			const size_t j = i + (size_t)prof_random_below(random,
			    bl->be_n - i);
			const size_t run = pool[j];

			pool[j] = pool[i];
			pool[i] = pm->pm_chosen[at++] = run;
		}
	}
}

static int
permute_alloc(struct permute *pm, const struct prof_design *design,
    size_t nrows)
{
	pm->pm_n = design->dg_n;
	pm->pm_nrows = nrows;
	if (blocks_of(design, &pm->pm_blocks) == -1)
		return (-1);
	pm->pm_values = reallocarray(NULL, pm->pm_n * sizeof(double),
	    nrows + 1);
	pm->pm_seen = calloc(nrows + 1, sizeof(double));
	pm->pm_count = calloc(nrows + 1, sizeof(*pm->pm_count));
	pm->pm_chosen = calloc(pm->pm_n + 1, sizeof(*pm->pm_chosen));
	pm->pm_pool = calloc(pm->pm_n + 1, sizeof(*pm->pm_pool));
	if (pm->pm_values == NULL || pm->pm_seen == NULL ||
	    pm->pm_count == NULL || pm->pm_chosen == NULL ||
	    pm->pm_pool == NULL)
		return (-1);
	for (size_t i = 0; i < pm->pm_n; i++)
		pm->pm_pool[i] = i;
	return (0);
}

static void
permute_free(struct permute *pm)
{
	free(pm->pm_blocks.bl_block);
	free(pm->pm_values);
	free(pm->pm_seen);
	free(pm->pm_count);
	free(pm->pm_chosen);
	free(pm->pm_pool);
}

int
prof_permute(const struct prof_design *design, const double *values,
    size_t nrows, uint64_t seed, double *p)
{
	struct permute pm = { 0 };
	struct prof_random random;
	uint64_t n;
	int rv = -1;

	if (permute_alloc(&pm, design, nrows) == -1)
		goto out;
	align(&pm, design, values);
	rv = arrangements(&pm.pm_blocks, PROF_EXACT_ARRANGEMENTS + 1) <=
	    PROF_EXACT_ARRANGEMENTS + 0.5;
	if (rv) {
		n = count_all(&pm);
	} else {
		prof_random_seed(&random, seed);
		for (n = 0; n < PROF_DRAWS; n++) {
			draw_one(&pm, &random);
			count_arrangement(&pm);
		}
	}
	/* What was seen is an arrangement too: drawn, it counts as one. */
	for (size_t row = 0; row < nrows; row++)
		p[row] = isnan(pm.pm_seen[row]) ? NAN : rv ?
		    (double)pm.pm_count[row] / (double)n :
		    (double)(pm.pm_count[row] + 1) / (double)(n + 1);
out:
	permute_free(&pm);
	return (rv);
}

/* ----------------------------------------------------------- bootstrap */

/*
 * What is drawn with replacement.  Within a block the first runs of both
 * sides make a pair, then the second ones; without pairs of_n are runs of
 * one side, and the sides are drawn apart.
 */
struct resample {
	size_t	*rs_run[2];	/* of either side, in order of blocks */
	size_t	 rs_n[2];
	int	 rs_is_paired;
	double	*rs_drawn[2];
};

static int
resample_init(struct resample *rs, const struct prof_design *design,
    const struct blocks *blocks)
{
	for (int side = 0; side < 2; side++) {
		rs->rs_run[side] = calloc(design->dg_n + 1, sizeof(size_t));
		rs->rs_drawn[side] = calloc(design->dg_n + 1, sizeof(double));
		if (rs->rs_run[side] == NULL || rs->rs_drawn[side] == NULL)
			return (-1);
	}
	for (size_t i = 0; i < design->dg_n; i++) {
		const int side = design->dg_side[i];

		rs->rs_run[side][rs->rs_n[side]++] = i;
	}
	rs->rs_is_paired = blocks->bl_n > 1;
	for (size_t b = 0; b < blocks->bl_n; b++)
		if (blocks->bl_block[b].be_n != 2 * blocks->bl_block[b].be_new)
			rs->rs_is_paired = 0;
	return (0);
}

/* The one that would stand k-th in order; the order is left half done. */
static double
select_kth(double *values, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		const double pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				const double swap = values[i];

				values[i++] = values[j];
				values[j] = swap;
				if (j-- == 0)
					break;
			}
		}
		if (j != SIZE_MAX && k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return (values[k]);
}

static double
middle_of(double *values, size_t n)
{
	const double upper = select_kth(values, n, n / 2);
	double lower;

	if (n % 2 == 1)
		return (upper);
	/* All before n / 2 are no larger: the largest of them. */
	lower = values[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = fmax(lower, values[i]);
	return (lower / 2 + upper / 2);
}

static double
mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return (sum / (double)n);
}

static double
replicate(struct resample *rs, const double *values,
    enum prof_bootstrap_of of, struct prof_random *random)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < rs->rs_n[side]; i++) {
			if (side == 1 && rs->rs_is_paired)
				break;
			const size_t k = (size_t)prof_random_below(random,
			    rs->rs_n[side]);

			rs->rs_drawn[side][i] = values[rs->rs_run[side][k]];
			if (rs->rs_is_paired)
				rs->rs_drawn[1][i] =
				    values[rs->rs_run[1][k]];
		}
	if (of == PROF_BOOTSTRAP_MEANS)
		return (mean_of(rs->rs_drawn[1], rs->rs_n[1]) -
		    mean_of(rs->rs_drawn[0], rs->rs_n[0]));
	return (middle_of(rs->rs_drawn[1], rs->rs_n[1]) /
	    middle_of(rs->rs_drawn[0], rs->rs_n[0]));
}

int
prof_bootstrap(const struct prof_design *design, const double *values,
    enum prof_bootstrap_of of, uint64_t seed, double *replicates)
{
	struct resample rs = { 0 };
	struct prof_random random;
	struct blocks blocks;
	int rv = -1;

	if (blocks_of(design, &blocks) == -1)
		return (-1);
	if (resample_init(&rs, design, &blocks) == -1)
		goto out;
	prof_random_seed(&random, seed);
	for (size_t b = 0; b < PROF_RESAMPLES; b++) {
		replicates[b] = rs.rs_n[0] == 0 || rs.rs_n[1] == 0 ? NAN :
		    replicate(&rs, values, of, &random);
		/* One ratio without a meaning: the interval has none. */
		if (isnan(replicates[b]))
			replicates[0] = NAN;
	}
	if (isnan(replicates[0]))
		for (size_t b = 0; b < PROF_RESAMPLES; b++)
			replicates[b] = NAN;
	prof_sort(replicates, PROF_RESAMPLES);
	rv = 0;
out:
	for (int side = 0; side < 2; side++) {
		free(rs.rs_run[side]);
		free(rs.rs_drawn[side]);
	}
	free(blocks.bl_block);
	return (rv);
}

/*
 * A resample of n runs varies less than the runs do, by (n - 1) / n, and a
 * normal's 1.96 is too little for few of them.  So the percentiles are those
 * that a normal distribution has at Student's t times sqrt(n / (n - 1)):
 * for 10 runs 0.9 % and 99.1 % instead of 2.5 % and 97.5 %.
 */
void
prof_bootstrap_interval(const double *sorted, size_t n, double interval[2])
{
	double far, tail;

	interval[0] = interval[1] = NAN;
	if (n < 2 || isnan(sorted[0]) || isnan(sorted[PROF_RESAMPLES - 1]))
		return;
	far = prof_t_quantile(0.975, (double)(n - 1)) *
	    sqrt((double)n / (double)(n - 1));
	tail = erfc(far / M_SQRT2) / 2;
	interval[0] = prof_quantile(sorted, PROF_RESAMPLES, tail);
	interval[1] = prof_quantile(sorted, PROF_RESAMPLES, 1 - tail);
}
