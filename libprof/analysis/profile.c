/* SPDX-License-Identifier: ISC */
/*
 * The public face of profiles: from a recording and its symbols to a tree of
 * functions with weights, step by step (analysis.h), and what is asked of it
 * then.  Prints nothing, and the same recording gives the same profile
 * wherever and however often it is made.
 */
#include <stdlib.h>

#include "analysis.h"

static int	profile_fill(struct prof_profile *, struct prof_reader *,
		    struct prof_symbols *,
		    struct prof_profile_options *, struct prof_err *);

/* A caller that knows fewer members says so by pl_size. */
static struct prof_profile_options
options_of(const struct prof_profile_options *given)
{
	struct prof_profile_options options = { 0 };
	size_t size = sizeof(options);

	if (given == NULL)
		return (options);
	if (given->pl_size < size)
		size = given->pl_size;
	memcpy(&options, given, size);
	return (options);
}

struct prof_profile *
prof_profile_new(struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_profile_options *given, struct prof_err *error)
{
	struct prof_profile_options options = options_of(given);
	struct prof_profile *profile;
	struct prof_err why = { 0 };

	profile = calloc(1, sizeof(*profile));
	if (profile == NULL)
		prof_fail_nomem(&why);
	else if (profile_fill(profile, reader, symbols, &options, &why) == 0)
		return (profile);
	if (error != NULL)
		*error = why;
	prof_profile_free(profile);
	return (NULL);
}

/* From folds to a tree in order; -1: no memory. */
static int
profile_resolve(struct prof_profile *profile, struct prof_symbols *symbols,
    const struct prof_history *history, const struct prof_gathered *gathered,
    const struct prof_profile_options *options)
{
	struct prof_labels *labels = &profile->pf_labels;

	if (prof_labels_init(labels, symbols, options) == -1 ||
	    prof_tree_build(&profile->pf_tree, labels, profile->pf_reader,
	    history, gathered) == -1 ||
	    prof_order(&profile->pf_tree, labels) == -1)
		return (-1);
	return (prof_quality_fill(profile, gathered->ga_ends,
	    options->pl_reverse != 0));
}

static int
profile_fill(struct prof_profile *profile, struct prof_reader *reader,
    struct prof_symbols *symbols, struct prof_profile_options *options,
    struct prof_err *error)
{
	struct prof_gathered gathered = { 0 };
	struct prof_history *history;
	const char *path;
	int rv = -1;

	profile->pf_reader = reader;
	path = prof_reader_info(reader, "path");
	/* Folded stacks have what names their threads, if any, as a frame. */
	if (path != NULL && strcmp(path, "folded") == 0)
		options->pl_roots = 0;
	profile->pf_nevents = prof_reader_nevents(reader);
	profile->pf_dense = calloc(profile->pf_nevents + 1,
	    sizeof(*profile->pf_dense));
	profile->pf_quality = calloc(profile->pf_nevents + 1,
	    sizeof(*profile->pf_quality));
	if (profile->pf_dense == NULL || profile->pf_quality == NULL)
		return (prof_fail_nomem(error));
	history = prof_history_new(reader, error);
	if (history == NULL || prof_gather(&gathered, reader, symbols,
	    history, options, error) == -1)
		goto out;
	if (gathered.ga_nfolds > 0) {
		profile->pf_from_ns = gathered.ga_first_ns;
		profile->pf_to_ns = gathered.ga_last_ns + 1;
	}
	rv = profile_resolve(profile, symbols, history, &gathered, options);
	prof_labels_forget(&profile->pf_labels);
	if (rv == -1)
		prof_fail_nomem(error);
out:
	prof_gathered_free(&gathered);
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
	free(profile->pf_tree.tr_cell);
	prof_labels_fini(&profile->pf_labels);
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

const struct prof_cell *
prof_profile_cells(const struct prof_profile *profile, size_t *n)
{
	*n = profile->pf_tree.tr_ncells;
	return (profile->pf_tree.tr_cell);
}

void
prof_profile_span(const struct prof_profile *profile, uint64_t *from_ns,
    uint64_t *to_ns)
{
	*from_ns = profile->pf_from_ns;
	*to_ns = profile->pf_to_ns;
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
	free(dense->dn_self);
	free(dense->dn_samples);
	dense->dn_self = calloc(tree->tr_nnodes, sizeof(*dense->dn_self));
	dense->dn_samples = calloc(tree->tr_nnodes,
	    sizeof(*dense->dn_samples));
	if (dense->dn_self == NULL || dense->dn_samples == NULL)
		return (NULL);
	for (i = 0; i < tree->tr_ncells; i++) {
		if (tree->tr_cell[i].pc_event != event)
			continue;
		dense->dn_self[tree->tr_cell[i].pc_node] +=
		    tree->tr_cell[i].pc_weight;
		dense->dn_samples[tree->tr_cell[i].pc_node] +=
		    tree->tr_cell[i].pc_samples;
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
prof_profile_quality(const struct prof_profile *profile, size_t event,
    struct prof_quality *quality)
{
	memset(quality, 0, sizeof(*quality));
	if (event < profile->pf_nevents)
		*quality = profile->pf_quality[event];
}
