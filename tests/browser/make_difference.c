/* SPDX-License-Identifier: ISC */
/*
 * Differential graphs whose answer is known, as the library draws them:
 *
 *	make_difference FIXTURE out.html|out.svg
 *
 * One fixture for each thing that other tools' graphs are known to get wrong;
 * the tables below say what each side of it has.  Used by the tests of this
 * directory.
 */
#include "../unit/recording-lib.h"
#include "profile/profile_impl.h"

#define MS	1000000ULL
#define MAX_LABELS	16

/* What a path costs a run of the base, and a new one, in samples. */
struct row {
	const char	*rw_path[5];	/* below main, outermost first */
	unsigned	 rw_samples[2];
};

struct fixture {
	const char	*fx_name;
	unsigned	 fx_runs;	/* a side */
	unsigned	 fx_noise;	/* percent of each path, by run */
	uint64_t	 fx_weight[2];	/* of a sample */
	unsigned	 fx_hz[2];
	struct row	 fx_row[8];
};

static const struct fixture fixtures[] = {
	/* Only leaves grow: their callers grow with them. */
	{ "parents", 1, 0, { MS, MS }, { 1000, 1000 }, {
	    { { "read", "decode", "inflate" }, { 1000, 4000 } },
	    { { "write" }, { 5000, 2000 } },
	    { { NULL }, { 4000, 4000 } } } },
	/* A path that is gone, and one that is new. */
	{ "vanished", 6, 2, { MS, MS }, { 1000, 1000 }, {
	    { { "old", "copy" }, { 3000, 0 } },
	    { { "fresh", "move" }, { 0, 1000 } },
	    { { "same" }, { 6000, 6000 } } } },
	/* Nothing but chance, from run to run. */
	{ "noise", 10, 20, { MS, MS }, { 1000, 1000 }, {
	    { { "a", "b" }, { 400, 400 } }, { { "a", "c" }, { 300, 300 } },
	    { { "d" }, { 200, 200 } }, { { "e", "f" }, { 90, 90 } },
	    { { "e", "g" }, { 10, 10 } } } },
	/* One run a side, as far apart as sampling sets them. */
	{ "one", 1, 0, { MS, MS }, { 1000, 1000 }, {
	    { { "a" }, { 500, 530 } }, { { "b" }, { 300, 280 } },
	    { { "c" }, { 10, 12 } }, { { "d" }, { 190, 178 } } } },
	/* The same program at a tenth of the rate for half of the time. */
	{ "rates", 1, 0, { MS, 10 * MS }, { 1000, 100 }, {
	    { { "hot" }, { 7000, 350 } }, { { "warm" }, { 2000, 100 } },
	    { { "cool" }, { 1000, 50 } } } },
	/* 25 points to one function; the others lose share and no time. */
	{ "planted", 10, 2, { MS, MS }, { 1000, 1000 }, {
	    { { "parse", "number" }, { 1000, 2000 } },
	    { { "parse", "string" }, { 1000, 1000 } },
	    { { "sort" }, { 2000, 2000 } } } },
	/* The same program with half as much again to do. */
	{ "totals", 10, 2, { MS, MS }, { 1000, 1000 }, {
	    { { "hot", "inner" }, { 2000, 3000 } },
	    { { "warm" }, { 1000, 1500 } } } },
	{ .fx_name = NULL }
};

static struct prof_function functions[MAX_LABELS];

static uint32_t
label_named(struct prof_profile *profile, const char *name)
{
	struct prof_labels *labels = &profile->pf_labels;
	struct prof_function *fu;
	struct prof_label *label;

	for (size_t i = 0; i < labels->lb_nlabels; i++)
		if (strcmp(labels->lb_label[i].lb_name, name) == 0)
			return ((uint32_t)i);
	CHECK(labels->lb_nlabels < MAX_LABELS);
	fu = &functions[labels->lb_nlabels];
	label = prof_grow((void **)&labels->lb_label, &labels->lb_nlabels,
	    &labels->lb_cap, sizeof(*label));
	CHECK(label != NULL);
	*fu = (struct prof_function){ .fu_name = name, .fu_raw = name,
	    .fu_module = "/usr/bin/known" };
	*label = (struct prof_label){ .lb_kind = PROF_LABEL_FUNCTION,
	    .lb_name = name, .lb_module = fu->fu_module, .lb_function = fu };
	return ((uint32_t)labels->lb_nlabels - 1);
}

static uint32_t
child(struct prof_profile *profile, uint32_t parent, const char *name)
{
	const uint32_t label = label_named(profile, name);
	struct prof_tree *tree = &profile->pf_tree;
	struct prof_tree_node *node;

	for (size_t i = 1; i < tree->tr_nnodes; i++)
		if (tree->tr_node[i].pt_parent == parent &&
		    tree->tr_node[i].pt_label == label)
			return ((uint32_t)i);
	node = prof_grow((void **)&tree->tr_node, &tree->tr_nnodes,
	    &tree->tr_cap, sizeof(*node));
	CHECK(node != NULL);
	*node = (struct prof_tree_node){ parent, label };
	return ((uint32_t)tree->tr_nnodes - 1);
}

