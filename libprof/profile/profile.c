/* SPDX-License-Identifier: ISC */
/*
 * The public face of profiles: from a recording and its symbols to a tree of
 * functions with weights, step by step (profile_impl.h), and what is asked of
 * it then.  Prints nothing, and the same recording gives the same profile
 * wherever and however often it is made.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile_impl.h"
#include "recording/query.h"

#define DENSE_FIRST	(32u << 20)	/* bytes of values by node */
#define DENSE_PER_BYTE	256

static int	profile_fill(struct prof_profile *, struct prof_reader *,
		    struct prof_symbols *,
		    struct prof_profile_options *, struct prof_err *);

/* Each sample is a bucket of its own, if that is wanted. */
static int
profile_times(struct prof_profile *profile, struct prof_reader *reader,
    struct prof_profile_options *options, struct prof_err *error)
{
	if (!options->pl_times)
		return (0);
	if (prof_times_new(reader, options, &profile->pf_times, error) == -1)
		return (-1);
	if (profile->pf_times == NULL)
		return (0);
	options->pl_bucket_of = prof_times_bucket;
	options->pl_bucket_arg = profile->pf_times;
	options->pl_max_buckets = 0;
	return (0);
}

struct prof_profile *
prof_profile_new(struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_profile_options *given, struct prof_err *error)
{
	struct prof_profile_options options = { 0 };
	struct prof_profile *profile;
	struct prof_err why = { 0 };

	profile = calloc(1, sizeof(*profile));
	if (profile == NULL)
		prof_fail_nomem(&why);
	else if (prof_options_take(&options, sizeof(options), given,
	    "prof_profile_options", &why) == 0 &&
	    profile_times(profile, reader, &options, &why) == 0 &&
	    profile_fill(profile, reader, symbols, &options, &why) == 0)
		return (profile);
	if (error != NULL)
		*error = why;
	prof_profile_free(profile);
	return (NULL);
}

/* The buckets of nodes: of a fold when it is all one, else of each sample. */
static int
profile_buckets(struct prof_profile *profile, struct prof_gather *gather,
    const uint32_t *nodes, const struct prof_profile_options *options,
    struct prof_err *error)
{
	const struct prof_gathered *gathered = prof_gather_folds(gather);
	struct prof_tree *tree = &profile->pf_tree;
	const bool is_by_sample = options->pl_bucket_ns != 0 ||
	    options->pl_bucket_of != NULL;
	struct prof_buckets buckets = { 0 };
	const struct prof_fold *fold;
	int rv = 0;

	if (prof_buckets_init(&buckets, tree->tr_nnodes,
	    options->pl_max_buckets) == -1)
		rv = prof_fail_nomem(error);
	else if (is_by_sample)
		rv = prof_gather_buckets(gather, nodes, tree->tr_nnodes,
		    &buckets, error);
	for (size_t i = 0; rv == 0 && !is_by_sample &&
	    i < gathered->ga_nfolds; i++) {
		fold = &gathered->ga_fold[i];
		if (prof_buckets_add(&buckets, &(struct prof_bucket){
		    .pc_node = nodes[i], .pc_event = fold->fo_event,
		    .pc_samples = fold->fo_samples,
		    .pc_weight = fold->fo_weight }) == -1)
			rv = prof_fail_nomem(error);
	}
	tree->tr_bucket = buckets.ce_bucket;
	tree->tr_nbuckets = buckets.ce_n;
	tree->tr_cap_buckets = buckets.ce_cap;
	profile->pf_bucket_ns = options->pl_bucket_ns << buckets.ce_halved;
	buckets.ce_bucket = NULL;
	prof_buckets_fini(&buckets);
	return (rv);
}

/* From folds to a tree in order; 1: it depends on which thread was first. */
static int
profile_resolve(struct prof_profile *profile, struct prof_symbols *symbols,
    const struct prof_history *history, struct prof_gather *gather,
    const struct prof_profile_options *options, struct prof_err *error)
{
	const struct prof_gathered *gathered = prof_gather_folds(gather);
	struct prof_labels *labels = &profile->pf_labels;
	struct prof_tree *tree = &profile->pf_tree;
	struct prof_budget budget = prof_budget_of(profile->pf_reader);
	uint32_t *nodes = calloc(gathered->ga_nfolds + 1, sizeof(*nodes));
	int rv;

	tree->tr_folded = calloc(profile->pf_nevents + 1,
	    sizeof(*tree->tr_folded));
	tree->tr_idle = calloc(profile->pf_nevents + 1,
	    sizeof(*tree->tr_idle));
	if (nodes == NULL || tree->tr_folded == NULL ||
	    tree->tr_idle == NULL ||
	    prof_labels_init(labels, symbols, options, &budget) == -1 ||
	    prof_tree_build(tree, labels, profile->pf_reader, history,
	    gathered, nodes) == -1)
		rv = prof_fail_nomem(error);
	else if (budget.bu_reached && !gathered->ga_is_alone)
		rv = 1;
	else
		rv = profile_buckets(profile, gather, nodes, options, error);
	free(nodes);
	labels->lb_budget = NULL;
	if (rv == 0 && (prof_order(tree, labels) == -1 ||
	    prof_quality_fill(profile, gathered->ga_ends,
	    options->pl_reverse != 0) == -1))
		rv = prof_fail_nomem(error);
	return (rv);
}

