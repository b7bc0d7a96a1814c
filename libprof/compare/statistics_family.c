/* SPDX-License-Identifier: ISC */
/*
 * The one test of comparisons, differential graphs and bench: does the side
 * matter, of many quantities measured in the same runs?
 *
 * Each quantity is regressed on its side and on linear time; what hosts did in
 * windows of time, on side, host and window, where runs may have weights: then
 * values and sides are multiplied by their roots.  The statistic is |t| of the
 * side; for one order of the runs it grows with the correlation r between side
 * and value, both without mean and time, so r is what is computed here.  p is
 * the share of all orders that could have been in which it would be as large:
 * if the side does not matter, the values would have been the same in any
 * order, whatever noise or drift they have.
 *
 * Over a family the largest statistic is what counts (maxT, Westfall and
 * Young), step by step: the row with the largest against all rows, the next
 * one against all but that, until one fails.
 *
 * Intervals invert the test: a shift x is in it when the values less x on
 * side 1 would not be called different.  Both statistics are then linear in
 * x, |a' - b' x| against |a - b x| with |b'| <= b, so an order is as extreme
 * just within two bounds around the estimate, and the ends of the interval
 * are the bounds of some rank.
 *
 * Called by comparison.c and difference.c.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "statistics_impl.h"

#define MAX_DRAWS	19999
#define MIN_DRAWS	1999
#define DRAWS_OF_ALPHA	10	/* an alpha of 0.001: 10,000 draws or more */
#define WORK		4e9	/* additions; with more, fewer are drawn */
#define CHUNK		1000000	/* bounds held at a time */
#define SAME		1e-9	/* correlations that rounding tells apart */
#define NOTHING		1e-12	/* of the largest value: no spread */
#define ALIASED		1e-4	/* length of a side: 0 and 1 in many runs */

/*
 * Rows with values in the same runs.  pa_time and pa_side have mean 0 there,
 * pa_time length 1; both are 0 where a value is missing.
 */
struct pattern {
	double		*pa_there;	/* 1 or 0 */
	double		*pa_time;
	double		*pa_side;	/* as it was, without its time */
	struct prof_levels pa_levels;	/* where the design has them */
	double		 pa_n;
	double		 pa_length;	/* of pa_side */
	/* for the order at hand */
	double		 pa_per_length;	/* 1 / length of its side; 0: none */
	double		 pa_dot;	/* of its side with pa_side */
};

/* Rows by rising statistic, so that a running maximum is of a step's rows. */
struct work {
	const struct prof_design *wk_design;
	struct prof_orders wk_orders;
	struct pattern	*wk_pattern;
	size_t		 wk_npatterns;
	size_t		 wk_n;		/* runs */
	size_t		 wk_nrows;
	size_t		*wk_row;	/* place -> row */
	size_t		*wk_of;		/* place -> pattern */
	double		*wk_unit;	/* run * nrows + place: what is left
					   of a row of length 1, by root */
	double		*wk_size;	/* place -> its length */
	double		*wk_seen;	/* place -> r, with its sign */
	double		*wk_sum;
	double		*wk_chosen;	/* by run: its root on side 1 */
	/* for each order: the largest statistic, whose, and the next */
	double		*wk_top;
	double		*wk_next;
	size_t		*wk_whose;
};

/* ------------------------------------------------------------- patterns */

static double
dot_product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return (sum);
}

/* Take mean and time off what has values where the pattern has. */
static void
residuals_make(struct pattern *pa, double *values, size_t n)
{
	double mean, slope;

	/* Twice: what rounding leaves of a large mean is taken off too. */
	for (int round = 0; round < 2; round++) {
		if (pa->pa_levels.lv_design != NULL) {
			prof_levels_take_off(&pa->pa_levels, values);
			continue;
		}
		mean = dot_product(values, pa->pa_there, n) / pa->pa_n;
		for (size_t i = 0; i < n; i++)
			values[i] = (values[i] - mean) * pa->pa_there[i];
		slope = dot_product(values, pa->pa_time, n);
		for (size_t i = 0; i < n; i++)
			values[i] -= slope * pa->pa_time[i];
	}
}

