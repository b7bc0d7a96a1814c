/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of simulated deploys to 20 hosts, whose costs lie decades apart
 * and drift, equals are called changed in no more comparisons than stated, per
 * unit of work and by shares, paired and not; 2 % of the total that one
 * function costs are named its; 5 % more everywhere is a verdict per unit of
 * work, and not visible by shares; more traffic on new hosts, and another mix
 * of it from some time on, name nothing; sides that never ran at the same
 * time, or on no hosts of one kind, are refused.
 *
 * Easy to get wrong: windows of a host as if they were independent; time that
 * passes between the old version and the new one; logarithms of few samples,
 * which are lower where there are fewer.
 */
#include "trials.h"

#include "compare/hosts.h"

#define FUNCTIONS	40
#define HOSTS		20
#define WINDOWS		12
#define SAMPLES		3000	/* of a usual host in a window */
#define PLANTED		12

/* What is simulated. */
struct world {
	double	wo_grow;	/* of the total: the planted function's */
	double	wo_all;		/* everything, by so much */
	double	wo_traffic;	/* on new hosts, times */
	double	wo_mix;		/* other requests, from the middle on */
	bool	wo_is_share;
	bool	wo_is_apart;	/* each host has one version all the time */
	bool	wo_at_once;	/* all hosts change at the same time */
	bool	wo_by_kind;	/* new runs on hosts of another kind */
};

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

static double
weight_of(int f)
{
	static double sum;

	if (sum == 0)
		for (int i = 0; i < FUNCTIONS; i++)
			sum += pow(0.9, i);
	return (pow(0.9, f) / sum);
}

/* Student's t with 3 degrees of freedom. */
static double
heavy(void)
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		const double x = normal();

		sum += x * x;
	}
	return (normal() / sqrt(sum / 3));
}

/* The window from which on a host has the new version. */
static int
change_of(const struct world *world, int host)
{
	if (world->wo_is_apart)
		return (host % 2 == 0 ? 0 : WINDOWS);
	if (world->wo_at_once)
		return (WINDOWS / 2);
	return (host < 2 ? 0 : 1 + (int)(uniform() * (WINDOWS - 1)));
}

/* The mean of a function in a window, of a host of size 1, per request. */
static double
cost_of(const struct world *world, int f, int window, bool is_new)
{
	double cost = weight_of(f);

	/* Requests of two kinds: every other function is of one alone. */
	if (world->wo_mix != 0 && window >= WINDOWS / 2)
		cost *= 1 + (f % 2 == 0 ? world->wo_mix : -world->wo_mix);
	if (is_new && f == PLANTED)
		cost += world->wo_grow;
	return (cost * (is_new ? 1 + world->wo_all : 1));
}

static void
simulate_window(struct prof_comparison *cp, const struct world *world,
    long run, int window, bool is_new, double level, double load)
{
	const double requests = 1000 * load *
	    (is_new ? world->wo_traffic : 1);
	char name[32];

	for (int f = 0; f < FUNCTIONS; f++) {
		const double cost = cost_of(world, f, window, is_new) *
		    level * requests / 1000;

		snprintf(name, sizeof(name), "f%d", f);
		prof_comparison_cost(cp, run, name, "/bin/prog", 0,
		    poisson(cost * SAMPLES) / 19);
	}
	if (!world->wo_is_share)
		prof_comparison_units(cp, run, requests);
}

static void
simulate_host(struct prof_comparison *cp, const struct world *world,
    int host, const double *drift)
{
	const double level = exp(0.7 * heavy()), load = exp(0.5 * heavy());
	const double slope = 0.02 * heavy() / WINDOWS;
	const int change = change_of(world, host);

	for (int w = 0; w < WINDOWS; w++) {
		const bool is_new = w >= change;
		const long run = prof_comparison_window(cp, is_new,
		    (uint32_t)host, world->wo_by_kind ? is_new : 0,
		    (uint32_t)w);

		truth(run >= 0, "run");
		/* A window in twenty is not there. */
		if (uniform() < 0.05)
			continue;
		simulate_window(cp, world, run, w, is_new, level * drift[w] *
		    exp(slope * w + 0.01 * normal()), fmin(load, 20));
	}
}

