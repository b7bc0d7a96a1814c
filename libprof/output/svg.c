/* SPDX-License-Identifier: ISC */
/*
 * The flame graph as a drawing without a script, for mail and for pages that
 * show pictures: names and figures as tooltips, the line about quality below
 * the title.  What is narrower than a thousandth of the whole is drawn
 * together, as one box beside its siblings, so that the widths above a frame
 * still add up.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "svg.h"

#define WIDTH		1200	/* of the drawing */
#define MARGIN		10
#define ROW		17
#define TOP		64	/* title, quality, event */
#define CHAR_WIDTH	7	/* of the font, 12 px and monospaced */
#define SMALLEST	1000	/* a share of the whole */
#define MAX_DEPTH	1100	/* rows; deeper is one box */

static bool
is_drawn(const struct drawing *drawing, size_t node)
{
	return (drawing->dr_total[node] > 0 &&
	    drawing->dr_depth[node] < MAX_DEPTH &&
	    drawing->dr_total[node] >= drawing->dr_total[0] / SMALLEST);
}

/* Parents stand before their children: sums upwards, places downwards. */
static void
lay_out(struct drawing *drawing)
{
	const struct prof_tree_node *node = drawing->dr_flame->fm_node;
	size_t n = drawing->dr_flame->fm_nnodes, i, parent;

	for (i = n; i-- > 1; ) {
		parent = node[i].pt_parent;
		drawing->dr_total[parent] += drawing->dr_total[i];
		drawing->dr_samples[parent] += drawing->dr_samples[i];
		drawing->dr_other[parent] += drawing->dr_other[i];
	}
	for (i = 1; i < n; i++) {
		parent = node[i].pt_parent;
		drawing->dr_depth[i] = drawing->dr_depth[parent] + 1;
		if (is_drawn(drawing, parent) && drawing->dr_total[i] > 0 &&
		    drawing->dr_depth[i] + 1 > drawing->dr_rows)
			drawing->dr_rows = drawing->dr_depth[i] + 1;
		if (!is_drawn(drawing, i)) {
			drawing->dr_small[parent] += drawing->dr_total[i];
			continue;
		}
		drawing->dr_left[i] = drawing->dr_left[parent] +
		    drawing->dr_used[parent];
		drawing->dr_used[parent] += drawing->dr_total[i];
	}
}

/* Tenths of a pixel: the point of a fraction depends on the locale. */
static void
put_tenths(struct prof_buf *out, const char *name, uint64_t tenths)
{
	prof_put_fmt(out, " %s=\"%" PRIu64 ".%" PRIu64 "\"", name,
	    tenths / 10, tenths % 10);
}

static uint64_t
weight_scale(const struct drawing *drawing, uint64_t weight)
{
	const uint64_t total = drawing->dr_total[0];
	const uint64_t all = 10 * (WIDTH - 2 * MARGIN);

	return (weight >= total ? all : (uint64_t)((double)weight *
	    (double)all / (double)total + 0.5));
}

/* ------------------------------------------------------------ colour */

/* Blue below the ratio of everything, red above, by its logarithm. */
static void
put_ratio_colour(const struct drawing *drawing, size_t node)
{
	const double all = (double)drawing->dr_total[0] /
	    (double)(drawing->dr_other[0] ? drawing->dr_other[0] : 1);
	double other = (double)drawing->dr_other[node];
	double way = other == 0 ? 1 :
	    log2((double)drawing->dr_total[node] / other / all) / 2;
	int part;

	way = way < -1 ? -1 : way > 1 ? 1 : way;
	part = (int)(235 - 150 * fabs(way));
	prof_put_fmt(drawing->dr_out, " fill=\"rgb(%d,%d,%d)\"",
	    way > 0 ? 235 : part, way > 0 ? part : part + (235 - part) / 2,
	    way > 0 ? part : 235);
}

/*
 * Warm: native; blue: kernel; green: inlined; violet, teal, pink: scripts;
 * grey: no function.
 */
