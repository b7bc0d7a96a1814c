/* SPDX-License-Identifier: ISC */
/*
 * Comparisons resampled from a pool of real runs: the directory of a bench
 * with profiles, of commands "base" and maybe "new".
 *
 *	compare_pool DIR trials function [drift sequential sign]
 *
 * function < 0: both commands are the same, and whatever is called changed is
 * a false alarm; else "f<function>" is what was planted in "new".
 * Ten runs a side: five blocks as bench made them, drawn by chance; of equals
 * chance also says which two runs of a block are new.
 * drift: percent by which costs and times rise from the first run to the
 * last; sequential: the first ten runs are the base, without blocks; sign: -1
 * if what was planted costs less.
 * Prints: trials, with anything called changed, planted one named, another
 * one named, the smallest number of samples in a run, and how often
 * --fail-on slower:2 would have failed.
 */
#include "../unit/trials.h"

#define MAX_RUNS	400
#define FUNCTIONS	60
#define RUNS		10

struct pool_run {
	bool	 po_is_new;
	int	 po_block;
	double	 po_wall;
	double	 po_user;
	size_t	 po_n;
	struct {
		char	name[64];
		char	module[64];
		double	cost;
	} po_cost[FUNCTIONS];
	double	 po_samples;
};

static struct pool_run runs[MAX_RUNS];
static size_t nruns;

static void
die(const char *what, const struct prof_err *error)
{
	printf("FAIL: %s: %s\n", what, error != NULL ? error->pe_text : "");
	exit(1);
}

/* Functions of less than one in a thousand are added up as the rest. */
static void
add_cost(struct pool_run *run, const char *name, const char *module,
    double cost, double total)
{
	const size_t n = run->po_n;

	if (n == FUNCTIONS || cost < total / 1000)
		return;
	snprintf(run->po_cost[n].name, 64, "%s", name);
	snprintf(run->po_cost[n].module, 64, "%s", module);
	run->po_cost[n].cost = cost;
	run->po_n++;
}

static void
load_profile(struct pool_run *run, const char *path)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(path, &error);
	struct prof_symbols *symbols = reader == NULL ? NULL :
	    prof_symbols_open(reader, NULL, &error);
	struct prof_profile *profile = symbols == NULL ? NULL :
	    prof_profile_new(reader, symbols, NULL, &error);
	size_t event = 0, nlabels;
	const uint64_t *self;
	double *sum;

	if (profile == NULL)
		die(path, &error);
	while (event < prof_reader_nevents(reader) &&
	    prof_profile_weight(profile, event) == 0)
		event++;
	self = prof_profile_self(profile, event);
	nlabels = prof_profile_nlabels(profile);
	sum = calloc(nlabels, sizeof(*sum));
	if (self == NULL || sum == NULL)
		die(path, NULL);
	for (size_t i = 0; i < prof_profile_nnodes(profile); i++)
		sum[prof_profile_nodes(profile)[i].pt_label] +=
		    (double)self[i];
	run->po_samples = (double)prof_profile_count(profile, event);
	for (uint32_t l = 0; l < nlabels; l++)
		add_cost(run, prof_profile_label(profile, l)->lb_name,
		    prof_profile_label(profile, l)->lb_module, sum[l],
		    (double)prof_profile_weight(profile, event));
	free(sum);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static double
member(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return (at == NULL ? NAN : strtod(at + strlen(name) + 2, NULL));
}

