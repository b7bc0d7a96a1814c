/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: on random small designs, with and without blocks and time, p and
 * adjusted p of a family are those that a plain enumeration of all orders
 * gives by solving each regression anew; a value shifted by an end of its
 * interval is just called different, or just not; an interval has 0 in it
 * where the row is not called changed and nowhere else; all intervals of a
 * family hold the true shifts in 95 of 100, also when every row has changed;
 * drawn orders come again with their seed; values that are missing, constant,
 * huge or endless claim nothing that is not so.
 *
 * Easy to get wrong: differences equal but for rounding, time taken from the
 * value and not from the side, a maximum over the wrong rows in a later step.
 */
#include "trials.h"

#define MOST	12		/* runs of an enumeration */
#define ROWS	6
#define RUNS	60

static uint8_t side[RUNS];
static uint32_t block[RUNS];
static double when[RUNS];
static double value[ROWS * RUNS];
static struct prof_effect effect[ROWS];

/* With a time of its own for each run. */
static void
design(size_t n, size_t in_block)
{
	deal(n, in_block, side, block);
	for (size_t i = 0; i < n; i++)
		when[i] = (double)(3 * i + 7);
}

/* ---------------------------------------------------------- the oracle */

/* |t| of s in y = a + b s + c t, by Gauss on the normal equations. */
static double
statistic(const double *y, const double *s, const double *t, size_t n)
{
	const size_t m = t != NULL ? 3 : 2;
	double a[3][5] = { { 0 } }, rest = 0, x[3];

	for (size_t i = 0; i < n; i++) {
		const double row[3] = { 1, s[i], t != NULL ? t[i] : 0 };

		for (size_t j = 0; j < m; j++) {
			for (size_t k = 0; k < m; k++)
				a[j][k] += row[j] * row[k];
			a[j][m] += row[j] * y[i];
		}
	}
	/* Also the inverse's column of s. */
	a[1][m + 1] = 1;
	for (size_t j = 0; j < m; j++)
		for (size_t k = 0; k < m; k++) {
			const double f = a[k][j] / a[j][j];

			for (size_t c = 0; k != j && c < m + 2; c++)
				a[k][c] -= f * a[j][c];
		}
	for (size_t j = 0; j < m; j++)
		x[j] = a[j][m] / a[j][j];
	for (size_t i = 0; i < n; i++) {
		const double e = y[i] - x[0] - x[1] * s[i] -
		    (t != NULL ? x[2] * t[i] : 0);

		rest += e * e;
	}
	/* Where nothing is left all are as large. */
	return (fmin(1e4, fabs(x[1]) / sqrt(fmax(rest, 1e-20) /
	    (double)(n - m) * a[1][m + 1] / a[1][1])));
}

static bool
is_order(unsigned mask, size_t n)
{
	int balance[MOST] = { 0 };

	for (size_t i = 0; i < n; i++)
		balance[block[i]] += (int)(mask >> i & 1) - side[i];
	for (size_t i = 0; i < n; i++)
		if (balance[i] != 0)
			return (false);
	return (true);
}

static void
enumerate(size_t n, size_t rows, const double *time, double *p,
    double *adjusted)
{
	double seen[ROWS], s[MOST], most = 0, all = 0, step[ROWS] = { 0 };
	size_t rank[ROWS];

	for (size_t i = 0; i < n; i++)
		s[i] = side[i];
	for (size_t r = 0; r < rows; r++) {
		seen[r] = statistic(value + r * n, s, time, n);
		p[r] = 0;
		rank[r] = r;
	}
	for (size_t a = 0; a < rows; a++)
		for (size_t b = a + 1; b < rows; b++)
			if (seen[rank[b]] > seen[rank[a]]) {
				const size_t swap = rank[a];

				rank[a] = rank[b];
				rank[b] = swap;
			}
	for (unsigned mask = 0; mask < 1u << n; mask++) {
		double largest = 0;

		if (!is_order(mask, n))
			continue;
		all++;
		for (size_t i = 0; i < n; i++)
			s[i] = mask >> i & 1;
		for (size_t k = rows; k-- > 0;) {
			const size_t r = rank[k];
			const double t = statistic(value + r * n, s, time, n);
			const double limit = seen[r] * (1 - 1e-6) - 1e-6;

			largest = fmax(largest, t);
			p[r] += t >= limit;
			step[r] += largest >= limit;
		}
	}
	for (size_t k = 0; k < rows; k++) {
		most = fmax(most, step[rank[k]] / all);
		adjusted[rank[k]] = most;
		p[rank[k]] /= all;
	}
}

