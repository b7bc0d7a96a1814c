/* SPDX-License-Identifier: ISC */
/*
 * From a family of tests to changes: p, interval and verdict of each row come
 * from one test (statistics_family.c), so they never contradict each other.
 *
 *	less, more	the adjusted p is small: the interval is on one side of
 *			0
 *	no change	the whole interval is within the threshold
 *	inconclusive	neither: then about how many runs it would take
 *
 * That a p is not small never means "no change".  Called for metrics by
 * metrics.c, for functions by functions.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

#define FOREVER		1e6	/* runs; nobody makes more */
#define NORMAL_DF	1e9	/* Student's t with so many is normal */
#define LEAST_SPACE	0.0025	/* of the whole: what runs_needed aims at */

/* --------------------------------------------------------------- drawing */

/* Hosts of a kind stand together, and windows of a host in order. */
static int
by_host(const struct prof_comparison *cp, const struct run *x,
    const struct run *y)
{
	if (!cp->cp_hosts.ph_is_paired && x->rn_kind != y->rn_kind)
		return (x->rn_kind < y->rn_kind ? -1 : 1);
	if (x->rn_host != y->rn_host)
		return (x->rn_host < y->rn_host ? -1 : 1);
	return ((x->rn_window > y->rn_window) -
	    (x->rn_window < y->rn_window));
}

/*
 * Runs whose order was drawn stand as they were made; others by side, in the
 * order in which they were given, so that whoever gives them in whatever
 * order gets the same answers.
 */
static int
by_time(const void *a, const void *b, void *arg)
{
	const struct prof_comparison *cp = arg;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct run *x = &cp->cp_run[i], *y = &cp->cp_run[j];

	if (cp->cp_is_hosts)
		return (by_host(cp, x, y));
	if (cp->cp_is_drawn && x->rn_block != y->rn_block)
		return (x->rn_block < y->rn_block ? -1 : 1);
	if (cp->cp_is_drawn && x->rn_place != y->rn_place)
		return (x->rn_place < y->rn_place ? -1 : 1);
	if (x->rn_side != y->rn_side)
		return (x->rn_side < y->rn_side ? -1 : 1);
	return ((i > j) - (i < j));
}

/*
 * A window with more work is the surer: chance in taking samples is most of
 * what differs.  Against other windows of its host alone: large hosts do not
 * count for more, and orders stay as likely as they were.
 */
static int
roots_draw(struct drawing *dw, const struct prof_comparison *cp)
{
	double *sum = cp->cp_of_host, *n = cp->cp_of_host + cp->cp_nhosts;

	dw->dw_root = calloc(cp->cp_nruns + 1, sizeof(*dw->dw_root));
	if (dw->dw_root == NULL)
		return (-1);
	memset(sum, 0, 2 * cp->cp_nhosts * sizeof(*sum));
	for (size_t i = 0; i < cp->cp_nruns; i++) {
		sum[cp->cp_run[i].rn_host] += cp->cp_run[i].rn_units;
		n[cp->cp_run[i].rn_host]++;
	}
	for (size_t i = 0; i < cp->cp_nruns; i++) {
		const struct run *run = &cp->cp_run[dw->dw_at[i]];

		dw->dw_root[i] = sqrt(run->rn_units * n[run->rn_host] /
		    sum[run->rn_host]);
	}
	dw->dw_design.dg_root = dw->dw_root;
	return (0);
}

/* Levels, windows and groups, of runs in order. */
static int
hosts_draw(struct drawing *dw, const struct prof_comparison *cp)
{
	const bool is_paired = cp->cp_hosts.ph_is_paired;
	const size_t n = cp->cp_nruns;

	dw->dw_level = calloc(n + 1, sizeof(*dw->dw_level));
	dw->dw_window = calloc(n + 1, sizeof(*dw->dw_window));
	dw->dw_group = calloc(n + 1, sizeof(*dw->dw_group));
	if (dw->dw_level == NULL || dw->dw_window == NULL ||
	    dw->dw_group == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++) {
		const struct run *run = &cp->cp_run[dw->dw_at[i]];

		dw->dw_block[i] = run->rn_host;
		dw->dw_window[i] = run->rn_window;
		dw->dw_level[i] = is_paired ? run->rn_host : run->rn_kind;
		dw->dw_group[i] = is_paired ? 0 : run->rn_kind;
	}
	dw->dw_design.dg_level = dw->dw_level;
	dw->dw_design.dg_window = dw->dw_window;
	dw->dw_design.dg_group = dw->dw_group;
	return (cp->cp_has_units ? roots_draw(dw, cp) : 0);
}