static void
put_colour(const struct drawing *drawing, size_t node,
    const struct prof_label *label)
{
	const struct prof_function *fu = prof_export_function(label);
	static const int hues[PROF_FRAME_NKINDS] = {
		[PROF_FRAME_KERNEL] = 200,
		[PROF_FRAME_PYTHON] = 262,
		[PROF_FRAME_JAVASCRIPT] = 168,
		[PROF_FRAME_JAVA] = 328,
		[PROF_FRAME_SCRIPT] = 295,
	};
	uint32_t hash = prof_flame_hash(prof_export_name(label));
	int hue = 20 + (int)(hash % 35), fullness = 85;

	if (drawing->dr_flame->fm_options.fl_ratio) {
		put_ratio_colour(drawing, node);
		return;
	}
	if (drawing->dr_change != NULL) {
		prof_svg_put_change_colour(drawing, node);
		return;
	}
	if (drawing->dr_has_states) {
		prof_svg_put_state_colour(drawing, node, hash);
		return;
	}
	if (fu == NULL || fu->fu_kind == PROF_FRAME_BOUNDARY ||
	    fu->fu_unnamed != PROF_NAMED)
		fullness = fu == NULL || fu->fu_unnamed == PROF_NAMED ? 0 :
		    18;
	else if (hues[fu->fu_kind] != 0)
		hue = hues[fu->fu_kind] + (int)(hash % 25);
	else if (fu->fu_is_inlined)
		hue = 95 + (int)(hash % 40);
	prof_put_fmt(drawing->dr_out, " fill=\"hsl(%d,%d%%,%d%%)\"", hue,
	    fullness, 68 + (int)(hash >> 6) % 12);
}

/* ------------------------------------------------------------ boxes */

/* Weights of a forged recording add up modulo 2^64: a part may exceed all. */
static void
put_share(struct prof_buf *out, uint64_t part, uint64_t all)
{
	uint64_t share = all == 0 ? 0 : part >= all ? 10000 :
	    (uint64_t)((double)part * 10000 / (double)all + 0.5);

	prof_put_fmt(out, "%" PRIu64 ".%02" PRIu64 " %%", share / 100,
	    share % 100);
}

/* Reversed, the root is above what it calls. */
static uint32_t
row_top(const struct drawing *drawing, uint32_t row)
{
	return (TOP + ROW * (drawing->dr_flame->fm_options.fl_reverse ? row :
	    drawing->dr_rows - 1 - row));
}

static void
put_place(const struct drawing *drawing, uint64_t left, uint64_t weight,
    uint32_t row)
{
	put_tenths(drawing->dr_out, "x", 10 * MARGIN +
	    weight_scale(drawing, left));
	prof_put_fmt(drawing->dr_out, " y=\"%" PRIu32 "\"",
	    row_top(drawing, row));
	put_tenths(drawing->dr_out, "width", weight_scale(drawing, weight));
	prof_put_fmt(drawing->dr_out, " height=\"%d\"", ROW - 1);
}

/* As much of the name as there is room for, from three characters on. */
static void
put_caption(const struct drawing *drawing, size_t node, const char *name)
{
	size_t room = (size_t)weight_scale(drawing, drawing->dr_total[node]) /
	    (10 * CHAR_WIDTH);
	struct prof_buf *out = drawing->dr_out;

	if (room < 3)
		return;
	prof_put_str(out, "<text");
	put_tenths(out, "x", 10 * MARGIN + 30 +
	    weight_scale(drawing, drawing->dr_left[node]));
	prof_put_fmt(out, " y=\"%" PRIu32 "\">",
	    row_top(drawing, drawing->dr_depth[node]) + 12);
	prof_put_xml(out, name, strlen(name) > room ? room - 1 : 0);
	prof_put_str(out, "</text>");
}

static void
put_tooltip(const struct drawing *drawing, size_t node,
    const struct prof_label *label)
{
	const struct prof_flame_event *fe = drawing->dr_flame->fm_event;
	struct prof_buf *out = drawing->dr_out;

	prof_put_str(out, "<title>");
	prof_put_xml(out, prof_export_name(label), MAX_NAME);
	if (label->lb_kind == PROF_LABEL_LINE) {
		prof_put_str(out, "\n");
		prof_put_xml(out, label->lb_name, MAX_NAME);
	}
	if (*label->lb_module != '\0') {
		prof_put_str(out, "\n");
		prof_put_xml(out, label->lb_module, MAX_NAME);
	}
	if (drawing->dr_has_states)
		prof_svg_put_states(drawing, node);
	prof_put_str(out, "\n");
	if (drawing->dr_change != NULL) {
		prof_svg_put_change(drawing, node);
		prof_put_str(out, "</title>");
		return;
	}
	put_share(out, drawing->dr_total[node], drawing->dr_total[0]);
	prof_put_str(out, ", ");
	prof_put_number(out, drawing->dr_total[node]);
	prof_put_str(out, " ");
	prof_put_xml(out, fe->fe_info->pi_unit, MAX_NAME);
	prof_put_str(out, ", ");
	prof_put_number(out, drawing->dr_samples[node]);
	prof_put_str(out, " samples");
	if (drawing->dr_flame->fm_options.fl_ratio) {
		prof_put_str(out, "\n");
		prof_put_number(out, drawing->dr_other[node]);
		prof_put_str(out, " ");
		prof_put_xml(out, fe[1].fe_info->pi_name, MAX_NAME);
	}
	prof_put_str(out, "</title>");
}