/* The caller frees it. */
static struct prof_comparison *
trial(const struct world *world)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	struct prof_comparison *cp = prof_comparison_new(&options, NULL);
	double drift[WINDOWS], phase = 6 * uniform(), size = 0.2 * uniform();

	for (int w = 0; w < WINDOWS; w++)
		drift[w] = 1 + size * sin(phase + 0.5 * w) + 0.02 * w;
	truth(prof_comparison_call_total(cp, "CPU per request", "s") == 0,
	    "name");
	for (int h = 0; h < HOSTS; h++)
		simulate_host(cp, world, h, drift);
	truth(prof_comparison_finish(cp) == 0, "finish");
	return (cp);
}

static struct tally
trials_make(struct world world, int n, int *totals)
{
	struct tally tally = { 0 };
	struct prof_comparison *cp;

	if (world.wo_traffic == 0)
		world.wo_traffic = 1;
	*totals = 0;
	for (int i = 0; i < n; i++) {
		cp = trial(&world);
		truth(prof_comparison_hosts(cp)->ph_confounder ==
		    PROF_CONFOUNDER_NONE, "confounded");
		truth(prof_comparison_hosts(cp)->ph_is_paired ==
		    !world.wo_is_apart, "pairs");
		*totals += prof_comparison_total(cp)->cg_verdict ==
		    PROF_VERDICT_MORE;
		if (world.wo_is_share)
			truth(prof_comparison_total(cp)->cg_verdict ==
			    PROF_VERDICT_OPEN, "the sum of shares has a "
			    "verdict");
		judge(cp, "f12", 1, &tally);
		prof_comparison_free(cp);
	}
	return (tally);
}

/* Equals, of some world: nothing is planted. */
static void
equals(const char *what, struct world world, int n)
{
	int totals;
	const struct tally tally = trials_make(world, n, &totals);

	printf("%s: anything called in %d of %d\n", what, tally.ta_called, n);
	truth(tally.ta_called <= at_most(n), what);
}

static void
planted(const char *what, struct world world, int n)
{
	int totals;
	const struct tally tally = trials_make(world, n, &totals);

	printf("%s: named in %d of %d, others in %d, the total in %d\n", what,
	    tally.ta_named, n, tally.ta_others, totals);
	truth(tally.ta_named * 100 >= 90 * n, what);
	truth(world.wo_is_share || tally.ta_others <= at_most(n),
	    "another function");
}

static void
refused(struct world world, enum prof_confounder why)
{
	struct prof_comparison *cp;

	world.wo_traffic = 1;
	cp = trial(&world);
	truth(prof_comparison_hosts(cp)->ph_confounder == why, "not refused");
	truth(isnan(prof_comparison_total(cp)->cg_p), "tested all the same");
	prof_comparison_free(cp);
}

int
main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 8;
	int totals;
	struct tally tally;

	prof_random_seed(&rng, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
	equals("equals", (struct world){ 0 }, n);
	equals("equals by shares", (struct world){ .wo_is_share = true }, n);
	equals("equals apart", (struct world){ .wo_is_apart = true }, n);
	equals("traffic", (struct world){ .wo_traffic = 3 }, n);
	equals("mix", (struct world){ .wo_mix = 0.3 }, n);
	equals("all by shares", (struct world){ .wo_all = 0.05,
	    .wo_is_share = true }, n);
	planted("2 %", (struct world){ .wo_grow = 0.02 }, n);
	planted("2 % by shares", (struct world){ .wo_grow = 0.02,
	    .wo_is_share = true }, n);
	tally = trials_make((struct world){ .wo_all = 0.05 }, n, &totals);
	printf("5 %% everywhere: %d of %d, wrong %d\n", totals, n,
	    tally.ta_wrong);
	truth(totals * 100 >= 90 * n && tally.ta_wrong == 0, "5 % everywhere");
	refused((struct world){ .wo_at_once = true }, PROF_CONFOUNDER_TIME);
	refused((struct world){ .wo_is_apart = true, .wo_by_kind = true },
	    PROF_CONFOUNDER_KIND);
	printf("ok\n");
	return (0);
}
