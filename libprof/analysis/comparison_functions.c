/* SPDX-License-Identifier: ISC */
/*
 * Functions of two sides of runs.  What a function itself cost in each run
 * is tested, not its share: a share falls when another function grows.  Shares
 * are shown beside it, with a test of their own, because they do not mind
 * when the whole machine is slow.
 *
 * All functions of 0.1 % and more are tested in one go, with the same
 * arrangements; Holm's correction decides, the false-discovery rate is shown.
 * Called by comparison.c after the metrics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

/* Costs and shares of all functions in all runs that have any. */
struct matrix {
	struct drawing	 mx_drawing;
	size_t		 mx_n;		/* runs */
	uint32_t	*mx_place;	/* by run: its column */
	double		*mx_cost;	/* function * mx_n + column */
	double		*mx_total;	/* by column */
	double		*mx_row;	/* of those tested, in turn */
	uint32_t	*mx_tested;	/* which function a row is of */
	double		*mx_p;
};

static int
matrix_init(struct matrix *mx, const struct prof_comparison *cp)
{
	const size_t nf = cp->cp_nfunctions;

	memset(mx, 0, sizeof(*mx));
	if (prof_drawing_init(&mx->mx_drawing, cp, cp->cp_total.mt_value) ==
	    -1)
		return (-1);
	mx->mx_n = mx->mx_drawing.dw_design.dg_n;
	mx->mx_place = calloc(cp->cp_nruns, sizeof(*mx->mx_place));
	mx->mx_cost = calloc(nf, mx->mx_n * sizeof(*mx->mx_cost));
	mx->mx_total = calloc(mx->mx_n, sizeof(*mx->mx_total));
	mx->mx_tested = calloc(nf, sizeof(*mx->mx_tested));
	mx->mx_p = calloc(nf, sizeof(*mx->mx_p));
	if (mx->mx_place == NULL || mx->mx_cost == NULL ||
	    mx->mx_total == NULL || mx->mx_tested == NULL ||
	    mx->mx_p == NULL)
		return (-1);
	for (size_t i = 0; i < mx->mx_n; i++)
		mx->mx_place[mx->mx_drawing.dw_at[i]] = (uint32_t)i;
	for (size_t i = 0; i < cp->cp_ncosts; i++) {
		const struct cost *cs = &cp->cp_cost[i];
		const size_t at = mx->mx_place[cs->cs_run];

		/* A sum beyond all numbers: the run has no column. */
		if (!isfinite(cp->cp_total.mt_value[cs->cs_run]))
			continue;
		mx->mx_cost[cs->cs_function * mx->mx_n + at] += cs->cs_cost;
		mx->mx_total[at] += cs->cs_cost;
	}
	return (0);
}

