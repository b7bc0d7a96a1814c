/* SPDX-License-Identifier: ISC */
/*
 * Runs of what was and of what is, as one tree: the union of all frames, with
 * what each cost on either side.  Functions are the same by name and library,
 * as in a comparison (names.c), never by address; the program
 * itself is the same thread whatever its file is called.
 *
 * Runs, metrics and names are the comparison's; the trees come in one by one,
 * so that each profile can be freed before the next is made.  Called by the
 * flamegraph command; the pictures are drawn by
 * output/flame_difference.c and output/svg_difference.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "comparison.h"
#include "difference.h"
#include "names.h"

#define MAX_RUNS	100000
#define NONE		UINT32_MAX

const char *const prof_facts[PROF_NFACTS][2] = {
	{ "command", "command" },
	{ "machine.host", "host" },
	{ "machine.kernel", "kernel" },
	{ "machine.arch", "machine" },
	{ "machine.cpu_model", "processor" },
	{ "machine.cpus", "CPUs" },
	{ "dtprof.version", "recorded by dtprof" },
};

static int
fail_nomem(struct prof_difference *df)
{
	return (prof_fail_nomem(&df->df_error));
}

struct prof_difference *
prof_difference_new(struct prof_comparison *comparison,
    struct prof_err *error)
{
	struct prof_difference *df = calloc(1, sizeof(*df));
	struct prof_tree_node *root;
	struct prof_profile *pf;

	if (df == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	df->df_comparison = comparison;
	pf = &df->df_profile;
	pf->pf_nevents = 2;
	pf->pf_dense = calloc(2, sizeof(*pf->pf_dense));
	pf->pf_quality = calloc(2, sizeof(*pf->pf_quality));
	root = prof_grow((void **)&pf->pf_tree.tr_node,
	    &pf->pf_tree.tr_nnodes, &pf->pf_tree.tr_cap, sizeof(*root));
	if (pf->pf_dense == NULL || pf->pf_quality == NULL || root == NULL ||
	    prof_labels_init(&pf->pf_labels, NULL, NULL, NULL) == -1) {
		prof_difference_free(df);
		prof_fail_nomem(error);
		return (NULL);
	}
	memset(root, 0, sizeof(*root));
	return (df);
}

const struct prof_err *
prof_difference_error(const struct prof_difference *df)
{
	return (&df->df_error);
}

/* ------------------------------------------------------------- names */

/* The thread's name is the program's, as far as 15 characters tell. */
static bool
is_program(const char *comm, const char *command)
{
	const char *end, *slash;

	if (command == NULL)
		return (false);
	end = command + strcspn(command, " ");
	for (slash = end; slash > command && slash[-1] != '/'; slash--)
		continue;
	return (end > slash && strncmp(comm, slash, (size_t)(end - slash) <
	    PROF_COMM_LEN - 1 ? (size_t)(end - slash) : PROF_COMM_LEN - 1) ==
	    0 && strlen(comm) <= (size_t)(end - slash));
}

/* What a label is on both sides: "LIBRARY\nNAME".  Owned; NULL: no memory. */
static char *
key_of(const struct prof_difference *df, int side, const char *command,
    const struct prof_label *label)
{
	const char *name = prof_comparison_renamed(df->df_comparison, side,
	    label->lb_name);
	size_t size;
	char *key;

	if (label->lb_kind == PROF_LABEL_FUNCTION)
		return (prof_function_key(name, label->lb_module));
	if (label->lb_kind == PROF_LABEL_COMM && name == label->lb_name &&
	    is_program(name, command))
		name = "\nprogram";
	size = strlen(name) + 16;
	key = malloc(size);
	if (key != NULL)
		snprintf(key, size, "\n%d\n%s", (int)label->lb_kind, name);
	return (key);
}

