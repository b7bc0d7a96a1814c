/* SPDX-License-Identifier: ISC */
/*
 * Runs of two sides to one picture: they are compared as dtprof compare does,
 * with their trees beside (compare_runs.c).  What the pictures say of the
 * whole is also said on standard error.
 *
 * Called by cmd_flamegraph.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"

/* The base's times are its own when any is given, else those of both. */
static const struct choose_time *
base_time(const struct flame_options *fo)
{
	return (choose_has_time(&fo->fo_base_time) ? &fo->fo_base_time :
	    &fo->fo_time);
}

/* The filter of the base: its own, or else that of the new side. */
static const char *
base_filter(const struct flame_options *fo)
{
	return (fo->fo_base_filter != NULL ? fo->fo_base_filter :
	    fo->fo_filter);
}

/* All runs of both sides, to both of them. */
static int
difference_make(const struct flame_options *fo, const struct flame_side *sides,
    struct prof_comparison **comparison, struct prof_difference **difference)
{
	const struct series *const series[2] = {
		sides[0].fs_runs, sides[1].fs_runs
	};
	const struct prof_comparison_options options = {
		.cp_size = sizeof(options), .cp_seed = 1
	};
	struct costs costs = {
		.ct_command = "flamegraph",
		.ct_events = &fo->fo_events,
		.ct_renames = &fo->fo_renames,
		.ct_time = { base_time(fo), &fo->fo_time },
		.ct_filter = { base_filter(fo), fo->fo_filter },
		.ct_states = fo->fo_state,
	};
	struct prof_err error = { 0 };

	flame_profile_options(fo, &costs.ct_profile);
	/* As compare: one build inlines what another calls. */
	costs.ct_profile.pl_inlines = true;
	costs.ct_comparison = *comparison = prof_comparison_new(&options,
	    &error);
	if (*comparison != NULL)
		costs.ct_difference = *difference = prof_difference_new(
		    *comparison, &error);
	if (*difference == NULL)
		msg_prof("flamegraph", &error);
	else if (compare_runs(&costs, series, true) == 0) {
		if (prof_difference_finish(*difference) == 0)
			return (0);
		msg_prof("flamegraph", prof_difference_error(*difference));
	}
	return (-1);
}

/* -------------------------------------------------------------- output */

static void
say_time(char *text, size_t size, const struct choose_time *time)
{
	text[0] = '\0';
	if (time->ct_between != NULL)
		snprintf(text, size, ", %.100s", time->ct_between);
	else if (time->ct_from.on_set && time->ct_to.on_set)
		snprintf(text, size, ", %.3f s to %.3f s",
		    (double)time->ct_from.on_value / 1e9,
		    (double)time->ct_to.on_value / 1e9);
	else if (time->ct_from.on_set || time->ct_to.on_set)
		snprintf(text, size, ", %s %.3f s",
		    time->ct_from.on_set ? "from" : "to", (double)
		    (time->ct_from.on_set ? time->ct_from.on_value :
		    time->ct_to.on_value) / 1e9);
}

/* What of a side is shown, for the title. */
static void
say_part(char *text, size_t size, const struct choose_time *time,
    const char *filter)
{
	size_t used;

	say_time(text, size, time);
	used = strlen(text);
	if (filter != NULL)
		snprintf(text + used, size - used, ", %.120s", filter);
}

static int
write_picture(const struct flame_options *fo, const struct flame_side *sides,
    const struct prof_difference *difference)
{
	char title[1000], new_part[270], old_part[270];
	const struct prof_flame_options options = {
		.fl_size = sizeof(options),
		.fl_title = fo->fo_title != NULL ? fo->fo_title : title,
		.fl_reverse = fo->fo_reverse,
	};
	struct prof_err error = { 0 };
	size_t length = 0;
	char *bytes;

	say_part(new_part, sizeof(new_part), &fo->fo_time, fo->fo_filter);
	say_part(old_part, sizeof(old_part), base_time(fo), base_filter(fo));
	snprintf(title, sizeof(title), "%s%s against %s%s", sides[1].fs_name,
	    new_part, sides[0].fs_name, old_part);
	bytes = (flame_is_drawing(fo) ? prof_difference_svg :
	    prof_difference_html)(difference, &options, &length, &error);
	return (flame_write(fo, bytes, length, &error));
}

int
flame_difference(const struct flame_options *fo, int n, char **operands)
{
	struct flame_side sides[2] = { 0 };
	struct prof_comparison *comparison = NULL;
	struct prof_difference *difference = NULL;
	const char *note;
	int rv = -1;

	if (flame_sides(fo, n, operands, sides) == 0 &&
	    difference_make(fo, sides, &comparison, &difference) == 0 &&
	    write_picture(fo, sides, difference) == 0) {
		msg_note("flamegraph", "%s",
		    prof_difference_headline(difference));
		for (size_t i = 0; (note = prof_difference_note(difference,
		    i)) != NULL; i++)
			msg_note("flamegraph", "%s", note);
		rv = 0;
	}
	prof_difference_free(difference);
	prof_comparison_free(comparison);
	flame_sides_free(sides);
	return (rv);
}
