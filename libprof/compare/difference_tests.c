/* SPDX-License-Identifier: ISC */
/*
 * Which frames of a difference differ by more than chance: of each frame, and
 * of each function over all its frames, what is below it and what it takes
 * itself, once by what it costs a run and once by its share of the run.
 *
 * What the whole and what each function by itself cost is what the comparison
 * says of the same runs, so that page and dtprof compare never disagree.  All
 * else is one family of its own, by the same test.  What has too little weight
 * is not tested, and neither is twice what is the same in every run (a frame
 * and its only callee).
 *
 * With fewer than five runs a side nothing is known of what chance does from
 * run to run; then only what the chance of sampling explains is told from the
 * rest, and nothing is claimed.
 *
 * Called by difference.c.
 */
#include <math.h>
#include <stdlib.h>

#include "comparison.h"
#include "difference.h"

#define LEAST_SHARE	0.005	/* of all runs; what has less is not tested */
/* Where there would be more, only what has more weight is tested. */
#define MAX_ROWS	300
#define UNTESTED	UINT32_MAX
#define NORMAL_DF	1e9	/* Student's t with so many is normal */

/*
 * What is tested, as rows of values by run: by node and by label, the number
 * of the row of its total and of its own cost; several may have the same.
 */
struct rows {
	struct prof_difference *ro_df;
	size_t		 ro_nnodes;
	size_t		 ro_nlabels;
	uint32_t	*ro_node[PROF_NPARTS];
	uint32_t	*ro_label[PROF_NPARTS];
	bool		*ro_outermost;	/* by node: not within its like */
	double		*ro_share;	/* by node: mean of all runs */
	uint32_t	*ro_single;	/* by label: its node; several, none */
	double		*ro_sum;	/* scratch, by node */
	/* row * runs + run, both of the comparison */
	double		*ro_value[PROF_NMEASURES];
	struct prof_chance *ro_chance[PROF_NMEASURES];	/* by row */
	uint32_t	 ro_n;
	double		 ro_least;
};

/* ------------------------------------------------------ what is tested */

/* Buckets of a run, which stand together; where the next run's begin. */
static size_t
run_to_nodes(const struct rows *ro, size_t bucket, uint32_t run, double *self)
{
	const struct prof_tree *tree = &ro->ro_df->df_profile.pf_tree;

	memset(self, 0, ro->ro_nnodes * sizeof(*self));
	for (; bucket < tree->tr_nbuckets &&
	    tree->tr_bucket[bucket].pc_bucket == run; bucket++)
		self[tree->tr_bucket[bucket].pc_node] +=
		    (double)tree->tr_bucket[bucket].pc_weight;
	return (bucket);
}

static void
add_up(const struct rows *ro, double *total)
{
	const struct prof_tree_node *node =
	    ro->ro_df->df_profile.pf_tree.tr_node;

	for (size_t i = ro->ro_nnodes; i-- > 1;)
		total[node[i].pt_parent] += total[i];
}

/* Own shares, each run counting as much as every other. */
static void
mean_shares(struct rows *ro)
{
	const struct prof_difference *df = ro->ro_df;
	size_t bucket = 0;

	for (uint32_t r = 0; r < df->df_nruns; r++) {
		bucket = run_to_nodes(ro, bucket, r, ro->ro_sum);
		if (df->df_run[r].dr_weight > 0)
			for (size_t i = 0; i < ro->ro_nnodes; i++)
				ro->ro_share[i] += ro->ro_sum[i] /
				    df->df_run[r].dr_weight /
				    (double)df->df_nruns;
	}
}

/*
 * Nodes come depth first: the path to one is a stack, and a label that is on
 * it already is recursion, which counts once.
 */
static int
find_outermost(struct rows *ro)
{
	const struct prof_tree_node *node =
	    ro->ro_df->df_profile.pf_tree.tr_node;
	uint32_t *path = calloc(ro->ro_nnodes + 1, sizeof(*path));
	uint32_t *depth = calloc(ro->ro_nnodes + 1, sizeof(*depth));
	uint32_t *on = calloc(ro->ro_nlabels + 1, sizeof(*on));
	size_t n = 0;

	for (size_t i = 0; path != NULL && depth != NULL && on != NULL &&
	    i < ro->ro_nnodes; i++) {
		depth[i] = i == 0 ? 0 : depth[node[i].pt_parent] + 1;
		while (n > depth[i])
			on[path[--n]]--;
		path[n++] = node[i].pt_label;
		ro->ro_outermost[i] = on[node[i].pt_label]++ == 0;
	}
	free(path);
	free(depth);
	free(on);
	return (path == NULL || depth == NULL || on == NULL ? -1 : 0);
}

