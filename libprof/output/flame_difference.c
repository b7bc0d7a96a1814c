/* SPDX-License-Identifier: ISC */
/*
 * A difference made ready to be drawn: as a flame graph of two events, of
 * which the first is what is new and the second is the base, with what the
 * tests said beside it.  The page (page.c) and the drawing (svg.c) then treat
 * it as they treat a profile, and ask svg_difference.c or their own script
 * for colours.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/difference.h"
#include "flame.h"

#define UNITS	10000	/* of a chance in the columns, and of a share */

/* ------------------------------------------------------------ columns */

/*
 * 0: not tested; else 1 and twice the chance in ten-thousandths, odd where
 * the sides differ.
 */
static void
put_column(struct prof_buf *out, const struct prof_chance *chance, size_t n)
{
	for (size_t i = 0; i < n; i++)
		prof_buf_varint(out, isnan(chance[i].pc_p) ? 0 : 1 + 2 *
		    (uint64_t)(chance[i].pc_p * UNITS + 0.5) +
		    chance[i].pc_differs);
}

void
prof_flame_put_chances(const struct prof_flame *flame, struct prof_buf *out)
{
	const struct prof_difference *df = flame->fm_difference;
	const size_t nlabels = df->df_profile.pf_labels.lb_nlabels;

	for (int m = 0; m < PROF_NMEASURES; m++)
		for (int part = 0; part < PROF_NPARTS; part++)
			put_column(out, df->df_chance[m][part],
			    flame->fm_nnodes);
	for (int m = 0; m < PROF_NMEASURES; m++)
		for (int part = 0; part < PROF_NPARTS; part++)
			put_column(out, df->df_label_chance[m][part],
			    nlabels);
}

/* --------------------------------------------------------------- head */

void
prof_flame_put_difference(const struct prof_flame *flame,
    struct prof_buf *out)
{
	const struct prof_difference *df = flame->fm_difference;

	/* In whole numbers: no point, whose sign depends on the locale. */
	prof_put_fmt(out, "\"difference\":{\"runs\":[%zu,%zu],\"claims\":%s,"
	    "\"tested\":%zu,\"share\":%d,\n\"headline\":",
	    df->df_nside[1], df->df_nside[0], df->df_claims ? "true" :
	    "false", df->df_ntested, (int)(df->df_least * UNITS + 0.5));
	prof_put_json(out, df->df_headline);
	prof_put_str(out, ",\n\"notes\":[");
	for (size_t i = 0; i < df->df_nnotes; i++) {
		prof_put_str(out, i == 0 ? "" : ",");
		prof_put_json(out, df->df_note[i]);
	}
	prof_put_str(out, "]},\n");
}

/* -------------------------------------------------------------- whole */

/* Event 1 is the new side, as it is the second side of all that compares. */
static void
take_event(const struct prof_difference *df, struct prof_flame_event *fe,
    int side)
{
	struct prof_quality *quality = &fe->fe_quality;

	fe->fe_event = (size_t)side;
	fe->fe_info = &df->df_info;
	quality->pq_is_bad = !df->df_claims;
	for (size_t r = 0; r < df->df_nruns; r++) {
		if (df->df_run[r].dr_side != side)
			continue;
		quality->pq_samples += df->df_run[r].dr_samples;
		quality->pq_weight += (uint64_t)df->df_run[r].dr_weight;
		quality->pq_effective += df->df_run[r].dr_effective;
	}
	snprintf(quality->pq_text, sizeof(quality->pq_text), "%s",
	    df->df_headline);
}

static char *
write_difference(const struct prof_difference *df,
    const struct prof_flame_options *given, prof_flame_fn *fn,
    size_t *length, struct prof_err *error)
{
	struct prof_flame_event events[2] = { 0 };
	struct prof_flame flame = {
		.fm_profile = &df->df_profile,
		.fm_difference = df,
		.fm_node = df->df_profile.pf_tree.tr_node,
		.fm_nnodes = df->df_profile.pf_tree.tr_nnodes,
		.fm_event = events,
		.fm_nevents = 2,
	};

	if (prof_options_take(&flame.fm_options, sizeof(flame.fm_options),
	    given, "prof_flame_options", error) == -1)
		return (NULL);
	flame.fm_options.fl_ratio = 0;
	flame.fm_title = flame.fm_options.fl_title != NULL ?
	    flame.fm_options.fl_title : df->df_fact[1][0] != NULL ?
	    df->df_fact[1][0] : "differential flame graph";
	take_event(df, &events[0], 1);
	take_event(df, &events[1], 0);
	return (prof_flame_write(&flame, fn, length, error));
}

char *
prof_difference_html(const struct prof_difference *df,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error)
{
	return (write_difference(df, options, prof_flame_page, length,
	    error));
}

char *
prof_difference_svg(const struct prof_difference *df,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error)
{
	return (write_difference(df, options, prof_flame_drawing, length,
	    error));
}
