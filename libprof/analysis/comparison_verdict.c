/* SPDX-License-Identifier: ISC */
/*
 * Metrics of two sides of runs: how far apart, how surely, and the verdict.
 *
 *	changed		the interval lies beyond the threshold, and p, corrected
 *			for all that was looked at, is small
 *	the same	the interval lies within the threshold
 *	inconclusive	neither: then how many runs it would take, about
 *
 * That a p is not small never means "the same".  Called by comparison.c;
 * functions use the same rules (comparison_functions.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

#define FOREVER		1e6	/* runs; nobody makes more */
#define NORMAL_DF	1e9	/* Student's t with so many is normal */

/* The order in which a sort must bring runs. */
struct place {
	uint32_t	pl_block;
	uint32_t	pl_run;
};

static int
by_block(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->pl_block != y->pl_block)
		return (x->pl_block < y->pl_block ? -1 : 1);
	return ((x->pl_run > y->pl_run) - (x->pl_run < y->pl_run));
}

static int
drawing_alloc(struct drawing *dw, size_t n)
{
	memset(dw, 0, sizeof(*dw));
	dw->dw_side = calloc(n + 1, sizeof(*dw->dw_side));
	dw->dw_block = calloc(n + 1, sizeof(*dw->dw_block));
	dw->dw_at = calloc(n + 1, sizeof(*dw->dw_at));
	return (dw->dw_side == NULL || dw->dw_block == NULL ||
	    dw->dw_at == NULL ? -1 : 0);
}

int
prof_drawing_init(struct drawing *dw, const struct prof_comparison *cp,
    const double *values)
{
	struct place *places;
	size_t n = 0;

	places = calloc(cp->cp_nruns + 1, sizeof(*places));
	if (drawing_alloc(dw, cp->cp_nruns) == -1 || places == NULL) {
		free(places);
		return (-1);
	}
	for (size_t i = 0; i < cp->cp_nruns; i++)
		if (isfinite(values[i]))
			places[n++] = (struct place){ cp->cp_run[i].rn_block,
			    (uint32_t)i };
	if (n > 1)
		qsort(places, n, sizeof(*places), by_block);
	for (size_t i = 0; i < n; i++) {
		const struct run *run = &cp->cp_run[places[i].pl_run];

		dw->dw_at[i] = places[i].pl_run;
		dw->dw_block[i] = run->rn_block;
		dw->dw_side[i] = (uint8_t)run->rn_side;
		dw->dw_nside[run->rn_side]++;
	}
	dw->dw_design = (struct prof_design){ n, dw->dw_side, dw->dw_block };
	free(places);
	return (0);
}

void
prof_drawing_fini(struct drawing *dw)
{
	free(dw->dw_side);
	free(dw->dw_block);
	free(dw->dw_at);
}

void
prof_change_init(struct prof_change *cg)
{
	memset(cg, 0, sizeof(*cg));
	cg->cg_name = cg->cg_module = cg->cg_unit = "";
	for (int side = 0; side < 2; side++)
		cg->cg_median[side] = cg->cg_mean[side] = cg->cg_ci95[side] =
		    cg->cg_share[side] = NAN;
	cg->cg_change = cg->cg_p = cg->cg_p_holm = cg->cg_q = NAN;
	cg->cg_p_rank = cg->cg_p_welch = cg->cg_delta = NAN;
	cg->cg_smallest = cg->cg_p_share = cg->cg_part = NAN;
}

/* ----------------------------------------------------------- verdict */

/* Of unequal sides: so many runs a side would say as much. */
static double
runs_a_side(const struct prof_change *cg)
{
	return (2 / (1 / (double)cg->cg_n[0] + 1 / (double)cg->cg_n[1]));
}

/*
 * The interval narrows with the root of the number of runs; it must shrink
 * until it no longer touches the border nearest to the estimate.  Where the
 * estimate lies on a border no number of runs decides: then as for a
 * quarter of the threshold beside it.
 */