/* In every run as much as its caller: what is below cannot be more. */
static bool
is_as_caller(const struct rows *ro, size_t node)
{
	const struct prof_difference *df = ro->ro_df;
	const uint32_t up = df->df_profile.pf_tree.tr_node[node].pt_parent;

	return (node > 0 && df->df_mean[0][PROF_TOTAL][node] >=
	    df->df_mean[0][PROF_TOTAL][up] &&
	    df->df_mean[1][PROF_TOTAL][node] >=
	    df->df_mean[1][PROF_TOTAL][up]);
}

static bool
is_leaf(const struct rows *ro, size_t node)
{
	const struct prof_difference *df = ro->ro_df;

	return (df->df_mean[0][PROF_TOTAL][node] <=
	    df->df_mean[0][PROF_SELF][node] &&
	    df->df_mean[1][PROF_TOTAL][node] <=
	    df->df_mean[1][PROF_SELF][node]);
}

static void
pick_nodes(struct rows *ro, const double *total_share)
{
	const struct prof_tree_node *node =
	    ro->ro_df->df_profile.pf_tree.tr_node;

	for (size_t i = 0; i < ro->ro_nnodes; i++) {
		uint32_t *total = &ro->ro_node[PROF_TOTAL][i];
		uint32_t *self = &ro->ro_node[PROF_SELF][i];

		*total = *self = UNTESTED;
		if (is_as_caller(ro, i))
			*total = ro->ro_node[PROF_TOTAL][node[i].pt_parent];
		else if (total_share[i] >= ro->ro_least)
			*total = ro->ro_n++;
		if (is_leaf(ro, i))
			*self = *total;
		else if (ro->ro_share[i] >= ro->ro_least)
			*self = ro->ro_n++;
	}
}

/*
 * A function with but one frame is tested as that frame, and one that calls
 * nothing once.
 */
static void
pick_labels(struct rows *ro, const double *total, const double *share,
    enum prof_part part)
{
	for (size_t l = 0; l < ro->ro_nlabels; l++) {
		uint32_t *row = &ro->ro_label[part][l];

		if (ro->ro_single[l] < ro->ro_nnodes)
			*row = ro->ro_node[part][ro->ro_single[l]];
		else if (part == PROF_SELF && share[l] >= total[l])
			*row = ro->ro_label[PROF_TOTAL][l];
		else
			*row = share[l] >= ro->ro_least ? ro->ro_n++ :
			    UNTESTED;
	}
}

/* Sums by label of what its nodes have: all of them, or the outermost. */
static void
nodes_to_labels(const struct rows *ro, const double *value,
    enum prof_part part, double *sum)
{
	const struct prof_tree_node *node =
	    ro->ro_df->df_profile.pf_tree.tr_node;

	memset(sum, 0, (ro->ro_nlabels + 1) * sizeof(*sum));
	for (size_t i = 0; i < ro->ro_nnodes; i++)
		if (part == PROF_SELF || ro->ro_outermost[i])
			sum[node[i].pt_label] += value[i];
}

/* The only node of each label that has anything; several: nnodes. */
static void
find_single(struct rows *ro, const double *value, enum prof_part part)
{
	const struct prof_tree_node *node =
	    ro->ro_df->df_profile.pf_tree.tr_node;

	memset(ro->ro_single, 0xff, (ro->ro_nlabels + 1) *
	    sizeof(*ro->ro_single));
	for (size_t i = 0; i < ro->ro_nnodes; i++) {
		uint32_t *single = &ro->ro_single[node[i].pt_label];

		if (value[i] > 0 && (part == PROF_SELF ||
		    ro->ro_outermost[i]))
			*single = *single == UNTESTED ? (uint32_t)i :
			    (uint32_t)ro->ro_nnodes;
	}
}

