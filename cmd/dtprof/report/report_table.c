/* SPDX-License-Identifier: ISC */
/*
 * From the tree of a profile to rows.  A node's row is what --by makes of its
 * label and of what stands above it; a row's self is the sum of its nodes'.
 * Its total is the sum of all below those of its nodes that have no other
 * node of the same row above them, so that recursion counts a stack once:
 *
 *	main 0 -- f 2 -- f 3 -- g 5		f: self 5, total 10
 *	      `-- g 1				g: self 6, total 6
 *
 * Called by cmd_report.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define NONE	UINT32_MAX

/* The work on one table, by node or by item. */
struct work {
	const struct report *wo_report;
	const struct prof_profile *wo_profile;
	const struct prof_tree_node *wo_node;
	size_t		 wo_nnodes;
	unsigned	 wo_by;
	uint32_t	*wo_item;	/* by label: what tells rows apart */
	uint32_t	*wo_row_of;	/* by item: its row below wo_base */
	uint32_t	*wo_base_of;	/* by item: the base that is for */
	uint32_t	*wo_row;	/* by node */
	bool		*wo_is_top;	/* by node: none of its row above */
	uint32_t	*wo_path;	/* nodes from the root */
	uint32_t	*wo_on_path;	/* by row: how many */
	struct report_table *wo_table;
	size_t		 wo_cap_rows;
};

static int
no_memory(void)
{
	return (msg_error("report", "out of memory", "free memory"));
}

/* The first event of the table whose samples bring a counter's values. */
static const struct report_column *
base_of(const struct report_table *table, size_t counter)
{
	const struct report_column *column;

	if (!table->ta_column[counter].co_info->pi_is_counter)
		return (NULL);
	for (size_t c = 0; c < table->ta_ncolumns; c++) {
		column = &table->ta_column[c];
		for (uint32_t n = 0; n < column->co_info->pi_ncounters; n++)
			if (column->co_info->pi_counter[n] ==
			    table->ta_column[counter].co_event)
				return (column);
	}
	return (NULL);
}

int
report_columns(struct report *report)
{
	struct report_table *table = &report->re_table;
	const size_t nevents = prof_reader_nevents(report->re_reader);
	struct report_column *column;
	struct prof_quality quality;

	table->ta_column = calloc(nevents + 1, sizeof(*table->ta_column));
	if (table->ta_column == NULL)
		return (no_memory());
	table->ta_ncolumns = 0;
	for (size_t e = 1; e < nevents; e++) {
		prof_profile_quality(report->re_profile, e, &quality);
		if (!report->re_wanted[e] || quality.pq_samples == 0)
			continue;
		column = &table->ta_column[table->ta_ncolumns++];
		column->co_info = prof_reader_event(report->re_reader, e);
		column->co_event = e;
		column->co_weight = quality.pq_weight;
		column->co_idle = quality.pq_idle;
		column->co_samples = quality.pq_samples;
		column->co_effective = quality.pq_effective;
	}
	for (size_t c = 0; c < table->ta_ncolumns; c++)
		table->ta_column[c].co_base = base_of(table, c);
	return (0);
}

uint64_t
report_idle_ns(const struct report *report)
{
	const struct report_table *table = &report->re_table;
	struct prof_quality quality;
	uint64_t ns = 0;

	for (size_t c = 0; c < table->ta_ncolumns; c++) {
		prof_profile_quality(report->re_profile,
		    table->ta_column[c].co_event, &quality);
		ns += quality.pq_idle_waits;
	}
	return (ns);
}

void
report_table_free(struct report_table *table)
{
	free(table->ta_column);
	free(table->ta_row);
	free(table->ta_sum);
}

/* ------------------------------------------------------------- items */

static const struct prof_label *
label_at(const struct work *work, uint32_t n)
{
	return (prof_profile_label(work->wo_profile, n));
}

