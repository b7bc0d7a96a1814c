/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of comparisons drawn from pools of real runs (quiet, 10 % slower
 * at the end, beside a busy loop on each CPU, with the loops beginning amid
 * the series; with heavy tails, two modes, autocorrelation; a command of 1 ms)
 * equals are called changed in no more than stated, with 5, 6, 8, 10 and 15
 * runs a side; a function of 10 % that takes half as long again is named with
 * 5, one that adds 2 % of the total with 10; and never is what costs more said
 * to cost less.  What Welch's test and hyperfine say of the same runs stands
 * beside it.
 *
 * Easy to get wrong: noise that is not independent from run to run, as that of
 * real machines; a correction for forty functions that leaves no power.
 *
 * The pools are in tests/bench/pools, made by tests/bench/compare_pools.py.
 * Arguments: trials of a cell (400 in accept/compare-real-runs), seed.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "analysis/statistics.h"

#define FUNCTIONS	40
#define METRICS		6
#define TIMES		3	/* of the metrics; the others are counts */
#define MAX_POOL	500
#define MAX_RUNS	30
#define HEAP		5	/* functions that have two modes: one in five */

struct run {
	char	rn_kind[8];
	bool	rn_has_costs;
	double	rn_metric[METRICS];
	double	rn_cost[FUNCTIONS];
};

struct pool {
	struct run	pl_run[MAX_POOL];
	size_t		pl_n;
};

/* What runs are drawn from, and what happens to them. */
enum world {
	QUIET, DRIFT, HOGS, STEP, TAILS, MODES, CHAIN, SHORT, NWORLDS
};
static const char *const world_name[NWORLDS] = {
	"quiet", "10 % drift", "two hogs", "a step", "heavy tails",
	"two modes", "autocorrelated", "1 ms"
};

struct series {
	size_t		sr_n;		/* runs */
	int		sr_side[MAX_RUNS];
	uint32_t	sr_block[MAX_RUNS];
	struct run	sr_run[MAX_RUNS];
};

struct tally {
	int	ta_called;	/* anything at all */
	int	ta_named;	/* the planted function */
	int	ta_others;	/* another one */
	int	ta_wrong;	/* less, of what costs more */
	int	ta_welch;	/* of wall time */
	int	ta_hyperfine;
	int	ta_sequential;	/* Welch, the first half against the rest */
};

static struct pool quiet, hogs, brief;
static struct prof_random rng;

static void
truth(bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAIL: %s\n", what);
	exit(1);
}

static double
uniform(void)
{
	return ((double)(prof_random_next(&rng) >> 11) * 0x1p-53);
}

static double
normal(void)
{
	return (sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform()));
}

/* ---------------------------------------------------------------- pools */

static void
run_read(struct run *run, char *line)
{
	char *word = strtok(line, " \n");

	truth(word != NULL, "an empty line");
	snprintf(run->rn_kind, sizeof(run->rn_kind), "%s", word);
	for (int m = 0; m < METRICS; m++) {
		word = strtok(NULL, " \n");
		truth(word != NULL, "a metric is missing");
		run->rn_metric[m] = strtod(word, NULL);
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		word = strtok(NULL, " \n");
		truth(word != NULL, "a function is missing");
		if (strcmp(word, "-") == 0)
			return;
		run->rn_cost[f] = strtod(word, NULL);
	}
	run->rn_has_costs = true;
}

static void
pool_read(struct pool *pool, const char *name)
{
	const char *src = getenv("SRC");
	char path[4096], line[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/bench/pools/%s.txt", src !=
	    NULL ? src : ".", name);
	file = fopen(path, "re");
	truth(file != NULL, path);
	while (fgets(line, sizeof(line), file) != NULL)
		if (line[0] != '#' && pool->pl_n < MAX_POOL)
			run_read(&pool->pl_run[pool->pl_n++], line);
	fclose(file);
}

