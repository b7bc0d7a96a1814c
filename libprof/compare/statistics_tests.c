/* SPDX-License-Identifier: ISC */
/*
 * Tests of two samples and of many at once: quantiles, Mann-Whitney's U with
 * Cliff's delta, Welch's t, Spearman's drift, Benjamini-Hochberg.
 *
 * Called by comparison.c.  Expected values are scipy's (tests/unit/data).
 * Nothing is approximated where the exact answer is cheap: U without ties up
 * to 50 values a side is counted, not guessed from a normal distribution.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "statistics.h"

#define EXACT_RANKS	50	/* values a side */

/* A value that remembers where it stood. */
struct placed {
	double	pl_value;
	size_t	pl_at;
};

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return ((x > y) - (x < y));
}

static bool
has_nan(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(values[i]))
			return (true);
	return (false);
}

void
prof_sort(double *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), by_value);
}

double
prof_quantile(const double *sorted, size_t n, double p)
{
	double at, below;
	size_t i;

	if (n == 0)
		return (NAN);
	at = p * (double)(n - 1);
	below = floor(at);
	i = (size_t)below;
	if (i + 1 >= n || sorted[i] == sorted[i + 1])
		return (sorted[i < n ? i : n - 1]);
	/* Halves apart: the difference of huge values overflows. */
	return (sorted[i] * (1 - (at - below)) + sorted[i + 1] * (at - below));
}

int
prof_median_mad(const double *values, size_t n, double *median, double *mad)
{
	double *sorted = reallocarray(NULL, n + 1, sizeof(*sorted));

	*median = *mad = NAN;
	if (sorted == NULL)
		return (-1);
	if (n > 0 && !has_nan(values, n)) {
		memcpy(sorted, values, n * sizeof(*sorted));
		prof_sort(sorted, n);
		*median = prof_quantile(sorted, n, 0.5);
		for (size_t i = 0; i < n; i++)
			sorted[i] = fabs(values[i] - *median);
		prof_sort(sorted, n);
		*mad = prof_quantile(sorted, n, 0.5);
	}
	free(sorted);
	return (0);
}

/* --------------------------------------------------------------- ranks */

/*
 * How many of the ways to place n among n + m have u pairs in which it is
 * the larger, summed from 0 to below: a value on place k, the i-th of its
 * side, is larger than k - i of the others.
 */
static double
exact_tail(size_t n, size_t m, size_t u)
{
	double (*ways)[EXACT_RANKS * EXACT_RANKS + 1];
	double all = 0, tail = 0;
	const size_t most = n * m;

	ways = calloc(n + 1, sizeof(*ways));
	if (ways == NULL)
		return (NAN);
	ways[0][0] = 1;
	for (size_t k = 1; k <= n + m; k++)
		for (size_t i = k < n ? k : n; i >= 1; i--) {
			if (k - i > m)
				continue;
			for (size_t s = most; s + 1 > k - i; s--)
				ways[i][s] += ways[i - 1][s - (k - i)];
		}
	for (size_t s = 0; s <= most; s++) {
		all += ways[n][s];
		if (s <= u)
			tail += ways[n][s];
	}
	free(ways);
	return (tail / all);
}

/* The sum of t^3 - t over the ties of sorted values. */
static double
tie_sum(const double *sorted, size_t n)
{
	double sum = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && sorted[j] == sorted[i]; j++)
			continue;
		sum += pow((double)(j - i), 3) - (double)(j - i);
	}
	return (sum);
}

/* The normal distribution, with the ties and half a step taken off. */
static double
normal_p(double u, size_t n, size_t m, double ties)
{
	const double a = (double)n, b = (double)m, all = a + b;
	const double variance = a * b / 12 * (all + 1 -
	    ties / (all * (all - 1)));
	const double off = fabs(u - a * b / 2) - 0.5;

	if (!(variance > 0))
		return (1);
	return (fmin(1, erfc(off / sqrt(2 * variance))));
}