static void
pattern_fill(struct pattern *pa, const struct prof_design *design)
{
	const size_t n = design->dg_n;
	double length;

	pa->pa_n = dot_product(pa->pa_there, pa->pa_there, n);
	if (design->dg_time != NULL) {
		double *time = pa->pa_time;
		double most = 0;

		memcpy(pa->pa_side, design->dg_time, n * sizeof(double));
		residuals_make(pa, pa->pa_side, n);
		for (size_t i = 0; i < n; i++)
			most = fmax(most, fabs(design->dg_time[i]));
		length = sqrt(dot_product(pa->pa_side, pa->pa_side, n));
		for (size_t i = 0; i < n && length > most * NOTHING; i++)
			time[i] = pa->pa_side[i] / length;
	}
	for (size_t i = 0; i < n; i++)
		pa->pa_side[i] = design->dg_side[i] *
		    prof_design_root(design, i);
	residuals_make(pa, pa->pa_side, n);
	pa->pa_length = sqrt(dot_product(pa->pa_side, pa->pa_side, n));
	/* Hosts and windows explain it: nothing is left but rounding. */
	if (design->dg_level != NULL && pa->pa_length < ALIASED)
		pa->pa_length = 0;
	/* A line through side, time and mean needs a value more than that. */
	if (pa->pa_n < (design->dg_time != NULL ? 4 : 3))
		pa->pa_length = 0;
}

/* The pattern of a row, made when it is a new one; -1: no memory. */
static long
pattern_of(struct work *wk, const double *values)
{
	struct pattern *pa = &wk->wk_pattern[wk->wk_npatterns];
	const size_t n = wk->wk_n;

	if (pa->pa_there == NULL) {
		pa->pa_there = calloc(3 * n + 1, sizeof(double));
		if (pa->pa_there == NULL)
			return (-1);
		pa->pa_time = pa->pa_there + n;
		pa->pa_side = pa->pa_there + 2 * n;
	}
	for (size_t i = 0; i < n; i++)
		pa->pa_there[i] = isfinite(values[i]) ? 1 : 0;
	for (size_t p = 0; p < wk->wk_npatterns; p++)
		if (memcmp(wk->wk_pattern[p].pa_there, pa->pa_there,
		    n * sizeof(double)) == 0)
			return ((long)p);
	if (wk->wk_design->dg_level != NULL && prof_levels_init(&pa->pa_levels,
	    wk->wk_design, pa->pa_there) == -1)
		return (-1);
	pattern_fill(pa, wk->wk_design);
	return ((long)wk->wk_npatterns++);
}

/* What the order at hand makes of each pattern. */
static void
patterns_order(struct work *wk)
{
	const struct prof_orders *or = &wk->wk_orders;

	for (size_t p = 0; p < wk->wk_npatterns; p++) {
		struct pattern *pa = &wk->wk_pattern[p];
		double k = 0, time = 0, square;

		pa->pa_dot = 0;
		memset(wk->wk_chosen, 0, wk->wk_n * sizeof(double));
		for (size_t i = 0; i < or->or_nnew; i++) {
			const size_t run = or->or_chosen[i];
			const double root = or->or_part[i] *
			    prof_design_root(wk->wk_design, run);

			k += pa->pa_there[run];
			time += pa->pa_time[run];
			pa->pa_dot += pa->pa_side[run] * root;
			wk->wk_chosen[run] = pa->pa_there[run] * root;
		}
		square = pa->pa_levels.lv_design == NULL ?
		    k - k * k / pa->pa_n - time * time :
		    prof_levels_square(&pa->pa_levels, wk->wk_chosen);
		pa->pa_per_length = square > SAME ? 1 / sqrt(square) : 0;
	}
}

/* ----------------------------------------------------------------- rows */

static double
statistic_largest(const double *values, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			most = fmax(most, fabs(values[i]));
	return (most);
}

