/* SPDX-License-Identifier: ISC */
/*
 * Functions of two sides of runs.  What a function itself cost in each run
 * is tested, not its share: a share falls when another function grows.  Shares
 * are shown beside it.
 *
 * All functions of 0.1 % and more are one family of tests.  Called by
 * comparison.c after the metrics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

/* Costs of all functions in all runs; NaN: the run has no costs. */
struct matrix {
	size_t		 mx_n;		/* runs */
	double		*mx_cost;	/* function * mx_n + run */
	double		*mx_total;	/* by run */
	size_t		 mx_few;	/* runs of the side that has fewer */
};

static int
matrix_init(struct matrix *mx, const struct prof_comparison *cp)
{
	const size_t n = cp->cp_nruns;
	size_t runs[2] = { 0, 0 };

	mx->mx_n = n;
	mx->mx_total = calloc(n + 1, sizeof(*mx->mx_total));
	mx->mx_cost = calloc(cp->cp_nfunctions, n * sizeof(*mx->mx_cost));
	if (mx->mx_cost == NULL || mx->mx_total == NULL)
		return (-1);
	for (size_t r = 0; r < n; r++) {
		mx->mx_total[r] = cp->cp_total.mt_value[r];
		runs[cp->cp_run[r].rn_side] += isfinite(mx->mx_total[r]);
		/* A sum beyond all numbers counts as none. */
		for (size_t f = 0; f < cp->cp_nfunctions &&
		    !isfinite(mx->mx_total[r]); f++)
			mx->mx_cost[f * n + r] = NAN;
	}
	for (size_t i = 0; i < cp->cp_ncosts; i++) {
		const struct cost *cs = &cp->cp_cost[i];

		mx->mx_cost[cs->cs_function * n + cs->cs_run] += cs->cs_cost;
	}
	mx->mx_few = runs[0] < runs[1] ? runs[0] : runs[1];
	return (0);
}

static void
matrix_fini(struct matrix *mx)
{
	free(mx->mx_cost);
	free(mx->mx_total);
}

/* Share of its run, where the run has any cost at all. */
static double
share_at(const struct matrix *mx, size_t function, size_t at)
{
	return (mx->mx_total[at] > 0 ?
	    mx->mx_cost[function * mx->mx_n + at] / mx->mx_total[at] : 0);
}

/* Medians, means and shares of one function. */
static int
function_describe(struct prof_change *cg, const struct prof_comparison *cp,
    const struct matrix *mx, size_t function)
{
	struct prof_summary summary;
	double *values = calloc(mx->mx_n + 1, sizeof(*values));
	int rv = values == NULL ? -1 : 0;

	for (int side = 0; side < 2 && rv == 0; side++) {
		const size_t n = prof_side_values(cp, side, mx->mx_cost +
		    function * mx->mx_n, values);
		double share = 0, runs = 0;

		for (size_t i = 0; i < mx->mx_n; i++) {
			if (cp->cp_run[i].rn_side != side ||
			    !isfinite(mx->mx_total[i]))
				continue;
			share += share_at(mx, function, i);
			runs++;
		}
		rv = prof_summarize(values, n, &summary);
		cg->cg_n[side] = n;
		cg->cg_median[side] = summary.sm_median;
		cg->cg_mean[side] = summary.sm_mean;
		cg->cg_share[side] = runs > 0 ? share / runs : NAN;
	}
	free(values);
	return (rv);
}

/*
 * Is it large enough to be tested?  Its share in as many runs as a side has,
 * those in which it has most: no less than on either side, and the same
 * whichever runs are on which, as the test demands.
 */
static int
choose_tested(struct function *fn, const struct matrix *mx, size_t function,
    double *scratch)
{
	const size_t most = mx->mx_few;
	double share = 0;
	size_t n = 0;

	for (size_t i = 0; i < mx->mx_n; i++)
		if (isfinite(mx->mx_total[i]))
			scratch[n++] = share_at(mx, function, i);
	prof_sort(scratch, n);
	for (size_t i = n - most; i < n; i++)
		share += scratch[i] / (double)most;
	fn->fn_is_tested = share >= TESTED_SHARE;
	return (fn->fn_is_tested);
}

