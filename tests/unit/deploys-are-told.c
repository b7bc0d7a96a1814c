/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of simulated deploys to 20 hosts, whose costs lie decades apart
 * and drift, equals are called changed in no more comparisons than stated, per
 * unit of work and by shares, paired and not, also where versions change amid
 * windows; 2 % of the total that one function costs are named its; 5 % more
 * everywhere is a verdict per unit of work, and not visible by shares; more
 * traffic on new hosts, and another mix of it from some time on, name nothing;
 * sides that never ran at the same time, or on no hosts of one kind, are
 * refused.
 *
 * Easy to get wrong: windows of a host as if they were independent; time that
 * passes between the old version and the new one; logarithms of few samples,
 * which are lower where there are fewer; windows with little work, which are
 * noisier.
 *
 * usage: deploys-are-told [TRIALS [SEED [WORLD]]]; "worlds" lists them
 */
#include "trials.h"

#include "compare/hosts.h"
#include "recording-lib.h"
#include "recording/table.h"

#define HOSTS		20
#define WINDOWS		12
#define SAMPLES		3000	/* of a usual host in a window */
#define PLANTED		12
#define MANY		40	/* trials that tell */
#define FILE_HOSTS	8	/* of recordings */
#define FILE_WINDOWS	6

/* What is simulated. */
struct world {
	double	wo_grow;	/* of the total: the planted function's */
	double	wo_all;		/* everything, by so much */
	double	wo_traffic;	/* on new hosts, times */
	double	wo_mix;		/* other requests, from the middle on */
	bool	wo_in_window;	/* hosts change amid windows */
	bool	wo_is_share;
	bool	wo_is_apart;	/* each host has one version all the time */
	bool	wo_at_once;	/* all hosts change at the same time */
	bool	wo_by_kind;	/* new runs on hosts of another kind */
	bool	wo_is_written;	/* to recordings */
	bool	wo_in_others;	/* what it has */
};

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
	if (world->wo_is_written && !world->wo_is_apart && !world->wo_at_once)
		return (host == 0 ? 0 : 1 + (host - 1) % (FILE_WINDOWS - 1));
	if (world->wo_is_apart)
		return (host % 2 == 0 ? 0 : WINDOWS);
	if (world->wo_at_once)
		return ((world->wo_is_written ? FILE_WINDOWS : WINDOWS) / 2);
	return (host < 2 ? 0 : 1 + (int)(uniform() * (WINDOWS - 1)));
}