static void
matrix_fini(struct matrix *mx)
{
	prof_drawing_fini(&mx->mx_drawing);
	free(mx->mx_place);
	free(mx->mx_cost);
	free(mx->mx_total);
	free(mx->mx_row);
	free(mx->mx_tested);
	free(mx->mx_p);
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
describe(struct prof_change *cg, const struct matrix *mx, size_t function)
{
	struct prof_summary summary;
	double *values = calloc(mx->mx_n + 1, sizeof(*values));
	int rv = values == NULL ? -1 : 0;

	for (int side = 0; side < 2 && rv == 0; side++) {
		double share = 0;
		size_t n = 0;

		for (size_t i = 0; i < mx->mx_n; i++) {
			if (mx->mx_drawing.dw_side[i] != side)
				continue;
			values[n++] = mx->mx_cost[function * mx->mx_n + i];
			share += share_at(mx, function, i);
		}
		rv = prof_summarize(values, n, &summary);
		cg->cg_n[side] = n;
		cg->cg_median[side] = summary.sm_median;
		cg->cg_mean[side] = summary.sm_mean;
		cg->cg_share[side] = n > 0 ? share / (double)n : NAN;
	}
	free(values);
	return (rv);
}

static int
describe_all(struct prof_comparison *cp, const struct matrix *mx)
{
	const struct prof_change *total = &cp->cp_total.mt_change;
	const double apart = total->cg_mean[1] - total->cg_mean[0];

	for (size_t f = 0; f < cp->cp_nfunctions; f++) {
		struct function *fn = &cp->cp_function[f];
		struct prof_change *cg = &fn->fn_change;
		double diff;

		prof_change_init(cg);
		cg->cg_name = fn->fn_name;
		cg->cg_module = fn->fn_module;
		cg->cg_presence[0] = fn->fn_presence[0];
		cg->cg_presence[1] = fn->fn_presence[1];
		if (describe(cg, mx, f) == -1)
			return (-1);
		diff = cg->cg_mean[1] - cg->cg_mean[0];
		cg->cg_change = diff / total->cg_mean[0];
		cg->cg_part = diff / apart;
		fn->fn_is_tested = cg->cg_share[0] >= TESTED_SHARE ||
		    cg->cg_share[1] >= TESTED_SHARE;
	}
	return (0);
}

/* ------------------------------------------------------------- tests */

static int
pick_tested(struct prof_comparison *cp, struct matrix *mx)
{
	for (size_t f = 0; f < cp->cp_nfunctions; f++)
		if (cp->cp_function[f].fn_is_tested)
			mx->mx_tested[cp->cp_ntested++] = (uint32_t)f;
	mx->mx_row = calloc(cp->cp_ntested + 1,
	    (mx->mx_n + 1) * sizeof(*mx->mx_row));
	return (mx->mx_row == NULL ? -1 : 0);
}

static struct prof_change *
tested(struct prof_comparison *cp, const struct matrix *mx, size_t row)
{
	return (&cp->cp_function[mx->mx_tested[row]].fn_change);
}

/* Shares first: what is left in the rows are costs. */
static int
test_all(struct prof_comparison *cp, struct matrix *mx)
{
	const struct prof_design *dg = &mx->mx_drawing.dw_design;
	const uint64_t seed = cp->cp_options.cp_seed;
	const size_t n = mx->mx_n, m = cp->cp_ntested;
	int is_exact;

	for (size_t r = 0; r < m; r++)
		for (size_t i = 0; i < n; i++)
			mx->mx_row[r * n + i] = share_at(mx,
			    mx->mx_tested[r], i);
	if (prof_permute(dg, mx->mx_row, m, seed, mx->mx_p) == -1)
		return (-1);
	for (size_t r = 0; r < m; r++)
		tested(cp, mx, r)->cg_p_share = mx->mx_p[r];
	for (size_t r = 0; r < m; r++)
		memcpy(mx->mx_row + r * n, mx->mx_cost + mx->mx_tested[r] * n,
		    n * sizeof(*mx->mx_row));
	if ((is_exact = prof_permute(dg, mx->mx_row, m, seed, mx->mx_p)) ==
	    -1)
		return (-1);
	for (size_t r = 0; r < m; r++) {
		tested(cp, mx, r)->cg_p = mx->mx_p[r];
		tested(cp, mx, r)->cg_is_exact = is_exact;
	}
	return (0);
}

static int
correct_all(struct prof_comparison *cp, struct matrix *mx)
{
	const size_t m = cp->cp_ntested;
	double *adjusted = calloc(m + 1, sizeof(*adjusted));

	if (adjusted == NULL || prof_holm(mx->mx_p, m, adjusted) == -1)
		goto fail;
	for (size_t r = 0; r < m; r++)
		tested(cp, mx, r)->cg_p_holm = adjusted[r];
	if (prof_benjamini_hochberg(mx->mx_p, m, adjusted) == -1)
		goto fail;
	for (size_t r = 0; r < m; r++)
		tested(cp, mx, r)->cg_q = adjusted[r];
	free(adjusted);
	return (0);
fail:
	free(adjusted);
	return (-1);
}

static int
intervals(struct prof_comparison *cp, const struct matrix *mx)
{
	const struct prof_change *total = &cp->cp_total.mt_change;
	const size_t least = total->cg_n[0] < total->cg_n[1] ?
	    total->cg_n[0] : total->cg_n[1];
	double *replicates = calloc(PROF_RESAMPLES, sizeof(*replicates));
	int rv = replicates == NULL ? -1 : 0;

	for (size_t r = 0; r < cp->cp_ntested && rv == 0; r++) {
		struct prof_change *cg = tested(cp, mx, r);

		if (least < PROF_MIN_RUNS)
			break;
		rv = prof_bootstrap(&mx->mx_drawing.dw_design,
		    mx->mx_row + r * mx->mx_n, PROF_BOOTSTRAP_MEANS,
		    cp->cp_options.cp_seed, replicates);
		prof_bootstrap_interval(replicates, least, cg->cg_ci95);
		cg->cg_ci95[0] /= total->cg_mean[0];
		cg->cg_ci95[1] /= total->cg_mean[0];
		if (cp->cp_options.cp_progress != NULL &&
		    cp->cp_options.cp_progress(cp->cp_options.cp_arg,
		    (double)r / (double)cp->cp_ntested) != 0)
			break;
	}
	free(replicates);
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
	const double dx = fabs(x->cg_mean[1] - x->cg_mean[0]);
	const double dy = fabs(y->cg_mean[1] - y->cg_mean[0]);
	int order;

	if (dx != dy)
		return (dx > dy ? -1 : 1);
	order = strcmp(x->cg_name, y->cg_name);
	return (order != 0 ? order : strcmp(x->cg_module, y->cg_module));
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
	struct rule rule = {
		.ru_alpha = ALPHA_FUNCTIONS /
		    (double)cp->cp_options.cp_family,
		.ru_same = cp->cp_options.cp_threshold,
		.ru_least = LEAST_CHANGE,
	};
	struct matrix mx;
	int rv = -1;

	if (cp->cp_ncosts == 0)
		return (0);
	if (matrix_init(&mx, cp) == -1 || describe_all(cp, &mx) == -1 ||
	    pick_tested(cp, &mx) == -1 || test_all(cp, &mx) == -1 ||
	    correct_all(cp, &mx) == -1 || intervals(cp, &mx) == -1)
		goto out;
	rule.ru_family = cp->cp_ntested;
	for (size_t r = 0; r < cp->cp_ntested; r++)
		prof_change_decide(tested(cp, &mx, r), &rule);
	/* Of the others too little was seen. */
	for (size_t f = 0; f < cp->cp_nfunctions; f++)
		if (!cp->cp_function[f].fn_is_tested)
			cp->cp_function[f].fn_change.cg_verdict =
			    PROF_VERDICT_OPEN;
	rv = sort_functions(cp);
out:
	matrix_fini(&mx);
	return (rv);
}