int
prof_drawing_init(struct prof_comparison *cp)
{
	struct drawing *dw = &cp->cp_drawing;
	const size_t n = cp->cp_nruns;

	dw->dw_side = calloc(n + 1, sizeof(*dw->dw_side));
	dw->dw_block = calloc(n + 1, sizeof(*dw->dw_block));
	dw->dw_time = calloc(n + 1, sizeof(*dw->dw_time));
	dw->dw_at = calloc(n + 1, sizeof(*dw->dw_at));
	if (dw->dw_side == NULL || dw->dw_block == NULL ||
	    dw->dw_time == NULL || dw->dw_at == NULL)
		return (-1);
	cp->cp_is_drawn = n > 0;
	for (size_t i = 0; i < n; i++) {
		dw->dw_at[i] = (uint32_t)i;
		if (cp->cp_run[i].rn_place < 0)
			cp->cp_is_drawn = false;
	}
	qsort_r(dw->dw_at, n, sizeof(*dw->dw_at), by_time, cp);
	for (size_t i = 0; i < n; i++) {
		const struct run *run = &cp->cp_run[dw->dw_at[i]];

		dw->dw_side[i] = (uint8_t)run->rn_side;
		dw->dw_block[i] = cp->cp_is_drawn ? run->rn_block : 0;
		dw->dw_time[i] = (double)run->rn_place;
	}
	dw->dw_design = (struct prof_design){ .dg_n = n,
	    .dg_side = dw->dw_side, .dg_block = dw->dw_block,
	    .dg_time = cp->cp_is_drawn ? dw->dw_time : NULL };
	return (cp->cp_is_hosts ? hosts_draw(dw, cp) : 0);
}

void
prof_drawing_fini(struct drawing *dw)
{
	free(dw->dw_side);
	free(dw->dw_block);
	free(dw->dw_time);
	free(dw->dw_at);
	free(dw->dw_level);
	free(dw->dw_window);
	free(dw->dw_group);
	free(dw->dw_root);
}

void
prof_change_init(struct prof_change *cg)
{
	memset(cg, 0, sizeof(*cg));
	cg->cg_name = cg->cg_module = cg->cg_unit = cg->cg_state = "";
	for (int side = 0; side < 2; side++)
		cg->cg_median[side] = cg->cg_mean[side] = cg->cg_ci95[side] =
		    cg->cg_share[side] = NAN;
	cg->cg_change = cg->cg_p = cg->cg_p_adjusted = NAN;
	cg->cg_p_rank = cg->cg_p_welch = cg->cg_delta = NAN;
	cg->cg_smallest = cg->cg_part = NAN;
}

/* ----------------------------------------------------------- verdict */

/* Of unequal sides: so many runs a side would say as much. */
static double
runs_a_side(const struct prof_change *cg)
{
	return (2 / (1 / (double)cg->cg_n[0] + 1 / (double)cg->cg_n[1]));
}

/*
 * The interval narrows with the root of the number of runs.  It must shrink
 * until it has 0 no more, or lies within the threshold, whichever is nearer.
 * Where the change is nothing, or as large as the threshold, no number of
 * runs decides: then as for a quarter of the threshold beside it.
 */
static double
runs_for_interval(const struct prof_change *cg, double threshold)
{
	const double half = (cg->cg_ci95[1] - cg->cg_ci95[0]) / 2;
	const double size = fabs(cg->cg_change);
	const double space = fmax(fmax(size, threshold - size),
	    threshold > 0 ? threshold / 4 : LEAST_SPACE);

	return (runs_a_side(cg) * (half / space) * (half / space));
}

/* And p with it: in units of the normal distribution. */
static double
runs_for_p(const struct prof_change *cg, double alpha)
{
	double seen, needed;

	if (!(cg->cg_p_adjusted < 0.5) || cg->cg_p_adjusted <= alpha)
		return (0);
	seen = prof_t_quantile(1 - cg->cg_p_adjusted / 2, NORMAL_DF);
	needed = prof_t_quantile(1 - alpha / 2, NORMAL_DF);
	return (runs_a_side(cg) * (needed / seen) * (needed / seen));
}

static bool
has_runs(const struct prof_change *cg)
{
	return (cg->cg_n[0] >= PROF_MIN_RUNS && cg->cg_n[1] >= PROF_MIN_RUNS);
}