static int
compare_modules(const void *a, const void *b, void *arg)
{
	const struct work *work = arg;

	return (strcmp(label_at(work, *(const uint32_t *)a)->lb_module,
	    label_at(work, *(const uint32_t *)b)->lb_module));
}

/* By module, labels of one module are one item: that of the first of them. */
static int
items_of_modules(struct work *work, size_t nlabels)
{
	uint32_t *sorted = calloc(nlabels + 1, sizeof(*sorted)), first = 0;

	if (sorted == NULL)
		return (-1);
	for (size_t i = 0; i < nlabels; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, nlabels, sizeof(*sorted), compare_modules, work);
	for (size_t i = 0; i < nlabels; i++) {
		if (i == 0 || compare_modules(&sorted[i - 1], &sorted[i],
		    work) != 0)
			first = sorted[i];
		work->wo_item[sorted[i]] = first;
	}
	free(sorted);
	return (0);
}

/* The work's arrays; free also after a failure. */
static int
work_init(struct work *work, struct report *report, unsigned by)
{
	const struct prof_profile *profile = report->re_profile;
	const size_t nlabels = prof_profile_nlabels(profile);
	const size_t nnodes = prof_profile_nnodes(profile);

	work->wo_report = report;
	work->wo_profile = profile;
	work->wo_node = prof_profile_nodes(profile);
	work->wo_nnodes = nnodes;
	work->wo_by = by;
	work->wo_table = &report->re_table;
	work->wo_item = calloc(nlabels + 1, sizeof(uint32_t));
	work->wo_row_of = calloc(nlabels + 1, sizeof(uint32_t));
	work->wo_base_of = calloc(nlabels + 1, sizeof(uint32_t));
	work->wo_row = calloc(nnodes + 1, sizeof(uint32_t));
	work->wo_is_top = calloc(nnodes + 1, sizeof(bool));
	work->wo_path = calloc(nnodes + 1, sizeof(uint32_t));
	if (work->wo_item == NULL || work->wo_row_of == NULL ||
	    work->wo_base_of == NULL || work->wo_row == NULL ||
	    work->wo_is_top == NULL || work->wo_path == NULL)
		return (-1);
	memset(work->wo_base_of, 0xff, nlabels * sizeof(uint32_t));
	if (by & (BY_FUNCTION | BY_LINE)) {
		for (size_t i = 0; i < nlabels; i++)
			work->wo_item[i] = (uint32_t)i;
		return (0);
	}
	/* Otherwise item 0 stands for all code. */
	return (by & BY_MODULE ? items_of_modules(work, nlabels) : 0);
}

static void
work_fini(struct work *work)
{
	free(work->wo_item);
	free(work->wo_row_of);
	free(work->wo_base_of);
	free(work->wo_row);
	free(work->wo_is_top);
	free(work->wo_path);
	free(work->wo_on_path);
}

/* -------------------------------------------------------------- rows */

bool
report_is_root(enum prof_label_kind kind)
{
	return (kind == PROF_LABEL_ALL || kind == PROF_LABEL_COMM ||
	    kind == PROF_LABEL_PID || kind == PROF_LABEL_TID ||
	    kind == PROF_LABEL_CPU || kind == PROF_LABEL_CALL ||
	    kind == PROF_LABEL_ARG);
}

/* What stands above the functions, from a base to the root. */
void
report_name_roots(const struct report *report, struct report_row *row,
    uint32_t node)
{
	const struct prof_tree_node *nodes =
	    prof_profile_nodes(report->re_profile);
	size_t arg = report->re_by.rb_nargs;
	const struct prof_label *label;

	for (; node != 0; node = nodes[node].pt_parent) {
		label = prof_profile_label(report->re_profile,
		    nodes[node].pt_label);
		if (label->lb_kind == PROF_LABEL_COMM)
			row->rw_comm = label->lb_name;
		else if (label->lb_kind == PROF_LABEL_PID)
			row->rw_pid = label->lb_name;
		else if (label->lb_kind == PROF_LABEL_TID)
			row->rw_tid = label->lb_name;
		else if (label->lb_kind == PROF_LABEL_CPU)
			row->rw_cpu = label->lb_name;
		else if (label->lb_kind == PROF_LABEL_CALL)
			row->rw_call = label->lb_name;
		else if (label->lb_kind == PROF_LABEL_ARG && arg > 0)
			row->rw_arg[--arg] = label->lb_name;
	}
}

