/* SPDX-License-Identifier: ISC */
/*
 * Metrics of two sides of runs.  The first is what one asks about and has a
 * share of the errors for itself; all others, and the total over functions,
 * are one family.
 *
 * Called by comparison.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

/* The values of either side, next to each other. */
static int
metric_describe(struct prof_change *cg, const struct prof_comparison *cp,
    const double *values, double *apart)
{
	struct prof_summary summary;
	struct prof_rank_test rank;
	double *side[2] = { apart, apart + cp->cp_nruns }, t, df;
	size_t n[2] = { 0, 0 };

	for (int s = 0; s < 2; s++)
		n[s] = prof_side_values(cp, s, values, side[s]);
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
	/* Of runs too few for a test; else it is the test's own. */
	cg->cg_change = cp->cp_is_hosts ? NAN :
	    cg->cg_median[1] / cg->cg_median[0] - 1;
	if (cg->cg_median[0] == 0 && cg->cg_median[1] == 0 &&
	    !cp->cp_is_hosts)
		cg->cg_change = 0;
	return (0);
}

static int
describe_metric(struct prof_comparison *cp, struct metric *metric)
{
	struct prof_change *cg = &metric->mt_change;
	double *apart = calloc(2 * cp->cp_nruns + 1, sizeof(*apart));
	int rv;

	prof_change_init(cg);
	cg->cg_name = metric->mt_name;
	cg->cg_unit = metric->mt_unit;
	rv = apart == NULL ? -1 : metric_describe(cg, cp, metric->mt_value,
	    apart);
	free(apart);
	return (rv);
}

static struct metric *
metric_at(struct prof_comparison *cp, size_t n)
{
	return (n < cp->cp_nmetrics ? &cp->cp_metric[n] : &cp->cp_total);
}

/* Metrics from one number to before another. */
static int
judge_metrics(struct prof_comparison *cp, double alpha, size_t from,
    size_t to)
{
	struct family fm;
	int rv = prof_family_init(&fm, cp, alpha, to - from);

	for (size_t i = from; i < to && rv == 0; i++) {
		struct metric *metric = metric_at(cp, i);

		prof_family_add(&fm, cp, &metric->mt_change,
		    metric->mt_value, metric->mt_change.cg_mean[0]);
	}
	if (rv == 0)
		rv = prof_family_judge(&fm, cp);
	/* For the mean of several comparisons. */
	if (rv == 0 && from == 0 && fm.fm_nrows > 0) {
		cp->cp_floor = fm.fm_family.fa_floor;
		if (fm.fm_row[0].ro_is_log && !cp->cp_is_hosts) {
			cp->cp_errors = calloc(PROF_ERRORS, sizeof(double));
			rv = cp->cp_errors == NULL ? -1 : prof_test_errors(
			    &cp->cp_drawing.dw_design, fm.fm_value,
			    cp->cp_options.cp_seed, cp->cp_errors);
		}
	}
	prof_family_fini(&fm);
	return (rv);
}

/* In as many runs of base and new as the first metric, if not more. */
static bool
is_as_complete(const struct prof_comparison *cp, const struct metric *metric)
{
	const struct prof_change *first = &cp->cp_metric[0].mt_change;

	return (metric->mt_change.cg_n[0] >= first->cg_n[0] &&
	    metric->mt_change.cg_n[1] >= first->cg_n[1]);
}

/*
 * Wall time follows what else the machine does, and runs that were not
 * interleaved did not meet the same: there CPU time decides, if it is known.
 */
static void
put_cpu_first(struct prof_comparison *cp)
{
	for (size_t i = 1; i < cp->cp_nmetrics; i++) {
		const struct metric cpu = cp->cp_metric[i];

		if (strcmp(cpu.mt_name, "cpu") != 0 ||
		    !is_as_complete(cp, &cpu))
			continue;
		memmove(&cp->cp_metric[1], &cp->cp_metric[0],
		    i * sizeof(cp->cp_metric[0]));
		cp->cp_metric[0] = cpu;
		return;
	}
}

/* Whatever it does, it is not seen. */
static void
share_total(struct prof_comparison *cp)
{
	struct prof_change *cg = &cp->cp_total.mt_change;

	cg->cg_verdict = PROF_VERDICT_OPEN;
	cg->cg_change = cg->cg_p_rank = cg->cg_p_welch = cg->cg_delta = NAN;
}

int
prof_comparison_judge_metrics(struct prof_comparison *cp)
{
	const size_t n = cp->cp_nmetrics + (cp->cp_ncosts > 0);

	for (size_t i = 0; i < n; i++)
		if (describe_metric(cp, metric_at(cp, i)) == -1)
			return (-1);
	/* The sum of shares is always 1. */
	if (cp->cp_is_hosts && cp->cp_hosts.ph_is_share) {
		share_total(cp);
		return (0);
	}
	if (!cp->cp_is_drawn)
		put_cpu_first(cp);
	if (n > 0 && judge_metrics(cp, ALPHA_HEADLINE, 0, 1) == -1)
		return (-1);
	return (n > 1 ? judge_metrics(cp, ALPHA_METRICS, 1, n) : 0);
}

int
prof_comparison_geomean(struct prof_comparison *const *cp, size_t n,
    double *change, double ci95[2])
{
	double *off = calloc(PROF_ERRORS, sizeof(*off)), sum = 0, mean;
	struct prof_random random;
	size_t of = 0;

	*change = ci95[0] = ci95[1] = NAN;
	if (off == NULL)
		return (-1);
	prof_random_seed(&random, 1);
	for (size_t i = 0; i < n; i++) {
		const struct prof_change *cg = cp[i]->cp_nmetrics > 0 ?
		    &cp[i]->cp_metric[0].mt_change :
		    &cp[i]->cp_total.mt_change;

		if (cp[i]->cp_errors == NULL || !isfinite(cg->cg_change))
			continue;
		of++;
		sum += log1p(cg->cg_change);
		/* Errors of several runs are put together at random. */
		for (size_t b = 0; b < PROF_ERRORS; b++)
			off[b] += cp[i]->cp_errors[prof_random_below(&random,
			    PROF_ERRORS)];
	}
	if (of > 0) {
		mean = sum / (double)of;
		prof_sort(off, PROF_ERRORS);
		for (int end = 0; end < 2; end++)
			ci95[end] = expm1(mean - prof_quantile(off,
			    PROF_ERRORS, end == 0 ? 0.975 : 0.025) /
			    (double)of);
		*change = expm1(mean);
	}
	free(off);
	return ((int)of);
}