static void
load(const char *directory)
{
	char path[512], line[2048], profile[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/runs.jsonl", directory);
	file = fopen(path, "r");
	if (file == NULL)
		die(path, NULL);
	while (fgets(line, sizeof(line), file) != NULL && nruns < MAX_RUNS) {
		struct pool_run *run = &runs[nruns++];
		const char *at = strstr(line, "\"profile\":\"");

		if (at == NULL || sscanf(at + 11, "%127[^\"]", profile) != 1)
			die("a run without a profile", NULL);
		run->po_is_new = member(line, "\"command") != 0;
		run->po_block = (int)member(line, "\"block");
		run->po_wall = member(line, "\"wall");
		run->po_user = member(line, "\"user");
		snprintf(path, sizeof(path), "%s/%s", directory, profile);
		load_profile(run, path);
	}
	fclose(file);
}

/* ----------------------------------------------------------- a trial */

/* Which runs take part, on which side, in which block. */
struct choice {
	size_t	 ch_run[2 * RUNS];
	uint8_t	 ch_side[2 * RUNS];
	uint32_t ch_block[2 * RUNS];
};

/* Five of the blocks that there are, without putting back. */
static void
choose_blocks(size_t nblocks, size_t *block)
{
	for (int b = 0; b < RUNS / 2; b++) {
		bool again;

		do {
			again = false;
			block[b] = (size_t)prof_random_below(&rng, nblocks);
			for (int a = 0; a < b; a++)
				again = again || block[a] == block[b];
		} while (again);
	}
	/* In order of time, so that a drift is one. */
	for (int a = 0; a < RUNS / 2; a++)
		for (int b = a + 1; b < RUNS / 2; b++)
			if (block[b] < block[a]) {
				const size_t swap = block[a];

				block[a] = block[b];
				block[b] = swap;
			}
}

/* Runs of a block stand next to each other, as they were made. */
static void
choose_equals(struct choice *ch)
{
	size_t block[RUNS / 2];

	choose_blocks(nruns / 4, block);
	deal_as_bench(RUNS, ch->ch_side, ch->ch_block);
	for (size_t i = 0; i < 2 * RUNS; i++)
		ch->ch_run[i] = 4 * block[i / 4] + i % 4;
}

static void
choose_planted(struct choice *ch)
{
	size_t block[RUNS / 2], n = 0;

	choose_blocks(nruns / 4, block);
	for (int b = 0; b < RUNS / 2; b++)
		for (size_t i = 0; i < nruns; i++) {
			if (runs[i].po_block != (int)block[b] ||
			    n == 2 * RUNS)
				continue;
			ch->ch_run[n] = i;
			ch->ch_side[n] = runs[i].po_is_new;
			ch->ch_block[n++] = (uint32_t)b;
		}
	if (n != 2 * RUNS)
		die("a block without four runs", NULL);
}

static void
give(struct prof_comparison *cp, const struct choice *ch, double drift,
    bool sequential)
{
	for (int i = 0; i < 2 * RUNS; i++)
		prof_comparison_run(cp, ch->ch_side[i], ch->ch_block[i],
		    sequential ? -1 : i);
	for (int i = 0; i < 2 * RUNS; i++) {
		const struct pool_run *run = &runs[ch->ch_run[i]];
		const double up = 1 + drift * i / (2 * RUNS - 1);

		prof_comparison_value(cp, i, "wall", "s", run->po_wall * up);
		prof_comparison_value(cp, i, "user", "s", run->po_user * up);
		for (size_t k = 0; k < run->po_n; k++)
			prof_comparison_cost(cp, i, run->po_cost[k].name,
			    run->po_cost[k].module, 0,
			    run->po_cost[k].cost * up);
	}
}

/* Would --fail-on slower:2 fail? */
static bool
is_failed(const struct prof_comparison *cp)
{
	const struct prof_change *wall = prof_comparison_metric(cp, 0);

	return (wall->cg_verdict == PROF_VERDICT_MORE &&
	    wall->cg_ci95[0] > 0.02);
}

int
main(int argc, char **argv)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	const int trials = argc > 2 ? atoi(argv[2]) : 0;
	const int planted = argc > 3 ? atoi(argv[3]) : -1;
	const double drift = argc > 4 ? atof(argv[4]) / 100 : 0;
	const bool sequential = argc > 5 && atoi(argv[5]) != 0;
	const int sign = argc > 6 ? atoi(argv[6]) : 1;
	int failed = 0;
	struct tally tally = { 0 };
	double least = INFINITY;
	char name[16];

	if (argc < 4)
		die("usage", NULL);
	prof_random_seed(&rng, 1);
	load(argv[1]);
	snprintf(name, sizeof(name), "f%d", planted);
	for (size_t i = 0; i < nruns; i++)
		least = fmin(least, runs[i].po_samples);
	for (int t = 0; t < trials; t++) {
		struct prof_comparison *cp = prof_comparison_new(&options,
		    NULL);
		struct choice ch;

		if (planted < 0)
			choose_equals(&ch);
		else
			choose_planted(&ch);
		for (int i = 0; sequential && i < 2 * RUNS; i++) {
			ch.ch_side[i] = i >= RUNS;
			ch.ch_block[i] = 0;
		}
		give(cp, &ch, drift, sequential);
		if (prof_comparison_finish(cp) == -1)
			die("finish", prof_comparison_error(cp));
		judge(cp, planted < 0 ? NULL : name, sign, &tally);
		failed += is_failed(cp);
		prof_comparison_free(cp);
	}
	printf("%d %d %d %d %.0f %d\n", trials, tally.ta_called,
	    tally.ta_named, tally.ta_others, least, failed);
	return (0);
}
