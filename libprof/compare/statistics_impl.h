/* SPDX-License-Identifier: ISC */
/* What the files of statistics share; see statistics.h. */
#ifndef PROF_STATISTICS_IMPL_H
#define PROF_STATISTICS_IMPL_H

#include "statistics.h"

/* -------------------------------------------------- statistics_levels.c */

/* The square root of a run's weight, which its value is multiplied by. */
static inline double
prof_design_root(const struct prof_design *design, size_t run)
{
	return (design->dg_root == NULL ? 1 : design->dg_root[run]);
}

struct prof_levels {
	const struct prof_design *lv_design;
	double		*lv_root;	/* by run; 0: it has no value */
	size_t		 lv_nlevels;
	size_t		 lv_nwindows;
	double		*lv_per_level;	/* 1 / weight; 0: it has none */
	double		*lv_inverse;	/* of S, window by window */
	double		*lv_sum;	/* scratch: by level */
	double		*lv_rest;	/* by window */
	double		*lv_effect;
};

/*
 * The design has levels and windows; there, by run: 1, or 0: it has no value.
 * -1: no memory; fini in any case.
 */
int	prof_levels_init(struct prof_levels *levels,
	    const struct prof_design *design, const double *there);
void	prof_levels_fini(struct prof_levels *levels);
/* Of values times their roots, by run; 0 where there is none. */
void	prof_levels_take_off(struct prof_levels *levels, double *values);
/* The squared length of what that would leave. */
double	prof_levels_square(struct prof_levels *levels, const double *values);

#endif /* PROF_STATISTICS_IMPL_H */
