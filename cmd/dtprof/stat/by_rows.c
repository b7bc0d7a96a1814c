/* SPDX-License-Identifier: ISC */
/*
 * The table of dtprof stat --by before it is shown: which columns an event
 * has, what stands in them, and the order of rows.  Called by by.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by.h"

/* The order of rows: by a column, or by a key. */
struct by_order {
	const struct by	*bo_by;
	const struct by_event *bo_event;
	const struct by_column *bo_column;	/* NULL: */
	size_t		 bo_key;
};

bool
by_is_time(const struct by_event *event, const struct by_column *column)
{
	return (column->bc_figure > BY_ERRORS && event->be_event->
	    ev_grouping.gp_measure[column->bc_measure].gm_field ==
	    DTP_F_DURATION);
}

static double
share_of(enum by_figure figure)
{
	return (figure == BY_P50 ? 0.5 : figure == BY_P90 ? 0.9 : 0.99);
}

bool
by_is_signed(const struct by_event *event, const struct by_column *column)
{
	return (column->bc_figure > BY_ERRORS && event->be_event->
	    ev_grouping.gp_measure[column->bc_measure].gm_signed != 0);
}

bool
by_exact(const struct by *by, const struct by_event *event,
    const struct prof_group *group, const struct by_column *column,
    uint64_t *raw)
{
	const uint32_t m = column->bc_measure;
	const struct dtp_measure *measure =
	    &event->be_event->ev_grouping.gp_measure[m];
	const struct prof_measured *of = &group->gr_measured[m];

	*raw = column->bc_figure == BY_COUNT ? group->gr_count :
	    column->bc_figure == BY_ERRORS ? group->gr_errors : of->me_sum;
	if (column->bc_figure <= BY_ERRORS)
		return (true);
	/* Of an interval only buckets tell the ends. */
	if (of->me_count == 0 || (by->by_is_interval &&
	    group->gr_unfiled != 0 && column->bc_figure >= BY_MIN))
		return (false);
	switch (column->bc_figure) {
	case BY_P50:
	case BY_P90:
	case BY_P99:
		return (prof_group_quantile(&by->by_groups, group, m, measure,
		    share_of(column->bc_figure), raw));
	case BY_MIN:
		*raw = of->me_min;
		break;
	case BY_MAX:
		*raw = of->me_max;
		break;
	default:
		break;
	}
	return (true);
}

bool
by_figure(const struct by *by, const struct by_event *event,
    const struct prof_group *group, const struct by_column *column,
    double *value)
{
	uint64_t raw;

	if (!by_exact(by, event, group, column, &raw))
		return (false);
	*value = by_is_signed(event, column) ? (double)(int64_t)raw :
	    (double)raw;
	if (column->bc_figure == BY_AVG)
		*value /= (double)group->gr_measured[
		    column->bc_measure].me_count;
	return (true);
}

/* ------------------------------------------------------------ columns */

/* "avg", or "avg(FIELD)"; be_ncolumns counts those that are complete. */
static int
column_add(struct by_event *event, enum by_figure figure, uint32_t measure,
    const char *name, const char *field)
{
	struct by_column *column = &event->be_column[event->be_ncolumns];

	column->bc_figure = figure;
	column->bc_measure = measure;
	if (field == NULL)
		column->bc_title = strdup(name);
	else if (asprintf(&column->bc_title, "%s(%s)", name, field) == -1)
		column->bc_title = NULL;
	if (column->bc_title == NULL)
		return (-1);
	event->be_ncolumns++;
	return (0);
}

static int
columns_wanted(const struct by *by, struct by_event *event)
{
	static const struct {
		enum by_figure	 figure;
		const char	*name;
	} figures[] = {
		{ BY_TOTAL, "sum" }, { BY_AVG, "avg" }, { BY_MIN, "min" },
		{ BY_MAX, "max" }
	};

	for (uint32_t m = 0; m < by->by_grouping.gp_nmeasures; m++)
		for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]);
		    f++)
			if ((by->by_wanted[m] >> figures[f].figure & 1) != 0 &&
			    column_add(event, figures[f].figure, m,
			    figures[f].name,
			    by->by_grouping.gp_measure[m].me_field) == -1)
				return (-1);
	return (0);
}

/* Of durations, unless measures were asked for. */
static int
columns_default(struct by_event *event)
{
	static const struct {
		enum by_figure	 figure;
		const char	*name;
	} figures[] = {
		{ BY_TOTAL, "total" }, { BY_AVG, "avg" }, { BY_P50, "p50" },
		{ BY_P90, "p90" }, { BY_P99, "p99" }, { BY_MAX, "max" }
	};

	for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
		if (column_add(event, figures[f].figure, 0, figures[f].name,
		    NULL) == -1)
			return (-1);
	return (0);
}

static int
columns_make(const struct by *by, struct by_event *event)
{
	const struct dtp_grouping *gp = &event->be_event->ev_grouping;

	if (column_add(event, BY_COUNT, 0, event->be_event->ev_is_call ?
	    "calls" : "count", NULL) == -1 ||
	    (gp->gp_result != 0 && column_add(event, BY_ERRORS, 0, "errors",
	    NULL) == -1))
		return (-1);
	if (by->by_grouping.gp_nmeasures > 0)
		return (columns_wanted(by, event));
	return (gp->gp_nmeasures > 0 ? columns_default(event) : 0);
}