static double
runs_for_interval(const struct prof_change *cg, const struct rule *rule)
{
	const double half = (cg->cg_ci95[1] - cg->cg_ci95[0]) / 2;
	const double size = fabs(cg->cg_change);
	double room = fabs(size - rule->ru_beyond);

	if (size < rule->ru_same)
		room = fmax(room, rule->ru_same - size);
	room = fmax(room, rule->ru_same / 4);
	return (runs_a_side(cg) * (half / room) * (half / room));
}

/* And p with it: the corrected limit, in units of the normal distribution. */
static double
runs_for_p(const struct prof_change *cg, const struct rule *rule)
{
	const double limit = rule->ru_alpha / (double)rule->ru_family;
	double seen, needed;

	if (!(cg->cg_p < 0.2) || cg->cg_p_holm <= rule->ru_alpha)
		return (0);
	seen = prof_t_quantile(1 - cg->cg_p / 2, NORMAL_DF);
	needed = prof_t_quantile(1 - limit / 2, NORMAL_DF);
	return (runs_a_side(cg) * (needed / seen) * (needed / seen));
}

static enum prof_verdict
verdict_of(const struct prof_change *cg, const struct rule *rule)
{
	const double low = cg->cg_ci95[0], high = cg->cg_ci95[1];
	const bool is_sure = cg->cg_p_holm <= rule->ru_alpha;

	if (cg->cg_n[0] < PROF_MIN_RUNS || cg->cg_n[1] < PROF_MIN_RUNS)
		return (PROF_VERDICT_FEW);
	/* From nothing to something: no ratio, but a difference. */
	if (isnan(cg->cg_change) || isinf(cg->cg_change))
		return (!is_sure ? PROF_VERDICT_OPEN :
		    cg->cg_mean[1] > cg->cg_mean[0] ? PROF_VERDICT_MORE :
		    PROF_VERDICT_LESS);
	if (is_sure && fabs(cg->cg_change) >= rule->ru_least) {
		if (low > rule->ru_beyond)
			return (PROF_VERDICT_MORE);
		if (high < -rule->ru_beyond)
			return (PROF_VERDICT_LESS);
	}
	if (low >= -rule->ru_same && high <= rule->ru_same)
		return (PROF_VERDICT_SAME);
	return (PROF_VERDICT_OPEN);
}

void
prof_change_decide(struct prof_change *cg, const struct rule *rule)
{
	double runs;

	cg->cg_verdict = verdict_of(cg, rule);
	/* Found in four of five trials: 1.96 and 0.84 standard errors. */
	cg->cg_smallest = rule->ru_beyond +
	    (cg->cg_ci95[1] - cg->cg_ci95[0]) / 2 * 2.8 / 1.96;
	if (cg->cg_verdict == PROF_VERDICT_FEW)
		cg->cg_runs_needed = PROF_MIN_RUNS;
	/* Without an interval nothing can be said of more runs. */
	if (cg->cg_verdict != PROF_VERDICT_OPEN || isnan(cg->cg_ci95[0]))
		return;
	runs = fmax(runs_for_interval(cg, rule), runs_for_p(cg, rule));
	if (!(runs < FOREVER))
		runs = FOREVER;
	cg->cg_runs_needed = (size_t)ceil(fmax(runs, runs_a_side(cg) + 1));
}

/* ----------------------------------------------------------- metrics */

