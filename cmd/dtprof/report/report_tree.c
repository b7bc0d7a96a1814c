/* SPDX-License-Identifier: ISC */
/*
 * report --tree: the profile's own tree, a row for each node, each row below
 * the one that calls it, the heaviest of what one calls first:
 *
 *	main 0 -- f 2 -- f 3		total 11 self 0  main
 *	      `-- g 6				6      6    g
 *						5      2    f
 *						3      3      f
 *
 * --limit N takes the N heaviest nodes.  None is heavier than the one that
 * calls it, and of equal ones the caller comes first, so these are a tree,
 * too.
 *
 * Called by cmd_report.c in the place of report_table.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define NONE	UINT32_MAX
#define LEAST	0.005		/* share of an event that is worth a line */

struct work {
	const struct report *wo_report;
	const struct prof_tree_node *wo_node;
	size_t		 wo_nnodes;
	size_t		 wo_ncolumns;
	struct report_sum *wo_sum;	/* by node, then column */
	uint32_t	*wo_order;	/* heaviest first */
	bool		*wo_shown;
	uint32_t	*wo_first;	/* child of a node, or NONE */
	uint32_t	*wo_next;	/* sibling, or NONE */
};

static int
work_init(struct work *work, const struct report *report)
{
	const size_t n = prof_profile_nnodes(report->re_profile);

	work->wo_report = report;
	work->wo_node = prof_profile_nodes(report->re_profile);
	work->wo_nnodes = n;
	work->wo_ncolumns = report->re_table.ta_ncolumns;
	work->wo_sum = calloc(n * work->wo_ncolumns + 1,
	    sizeof(*work->wo_sum));
	work->wo_order = calloc(n + 1, sizeof(*work->wo_order));
	work->wo_shown = calloc(n + 1, sizeof(*work->wo_shown));
	work->wo_first = calloc(n + 1, sizeof(*work->wo_first));
	work->wo_next = calloc(n + 1, sizeof(*work->wo_next));
	return (work->wo_sum == NULL || work->wo_order == NULL ||
	    work->wo_shown == NULL || work->wo_first == NULL ||
	    work->wo_next == NULL ? -1 : 0);
}

static void
work_fini(struct work *work)
{
	free(work->wo_sum);
	free(work->wo_order);
	free(work->wo_shown);
	free(work->wo_first);
	free(work->wo_next);
}

/* Weights of a made-up recording end at the largest. */
static void
sum_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* Of each node, alone and with all below it; nodes follow their parents. */
static int
sum_nodes(struct work *work)
{
	const struct report_table *table = &work->wo_report->re_table;
	const size_t columns = work->wo_ncolumns;
	struct report_sum *sum;

	for (size_t c = 0; c < columns; c++) {
		const size_t event = table->ta_column[c].co_event;
		const uint64_t *self = prof_profile_self(
		    work->wo_report->re_profile, event);
		const uint64_t *samples = prof_profile_samples(
		    work->wo_report->re_profile, event);

		if (self == NULL || samples == NULL)
			return (-1);
		for (size_t i = work->wo_nnodes; i-- > 0; ) {
			sum = &work->wo_sum[i * columns + c];
			sum->su_self = self[i];
			sum->su_self_samples = samples[i];
			sum_add(&sum->su_total, self[i]);
			sum_add(&sum->su_total_samples, samples[i]);
			if (i == 0)
				break;
			sum_add(&work->wo_sum[work->wo_node[i].pt_parent *
			    columns + c].su_total, sum->su_total);
			sum_add(&work->wo_sum[work->wo_node[i].pt_parent *
			    columns + c].su_total_samples,
			    sum->su_total_samples);
		}
	}
	return (0);
}

static int
compare_nodes(const void *va, const void *vb, void *arg)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct work *work = arg;
	const struct report_sum *x = &work->wo_sum[a * work->wo_ncolumns];
	const struct report_sum *y = &work->wo_sum[b * work->wo_ncolumns];

	for (size_t c = 0; c < work->wo_ncolumns; c++)
		if (x[c].su_total != y[c].su_total)
			return (x[c].su_total > y[c].su_total ? -1 : 1);
	/* Siblings stand in order of name, callers before what they call. */
	return (a < b ? -1 : a > b);
}

/* Has it a sample of an event that is asked for? */
static bool
has_samples(const struct work *work, uint32_t node)
{
	for (size_t c = 0; c < work->wo_ncolumns; c++)
		if (work->wo_sum[node * work->wo_ncolumns +
		    c].su_total_samples > 0)
			return (true);
	return (false);
}