int
prof_rank_test(const double *x, size_t n, const double *y, size_t m,
    struct prof_rank_test *test)
{
	size_t i, wins2 = 0, at = 0, upto = 0;
	double *all, ties, u;

	*test = (struct prof_rank_test){ NAN, NAN, NAN, 0 };
	if (n == 0 || m == 0 || has_nan(x, n) || has_nan(y, m))
		return (0);
	all = reallocarray(NULL, 2 * n + 2 * m, sizeof(*all));
	if (all == NULL)
		return (-1);
	memcpy(all, x, n * sizeof(*all));
	memcpy(all + n, y, m * sizeof(*all));
	memcpy(all + n + m, all, (n + m) * sizeof(*all));
	prof_sort(all, n);
	prof_sort(all + n, m);
	prof_sort(all + n + m, n + m);
	for (i = 0; i < m; i++) {
		while (at < n && all[at] < all[n + i])
			at++;
		for (upto = at; upto < n && all[upto] == all[n + i]; upto++)
			continue;
		wins2 += at + upto;
	}
	ties = tie_sum(all + n + m, n + m);
	u = (double)wins2 / 2;
	test->rt_u = u;
	test->rt_delta = 2 * u / ((double)n * (double)m) - 1;
	test->rt_is_exact = ties == 0 && n <= EXACT_RANKS && m <= EXACT_RANKS;
	test->rt_p = !test->rt_is_exact ? normal_p(u, n, m, ties) :
	    fmin(1, 2 * exact_tail(n, m, (size_t)fmin(u,
	    (double)n * (double)m - u)));
	free(all);
	return (0);
}

/* Ranks from 1, those that tie share their mean. */
static int
compare_placed(const void *a, const void *b)
{
	return (by_value(&((const struct placed *)a)->pl_value,
	    &((const struct placed *)b)->pl_value));
}

static int
ranks_of(const double *values, size_t n, double *ranks)
{
	struct placed *order = reallocarray(NULL, n, sizeof(*order));

	if (order == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct placed){ values[i], i };
	qsort(order, n, sizeof(*order), compare_placed);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && order[j].pl_value == order[i].pl_value;
		    j++)
			continue;
		for (size_t k = i; k < j; k++)
			ranks[order[k].pl_at] = (double)(i + j + 1) / 2;
	}
	free(order);
	return (0);
}

int
prof_drift(const double *values, size_t n, double *rho, double *p)
{
	const double middle = ((double)n + 1) / 2;
	double *ranks, both = 0, own = 0, time = 0, t;

	*rho = *p = NAN;
	if (n < 3 || has_nan(values, n))
		return (0);
	ranks = reallocarray(NULL, n, sizeof(*ranks));
	if (ranks == NULL || ranks_of(values, n, ranks) == -1) {
		free(ranks);
		return (-1);
	}
	for (size_t i = 0; i < n; i++) {
		const double a = (double)(i + 1) - middle;
		const double b = ranks[i] - middle;

		both += a * b;
		time += a * a;
		own += b * b;
	}
	free(ranks);
	if (!(own > 0))
		return (0);
	*rho = fmax(-1, fmin(1, both / sqrt(time * own)));
	t = fabs(*rho) * sqrt((double)(n - 2) /
	    ((1 + *rho) * (1 - *rho)));
	/* In order, or the other way round: three are in a third of cases. */
	*p = fabs(*rho) >= 1 ? 2 / tgamma((double)n + 1) :
	    2 * prof_t_cdf(-t, (double)(n - 2));
	return (0);
}

/* ------------------------------------------------------------- Welch */

/* By a power of two, so that squares of huge values do not overflow. */
static double
scale_of(const double *x, size_t n, const double *y, size_t m)
{
	double most = 0;
	int exponent;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	for (size_t i = 0; i < m; i++)
		most = fmax(most, fabs(y[i]));
	if (!(most > 0) || isinf(most))
		return (1);
	frexp(most, &exponent);
	return (exponent > 400 || exponent < -400 ? ldexp(1, -exponent) : 1);
}