/* The values of either side, next to each other. */
static int
describe(struct prof_change *cg, const struct drawing *dw,
    const double *values, double *apart)
{
	struct prof_summary summary;
	struct prof_rank_test rank;
	double *side[2] = { apart, apart + dw->dw_nside[0] }, t, df;
	size_t n[2] = { 0, 0 };

	for (size_t i = 0; i < dw->dw_design.dg_n; i++) {
		const int s = dw->dw_side[i];

		side[s][n[s]++] = values[i];
	}
	for (int s = 0; s < 2; s++) {
		cg->cg_n[s] = n[s];
		if (n[s] == 0)
			continue;
		if (prof_summarize(side[s], n[s], &summary) == -1)
			return (-1);
		cg->cg_median[s] = summary.sm_median;
		cg->cg_mean[s] = summary.sm_mean;
	}
	if (prof_rank_test(side[0], n[0], side[1], n[1], &rank) == -1)
		return (-1);
	cg->cg_p_rank = rank.rt_p;
	cg->cg_delta = rank.rt_delta;
	cg->cg_p_welch = prof_welch(side[0], n[0], side[1], n[1], &t, &df);
	cg->cg_change = cg->cg_median[1] / cg->cg_median[0] - 1;
	if (cg->cg_median[0] == 0 && cg->cg_median[1] == 0)
		cg->cg_change = 0;
	return (0);
}

/* Ratios are what matters; a logarithm turns them into differences. */
static void
logarithms(const double *values, size_t n, double *logs)
{
	bool all = true;

	for (size_t i = 0; i < n; i++)
		all = all && values[i] > 0;
	for (size_t i = 0; i < n; i++)
		logs[i] = all ? log(values[i]) : values[i];
}

static int
interval_of(struct prof_comparison *cp, struct prof_change *cg,
    const struct drawing *dw, const double *values, bool is_first)
{
	const size_t least = cg->cg_n[0] < cg->cg_n[1] ? cg->cg_n[0] :
	    cg->cg_n[1];
	double *replicates;

	if (least < PROF_MIN_RUNS)
		return (0);
	/* No ratio to nothing; but where nobody has any, that is sure. */
	if (cg->cg_median[0] == 0) {
		if (cg->cg_mean[0] == 0 && cg->cg_mean[1] == 0)
			cg->cg_ci95[0] = cg->cg_ci95[1] = 0;
		return (0);
	}
	replicates = reallocarray(NULL, PROF_RESAMPLES, sizeof(*replicates));
	if (replicates == NULL || prof_bootstrap(&dw->dw_design, values,
	    PROF_BOOTSTRAP_MEDIANS, cp->cp_options.cp_seed, replicates) ==
	    -1) {
		free(replicates);
		return (-1);
	}
	prof_bootstrap_interval(replicates, least, cg->cg_ci95);
	cg->cg_ci95[0] -= 1;
	cg->cg_ci95[1] -= 1;
	if (is_first)
		cp->cp_replicates = replicates;
	else
		free(replicates);
	return (0);
}

static int
judge(struct prof_comparison *cp, struct metric *metric, bool is_first)
{
	struct prof_change *cg = &metric->mt_change;
	struct drawing dw;
	double *values = NULL, *other = NULL;
	int rv = -1;
	size_t n;

	prof_change_init(cg);
	cg->cg_name = metric->mt_name;
	cg->cg_unit = metric->mt_unit;
	if (prof_drawing_init(&dw, cp, metric->mt_value) == -1)
		goto out;
	n = dw.dw_design.dg_n;
	values = calloc(n + 1, sizeof(*values));
	other = calloc(n + 1, sizeof(*other));
	if (values == NULL || other == NULL)
		goto out;
	for (size_t i = 0; i < n; i++)
		values[i] = metric->mt_value[dw.dw_at[i]];
	if (describe(cg, &dw, values, other) == -1 ||
	    interval_of(cp, cg, &dw, values, is_first) == -1)
		goto out;
	rv = 0;
	if (cg->cg_n[0] < 2 || cg->cg_n[1] < 2)
		goto out;
	logarithms(values, n, other);
	cg->cg_is_exact = prof_permute(&dw.dw_design, other, 1,
	    cp->cp_options.cp_seed, &cg->cg_p);
	rv = cg->cg_is_exact == -1 ? -1 : 0;
out:
	free(values);
	free(other);
	prof_drawing_fini(&dw);
	return (rv);
}

