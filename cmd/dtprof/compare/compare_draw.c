/* SPDX-License-Identifier: ISC */
/*
 * The pictures of a comparison as elements of a page (SVG): all runs with
 * quartiles, the share of runs that took no longer, the order of runs, the
 * change of each metric and function with its interval, and between runs of
 * the same rank.  The same numbers as gnuplot draws (reports/compare.gp), with
 * no other program; each point says what it is when pointed at.
 *
 * Called by compare_text.c for a page.
 */
#include <math.h>

#include "../ui/terminal.h"
#include "compare.h"

#define WIDTH		400
#define HEIGHT		300
#define LEFT		64
#define LEFT_OF_NAMES	170	/* where rows have names */
#define RIGHT		12
#define TOP		28
#define BOTTOM		46
#define MAX_NAME	24	/* columns of a name beside a row */

static const char *const side_class[2] = { "base", "new" };

/* A range of numbers along an axis, and what they are. */
struct axis {
	double		 ax_low;
	double		 ax_high;
	const char	*ax_title;
	bool		 ax_is_plain;	/* no numbers on it */
};

struct panel {
	struct out	*pn_out;
	struct axis	 pn_x;
	struct axis	 pn_y;
	double		 pn_left;
};

static double
at_x(const struct panel *pn, double value)
{
	return (pn->pn_left + (value - pn->pn_x.ax_low) /
	    (pn->pn_x.ax_high - pn->pn_x.ax_low) *
	    (WIDTH - RIGHT - pn->pn_left));
}

static double
at_y(const struct panel *pn, double value)
{
	return (HEIGHT - BOTTOM - (value - pn->pn_y.ax_low) /
	    (pn->pn_y.ax_high - pn->pn_y.ax_low) * (HEIGHT - BOTTOM - TOP));
}

/* Take a value in; what is not finite has no place. */
static void
axis_widen(struct axis *axis, double value)
{
	if (!isfinite(value))
		return;
	axis->ax_low = fmin(axis->ax_low, value);
	axis->ax_high = fmax(axis->ax_high, value);
}

/* Some room beyond the outermost values, and never a range of nothing. */
static void
axis_loosen(struct axis *axis)
{
	double room = (axis->ax_high - axis->ax_low) * 0.05;

	if (!(room > 0))
		room = axis->ax_low != 0 && isfinite(axis->ax_low) ?
		    fabs(axis->ax_low) * 0.05 : 1;
	if (!isfinite(axis->ax_low) || !isfinite(axis->ax_high))
		axis->ax_low = axis->ax_high = 0;
	axis->ax_low -= room;
	axis->ax_high += room;
}

/* 1, 2 or 5 of a power of ten, so that there are about five. */
static double
step_of(const struct axis *axis)
{
	const double raw = (axis->ax_high - axis->ax_low) / 5;
	const double power = pow(10, floor(log10(raw)));
	const double times = raw / power;

	return (power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 :
	    10));
}

static void
axis_tick(const struct panel *pn, bool is_x, double value)
{
	struct out *out = pn->pn_out;

	if (is_x)
		out_fmt(out, "<path class=\"grid\" d=\"M%.2f %dV%d\"/>"
		    "<text class=\"tx\" text-anchor=\"middle\" x=\"%.2f\" "
		    "y=\"%d\">", at_x(pn, value), TOP, HEIGHT - BOTTOM,
		    at_x(pn, value), HEIGHT - BOTTOM + 14);
	else
		out_fmt(out, "<path class=\"grid\" d=\"M%.2f %.2fH%d\"/>"
		    "<text class=\"ty\" text-anchor=\"end\" x=\"%.2f\" "
		    "y=\"%.2f\" dy=\"4\">", pn->pn_left, at_y(pn, value),
		    WIDTH - RIGHT, pn->pn_left - 5, at_y(pn, value));
	out_fmt(out, "%.6g</text>\n", value);
}

static void
axis_ticks(const struct panel *pn, bool is_x)
{
	const struct axis *axis = is_x ? &pn->pn_x : &pn->pn_y;
	const double step = step_of(axis);
	const double first = ceil(axis->ax_low / step);

	if (axis->ax_is_plain)
		return;
	for (int i = 0; i < 12 && (first + i) * step <= axis->ax_high; i++)
		axis_tick(pn, is_x, (first + i) * step);
}