void
report_name_code(const struct report *report, struct report_row *row,
    const struct prof_label *label)
{
	if (report->re_table.ta_by & (BY_FUNCTION | BY_LINE)) {
		row->rw_name = label->lb_name;
		row->rw_function = label->lb_function;
	}
	if (report->re_table.ta_by & BY_CODE)
		row->rw_module = label->lb_module;
}

static uint32_t
row_new(struct work *work, uint32_t base, const struct prof_label *label)
{
	struct report_table *table = work->wo_table;
	struct report_row *row;
	size_t cap;

	if (table->ta_nrows == work->wo_cap_rows) {
		cap = work->wo_cap_rows == 0 ? 256 : work->wo_cap_rows * 2;
		row = reallocarray(table->ta_row, cap, sizeof(*row));
		if (row == NULL)
			return (NONE);
		table->ta_row = row;
		work->wo_cap_rows = cap;
	}
	row = &table->ta_row[table->ta_nrows];
	memset(row, 0, sizeof(*row));
	report_name_roots(work->wo_report, row, base);
	report_name_code(work->wo_report, row, label);
	row->rw_first = table->ta_nrows * table->ta_ncolumns;
	return ((uint32_t)table->ta_nrows++);
}

/*
 * Nodes of one base stand together, so a row is found by its item alone as
 * long as the base stays.  -1: no memory.
 */
static int
find_rows(struct work *work)
{
	const struct prof_label *label;
	uint32_t base = 0, item, n;

	for (size_t i = 0; i < work->wo_nnodes; i++) {
		n = work->wo_node[i].pt_label;
		label = label_at(work, n);
		if (report_is_root(label->lb_kind)) {
			base = (uint32_t)i;
			work->wo_row[i] = NONE;
			continue;
		}
		item = work->wo_item[n];
		if (work->wo_base_of[item] != base) {
			work->wo_base_of[item] = base;
			work->wo_row_of[item] = row_new(work, base, label);
			if (work->wo_row_of[item] == NONE)
				return (-1);
		}
		work->wo_row[i] = work->wo_row_of[item];
	}
	return (0);
}

/* Follow the path to each node in turn; parents come first. */
static int
find_tops(struct work *work)
{
	uint32_t *path = work->wo_path, row;
	size_t depth = 0;

	work->wo_on_path = calloc(work->wo_table->ta_nrows + 1,
	    sizeof(*work->wo_on_path));
	if (work->wo_on_path == NULL)
		return (-1);
	for (size_t i = 0; i < work->wo_nnodes; i++) {
		while (depth > 0 &&
		    path[depth - 1] != work->wo_node[i].pt_parent) {
			row = work->wo_row[path[--depth]];
			if (row != NONE)
				work->wo_on_path[row]--;
		}
		path[depth++] = (uint32_t)i;
		row = work->wo_row[i];
		if (row != NONE)
			work->wo_is_top[i] = work->wo_on_path[row]++ == 0;
	}
	return (0);
}

/* ------------------------------------------------------------- sums */

/* Add what stands below each node to it; nodes follow their parents. */
static void
sum_below(const struct work *work, const uint64_t *self, uint64_t *below)
{
	memcpy(below, self, work->wo_nnodes * sizeof(*below));
	for (size_t i = work->wo_nnodes; i-- > 1; )
		below[work->wo_node[i].pt_parent] += below[i];
}

