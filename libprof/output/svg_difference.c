/* SPDX-License-Identifier: ISC */
/*
 * The drawing of a difference: frames as wide as what is new, paths that are
 * gone striped in their place and as wide as they were, coloured by how much
 * the two sides differ, grey where the test finds nothing.  Where there are
 * runs enough for verdicts it is the cost of a run that is compared, else the
 * share of everything.
 *
 * Called by svg.c.
 */
#include <math.h>

#include "compare/difference.h"
#include "svg.h"

#define WIDE	1e9	/* of everything, so that shares are whole numbers */

static enum prof_measure
measure_of(const struct prof_difference *df)
{
	return (df->df_claims ? PROF_BY_COST : PROF_BY_SHARE);
}

/* Of a node, by side, as a share of what the base has, or its own side. */
static double
part_of(const struct prof_difference *df, int side, enum prof_part part,
    size_t node)
{
	return (df->df_mean[side][part][node] / df->df_sum[measure_of(df) ==
	    PROF_BY_COST ? 0 : side]);
}

static double
change_of(const struct prof_difference *df, enum prof_part part, size_t node)
{
	return (part_of(df, 1, part, node) - part_of(df, 0, part, node));
}

void
prof_svg_take_change(struct drawing *drawing)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;
	const struct prof_chance *chance =
	    df->df_chance[measure_of(df)][PROF_TOTAL];

	for (size_t i = 0; i < drawing->dr_flame->fm_nnodes; i++) {
		const bool is_gone = df->df_mean[1][PROF_TOTAL][i] <= 0;
		const double change = change_of(df, PROF_TOTAL, i);

		drawing->dr_total[i] = (uint64_t)(WIDE * part_of(df,
		    is_gone ? 0 : 1, PROF_SELF, i) + 0.5);
		if (!chance[i].pc_differs)
			continue;
		drawing->dr_change[i] = change;
		drawing->dr_most = fmax(drawing->dr_most, fabs(change));
	}
}

bool
prof_svg_is_one_sided(const struct drawing *drawing, size_t node)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;

	return (df->df_mean[0][PROF_TOTAL][node] <= 0 ||
	    df->df_mean[1][PROF_TOTAL][node] <= 0);
}

/* Red for more, blue for less; yellow where it is new, violet where gone. */
void
prof_svg_put_change_colour(const struct drawing *drawing, size_t node)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;
	const double change = drawing->dr_change[node];
	int much, hue = change > 0 ? 8 : 214;

	if (change == 0) {
		prof_put_str(drawing->dr_out, " fill=\"#d3d6db\"");
		return;
	}
	much = (int)(100 * fabs(change) / drawing->dr_most + 0.5);
	if (prof_svg_is_one_sided(drawing, node))
		hue = df->df_mean[0][PROF_TOTAL][node] <= 0 ? 42 : 268;
	prof_put_fmt(drawing->dr_out, " fill=\"hsl(%d,%d%%,%d%%)\"", hue,
	    35 + 55 * much / 100, hue == 268 ? 76 : 86 - 22 * much / 100);
}

/* ---------------------------------------------------------------- words */

/* Signed hundredths: the point of a fraction depends on the locale. */
static void
put_points(struct prof_buf *out, double share)
{
	const long hundredths = lround(fabs(share) * 10000);

	prof_put_fmt(out, "%s%ld.%02ld", share < 0 ? "-" : "+",
	    hundredths / 100, hundredths % 100);
}

static void
put_amount(const struct drawing *drawing, double value)
{
	char text[64];

	prof_difference_amount(text, sizeof(text), value,
	    drawing->dr_flame->fm_event[0].fe_info->pi_unit);
	prof_put_xml(drawing->dr_out, text, 0);
}

static void
put_part(const struct drawing *drawing, size_t node, enum prof_part part)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;
	struct prof_buf *out = drawing->dr_out;

	prof_put_str(out, part == PROF_TOTAL ? "in all: " : "\nitself: ");
	put_amount(drawing, df->df_mean[0][part][node]);
	prof_put_str(out, " to ");
	put_amount(drawing, df->df_mean[1][part][node]);
	prof_put_str(out, " a run, ");
	put_points(out, df->df_mean[1][part][node] / df->df_sum[1] -
	    df->df_mean[0][part][node] / df->df_sum[0]);
	prof_put_str(out, " points of share");
}

void
prof_svg_put_change(const struct drawing *drawing, size_t node)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;
	const double p = df->df_chance[measure_of(df)][PROF_TOTAL][
	    node].pc_p;

	put_part(drawing, node, PROF_TOTAL);
	put_part(drawing, node, PROF_SELF);
	prof_put_str(drawing->dr_out, isnan(p) ? "\nnot tested" :
	    df->df_claims ? drawing->dr_change[node] == 0 ?
	    "\nnot significant" : "\ndiffers" :
	    drawing->dr_change[node] == 0 ?
	    "\nnot tested; the difference is within sampling noise" :
	    "\nnot tested; the difference exceeds sampling noise");
}

void
prof_svg_put_scale(const struct drawing *drawing)
{
	const struct prof_difference *df = drawing->dr_flame->fm_difference;
	struct prof_buf *out = drawing->dr_out;

	prof_put_str(out, "grey: ");
	prof_put_str(out, df->df_claims ? "not significant" :
	    "the difference is within sampling noise");
	if (drawing->dr_most > 0) {
		prof_put_str(out, "; red: more, up to ");
		put_points(out, drawing->dr_most);
		prof_put_str(out, " points or +");
		put_amount(drawing, drawing->dr_most * df->df_sum[
		    measure_of(df) == PROF_BY_COST ? 0 : 1]);
		prof_put_str(out, " per run; blue: less, up to the same "
		    "amount");
	}
	prof_put_str(out, "; striped: only in new (yellow) or only in base "
	    "(violet)");
}

void
prof_svg_put_stripes(struct prof_buf *out)
{
	prof_put_str(out, "<defs><pattern id=\"only\" width=\"8\" "
	    "height=\"8\" patternUnits=\"userSpaceOnUse\" "
	    "patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"8\" "
	    "fill=\"#fff\" fill-opacity=\"0.6\"/></pattern></defs>\n");
}
