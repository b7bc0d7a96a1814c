/* SPDX-License-Identifier: ISC */
/*
 * The numbers of the pictures of a comparison: each run's value of the first
 * metric, or of the total, in a unit that suits; the same in order; and how
 * far apart runs of the same rank are.
 *
 * Called by compare_plot.c, for gnuplot, and by compare_draw.c, for the page.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static int
figures_fail(const char *why, const char *cure)
{
	return (msg_fail("compare", cure, "nothing to draw: %s", why));
}

/* The unit in which most numbers have few digits. */
static double
choose_unit(const struct prof_change *cg, const char **unit)
{
	const double value = cg->cg_median[0];

	*unit = cg->cg_unit[0] != '\0' ? cg->cg_unit : "cost";
	if (strcmp(cg->cg_unit, "s") != 0 || !(value < 1))
		return (1);
	*unit = value < 1e-3 ? "us" : "ms";
	return (value < 1e-3 ? 1e6 : 1e3);
}

static int
take_values(const struct pair *pair, struct figures *fg)
{
	const struct prof_change *cg = compare_headline(pair);
	const size_t max = pair->pr_series[0]->se_nruns +
	    pair->pr_series[1]->se_nruns;
	const char *unit;
	const double scale = choose_unit(cg, &unit);
	double *values = calloc(max + 1, sizeof(*values));
	int *sides = calloc(max + 1, sizeof(*sides));
	size_t n = 0;

	snprintf(fg->fg_label, sizeof(fg->fg_label), "%s (%s)",
	    compare_title(cg->cg_name), unit);
	for (int s = 0; s < 2; s++) {
		fg->fg_value[s] = calloc(max + 1, sizeof(double));
		fg->fg_sorted[s] = calloc(max + 1, sizeof(double));
	}
	if (values != NULL && sides != NULL && fg->fg_value[0] != NULL &&
	    fg->fg_value[1] != NULL)
		n = prof_comparison_values(pair->pr_comparison,
		    prof_comparison_nmetrics(pair->pr_comparison) > 0 ?
		    cg->cg_name : NULL, values, sides, max);
	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			fg->fg_value[sides[i]][fg->fg_n[sides[i]]++] =
			    values[i] * scale;
	free(values);
	free(sides);
	return (fg->fg_n[0] > 0 && fg->fg_n[1] > 0 &&
	    fg->fg_sorted[0] != NULL && fg->fg_sorted[1] != NULL ? 0 :
	    figures_fail("no values", "compare runs that have values"));
}

int
compare_figures(const struct pair *pair, struct figures *fg)
{
	memset(fg, 0, sizeof(*fg));
	if (take_values(pair, fg) == -1) {
		compare_figures_free(fg);
		return (-1);
	}
	for (int s = 0; s < 2; s++) {
		memcpy(fg->fg_sorted[s], fg->fg_value[s],
		    fg->fg_n[s] * sizeof(double));
		prof_sort(fg->fg_sorted[s], fg->fg_n[s]);
	}
	for (int r = 1; r <= FIGURES_RANKS; r++) {
		const double p = (double)r / (FIGURES_RANKS + 1);
		const double base = prof_quantile(fg->fg_sorted[0],
		    fg->fg_n[0], p);
		const double new = prof_quantile(fg->fg_sorted[1],
		    fg->fg_n[1], p);

		if (base != 0)
			fg->fg_shift[fg->fg_nshifts++] = (struct
			    figures_shift){ 100 * p, 100 * (new / base - 1) };
	}
	return (0);
}

void
compare_figures_free(struct figures *fg)
{
	for (int s = 0; s < 2; s++) {
		free(fg->fg_value[s]);
		free(fg->fg_sorted[s]);
	}
}
