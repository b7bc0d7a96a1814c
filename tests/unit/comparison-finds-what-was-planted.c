/*
 * ASSERTION: in simulated runs with 40 functions, equals are called changed
 * in no more comparisons than stated, also when times drift; one function
 * that makes the total grow by 2 % is named, and no other; a speed-up that a
 * slow-down balances shows both and a total that is the same.  The same
 * drifting data in sequential order is called changed: that is what blocks
 * are for.
 *
 * Easy to get wrong: forty tests at 5 % each, shares that fall because
 * another function grew, an interval that is too narrow for few runs.
 */
/* SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof.h"
#include "analysis/statistics.h"

#define FUNCTIONS	40
#define RUNS		10	/* a side */
#define SAMPLES		3000	/* in a run */

/* What is simulated. */
struct world {
	double	wo_noise;	/* of the speed of a whole run */
	double	wo_drift;	/* from the first run to the last */
	double	wo_grow[FUNCTIONS]; /* of the total, on the new side */
	bool	wo_sequential;	/* all of the base, then all of the new */
};

/* What came of it. */
struct outcome {
	int	oc_called;	/* functions and metrics called changed */
	bool	oc_named[FUNCTIONS];
	enum prof_verdict oc_total;
	enum prof_verdict oc_wall;
};

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

static double
poisson(double mean)
{
	const double limit = exp(-mean);
	double n = 0, product = uniform();

	if (mean > 50)
		return (fmax(0, round(mean + sqrt(mean) * normal())));
	for (; product > limit; n++)
		product *= uniform();
	return (n);
}

/* From 0.1 % to 8 %: as real profiles are. */
static double
weight_of(int f)
{
	static double sum;

	if (sum == 0)
		for (int i = 0; i < FUNCTIONS; i++)
			sum += pow(0.9, i);
	return (pow(0.9, f) / sum);
}

/* Blocks of four, two of each side, in an order drawn by chance. */
static void
plan(const struct world *world, int *side, uint32_t *block)
{
	for (int i = 0; i < 2 * RUNS; i += 4) {
		uint32_t order[4];

		prof_shuffle(prof_random_next(&rng), order, 4);
		for (int k = 0; k < 4; k++) {
			side[i + k] = order[k] % 2;
			block[i + k] = (uint32_t)i / 4;
		}
	}
	for (int i = 0; world->wo_sequential && i < 2 * RUNS; i++) {
		side[i] = i / RUNS;
		block[i] = 0;
	}
}

static void
simulate_run(struct prof_comparison *cp, const struct world *world, long run,
    int side)
{
	const double speed = (1 + world->wo_drift * (double)run /
	    (2 * RUNS - 1)) * exp(world->wo_noise * normal());
	double wall = 0;
	char name[32];

	for (int f = 0; f < FUNCTIONS; f++) {
		const double cost = weight_of(f) +
		    (side == 1 ? world->wo_grow[f] : 0);

		wall += cost * speed;
		snprintf(name, sizeof(name), "f%d%s", f,
		    side == 1 && f % 3 == 0 ? ".constprop.0" : "");
		prof_comparison_cost(cp, run, name, "/bin/prog", 0,
		    poisson(cost * speed * SAMPLES) * 1e6);
	}
	prof_comparison_value(cp, run, "wall", "s", wall);
	prof_comparison_value(cp, run, "faults", "", 100 +
	    floor(3 * uniform()));
}