/* The tree is forgotten, and the folds are gathered by one thread. */
static int
profile_forget(struct prof_profile *profile, struct prof_gather *gather,
    struct prof_err *error)
{
	prof_labels_fini(&profile->pf_labels);
	free(profile->pf_tree.tr_node);
	free(profile->pf_tree.tr_folded);
	free(profile->pf_tree.tr_idle);
	memset(&profile->pf_labels, 0, sizeof(profile->pf_labels));
	memset(&profile->pf_tree, 0, sizeof(profile->pf_tree));
	return (prof_gather_alone(gather, error));
}

static int
profile_fill(struct prof_profile *profile, struct prof_reader *reader,
    struct prof_symbols *symbols, struct prof_profile_options *options,
    struct prof_err *error)
{
	const struct prof_gathered *gathered;
	struct prof_gather *gather = NULL;
	struct prof_history *history;
	const char *path;
	int rv = -1;

	profile->pf_reader = reader;
	path = prof_reader_info(reader, "path");
	/* Folded stacks have what names their threads, if any, as a frame. */
	if (path != NULL && strcmp(path, "folded") == 0) {
		options->pl_roots = 0;
		options->pl_leaves = 0;
	}
	profile->pf_nevents = prof_reader_nevents(reader);
	profile->pf_dense = calloc(profile->pf_nevents + 1,
	    sizeof(*profile->pf_dense));
	profile->pf_quality = calloc(profile->pf_nevents + 1,
	    sizeof(*profile->pf_quality));
	if (profile->pf_dense == NULL || profile->pf_quality == NULL)
		return (prof_fail_nomem(error));
	history = prof_history_new(reader, (options->pl_roots &
	    (PROF_ROOT_COMM | PROF_ROOT_PID | PROF_ROOT_TID)) != 0 ||
	    options->pl_filter != NULL, error);
	if (history != NULL)
		gather = prof_gather_new(reader, symbols, history, options,
		    error);
	/* The quality says what was left out. */
	if (gather != NULL && prof_decoder_damage(reader, 0,
	    prof_decoder_nchunks(reader)) == -1) {
		*error = *prof_reader_error(reader);
	} else if (gather != NULL) {
		gathered = prof_gather_folds(gather);
		profile->pf_sampled = gathered->ga_sampled;
		profile->pf_rest = gathered->ga_rest;
		if (gathered->ga_nfolds > 0) {
			profile->pf_from_ns = gathered->ga_first_ns;
			profile->pf_to_ns = gathered->ga_last_ns + 1;
		}
		rv = profile_resolve(profile, symbols, history, gather,
		    options, error);
		if (rv == 1)
			rv = profile_forget(profile, gather, error) == -1 ? -1 :
			    profile_resolve(profile, symbols, history, gather,
			    options, error);
		prof_labels_forget(&profile->pf_labels);
	}
	prof_gather_free(gather);
	prof_history_free(history);
	return (rv);
}

void
prof_profile_free(struct prof_profile *profile)
{
	size_t e;

	if (profile == NULL)
		return;
	for (e = 0; profile->pf_dense != NULL && e < profile->pf_nevents;
	    e++) {
		free(profile->pf_dense[e].dn_self);
		free(profile->pf_dense[e].dn_samples);
	}
	free(profile->pf_dense);
	free(profile->pf_quality);
	free(profile->pf_tree.tr_node);
	free(profile->pf_tree.tr_folded);
	free(profile->pf_tree.tr_idle);
	free(profile->pf_tree.tr_bucket);
	prof_labels_fini(&profile->pf_labels);
	prof_times_free(profile->pf_times);
	free(profile);
}

/* ------------------------------------------------------ what is there */

size_t
prof_profile_nnodes(const struct prof_profile *profile)
{
	return (profile->pf_tree.tr_nnodes);
}