/* Chosen by the weight in all runs, which does not depend on the sides. */
static int
frames_pick(struct rows *ro)
{
	double *total = calloc(ro->ro_nnodes + 1, sizeof(*total));
	double *label[PROF_NPARTS];
	int rv;

	for (int part = 0; part < PROF_NPARTS; part++)
		label[part] = calloc(ro->ro_nlabels + 1, sizeof(double));
	mean_shares(ro);
	rv = total == NULL || label[PROF_TOTAL] == NULL ||
	    label[PROF_SELF] == NULL ? -1 : find_outermost(ro);
	if (rv == -1)
		goto out;
	memcpy(total, ro->ro_share, ro->ro_nnodes * sizeof(*total));
	add_up(ro, total);
	ro->ro_least = LEAST_SHARE / 1.25;
	do {
		ro->ro_least *= 1.25;
		ro->ro_n = 0;
		pick_nodes(ro, total);
		for (int part = 0; part < PROF_NPARTS; part++) {
			const double *share = part == PROF_SELF ?
			    ro->ro_share : total;

			find_single(ro, share, (enum prof_part)part);
			nodes_to_labels(ro, share, (enum prof_part)part,
			    label[part]);
			pick_labels(ro, label[PROF_TOTAL], label[part],
			    (enum prof_part)part);
		}
	} while (ro->ro_n > MAX_ROWS);
	ro->ro_df->df_least = ro->ro_least;
out:
	free(total);
	free(label[PROF_TOTAL]);
	free(label[PROF_SELF]);
	return (rv);
}

/* -------------------------------------------------------------- values */

static void
put_values(struct rows *ro, const uint32_t *rows, size_t n,
    const double *value, uint32_t run)
{
	const struct prof_difference *df = ro->ro_df;
	const double all = df->df_run[run].dr_weight;
	const size_t nruns = df->df_comparison->cp_nruns;
	size_t at;

	for (size_t i = 0; i < n; i++) {
		if (rows[i] == UNTESTED)
			continue;
		at = rows[i] * nruns + (size_t)df->df_run[run].dr_run;
		ro->ro_value[PROF_BY_COST][at] = value[i];
		ro->ro_value[PROF_BY_SHARE][at] = all > 0 ? value[i] / all :
		    0;
	}
}

/* The same row comes from several nodes, with the same values. */
static int
family_fill(struct rows *ro)
{
	double *label = calloc(ro->ro_nlabels + 1, sizeof(*label));
	size_t bucket = 0;

	if (label == NULL)
		return (-1);
	for (uint32_t r = 0; r < ro->ro_df->df_nruns; r++) {
		bucket = run_to_nodes(ro, bucket, r, ro->ro_sum);
		for (int part = PROF_SELF; part >= PROF_TOTAL; part--) {
			if (part == PROF_TOTAL)
				add_up(ro, ro->ro_sum);
			put_values(ro, ro->ro_node[part], ro->ro_nnodes,
			    ro->ro_sum, r);
			nodes_to_labels(ro, ro->ro_sum, (enum prof_part)part,
			    label);
			put_values(ro, ro->ro_label[part], ro->ro_nlabels,
			    label, r);
		}
	}
	free(label);
	return (0);
}

/* -------------------------------------------------------------- chance */

/* Samples of a side that tell as much as samples of one weight. */
static double
runs_effective(const struct prof_difference *df, int side)
{
	double sum = 0;

	for (size_t r = 0; r < df->df_nruns; r++)
		if (df->df_run[r].dr_side == side)
			sum += df->df_run[r].dr_effective;
	return (sum);
}

/*
 * How likely sampling alone sets a row's sides so far apart.  A share s of e
 * samples is off by sqrt(s (1 - s) / e); a cost, which is known by the s e
 * samples in it, by the root of their number.
 */
static double
chance_of_sampling(const struct rows *ro, size_t row,
    enum prof_measure measure)
{
	const struct prof_difference *df = ro->ro_df;
	const size_t n = df->df_comparison->cp_nruns;
	double mean[PROF_NMEASURES][2] = { { 0 } }, spread = 0, samples;

