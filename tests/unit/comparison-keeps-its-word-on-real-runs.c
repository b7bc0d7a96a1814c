/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of comparisons drawn from pools of real runs (quiet; 10 % slower
 * at the end; beside a busy loop on each CPU; with the loops beginning amid the
 * series; with heavy tails; in two modes; autocorrelated; a command of 1 ms)
 * equals are called changed in no more than stated, with 5, 6, 8, 10 and 15
 * runs a side; a function of 10 % that takes half as long again is named with
 * 5, one that adds 2 % of the total with 10; and never is what costs more said
 * to cost less.  What Welch's test and hyperfine say of the same runs stands
 * beside it.  The same of a drift, a step, tails, modes and autocorrelation
 * that are modelled on top of the quiet pool, harsher than what was recorded.
 *
 * Easy to get wrong: noise that is not independent from run to run, as that of
 * real machines; a correction for forty functions that leaves no power.
 *
 * The pools are in tests/bench/pools, made by tests/bench/compare_pools.py.
 * Arguments: trials of a cell (400 in accept/compare-real-runs), seed, a world
 * by its number, for that alone: each cell has random numbers of its own.
 */
#include "compare/statistics.h"
#include "trials.h"

#define FUNCTIONS	40
#define METRICS		6
#define TIMES		3	/* of the metrics; the others are counts */
#define MAX_POOL	500
#define MAX_SERIES	20
#define MAX_POOLS	10
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
	/* Where series begin that were recorded as such; and the end. */
	size_t		pl_series[MAX_SERIES + 1];
	size_t		pl_nseries;
};

/* What happens to the runs of a pool. */
enum change { AS_RECORDED, DRIFT, STEP, TAILS, MODES, CHAIN };

/* What runs are drawn from; the first four are those of the pooled rate. */
static const struct world {
	const char	*wo_name;
	const char	*wo_pool;
	enum change	 wo_change;
} worlds[] = {
	{ "quiet", "quiet", AS_RECORDED },
	{ "10 % drift", "drift", AS_RECORDED },
	{ "two hogs", "hogs", AS_RECORDED },
	{ "a step", "step", AS_RECORDED },
	{ "heavy tails", "tails", AS_RECORDED },
	{ "two modes", "modes", AS_RECORDED },
	{ "autocorrelated", "chain", AS_RECORDED },
	{ "1 ms", "short", AS_RECORDED },
	{ "10 % drift, modelled", "quiet", DRIFT },
	{ "a step, modelled", "quiet", STEP },
	{ "heavy tails, modelled", "quiet", TAILS },
	{ "two modes, modelled", "quiet", MODES },
	{ "autocorrelated, modelled", "quiet", CHAIN },
};
#define NWORLDS		(sizeof(worlds) / sizeof(worlds[0]))
#define POOLED		4
#define RECORDED	8
enum { W_QUIET, W_DRIFT, W_HOGS };	/* where something is planted */

struct series {
	size_t		sr_n;		/* runs */
	uint8_t		sr_side[MAX_RUNS];
	uint32_t	sr_block[MAX_RUNS];
	struct run	sr_run[MAX_RUNS];
};

/* What other tools say of the wall times of the same runs. */
struct others {
	int	ot_welch;
	int	ot_hyperfine;
	int	ot_sequential;	/* Welch, the first half against the rest */
};

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

/* "--" begins a series that was recorded as one. */
static void
pool_line(struct pool *pool, char *line)
{
	if (strcmp(line, "--\n") == 0) {
		truth(pool->pl_nseries < MAX_SERIES, "too many series");
		pool->pl_series[pool->pl_nseries++] = pool->pl_n;
	} else if (line[0] != '#') {
		truth(pool->pl_n < MAX_POOL, "too many runs");
		run_read(&pool->pl_run[pool->pl_n++], line);
	}
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
		pool_line(pool, line);
	fclose(file);
	pool->pl_series[pool->pl_nseries] = pool->pl_n;
}