static bool
is_worth_a_line(const struct work *work, uint32_t node)
{
	const struct report_table *table = &work->wo_report->re_table;

	for (size_t c = 0; c < work->wo_ncolumns; c++)
		if ((double)work->wo_sum[node * work->wo_ncolumns +
		    c].su_total >= LEAST *
		    (double)table->ta_column[c].co_weight)
			return (true);
	return (false);
}

/*
 * Which nodes are shown; taken from the lightest on, each is put in front of
 * what its caller calls.  How many are shown.
 */
static size_t
choose_nodes(struct work *work, struct report_table *table, uint64_t limit)
{
	size_t shown = 0;
	uint32_t node;

	for (uint32_t i = 0; i < work->wo_nnodes; i++) {
		work->wo_order[i] = i;
		work->wo_first[i] = work->wo_next[i] = NONE;
	}
	qsort_r(work->wo_order, work->wo_nnodes, sizeof(*work->wo_order),
	    compare_nodes, work);
	work->wo_shown[0] = true;
	for (size_t i = 0; i < work->wo_nnodes; i++) {
		node = work->wo_order[i];
		if (node == 0 || !has_samples(work, node))
			continue;
		if (shown < limit && (limit != UINT64_MAX ||
		    is_worth_a_line(work, node)) &&
		    work->wo_shown[work->wo_node[node].pt_parent]) {
			work->wo_shown[node] = true;
			shown++;
		} else {
			table->ta_hidden++;
		}
	}
	if (limit == UINT64_MAX)
		table->ta_least = LEAST;
	for (size_t i = work->wo_nnodes; i-- > 0; ) {
		node = work->wo_order[i];
		if (node == 0 || !work->wo_shown[node])
			continue;
		work->wo_next[node] =
		    work->wo_first[work->wo_node[node].pt_parent];
		work->wo_first[work->wo_node[node].pt_parent] = node;
	}
	return (shown);
}

/* What a node is called: its function, or what --by has above functions. */
static void
name_row(const struct work *work, struct report_row *row, uint32_t node)
{
	const struct prof_label *label = prof_profile_label(
	    work->wo_report->re_profile, work->wo_node[node].pt_label);

	row->rw_name = label->lb_name;
	row->rw_module = label->lb_module;
	row->rw_function = label->lb_function;
	row->rw_is_root = report_is_root(label->lb_kind);
}

static void
add_row(const struct work *work, struct report_table *table, uint32_t node,
    uint32_t parent)
{
	const size_t n = table->ta_nrows++;
	struct report_row *row = &table->ta_row[n];

	name_row(work, row, node);
	row->rw_parent = parent;
	row->rw_depth = parent == NONE ? 0 :
	    table->ta_row[parent].rw_depth + 1;
	row->rw_first = n * work->wo_ncolumns;
	memcpy(&table->ta_sum[row->rw_first],
	    &work->wo_sum[node * work->wo_ncolumns],
	    work->wo_ncolumns * sizeof(*table->ta_sum));
}

/* Down, then to the side, then up until there is a side. */
static void
tree_walk(const struct work *work, struct report_table *table)
{
	uint32_t node = work->wo_first[0], row = NONE;

	while (node != NONE) {
		add_row(work, table, node, row);
		if (work->wo_first[node] != NONE) {
			row = (uint32_t)table->ta_nrows - 1;
			node = work->wo_first[node];
			continue;
		}
		while (node != 0 && work->wo_next[node] == NONE) {
			node = work->wo_node[node].pt_parent;
			if (node != 0)
				row = table->ta_row[row].rw_parent;
		}
		node = node == 0 ? NONE : work->wo_next[node];
	}
}

int
report_tree(struct report *report, uint64_t limit)
{
	struct report_table *table = &report->re_table;
	struct work work = { 0 };
	size_t shown;
	int rv = -1;

	table->ta_by = report->re_by.rb_set;
	table->ta_is_tree = true;
	table->ta_per_row = table->ta_ncolumns;
	if (work_init(&work, report) == 0 && sum_nodes(&work) == 0) {
		shown = choose_nodes(&work, table, limit);
		table->ta_row = calloc(shown + 1, sizeof(*table->ta_row));
		table->ta_sum = calloc(shown * table->ta_ncolumns + 1,
		    sizeof(*table->ta_sum));
		if (table->ta_row != NULL && table->ta_sum != NULL) {
			tree_walk(&work, table);
			rv = 0;
		}
	}
	work_fini(&work);
	if (rv == -1)
		msg_error("report", "out of memory", "free memory");
	return (rv);
}