	for (size_t i = 0; i < df->df_nruns; i++) {
		const struct prof_difference_run *run = &df->df_run[i];

		for (int m = 0; m < PROF_NMEASURES; m++)
			mean[m][run->dr_side] += ro->ro_value[m][row * n +
			    (size_t)run->dr_run] / (double)
			    df->df_nside[run->dr_side];
	}
	for (int s = 0; s < 2; s++) {
		const double share = mean[PROF_BY_SHARE][s];
		const double cost = mean[PROF_BY_COST][s];

		samples = runs_effective(df, s);
		if (!(samples > 0) || share <= 0)
			continue;
		spread += measure == PROF_BY_SHARE ?
		    share * (1 - share) / samples :
		    cost * cost / (share * samples);
	}
	if (!(spread > 0))
		return (1);
	return (2 * prof_t_cdf(-fabs(mean[measure][1] - mean[measure][0]) /
	    sqrt(spread), NORMAL_DF));
}

/* No claim: the false-discovery rate holds for what a measure shows. */
static int
test_sampling(struct rows *ro)
{
	double *p = calloc(ro->ro_n + 1, sizeof(*p));
	int rv = p == NULL ? -1 : 0;

	for (int m = 0; m < PROF_NMEASURES && rv == 0; m++) {
		for (size_t row = 0; row < ro->ro_n; row++)
			p[row] = chance_of_sampling(ro, row,
			    (enum prof_measure)m);
		rv = prof_benjamini_hochberg(p, ro->ro_n, p);
		for (size_t row = 0; row < ro->ro_n; row++)
			ro->ro_chance[m][row] = (struct prof_chance){ p[row],
			    p[row] <= PROF_SAMPLING_Q };
	}
	free(p);
	return (rv);
}

/* All frames, by both measures, are one family. */
static int
test_frames(struct rows *ro)
{
	const struct prof_comparison *cp = ro->ro_df->df_comparison;
	const size_t n = cp->cp_nruns, rows = ro->ro_n;
	struct prof_change *changes = calloc(PROF_NMEASURES * rows + 1,
	    sizeof(*changes));
	struct family fm;
	int rv = prof_family_init(&fm, cp, PROF_ALPHA_FRAMES,
	    PROF_NMEASURES * rows);

	if (changes == NULL)
		rv = -1;
	for (size_t i = 0; i < PROF_NMEASURES * rows && rv == 0; i++) {
		for (int side = 0; side < 2; side++)
			changes[i].cg_n[side] = ro->ro_df->df_nside[side];
		prof_family_add(&fm, cp, &changes[i],
		    ro->ro_value[i / rows] + i % rows * n, 1);
	}
	if (rv == 0)
		rv = prof_family_judge(&fm, cp);
	for (size_t i = 0; i < PROF_NMEASURES * rows && rv == 0; i++)
		ro->ro_chance[i / rows][i % rows] = (struct prof_chance){
		    changes[i].cg_p_adjusted,
		    changes[i].cg_verdict >= PROF_VERDICT_LESS };
	prof_family_fini(&fm);
	free(changes);
	return (rv);
}

/* ------------------------------------------------- what compare says too */

static struct prof_chance
chance_of(const struct prof_change *cg)
{
	return ((struct prof_chance){ cg->cg_p_adjusted,
	    cg->cg_verdict >= PROF_VERDICT_LESS });
}

/*
 * Did the comparison test what a function itself cost?  With states of threads
 * it tested other sums, one for each state.
 */
static bool
has_functions(const struct prof_difference *df)
{
	return (df->df_claims && !df->df_comparison->cp_has_states);
}

/* Of a function by itself, which the comparison may not have tested. */
static struct prof_chance
chance_of_label(const struct prof_difference *df, size_t number)
{
	const struct prof_label *label =
	    &df->df_profile.pf_labels.lb_label[number];
	const struct function *fn = prof_label_is_root(label) ? NULL :
	    prof_comparison_find(df->df_comparison, label->lb_name,
	    label->lb_module);

	return (fn != NULL ? chance_of(&fn->fn_change) :
	    (struct prof_chance){ NAN, false });
}

/* Rows that the comparison has too, wherever they are used. */
static void
take_comparison(struct rows *ro)
{
	const struct prof_difference *df = ro->ro_df;
	struct prof_chance *chance = ro->ro_chance[PROF_BY_COST];
	const uint32_t root = ro->ro_node[PROF_TOTAL][0];

	for (size_t l = 0; has_functions(df) && l < ro->ro_nlabels; l++)
		if (ro->ro_label[PROF_SELF][l] != UNTESTED)
			chance[ro->ro_label[PROF_SELF][l]] =
			    chance_of_label(df, l);
	if (root != UNTESTED)
		chance[root] = chance_of(prof_comparison_total(
		    df->df_comparison));
}

