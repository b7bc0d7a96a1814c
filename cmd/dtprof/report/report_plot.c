/* SPDX-License-Identifier: ISC */
/*
 * report --plot: when the samples were, as a picture by gnuplot (plot.c) from
 * a template of reports/, or as the numbers that the picture is made of
 * (.tsv).  Each sample is in one cell of one file, so the cells sum to the
 * samples of the events that were asked for.
 *
 * Called by cmd_report.c instead of the table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/plot.h"
#include "report.h"

#define SECOND_NS	((uint64_t)1000000000)
#define MAX_LANES	40	/* the last one is of all others */

/* Cells of the profile put together: so many lanes by so many steps. */
struct grid {
	size_t		 gr_nlanes;
	size_t		 gr_nsteps;
	uint64_t	 gr_step_ns;
	uint64_t	*gr_samples;
	uint64_t	*gr_weight;
};

static int
no_memory(void)
{
	return (msg_error("report", "out of memory", "free memory"));
}

/* Columns are events, and those that nobody asked for have none. */
static size_t
column_of(const struct report *report, uint32_t event)
{
	size_t c;

	for (c = 0; c < report->re_table.ta_ncolumns; c++)
		if (report->re_table.ta_column[c].co_event == event)
			break;
	return (c);
}

/* lane_of: by node; NULL: the column is the lane.  Free also after -1. */
static int
grid_fill(struct grid *grid, const struct report *report, size_t nlanes,
    const uint32_t *lane_of, size_t max_steps)
{
	const size_t ncolumns = report->re_table.ta_ncolumns;
	const struct prof_bucket *bucket;
	size_t n, at, column, last = 0, each;

	bucket = prof_profile_buckets(report->re_profile, &n);
	for (size_t i = 0; i < n; i++)
		if (bucket[i].pc_bucket > last)
			last = bucket[i].pc_bucket;
	each = (last + max_steps) / max_steps;
	grid->gr_nlanes = nlanes;
	grid->gr_nsteps = last / each + 1;
	grid->gr_step_ns = each * PLOT_BUCKET_NS;
	grid->gr_samples = calloc(nlanes * grid->gr_nsteps + 1,
	    sizeof(uint64_t));
	grid->gr_weight = calloc(nlanes * grid->gr_nsteps + 1,
	    sizeof(uint64_t));
	if (grid->gr_samples == NULL || grid->gr_weight == NULL)
		return (no_memory());
	for (size_t i = 0; i < n; i++) {
		column = column_of(report, bucket[i].pc_event);
		if (column == ncolumns)
			continue;
		at = (lane_of != NULL ? lane_of[bucket[i].pc_node] : column) *
		    grid->gr_nsteps + bucket[i].pc_bucket / each;
		grid->gr_samples[at] += bucket[i].pc_samples;
		grid->gr_weight[at] += bucket[i].pc_weight;
	}
	return (0);
}

static void
grid_free(struct grid *grid)
{
	free(grid->gr_samples);
	free(grid->gr_weight);
}

void
report_put_seconds(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%09" PRIu64, ns / SECOND_NS,
	    ns % SECOND_NS);
}

/* ------------------------------------------------------------- heat map */

static int
write_heatmap(const struct report *report, struct plot_dir *dir)
{
	uint32_t *lane_of = calloc(prof_profile_nnodes(report->re_profile) +
	    1, sizeof(*lane_of));
	struct grid grid = { 0 };
	uint64_t at_ns;
	FILE *file = NULL;
	int rv = -1;

	if (lane_of == NULL)
		no_memory();
	else if (grid_fill(&grid, report, 1, lane_of, UINT32_MAX) == 0)
		file = plot_file(dir, "heatmap.tsv");
	if (file != NULL) {
		fputs("second\tms\tlength\tsamples\n", file);
		for (size_t i = 0; i < grid.gr_nsteps; i++) {
			at_ns = i * grid.gr_step_ns;
			if (grid.gr_samples[i] > 0)
				fprintf(file, "%" PRIu64 "\t%" PRIu64 "\t%"
				    PRIu64 "\t%" PRIu64 "\n",
				    at_ns / SECOND_NS, at_ns % SECOND_NS /
				    1000000, grid.gr_step_ns / 1000000,
				    grid.gr_samples[i]);
		}
		rv = plot_close(dir, file, "heatmap.tsv");
	}
	grid_free(&grid);
	free(lane_of);
	return (rv);
}