static void
put_box(const struct drawing *drawing, size_t node)
{
	const struct prof_label *label = prof_profile_label(
	    drawing->dr_flame->fm_profile,
	    drawing->dr_flame->fm_node[node].pt_label);

	prof_put_str(drawing->dr_out, "<g>");
	put_tooltip(drawing, node, label);
	prof_put_str(drawing->dr_out, "<rect");
	put_place(drawing, drawing->dr_left[node], drawing->dr_total[node],
	    drawing->dr_depth[node]);
	put_colour(drawing, node, label);
	prof_put_str(drawing->dr_out, "/>");
	if (drawing->dr_change != NULL && prof_svg_is_one_sided(drawing,
	    node)) {
		prof_put_str(drawing->dr_out, "<rect");
		put_place(drawing, drawing->dr_left[node],
		    drawing->dr_total[node], drawing->dr_depth[node]);
		prof_put_str(drawing->dr_out, " fill=\"url(#only)\"/>");
	}
	put_caption(drawing, node, prof_export_name(label));
	prof_put_str(drawing->dr_out, "</g>\n");
}

/* What is too narrow, behind the children that are not. */
static void
put_small(const struct drawing *drawing, size_t node)
{
	uint64_t weight = drawing->dr_small[node];

	if (weight == 0 || weight_scale(drawing, weight) == 0)
		return;
	prof_put_str(drawing->dr_out, "<g><title>narrower frames, together: ");
	put_share(drawing->dr_out, weight, drawing->dr_total[0]);
	prof_put_str(drawing->dr_out, "</title><rect");
	put_place(drawing, drawing->dr_left[node] + drawing->dr_used[node],
	    weight, drawing->dr_depth[node] + 1);
	prof_put_str(drawing->dr_out, " class=\"o\"/></g>\n");
}

/* --------------------------------------------------------- the whole */

/* Which event it is, and the worst that is wrong with its samples. */
static void
put_quality(const struct prof_flame *flame, struct prof_buf *out)
{
	const struct prof_flame_event *fe = flame->fm_event;
	const bool is_bad = flame->fm_nevents > 0 && fe->fe_quality.pq_is_bad;
	const char *text;
	char line[256];

	prof_put_fmt(out, "<text class=\"q%s\" x=\"10\" y=\"40\">",
	    is_bad ? " bad" : "");
	if (flame->fm_nevents > 0) {
		text = fe->fe_quality.pq_text;
		snprintf(line, sizeof(line), "%.*s",
		    (int)strcspn(text, "\n"), text);
		if (is_bad)
			prof_put_str(out, "warning: ");
		prof_put_xml(out, fe->fe_info->pi_name, 80);
		prof_put_str(out, line[0] == '\0' ? "" : ": ");
		prof_put_xml(out, line, 0);
	}
}

static void
put_head(const struct drawing *drawing)
{
	static const char style[] = "<style>text{font:12px monospace;"
	    "fill:#000}.h{font:600 16px sans-serif}.q{font:13px sans-serif}"
	    ".b{fill:#fff}.o{fill:#bbb}.bad{fill:#b00020;font-weight:600}"
	    "@media(prefers-color-scheme:dark){.b{fill:#16181d}"
	    ".h,.q{fill:#e6e6e6}.bad{fill:#ff8a80}.o{fill:#555}}</style>\n";
	const struct prof_flame *flame = drawing->dr_flame;
	const struct prof_flame_event *fe = flame->fm_event;
	struct prof_buf *out = drawing->dr_out;
	uint32_t height = TOP + (drawing->dr_rows + 1) * ROW;

	prof_put_fmt(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "width=\"%d\" height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32
	    "\" role=\"img\">\n<title>", WIDTH, height, WIDTH, height);
	prof_put_xml(out, flame->fm_title, MAX_NAME);
	prof_put_str(out, "</title>\n");
	prof_put_str(out, style);
	if (drawing->dr_change != NULL)
		prof_svg_put_stripes(out);
	prof_put_str(out, "<rect class=\"b\" width=\"100%\" "
	    "height=\"100%\"/>\n<text class=\"h\" x=\"10\" y=\"22\">");
	prof_put_xml(out, flame->fm_title, 120);
	prof_put_str(out, "</text>\n");
	put_quality(flame, out);
	prof_put_str(out, "</text>\n<text class=\"q\" x=\"10\" y=\"57\">");
	if (flame->fm_nevents == 0 || drawing->dr_total[0] == 0) {
		prof_put_str(out, "no samples");
	} else if (drawing->dr_change != NULL) {
		prof_svg_put_scale(drawing);
	} else if (flame->fm_options.fl_ratio) {
		prof_put_str(out, "color: ");
		prof_put_xml(out, fe[0].fe_info->pi_name, 80);
		prof_put_str(out, " per ");
		prof_put_xml(out, fe[1].fe_info->pi_name, 80);
		prof_put_str(out, "; red: above the average; blue: "
		    "below the average");
	} else if (drawing->dr_has_states) {
		prof_svg_put_state_scale(drawing);
	}
	prof_put_str(out, "</text>\n");
}

