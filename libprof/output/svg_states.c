/* SPDX-License-Identifier: ISC */
/*
 * The drawing of a flame graph whose stacks stand on the states of threads:
 * colours show the states.  Called by svg.c.
 */
#include <string.h>

#include "svg.h"

static const struct {
	const char	*name;
	int		 hue;
} states[] = {
	{ "running", 12 }, { "runnable", 50 }, { "blocked", 214 }
};
#define NSTATES	(sizeof(states) / sizeof(states[0]))

/* In a profile for pictures, a state is the only argument. */
static const struct prof_label *
label_of(const struct prof_flame *flame, size_t node)
{
	return (prof_profile_label(flame->fm_profile,
	    flame->fm_node[node].pt_label));
}

bool
prof_svg_has_states(const struct prof_flame *flame)
{
	for (size_t n = 1; flame->fm_difference == NULL &&
	    n < flame->fm_nnodes; n++)
		if (label_of(flame, n)->lb_kind == PROF_LABEL_ARG)
			return (true);
	return (false);
}

void
prof_svg_put_state_colour(const struct drawing *drawing, size_t node,
    uint32_t hash)
{
	const struct prof_flame *flame = drawing->dr_flame;
	int hue = 0, fullness = 0;

	while (node != 0 &&
	    label_of(flame, node)->lb_kind != PROF_LABEL_ARG)
		node = flame->fm_node[node].pt_parent;
	for (size_t n = 0; n < NSTATES; n++)
		if (strcmp(label_of(flame, node)->lb_name, states[n].name) ==
		    0) {
			hue = states[n].hue;
			fullness = 85;
		}
	prof_put_fmt(drawing->dr_out, " fill=\"hsl(%d,%d%%,%d%%)\"", hue,
	    fullness, 68 + (int)(hash >> 6) % 12);
}

void
prof_svg_put_states(struct prof_buf *out)
{
	for (size_t n = 0; n < NSTATES; n++)
		prof_put_fmt(out, "<tspan style=\"fill:hsl(%d,85%%,72%%)\">"
		    "\342\226\240</tspan> %s ", states[n].hue,
		    states[n].name);
}