static int
results_give(struct prof_chance **to, const uint32_t *rows, size_t n,
    const struct prof_chance *chance)
{
	*to = calloc(n + 1, sizeof(**to));
	if (*to == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++)
		(*to)[i] = rows[i] == UNTESTED ? (struct prof_chance){ NAN,
		    false } : chance[rows[i]];
	return (0);
}

static int
give_all(struct rows *ro)
{
	struct prof_difference *df = ro->ro_df;

	for (int m = 0; m < PROF_NMEASURES; m++)
		for (int part = 0; part < PROF_NPARTS; part++)
			if (results_give(&df->df_chance[m][part],
			    ro->ro_node[part],
			    ro->ro_nnodes, ro->ro_chance[m]) == -1 ||
			    results_give(&df->df_label_chance[m][part],
			    ro->ro_label[part], ro->ro_nlabels,
			    ro->ro_chance[m]) == -1)
				return (-1);
	/* Also of those whose frames are too small to be rows. */
	for (size_t l = 0; has_functions(df) && l < ro->ro_nlabels; l++)
		df->df_label_chance[PROF_BY_COST][PROF_SELF][l] =
		    chance_of_label(df, l);
	return (0);
}

/* --------------------------------------------------------------- whole */

static int
rows_init(struct rows *ro, struct prof_difference *df)
{
	memset(ro, 0, sizeof(*ro));
	ro->ro_df = df;
	ro->ro_nnodes = df->df_profile.pf_tree.tr_nnodes;
	ro->ro_nlabels = df->df_profile.pf_labels.lb_nlabels;
	for (int part = 0; part < PROF_NPARTS; part++) {
		ro->ro_node[part] = calloc(ro->ro_nnodes + 1,
		    sizeof(uint32_t));
		ro->ro_label[part] = calloc(ro->ro_nlabels + 1,
		    sizeof(uint32_t));
		if (ro->ro_node[part] == NULL || ro->ro_label[part] == NULL)
			return (-1);
	}
	ro->ro_outermost = calloc(ro->ro_nnodes + 1, sizeof(bool));
	ro->ro_share = calloc(ro->ro_nnodes + 1, sizeof(double));
	ro->ro_single = calloc(ro->ro_nlabels + 1, sizeof(uint32_t));
	ro->ro_sum = calloc(ro->ro_nnodes + 1, sizeof(double));
	return (ro->ro_outermost == NULL || ro->ro_share == NULL ||
	    ro->ro_single == NULL || ro->ro_sum == NULL ||
	    frames_pick(ro) == -1 ? -1 : 0);
}

static void
rows_fini(struct rows *ro)
{
	for (int part = 0; part < PROF_NPARTS; part++) {
		free(ro->ro_node[part]);
		free(ro->ro_label[part]);
	}
	for (int m = 0; m < PROF_NMEASURES; m++) {
		free(ro->ro_value[m]);
		free(ro->ro_chance[m]);
	}
	free(ro->ro_outermost);
	free(ro->ro_share);
	free(ro->ro_single);
	free(ro->ro_sum);
}

int
prof_difference_test(struct prof_difference *df)
{
	const size_t n = df->df_comparison->cp_nruns;
	struct rows ro;
	int rv = rows_init(&ro, df);

	for (int m = 0; m < PROF_NMEASURES && rv == 0; m++) {
		ro.ro_value[m] = calloc((size_t)ro.ro_n * n + 1,
		    sizeof(double));
		ro.ro_chance[m] = calloc(ro.ro_n + 1, sizeof(**ro.ro_chance));
		if (ro.ro_value[m] == NULL || ro.ro_chance[m] == NULL)
			rv = -1;
		/* Of runs that have no profile. */
		for (size_t i = 0; rv == 0 && df->df_nruns < n &&
		    i < ro.ro_n * n; i++)
			ro.ro_value[m][i] = NAN;
	}
	if (rv == 0)
		rv = family_fill(&ro);
	if (rv == 0)
		rv = df->df_claims ? test_frames(&ro) : test_sampling(&ro);
	if (rv == 0 && df->df_claims)
		take_comparison(&ro);
	df->df_ntested = ro.ro_n;
	if (rv == 0)
		rv = give_all(&ro);
	rows_fini(&ro);
	return (rv);
}
