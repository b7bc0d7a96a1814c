/*
 * ASSERTION: on 1000 random small samples, ties and constants among them,
 * every test gives what scipy gives or what counting all cases gives; few,
 * equal, huge values and NaN get answers that claim nothing.
 *
 * Easy to get wrong: ties, the half step of the normal distribution, equal
 * differences that rounding tells apart, squares that overflow.
 */
/* SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "compare/statistics.h"

#define MOST	128

static int line_number;

static void
same(const char *what, double got, double want, double digits)
{
	if ((isnan(got) && isnan(want)) ||
	    fabs(got - want) <= digits * fmax(fabs(got), fabs(want)) + 1e-14)
		return;
	printf("FAIL: line %d: %s is %.17g, not %.17g\n", line_number, what,
	    got, want);
	exit(1);
}

static void
truth(int holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL: line %d: %s\n", line_number, what);
	exit(1);
}

static size_t
numbers(char *line, double *values, size_t max)
{
	size_t n = 0;

	for (char *word = strtok(line, " \n"); word != NULL && n < max;
	    word = strtok(NULL, " \n"))
		values[n++] = strtod(word, NULL);
	return (n);
}

static void
check_many(const double *v, size_t n)
{
	double adjusted[MOST];

	prof_benjamini_hochberg(v, n, adjusted);
	for (size_t i = 0; i < n; i++)
		same("Benjamini-Hochberg", adjusted[i], v[n + i], 1e-14);
}

/* Sides and blocks: half of each block of four is new. */
static void
check_orders(const double *x, size_t n, const double *y, size_t m,
    double all, double within)
{
	uint8_t side[MOST] = { 0 };
	uint32_t block[MOST] = { 0 };
	double values[MOST];
	const struct prof_design design = { .dg_n = n + m, .dg_side = side,
	    .dg_block = block };
	struct prof_family family = { .fa_alpha = 0.05 };
	struct prof_effect effect;

	memcpy(values, x, n * sizeof(*x));
	memcpy(values + n, y, m * sizeof(*y));
	memset(side + n, 1, m);
	if (all != 0 && n + m > 2) {
		truth(prof_test_family(&design, values, 1, &family,
		    &effect) == 0 && family.fa_is_exact, "exact");
		same("orders", effect.ef_p, all, 1e-9);
		truth(effect.ef_p >= family.fa_floor - 1e-12,
		    "no p is below the floor");
	}
	if (within == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const size_t at = i / 2 * 4 + i % 2;

		values[at] = x[i];
		values[at + 2] = y[i];
		side[at] = 0;
		side[at + 2] = 1;
		block[at] = block[at + 2] = (uint32_t)(i / 2);
	}
	truth(prof_test_family(&design, values, 1, &family, &effect) == 0 &&
	    family.fa_is_exact, "exact");
	same("orders of blocks", effect.ef_p, within, 1e-9);
}

static void
check_sample(const double *v, size_t n, size_t m)
{
	const double *x = v, *y = v + n, *want = v + n + m;
	double sorted[MOST], median, mad, t, df, p, rho;
	struct prof_rank_test rank;

	memcpy(sorted, x, n * sizeof(*x));
	prof_sort(sorted, n);
	same("10 %", prof_quantile(sorted, n, 0.1), want[0], 1e-12);
	same("90 %", prof_quantile(sorted, n, 0.9), want[2], 1e-12);
	prof_median_mad(x, n, &median, &mad);
	same("median", median, want[1], 1e-12);
	same("MAD", mad, want[3], 1e-12);
	prof_rank_test(x, n, y, m, &rank);
	same("U", rank.rt_u, want[4], 0);
	same("p of U", rank.rt_p, want[5], 1e-10);
	same("exactly", rank.rt_is_exact, want[6], 0);
	same("delta", rank.rt_delta, want[7], 1e-12);
	p = prof_welch(x, n, y, m, &t, &df);
	same("t", t, want[8], 1e-9);
	same("df", df, want[9], 1e-9);
	same("p of t", p, want[10], 1e-8);
	prof_drift(x, n, &rho, &p);
	same("rho", rho, want[11], 1e-12);
	same("p of rho", p, want[12], 1e-8);
	check_orders(x, n, y, m, want[13], want[14]);
}

