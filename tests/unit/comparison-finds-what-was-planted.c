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
#include "trials.h"

#define RUNS		10	/* a side */
#define SAMPLES		3000	/* in a run */

/* What is simulated. */
struct world {
	double	wo_noise;	/* of the speed of a whole run */
	double	wo_drift;	/* from the first run to the last */
	double	wo_grow[TRIAL_FUNCTIONS]; /* of the total, on the new side */
	bool	wo_sequential;	/* all of the base, then all of the new */
};

static void
simulate_run(struct prof_comparison *cp, const struct world *world, long run,
    int side)
{
	const double speed = (1 + world->wo_drift * (double)run /
	    (2 * RUNS - 1)) * exp(world->wo_noise * normal());
	double wall = 0;
	char name[32];

	for (int f = 0; f < TRIAL_FUNCTIONS; f++) {
		const double cost = trial_weight(f) +
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

/* The caller frees it. */
static struct prof_comparison *
trial(const struct world *world)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	struct prof_comparison *cp = prof_comparison_new(&options, NULL);
	uint8_t side[2 * RUNS];
	uint32_t block[2 * RUNS];

	deal_as_bench(RUNS, side, block);
	for (int i = 0; i < 2 * RUNS; i++) {
		if (world->wo_sequential)
			side[i] = i >= RUNS;
		truth(prof_comparison_run(cp, side[i], world->wo_sequential ?
		    0 : block[i], world->wo_sequential ? -1 : i) == i, "run");
	}
	for (int i = 0; i < 2 * RUNS; i++)
		simulate_run(cp, world, i, side[i]);
	truth(prof_comparison_finish(cp) == 0, "finish");
	truth(prof_comparison_nfunctions(cp) == TRIAL_FUNCTIONS,
	    "functions are matched across builds");
	return (cp);
}

/* How many of the trials call anything changed. */
static int
alarms(const struct world *world, int trials)
{
	struct tally tally = { 0 };

	for (int i = 0; i < trials; i++) {
		struct prof_comparison *cp = trial(world);

		judge(cp, NULL, 1, &tally);
		prof_comparison_free(cp);
	}
	return (tally.ta_called);
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
	truth(n <= at_most(trials), "equals");
	truth(drifting <= at_most(trials), "drifting");
	truth(fooled >= trials * 8 / 10, "sequential order is fooled");
}

static void
planted(double growth, int trials, int least)
{
	struct world world = { .wo_noise = 0.01 };
	struct tally tally = { 0 };

	for (int i = 0; i < trials; i++) {
		const int f = 5 + i % 20;
		struct prof_comparison *cp;
		char name[8];

		memset(world.wo_grow, 0, sizeof(world.wo_grow));
		world.wo_grow[f] = growth;
		snprintf(name, sizeof(name), "f%d", f);
		cp = trial(&world);
		judge(cp, name, 1, &tally);
		prof_comparison_free(cp);
	}
	printf("+%.0f %% by one function: named in %d of %d, another in %d, "
	    "wrong sign in %d\n", 100 * growth, tally.ta_named, trials,
	    tally.ta_others, tally.ta_wrong);
	truth(tally.ta_named >= least, "the planted function is named");
	truth(tally.ta_others <= trials / 10, "no other function is named");
	truth(tally.ta_wrong == 0, "the wrong sign");
}

static void
balanced(int trials)
{
	struct world world = { .wo_noise = 0.003 };
	int both = 0, same = 0;

	world.wo_grow[4] = -0.02;
	world.wo_grow[9] = 0.02;
	for (int i = 0; i < trials; i++) {
		struct prof_comparison *cp = trial(&world);
		struct tally less = { 0 }, more = { 0 };

		judge(cp, "f4", -1, &less);
		judge(cp, "f9", 1, &more);
		both += less.ta_named == 1 && more.ta_named == 1;
		same += prof_comparison_metric(cp, 0)->cg_verdict ==
		    PROF_VERDICT_SAME;
		prof_comparison_free(cp);
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
