/* SPDX-License-Identifier: ISC */
/*
 * The order in which a profile is handed out: labels by what they say, nodes
 * so that parents come before children and siblings in order of name, buckets
 * by time and node.  After it nothing tells how many threads gathered the
 * samples, or which came first.
 *
 * Everything is sorted by small numbers, so nothing compares names but the
 * sort of the labels, of which there are few.  Called by profile.c.
 */
#include <stdlib.h>

#include "profile_impl.h"

#define NONE	UINT32_MAX

/* What is read first: of a line its function, then where it is. */
static const char *
name_of(const struct prof_label *label)
{
	if (label->lb_kind != PROF_LABEL_LINE)
		return (label->lb_name);
	return (label->lb_inner != NULL ? label->lb_inner->fu_name :
	    label->lb_function->fu_name);
}

static int
label_compare(const void *a, const void *b, void *arg)
{
	const struct prof_label *labels = arg;
	const struct prof_label *la = &labels[*(const uint32_t *)a];
	const struct prof_label *lb = &labels[*(const uint32_t *)b];
	const struct prof_function *fa = la->lb_function;
	const struct prof_function *fb = lb->lb_function;
	int order;

	/* The root's label stays number 0. */
	if ((la->lb_kind == PROF_LABEL_ALL) != (lb->lb_kind == PROF_LABEL_ALL))
		return (la->lb_kind == PROF_LABEL_ALL ? -1 : 1);
	order = strcmp(name_of(la), name_of(lb));
	if (order == 0)
		order = strcmp(la->lb_name, lb->lb_name);
	if (order == 0)
		order = strcmp(la->lb_module, lb->lb_module);
	if (order != 0)
		return (order);
	if (la->lb_kind != lb->lb_kind)
		return (la->lb_kind < lb->lb_kind ? -1 : 1);
	if (fa == NULL || fb == NULL)
		return (0);
	if (fa->fu_address != fb->fu_address)
		return (fa->fu_address < fb->fu_address ? -1 : 1);
	if (fa->fu_is_inlined != fb->fu_is_inlined)
		return (fa->fu_is_inlined - fb->fu_is_inlined);
	if (fa->fu_unnamed != fb->fu_unnamed)
		return ((int)fa->fu_unnamed - (int)fb->fu_unnamed);
	return (la->lb_address < lb->lb_address ? -1 :
	    la->lb_address > lb->lb_address);
}

/* Labels in order; rank[old] is the new number. */
static int
order_labels(struct prof_labels *labels, uint32_t *rank)
{
	size_t n = labels->lb_nlabels, i;
	uint32_t *sorted = calloc(n + 1, sizeof(*sorted));
	struct prof_label *label = calloc(n + 1, sizeof(*label));

	if (sorted == NULL || label == NULL) {
		free(sorted);
		free(label);
		return (-1);
	}
	for (i = 0; i < n; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, n, sizeof(*sorted), label_compare, labels->lb_label);
	for (i = 0; i < n; i++) {
		rank[sorted[i]] = (uint32_t)i;
		label[i] = labels->lb_label[sorted[i]];
	}
	free(sorted);
	free(labels->lb_label);
	labels->lb_label = label;
	labels->lb_cap = n + 1;
	return (0);
}

/* ------------------------------------------------------------ nodes */

/* Lists of siblings. */
struct links {
	uint32_t	*li_first;	/* child of a node */
	uint32_t	*li_next;	/* sibling, or in the bucket */
	uint32_t	*li_bucket;	/* first node with a label */
};

/*
 * Take the nodes from the last label to the first and put each in front of
 * its parent's children: these are then in order.
 */
static void
link_nodes(const struct prof_tree *tree, struct links *links, size_t nlabels)
{
	const struct prof_tree_node *nodes = tree->tr_node;
	uint32_t node, next, parent;
	size_t i;

	memset(links->li_bucket, 0xff, nlabels * sizeof(uint32_t));
	memset(links->li_first, 0xff, tree->tr_nnodes * sizeof(uint32_t));
	for (i = 1; i < tree->tr_nnodes; i++) {
		links->li_next[i] = links->li_bucket[nodes[i].pt_label];
		links->li_bucket[nodes[i].pt_label] = (uint32_t)i;
	}
	for (i = nlabels; i-- > 0; ) {
		for (node = links->li_bucket[i]; node != NONE; node = next) {
			next = links->li_next[node];
			parent = nodes[node].pt_parent;
			links->li_next[node] = links->li_first[parent];
			links->li_first[parent] = node;
		}
	}
}

/* Number the nodes, each before its children; moved[old] is the new one. */
static void
number_nodes(const struct prof_tree *tree, const struct links *links,
    uint32_t *moved)
{
	const struct prof_tree_node *nodes = tree->tr_node;
	uint32_t node = 0, n = 0;

	moved[0] = n++;
	for (;;) {
		if (links->li_first[node] != NONE) {
			node = links->li_first[node];
		} else {
			while (node != 0 && links->li_next[node] == NONE)
				node = nodes[node].pt_parent;
			if (node == 0)
				return;
			node = links->li_next[node];
		}
		moved[node] = n++;
	}
}

static int
order_nodes(struct prof_tree *tree, size_t nlabels, uint32_t *moved)
{
	size_t n = tree->tr_nnodes, i;
	struct links links = {
		calloc(n + 1, sizeof(uint32_t)),
		calloc(n + 1, sizeof(uint32_t)),
		calloc(nlabels + 1, sizeof(uint32_t)),
	};
	struct prof_tree_node *nodes = calloc(n + 1, sizeof(*nodes));
	int rv = -1;

	if (links.li_first == NULL || links.li_next == NULL ||
	    links.li_bucket == NULL || nodes == NULL)
		goto out;
	links.li_next[0] = NONE;
	link_nodes(tree, &links, nlabels);
	number_nodes(tree, &links, moved);
	for (i = 0; i < n; i++) {
		nodes[moved[i]].pt_label = tree->tr_node[i].pt_label;
		nodes[moved[i]].pt_parent = moved[tree->tr_node[i].pt_parent];
	}
	free(tree->tr_node);
	tree->tr_node = nodes;
	tree->tr_cap = n;
	nodes = NULL;
	rv = 0;
out:
	free(links.li_first);
	free(links.li_next);
	free(links.li_bucket);
	free(nodes);
	return (rv);
}

/* ------------------------------------------------------------ buckets */

static int
order_buckets(struct prof_tree *tree, const uint32_t *moved)
{
	for (size_t i = 0; i < tree->tr_nbuckets; i++)
		tree->tr_bucket[i].pc_node = moved[tree->tr_bucket[i].pc_node];
	/* The array that comes back has room for what went in. */
	tree->tr_cap_buckets = tree->tr_nbuckets;
	return (prof_buckets_sum(&tree->tr_bucket, &tree->tr_nbuckets));
}

int
prof_order(struct prof_tree *tree, struct prof_labels *labels)
{
	size_t nlabels = labels->lb_nlabels, i;
	uint32_t *rank = calloc(nlabels + 1, sizeof(*rank));
	uint32_t *moved = calloc(tree->tr_nnodes + 1, sizeof(*moved));
	int rv = -1;

	if (rank != NULL && moved != NULL &&
	    order_labels(labels, rank) == 0) {
		for (i = 0; i < tree->tr_nnodes; i++)
			tree->tr_node[i].pt_label =
			    rank[tree->tr_node[i].pt_label];
		if (order_nodes(tree, nlabels, moved) == 0)
			rv = order_buckets(tree, moved);
	}
	free(rank);
	free(moved);
	return (rv);
}