static void
change_decide(struct prof_change *cg, const struct prof_effect *ef,
    double alpha, double threshold)
{
	double runs;

	if (ef->ef_is_sure)
		cg->cg_verdict = ef->ef_shift > 0 ? PROF_VERDICT_MORE :
		    PROF_VERDICT_LESS;
	else if (cg->cg_ci95[0] >= -threshold && cg->cg_ci95[1] <= threshold)
		cg->cg_verdict = PROF_VERDICT_SAME;
	else
		cg->cg_verdict = PROF_VERDICT_OPEN;
	/* Found in four of five trials: 1.96 and 0.84 standard errors. */
	cg->cg_smallest = (cg->cg_ci95[1] - cg->cg_ci95[0]) / 2 * 2.8 / 1.96;
	/* Without an interval nothing can be said of more runs. */
	if (cg->cg_verdict != PROF_VERDICT_OPEN || isnan(cg->cg_ci95[0]))
		return;
	runs = fmax(runs_for_interval(cg, threshold), runs_for_p(cg, alpha));
	if (!(runs < FOREVER))
		runs = FOREVER;
	cg->cg_runs_needed = (size_t)ceil(fmax(runs, runs_a_side(cg) + 1));
}

/* ------------------------------------------------------------- families */

int
prof_family_init(struct family *fm, const struct prof_comparison *cp,
    double alpha, size_t nrows)
{
	memset(fm, 0, sizeof(*fm));
	fm->fm_family.fa_alpha = alpha / (double)cp->cp_options.cp_family;
	fm->fm_family.fa_seed = cp->cp_options.cp_seed;
	fm->fm_row = calloc(nrows + 1, sizeof(*fm->fm_row));
	fm->fm_value = calloc(nrows + 1, (cp->cp_nruns + 1) *
	    sizeof(*fm->fm_value));
	return (fm->fm_row == NULL || fm->fm_value == NULL ? -1 : 0);
}

void
prof_family_fini(struct family *fm)
{
	free(fm->fm_row);
	free(fm->fm_value);
}

/*
 * Ratios are what matters, and a logarithm turns them into differences; where
 * some run has nothing there is none.  Decided by all runs alike, whatever
 * their side, as the test demands.
 */
void
prof_family_add(struct family *fm, const struct prof_comparison *cp,
    struct prof_change *cg, const double *values, double whole)
{
	struct row *ro = &fm->fm_row[fm->fm_nrows];
	double *to = fm->fm_value + fm->fm_nrows * cp->cp_nruns;

	/* Too few to claim anything: they take no part. */
	if (!has_runs(cg)) {
		cg->cg_verdict = PROF_VERDICT_FEW;
		cg->cg_runs_needed = PROF_MIN_RUNS;
		return;
	}
	fm->fm_nrows++;
	ro->ro_change = cg;
	ro->ro_is_log = !fm->fm_is_linear;
	for (size_t i = 0; i < cp->cp_nruns; i++) {
		to[i] = values[cp->cp_drawing.dw_at[i]];
		if (isfinite(to[i]) && !(to[i] > 0))
			ro->ro_is_log = false;
	}
	for (size_t i = 0; i < cp->cp_nruns && ro->ro_is_log; i++)
		to[i] = isfinite(to[i]) ? log(to[i]) : NAN;
	ro->ro_factor = (ro->ro_is_log ? cg->cg_mean[0] : 1) / fabs(whole);
	ro->ro_least = -cg->cg_mean[0] / fabs(whole);
}

/* A shift as a change of the whole; a cost falls by no more than all of it. */
static double
change_of(const struct row *ro, double shift)
{
	if (shift == 0 || isnan(shift))
		return (shift);
	return (fmax(ro->ro_least, ro->ro_factor * (ro->ro_is_log ?
	    expm1(shift) : shift)));
}

int
prof_family_judge(struct family *fm, const struct prof_comparison *cp)
{
	struct prof_effect *effects = calloc(fm->fm_nrows + 1,
	    sizeof(*effects));

	if (effects == NULL || prof_test_family(&cp->cp_drawing.dw_design,
	    fm->fm_value, fm->fm_nrows, &fm->fm_family, effects) == -1) {
		free(effects);
		return (-1);
	}
	for (size_t r = 0; r < fm->fm_nrows; r++) {
		const struct row *ro = &fm->fm_row[r];
		const struct prof_effect *ef = &effects[r];
		struct prof_change *cg = ro->ro_change;

		cg->cg_p = ef->ef_p;
		cg->cg_p_adjusted = ef->ef_adjusted;
		cg->cg_is_exact = fm->fm_family.fa_is_exact;
		cg->cg_change = change_of(ro, ef->ef_shift);
		for (int end = 0; end < 2; end++)
			cg->cg_ci95[end] = change_of(ro,
			    ef->ef_interval[end]);
		if (!isfinite(cg->cg_ci95[0]) || !isfinite(cg->cg_ci95[1]))
			cg->cg_ci95[0] = cg->cg_ci95[1] = NAN;
		change_decide(cg, ef, fm->fm_family.fa_alpha,
		    cp->cp_options.cp_threshold);
	}
	free(effects);
	return (0);
}