static int
describe_all(struct prof_comparison *cp, const struct matrix *mx)
{
	const struct prof_change *total = &cp->cp_total.mt_change;
	double *scratch = calloc(mx->mx_n + 1, sizeof(*scratch));
	int rv = scratch == NULL ? -1 : 0;

	for (size_t f = 0; f < cp->cp_nfunctions && rv == 0; f++) {
		struct function *fn = &cp->cp_function[f];
		struct prof_change *cg = &fn->fn_change;

		prof_change_init(cg);
		cg->cg_name = fn->fn_name;
		cg->cg_module = fn->fn_module;
		cg->cg_state = fn->fn_state;
		cg->cg_presence[0] = fn->fn_presence[0];
		cg->cg_presence[1] = fn->fn_presence[1];
		rv = function_describe(cg, cp, mx, f);
		/* Of those that are not tested; else it is the test's own. */
		cg->cg_change = cp->cp_is_hosts ? NAN :
		    (cg->cg_mean[1] - cg->cg_mean[0]) / total->cg_mean[0];
		cg->cg_verdict = PROF_VERDICT_OPEN;
		if (rv == 0)
			cp->cp_ntested += (size_t)choose_tested(fn, mx, f,
			    scratch);
	}
	free(scratch);
	return (rv);
}

static int
functions_judge(struct prof_comparison *cp, const struct matrix *mx)
{
	const struct prof_change *total = &cp->cp_total.mt_change;
	double whole = total->cg_mean[0];
	struct family fm;
	int rv = prof_family_init(&fm, cp, ALPHA_FUNCTIONS, cp->cp_ntested);

	/* Few samples in a window bend a logarithm. */
	fm.fm_is_linear = cp->cp_is_hosts;
	if (rv == 0 && cp->cp_is_hosts)
		rv = prof_hosts_whole(cp, &whole);
	for (size_t f = 0; f < cp->cp_nfunctions && rv == 0; f++)
		if (cp->cp_function[f].fn_is_tested)
			prof_family_add(&fm, cp,
			    &cp->cp_function[f].fn_change, mx->mx_cost +
			    f * mx->mx_n, whole);
	if (rv == 0)
		rv = prof_family_judge(&fm, cp);
	if (cp->cp_is_hosts && fm.fm_nrows > 0)
		cp->cp_floor = fm.fm_family.fa_floor;
	prof_family_fini(&fm);
	for (size_t f = 0; f < cp->cp_nfunctions; f++)
		cp->cp_function[f].fn_change.cg_part =
		    cp->cp_function[f].fn_change.cg_change /
		    total->cg_change;
	return (rv);
}

/* -------------------------------------------------------------- order */

static int
by_change(const void *a, const void *b, void *arg)
{
	const struct prof_comparison *cp = arg;
	const struct prof_change *x =
	    &cp->cp_function[*(const uint32_t *)a].fn_change;
	const struct prof_change *y =
	    &cp->cp_function[*(const uint32_t *)b].fn_change;
	/* Those that are not known last. */
	const double dx = fmax(-1, fabs(x->cg_change));
	const double dy = fmax(-1, fabs(y->cg_change));
	int order;

	if (dx != dy)
		return (dx > dy ? -1 : 1);
	order = strcmp(x->cg_name, y->cg_name);
	if (order == 0)
		order = strcmp(x->cg_module, y->cg_module);
	return (order != 0 ? order : strcmp(x->cg_state, y->cg_state));
}

static int
sort_functions(struct prof_comparison *cp)
{
	cp->cp_sorted = calloc(cp->cp_nfunctions + 1, sizeof(uint32_t));
	if (cp->cp_sorted == NULL)
		return (-1);
	for (size_t f = 0; f < cp->cp_nfunctions; f++)
		cp->cp_sorted[f] = (uint32_t)f;
	qsort_r(cp->cp_sorted, cp->cp_nfunctions, sizeof(uint32_t), by_change,
	    cp);
	return (0);
}

int
prof_comparison_judge_functions(struct prof_comparison *cp)
{
	struct matrix mx;
	int rv = -1;

	if (cp->cp_ncosts == 0)
		return (0);
	if (matrix_init(&mx, cp) == 0 && describe_all(cp, &mx) == 0 &&
	    functions_judge(cp, &mx) == 0)
		rv = sort_functions(cp);
	matrix_fini(&mx);
	return (rv);
}