/* Evenly up to so many percent more or less. */
static unsigned
noisy(unsigned samples, unsigned noise)
{
	const unsigned span = samples * noise / 100;

	return (samples - span + (span > 0 ? below(2 * span + 1) : 0));
}

static void
add_row(struct prof_profile *profile, const struct fixture *fx,
    const struct row *row, int side)
{
	const uint64_t samples = noisy(row->rw_samples[side], fx->fx_noise);
	struct prof_tree *tree = &profile->pf_tree;
	uint32_t node = child(profile, 0, "main");
	struct prof_bucket *cell;

	for (int i = 0; row->rw_path[i] != NULL; i++)
		node = child(profile, node, row->rw_path[i]);
	cell = prof_grow((void **)&tree->tr_bucket, &tree->tr_nbuckets,
	    &tree->tr_cap_buckets, sizeof(*cell));
	CHECK(cell != NULL);
	*cell = (struct prof_bucket){ 0, node, 1, samples,
	    samples * fx->fx_weight[side] };
	profile->pf_quality[1].pq_samples += samples;
	profile->pf_quality[1].pq_effective += (double)samples;
	profile->pf_quality[1].pq_weight += cell->pc_weight;
}

/* A recording of nothing: it holds the event, at the side's rate. */
static const struct prof_reader *
describe(const struct fixture *fx, int side)
{
	struct prof_event_info info = { .pi_name = "proc", .pi_probe = "",
	    .pi_provider = "pmc", .pi_unit = "events" };
	struct prof_writer *writer;
	struct prof_reader *reader;
	struct prof_err error;

	writer = prof_writer_open(work_path("x.dtp"), &error);
	CHECK(writer != NULL);
	CHECK(prof_writer_info(writer, "command", side == 0 ? "./known.old" :
	    "./known.new") == 0);
	CHECK_OK(prof_writer_event(writer, &info), prof_writer_error(writer));
	info.pi_name = info.pi_probe = "cpu-clock";
	info.pi_unit = "ns";
	info.pi_frequency_hz = fx->fx_hz[side];
	CHECK_OK(prof_writer_event(writer, &info), prof_writer_error(writer));
	CHECK_OK(prof_writer_close(writer, &error), &error);
	reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(reader != NULL);
	return (reader);
}

static void
add_run(struct prof_comparison *comparison,
    struct prof_difference *difference, const struct fixture *fx, int side)
{
	struct prof_profile profile = { .pf_nevents = 2 };
	struct prof_tree_node *root;

	profile.pf_reader = describe(fx, side);
	profile.pf_dense = calloc(2, sizeof(struct prof_dense));
	profile.pf_quality = calloc(2, sizeof(struct prof_quality));
	CHECK(profile.pf_dense != NULL && profile.pf_quality != NULL);
	root = prof_grow((void **)&profile.pf_tree.tr_node,
	    &profile.pf_tree.tr_nnodes, &profile.pf_tree.tr_cap,
	    sizeof(*root));
	CHECK(root != NULL && label_named(&profile, "all") == 0);
	memset(root, 0, sizeof(*root));
	profile.pf_labels.lb_label[0].lb_kind = PROF_LABEL_ALL;
	profile.pf_labels.lb_label[0].lb_function = NULL;
	for (const struct row *row = fx->fx_row; row->rw_samples[0] +
	    row->rw_samples[1] > 0; row++)
		if (row->rw_samples[side] > 0)
			add_row(&profile, fx, row, side);
	CHECK(prof_order(&profile.pf_tree, &profile.pf_labels) == 0);
	CHECK_OK(prof_difference_add(difference,
	    prof_comparison_run(comparison, side, 0, -1), &profile, 1),
	    prof_difference_error(difference));
}

int
main(int argc, char **argv)
{
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	const struct prof_flame_options picture = {
		.fl_size = sizeof(picture)
	};
	const struct fixture *fx = fixtures;
	struct prof_comparison *comparison;
	struct prof_difference *difference;
	struct prof_err error = { 0 };
	size_t length, n;
	FILE *file;
	char *bytes;

	if (argc != 3)
		return (2);
	while (fx->fx_name != NULL && strcmp(fx->fx_name, argv[1]) != 0)
		fx++;
	CHECK(fx->fx_name != NULL);
	comparison = prof_comparison_new(&options, &error);
	CHECK(comparison != NULL);
	difference = prof_difference_new(comparison, &error);
	CHECK(difference != NULL);
	for (unsigned i = 0; i < 2 * fx->fx_runs; i++)
		add_run(comparison, difference, fx, i < fx->fx_runs);
	CHECK_OK(prof_comparison_finish(comparison),
	    prof_comparison_error(comparison));
	CHECK_OK(prof_difference_finish(difference),
	    prof_difference_error(difference));
	n = strlen(argv[2]);
	bytes = (n > 4 && strcmp(argv[2] + n - 4, ".svg") == 0 ?
	    prof_difference_svg : prof_difference_html)(difference, &picture,
	    &length, &error);
	if (bytes == NULL)
		CHECK_OK(-1, &error);
	file = fopen(argv[2], "we");
	CHECK(file != NULL && fwrite(bytes, 1, length, file) == length &&
	    fclose(file) == 0);
	prof_difference_free(difference);
	prof_comparison_free(comparison);
	return (0);
}
