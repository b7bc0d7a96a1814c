/* SPDX-License-Identifier: ISC */
/*
 * A comparison as a picture, by gnuplot (plot.c): reports/compare.gp and files
 * of numbers (compare_figures.c).
 *
 * Called by cmd_compare.c for the first pair.
 */
#include <math.h>
#include <stdio.h>

#include "../ui/plot.h"
#include "compare.h"

/* Where data go. */
struct plot {
	const struct pair *pl_pair;
	struct plot_dir	*pl_dir;
	const struct figures *pl_figures;
};

/* ---------------------------------------------------------------- data */

static int
write_runs(const struct plot *plot, int side, const char *name)
{
	FILE *file = plot_file(plot->pl_dir, name);

	if (file == NULL)
		return (-1);
	fputs("run\t", file);
	plot_text(file, plot->pl_pair->pr_series[side]->se_name);
	fputc('\n', file);
	for (size_t i = 0; i < plot->pl_figures->fg_n[side]; i++)
		fprintf(file, "%zu\t%.12g\n", i + 1,
		    plot->pl_figures->fg_value[side][i]);
	return (plot_close(plot->pl_dir, file, name));
}

static void
put_change(FILE *file, const char *name, const struct prof_change *cg)
{
	if (!isfinite(cg->cg_change) || !isfinite(cg->cg_ci95[0]) ||
	    !isfinite(cg->cg_ci95[1]))
		return;
	plot_text(file, name);
	fprintf(file, "\t%.6g\t%.6g\t%.6g\n", 100 * cg->cg_change,
	    100 * cg->cg_ci95[0], 100 * cg->cg_ci95[1]);
}

static int
write_changes(const struct plot *plot)
{
	const struct prof_comparison *cp = plot->pl_pair->pr_comparison;
	FILE *file = plot_file(plot->pl_dir, "metrics.tsv");
	char name[COMPARE_NAME];

	if (file == NULL)
		return (-1);
	fputs("metric\tchange\tlow\thigh\n", file);
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		put_change(file, compare_title(prof_comparison_metric(cp,
		    i)->cg_name), prof_comparison_metric(cp, i));
	if (prof_comparison_total(cp) != NULL)
		put_change(file, "total cost", prof_comparison_total(cp));
	if (plot_close(plot->pl_dir, file, "metrics.tsv") == -1 ||
	    (file = plot_file(plot->pl_dir, "functions.tsv")) == NULL)
		return (-1);
	fputs("function\tchange\tlow\thigh\n", file);
	for (size_t i = 0; i < prof_comparison_nfunctions(cp) &&
	    i < FIGURES_FUNCTIONS; i++)
		put_change(file, compare_name(name, sizeof(name),
		    prof_comparison_function(cp, i)),
		    prof_comparison_function(cp, i));
	return (plot_close(plot->pl_dir, file, "functions.tsv"));
}

static int
write_shift(const struct plot *plot)
{
	FILE *file = plot_file(plot->pl_dir, "shift.tsv");

	if (file == NULL)
		return (-1);
	fputs("share\tchange\n", file);
	for (size_t r = 0; r < plot->pl_figures->fg_nshifts; r++)
		fprintf(file, "%.6g\t%.6g\n",
		    plot->pl_figures->fg_shift[r].fs_share,
		    plot->pl_figures->fg_shift[r].fs_change);
	return (plot_close(plot->pl_dir, file, "shift.tsv"));
}

static int
write_label(const struct plot *plot)
{
	FILE *file = plot_file(plot->pl_dir, "label.txt");

	if (file == NULL)
		return (-1);
	plot_text(file, plot->pl_figures->fg_label);
	fputc('\n', file);
	return (plot_close(plot->pl_dir, file, "label.txt"));
}

static int
write_all(const struct plot *plot)
{
	return (write_runs(plot, 0, "base.tsv") == -1 ||
	    write_runs(plot, 1, "new.tsv") == -1 ||
	    write_label(plot) == -1 || write_changes(plot) == -1 ||
	    write_shift(plot) == -1 ? -1 : 0);
}

int
compare_plot(const struct pair *pair, const char *path)
{
	const char *type = plot_type(path);
	struct figures figures;
	struct plot_dir dir;
	const struct plot plot = { pair, &dir, &figures };
	int rv = -1;

	if (compare_figures(pair, &figures) == -1)
		return (-1);
	if (plot_begin(&dir, "compare") == -1)
		goto out;
	if (write_all(&plot) == 0)
		rv = plot_draw(&dir, PLOT_DRAWS_COMPARE, type, path);
	plot_remove(&dir);
out:
	compare_figures_free(&figures);
	return (rv);
}