/* ------------------------------------------------------------- timeline */

struct lanes {
	uint32_t	*la_of;		/* by node */
	const char	*la_name[MAX_LANES];
	size_t		 la_n;
};

struct root {
	uint32_t	ro_node;
	uint64_t	ro_samples;
};

static int
compare_roots(const void *a, const void *b)
{
	const struct root *ra = a, *rb = b;

	if (ra->ro_samples != rb->ro_samples)
		return (ra->ro_samples > rb->ro_samples ? -1 : 1);
	return (ra->ro_node < rb->ro_node ? -1 : 1);
}

/* Below which child of the root each node is, and how many samples. */
static size_t
find_roots(const struct report *report, uint32_t *root_of,
    struct root *roots)
{
	const struct prof_tree_node *node =
	    prof_profile_nodes(report->re_profile);
	const size_t nnodes = prof_profile_nnodes(report->re_profile);
	const struct prof_bucket *bucket;
	size_t n = 0, nbuckets;

	for (size_t i = 1; i < nnodes; i++) {
		if (node[i].pt_parent == 0)
			roots[n++].ro_node = (uint32_t)i;
		root_of[i] = (uint32_t)(n - 1);
	}
	bucket = prof_profile_buckets(report->re_profile, &nbuckets);
	for (size_t i = 0; i < nbuckets; i++)
		if (column_of(report, bucket[i].pc_event) <
		    report->re_table.ta_ncolumns && bucket[i].pc_node != 0)
			roots[root_of[bucket[i].pc_node]].ro_samples +=
			    bucket[i].pc_samples;
	return (n);
}

/* The busiest have lanes of their own, the busiest of them first. */
static int
lanes_init(struct lanes *lanes, const struct report *report)
{
	const struct prof_tree_node *node =
	    prof_profile_nodes(report->re_profile);
	const size_t nnodes = prof_profile_nnodes(report->re_profile);
	struct root *roots = calloc(nnodes + 1, sizeof(*roots));
	uint32_t *lane_of = calloc(nnodes + 1, sizeof(*lane_of));
	size_t n;

	lanes->la_of = calloc(nnodes + 1, sizeof(*lanes->la_of));
	if (roots == NULL || lane_of == NULL || lanes->la_of == NULL) {
		free(roots);
		free(lane_of);
		return (no_memory());
	}
	n = find_roots(report, lanes->la_of, roots);
	if (n > 1)
		qsort(roots, n, sizeof(*roots), compare_roots);
	lanes->la_n = n > MAX_LANES ? MAX_LANES : n;
	for (size_t i = 0; i < n; i++) {
		const size_t lane = i < lanes->la_n ? i : lanes->la_n - 1;

		lanes->la_name[lane] = lane < i || (n > MAX_LANES && lane ==
		    MAX_LANES - 1) ? "[all others]" : prof_profile_label(
		    report->re_profile, node[roots[i].ro_node].pt_label)
		    ->lb_name;
		lane_of[lanes->la_of[roots[i].ro_node]] = (uint32_t)lane;
	}
	for (size_t i = 1; i < nnodes; i++)
		lanes->la_of[i] = lane_of[lanes->la_of[i]];
	free(roots);
	free(lane_of);
	return (0);
}

static int
write_lanes(const struct lanes *lanes, struct plot_dir *dir)
{
	FILE *file = plot_file(dir, "lanes.tsv");

	if (file == NULL)
		return (-1);
	fputs("lane\tname\n", file);
	for (size_t i = 0; i < lanes->la_n; i++) {
		fprintf(file, "%zu\t", i);
		plot_text(file, lanes->la_name[i]);
		fputc('\n', file);
	}
	return (plot_close(dir, file, "lanes.tsv"));
}