static int
sum_column(const struct work *work, size_t column, uint64_t *below)
{
	struct report_table *table = work->wo_table;
	size_t event = table->ta_column[column].co_event;
	const uint64_t *self = prof_profile_self(work->wo_profile, event);
	const uint64_t *samples =
	    prof_profile_samples(work->wo_profile, event);
	struct report_sum *sum;

	if (self == NULL || samples == NULL)
		return (-1);
	for (int pass = 0; pass < 2; pass++) {
		sum_below(work, pass == 0 ? self : samples, below);
		for (size_t i = 0; i < work->wo_nnodes; i++) {
			if (work->wo_row[i] == NONE)
				continue;
			sum = &table->ta_sum[table->ta_row[work->wo_row[i]]
			    .rw_first + column];
			if (pass == 0)
				sum->su_self += self[i];
			else
				sum->su_self_samples += samples[i];
			if (!work->wo_is_top[i])
				continue;
			if (pass == 0)
				sum->su_total += below[i];
			else
				sum->su_total_samples += below[i];
		}
	}
	return (0);
}

static int
sum_all(const struct work *work)
{
	struct report_table *table = work->wo_table;
	uint64_t *below = calloc(work->wo_nnodes + 1, sizeof(*below));
	int rv = 0;

	table->ta_sum = calloc(table->ta_nrows * table->ta_ncolumns + 1,
	    sizeof(*table->ta_sum));
	if (below == NULL || table->ta_sum == NULL)
		rv = -1;
	for (size_t c = 0; c < table->ta_ncolumns && rv == 0; c++)
		rv = sum_column(work, c, below);
	free(below);
	return (rv);
}

/* By event: from a row with many columns to rows with one each. */
static int
split_events(struct report_table *table)
{
	const size_t columns = table->ta_ncolumns;
	struct report_row *rows, *row;

	row = rows = calloc(table->ta_nrows * columns + 1, sizeof(*rows));
	if (rows == NULL)
		return (-1);
	for (size_t i = 0; i < table->ta_nrows; i++) {
		for (size_t c = 0; c < columns; c++) {
			*row = table->ta_row[i];
			row->rw_first += c;
			row++->rw_column = c;
		}
	}
	free(table->ta_row);
	table->ta_row = rows;
	table->ta_nrows *= columns;
	table->ta_per_row = 1;
	return (0);
}

int
report_table(struct report *report)
{
	const unsigned by = report->re_by.rb_set;
	struct work work = { 0 };
	int rv = -1;

	report->re_table.ta_by = by;
	report->re_table.ta_is_flow = (by & BY_CODE) == 0;
	report->re_table.ta_per_row = report->re_table.ta_ncolumns;
	if (work_init(&work, report, by) == 0 && find_rows(&work) == 0 &&
	    find_tops(&work) == 0 && sum_all(&work) == 0 &&
	    ((by & (BY_EVENT | BY_PROBE)) == 0 ||
	    split_events(&report->re_table) == 0))
		rv = 0;
	work_fini(&work);
	return (rv == -1 ? no_memory() : 0);
}

/* ------------------------------------------------------------- order */

struct order {
	const struct report_table *or_table;
	enum report_sort or_sort;
};

static int
compare_texts(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return ((a != NULL) - (b != NULL));
	return (strcmp(a, b));
}

static int
compare_names(const struct report_row *a, const struct report_row *b)
{
	int order;

	if ((order = compare_texts(a->rw_name, b->rw_name)) != 0 ||
	    (order = compare_texts(a->rw_module, b->rw_module)) != 0 ||
	    (order = compare_texts(a->rw_comm, b->rw_comm)) != 0 ||
	    (order = compare_texts(a->rw_pid, b->rw_pid)) != 0 ||
	    (order = compare_texts(a->rw_tid, b->rw_tid)) != 0 ||
	    (order = compare_texts(a->rw_cpu, b->rw_cpu)) != 0 ||
	    (order = compare_texts(a->rw_call, b->rw_call)) != 0)
		return (order);
	for (size_t n = 0; n < PROF_MAX_ARGS; n++)
		if ((order = compare_texts(a->rw_arg[n], b->rw_arg[n])) != 0)
			return (order);
	if (a->rw_function != NULL && b->rw_function != NULL &&
	    a->rw_function->fu_address != b->rw_function->fu_address)
		return (a->rw_function->fu_address <
		    b->rw_function->fu_address ? -1 : 1);
	return (a->rw_first < b->rw_first ? -1 : a->rw_first > b->rw_first);
}