/* Read when it is first asked for. */
static const struct pool *
pool_of(const char *name)
{
	static struct pool pools[MAX_POOLS];
	static const char *names[MAX_POOLS];
	size_t n = 0;

	while (n < MAX_POOLS && names[n] != NULL && strcmp(names[n], name) !=
	    0)
		n++;
	truth(n < MAX_POOLS, "too many pools");
	if (names[n] == NULL)
		pool_read(&pools[n], name);
	names[n] = name;
	return (&pools[n]);
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

static bool
is_kind(const struct series *sr, size_t i, const struct run *run,
    const char *new)
{
	return (strcmp(run->rn_kind, sr->sr_side[i] ? new : "base") == 0);
}

/*
 * Runs of the wanted kinds, each after the one before, from a place drawn at
 * random: what one run has to do with the next is kept.
 */
static bool
try_stretch(struct series *sr, const struct pool *pool, const char *new,
    size_t from, size_t to)
{
	size_t at = (size_t)prof_random_below(&rng, pool->pl_n);

	for (size_t i = from; i < to; i++, at++) {
		while (at < pool->pl_n && !is_kind(sr, i, &pool->pl_run[at],
		    new))
			at++;
		if (at >= pool->pl_n)
			return (false);
		sr->sr_run[i] = pool->pl_run[at];
	}
	return (true);
}

/*
 * Runs of one recorded series in its order, some left out at random; most of
 * the series lies between the first and the last.
 */
static bool
try_whole(struct series *sr, const struct pool *pool, const char *new)
{
	const size_t number = (size_t)prof_random_below(&rng,
	    pool->pl_nseries);
	const size_t begin = pool->pl_series[number];
	const size_t end = pool->pl_series[number + 1];
	const double rate = uniform();
	size_t i = 0, first = end, at;

	for (at = begin; at < end && i < sr->sr_n; at++) {
		if (!is_kind(sr, i, &pool->pl_run[at], new) ||
		    uniform() > rate)
			continue;
		first = i == 0 ? at : first;
		sr->sr_run[i++] = pool->pl_run[at];
	}
	return (i == sr->sr_n &&
	    (double)(at - first) >= 0.75 * (double)(end - begin));
}

static void
take(struct series *sr, const struct pool *pool, const char *new,
    size_t from, size_t to)
{
	int tries = 0;

	while (pool->pl_nseries > 0 ? !try_whole(sr, pool, new) :
	    !try_stretch(sr, pool, new, from, to))
		truth(++tries < 100000, "the pool is too small");
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
change_run(struct run *run, enum change change, double place, double level)
{
	if (change == DRIFT)
		scale(run, 1 + 0.1 * place);
	/* Student's t with two degrees of freedom. */
	if (change == TAILS)
		scale(run, exp(0.02 * normal() / sqrt(-log(1 - uniform()))));
	if (change == MODES && uniform() < 0.5)
		other_mode(run);
	if (change == CHAIN)
		scale(run, exp(level));
}

static void
make_series(struct series *sr, const struct world *world, size_t runs,
    const char *new)
{
	double level = normal() * 0.03;
	size_t step;

	sr->sr_n = 2 * runs;
	deal_as_bench(runs, sr->sr_side, sr->sr_block);
	step = world->wo_change == STEP ? 1 +
	    (size_t)prof_random_below(&rng, sr->sr_n - 1) : sr->sr_n;
	take(sr, pool_of(world->wo_pool), new, 0, step);
	if (step < sr->sr_n)
		take(sr, pool_of("hogs"), new, step, sr->sr_n);
	for (size_t i = 0; i < sr->sr_n; i++) {
		change_run(&sr->sr_run[i], world->wo_change, (double)i /
		    (double)(sr->sr_n - 1), level);
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
ask_others(const struct series *sr, struct others *ot)
{
	double value[2][MAX_RUNS], in_turn[MAX_RUNS], t, df;
	size_t n[2] = { 0, 0 };
	const size_t half = sr->sr_n / 2;

	for (size_t i = 0; i < sr->sr_n; i++) {
		const int s = sr->sr_side[i];

		value[s][n[s]++] = in_turn[i] = sr->sr_run[i].rn_metric[0];
	}
	ot->ot_welch += prof_welch(value[0], n[0], value[1], n[1], &t, &df) <
	    0.05;
	ot->ot_hyperfine += hyperfine_says(value[0], n[0], value[1], n[1]);
	ot->ot_sequential += prof_welch(in_turn, half, in_turn + half, half,
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

static uint64_t seed;
static size_t first_world, end_world = NWORLDS;

struct cell {
	struct tally	ce_ours;
	struct others	ce_theirs;
};

static struct cell
cell(size_t world, size_t runs, const char *new, const char *planted,
    int trials)
{
	struct cell cell = { 0 };
	struct series series;

	prof_random_seed(&rng, seed * 1000 + (world * MAX_RUNS + runs) * 2 +
	    (planted != NULL));
	for (int t = 0; t < trials; t++) {
		struct prof_comparison *cp;

		make_series(&series, &worlds[world], runs, new);
		cp = compare(&series);
		judge(cp, planted, 1, &cell.ce_ours);
		ask_others(&series, &cell.ce_theirs);
		prof_comparison_free(cp);
	}
	return (cell);
}

static void
equals(int trials, bool is_full)
{
	static const size_t runs[] = { 5, 6, 8, 10, 15 };
	int all = 0, called = 0;

	for (size_t w = first_world; w < end_world; w++)
		for (size_t r = 0; r < sizeof(runs) / sizeof(*runs); r++) {
			/* Of few, fewer beside what was recorded. */
			const int n = w < RECORDED || is_full ? trials :
			    trials / 4;
			struct cell ce;

			/* Most of the time goes there. */
			if (runs[r] == 15 && !is_full)
				continue;
			ce = cell(w, runs[r], "base", NULL, n);
			printf("equals, %s, %zu runs: %d of %d have anything "
			    "called changed; Welch %d, hyperfine %d, one "
			    "after the other %d\n", worlds[w].wo_name,
			    runs[r], ce.ce_ours.ta_called, n,
			    ce.ce_theirs.ot_welch, ce.ce_theirs.ot_hyperfine,
			    ce.ce_theirs.ot_sequential);
			fflush(stdout);
			/* Of few trials just the sum tells. */
			truth(!is_full || ce.ce_ours.ta_called <= at_most(n),
			    "too many equals are called changed");
			if (w >= POOLED)
				continue;
			all += n;
			called += ce.ce_ours.ta_called;
		}
	printf("equals of the first four: %d of %d\n", called, all);
	truth(called <= at_most(all), "too many in all");
}

/* What is planted is named, in so many of 100 at least. */
static void
planted(size_t world, size_t runs, const char *new, int least, int trials)
{
	const char *name = strcmp(new, "half") == 0 ? "f10" : "f25";
	const struct tally *ta;
	struct cell ce;

	if (world < first_world || world >= end_world)
		return;
	ce = cell(world, runs, new, name, trials);
	ta = &ce.ce_ours;
	printf("planted %s, %s, %zu runs: named in %d of %d, another in %d; "
	    "wrong sign %d; Welch of the whole %d, hyperfine %d\n", new,
	    worlds[world].wo_name, runs, ta->ta_named, trials, ta->ta_others,
	    ta->ta_wrong, ce.ce_theirs.ot_welch, ce.ce_theirs.ot_hyperfine);
	fflush(stdout);
	truth(ta->ta_wrong == 0, "what costs more is said to cost less");
	truth(ta->ta_named >= trials * least / 100,
	    "the planted function is named");
	truth(ta->ta_others <= at_most(trials), "another function is named");
}

int
main(int argc, char **argv)
{
	const int trials = argc > 1 ? atoi(argv[1]) :
	    getenv("LOOPS") != NULL ? 4 : 12;
	const bool is_full = trials >= 100;
	const int many = is_full ? 250 : 10;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261125;
	if (argc > 3) {
		first_world = (size_t)atoi(argv[3]) % NWORLDS;
		end_world = first_world + 1;
	}
	printf("seed %llu; at least %.0f samples a run, %.0f drifting, %.0f "
	    "beside hogs\n", (unsigned long long)seed,
	    least_samples(pool_of("quiet")), least_samples(pool_of("drift")),
	    least_samples(pool_of("hogs")));
	truth(least_samples(pool_of("quiet")) >= 2000 &&
	    least_samples(pool_of("drift")) >= 2000, "2,000 samples a run");
	planted(W_QUIET, 5, "half", 90, many);
	planted(W_QUIET, 10, "two", 90, many);
	planted(W_DRIFT, 10, "two", 90, many);
	/* Not promised; of what is known. */
	planted(W_DRIFT, 5, "half", 75, many);
	planted(W_HOGS, 5, "half", 50, many);
	planted(W_HOGS, 10, "two", 50, many);
	equals(trials, is_full);
	return (0);
}