/* The mean of a function in a window, of a host of size 1, per request. */
static double
cost_of(const struct world *world, int f, int window, bool is_new)
{
	double cost = trial_weight(f);

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

	for (int f = 0; f < TRIAL_FUNCTIONS; f++) {
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
	char name[32];

	snprintf(name, sizeof(name), "host%d", host);

	for (int w = 0; w < WINDOWS; w++) {
		const bool is_new = w >= change;
		const long run = prof_comparison_window(cp, is_new,
		    name, world->wo_by_kind && is_new ? "new" : "",
		    1000 + 3 * (uint32_t)w);

		truth(run >= 0, "run");
		/* A window in twenty is not there. */
		if (uniform() < 0.05)
			continue;
		simulate_window(cp, world, run, w, is_new, level * drift[w] *
		    exp(slope * w + 0.01 * normal()), fmin(load, 20));
		if (!world->wo_in_window || w != change)
			continue;
		/* It had the old one, too. */
		simulate_window(cp, world, prof_comparison_window(cp, 0, name,
		    "", 1000 + 3 * (uint32_t)w), w, false, level * drift[w],
		    fmin(load, 20) / 2);
	}
}

/* ------------------------------------------------------------ recordings */

static const char *cost_event = "cpu-clock";

#define PROGRAM		0x550000000000u
#define SIZE		0x1000u
#define WINDOW_S	600u
#define REQUESTS	60	/* of a usual host in a window */
#define NS_PER_S	1000000000ULL

static void
about_put(struct prof_writer *writer, const char *host, const char *cpu,
    int begin)
{
	char text[64];

	const struct prof_event_info events[] = {
		{ .pi_name = "proc", .pi_probe = "proc:::",
		    .pi_provider = "proc", .pi_unit = "events" },
		{ .pi_name = cost_event, .pi_probe = "pmc:::cpu-clock",
		    .pi_provider = "pmc", .pi_unit = "ns",
		    .pi_period = 10000000 },
		{ .pi_name = "uprobe:/srv/app:handle", .pi_provider = "uprobe",
		    .pi_probe = "uprobe:/srv/app:handle:",
		    .pi_unit = "events", .pi_period = 1 },
	};
	static const char *const infos[][2] = {
		{ "machine.kernel", "6.1.0" }, { "machine.arch", "x86_64" },
		{ "machine.cpus", "8" },
		{ "span.0.name", "request" }, { "span.0.begin", "2" },
		{ "span.0.end", "2" }, { "span.0.scope", "thread" },
	};

	/* By the time it begins is a recording told from others of a host. */
	snprintf(text, sizeof(text), "%d", 1000 + begin);
	CHECK(prof_writer_info(writer, "time.monotonic_ns", text) == 0);
	snprintf(text, sizeof(text), "179000040000000%d", 1000 + begin);
	CHECK(prof_writer_info(writer, "time.realtime_ns", text) == 0);
	CHECK(prof_writer_info(writer, "machine.host", host) == 0);
	CHECK(prof_writer_info(writer, "machine.boot", host) == 0);
	CHECK(prof_writer_info(writer, "machine.cpu_model", cpu) == 0);
	for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++)
		CHECK(prof_writer_info(writer, infos[i][0], infos[i][1]) ==
		    0);
	for (size_t e = 0; e < 3; e++)
		CHECK(prof_writer_event(writer, &events[e]) == 0);
}

static void
symbols_put(struct prof_writer *writer)
{
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = "/srv/app", .tb_why = PROF_UNNAMED_NOSYM,
	    .tb_nsegments = 1, .tb_segment = { { 0, 1 << 20, 0 } },
	    .tb_dev = 1, .tb_ino = 77 };
	struct prof_buf body = { 0 };
	char name[32];

	prof_table_pack(&body, &table);
	for (unsigned f = 0; f < TRIAL_FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "f%u", f);
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){ .tf_address = f * SIZE,
		    .tf_size = SIZE, .tf_name = name, .tf_module = "" });
	}
	CHECK(prof_writer_symbols(writer, body.bf_data, body.bf_len) == 0);
	prof_buf_free(&body);
}

static void
samples_put(struct prof_writer *writer, uint32_t event, uint64_t pc, double n,
    uint64_t *time_ns, uint64_t *stored)
{
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = event, .pr_pid = 100, .pr_tid = 100,
	    .pr_weight = event == 1 ? 10000000 : 1, .pr_user = &pc,
	    .pr_nuser = 1, .pr_ip = pc, .pr_ustatus = PROF_STACK_OK,
	    .pr_comm = "", .pr_path = "" };

	for (; n > 0; n--) {
		record.pr_time_ns = (*time_ns)++;
		CHECK(prof_writer_add(writer, &record) == 0);
		stored[event]++;
	}
}

static void
mark_put(struct prof_writer *writer, enum prof_record_type type,
    uint64_t time_ns)
{
	const struct prof_record record = { .pr_type = type,
	    .pr_time_ns = time_ns, .pr_pid = 100, .pr_tid = 100,
	    .pr_path = type == PROF_R_MMAP ? "/srv/app" : "",
	    .pr_comm = type == PROF_R_TASK ? "app" : "",
	    .pr_addr = PROGRAM, .pr_len = 1 << 20, .pr_dev = 1,
	    .pr_ino = 77 };

	CHECK(prof_writer_add(writer, &record) == 0);
}