static struct prof_function *
function_add(struct prof_difference *df)
{
	struct prof_function **slot = prof_grow((void **)&df->df_function,
	    &df->df_nfunctions, &df->df_cap_functions, sizeof(*slot));

	return (slot == NULL ? NULL : (*slot = calloc(1, sizeof(**slot))));
}

/* As it is called where it was first met. */
static int
describe_label(struct prof_difference *df, struct prof_label *to,
    const struct prof_label *from, const char *key)
{
	struct prof_labels *labels = &df->df_profile.pf_labels;
	const char *name = from->lb_name;
	struct prof_function *fu;

	if (from->lb_kind == PROF_LABEL_FUNCTION)
		name = strchr(key, '\n') + 1;
	to->lb_kind = from->lb_kind;
	to->lb_name = prof_labels_text(labels, name);
	to->lb_module = prof_labels_text(labels, from->lb_module);
	if (to->lb_name == NULL || to->lb_module == NULL)
		return (-1);
	if (from->lb_function == NULL)
		return (0);
	fu = function_add(df);
	if (fu == NULL)
		return (-1);
	fu->fu_name = to->lb_name;
	fu->fu_raw = "";
	fu->fu_module = to->lb_module;
	fu->fu_unnamed = from->lb_function->fu_unnamed;
	fu->fu_kind = from->lb_function->fu_kind;
	fu->fu_is_inlined = from->lb_function->fu_is_inlined;
	to->lb_function = fu;
	return (0);
}

static uint32_t
label_of(struct prof_difference *df, int side, const char *command,
    const struct prof_label *from)
{
	struct prof_labels *labels = &df->df_profile.pf_labels;
	char *key = key_of(df, side, command, from);
	uint32_t number = NONE;
	bool is_new = false;

	if (key != NULL)
		number = prof_dict_find(&df->df_by_key, key, strlen(key),
		    &is_new);
	if (number == PROF_INTERN_FAILED)
		goto out;
	number++;	/* the root's label is number 0 */
	if (is_new && prof_grow((void **)&labels->lb_label,
	    &labels->lb_nlabels, &labels->lb_cap,
	    sizeof(*labels->lb_label)) == NULL) {
		number = NONE;
		goto out;
	}
	if (is_new)
		memset(&labels->lb_label[number], 0,
		    sizeof(labels->lb_label[number]));
	if (is_new && describe_label(df, &labels->lb_label[number], from,
	    key) == -1)
		number = NONE;
out:
	free(key);
	return (number);
}

/* -------------------------------------------------------------- trees */

static int
add_bucket(struct prof_difference *df, uint32_t node, uint64_t samples,
    uint64_t weight)
{
	struct prof_tree *tree = &df->df_profile.pf_tree;
	const size_t run = df->df_nruns - 1;
	struct prof_bucket *bucket;

	if (samples == 0 && weight == 0)
		return (0);
	bucket = prof_grow((void **)&tree->tr_bucket, &tree->tr_nbuckets,
	    &tree->tr_cap_buckets, sizeof(*bucket));
	if (bucket == NULL)
		return (-1);
	*bucket = (struct prof_bucket){ (uint32_t)run, node,
	    (uint32_t)df->df_run[run].dr_side, samples, weight };
	return (0);
}

static int
fail_scale(struct prof_difference *df)
{
	return (prof_fail(&df->df_error, PROF_E_FORMAT, "counts exceed 64 bits "
	    "when all runs are converted to the same unit"));
}

/* What a weight of an event is in the unit of all runs; 0: too much. */
static uint64_t
factor_of(const struct prof_difference *df,
    const struct prof_profile *profile, size_t event)
{
	const char *name;
	const uint64_t factor = df->df_scale / prof_unit_scale(
	    prof_reader_event(profile->pf_reader, event)->pi_unit, &name);
	uint64_t whole;

	return (__builtin_mul_overflow(prof_profile_weight(profile, event),
	    factor, &whole) ? 0 : factor);
}

