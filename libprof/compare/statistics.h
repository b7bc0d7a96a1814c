/* SPDX-License-Identifier: ISC */
/*
 * Statistics of repeated measurements: what verdicts need, and no more.
 *
 *	statistics.c		mean, spread, Student's t
 *	statistics_tests.c	ranks, tests of two samples, false discoveries
 *	statistics_draw.c	random numbers, orders of runs
 *	statistics_levels.c	means of hosts and windows, taken off
 *	statistics_family.c	the test of a family by orders of runs
 *
 * All of it is deterministic: what is drawn comes from a seed.  A function
 * that has nothing to say (no values, NaN among them) says NaN.
 */
#ifndef PROF_STATISTICS_H
#define PROF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a quantity after some measurements of it. */
struct prof_summary {
	size_t		 sm_n;
	double		 sm_mean;
	double		 sm_stddev;	/* of the sample; n < 2: 0 */
	double		 sm_median;
	int		 sm_has_ci;	/* n >= 2 */
	double		 sm_ci95[2];	/* where the mean lies, at 95 % */
};

/* 0, or -1 without memory. */
int prof_summarize(const double *values, size_t n,
    struct prof_summary *summary);

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
 * rising numbers of blocks.  Within a block every order of the sides was as
 * likely.  dg_time: when a run was made, in any unit; NULL: not known.
 */
struct prof_design {
	size_t		 dg_n;
	const uint8_t	*dg_side;
	const uint32_t	*dg_block;
	const double	*dg_time;
	/*
	 * NULL, or the runs are what hosts did in windows of time, and a block
	 * is a host.  Each level and each window has a mean of its own, and
	 * the sides that a host had over time are dealt to the hosts of its
	 * group as a whole, each as likely.  Hosts of a group stand together;
	 * a host has one side in a window.
	 */
	const uint32_t	*dg_level;
	const uint32_t	*dg_window;
	const uint32_t	*dg_group;
	const double	*dg_root;	/* of each run's weight; NULL: alike */
};

#define PROF_EXACT_ORDERS	20000	/* so many are all looked at */

struct prof_order_block;

/*
 * The possible orders of runs: all of them, or a random sample.  After a next,
 * or_chosen has the or_nnew runs of side 1, and or_part the part of each run
 * that belongs to side 1: 1, or 0.5 if the side is not known.
 */
struct prof_orders {
	struct prof_order_block *or_block;
	size_t		 or_nblocks;
	size_t		*or_chosen;
	double		*or_part;
	size_t		*or_seen;	/* side 1 as it was, or_nseen of them */
	size_t		 or_nseen;
	size_t		*or_pool;
	const struct prof_design *or_design;
	uint8_t		*or_path;	/* block * or_nwindows + window */
	size_t		 or_nwindows;	/* 0: sides are dealt within blocks */
	size_t		 or_nnew;
	size_t		 or_n;		/* orders */
	size_t		 or_at;		/* next */
	bool		 or_is_exact;
	double		 or_floor;	/* the smallest p that they allow */
	uint64_t	 or_seed;
	struct prof_random or_random;
};
/* -1: no memory; fini in any case. */
int	prof_orders_init(struct prof_orders *orders,
	    const struct prof_design *design, size_t draws, uint64_t seed);
void	prof_orders_fini(struct prof_orders *orders);
void	prof_orders_rewind(struct prof_orders *orders);
bool	prof_orders_next(struct prof_orders *orders);

/* ------------------------------------------------- statistics_family.c */

/* What side 1 adds to a value, with its interval and p. */
struct prof_effect {
	double	ef_shift;
	double	ef_p;
	double	ef_adjusted;	/* for all rows: what verdicts go by */
	double	ef_interval[2];	/* with those of all rows; NaN: no end */
	bool	ef_is_sure;	/* ef_adjusted <= alpha */
};

/* What tests of a family share. */
struct prof_family {
	double	fa_alpha;	/* errors, over all rows */
	uint64_t fa_seed;
	bool	fa_is_exact;	/* out: all orders were looked at */
	double	fa_floor;	/* out: the smallest p that they allow */
};

/*
 * Test nrows quantities of the same runs as one family, by the orders that
 * the design allows: values[row * dg_n + run], NaN where a run has none.
 * Rows of less than four values, or without any spread, have no effect.
 * 0, or -1: no memory.
 */
int	prof_test_family(const struct prof_design *design,
	    const double *values, size_t nrows, struct prof_family *family,
	    struct prof_effect *effects);

#define PROF_ERRORS	10000
/*
 * By how much the shift of a row may be off: errors[PROF_ERRORS], drawn.
 * 0, or -1: no memory.
 */
int	prof_test_errors(const struct prof_design *design,
	    const double *values, uint64_t seed, double *errors);

#endif /* PROF_STATISTICS_H */