static int
compare_rows(const void *va, const void *vb, void *arg)
{
	const struct report_row *a = va, *b = vb;
	const struct order *order = arg;
	const struct report_table *table = order->or_table;
	const struct report_sum *sa, *sb;
	uint64_t first_a, first_b, then_a, then_b;
	bool by_self = order->or_sort == SORT_SELF && !table->ta_is_flow;

	if (a->rw_column != b->rw_column)
		return (a->rw_column < b->rw_column ? -1 : 1);
	for (size_t c = 0; c < table->ta_per_row; c++) {
		sa = &table->ta_sum[a->rw_first + c];
		sb = &table->ta_sum[b->rw_first + c];
		first_a = by_self ? sa->su_self : sa->su_total;
		first_b = by_self ? sb->su_self : sb->su_total;
		then_a = by_self ? sa->su_total : sa->su_self;
		then_b = by_self ? sb->su_total : sb->su_self;
		if (first_a != first_b)
			return (first_a > first_b ? -1 : 1);
		if (then_a != then_b)
			return (then_a > then_b ? -1 : 1);
	}
	return (compare_names(a, b));
}

/* Rows are found by all samples, also of events that are not shown. */
static void
drop_empty_rows(struct report_table *table)
{
	const struct report_sum *sum;
	size_t kept = 0, c;

	for (size_t i = 0; i < table->ta_nrows; i++) {
		sum = &table->ta_sum[table->ta_row[i].rw_first];
		for (c = 0; c < table->ta_per_row; c++)
			if (sum[c].su_total_samples > 0)
				break;
		if (c < table->ta_per_row || table->ta_row[i].rw_is_asked)
			table->ta_row[kept++] = table->ta_row[i];
	}
	table->ta_nrows = kept;
}

void
report_sort(struct report_table *table, enum report_sort sort,
    uint64_t limit)
{
	struct order order = { table, sort };

	drop_empty_rows(table);
	if (table->ta_nrows > 1)
		qsort_r(table->ta_row, table->ta_nrows,
		    sizeof(*table->ta_row), compare_rows, &order);
	if (table->ta_nrows > limit) {
		table->ta_hidden = table->ta_nrows - (size_t)limit;
		table->ta_nrows = (size_t)limit;
	}
}

/* ------------------------------------------------------------ shares */

const struct report_column *
report_column(const struct report_table *table, const struct report_row *row,
    size_t n)
{
	return (&table->ta_column[table->ta_per_row == 1 ? row->rw_column :
	    n]);
}

double
report_ratio(uint64_t value, uint64_t base)
{
	return (base == 0 ? 0 : (double)value / (double)base);
}

/*
 * Wilson's interval, 95 %, for as many samples of one weight as these are
 * worth: it holds for shares of 0 and 1, too, and never leaves them.
 */
struct report_share
report_share(const struct report_column *column, uint64_t part)
{
	const double z = 1.959963984540054, n = column->co_effective;
	struct report_share share = { 0 };
	double p, middle, half;

	if (column->co_weight == 0 || n <= 0)
		return (share);
	/* Weights of a made-up recording may have gone round past 2^64. */
	p = part >= column->co_weight ? 1 :
	    (double)part / (double)column->co_weight;
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) *
	    sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	share.sh_value = p;
	share.sh_low = middle - half < 0 ? 0 : middle - half;
	share.sh_high = middle + half > 1 ? 1 : middle + half;
	return (share);
}
