/*
 * ASSERTION: mean, spread, median and interval are those that scipy gives,
 * to 12 digits, and so is Student's t, to 9.
 *
 * Easy to get wrong: n for n - 1, a normal's 1.96 for Student's t with few
 * runs, the spread of large values that differ little.
 */
/* SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "prof.h"
#include "compare/statistics.h"

#include "statistics_expected.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* digits of the larger; below the smallest that matters all are equal. */
static void
same(const char *what, double got, double want, double digits)
{
	if (fabs(got - want) <= digits * fmax(fabs(got), fabs(want)) + 1e-13)
		return;
	printf("FAIL: %s is %.17g, scipy says %.17g\n", what, got, want);
	exit(1);
}

static void
check_sets(void)
{
	const double *values = set_values;

	for (size_t i = 0; i < COUNT(set_expected); i++) {
		const double *want = set_expected[i];
		struct prof_summary got;
		size_t n = (size_t)want[0];

		if (prof_summarize(values, n, &got) == -1)
			exit(1);
		same("n", (double)got.sm_n, want[0], 0);
		same("mean", got.sm_mean, want[1], 1e-14);
		same("stddev", got.sm_stddev, want[2], 1e-12);
		same("median", got.sm_median, want[3], 0);
		same("has_ci", got.sm_has_ci, n > 1, 0);
		same("low end", got.sm_ci95[0], want[4], 1e-12);
		same("high end", got.sm_ci95[1], want[5], 1e-12);
		values += n;
	}
	if (values != set_values + COUNT(set_values))
		exit(1);
	printf("ok: %zu sets of values\n", COUNT(set_expected));
}

int
main(void)
{
	struct prof_summary none;

	check_sets();
	for (size_t i = 0; i < COUNT(t_cdf); i++)
		same("P(T <= t)", prof_t_cdf(t_cdf[i][0], t_cdf[i][1]),
		    t_cdf[i][2], 1e-9);
	for (size_t i = 0; i < COUNT(t_quantile); i++)
		same("t", prof_t_quantile(t_quantile[i][0],
		    t_quantile[i][1]), t_quantile[i][2], 1e-9);
	printf("ok: Student's t, %zu probabilities and %zu quantiles\n",
	    COUNT(t_cdf), COUNT(t_quantile));
	if (prof_summarize(NULL, 0, &none) == -1 || none.sm_n != 0 ||
	    none.sm_has_ci)
		exit(1);
	printf("ok: of nothing nothing is known\n");
	return (0);
}