/* Into scratch, of length 1; its length, in the unit of the values. */
static double
row_unit(struct pattern *pa, const struct prof_design *design,
    const double *values, double *scratch)
{
	const size_t n = design->dg_n;
	const double most = statistic_largest(values, n);
	double length = 0;

	for (size_t i = 0; i < n; i++)
		scratch[i] = most > 0 && isfinite(values[i]) ?
		    values[i] / most * prof_design_root(design, i) : 0;
	if (most > 0 && pa->pa_length > NOTHING) {
		residuals_make(pa, scratch, n);
		length = sqrt(dot_product(scratch, scratch, n));
	}
	/* Nothing but what rounding left. */
	if (length <= NOTHING * sqrt((double)n))
		length = 0;
	for (size_t i = 0; i < n; i++)
		scratch[i] = length > 0 ? scratch[i] / length : 0;
	return (length * most);
}

/* A row on its way to its place. */
struct ranked {
	double	rk_seen;
	double	rk_size;
	size_t	rk_row;
	size_t	rk_of;
};

static int
by_statistic(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const double r = fabs(x->rk_seen), s = fabs(y->rk_seen);

	if (r != s)
		return (r < s ? -1 : 1);
	return ((x->rk_row > y->rk_row) - (x->rk_row < y->rk_row));
}

static void
rows_place(struct work *wk, const double *values, struct ranked *ranked,
    double *scratch)
{
	const size_t n = wk->wk_n, m = wk->wk_nrows;

	qsort(ranked, m, sizeof(*ranked), by_statistic);
	for (size_t j = 0; j < m; j++) {
		const struct ranked *rk = &ranked[j];

		wk->wk_row[j] = rk->rk_row;
		wk->wk_of[j] = rk->rk_of;
		wk->wk_size[j] = rk->rk_size;
		wk->wk_seen[j] = rk->rk_seen;
		row_unit(&wk->wk_pattern[rk->rk_of], wk->wk_design,
		    values + rk->rk_row * n, scratch);
		for (size_t i = 0; i < n; i++)
			wk->wk_unit[i * m + j] = scratch[i] *
			    prof_design_root(wk->wk_design, i);
	}
}

static int
rows_init(struct work *wk, const double *values)
{
	const size_t n = wk->wk_n, m = wk->wk_nrows;
	struct ranked *ranked = calloc(m + 1, sizeof(*ranked));
	double *scratch = calloc(n + 1, sizeof(*scratch));
	int rv = ranked == NULL || scratch == NULL ? -1 : 0;

	for (size_t row = 0; row < m && rv == 0; row++) {
		const long p = pattern_of(wk, values + row * n);
		struct ranked *rk = &ranked[row];

		if (p == -1) {
			rv = -1;
			break;
		}
		rk->rk_row = row;
		rk->rk_of = (size_t)p;
		rk->rk_size = row_unit(&wk->wk_pattern[p], wk->wk_design,
		    values + row * n, scratch);
		if (rk->rk_size > 0)
			rk->rk_seen = dot_product(scratch,
			    wk->wk_pattern[p].pa_side,
			    n) / wk->wk_pattern[p].pa_length;
		rk->rk_seen = fmax(-1, fmin(1, rk->rk_seen));
	}
	if (rv == 0)
		rows_place(wk, values, ranked, scratch);
	free(ranked);
	free(scratch);
	return (rv);
}

/* ----------------------------------------------------------------- work */

static void
work_fini(struct work *wk)
{
	for (size_t p = 0; wk->wk_pattern != NULL && p <= wk->wk_nrows; p++) {
		free(wk->wk_pattern[p].pa_there);
		prof_levels_fini(&wk->wk_pattern[p].pa_levels);
	}
	prof_orders_fini(&wk->wk_orders);
	free(wk->wk_pattern);
	free(wk->wk_row);
	free(wk->wk_of);
	free(wk->wk_unit);
	free(wk->wk_size);
	free(wk->wk_seen);
	free(wk->wk_sum);
	free(wk->wk_chosen);
	free(wk->wk_top);
	free(wk->wk_next);
	free(wk->wk_whose);
}

static size_t
number_of_draws(const struct prof_design *design, size_t nrows, double alpha)
{
	const double each = (double)(design->dg_n + 1) * (double)(nrows + 1);
	const double least = fmax(MIN_DRAWS, DRAWS_OF_ALPHA / alpha);

	return ((size_t)fmax(least, fmin(MAX_DRAWS, WORK / each)));
}