static void
put_svg(struct drawing *drawing)
{
	size_t i;

	lay_out(drawing);
	put_head(drawing);
	for (i = 0; drawing->dr_total[0] > 0 &&
	    i < drawing->dr_flame->fm_nnodes; i++) {
		if (!is_drawn(drawing, i))
			continue;
		put_box(drawing, i);
		put_small(drawing, i);
	}
	prof_put_str(drawing->dr_out, "</svg>\n");
}

/* Copies of what ended at each node, where the event has any. */
static void
take_weights(struct drawing *drawing)
{
	const struct prof_flame *flame = drawing->dr_flame;
	size_t size = flame->fm_nnodes * sizeof(uint64_t);
	const uint64_t *self;

	if (flame->fm_nevents == 0)
		return;
	if (flame->fm_difference != NULL) {
		prof_svg_take_change(drawing);
		return;
	}
	self = prof_profile_self(flame->fm_profile,
	    flame->fm_event[0].fe_event);
	if (self != NULL)
		memcpy(drawing->dr_total, self, size);
	self = prof_profile_samples(flame->fm_profile,
	    flame->fm_event[0].fe_event);
	if (self != NULL)
		memcpy(drawing->dr_samples, self, size);
	self = !flame->fm_options.fl_ratio ? NULL : prof_profile_self(
	    flame->fm_profile, flame->fm_event[1].fe_event);
	if (self != NULL)
		memcpy(drawing->dr_other, self, size);
}

int
prof_flame_drawing(const struct prof_flame *flame, struct prof_buf *out)
{
	size_t n = flame->fm_nnodes + 1;
	struct drawing drawing = {
		.dr_flame = flame,
		.dr_total = calloc(n, sizeof(uint64_t)),
		.dr_samples = calloc(n, sizeof(uint64_t)),
		.dr_other = calloc(n, sizeof(uint64_t)),
		.dr_left = calloc(n, sizeof(uint64_t)),
		.dr_used = calloc(n, sizeof(uint64_t)),
		.dr_small = calloc(n, sizeof(uint64_t)),
		.dr_depth = calloc(n, sizeof(uint32_t)),
		.dr_rows = 1,
		.dr_change = flame->fm_difference == NULL ? NULL :
		    calloc(n, sizeof(double)),
		.dr_has_states = prof_svg_has_states(flame),
		.dr_out = out,
	};
	int rv = -1;

	if (drawing.dr_total != NULL && drawing.dr_samples != NULL &&
	    drawing.dr_other != NULL && drawing.dr_left != NULL &&
	    drawing.dr_used != NULL && drawing.dr_small != NULL &&
	    drawing.dr_depth != NULL && (flame->fm_difference == NULL ||
	    drawing.dr_change != NULL)) {
		take_weights(&drawing);
		put_svg(&drawing);
		rv = out->bf_failed ? -1 : 0;
	}
	free(drawing.dr_total);
	free(drawing.dr_samples);
	free(drawing.dr_other);
	free(drawing.dr_left);
	free(drawing.dr_used);
	free(drawing.dr_small);
	free(drawing.dr_depth);
	free(drawing.dr_change);
	return (rv);
}

char *
prof_flame_svg(const struct prof_profile *profile,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error)
{
	return (prof_flame_make(profile, options, prof_flame_drawing, length,
	    error));
}
