/* SPDX-License-Identifier: ISC */
/*
 * Runs of two sides to one picture.  A recording is closed before the next
 * one is opened, so that hundreds of them fit; the new side comes first,
 * since things are called as there.  What the pictures say of the whole is
 * also said on standard error.
 *
 * Called by cmd_flamegraph.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"

struct difference_run {
	const struct flame_options *di_options;
	struct prof_difference *di_difference;
	char		*di_event;	/* of all runs, by name; owned */
	struct flame_side di_sides[2];
};

static int
fail(const char *path, const struct prof_err *error)
{
	msg_fail("flamegraph", error->pe_cure, "%s: %s", path,
	    error->pe_text);
	return (-1);
}

/* The base's times are its own when any is given, else those of both. */
static const struct choose_time *
base_time(const struct flame_options *fo)
{
	return (choose_has_time(&fo->fo_base_time) ? &fo->fo_base_time :
	    &fo->fo_time);
}

/* ---------------------------------------------------------------- runs */

/* The first that is asked for and has samples decides for all runs. */
static size_t
first_event(const struct difference_run *di,
    const struct prof_reader *reader, const struct prof_profile *profile)
{
	bool *wanted = choose_events("flamegraph", reader,
	    &di->di_options->fo_events);
	size_t e, n = prof_reader_nevents(reader);

	if (wanted == NULL)
		return (0);
	for (e = 1; e < n; e++)
		if (wanted[e] && prof_profile_count(profile, e) > 0)
			break;
	free(wanted);
	/* What was cut very short has no event at all. */
	if (e < n)
		return (e);
	msg_error("flamegraph", "no samples in new",
	    "list the events with dtprof report --by event");
	return (0);
}

static size_t
event_of(struct difference_run *di, int side, const char *path,
    const struct prof_reader *reader, const struct prof_profile *profile)
{
	size_t n = prof_reader_nevents(reader), e;

	for (e = 1; e < n; e++)
		if (choose_is_column(prof_reader_event(reader, e)) &&
		    choose_is_side(prof_reader_event(reader, e), side))
			return (e);

	if (di->di_event == NULL) {
		e = first_event(di, reader, profile);
		if (e > 0)
			di->di_event = strdup(prof_reader_event(reader,
			    e)->pi_name);
		return (di->di_event == NULL ? 0 : e);
	}
	for (e = 1; e < n; e++)
		if (strcmp(prof_reader_event(reader, e)->pi_name,
		    di->di_event) == 0)
			return (e);
	msg_fail("flamegraph", "choose an event that all have with "
	    "-e", "%s: no such event: '%s'", path, di->di_event);
	return (0);
}

/* What bench measured, so that the total is tested as compare does. */
static int
add_values(struct difference_run *di, const struct flame_recording *run)
{
	const struct series *se = run->fr_series;

	for (size_t m = 0; se != NULL && m < se->se_nmetrics; m++)
		if (isfinite(run->fr_value[m]) && prof_difference_value(
		    di->di_difference, se->se_metric[m].sm_name,
		    se->se_metric[m].sm_unit, run->fr_value[m]) == -1)
			return (-1);
	return (0);
}

static int
add_run(struct difference_run *di, int side, const struct flame_recording *run)
{
	const struct flame_options *fo = di->di_options;
	const char *path = run->fr_path;
	struct prof_err error = { 0 };
	struct prof_reader *reader = input_read("flamegraph", path, &error);
	struct prof_symbols *symbols = NULL;
	struct prof_profile *profile = NULL;
	size_t event;
	int rv = -1;

	if (reader == NULL)
		return (fail(path, &error));
	if (flame_profile(fo, side == 0 ? base_time(fo) : &fo->fo_time,
	    reader, &symbols, &profile) == 0 &&
	    (event = event_of(di, side, path, reader, profile)) > 0)
		rv = prof_difference_add(di->di_difference, side,
		    run->fr_block, run->fr_place, profile, event) == -1 ||
		    add_values(di, run) == -1 ? fail(path,
		    prof_difference_error(di->di_difference)) : 0;
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (rv);
}

static int
give_renames(const struct difference_run *di)
{
	const struct opt_strings *renames = &di->di_options->fo_renames;

	for (size_t i = 0; i < renames->os_n; i++) {
		const char *equals = strchr(renames->os_text[i], '=');
		char *old = strndup(renames->os_text[i],
		    (size_t)(equals - renames->os_text[i]));
		int rv = old == NULL ? -1 : prof_difference_rename(
		    di->di_difference, old, equals + 1);

		free(old);
		if (rv == 0)
			continue;
		msg_error("flamegraph", "out of memory", "free memory");
		return (-1);
	}
	return (0);
}

static int
make(struct difference_run *di)
{
	const struct prof_difference_options options = {
		.dp_size = sizeof(options), .dp_seed = 1
	};
	struct prof_err error = { 0 };

	di->di_difference = prof_difference_new(&options, &error);
	if (di->di_difference == NULL) {
		msg_prof("flamegraph", &error);
		return (-1);
	}
	if (give_renames(di) == -1)
		return (-1);
	for (int side = 1; side >= 0; side--)
		for (size_t i = 0; i < di->di_sides[side].fs_n; i++)
			if (add_run(di, side,
			    &di->di_sides[side].fs_run[i]) == -1)
				return (-1);
	if (prof_difference_finish(di->di_difference) == 0)
		return (0);
	msg_prof("flamegraph", prof_difference_error(di->di_difference));
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

static int
write_picture(const struct difference_run *di)
{
	const struct flame_options *fo = di->di_options;
	char title[800], new_time[140], old_time[140];
	const struct prof_flame_options options = {
		.fl_size = sizeof(options),
		.fl_title = fo->fo_title != NULL ? fo->fo_title : title,
		.fl_reverse = fo->fo_reverse,
	};
	struct prof_err error = { 0 };
	size_t length = 0;
	char *bytes;
	int rv;

	say_time(new_time, sizeof(new_time), &fo->fo_time);
	say_time(old_time, sizeof(old_time), base_time(fo));
	snprintf(title, sizeof(title), "%s%s against %s%s",
	    di->di_sides[1].fs_name, new_time, di->di_sides[0].fs_name,
	    old_time);
	bytes = (flame_is_drawing(fo) ? prof_difference_svg :
	    prof_difference_html)(di->di_difference, &options, &length,
	    &error);
	if (bytes == NULL) {
		msg_prof("flamegraph", &error);
		return (-1);
	}
	rv = file_write("flamegraph", fo->fo_output, bytes, length);
	free(bytes);
	return (rv);
}

int
flame_difference(const struct flame_options *fo, int n, char **operands)
{
	struct flame_options options = *fo;
	struct difference_run di = { .di_options = &options };
	const char *note;
	int rv = -1;

	/* As compare: one build inlines what another calls. */
	options.fo_inlines = true;
	if (flame_sides(fo, n, operands, di.di_sides) == 0 &&
	    make(&di) == 0 && write_picture(&di) == 0) {
		msg_note("flamegraph", "%s",
		    prof_difference_headline(di.di_difference));
		for (size_t i = 0; (note = prof_difference_note(
		    di.di_difference, i)) != NULL; i++)
			msg_note("flamegraph", "%s", note);
		rv = 0;
	}
	prof_difference_free(di.di_difference);
	flame_sides_free(di.di_sides);
	free(di.di_event);
	return (rv);
}