/* Also names lanes in each row, for those who read the numbers. */
static int
write_timeline(const struct report *report, struct plot_dir *dir)
{
	struct lanes lanes = { 0 };
	struct grid grid = { 0 };
	FILE *file = NULL;
	int rv = -1;

	if (lanes_init(&lanes, report) == 0 && write_lanes(&lanes, dir) == 0 &&
	    grid_fill(&grid, report, lanes.la_n, lanes.la_of, PLOT_STEPS) == 0)
		file = plot_file(dir, "timeline.tsv");
	if (file != NULL) {
		fputs("lane\ttime\tlength\tsamples\tname\n", file);
		for (size_t i = 0; i < grid.gr_nlanes * grid.gr_nsteps; i++) {
			if (grid.gr_samples[i] == 0)
				continue;
			fprintf(file, "%zu\t", i / grid.gr_nsteps);
			report_put_seconds(file, i % grid.gr_nsteps *
			    grid.gr_step_ns);
			fputc('\t', file);
			report_put_seconds(file, grid.gr_step_ns);
			fprintf(file, "\t%" PRIu64 "\t", grid.gr_samples[i]);
			plot_text(file, lanes.la_name[i / grid.gr_nsteps]);
			fputc('\n', file);
		}
		rv = plot_close(dir, file, "timeline.tsv");
	}
	grid_free(&grid);
	free(lanes.la_of);
	return (rv);
}

/* ---------------------------------------------------------------- rates */

static void
put_rates(FILE *file, const struct grid *grid, size_t step)
{
	const uint64_t at_ns = step * grid->gr_step_ns;
	size_t i;

	report_put_seconds(file, at_ns);
	for (size_t lane = 0; lane < grid->gr_nlanes; lane++) {
		i = lane * grid->gr_nsteps + step;
		fprintf(file, "\t%.0f\t%" PRIu64, (double)grid->gr_weight[i] *
		    1e9 / (double)grid->gr_step_ns, grid->gr_samples[i]);
	}
	fputc('\n', file);
}

static int
write_rates(const struct report *report, struct plot_dir *dir)
{
	const struct report_table *table = &report->re_table;
	const struct prof_event_info *info;
	struct grid grid = { 0 };
	FILE *file = NULL;
	int rv = -1;

	if (grid_fill(&grid, report, table->ta_ncolumns, NULL, PLOT_STEPS) ==
	    0)
		file = plot_file(dir, "rates.tsv");
	if (file != NULL) {
		fputs("time", file);
		for (size_t c = 0; c < table->ta_ncolumns; c++) {
			info = table->ta_column[c].co_info;
			fputc('\t', file);
			plot_text(file, info->pi_name);
			fputs(strcmp(info->pi_unit, "ns") == 0 ? " (ns)" : "",
			    file);
			fputs("\tsamples", file);
		}
		fputc('\n', file);
		for (size_t i = 0; i < grid.gr_nsteps; i++)
			put_rates(file, &grid, i);
		rv = plot_close(dir, file, "rates.tsv");
	}
	grid_free(&grid);
	return (rv);
}

/* ----------------------------------------------------------------- all */

int
report_plot(const struct report *report, unsigned plot, const char *path)
{
	static const struct {
		unsigned	 ki_plot;
		int		 (*ki_write)(const struct report *,
				    struct plot_dir *);
		const char	*ki_data;
		enum plot_template ki_template;
	} kinds[] = {
		{ PLOT_HEATMAP, write_heatmap, "heatmap.tsv",
		    PLOT_DRAWS_HEATMAP },
		{ PLOT_TIMELINE, write_timeline, "timeline.tsv",
		    PLOT_DRAWS_TIMELINE },
		{ PLOT_RATES, write_rates, "rates.tsv",
		    PLOT_DRAWS_RATES }
	};
	const char *type = plot_type(path);
	struct plot_dir dir;
	size_t k = 0;
	int rv = -1;

	if (report->re_table.ta_ncolumns == 0)
		return (msg_error("report", "--plot: no sample to show",
		    "use a less strict --filter or time range, or run dtprof "
		    "report --stats to see what was recorded"));
	if (plot_begin(&dir, "report") == -1)
		return (-1);
	while (kinds[k].ki_plot != plot)
		k++;
	if (kinds[k].ki_write(report, &dir) == 0)
		rv = strcmp(type, "tsv") == 0 ?
		    plot_fetch(&dir, kinds[k].ki_data, path) :
		    plot_draw(&dir, kinds[k].ki_template, type, path);
	plot_remove(&dir);
	return (rv);
}