/* Parents stand before their children, so each has its place by then. */
static int
add_tree(struct prof_difference *df, const struct prof_profile *profile,
    size_t event, const uint32_t *labels)
{
	const uint64_t factor = factor_of(df, profile, event);
	const struct prof_tree_node *node = prof_profile_nodes(profile);
	const size_t n = prof_profile_nnodes(profile);
	const uint64_t *self = prof_profile_self(profile, event);
	const uint64_t *samples = prof_profile_samples(profile, event);
	uint32_t *place = calloc(n + 1, sizeof(*place));
	int rv = place == NULL ? -1 : 0;

	for (size_t i = 0; i < n && rv == 0; i++) {
		if (i > 0)
			place[i] = prof_tree_child(&df->df_profile.pf_tree,
			    &df->df_child, place[node[i].pt_parent],
			    labels[node[i].pt_label]);
		if (place[i] == NONE ||
		    (self != NULL && samples != NULL && add_bucket(df, place[i],
		    samples[i], self[i] * factor) == -1))
			rv = -1;
	}
	free(place);
	return (rv);
}

static int
add_labels_and_tree(struct prof_difference *df, int side,
    const struct prof_profile *profile, size_t event)
{
	const size_t n = prof_profile_nlabels(profile);
	const char *command = prof_reader_info(profile->pf_reader, "command");
	uint32_t *labels = calloc(n + 1, sizeof(*labels));
	int rv = labels == NULL ? -1 : 0;

	/* The root is the root. */
	for (size_t i = 1; i < n && rv == 0; i++) {
		labels[i] = label_of(df, side, command,
		    prof_profile_label(profile, (uint32_t)i));
		rv = labels[i] == NONE ? -1 : 0;
	}
	if (rv == 0)
		rv = add_tree(df, profile, event, labels);
	free(labels);
	return (rv);
}

/* --------------------------------------------------------------- runs */

/* What all runs have is counted in the finest unit that one of them has. */
static int
sides_rescale(struct prof_difference *df, const struct prof_event_info *info)
{
	struct prof_tree *tree = &df->df_profile.pf_tree;
	const char *name;
	const uint64_t scale = prof_unit_scale(info->pi_unit, &name);
	const uint64_t factor = scale / df->df_scale;
	char *unit;

	if (factor <= 1)
		return (0);
	unit = strdup(info->pi_unit);
	if (unit == NULL)
		return (fail_nomem(df));
	free((char *)(uintptr_t)df->df_info.pi_unit);
	df->df_info.pi_unit = unit;
	df->df_scale = scale;
	for (size_t i = 0; i < tree->tr_nbuckets; i++)
		if (__builtin_mul_overflow(tree->tr_bucket[i].pc_weight,
		    factor, &tree->tr_bucket[i].pc_weight))
			return (fail_scale(df));
	for (size_t i = 0; i < df->df_nruns; i++)
		df->df_run[i].dr_weight *= (double)factor;
	return (0);
}

/* The two columns of a folded file are one event, of two sides. */
static bool
is_same_event(const struct prof_event_info *a,
    const struct prof_event_info *b)
{
	static const char column[] = "folded:::samples";
	const char *unit[2];

	(void)prof_unit_scale(a->pi_unit, &unit[0]);
	(void)prof_unit_scale(b->pi_unit, &unit[1]);
	return (strcmp(unit[0], unit[1]) == 0 &&
	    (strcmp(a->pi_name, b->pi_name) == 0 ||
	    (strcmp(a->pi_probe, column) == 0 &&
	    strcmp(b->pi_probe, column) == 0)));
}