static void
panel_begin(struct panel *pn, const char *title)
{
	struct out *out = pn->pn_out;

	out_fmt(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
	    WIDTH, HEIGHT);
	out_html(out, title);
	out_str(out, "\">\n<text class=\"title\" x=\"8\" y=\"16\">");
	out_html(out, title);
	out_str(out, "</text>\n");
	axis_ticks(pn, true);
	axis_ticks(pn, false);
	out_fmt(out, "<path class=\"axis\" d=\"M%.2f %dV%dH%d\"/>\n",
	    pn->pn_left, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
	out_fmt(out, "<text class=\"lx\" text-anchor=\"middle\" x=\"%.2f\" "
	    "y=\"%d\">", (pn->pn_left + WIDTH - RIGHT) / 2, HEIGHT - 12);
	out_html(out, pn->pn_x.ax_title);
	out_fmt(out, "</text>\n<text class=\"ly\" text-anchor=\"middle\" "
	    "transform=\"translate(12 %d) rotate(-90)\">",
	    (TOP + HEIGHT - BOTTOM) / 2);
	out_html(out, pn->pn_y.ax_title);
	out_str(out, "</text>\n");
}

static void
panel_end(const struct panel *pn)
{
	out_str(pn->pn_out, "</svg>\n");
}

/* Which colour is whose. */
static void
panel_legend(const struct panel *pn)
{
	for (int s = 0; s < 2; s++)
		out_fmt(pn->pn_out, "<text class=\"%s\" text-anchor=\"end\" "
		    "x=\"%d\" y=\"16\">%s</text>\n", side_class[s],
		    WIDTH - RIGHT - (s == 0 ? 34 : 0), side_class[s]);
}

/* A point with its numbers, which a reader sees when pointing at it. */
static void
panel_point(const struct panel *pn, const char *class, double x, double y)
{
	out_fmt(pn->pn_out, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" "
	    "r=\"2.5\"><title>", class, at_x(pn, x), at_y(pn, y));
}

static struct panel
panel_of(struct out *out, const char *x, const char *y)
{
	return ((struct panel){ out, { INFINITY, -INFINITY, x, false },
	    { INFINITY, -INFINITY, y, false }, LEFT });
}

/* --------------------------------------------------------------- runs */

static void
draw_box(const struct panel *pn, const struct figures *fg, int side)
{
	const double *sorted = fg->fg_sorted[side], x = side + 1;
	const size_t n = fg->fg_n[side];
	const double low = prof_quantile(sorted, n, 0.25);
	const double high = prof_quantile(sorted, n, 0.75);
	const double middle = prof_quantile(sorted, n, 0.5);

	out_fmt(pn->pn_out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" "
	    "width=\"%.2f\" height=\"%.2f\"/><path class=\"%s\" d=\"M%.2f "
	    "%.2fH%.2f\"/>\n", side_class[side], at_x(pn, x - 0.3),
	    at_y(pn, high), at_x(pn, x + 0.3) - at_x(pn, x - 0.3),
	    at_y(pn, low) - at_y(pn, high), side_class[side],
	    at_x(pn, x - 0.3), at_y(pn, middle), at_x(pn, x + 0.3));
	out_fmt(pn->pn_out, "<text text-anchor=\"middle\" x=\"%.2f\" "
	    "y=\"%d\">%s</text>\n", at_x(pn, x), HEIGHT - BOTTOM + 14,
	    side_class[side]);
	/* Beside each other, in an order that says nothing. */
	for (size_t i = 0; i < n; i++) {
		panel_point(pn, side_class[side], x +
		    ((double)(i * 7 % 11) - 5) * 0.04, fg->fg_value[side][i]);
		out_fmt(pn->pn_out, "run %zu: %.9g</title></circle>\n",
		    i + 1, fg->fg_value[side][i]);
	}
}

static void
draw_runs(const struct figures *fg, struct out *out)
{
	struct panel pn = panel_of(out, "", fg->fg_label);

	pn.pn_x = (struct axis){ 0.4, 2.6, "points: runs; boxes: quartiles "
	    "and median", true };
	for (int s = 0; s < 2; s++) {
		axis_widen(&pn.pn_y, fg->fg_sorted[s][0]);
		axis_widen(&pn.pn_y, fg->fg_sorted[s][fg->fg_n[s] - 1]);
	}
	axis_loosen(&pn.pn_y);
	panel_begin(&pn, "Runs");
	for (int s = 0; s < 2; s++)
		draw_box(&pn, fg, s);
	panel_end(&pn);
}

static void
draw_shares(const struct figures *fg, struct out *out)
{
	struct panel pn = panel_of(out, fg->fg_label, "share of the runs");

	pn.pn_y = (struct axis){ 0, 1, pn.pn_y.ax_title, false };
	for (int s = 0; s < 2; s++) {
		axis_widen(&pn.pn_x, fg->fg_sorted[s][0]);
		axis_widen(&pn.pn_x, fg->fg_sorted[s][fg->fg_n[s] - 1]);
	}
	axis_loosen(&pn.pn_x);
	panel_begin(&pn, "Cumulative distribution of the runs");
	panel_legend(&pn);
	for (int s = 0; s < 2; s++) {
		out_fmt(out, "<path class=\"%s\" d=\"M%.2f %.2f",
		    side_class[s], pn.pn_left, at_y(&pn, 0));
		for (size_t i = 0; i < fg->fg_n[s]; i++)
			out_fmt(out, "H%.2fV%.2f", at_x(&pn,
			    fg->fg_sorted[s][i]), at_y(&pn, (double)(i + 1) /
			    (double)fg->fg_n[s]));
		out_fmt(out, "H%d\"/>\n", WIDTH - RIGHT);
	}
	panel_end(&pn);
}

static void
draw_order(const struct figures *fg, struct out *out)
{
	struct panel pn = panel_of(out, "run", fg->fg_label);

	for (int s = 0; s < 2; s++) {
		axis_widen(&pn.pn_y, fg->fg_sorted[s][0]);
		axis_widen(&pn.pn_y, fg->fg_sorted[s][fg->fg_n[s] - 1]);
		axis_widen(&pn.pn_x, (double)fg->fg_n[s]);
	}
	axis_widen(&pn.pn_x, 1);
	axis_loosen(&pn.pn_x);
	axis_loosen(&pn.pn_y);
	panel_begin(&pn, "Runs in order");
	panel_legend(&pn);
	for (int s = 0; s < 2; s++) {
		out_fmt(out, "<path class=\"%s\" d=\"", side_class[s]);
		for (size_t i = 0; i < fg->fg_n[s]; i++)
			out_fmt(out, "%c%.2f %.2f", i == 0 ? 'M' : 'L',
			    at_x(&pn, (double)i + 1),
			    at_y(&pn, fg->fg_value[s][i]));
		out_str(out, "\"/>\n");
		for (size_t i = 0; i < fg->fg_n[s]; i++) {
			panel_point(&pn, side_class[s], (double)i + 1,
			    fg->fg_value[s][i]);
			out_fmt(out, "run %zu: %.9g</title></circle>\n",
			    i + 1, fg->fg_value[s][i]);
		}
	}
	panel_end(&pn);
}

/* ------------------------------------------------------------ changes */

/* Those of a list that can be drawn. */
struct rows {
	const struct prof_change *ro_change[64];
	const char	*ro_name[64];
	size_t		 ro_n;
};

static void
add_row(struct rows *rows, const char *name, const struct prof_change *cg)
{
	if (cg == NULL || rows->ro_n == 64 || !isfinite(cg->cg_change) ||
	    !isfinite(cg->cg_ci95[0]) || !isfinite(cg->cg_ci95[1]))
		return;
	rows->ro_name[rows->ro_n] = name;
	rows->ro_change[rows->ro_n++] = cg;
}

/* What of a name has room beside its row; the whole is in its title. */
static void
put_name(struct out *out, const char *name)
{
	char text[4 * MAX_NAME + 1] = "";
	size_t n, fits = 0;

	if (terminal_columns(name) <= MAX_NAME) {
		out_html(out, name);
		return;
	}
	for (n = 0; n + 1 < sizeof(text) && name[n] != '\0'; n++) {
		/* Between two characters, and not within one. */
		if (((unsigned char)name[n] & 0xc0) != 0x80 &&
		    terminal_columns(text) + 2 <= MAX_NAME)
			fits = n;
		text[n] = name[n];
	}
	text[fits] = '\0';
	out_html(out, text);
	out_str(out, "..");
}

static void
draw_row(const struct panel *pn, const char *name, double y,
    const struct prof_change *cg)
{
	struct out *out = pn->pn_out;

	out_fmt(out, "<text class=\"name\" text-anchor=\"end\" x=\"%.2f\" "
	    "y=\"%.2f\" dy=\"4\">", pn->pn_left - 5, at_y(pn, y));
	put_name(out, name);
	out_fmt(out, "</text><path class=\"change\" d=\"M%.2f %.2fH%.2f\"/>",
	    at_x(pn, 100 * cg->cg_ci95[0]), at_y(pn, y),
	    at_x(pn, 100 * cg->cg_ci95[1]));
	panel_point(pn, "change", 100 * cg->cg_change, y);
	out_html(out, name);
	out_fmt(out, ": %+.4g (%+.4g to %+.4g)</title></circle>\n",
	    100 * cg->cg_change, 100 * cg->cg_ci95[0],
	    100 * cg->cg_ci95[1]);
}

static void
draw_rows(const struct rows *rows, const char *title, const char *unit,
    struct out *out)
{
	struct panel pn = panel_of(out, unit, "");

	if (rows->ro_n == 0)
		return;
	pn.pn_left = LEFT_OF_NAMES;
	pn.pn_y = (struct axis){ 0.5 - (double)rows->ro_n, 0.5, "", true };
	axis_widen(&pn.pn_x, 0);
	for (size_t i = 0; i < rows->ro_n; i++)
		for (int e = 0; e < 2; e++)
			axis_widen(&pn.pn_x, 100 *
			    rows->ro_change[i]->cg_ci95[e]);
	for (size_t i = 0; i < rows->ro_n; i++)
		axis_widen(&pn.pn_x, 100 * rows->ro_change[i]->cg_change);
	axis_loosen(&pn.pn_x);
	panel_begin(&pn, title);
	out_fmt(out, "<path class=\"zero\" d=\"M%.2f %dV%d\"/>\n",
	    at_x(&pn, 0), TOP, HEIGHT - BOTTOM);
	for (size_t i = 0; i < rows->ro_n; i++)
		draw_row(&pn, rows->ro_name[i], -(double)i,
		    rows->ro_change[i]);
	panel_end(&pn);
}

static void
draw_changes(struct prof_comparison *cp, struct out *out)
{
	struct rows rows = { .ro_n = 0 };
	char name[FIGURES_FUNCTIONS][COMPARE_NAME];

	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		add_row(&rows, compare_title(prof_comparison_metric(cp,
		    i)->cg_name), prof_comparison_metric(cp, i));
	add_row(&rows, "total cost", prof_comparison_total(cp));
	draw_rows(&rows, "Change of each metric, with 95% interval",
	    "change (%)", out);
	rows.ro_n = 0;
	for (size_t i = 0; i < prof_comparison_nfunctions(cp) &&
	    i < FIGURES_FUNCTIONS; i++)
		add_row(&rows, compare_name(name[i], sizeof(name[i]),
		    prof_comparison_function(cp, i)),
		    prof_comparison_function(cp, i));
	draw_rows(&rows, "Largest changes of cost, with 95% interval",
	    "change of the total (%)", out);
}

static void
draw_shift(const struct figures *fg, struct out *out)
{
	struct panel pn = panel_of(out, "share of the runs (%)",
	    "change (%)");

	pn.pn_x = (struct axis){ 0, 100, pn.pn_x.ax_title, false };
	axis_widen(&pn.pn_y, 0);
	for (size_t i = 0; i < fg->fg_nshifts; i++)
		axis_widen(&pn.pn_y, fg->fg_shift[i].fs_change);
	axis_loosen(&pn.pn_y);
	panel_begin(&pn, "Change at each quantile of the runs");
	out_fmt(out, "<path class=\"zero\" d=\"M%.2f %.2fH%d\"/>\n",
	    pn.pn_left, at_y(&pn, 0), WIDTH - RIGHT);
	for (size_t i = 0; i < fg->fg_nshifts; i++) {
		const struct figures_shift *fs = &fg->fg_shift[i];

		panel_point(&pn, "change", fs->fs_share, fs->fs_change);
		out_fmt(out, "%.4g %%: %+.4g %%</title></circle>\n",
		    fs->fs_share, fs->fs_change);
	}
	panel_end(&pn);
}

void
compare_draw(const struct pair *pair, struct out *out)
{
	struct figures figures;

	if (compare_figures(pair, &figures) == -1)
		return;
	out_str(out, "<div>\n");
	draw_runs(&figures, out);
	draw_shares(&figures, out);
	draw_order(&figures, out);
	draw_changes(pair->pr_comparison, out);
	draw_shift(&figures, out);
	out_str(out, "</div>\n");
	compare_figures_free(&figures);
}