static int
work_init(struct work *wk, const struct prof_design *design,
    const double *values, size_t nrows, const struct prof_family *family)
{
	const size_t n = design->dg_n, m = nrows + 1;
	size_t norders;

	memset(wk, 0, sizeof(*wk));
	wk->wk_design = design;
	wk->wk_n = n;
	wk->wk_nrows = nrows;
	if (prof_orders_init(&wk->wk_orders, design, number_of_draws(design,
	    nrows, family->fa_alpha), family->fa_seed) == -1)
		return (-1);
	norders = wk->wk_orders.or_n + 1;
	wk->wk_pattern = calloc(m + 1, sizeof(*wk->wk_pattern));
	wk->wk_row = calloc(m, sizeof(*wk->wk_row));
	wk->wk_of = calloc(m, sizeof(*wk->wk_of));
	wk->wk_unit = calloc(m, (n + 1) * sizeof(*wk->wk_unit));
	wk->wk_size = calloc(m, sizeof(*wk->wk_size));
	wk->wk_seen = calloc(m, sizeof(*wk->wk_seen));
	wk->wk_sum = calloc(m, sizeof(*wk->wk_sum));
	wk->wk_chosen = calloc(n + 1, sizeof(*wk->wk_chosen));
	wk->wk_top = calloc(norders, sizeof(*wk->wk_top));
	wk->wk_next = calloc(norders, sizeof(*wk->wk_next));
	wk->wk_whose = calloc(norders, sizeof(*wk->wk_whose));
	if (wk->wk_pattern == NULL || wk->wk_row == NULL ||
	    wk->wk_of == NULL || wk->wk_unit == NULL || wk->wk_size == NULL ||
	    wk->wk_seen == NULL || wk->wk_sum == NULL ||
	    wk->wk_chosen == NULL || wk->wk_top == NULL ||
	    wk->wk_next == NULL || wk->wk_whose == NULL)
		return (-1);
	return (rows_init(wk, values));
}

/*
 * The next order, with what the rows from one place to another sum up to on
 * its side 1.  False: there is no more.
 */
static bool
work_next(struct work *wk, size_t from, size_t to)
{
	const struct prof_orders *or = &wk->wk_orders;
	double *restrict sum = wk->wk_sum;

	if (!prof_orders_next(&wk->wk_orders))
		return (false);
	patterns_order(wk);
	memset(sum + from, 0, (to - from) * sizeof(*sum));
	for (size_t i = 0; i < or->or_nnew; i++) {
		const double *restrict unit = wk->wk_unit +
		    or->or_chosen[i] * wk->wk_nrows;
		const double part = or->or_part[i];

		for (size_t j = from; j < to; j++)
			sum[j] += part * unit[j];
	}
	return (true);
}

/* ------------------------------------------------------------------- p */

static int
test_rows(struct work *wk, const struct prof_family *family,
    struct prof_effect *effects)
{
	const size_t m = wk->wk_nrows;
	const double all = (double)wk->wk_orders.or_n;
	size_t *alone = calloc(m + 1, sizeof(*alone));
	size_t *step = calloc(m + 1, sizeof(*step));
	double most = 0;

	while (alone != NULL && step != NULL && work_next(wk, 0, m)) {
		most = 0;
		for (size_t j = 0; j < m; j++) {
			const double r = fabs(wk->wk_sum[j]) * wk->wk_pattern[
			    wk->wk_of[j]].pa_per_length;
			const double seen = fabs(wk->wk_seen[j]) - SAME;

			most = r > most ? r : most;
			alone[j] += r >= seen;
			step[j] += most >= seen;
		}
	}
	most = 0;
	for (size_t j = m; alone != NULL && step != NULL && j-- > 0;) {
		struct prof_effect *ef = &effects[wk->wk_row[j]];
		const struct pattern *pa = &wk->wk_pattern[wk->wk_of[j]];

		*ef = (struct prof_effect){ NAN, NAN, NAN, { NAN, NAN },
		    false };
		if (!(pa->pa_length > NOTHING))
			continue;
		ef->ef_shift = wk->wk_seen[j] / pa->pa_length *
		    wk->wk_size[j];
		ef->ef_p = (double)alone[j] / all;
		ef->ef_adjusted = most = fmax(most, (double)step[j] / all);
		ef->ef_is_sure = ef->ef_adjusted <= family->fa_alpha;
	}
	free(alone);
	free(step);
	return (alone == NULL || step == NULL ? -1 : 0);
}