static double
samples_of(const struct run *run)
{
	double sum = 0;

	for (int f = 0; f < FUNCTIONS; f++)
		sum += run->rn_cost[f];
	return (sum);
}

static double
least_samples(const struct pool *pool)
{
	double least = INFINITY;

	for (size_t i = 0; i < pool->pl_n; i++)
		least = fmin(least, samples_of(&pool->pl_run[i]));
	return (least);
}

/* --------------------------------------------------------------- series */

/* As bench: up to five runs of each are one block, else two of each. */
static void
deal(struct series *sr, size_t runs)
{
	uint32_t order[MAX_RUNS];
	size_t in_block = runs <= 5 ? 2 * runs : 4;

	sr->sr_n = 2 * runs;
	for (size_t i = 0; i < sr->sr_n; i += in_block) {
		if (sr->sr_n - i < in_block)
			in_block = sr->sr_n - i;
		prof_shuffle(prof_random_next(&rng), order, in_block);
		for (size_t k = 0; k < in_block; k++) {
			sr->sr_side[i + k] = order[k] % 2;
			sr->sr_block[i + k] = (uint32_t)i;
		}
	}
}

/*
 * Runs of the wanted kinds, each after the one before, from a place drawn at
 * random: what one run has to do with the next is kept.
 */
static bool
try_series(struct series *sr, const struct pool *pool, const char *new,
    size_t from, size_t to)
{
	size_t at = (size_t)prof_random_below(&rng, pool->pl_n);

	for (size_t i = from; i < to; i++, at++) {
		const char *kind = sr->sr_side[i] ? new : "base";

		while (at < pool->pl_n && strcmp(pool->pl_run[at].rn_kind,
		    kind) != 0)
			at++;
		if (at >= pool->pl_n)
			return (false);
		sr->sr_run[i] = pool->pl_run[at];
	}
	return (true);
}

static void
take(struct series *sr, const struct pool *pool, const char *new,
    size_t from, size_t to)
{
	int tries = 0;

	while (!try_series(sr, pool, new, from, to))
		truth(++tries < 10000, "the pool is too small");
}

static void
scale(struct run *run, double factor)
{
	for (int m = 0; m < TIMES; m++)
		run->rn_metric[m] *= factor;
	for (int f = 0; f < FUNCTIONS; f++)
		run->rn_cost[f] *= factor;
}

/* Some functions are slower in this run: compiled otherwise. */
static void
other_mode(struct run *run)
{
	const double before = samples_of(run);

	for (int f = 0; f < FUNCTIONS; f += HEAP)
		run->rn_cost[f] *= 1.3;
	for (int m = 0; m < TIMES; m++)
		run->rn_metric[m] *= samples_of(run) / before;
}

static void
make_series(struct series *sr, enum world world, size_t runs,
    const char *new)
{
	const struct pool *pool = world == HOGS ? &hogs :
	    world == SHORT ? &brief : &quiet;
	double level = normal() * 0.03;
	size_t step;

	deal(sr, runs);
	step = world == STEP ? 1 + (size_t)prof_random_below(&rng,
	    sr->sr_n - 1) : sr->sr_n;
	take(sr, pool, new, 0, step);
	take(sr, &hogs, new, step, sr->sr_n);
	for (size_t i = 0; i < sr->sr_n; i++) {
		struct run *run = &sr->sr_run[i];

		if (world == DRIFT)
			scale(run, 1 + 0.1 * (double)i /
			    (double)(sr->sr_n - 1));
		/* Student's t with two degrees of freedom. */
		if (world == TAILS)
			scale(run, exp(0.02 * normal() / sqrt(-log(1 -
			    uniform()))));
		if (world == MODES && uniform() < 0.5)
			other_mode(run);
		if (world == CHAIN)
			scale(run, exp(level));
		level = 0.9 * level + 0.03 * sqrt(1 - 0.81) * normal();
	}
}

