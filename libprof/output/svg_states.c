/* SPDX-License-Identifier: ISC */
/*
 * The colours of a flame graph whose stacks stand on the states of threads, and
 * on the reasons of waits: a hue for each state, and for reasons that have one
 * of their own.  Reasons of one kind share a hue; other reasons have that of
 * their state.  Called by svg.c; the page gets the same hues from page.c.
 */
#include <string.h>

#include "svg.h"

/* Those of a hue stand together. */
static const struct prof_hue hues[] = {
	{ "running", 12 },
	{ "runnable", 50 },
	{ "blocked", 214 },
	{ "futex", 285 }, { "semaphore", 285 }, { "file lock", 285 },
	{ "read", 110 }, { "write", 110 }, { "fsync", 110 }, { "file", 110 },
	{ "io_uring", 110 }, { "aio", 110 },
	{ "page fault", 80 }, { "memory", 80 },
	{ "socket", 150 }, { "message queue", 150 },
	{ "epoll", 182 }, { "poll", 182 }, { "select", 182 },
	{ "sleep", 245 },
	{ "child process", 330 }, { "signal", 330 }, { "stopped", 330 },
};
#define NHUES	(sizeof(hues) / sizeof(hues[0]))

/* In a profile for pictures, only states and reasons are arguments. */
static const char *
name_of(const struct prof_label *label)
{
	return (label->lb_kind == PROF_LABEL_ARG ? label->lb_name : NULL);
}

/* NULL: it is no state and no reason. */
static const char *
state_of(const struct prof_flame *flame, size_t node)
{
	return (name_of(prof_profile_label(flame->fm_profile,
	    flame->fm_node[node].pt_label)));
}

bool
prof_svg_has_states(const struct prof_flame *flame)
{
	for (size_t n = 1; flame->fm_difference == NULL &&
	    n < flame->fm_nnodes; n++)
		if (state_of(flame, n) != NULL)
			return (true);
	return (false);
}

const struct prof_hue *
prof_flame_hue(const struct prof_flame *flame, size_t *at)
{
	const struct prof_profile *profile = flame->fm_profile;
	const char *name;

	for (; *at < NHUES; ++*at)
		for (uint32_t l = 0; l < prof_profile_nlabels(profile); l++) {
			name = name_of(prof_profile_label(profile, l));
			if (name != NULL && strcmp(name,
			    hues[*at].hu_name) == 0)
				return (&hues[(*at)++]);
		}
	return (NULL);
}

/* 0: it stands on no state. */
static int
hue_of(const struct prof_flame *flame, size_t node)
{
	const char *name;

	for (; node != 0; node = flame->fm_node[node].pt_parent) {
		name = state_of(flame, node);
		for (size_t h = 0; name != NULL && h < NHUES; h++)
			if (strcmp(name, hues[h].hu_name) == 0)
				return (hues[h].hu_hue);
	}
	return (0);
}

void
prof_svg_put_state_colour(const struct drawing *drawing, size_t node,
    uint32_t hash)
{
	const int hue = hue_of(drawing->dr_flame, node);

	prof_put_fmt(drawing->dr_out, " fill=\"hsl(%d,%d%%,%d%%)\"", hue,
	    hue == 0 ? 0 : 85, 68 + (int)(hash >> 6) % 12);
}

/* "blocked: futex", the outermost first. */
static bool
put_names(const struct drawing *drawing, size_t node)
{
	const struct prof_flame *flame = drawing->dr_flame;
	bool is_inner;

	while (node != 0 && state_of(flame, node) == NULL)
		node = flame->fm_node[node].pt_parent;
	if (node == 0)
		return (false);
	is_inner = put_names(drawing, flame->fm_node[node].pt_parent);
	prof_put_str(drawing->dr_out, is_inner ? ": " : "\n");
	prof_put_xml(drawing->dr_out, state_of(flame, node), MAX_NAME);
	return (true);
}

void
prof_svg_put_states(const struct drawing *drawing, size_t node)
{
	(void)put_names(drawing, drawing->dr_flame->fm_node[node].pt_parent);
}

void
prof_svg_put_state_scale(const struct drawing *drawing)
{
	struct prof_buf *out = drawing->dr_out;
	const struct prof_hue *hue;
	int last = 0;

	for (size_t at = 0; (hue = prof_flame_hue(drawing->dr_flame, &at)) !=
	    NULL; last = hue->hu_hue) {
		if (hue->hu_hue == last)
			prof_put_str(out, ", ");
		else
			prof_put_fmt(out, " <tspan style=\"fill:hsl(%d,85%%,"
			    "72%%)\">\342\226\240</tspan> ", hue->hu_hue);
		prof_put_str(out, hue->hu_name);
	}
}