static struct prof_change *
change_at(struct prof_comparison *cp, size_t n)
{
	return (n < cp->cp_nmetrics ? &cp->cp_metric[n].mt_change :
	    &cp->cp_total.mt_change);
}

/* All values alike: nothing that chance could have dealt otherwise. */
static bool
is_constant(const struct prof_change *cg)
{
	return (isnan(cg->cg_p) || (cg->cg_p == 1 && cg->cg_change == 0 &&
	    cg->cg_p_rank == 1 && isnan(cg->cg_p_welch)));
}

/*
 * The first metric is what one asks about, and has a share of the errors for
 * itself; all others, and the total, are one family of tests.
 */
static int
correct(struct prof_comparison *cp)
{
	const size_t n = cp->cp_nmetrics + (cp->cp_ncosts > 0);
	const double same = cp->cp_options.cp_threshold;
	const double family = (double)cp->cp_options.cp_family;
	struct rule rule = { ALPHA_METRICS / family, same, same, 0, 0 };
	const struct rule first = { ALPHA_HEADLINE / family, same, same, 0,
	    1 };
	double *p = calloc(n + 1, sizeof(*p));
	size_t m = 0;

	if (p == NULL)
		return (-1);
	for (size_t i = 1; i < n; i++)
		if (!is_constant(change_at(cp, i)))
			p[m++] = change_at(cp, i)->cg_p;
	if (prof_holm(p, m, p) == -1) {
		free(p);
		return (-1);
	}
	rule.ru_family = m > 0 ? m : 1;
	for (size_t i = 0, k = 0; i < n; i++) {
		struct prof_change *cg = change_at(cp, i);

		cg->cg_p_holm = i == 0 || is_constant(cg) ? cg->cg_p : p[k++];
		prof_change_decide(cg, i == 0 ? &first : &rule);
	}
	free(p);
	return (0);
}

int
prof_comparison_judge_metrics(struct prof_comparison *cp)
{
	for (size_t i = 0; i < cp->cp_nmetrics; i++)
		if (judge(cp, &cp->cp_metric[i], i == 0) == -1)
			return (-1);
	if (cp->cp_ncosts > 0 && judge(cp, &cp->cp_total,
	    cp->cp_nmetrics == 0) == -1)
		return (-1);
	return (correct(cp));
}

int
prof_comparison_geomean(struct prof_comparison *const *cp, size_t n,
    double *change, double ci95[2])
{
	double *mean = calloc(PROF_RESAMPLES, sizeof(*mean)), sum = 0;
	size_t least = SIZE_MAX, of = 0;
	struct prof_random random;

	*change = ci95[0] = ci95[1] = NAN;
	if (mean == NULL)
		return (-1);
	prof_random_seed(&random, 1);
	for (size_t i = 0; i < n; i++) {
		const struct prof_change *cg = cp[i]->cp_nmetrics > 0 ?
		    &cp[i]->cp_metric[0].mt_change :
		    &cp[i]->cp_total.mt_change;

		if (cp[i]->cp_replicates == NULL)
			continue;
		of++;
		sum += log1p(cg->cg_change);
		for (int s = 0; s < 2; s++)
			least = cg->cg_n[s] < least ? cg->cg_n[s] : least;
		/* Sorted: one of each is drawn, so that luck evens out. */
		for (size_t b = 0; b < PROF_RESAMPLES; b++)
			mean[b] += log(cp[i]->cp_replicates[
			    prof_random_below(&random, PROF_RESAMPLES)]);
	}
	if (of > 0) {
		for (size_t b = 0; b < PROF_RESAMPLES; b++)
			mean[b] = exp(mean[b] / (double)of) - 1;
		prof_sort(mean, PROF_RESAMPLES);
		prof_bootstrap_interval(mean, least, ci95);
		*change = exp(sum / (double)of) - 1;
	}
	free(mean);
	return (0);
}
