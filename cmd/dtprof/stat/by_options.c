/* SPDX-License-Identifier: ISC */
/*
 * The options of dtprof stat that aggregate: --by, --hist, --sum and their
 * kin, checked, and made to what libprof takes.  Called by cmd_stat.c and by.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by.h"

#define MAX_STEPS	1000

static int
options_refuse(const char *cure, const char *why)
{
	return (msg_error("stat", why, cure));
}

static bool
measures_any(const struct count_options *co)
{
	return (co->co_hists.os_n + co->co_sums.os_n + co->co_avgs.os_n +
	    co->co_mins.os_n + co->co_maxs.os_n > 0);
}

static bool
is_plain(const struct count_options *co)
{
	return (co->co_by == NULL && !measures_any(co));
}

bool
by_is_wanted(const struct count_options *co, const struct opt_strings *events)
{
	for (size_t n = 0; n < events->os_n; n++)
		if (prof_event_needs_program(events->os_text[n]))
			return (true);
	return (!is_plain(co) || co->co_spans.os_n + co->co_with.os_n > 0);
}

int
by_check(const struct count_options *co, const struct opt_strings *events)
{
	const bool counts = co->co_per_process || co->co_per_thread ||
	    co->co_runs.on_value > 1 || co->co_warmups.on_value > 0;

	if (is_plain(co) && (co->co_sort != NULL || co->co_limit.on_set))
		return (options_refuse("add --by KEYS",
		    "--sort and --limit need --by"));
	if (!by_is_wanted(co, events))
		return (0);
	if (events->os_n == 0 && !is_plain(co))
		return (options_refuse("add -e EVENT, e.g. -e syscall",
		    "--by and --hist need an event"));
	if (co->co_with.os_n > 0 && co->co_spans.os_n == 0)
		return (options_refuse("add --span, or use -e COUNTER",
		    "--with counts in spans"));
	if (co->co_spans.os_n > 0 && events->os_n > 0 && co->co_csv)
		return (options_refuse("leave out -e, or use --json",
		    "--csv prints either spans or events"));
	for (size_t n = 0; n < events->os_n; n++)
		if (events->os_text[n][0] == '{')
			return (options_refuse("leave out the braces of the "
			    "group",
			    "groups of events cannot be used with --by, "
			    "--hist, --span or probes"));
	if (counts || co->co_user_only)
		return (options_refuse("leave out one of these options",
		    "--by, --hist, --span and probes cannot be used with -r, "
		    "-w, --per-process, --per-thread or --user-only"));
	if (co->co_interval_ms.on_set && co->co_json)
		return (options_refuse("use --csv instead of --json",
		    "with --by, --hist, --span or probes, -I and --json "
		    "exclude each other"));
	return (0);
}

/* The measure of a field, a new one if need be; NULL with a message printed. */
static struct prof_measure *
measure_of(struct by *by, const char *field)
{
	struct prof_grouping *gp = &by->by_grouping;

	for (size_t n = 0; n < gp->gp_nmeasures; n++)
		if (strcmp(gp->gp_measure[n].me_field, field) == 0)
			return (&gp->gp_measure[n]);
	if (gp->gp_nmeasures == DTP_GROUP_MEASURES) {
		options_refuse("leave some out",
		    "at most 4 fields can be measured at once");
		return (NULL);
	}
	gp->gp_measure[gp->gp_nmeasures].me_field = field;
	return (&gp->gp_measure[gp->gp_nmeasures++]);
}

static int
wants_add(struct by *by, const struct opt_strings *fields,
    enum by_figure figure)
{
	struct prof_measure *measure;

	for (size_t n = 0; n < fields->os_n; n++) {
		if ((measure = measure_of(by, fields->os_text[n])) == NULL)
			return (-1);
		by->by_wanted[measure - by->by_grouping.gp_measure] |=
		    1U << figure;
		/* Of an interval only buckets tell the ends. */
		if (by->by_options->co_interval_ms.on_set &&
		    figure >= BY_MIN &&
		    measure->me_histogram == DTP_HIST_NONE)
			measure->me_histogram = DTP_HIST_LOG;
	}
	return (0);
}