static struct outcome
trial(const struct world *world)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	struct prof_comparison *cp = prof_comparison_new(&options, NULL);
	struct outcome outcome = { 0 };
	int side[2 * RUNS];
	uint32_t block[2 * RUNS];

	plan(world, side, block);
	for (int i = 0; i < 2 * RUNS; i++)
		truth(prof_comparison_run(cp, side[i], block[i],
		    world->wo_sequential ? -1 : i) == i, "run");
	for (int i = 0; i < 2 * RUNS; i++)
		simulate_run(cp, world, i, side[i]);
	truth(prof_comparison_finish(cp) == 0, "finish");
	truth(prof_comparison_nfunctions(cp) == FUNCTIONS,
	    "functions are matched across builds");
	for (size_t n = 0; n < FUNCTIONS; n++) {
		const struct prof_change *cg = prof_comparison_function(cp, n);

		if (cg->cg_verdict < PROF_VERDICT_LESS)
			continue;
		outcome.oc_called++;
		outcome.oc_named[atoi(cg->cg_name + 1)] = true;
	}
	outcome.oc_total = prof_comparison_total(cp)->cg_verdict;
	outcome.oc_wall = prof_comparison_metric(cp, 0)->cg_verdict;
	outcome.oc_called += outcome.oc_total >= PROF_VERDICT_LESS;
	for (size_t n = 0; n < prof_comparison_nmetrics(cp); n++)
		outcome.oc_called += prof_comparison_metric(cp,
		    n)->cg_verdict >= PROF_VERDICT_LESS;
	prof_comparison_free(cp);
	return (outcome);
}

/* How many of the trials call anything changed. */
static int
alarms(const struct world *world, int trials)
{
	int n = 0;

	for (int i = 0; i < trials; i++)
		n += trial(world).oc_called > 0;
	return (n);
}

static void
equals(int trials)
{
	struct world world = { .wo_noise = 0.01 };
	int n, drifting, fooled;

	n = alarms(&world, trials);
	world.wo_drift = 0.1;
	drifting = alarms(&world, trials);
	world.wo_sequential = true;
	fooled = alarms(&world, trials);
	printf("equals called changed: %d of %d; %d when drifting by 10 %%; "
	    "%d when drifting in sequential order\n", n, trials, drifting,
	    fooled);
	/* 5 in 100, and what chance adds: 31 of 400. */
	truth(n <= trials / 20.0 + 2.5 * sqrt(trials / 20.0), "equals");
	truth(drifting <= trials / 20.0 + 2.5 * sqrt(trials / 20.0),
	    "drifting");
	truth(fooled >= trials * 8 / 10, "sequential order is fooled");
}

static void
planted(double growth, int trials, int least)
{
	struct world world = { .wo_noise = 0.01 };
	int named = 0, others = 0;

	for (int i = 0; i < trials; i++) {
		const int f = 5 + i % 20;
		struct outcome outcome;
		bool other = false;

		memset(world.wo_grow, 0, sizeof(world.wo_grow));
		world.wo_grow[f] = growth;
		outcome = trial(&world);
		named += outcome.oc_named[f];
		for (int g = 0; g < FUNCTIONS; g++)
			other = other || (g != f && outcome.oc_named[g]);
		others += other;
	}
	printf("+%.0f %% by one function: named in %d of %d, another in %d\n",
	    100 * growth, named, trials, others);
	truth(named >= least, "the planted function is named");
	truth(others <= trials / 10, "no other function is named");
}

static void
balanced(int trials)
{
	struct world world = { .wo_noise = 0.003 };
	int both = 0, same = 0;

	world.wo_grow[4] = -0.02;
	world.wo_grow[9] = 0.02;
	for (int i = 0; i < trials; i++) {
		const struct outcome outcome = trial(&world);

		both += outcome.oc_named[4] && outcome.oc_named[9];
		same += outcome.oc_wall == PROF_VERDICT_SAME;
	}
	printf("balanced: both named in %d of %d, total the same in %d\n",
	    both, trials, same);
	truth(both >= trials * 9 / 10 && same >= trials * 9 / 10, "balance");
}

int
main(int argc, char **argv)
{
	/* More: cli/compare-simulated-trials; 400: accept. */
	const int trials = argc > 1 ? atoi(argv[1]) :
	    getenv("LOOPS") != NULL ? 5 : 10;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261121;

	printf("seed %llu\n", (unsigned long long)seed);
	prof_random_seed(&rng, seed);
	equals(trials);
	planted(0.02, trials, trials * 9 / 10);
	planted(0.05, trials, trials * 99 / 100);
	balanced(trials / 2);
	return (0);
}