static void
check_odd(void)
{
	const double none[1] = { 0 }, nan_[3] = { 1, NAN, 2 };
	const double same_[4] = { 3, 3, 3, 3 };
	const double huge[4] = { 1e308, -1e308, 1e308, 1.5e308 };
	const double rest[4] = { 1, INFINITY, -INFINITY, 2 };
	double a, b, p;
	struct prof_rank_test rank;

	truth(isnan(prof_quantile(none, 0, 0.5)), "nothing has no median");
	truth(isnan(prof_welch(none, 1, none, 1, &a, &b)), "one run a side");
	truth(isnan(prof_welch(nan_, 3, same_, 4, &a, &b)), "NaN");
	truth(isnan(prof_welch(same_, 4, same_, 4, &a, &b)), "no spread");
	p = prof_welch(huge, 4, same_, 4, &a, &b);
	truth(p > 0 && p < 1, "huge values");
	prof_rank_test(nan_, 3, same_, 4, &rank);
	truth(isnan(rank.rt_p), "NaN has no rank");
	prof_rank_test(none, 0, same_, 4, &rank);
	truth(isnan(rank.rt_p), "nobody has no rank");
	prof_rank_test(same_, 4, same_, 4, &rank);
	truth(rank.rt_p == 1 && rank.rt_delta == 0, "all equal");
	prof_rank_test(rest, 4, same_, 4, &rank);
	truth(rank.rt_delta == 0.5, "infinities have ranks");
	prof_drift(same_, 4, &a, &b);
	truth(isnan(a) && isnan(b), "what is constant has no order");
	prof_drift((const double[]){ 1, 2, 3 }, 3, &a, &b);
	truth(a == 1 && fabs(b - 1.0 / 3) < 1e-12,
	    "three runs may well come in order");
	truth(prof_modes(same_, 4) == 1, "one heap");
	printf("ok: odd values\n");
}

/* In how many of 400 samples; every other value is that much larger. */
static int
count_heaps(struct prof_random *random, size_t n, double apart, bool skew)
{
	double values[MOST];
	int found = 0;

	for (int trial = 0; trial < 400; trial++) {
		for (size_t i = 0; i < n; i++) {
			values[i] = i % 2 ? apart : 0;
			for (int k = 0; k < 12 && !skew; k++)
				values[i] += (double)prof_random_below(random,
				    1000) / 1000;
			if (skew)
				values[i] -= log(1 - (double)prof_random_below(
				    random, 1000) / 1000);
		}
		found += prof_modes(values, n) == 2;
	}
	return (found);
}

/* Few runs may look like heaps by chance, and must not be called so. */
static void
check_modes(void)
{
	static const size_t sizes[] = { 8, 10, 15, 30, 100 };
	struct prof_random random;

	prof_random_seed(&random, 3);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		const size_t n = sizes[s];
		const int one = count_heaps(&random, n, 0, false);
		const int skew = count_heaps(&random, n, 0, true);
		const int two = count_heaps(&random, n, 12, false);
		const int near = count_heaps(&random, n, 6, false);

		printf("heaps among %zu: one looks like two in %d of 400, a "
		    "skew one in %d; two far apart are seen in %d, nearer "
		    "ones in %d\n", n, one, skew, two, near);
		truth(one <= 10 && skew <= 20, "one heap");
		truth(two >= 360 && (n < 30 || near >= 340), "two heaps");
	}
}

int
main(void)
{
	static char line[65536];
	static double v[4 * MOST];
	int samples = 0, many = 0;
	FILE *file = fopen("tests/unit/statistics_samples.txt", "re");

	truth(file != NULL, "statistics_samples.txt is there");
	while (fgets(line, sizeof(line), file) != NULL) {
		const size_t got = numbers(line, v, 4 * MOST);

		line_number++;
		if (v[0] < 0) {
			const size_t n = (size_t)-v[0];

			truth(got == 1 + 2 * n, "two of each");
			check_many(v + 1, n);
			many++;
			continue;
		}
		truth(got == 2 + (size_t)v[0] + (size_t)v[1] + 15, "all of it");
		check_sample(v + 2, (size_t)v[0], (size_t)v[1]);
		samples++;
	}
	fclose(file);
	truth(samples == 1000 && many == 40, "all lines");
	printf("ok: %d samples, %d sets of p\n", samples, many);
	check_odd();
	check_modes();
	return (0);
}