/* ------------------------------------------------------------- the tests */

static void
test(size_t n, size_t rows, const double *time, double alpha)
{
	const struct prof_design design = { .dg_n = n, .dg_side = side,
	    .dg_block = block, .dg_time = time };
	struct prof_family family = { .fa_alpha = alpha, .fa_seed = 5 };

	truth(prof_test_family(&design, value, rows, &family, effect) == 0,
	    "memory");
	for (size_t r = 0; r < rows; r++) {
		const struct prof_effect *ef = &effect[r];
		const bool has_0 = !(ef->ef_interval[0] > 0 ||
		    ef->ef_interval[1] < 0);

		truth(isnan(ef->ef_p) || ef->ef_p >= family.fa_floor - 1e-12,
		    "p is no smaller than the orders allow");
		truth(ef->ef_is_sure == (ef->ef_adjusted <= alpha), "sure");
		truth(has_0 == !ef->ef_is_sure, "0 is in the interval where "
		    "nothing is claimed, and nowhere else");
		truth(!(ef->ef_shift < ef->ef_interval[0] ||
		    ef->ef_shift > ef->ef_interval[1]),
		    "the estimate is in its interval");
	}
}

/* Noise, a drift, an effect; some rows with few values, some constant. */
static void
fill(size_t n, size_t rows)
{
	for (size_t r = 0; r < rows; r++) {
		const double drift = normal() * 0.1;
		const double shift = uniform() < 0.5 ? normal() * 3 : 0;
		const bool is_coarse = uniform() < 0.3;

		for (size_t i = 0; i < n; i++) {
			double x = 10 + normal() + drift * when[i] +
			    shift * side[i];

			value[r * n + i] = is_coarse ? floor(x / 3) : x;
		}
	}
	for (size_t i = 0; i < n && uniform() < 0.1; i++)
		value[i] = 3;
}

static void
check_enumerated(int trials)
{
	double p[ROWS], adjusted[ROWS];
	int sure = 0;

	for (int trial = 0; trial < trials; trial++) {
		const size_t n = trial % 3 == 0 ? 10 : trial % 3 == 1 ? 12 : 9;
		const size_t rows = 1 + prof_random_below(&rng, ROWS);
		const double *time = trial % 4 == 3 ? NULL : when;

		design(n, n == 12 ? 4 : n);
		fill(n, rows);
		enumerate(n, rows, time, p, adjusted);
		test(n, rows, time, 0.03);
		for (size_t r = 0; r < rows; r++) {
			if (fabs(effect[r].ef_p - p[r]) > 1e-9 ||
			    fabs(effect[r].ef_adjusted - adjusted[r]) > 1e-9)
				printf("trial %d, row %zu of %zu: %g %g, not "
				    "%g %g\n", trial, r, rows, effect[r].ef_p,
				    effect[r].ef_adjusted, p[r], adjusted[r]);
			truth(fabs(effect[r].ef_p - p[r]) <= 1e-9 &&
			    fabs(effect[r].ef_adjusted - adjusted[r]) <= 1e-9,
			    "as enumerated");
			sure += effect[r].ef_is_sure;
		}
	}
	printf("ok: %d families as enumerated, %d rows changed\n", trials,
	    sure);
}

/* Just inside an end of the interval no difference is found, outside it is. */
static void
check_inverted(int trials)
{
	const double alpha = 0.03;

	for (int trial = 0; trial < trials; trial++) {
		const size_t n = trial % 2 == 0 ? 10 : 16;
		double ends[2], width;

		design(n, n == 10 ? 10 : 4);
		fill(n, 1);
		test(n, 1, when, alpha);
		if (effect[0].ef_shift == 0 || isnan(effect[0].ef_interval[0]))
			continue;
		memcpy(ends, effect[0].ef_interval, sizeof(ends));
		width = ends[1] - ends[0];
		for (int k = 0; k < 4 && width > 1e-6; k++) {
			const double off = (k % 2 ? 1e-6 : -1e-6) * width;
			const double x = ends[k / 2] + off;
			const bool is_in = (k % 2 == 1) == (k / 2 == 0);

			for (size_t i = 0; i < n; i++)
				value[i] -= x * side[i];
			test(n, 1, when, alpha);
			truth((effect[0].ef_p > alpha) == is_in ||
			    fabs(x) < width * 1e-3,
			    "the interval inverts the test");
			for (size_t i = 0; i < n; i++)
				value[i] += x * side[i];
		}
	}
	printf("ok: intervals invert the test\n");
}