/* ---------------------------------------------------------- other tools */

/* hyperfine: one is "faster" where the ratio is above 1 by its error. */
static bool
hyperfine_says(const double *x, size_t n, const double *y, size_t m)
{
	struct prof_summary a, b;
	double ratio, error;

	prof_summarize(x, n, &a);
	prof_summarize(y, m, &b);
	ratio = a.sm_mean > b.sm_mean ? a.sm_mean / b.sm_mean :
	    b.sm_mean / a.sm_mean;
	error = ratio * hypot(a.sm_stddev / a.sm_mean, b.sm_stddev /
	    b.sm_mean);
	return (ratio - error > 1);
}

static void
ask_others(const struct series *sr, struct tally *ta)
{
	double value[2][MAX_RUNS], in_turn[MAX_RUNS], t, df;
	size_t n[2] = { 0, 0 };
	const size_t half = sr->sr_n / 2;

	for (size_t i = 0; i < sr->sr_n; i++) {
		const int s = sr->sr_side[i];

		value[s][n[s]++] = in_turn[i] = sr->sr_run[i].rn_metric[0];
	}
	ta->ta_welch += prof_welch(value[0], n[0], value[1], n[1], &t, &df) <
	    0.05;
	ta->ta_hyperfine += hyperfine_says(value[0], n[0], value[1], n[1]);
	ta->ta_sequential += prof_welch(in_turn, half, in_turn + half, half,
	    &t, &df) < 0.05;
}

/* --------------------------------------------------------------- trials */

static struct prof_comparison *
compare(const struct series *sr)
{
	static const char *const names[METRICS] = { "wall", "user", "system",
	    "minor_faults", "voluntary_switches", "involuntary_switches" };
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = prof_random_next(&rng)
	};
	struct prof_comparison *cp = prof_comparison_new(&options, NULL);
	char name[16];

	for (size_t i = 0; i < sr->sr_n; i++) {
		const struct run *run = &sr->sr_run[i];
		const long number = prof_comparison_run(cp, sr->sr_side[i],
		    sr->sr_block[i], (long)i);

		for (int m = 0; m < METRICS; m++)
			prof_comparison_value(cp, number, names[m],
			    m < TIMES ? "s" : "", run->rn_metric[m]);
		for (int f = 0; f < FUNCTIONS && run->rn_has_costs; f++) {
			snprintf(name, sizeof(name), "f%d", f + 10);
			prof_comparison_cost(cp, number, name, "forty", 0,
			    run->rn_cost[f]);
		}
	}
	truth(prof_comparison_finish(cp) == 0, "finish");
	return (cp);
}

/* Verdict and interval agree, of everything. */
static bool
is_called(const struct prof_change *cg)
{
	const bool is = cg->cg_verdict >= PROF_VERDICT_LESS;
	const bool has_0 = !(cg->cg_ci95[0] > 0 || cg->cg_ci95[1] < 0);

	truth(isnan(cg->cg_ci95[0]) || is != has_0,
	    "an interval contradicts its verdict");
	truth(!is || (cg->cg_verdict == PROF_VERDICT_MORE) ==
	    (cg->cg_change > 0), "a change contradicts its verdict");
	return (is);
}

static void
judge(const struct prof_comparison *cp, const char *planted,
    struct tally *ta)
{
	const struct prof_change *cg = prof_comparison_total(cp);
	bool called = cg != NULL && is_called(cg), other = false;

	if (cg != NULL && planted != NULL)
		ta->ta_wrong += cg->cg_verdict == PROF_VERDICT_LESS;
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		called = is_called(prof_comparison_metric(cp, i)) || called;
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++) {
		cg = prof_comparison_function(cp, i);
		if (!is_called(cg))
			continue;
		called = true;
		if (planted == NULL || strcmp(cg->cg_name, planted) != 0)
			other = true;
		else if (cg->cg_verdict == PROF_VERDICT_MORE)
			ta->ta_named++;
		else
			ta->ta_wrong++;
	}
	ta->ta_called += called;
	ta->ta_others += other;
}

