/* SPDX-License-Identifier: ISC */
/*
 * What tests share that draw many comparisons at random: numbers, an order
 * of runs as bench draws it, how many errors chance allows, and what a
 * comparison says of what was planted, which it checks to be consistent.
 * Included by tests of comparisons and by bench/compare_pool.c.
 */
#ifndef TRIALS_H
#define TRIALS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/names.h"
#include "prof.h"
#include "compare/statistics.h"

static struct prof_random rng;

static inline void
truth(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL: %s\n", what);
	exit(1);
}

static inline double
uniform(void)
{
	return ((double)(prof_random_next(&rng) >> 11) * 0x1p-53);
}

static inline double
normal(void)
{
	return (sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform()));
}

#define TRIAL_FUNCTIONS	40

static inline double
poisson(double mean)
{
	const double limit = exp(-mean);
	double n = 0, product = uniform();

	if (mean > 50)
		return (fmax(0, round(mean + sqrt(mean) * normal())));
	for (; product > limit; n++)
		product *= uniform();
	return (n);
}

/* From 0.1 % to 8 %: as real profiles are. */
static inline double
trial_weight(int f)
{
	static double sum;

	if (sum == 0)
		for (int i = 0; i < TRIAL_FUNCTIONS; i++)
			sum += pow(0.9, i);
	return (pow(0.9, f) / sum);
}

/*
 * Errors of so many trials at a rate of 5 in 100, and what chance adds: 31 of
 * 400, 450 of 8,000.
 */
static inline int
at_most(int trials)
{
	return ((int)(trials * 0.05 + 2.5 * sqrt(trials * 0.05)));
}

/* Blocks of so many runs, half of each new, in an order drawn at random. */
static inline void
deal(size_t n, size_t in_block, uint8_t *side, uint32_t *block)
{
	uint32_t order[64];

	for (size_t i = 0; i < n; i += in_block) {
		const size_t k = n - i < in_block ? n - i : in_block;

		truth(k <= sizeof(order) / sizeof(*order), "a large block");
		prof_shuffle(prof_random_next(&rng), order, k);
		for (size_t j = 0; j < k; j++) {
			side[i + j] = order[j] % 2;
			block[i + j] = (uint32_t)(i / in_block);
		}
	}
}

/* As bench: up to five runs of each are one block, else two of each. */
static inline void
deal_as_bench(size_t runs, uint8_t *side, uint32_t *block)
{
	deal(2 * runs, runs <= 5 ? 2 * runs : 4, side, block);
}

/* What trials said. */
struct tally {
	int	ta_called;	/* anything at all changed */
	int	ta_named;	/* the planted function costs more, or less */
	int	ta_others;	/* another function has changed */
	int	ta_wrong;	/* less, of what costs more */
};

/* Verdict, interval and estimate agree, of everything. */
static inline bool
is_called(const struct prof_change *cg)
{
	const bool is = cg->cg_verdict >= PROF_VERDICT_LESS;
	const bool has_0 = !(cg->cg_ci95[0] > 0 || cg->cg_ci95[1] < 0);

	truth(isnan(cg->cg_ci95[0]) || is != has_0,
	    "an interval contradicts its verdict");
	truth(!is || (cg->cg_verdict == PROF_VERDICT_MORE) ==
	    (cg->cg_change > 0), "a change contradicts its verdict");
	return (is);
}

/*
 * One comparison more.  planted: the function that costs more on the new
 * side, or NULL; sign: -1 if it costs less there.
 */
static inline void
judge(const struct prof_comparison *cp, const char *planted, int sign,
    struct tally *ta)
{
	const struct prof_change *cg = prof_comparison_total(cp);
	bool called = cg != NULL && is_called(cg), other = false;

	if (called && planted != NULL)
		ta->ta_wrong += cg->cg_change * sign < 0;
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		called = is_called(prof_comparison_metric(cp, i)) || called;
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++) {
		cg = prof_comparison_function(cp, i);
		if (!is_called(cg))
			continue;
		called = true;
		if (planted == NULL || strcmp(cg->cg_name, planted) != 0)
			other = true;
		else if (cg->cg_change * sign > 0)
			ta->ta_named++;
		else
			ta->ta_wrong++;
	}
	ta->ta_called += called;
	ta->ta_others += other;
}

#endif /* TRIALS_H */