/* 31 of 400 failures of 5 in 100, and what chance adds. */
static void
check_held(size_t runs, size_t in_block, bool do_change, int trials)
{
	const size_t n = 2 * runs;
	int missed = 0, called = 0;

	for (int trial = 0; trial < trials; trial++) {
		double shift[ROWS];
		bool is_in = true, any = false;

		design(n, in_block);
		for (size_t r = 0; r < ROWS; r++) {
			shift[r] = do_change ? 4 * normal() : 0;
			for (size_t i = 0; i < n; i++)
				value[r * n + i] = shift[r] * side[i] +
				    normal() + (i > n / 2 ? 2 : 0);
		}
		test(n, ROWS, when, 0.05);
		for (size_t r = 0; r < ROWS; r++) {
			is_in = is_in &&
			    !(effect[r].ef_interval[0] > shift[r] ||
			    effect[r].ef_interval[1] < shift[r]);
			any = any || (effect[r].ef_is_sure &&
			    (shift[r] == 0 || shift[r] * effect[r].ef_shift <
			    0));
		}
		missed += !is_in;
		called += any;
	}
	printf("%zu and %zu runs with a step, shifts %s: of %d families %d "
	    "miss one, %d claim what is not so\n", runs, runs, do_change ?
	    "in all rows" : "in none", trials, missed, called);
	truth(missed <= at_most(trials), "intervals hold the truth");
	truth(called <= at_most(trials), "false claims");
}

static void
check_drawn(void)
{
	struct prof_effect first;

	design(RUNS, 4);
	fill(RUNS, 1);
	test(RUNS, 1, when, 0.05);
	first = effect[0];
	test(RUNS, 1, when, 0.05);
	truth(memcmp(&first, effect, sizeof(first)) == 0, "the same again");
	for (size_t i = 0; i < RUNS; i++)
		value[i] += 100 * side[i];
	test(RUNS, 1, when, 0.05);
	truth(effect[0].ef_p > 0 && effect[0].ef_p < 1e-4,
	    "of drawn orders what was seen is one");
	printf("ok: drawn orders\n");
}

static void
check_odd(void)
{
	design(10, 10);
	for (size_t i = 0; i < 10; i++) {
		value[i] = 3;
		value[10 + i] = 1e300 * (side[i] ? 1 : -1);
		value[20 + i] = i < 3 ? NAN : side[i] * 2 + (double)i / 100;
		value[30 + i] = side[i] ? NAN : 1;
		value[40 + i] = i == 4 ? INFINITY : side[i];
		value[50 + i] = 5e-324 * (double)(i % 3);
	}
	test(10, 6, when, 0.03);
	truth(effect[0].ef_p == 1 && effect[0].ef_shift == 0 &&
	    effect[0].ef_interval[0] == 0 && effect[0].ef_interval[1] == 0,
	    "what is constant has not changed");
	truth(effect[1].ef_is_sure && effect[1].ef_shift > 0, "huge values");
	truth(effect[2].ef_shift > 0, "missing values");
	truth(isnan(effect[3].ef_p) && !effect[3].ef_is_sure,
	    "one side has nothing");
	truth(effect[4].ef_shift > 0.9, "an endless value is left out");
	truth(!effect[5].ef_is_sure, "tiny values");
	test(3, 1, when, 0.03);
	truth(isnan(effect[0].ef_p), "three runs, four unknowns");
	printf("ok: odd values\n");
}

int
main(int argc, char **argv)
{
	const int trials = argc > 1 ? atoi(argv[1]) :
	    getenv("LOOPS") != NULL ? 40 : 100;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261125;

	printf("seed %llu\n", (unsigned long long)seed);
	prof_random_seed(&rng, seed);
	check_enumerated(trials);
	check_inverted(trials);
	for (int change = 0; change < 2; change++) {
		check_held(5, 10, change, 4 * trials);
		check_held(6, 4, change, 4 * trials);
	}
	check_drawn();
	check_odd();
	return (0);
}
