/* SPDX-License-Identifier: ISC */
/*
 * Statistics of repeated measurements: what verdicts need, and no more.
 *
 *	statistics.c		mean, spread, Student's t
 *	statistics_tests.c	ranks, tests of two samples, many tests at once
 *	statistics_draw.c	random numbers, permutations, the bootstrap
 *
 * All of it is deterministic: what is drawn comes from a seed.  A function
 * that has nothing to say (no values, NaN among them) says NaN.
 */
#ifndef PROF_STATISTICS_H
#define PROF_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* -------------------------------------------------------- statistics.c */

/* Student's t with df > 0 degrees of freedom: P(T <= t), and its inverse. */
double	prof_t_cdf(double t, double df);
double	prof_t_quantile(double p, double df);	/* 0 < p < 1 */

/* -------------------------------------------------- statistics_tests.c */

void	prof_sort(double *values, size_t n);
/* Of sorted values, between them as numpy does by default. */
double	prof_quantile(const double *sorted, size_t n, double p);
/* Median, and median distance from it; -1: no memory. */
int	prof_median_mad(const double *values, size_t n, double *median,
	    double *mad);

/* x stands for the base, y for what is new; p values are two-sided. */
struct prof_rank_test {
	double	rt_u;		/* pairs in which y is the larger; ties: 1/2 */
	double	rt_p;		/* Mann-Whitney */
	double	rt_delta;	/* Cliff's, from -1 to 1 */
	int	rt_is_exact;
};
int	prof_rank_test(const double *x, size_t n, const double *y, size_t m,
	    struct prof_rank_test *test);
/* Welch's t; NaN with fewer than two values a side or no spread at all. */
double	prof_welch(const double *x, size_t n, const double *y, size_t m,
	    double *t, double *df);
/* Do values rise or fall in the order in which they stand?  rho and its p. */
int	prof_drift(const double *values, size_t n, double *rho, double *p);
/* In how many heaps do the values lie?  1 unless it is plain to see. */
int	prof_modes(const double *values, size_t n);

/* Adjusted p values, in the order of p; p may be the same array. */
int	prof_holm(const double *p, size_t n, double *adjusted);
int	prof_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* --------------------------------------------------- statistics_draw.c */

/* xoshiro256** by Blackman and Vigna, seeded by splitmix64. */
struct prof_random {
	uint64_t	rd_state[4];
};
void	prof_random_seed(struct prof_random *random, uint64_t seed);
uint64_t prof_random_next(struct prof_random *random);
/* Below n > 0, each as likely. */
uint64_t prof_random_below(struct prof_random *random, uint64_t n);

/*
 * How runs were made: run i belongs to a side (0 or 1) and to a block, by
 * rising numbers of blocks.  Runs without blocks are all in block 0.
 */
struct prof_design {
	size_t		 dg_n;
	const uint8_t	*dg_side;
	const uint32_t	*dg_block;
};

#define PROF_EXACT_ARRANGEMENTS	20000
#define PROF_DRAWS		99999
#define PROF_RESAMPLES		10000

/*
 * Permutation tests of nrows quantities measured in the same runs: had the
 * sides been dealt to the runs of each block otherwise, how often would the
 * means be as far apart?  values[row * dg_n + run].  1: exact, all were
 * looked at; 0: drawn; -1: no memory.
 */
int	prof_permute(const struct prof_design *design, const double *values,
	    size_t nrows, uint64_t seed, double *p);
/* The smallest p that the design lets prof_permute find. */
double	prof_permute_floor(const struct prof_design *design);

enum prof_bootstrap_of {
	PROF_BOOTSTRAP_MEDIANS,	/* ratio of medians, new / base */
	PROF_BOOTSTRAP_MEANS	/* difference of means, new - base */
};
/*
 * Resampled runs: the estimate of each resample, sorted, in
 * replicates[PROF_RESAMPLES].  With blocks the runs of both sides are drawn
 * in pairs of the same block.  The seed decides what is drawn, whatever the
 * values.  0, or -1: no memory.
 */
int	prof_bootstrap(const struct prof_design *design, const double *values,
	    enum prof_bootstrap_of of, uint64_t seed, double *replicates);
/*
 * The interval that holds the truth in 95 of 100 cases, from replicates made
 * of n runs: percentiles, moved outwards as far as few runs demand.
 */
void	prof_bootstrap_interval(const double *sorted, size_t n,
	    double interval[2]);

#endif /* PROF_STATISTICS_H */