const struct prof_tree_node *
prof_profile_nodes(const struct prof_profile *profile)
{
	return (profile->pf_tree.tr_node);
}

size_t
prof_profile_nlabels(const struct prof_profile *profile)
{
	return (profile->pf_labels.lb_nlabels);
}

const struct prof_label *
prof_profile_label(const struct prof_profile *profile, uint32_t n)
{
	return (n < profile->pf_labels.lb_nlabels ?
	    &profile->pf_labels.lb_label[n] : NULL);
}

const struct prof_bucket *
prof_profile_buckets(const struct prof_profile *profile, size_t *n)
{
	*n = profile->pf_tree.tr_nbuckets;
	return (profile->pf_tree.tr_bucket);
}

uint64_t
prof_profile_bucket_ns(const struct prof_profile *profile)
{
	return (profile->pf_bucket_ns);
}

void
prof_profile_span(const struct prof_profile *profile, uint64_t *from_ns,
    uint64_t *to_ns)
{
	*from_ns = profile->pf_from_ns;
	*to_ns = profile->pf_to_ns;
}

/*
 * A file can have many events and a large tree; of any other recording there
 * is room for all.
 */
static bool
dense_fits(const struct prof_profile *profile)
{
	uint64_t bytes = 2 * sizeof(uint64_t) * profile->pf_tree.tr_nnodes;
	uint64_t most = DENSE_FIRST + DENSE_PER_BYTE *
	    (prof_reader_length(profile->pf_reader) & (UINT64_MAX >> 16));

	return (bytes <= most / (profile->pf_ndense + 1) ||
	    profile->pf_ndense == 0);
}

/* By node, of one event, when somebody asks: most events of many are not. */
static const struct prof_dense *
dense_of(const struct prof_profile *profile, size_t event)
{
	const struct prof_tree *tree = &profile->pf_tree;
	struct prof_dense *dense;
	size_t i;

	if (event >= profile->pf_nevents ||
	    profile->pf_quality[event].pq_samples == 0)
		return (NULL);
	dense = &profile->pf_dense[event];
	if (dense->dn_self != NULL && dense->dn_samples != NULL)
		return (dense);
	if (!dense_fits(profile))
		return (NULL);
	free(dense->dn_self);
	free(dense->dn_samples);
	dense->dn_self = calloc(tree->tr_nnodes, sizeof(*dense->dn_self));
	dense->dn_samples = calloc(tree->tr_nnodes,
	    sizeof(*dense->dn_samples));
	if (dense->dn_self == NULL || dense->dn_samples == NULL)
		return (NULL);
	/* What was looked at is no part of what a profile says. */
	((struct prof_profile *)(uintptr_t)profile)->pf_ndense++;
	for (i = 0; i < tree->tr_nbuckets; i++) {
		if (tree->tr_bucket[i].pc_event != event)
			continue;
		dense->dn_self[tree->tr_bucket[i].pc_node] +=
		    tree->tr_bucket[i].pc_weight;
		dense->dn_samples[tree->tr_bucket[i].pc_node] +=
		    tree->tr_bucket[i].pc_samples;
	}
	return (dense);
}

const uint64_t *
prof_profile_self(const struct prof_profile *profile, size_t event)
{
	const struct prof_dense *dense = dense_of(profile, event);

	return (dense == NULL ? NULL : dense->dn_self);
}

const uint64_t *
prof_profile_samples(const struct prof_profile *profile, size_t event)
{
	const struct prof_dense *dense = dense_of(profile, event);

	return (dense == NULL ? NULL : dense->dn_samples);
}

uint64_t
prof_profile_weight(const struct prof_profile *profile, size_t event)
{
	return (event < profile->pf_nevents ?
	    profile->pf_quality[event].pq_weight : 0);
}

uint64_t
prof_profile_count(const struct prof_profile *profile, size_t event)
{
	return (event < profile->pf_nevents ?
	    profile->pf_quality[event].pq_samples : 0);
}

void
prof_profile_sampled_sized(const struct prof_profile *profile,
    struct prof_sampled *sampled, size_t size)
{
	prof_struct_give(sampled, size, &profile->pf_sampled,
	    sizeof(profile->pf_sampled));
}

void
prof_profile_quality_sized(const struct prof_profile *profile,
    size_t event, struct prof_quality *quality, size_t size)
{
	static const struct prof_quality none;

	prof_struct_give(quality, size, event < profile->pf_nevents ?
	    &profile->pf_quality[event] : &none, sizeof(none));
}