/* "lin=LO:HI:STEP" */
static int
steps_parse(const char *text, struct prof_measure *measure)
{
	long long low, high, step;
	int end = 0;

	if (sscanf(text, "lin=%lld:%lld:%lld%n", &low, &high, &step, &end) !=
	    3 || text[end] != '\0' || step <= 0 || high <= low)
		return (msg_fail("stat", "use for example --hist "
		    "ret,lin=0:4096:256",
		    "--hist: '%s' is not lin=LO:HI:STEP", text));
	if (((uint64_t)high - (uint64_t)low) % (uint64_t)step != 0)
		return (msg_fail("stat", "choose another STEP", "--hist: "
		    "steps of %lld from %lld do not end at %lld", step, low,
		    high));
	if (((uint64_t)high - (uint64_t)low) / (uint64_t)step > MAX_STEPS)
		return (msg_fail("stat", "use a larger STEP", "--hist: more "
		    "than %d steps of %lld from %lld to %lld", MAX_STEPS,
		    step, low, high));
	measure->me_histogram = DTP_HIST_LINEAR;
	measure->me_low = low;
	measure->me_step = (uint64_t)step;
	measure->me_nsteps = ((uint64_t)high - (uint64_t)low) /
	    (uint64_t)step;
	return (0);
}

static int
hists_add(struct by *by, const struct opt_strings *fields)
{
	struct prof_measure *measure;
	char *field, *comma;

	for (size_t n = 0; n < fields->os_n; n++) {
		field = strdup(fields->os_text[n]);
		if (field == NULL)
			return (options_refuse("free memory",
			    "out of memory"));
		by->by_fields[by->by_nfields++ % BY_FIELDS] = field;
		if ((comma = strchr(field, ',')) != NULL)
			*comma++ = '\0';
		if ((measure = measure_of(by, field)) == NULL)
			return (-1);
		if (measure->me_histogram != DTP_HIST_NONE)
			return (msg_fail("stat", "leave out one of these "
			    "options",
			    "--hist: '%s' twice", field));
		measure->me_histogram = DTP_HIST_LOG;
		by->by_wanted[measure - by->by_grouping.gp_measure] |=
		    BY_WANTS_HISTOGRAM;
		if (comma != NULL && steps_parse(comma, measure) == -1)
			return (-1);
	}
	return (0);
}

/* At commas; the keys are parts of the copy. */
static int
keys_split(struct by *by)
{
	char *rest, *key;

	if (by->by_options->co_by == NULL)
		return (0);
	by->by_keys = rest = strdup(by->by_options->co_by);
	if (rest == NULL)
		return (options_refuse("free memory", "out of memory"));
	while ((key = strsep(&rest, ",")) != NULL) {
		if (*key == '\0')
			return (options_refuse("use for example --by "
			    "syscall,comm", "--by: empty key"));
		if (by->by_grouping.gp_nby == DTP_GROUP_KEYS)
			return (options_refuse("leave some out",
			    "--by takes at most 4 keys"));
		by->by_grouping.gp_by[by->by_grouping.gp_nby++] = key;
	}
	return (0);
}

int
by_options(struct by *by)
{
	const struct count_options *co = by->by_options;

	by->by_is_plain = is_plain(co);
	if (co->co_hists.os_n > BY_FIELDS)
		return (options_refuse("leave some out",
		    "at most 4 fields can be measured at once"));
	if (keys_split(by) == -1 || hists_add(by, &co->co_hists) == -1 ||
	    wants_add(by, &co->co_sums, BY_TOTAL) == -1 ||
	    wants_add(by, &co->co_avgs, BY_AVG) == -1 ||
	    wants_add(by, &co->co_mins, BY_MIN) == -1)
		return (-1);
	return (wants_add(by, &co->co_maxs, BY_MAX));
}

void
by_options_free(struct by *by)
{
	for (size_t n = 0; n < BY_FIELDS; n++)
		free(by->by_fields[n]);
	free(by->by_keys);
}