static void
mean_and_error(const double *x, size_t n, double scale, double *mean,
    double *error)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * scale;
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		const double off = x[i] * scale - *mean;

		squares += off * off;
	}
	*error = squares / (double)(n - 1) / (double)n;
}

double
prof_welch(const double *x, size_t n, const double *y, size_t m, double *t,
    double *df)
{
	double mean[2], error[2], sum, scale;

	*t = *df = NAN;
	if (n < 2 || m < 2 || has_nan(x, n) || has_nan(y, m))
		return (NAN);
	scale = scale_of(x, n, y, m);
	mean_and_error(x, n, scale, &mean[0], &error[0]);
	mean_and_error(y, m, scale, &mean[1], &error[1]);
	sum = error[0] + error[1];
	if (!(sum > 0))
		return (NAN);
	*t = (mean[0] - mean[1]) / sqrt(sum);
	*df = sum * sum / (error[0] * error[0] / (double)(n - 1) +
	    error[1] * error[1] / (double)(m - 1));
	if (isnan(*t) || isnan(*df))
		return (NAN);
	return (2 * prof_t_cdf(-fabs(*t), *df));
}

/* ------------------------------------------------------------- modes */

/*
 * Two heaps are the cut of the sorted values, with a fifth of them at least
 * on either side, whose means lie furthest apart in units of how values
 * scatter around them.  Of one heap chance makes such a cut too, the further
 * apart the fewer values there are: beyond the limit lies one in a hundred of
 * normal and of even distributions, and of skew ones few more.
 */
static bool
has_two_heaps(const double *sorted, size_t n)
{
	const double range = sorted[n - 1] - sorted[0];
	const double limit = 3.8 + 36 / (double)n;
	const size_t least = (n + 4) / 5;
	double sum = 0, squares = 0, whole = 0, all_squares = 0;
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		const double x = (sorted[i] - sorted[0]) / range;

		whole += x;
		all_squares += x * x;
	}
	for (size_t i = 0; i + least < n; i++) {
		const double x = (sorted[i] - sorted[0]) / range;
		const double k = (double)i + 1, rest = (double)n - k;
		double apart, scatter;

		sum += x;
		squares += x * x;
		apart = (whole - sum) / rest - sum / k;
		scatter = fmax(0, squares - sum * sum / k) + fmax(0,
		    all_squares - squares - (whole - sum) * (whole - sum) /
		    rest);
		found = found || (i + 1 >= least && apart * apart *
		    (double)(n - 2) > limit * limit * scatter);
	}
	return (found);
}

int
prof_modes(const double *values, size_t n)
{
	double *sorted;
	int heaps = 1;

	if (n < 8 || has_nan(values, n) ||
	    (sorted = reallocarray(NULL, n, sizeof(*sorted))) == NULL)
		return (1);
	memcpy(sorted, values, n * sizeof(*sorted));
	prof_sort(sorted, n);
	if (isfinite(sorted[n - 1] - sorted[0]) && sorted[n - 1] > sorted[0])
		heaps += has_two_heaps(sorted, n);
	free(sorted);
	return (heaps);
}

/* --------------------------------------------------------- many at once */

/* Indices of p from the smallest on; ties as they stand. */
static struct placed *
order_of(const double *p, size_t n)
{
	struct placed *order = reallocarray(NULL, n + 1, sizeof(*order));

	if (order == NULL)
		return (NULL);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct placed){ isnan(p[i]) ? 1 : p[i], i };
	qsort(order, n, sizeof(*order), compare_placed);
	return (order);
}

int
prof_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
	struct placed *order = order_of(p, n);
	double least = 1;

	if (order == NULL)
		return (-1);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, order[i].pl_value * (double)n /
		    (double)(i + 1));
		adjusted[order[i].pl_at] = least;
	}
	free(order);
	return (0);
}