/* ------------------------------------------------------------ intervals */

/*
 * For each order the largest statistics of the family, of rows known to
 * change at the change that was estimated, of all others at none.
 */
static void
find_tops(struct work *wk, const struct prof_effect *effects)
{
	const size_t m = wk->wk_nrows;
	size_t k = 0;

	prof_orders_rewind(&wk->wk_orders);
	for (; work_next(wk, 0, m); k++) {
		double top = 0, next = 0;
		size_t whose = m;

		for (size_t j = 0; j < m; j++) {
			const struct pattern *pa =
			    &wk->wk_pattern[wk->wk_of[j]];
			const double seen = wk->wk_seen[j];
			double r = wk->wk_sum[j];

			if (effects[wk->wk_row[j]].ef_is_sure)
				r = (r - seen * pa->pa_dot / pa->pa_length) /
				    sqrt(fmax(SAME, 1 - seen * seen));
			r = fabs(r) * pa->pa_per_length;
			if (r > top) {
				next = top;
				top = r;
				whose = j;
			} else if (r > next)
				next = r;
		}
		wk->wk_top[k] = top;
		wk->wk_next[k] = next;
		wk->wk_whose[k] = whose;
	}
}

/*
 * The shifts within which order k is as extreme as what was seen, of a row of
 * length 1: by the row's own statistic, or by another's.
 */
static void
bounds_of(const struct work *wk, size_t j, size_t k, double bounds[2])
{
	const struct pattern *pa = &wk->wk_pattern[wk->wk_of[j]];
	const double b = pa->pa_length, seen = wk->wk_seen[j];
	const double other = fmin(1, wk->wk_whose[k] == j ? wk->wk_next[k] :
	    wk->wk_top[k]);
	const double a_k = wk->wk_sum[j] * pa->pa_per_length;
	const double b_k = pa->pa_dot * pa->pa_per_length;
	const double room = 1 - other < SAME ? INFINITY : sqrt(fmax(0, 1 -
	    seen * seen)) * other / sqrt(1 - other * other) / b;
	double one, two;

	bounds[0] = seen / b - room;
	bounds[1] = seen / b + room;
	if (pa->pa_per_length == 0)
		return;
	/* That very order, or its mirror image: as extreme at any shift. */
	if (b - fabs(b_k) <= SAME * b) {
		bounds[0] = -INFINITY;
		bounds[1] = INFINITY;
		return;
	}
	one = (seen - a_k) / (b - b_k);
	two = (seen + a_k) / (b + b_k);
	bounds[0] = fmin(bounds[0], fmin(one, two));
	bounds[1] = fmax(bounds[1], fmax(one, two));
}

/* The one that would stand k-th in order; the order is left half done. */
static double
select_kth(double *values, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		const double pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				const double swap = values[i];

				values[i++] = values[j];
				values[j] = swap;
				if (j-- == 0)
					break;
			}
		}
		if (j != SIZE_MAX && k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return (values[k]);
}

/*
 * An interval has 0 in it just when the test does not call the row changed.
 * A row that was called so in a later step, against fewer others, may have it
 * in the interval against all: then 0 is an end that does not belong to it.
 */
static void
interval_finish(struct prof_effect *ef)
{
	double *ends = ef->ef_interval;

	if (isinf(ends[0]) || isinf(ends[1])) {
		ends[0] = ends[1] = NAN;
		return;
	}
	if (!ef->ef_is_sure) {
		ends[0] = fmin(ends[0], 0);
		ends[1] = fmax(ends[1], 0);
	} else if (ef->ef_shift > 0)
		ends[0] = fmax(ends[0], DBL_MIN);
	else
		ends[1] = fmin(ends[1], -DBL_MIN);
}