/* Names and rates of the event, and of what was run where. */
static int
take_facts(struct prof_difference *df, int side,
    const struct prof_profile *profile, const struct prof_event_info *info)
{
	const char *value, *name;

	if (df->df_nruns == 0) {
		df->df_scale = prof_unit_scale(info->pi_unit, &name);
		df->df_info.pi_name = strdup(info->pi_name);
		df->df_info.pi_probe = strdup(info->pi_probe);
		df->df_info.pi_unit = strdup(info->pi_unit);
		if (df->df_info.pi_name == NULL ||
		    df->df_info.pi_probe == NULL ||
		    df->df_info.pi_unit == NULL)
			return (fail_nomem(df));
	}
	if (!is_same_event(&df->df_info, info))
		return (prof_fail(&df->df_error, PROF_E_USAGE, "event %s in %s "
		    "and event %s in %s cannot be compared",
		    info->pi_name, info->pi_unit, df->df_info.pi_name,
		    df->df_info.pi_unit));
	if (sides_rescale(df, info) == -1)
		return (-1);
	if (df->df_nside[side] > 0)
		return (0);
	df->df_rate_hz[side] = info->pi_frequency_hz;
	df->df_period[side] = info->pi_period;
	for (int i = 0; i < PROF_NFACTS; i++) {
		value = prof_reader_info(profile->pf_reader,
		    prof_facts[i][0]);
		if (value != NULL && (df->df_fact[side][i] =
		    strdup(value)) == NULL)
			return (fail_nomem(df));
	}
	return (0);
}

int
prof_difference_add(struct prof_difference *df, long number,
    const struct prof_profile *profile, size_t event)
{
	const struct prof_event_info *info =
	    prof_reader_event(profile->pf_reader, event);
	struct prof_comparison *cp = df->df_comparison;
	struct prof_difference_run *run;
	struct prof_quality quality;
	int side;

	if (number < 0 || (size_t)number >= cp->cp_nruns || info == NULL ||
	    df->df_nruns >= MAX_RUNS)
		return (prof_fail(&df->df_error, PROF_E_USAGE,
		    "no such run or event, or too many runs"));
	side = cp->cp_run[number].rn_side;
	if (take_facts(df, side, profile, info) == -1)
		return (-1);
	if (factor_of(df, profile, event) == 0)
		return (fail_scale(df));
	if (prof_comparison_profile(cp, number, profile, event) == -1) {
		df->df_error = cp->cp_error;
		return (-1);
	}
	run = prof_grow((void **)&df->df_run, &df->df_nruns,
	    &df->df_cap_runs, sizeof(*run));
	if (run == NULL)
		return (fail_nomem(df));
	prof_profile_quality(profile, event, &quality);
	*run = (struct prof_difference_run){ .dr_run = number,
	    .dr_side = side, .dr_samples = quality.pq_samples,
	    .dr_weight = (double)(quality.pq_weight *
	    factor_of(df, profile, event)),
	    .dr_effective = quality.pq_effective };
	df->df_nside[side]++;
	return (add_labels_and_tree(df, side, profile, event) == -1 ?
	    fail_nomem(df) : 0);
}

/* ------------------------------------------------------------- finish */

/* What either side has a run, by node and on the whole. */
static int
sum_up(struct prof_difference *df)
{
	const struct prof_tree *tree = &df->df_profile.pf_tree;
	const size_t n = tree->tr_nnodes;
	double *self, *total;

	for (int side = 0; side < 2; side++) {
		self = calloc(n, sizeof(*self));
		total = calloc(n, sizeof(*total));
		df->df_mean[side][PROF_SELF] = self;
		df->df_mean[side][PROF_TOTAL] = total;
		if (self == NULL || total == NULL)
			return (-1);
		for (size_t i = 0; i < tree->tr_nbuckets; i++)
			if ((int)tree->tr_bucket[i].pc_event == side)
				self[tree->tr_bucket[i].pc_node] +=
				    (double)tree->tr_bucket[i].pc_weight;
		for (size_t i = n; i-- > 0;) {
			total[i] += self[i];
			if (i > 0)
				total[tree->tr_node[i].pt_parent] += total[i];
		}
		for (size_t i = 0; i < n; i++) {
			self[i] /= (double)df->df_nside[side];
			total[i] /= (double)df->df_nside[side];
		}
		df->df_sum[side] = total[0];
	}
	return (0);
}