/* What a host did in some windows, with one version. */
static void
recording_write(const char *path, const struct world *world, int host,
    int from, int to, double level, const double *drift)
{
	const bool is_new = from >= change_of(world, host);
	const double traffic = is_new ? world->wo_traffic : 1;
	struct prof_accounting rows[3] = { { 0 } };
	uint64_t stored[3] = { 0 }, time_ns = 1000;
	struct prof_err error = { 0 };
	struct prof_writer *writer;
	char name[32];

	snprintf(name, sizeof(name), "host%02d", host);
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	about_put(writer, name, world->wo_by_kind && is_new ? "fast" : "slow",
	    from);
	mark_put(writer, PROF_R_TASK, time_ns);
	mark_put(writer, PROF_R_MMAP, time_ns);
	for (int w = from; w < to; w++) {
		time_ns = 1000 + (uint64_t)w * WINDOW_S * NS_PER_S;
		if (w == from)
			mark_put(writer, PROF_R_START, time_ns);
		for (int f = 0; f < TRIAL_FUNCTIONS; f++)
			samples_put(writer, 1, PROGRAM + (uint64_t)f * SIZE,
			    poisson(cost_of(world, f, w, is_new) * 800 *
			    level * drift[w] * traffic), &time_ns, stored);
		samples_put(writer, 2, PROGRAM, REQUESTS * traffic, &time_ns,
		    stored);
	}
	mark_put(writer, PROF_R_STOP, time_ns);
	symbols_put(writer);
	for (int e = 1; e < 3; e++)
		rows[e].pa_fired = rows[e].pa_stored = rows[e].pa_read =
		    rows[e].pa_ustack[PROF_STACK_OK] = stored[e];
	CHECK(prof_writer_accounting(writer, 0, rows, 3) == 0);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

/*
 * For tests of the command: "write DIRECTORY grow all kind once seed", and
 * perhaps traffic.
 */
static int
recordings_write(char **argv)
{
	const struct world world = {
	    .wo_traffic = argv[6] != NULL ? atof(argv[6]) : 1,
	    .wo_is_written = true, .wo_grow = atof(argv[1]),
	    .wo_all = atof(argv[2]), .wo_by_kind = atoi(argv[3]) != 0,
	    .wo_is_apart = atoi(argv[3]) != 0,
	    .wo_at_once = atoi(argv[4]) != 0 };
	double drift[FILE_WINDOWS];
	char path[512];

	for (int w = 0; w < FILE_WINDOWS; w++)
		drift[w] = 1 + 0.1 * w;
	for (int h = 0; h < FILE_HOSTS; h++) {
		const double level = 0.5 + 3 * uniform() * uniform();
		const int change = change_of(&world, h);

		snprintf(path, sizeof(path), "%s/base-%02d.dtp", argv[0], h);
		if (change > 0)
			recording_write(path, &world, h, 0, change <
			    FILE_WINDOWS ? change : FILE_WINDOWS, level,
			    drift);
		snprintf(path, sizeof(path), "%s/new-%02d.dtp", argv[0], h);
		if (change < FILE_WINDOWS)
			recording_write(path, &world, h, change,
			    FILE_WINDOWS, level, drift);
	}
	return (0);
}

/*
 * "one FILE seed level": of one host, in a window of its own; perhaps the name
 * of the event that costs.
 */
static int
recording_of_one(char **argv)
{
	const struct world world = { .wo_traffic = 1, .wo_is_apart = true };
	const int at = atoi(argv[1]);
	double drift[1000];

	for (int w = 0; w < 1000; w++)
		drift[w] = 1;
	if (argv[3] != NULL)
		cost_event = argv[3];
	recording_write(argv[0], &world, 1, at % 1000, at % 1000 + 1,
	    atof(argv[2]), drift);
	return (0);
}

/* ---------------------------------------------------------------- trials */

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

/* Of all worlds: a few trials of one tell nothing. */
static int all_called, all_equals;

enum wanted { EQUALS, PLANTED_2, ALL_5 };

static const struct {
	const char	*name;
	enum wanted	 wanted;
	struct world	 world;
} worlds[] = {
	{ "equals", EQUALS, { .wo_all = 0, .wo_in_others = true } },
	{ "equals by shares", EQUALS, { .wo_is_share = true,
	    .wo_in_others = true } },
	{ "equals apart", EQUALS, { .wo_is_apart = true } },
	{ "equals amid windows", EQUALS, { .wo_in_window = true,
	    .wo_in_others = true } },
	{ "traffic", EQUALS, { .wo_traffic = 3 } },
	{ "mix", EQUALS, { .wo_mix = 0.3 } },
	{ "all by shares", EQUALS, { .wo_all = 0.05, .wo_is_share = true } },
	{ "2 %", PLANTED_2, { .wo_grow = 0.02, .wo_in_others = true } },
	{ "2 % by shares", PLANTED_2, { .wo_grow = 0.02,
	    .wo_is_share = true } },
	{ "2 % amid windows", PLANTED_2, { .wo_grow = 0.02,
	    .wo_in_window = true } },
	{ "2 % and traffic", PLANTED_2, { .wo_grow = 0.02,
	    .wo_traffic = 3, .wo_in_others = true } },
	{ "5 % everywhere", ALL_5, { .wo_all = 0.05 } },
};
#define NWORLDS		(sizeof(worlds) / sizeof(worlds[0]))

static void
world_try(size_t w, int n)
{
	const char *name = worlds[w].name;
	int totals;
	const struct tally tally = trials_make(worlds[w].world, n, &totals);

	printf("%s: of %d trials anything called in %d, the planted function "
	    "in %d, another in %d, the total in %d\n", name, n,
	    tally.ta_called, tally.ta_named, tally.ta_others, totals);
	(void)fflush(stdout);
	switch (worlds[w].wanted) {
	case EQUALS:
		all_called += tally.ta_called;
		all_equals += n;
		truth(n < MANY || tally.ta_called <= at_most(n), name);
		break;
	case PLANTED_2:
		truth(tally.ta_named * 100 >= 90 * n, name);
		/* Where one share grows all others fall. */
		truth(worlds[w].world.wo_is_share || n < MANY ||
		    tally.ta_others <= at_most(n), "another function");
		break;
	case ALL_5:
		truth(totals * 100 >= 90 * n && tally.ta_wrong == 0, name);
		break;
	}
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

/*
 * Each world has the same trials, whatever others are tried; where these are
 * few, those that others have in them are left out.
 */
static void
worlds_try(int n, uint64_t seed, const char *only)
{
	for (size_t w = 0; w < NWORLDS; w++) {
		if (only != NULL ? strcmp(only, worlds[w].name) != 0 :
		    n < MANY && worlds[w].world.wo_in_others)
			continue;
		prof_random_seed(&rng, seed + 1000 * w);
		world_try(w, n);
	}
	truth(all_called <= at_most(all_equals), "equals of all worlds");
	refused((struct world){ .wo_at_once = true }, PROF_CONFOUNDER_TIME);
	refused((struct world){ .wo_is_apart = true, .wo_by_kind = true },
	    PROF_CONFOUNDER_KIND);
	printf("ok\n");
}

int
main(int argc, char **argv)
{
	if ((argc == 8 || argc == 9) && strcmp(argv[1], "write") == 0) {
		prof_random_seed(&rng, strtoull(argv[7], NULL, 10));
		return (recordings_write(argv + 2));
	}
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "one") == 0) {
		prof_random_seed(&rng, strtoull(argv[3], NULL, 10));
		return (recording_of_one(argv + 2));
	}
	if (argc == 2 && strcmp(argv[1], "worlds") == 0) {
		for (size_t w = 0; w < NWORLDS; w++)
			printf("%s\n", worlds[w].name);
		return (0);
	}
	worlds_try(argc > 1 ? atoi(argv[1]) : 1, argc > 2 ? strtoull(argv[2],
	    NULL, 10) : 1, argc > 3 ? argv[3] : NULL);
	return (0);
}