static void
intervals_of_chunk(struct work *wk, const struct prof_family *family,
    size_t from, size_t to, double *bound[2], struct prof_effect *effects)
{
	const size_t all = wk->wk_orders.or_n;
	/* So many may lie beyond an end. */
	const size_t rank = (size_t)(family->fa_alpha * (double)all + SAME);
	double bounds[2];

	prof_orders_rewind(&wk->wk_orders);
	for (size_t k = 0; work_next(wk, from, to); k++)
		for (size_t j = from; j < to; j++) {
			bounds_of(wk, j, k, bounds);
			for (int end = 0; end < 2; end++)
				bound[end][(j - from) * all + k] = bounds[end];
		}
	for (size_t j = from; j < to; j++) {
		struct prof_effect *ef = &effects[wk->wk_row[j]];

		if (isnan(ef->ef_shift))
			continue;
		ef->ef_interval[0] = wk->wk_size[j] * select_kth(bound[0] +
		    (j - from) * all, all, rank);
		ef->ef_interval[1] = wk->wk_size[j] * select_kth(bound[1] +
		    (j - from) * all, all, all - 1 - rank);
		/* All alike: no change, and nothing to doubt. */
		if (wk->wk_size[j] == 0)
			ef->ef_interval[0] = ef->ef_interval[1] = 0;
		interval_finish(ef);
	}
}

static int
find_intervals(struct work *wk, const struct prof_family *family,
    struct prof_effect *effects)
{
	const size_t all = wk->wk_orders.or_n;
	const size_t chunk = CHUNK / all + 1;
	double *bound[2];

	find_tops(wk, effects);
	for (int end = 0; end < 2; end++)
		bound[end] = calloc(chunk * all, sizeof(double));
	for (size_t from = 0; bound[0] != NULL && bound[1] != NULL &&
	    from < wk->wk_nrows; from += chunk)
		intervals_of_chunk(wk, family, from, from + chunk <
		    wk->wk_nrows ? from + chunk : wk->wk_nrows, bound,
		    effects);
	free(bound[0]);
	free(bound[1]);
	return (bound[0] == NULL || bound[1] == NULL ? -1 : 0);
}

int
prof_test_family(const struct prof_design *design, const double *values,
    size_t nrows, struct prof_family *family, struct prof_effect *effects)
{
	struct work work;
	int rv = work_init(&work, design, values, nrows, family);

	if (rv == 0)
		rv = test_rows(&work, family, effects);
	if (rv == 0)
		rv = find_intervals(&work, family, effects);
	family->fa_is_exact = work.wk_orders.or_is_exact;
	family->fa_floor = work.wk_orders.or_floor;
	work_fini(&work);
	return (rv);
}

/* --------------------------------------------------------------- errors */

/*
 * What is left of a row without its shift varies less than the row did, by
 * the part of the freedom that mean, side and time took.
 */
int
prof_test_errors(const struct prof_design *design, const double *values,
    uint64_t seed, double *errors)
{
	const struct prof_family family = { .fa_alpha = 1, .fa_seed = seed };
	const struct pattern *pa;
	struct work wk;
	double left, rest;
	int rv = work_init(&wk, design, values, 1, &family);

	/* Drawn also where there are few: the first ones are much alike. */
	wk.wk_orders.or_is_exact = false;
	wk.wk_orders.or_n = PROF_ERRORS;
	for (size_t b = 0; rv == 0 && work_next(&wk, 0, 1); b++) {
		pa = &wk.wk_pattern[wk.wk_of[0]];
		rest = pa->pa_n - (design->dg_time != NULL ? 3 : 2);
		left = wk.wk_sum[0] - wk.wk_seen[0] * pa->pa_dot /
		    pa->pa_length;
		errors[b] = pa->pa_per_length > 0 && rest > 0 ? left *
		    pa->pa_per_length * pa->pa_per_length * wk.wk_size[0] *
		    sqrt(pa->pa_n / rest) : 0;
	}
	work_fini(&wk);
	return (rv);
}
