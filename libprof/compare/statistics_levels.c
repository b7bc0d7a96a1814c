/* SPDX-License-Identifier: ISC */
/*
 * Levels and windows: what is left of values when the mean of each level (a
 * host, or a kind of hosts) and of each window of time is taken off, by least
 * squares.  Not every level has a value in every window, so both are solved
 * for together: levels are eliminated, and the windows' equations, with the
 * matrix
 *
 *	S = diag(weight of each window) - N' diag(1 / weight of each level) N
 *
 * where N is the weight of a level in a window, are inverted once.  S is
 * singular, by the mean at least; a pivot of 0 is left out, which changes
 * effects but not what is left.  Values come multiplied by the roots of their
 * weights, and what is left of them is, too.
 *
 * Called by statistics_family.c for each pattern of missing values.
 */
#include <stdlib.h>

#include "statistics_impl.h"

#define SINGULAR	1e-9	/* of the pivot as it was */

static int	levels_invert(struct prof_levels *levels);

int
prof_levels_init(struct prof_levels *lv, const struct prof_design *design,
    const double *there)
{
	size_t nlevels = 0, nwindows = 0;

	lv->lv_design = design;
	lv->lv_root = calloc(design->dg_n + 1, sizeof(double));
	if (lv->lv_root == NULL)
		return (-1);
	for (size_t i = 0; i < design->dg_n; i++) {
		lv->lv_root[i] = there[i] * prof_design_root(design, i);
		if (design->dg_level[i] >= nlevels)
			nlevels = design->dg_level[i] + 1;
		if (design->dg_window[i] >= nwindows)
			nwindows = design->dg_window[i] + 1;
	}
	lv->lv_nlevels = nlevels;
	lv->lv_nwindows = nwindows;
	lv->lv_per_level = calloc(nlevels + 1, sizeof(double));
	lv->lv_sum = calloc(nlevels + 1, sizeof(double));
	lv->lv_rest = calloc(nwindows + 1, sizeof(double));
	lv->lv_effect = calloc(nwindows + 1, sizeof(double));
	lv->lv_inverse = calloc(nwindows + 1, nwindows * sizeof(double));
	if (lv->lv_per_level == NULL || lv->lv_sum == NULL ||
	    lv->lv_rest == NULL || lv->lv_effect == NULL ||
	    lv->lv_inverse == NULL)
		return (-1);
	return (levels_invert(lv));
}

void
prof_levels_fini(struct prof_levels *lv)
{
	free(lv->lv_root);
	free(lv->lv_per_level);
	free(lv->lv_sum);
	free(lv->lv_rest);
	free(lv->lv_effect);
	free(lv->lv_inverse);
}

/* One step of Gauss and Jordan, in place. */
static void
pivot_take(double *a, size_t n, size_t k, double least)
{
	const double pivot = a[k * n + k];

	if (!(pivot > least)) {
		for (size_t i = 0; i < n; i++)
			a[k * n + i] = a[i * n + k] = 0;
		return;
	}
	for (size_t j = 0; j < n; j++)
		a[k * n + j] = j == k ? 1 / pivot : a[k * n + j] / pivot;
	for (size_t i = 0; i < n; i++) {
		const double factor = a[i * n + k];

		if (i == k || factor == 0)
			continue;
		for (size_t j = 0; j < n; j++)
			a[i * n + j] = j == k ? -factor / pivot :
			    a[i * n + j] - factor * a[k * n + j];
	}
}

/* N, and S from it; then the inverse in its place. */
static int
levels_invert(struct prof_levels *lv)
{
	const struct prof_design *dg = lv->lv_design;
	const size_t n = lv->lv_nwindows;
	double *count = calloc(lv->lv_nlevels + 1, n * sizeof(double));
	double *s = lv->lv_inverse;

	if (count == NULL)
		return (-1);
	for (size_t i = 0; i < dg->dg_n; i++) {
		const double weight = lv->lv_root[i] * lv->lv_root[i];

		count[dg->dg_level[i] * n + dg->dg_window[i]] += weight;
		lv->lv_per_level[dg->dg_level[i]] += weight;
		s[dg->dg_window[i] * (n + 1)] += weight;
	}
	for (size_t w = 0; w < n; w++)
		lv->lv_rest[w] = s[w * (n + 1)];
	for (size_t l = 0; l < lv->lv_nlevels; l++) {
		const double *row = count + l * n;

		if (lv->lv_per_level[l] == 0)
			continue;
		lv->lv_per_level[l] = 1 / lv->lv_per_level[l];
		for (size_t at = 0; at < n * n; at++)
			s[at] -= row[at / n] * row[at % n] *
			    lv->lv_per_level[l];
	}
	for (size_t k = 0; k < n; k++)
		pivot_take(s, n, k, SINGULAR * lv->lv_rest[k]);
	free(count);
	return (0);
}

/* Sums by level, and of windows what levels do not explain. */
static void
sums_make(struct prof_levels *lv, const double *values)
{
	const struct prof_design *dg = lv->lv_design;

	for (size_t l = 0; l < lv->lv_nlevels; l++)
		lv->lv_sum[l] = 0;
	for (size_t w = 0; w < lv->lv_nwindows; w++)
		lv->lv_rest[w] = 0;
	for (size_t i = 0; i < dg->dg_n; i++)
		lv->lv_sum[dg->dg_level[i]] += lv->lv_root[i] * values[i];
	for (size_t i = 0; i < dg->dg_n; i++)
		lv->lv_rest[dg->dg_window[i]] += lv->lv_root[i] *
		    (values[i] - lv->lv_root[i] *
		    lv->lv_sum[dg->dg_level[i]] *
		    lv->lv_per_level[dg->dg_level[i]]);
	for (size_t v = 0; v < lv->lv_nwindows; v++) {
		lv->lv_effect[v] = 0;
		for (size_t w = 0; w < lv->lv_nwindows; w++)
			lv->lv_effect[v] += lv->lv_inverse[
			    v * lv->lv_nwindows + w] * lv->lv_rest[w];
	}
}

void
prof_levels_take_off(struct prof_levels *lv, double *values)
{
	const struct prof_design *dg = lv->lv_design;

	sums_make(lv, values);
	for (size_t i = 0; i < dg->dg_n; i++)
		lv->lv_sum[dg->dg_level[i]] -= lv->lv_root[i] *
		    lv->lv_root[i] * lv->lv_effect[dg->dg_window[i]];
	for (size_t i = 0; i < dg->dg_n; i++)
		values[i] = lv->lv_root[i] == 0 ? 0 : values[i] -
		    lv->lv_root[i] * (lv->lv_effect[dg->dg_window[i]] +
		    lv->lv_sum[dg->dg_level[i]] *
		    lv->lv_per_level[dg->dg_level[i]]);
}

double
prof_levels_square(struct prof_levels *lv, const double *values)
{
	double square = 0;

	sums_make(lv, values);
	for (size_t i = 0; i < lv->lv_design->dg_n; i++)
		if (lv->lv_root[i] != 0)
			square += values[i] * values[i];
	for (size_t l = 0; l < lv->lv_nlevels; l++)
		square -= lv->lv_sum[l] * lv->lv_sum[l] *
		    lv->lv_per_level[l];
	for (size_t w = 0; w < lv->lv_nwindows; w++)
		square -= lv->lv_rest[w] * lv->lv_effect[w];
	return (square);
}