/* --------------------------------------------------------------- rows */

/* Keys as they are: numbers up, text by its bytes. */
static int
compare_keys(const struct by_order *order, const struct prof_group *x,
    const struct prof_group *y)
{
	struct prof_key_value a, b;

	prof_group_key(order->bo_event->be_event, x, order->bo_key, &a);
	prof_group_key(order->bo_event->be_event, y, order->bo_key, &b);
	if (a.kv_is_text)
		return (strcmp(a.kv_text, b.kv_text));
	if (a.kv_is_signed)
		return (((int64_t)a.kv_number > (int64_t)b.kv_number) -
		    ((int64_t)a.kv_number < (int64_t)b.kv_number));
	return ((a.kv_number > b.kv_number) - (a.kv_number < b.kv_number));
}

/* Most first; unknown ones last, equal ones in order of their keys. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const struct prof_group *x = *(const struct prof_group *const *)a;
	const struct prof_group *y = *(const struct prof_group *const *)b;
	const struct by_order *order = arg;
	double value[2] = { -HUGE_VAL, -HUGE_VAL };
	int rv = 0;

	if (order->bo_column == NULL) {
		rv = compare_keys(order, x, y);
	} else {
		(void)by_figure(order->bo_by, order->bo_event, x,
		    order->bo_column, &value[0]);
		(void)by_figure(order->bo_by, order->bo_event, y,
		    order->bo_column, &value[1]);
		rv = (value[0] < value[1]) - (value[0] > value[1]);
	}
	return (rv != 0 ? rv : (x > y) - (x < y));
}

size_t
by_rows_shown(const struct by *by, const struct by_event *event)
{
	const struct opt_number *limit = &by->by_options->co_limit;

	return (limit->on_set && limit->on_value < event->be_nrows ?
	    (size_t)limit->on_value : event->be_nrows);
}

static int
refuse_sort(const struct by *by, const struct by_event *event)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t n = 0; n < by->by_grouping.gp_nby && used < sizeof(names);
	    n++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
		    "%s%s", n == 0 ? "" : " ", by->by_grouping.gp_by[n]);
	for (size_t n = 0; n < event->be_ncolumns && used < sizeof(names);
	    n++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
		    " %s", event->be_column[n].bc_title);
	return (msg_fail("stat", "name another column", "--sort %s: no such "
	    "column; columns of %s are: %s", by->by_options->co_sort,
	    event->be_event->ev_name, names));
}

static int
order_find(const struct by *by, const struct by_event *event,
    struct by_order *order)
{
	const char *name = by->by_options->co_sort;

	*order = (struct by_order){ by, event, event->be_column, 0 };
	for (size_t n = 0; n < event->be_ncolumns; n++) {
		const struct by_column *column = &event->be_column[n];

		if (name == NULL ? column->bc_figure == BY_TOTAL :
		    strcmp(name, column->bc_title) == 0 ||
		    (strcmp(name, "count") == 0 &&
		    column->bc_figure == BY_COUNT)) {
			order->bo_column = column;
			return (0);
		}
	}
	for (size_t n = 0; name != NULL && n < by->by_grouping.gp_nby; n++)
		if (strcmp(name, by->by_grouping.gp_by[n]) == 0) {
			order->bo_column = NULL;
			order->bo_key = n;
			return (0);
		}
	return (name == NULL ? 0 : refuse_sort(by, event));
}

int
by_columns_make(struct by *by)
{
	struct by_order order;

	for (size_t e = 0; e < by->by_nevents; e++) {
		if (columns_make(by, &by->by_event[e]) == -1)
			return (msg_error("stat", "out of memory",
			    "free memory"));
		if (order_find(by, &by->by_event[e], &order) == -1)
			return (-1);
	}
	return (0);
}

int
by_rows_make(struct by *by)
{
	static const struct prof_group never;
	struct by_order order;

	for (size_t e = 0; e < by->by_nevents; e++) {
		struct by_event *event = &by->by_event[e];

		if (order_find(by, event, &order) == -1)
			return (-1);
		free(event->be_row);
		event->be_nrows = 0;
		event->be_row = calloc(by->by_groups.gs_n + 1,
		    sizeof(*event->be_row));
		if (event->be_row == NULL)
			return (msg_error("stat", "out of memory",
			    "free memory"));
		for (size_t n = 0; n < by->by_groups.gs_n; n++)
			if (by->by_groups.gs_group[n].gr_event == e + 1 &&
			    by->by_groups.gs_group[n].gr_count > 0)
				event->be_row[event->be_nrows++] =
				    &by->by_groups.gs_group[n];
		if (by->by_is_plain && event->be_nrows == 0)
			event->be_row[event->be_nrows++] = &never;
		qsort_r(event->be_row, event->be_nrows,
		    sizeof(*event->be_row), compare_rows, &order);
	}
	return (0);
}
