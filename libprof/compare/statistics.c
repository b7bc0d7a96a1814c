/* SPDX-License-Identifier: ISC */
/*
 * What repeated measurements say: mean, spread, median, and the interval in
 * which the mean lies with a confidence of 95 %.
 *
 * The interval is Student's, for a mean of few values with an unknown spread.
 * Called by commands through prof_summarize.  The figures are those of
 * tests/unit/statistics.py, which asks scipy; nothing is approximated beyond
 * what a double holds.  No drawing of random numbers, no locale, no state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "statistics.h"

#define FRACTION_STEPS	400	/* far more than it takes to converge */
#define FRACTION_EXACT	1e-15
#define TINY		1e-300	/* stands for a 0 that one divides by */

static double	beta_fraction(double x, double a, double b);
static double	beta_regularized(double x, double a, double b);

/* Around the mean, so that large values with a small spread keep it. */
static void
values_spread(const double *values, struct prof_summary *summary)
{
	double squares = 0, half;

	for (size_t i = 0; i < summary->sm_n; i++) {
		const double off = values[i] - summary->sm_mean;

		squares += off * off;
	}
	summary->sm_stddev = sqrt(squares / (double)(summary->sm_n - 1));
	half = prof_t_quantile(0.975, (double)(summary->sm_n - 1)) *
	    summary->sm_stddev / sqrt((double)summary->sm_n);
	summary->sm_has_ci = 1;
	summary->sm_ci95[0] = summary->sm_mean - half;
	summary->sm_ci95[1] = summary->sm_mean + half;
}

int
prof_summarize(const double *values, size_t n, struct prof_summary *summary)
{
	double *sorted, sum = 0;

	memset(summary, 0, sizeof(*summary));
	if (n == 0)
		return (0);
	if ((sorted = reallocarray(NULL, n, sizeof(*sorted))) == NULL)
		return (-1);
	memcpy(sorted, values, n * sizeof(*sorted));
	prof_sort(sorted, n);
	/* In order of size: the sum does not depend on the order of runs. */
	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	summary->sm_n = n;
	summary->sm_mean = sum / (double)n;
	summary->sm_median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	if (n > 1)
		values_spread(sorted, summary);
	free(sorted);
	return (0);
}

/* --------------------------------------------------------- Student's t */

/*
 * The continued fraction of the incomplete beta function (NIST DLMF 8.17.22),
 * evaluated from the front by Lentz's method.
 */
static double
beta_fraction(double x, double a, double b)
{
	double c = 1, d, fraction;

	d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < TINY ? TINY : d);
	fraction = d;
	for (int m = 1; m <= FRACTION_STEPS; m++) {
		const double even = m * (b - m) * x /
		    ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x /
		    ((a + 2 * m) * (a + 2 * m + 1));
		const double term[2] = { even, odd };

		for (int i = 0; i < 2; i++) {
			d = 1 + term[i] * d;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = 1 + term[i] / c;
			c = fabs(c) < TINY ? TINY : c;
			fraction *= c * d;
		}
		if (fabs(c * d - 1) < FRACTION_EXACT)
			break;
	}
	return (fraction);
}

/* The side on which the fraction converges fast. */
static double
beta_regularized(double x, double a, double b)
{
	double front;
	int sign;

	if (x <= 0)
		return (0);
	if (x >= 1)
		return (1);
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) -
	    lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return (front * beta_fraction(x, a, b) / a);
	return (1 - front * beta_fraction(1 - x, b, a) / b);
}

/* From the middle or from the end, whichever is nearer: neither cancels. */
double
prof_t_cdf(double t, double df)
{
	const double square = t * t;
	double tail;

	if (square < df)
		return (0.5 + copysign(beta_regularized(square /
		    (df + square), 0.5, df / 2) / 2, t));
	tail = beta_regularized(df / (df + square), df / 2, 0.5) / 2;
	return (t > 0 ? 1 - tail : tail);
}

/* Halving the interval: slow, certain, and to the last digit. */
double
prof_t_quantile(double p, double df)
{
	double low = 0, high = 1, middle;

	if (p < 0.5)
		return (-prof_t_quantile(1 - p, df));
	while (prof_t_cdf(high, df) < p && high < 1e300)
		high *= 2;
	for (;;) {
		middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			return (middle);
		if (prof_t_cdf(middle, df) < p)
			low = middle;
		else
			high = middle;
	}
}