/* From buckets by run, which stand first, to buckets by node and side. */
static int
forget_runs(struct prof_difference *df)
{
	struct prof_tree *tree = &df->df_profile.pf_tree;
	struct prof_bucket *sum = calloc(2 * tree->tr_nnodes, sizeof(*sum));
	const size_t nbuckets = tree->tr_nbuckets;

	if (sum == NULL)
		return (-1);
	for (size_t i = 0; i < nbuckets; i++) {
		const struct prof_bucket *bucket = &tree->tr_bucket[i];
		struct prof_bucket *to = &sum[2 * bucket->pc_node +
		    bucket->pc_event];

		to->pc_node = bucket->pc_node;
		to->pc_event = bucket->pc_event;
		to->pc_samples += bucket->pc_samples;
		to->pc_weight += bucket->pc_weight;
	}
	tree->tr_nbuckets = 0;
	for (size_t i = 0; i < 2 * tree->tr_nnodes; i++)
		if (sum[i].pc_samples > 0 || sum[i].pc_weight > 0)
			tree->tr_bucket[tree->tr_nbuckets++] = sum[i];
	free(sum);
	return (0);
}

int
prof_difference_finish(struct prof_difference *df)
{
	if (df->df_nside[0] == 0 || df->df_nside[1] == 0 ||
	    df->df_comparison->cp_drawing.dw_at == NULL)
		return (prof_fail(&df->df_error, PROF_E_USAGE,
		    "base or new has no runs, or the comparison is not "
		    "finished"));
	df->df_claims = df->df_nside[0] >= PROF_MIN_RUNS &&
	    df->df_nside[1] >= PROF_MIN_RUNS;
	if (prof_order(&df->df_profile.pf_tree, &df->df_profile.pf_labels) ==
	    -1 || sum_up(df) == -1)
		return (fail_nomem(df));
	if (!(df->df_sum[0] > 0) || !(df->df_sum[1] > 0))
		return (prof_fail(&df->df_error, PROF_E_USAGE,
		    "the %s has no samples of %s", df->df_sum[0] > 0 ?
		    "new recording" : "base", df->df_info.pi_name));
	return (prof_difference_test(df) == -1 || forget_runs(df) == -1 ||
	    prof_difference_say(df) == -1 ? fail_nomem(df) : 0);
}

const char *
prof_difference_headline(const struct prof_difference *df)
{
	return (df->df_headline);
}

const char *
prof_difference_note(const struct prof_difference *df, size_t n)
{
	return (n < df->df_nnotes ? df->df_note[n] : NULL);
}

void
prof_difference_free(struct prof_difference *df)
{
	struct prof_profile *pf;

	if (df == NULL)
		return;
	pf = &df->df_profile;
	free(pf->pf_dense);
	free(pf->pf_quality);
	free(pf->pf_tree.tr_node);
	free(pf->pf_tree.tr_bucket);
	prof_labels_fini(&pf->pf_labels);
	for (size_t i = 0; i < df->df_nfunctions; i++)
		free(df->df_function[i]);
	for (size_t i = 0; i < df->df_nnotes; i++)
		free(df->df_note[i]);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < PROF_NFACTS; k++)
			free(df->df_fact[i][k]);
		for (int k = 0; k < PROF_NPARTS; k++) {
			free(df->df_mean[i][k]);
			free(df->df_chance[i][k]);
			free(df->df_label_chance[i][k]);
		}
	}
	free((char *)(uintptr_t)df->df_info.pi_name);
	free((char *)(uintptr_t)df->df_info.pi_probe);
	free((char *)(uintptr_t)df->df_info.pi_unit);
	prof_dict_free(&df->df_by_key);
	prof_map_free(&df->df_child);
	free(df->df_function);
	free(df->df_run);
	free(df->df_note);
	free(df);
}