static struct tally
cell(enum world world, size_t runs, const char *new, const char *planted,
    int trials)
{
	struct tally tally = { 0 };
	struct series series;

	for (int t = 0; t < trials; t++) {
		struct prof_comparison *cp;

		make_series(&series, world, runs, new);
		cp = compare(&series);
		judge(cp, planted, &tally);
		ask_others(&series, &tally);
		prof_comparison_free(cp);
	}
	return (tally);
}

/* 31 of 400 and 450 of 8,000 of a rate of 5 in 100, and what chance adds. */
static int
at_most(int trials)
{
	return ((int)(trials * 0.05 + 2.5 * sqrt(trials * 0.05)));
}

static void
equals(int trials, bool is_full)
{
	static const size_t runs[] = { 5, 6, 8, 10, 15 };
	int all = 0, called = 0;

	for (enum world w = 0; w < NWORLDS; w++)
		for (size_t r = 0; r < sizeof(runs) / sizeof(*runs); r++) {
			struct tally ta;

			/* Most of the time goes there. */
			if (runs[r] == 15 && !is_full)
				continue;
			ta = cell(w, runs[r], "base", NULL, trials);
			printf("equals, %s, %zu runs: %d of %d have anything "
			    "called changed; Welch %d, hyperfine %d, one "
			    "after the other %d\n", world_name[w], runs[r],
			    ta.ta_called, trials, ta.ta_welch,
			    ta.ta_hyperfine, ta.ta_sequential);
			/* Of few trials just the sum tells. */
			truth(!is_full || ta.ta_called <= at_most(trials),
			    "too many equals are called changed");
			if (w > STEP)
				continue;
			all += trials;
			called += ta.ta_called;
		}
	printf("equals of the first four: %d of %d\n", called, all);
	truth(called <= at_most(all), "too many in all");
}

/* What is planted is named; beside hogs it is only printed. */
static int
planted(enum world world, size_t runs, const char *new, const char *name,
    int trials)
{
	const struct tally ta = cell(world, runs, new, name, trials);

	printf("planted %s, %s, %zu runs: named in %d of %d, another in %d; "
	    "wrong sign %d; Welch of the whole %d, hyperfine %d\n", new,
	    world_name[world], runs, ta.ta_named, trials, ta.ta_others,
	    ta.ta_wrong, ta.ta_welch, ta.ta_hyperfine);
	truth(ta.ta_wrong == 0, "what costs more is said to cost less");
	truth(world == HOGS || ta.ta_named >= trials * 9 / 10,
	    "the planted function is named");
	truth(ta.ta_others <= trials / 10, "another function is named");
	return (trials);
}

int
main(int argc, char **argv)
{
	const int trials = argc > 1 ? atoi(argv[1]) :
	    getenv("LOOPS") != NULL ? 4 : 12;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261125;
	const bool is_full = trials >= 100;
	const int many = is_full ? 250 : 10;

	prof_random_seed(&rng, seed);
	pool_read(&quiet, "quiet");
	pool_read(&hogs, "hogs");
	pool_read(&brief, "short");
	printf("seed %llu; at least %.0f samples a run, %.0f beside hogs\n",
	    (unsigned long long)seed, least_samples(&quiet),
	    least_samples(&hogs));
	truth(least_samples(&quiet) >= 2000, "2,000 samples a run");
	planted(QUIET, 5, "half", "f10", many);
	planted(DRIFT, 5, "half", "f10", many);
	planted(QUIET, 10, "two", "f25", many);
	planted(DRIFT, 10, "two", "f25", many);
	planted(HOGS, 5, "half", "f10", many);
	planted(HOGS, 10, "two", "f25", many);
	equals(trials, is_full);
	return (0);
}
