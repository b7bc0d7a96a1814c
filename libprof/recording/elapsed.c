/* SPDX-License-Identifier: ISC */
/*
 * Elapsed time: one event for the time of threads on and off the CPU, made of
 * the samples of two others.
 *
 *	cpu-clock	1 ms			elapsed	 1 ms running
 *	off-cpu		30 ms blocked	  ->	elapsed	30 ms blocked
 *	off-cpu		2 ms runnable		elapsed	 2 ms runnable
 *
 * A sample of a clock weighs its period.  A sample of cycles weighs its share
 * of the running time that was counted at context switches: all cycles of the
 * recording are taken to be equally long.  The idle task is not a thread.
 *
 * Profiles have samples of this event in place of those of its parts, see
 * profile/gather.c; records in order of time are what they were.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elapsed.h"
#include "events/names.h"
#include "query.h"
#include "reader.h"

#define RUNNING	"running"

static bool
is_clock(const struct prof_event_info *info)
{
	return (strcmp(info->pi_unit, "ns") == 0 &&
	    (strcmp(info->pi_provider, "profile") == 0 ||
	    strstr(info->pi_name, "cpu-clock") != NULL ||
	    strstr(info->pi_name, "task-clock") != NULL));
}

/* Not stalled-cycles or bus-cycles. */
static bool
is_cycles(const struct prof_event_info *info)
{
	const char *name = info->pi_name;

	if (strncmp(name, "cpu-", 4) == 0)
		name += 4;
	return (strncmp(name, "cycles", 6) == 0 &&
	    strchr("/:{", name[6]) != NULL);
}

/* cpu-clock:u and cpu-clock{...} sample only a part of the running time. */
static bool
is_part(const struct prof_event_info *info)
{
	struct prof_spec spec;
	struct prof_err error;
	const char *attribute;

	if (prof_spec_parse(&spec, info->pi_name, &error) == -1 ||
	    spec.sp_filter != NULL || strpbrk(spec.sp_mods, "ukh") != NULL)
		return (true);
	/* Of libpfm4; the name of a timer is its rate, such as 997hz. */
	attribute = spec.sp_is_probe ? NULL : strrchr(spec.sp_name, ':');
	return (attribute != NULL && strpbrk(attribute, "ukhGH") != NULL);
}

/* The event lock is off-cpu with a filter. */
bool
prof_wait_is_part(const struct prof_event_info *info)
{
	struct prof_spec spec;
	struct prof_err error;

	return (prof_spec_parse(&spec, info->pi_name, &error) == -1 ||
	    spec.sp_filter != NULL || strcmp(spec.sp_name, "lock") == 0);
}

uint32_t
prof_wait_event(const struct prof_reader *reader)
{
	const struct prof_event_info *info;
	uint32_t first = 0;

	for (uint32_t e = 1; e < prof_reader_nevents(reader); e++) {
		info = prof_reader_event(reader, e);
		if (strcmp(info->pi_provider, "wait") != 0 ||
		    info->pi_is_derived)
			continue;
		if (!prof_wait_is_part(info))
			return (e);
		if (first == 0)
			first = e;
	}
	return (first);
}

/* The event of waits, and the best event that samples running time. */
static void
parts_find(const struct prof_reader *reader, struct prof_elapsed *elapsed)
{
	const struct prof_event_info *info;
	uint32_t cycles = 0;

	for (uint32_t e = 1; e < reader->rd_nevents; e++) {
		info = prof_reader_event(reader, e);
		if (strcmp(info->pi_provider, "wait") == 0 ||
		    info->pi_is_counter || info->pi_is_of_span)
			continue;
		if (is_clock(info) && elapsed->el_running == 0)
			elapsed->el_running = e;
		else if (is_cycles(info) && cycles == 0)
			cycles = e;
	}
	if (elapsed->el_running == 0)
		elapsed->el_running = cycles;
	elapsed->el_waits = prof_wait_event(reader);
}

/* Weights of samples of running time, without the idle task. */
struct weights {
	const struct prof_elapsed *we_elapsed;
	double		 we_sum;
};

static int
weight_add(void *arg, const struct prof_sample *sample)
{
	struct weights *weights = arg;
	const struct prof_record *record = &sample->sm_record;

	if (record->pr_event == weights->we_elapsed->el_running &&
	    !prof_elapsed_is_idle(weights->we_elapsed, record))
		weights->we_sum += (double)record->pr_weight;
	return (0);
}

/* How long is what one sample of the running time weighs? */
static int
factor_find(struct prof_reader *reader, struct prof_elapsed *elapsed)
{
	const struct prof_event_info *info = prof_reader_event(reader,
	    elapsed->el_running);
	const bool is_user = prof_reader_info(reader, "user_only") != NULL;
	struct weights weights = { .we_elapsed = elapsed };
	const char *text, *why;
	char key[64];

	elapsed->el_factor = 1;
	if (elapsed->el_running == 0)
		return (0);
	if (is_user || is_part(info)) {
		prof_fail(&reader->rd_error, PROF_E_USAGE, "%s samples only a "
		    "part of the running time", is_user ? "--user-only" :
		    info->pi_name);
		return (prof_cure(&reader->rd_error, "record -e cpu-clock "
		    "with --off-cpu%s, or choose one event with -e", is_user ?
		    " and without --user-only" : ""));
	}
	if (is_clock(info))
		return (0);
	snprintf(key, sizeof(key), "waits.%u.running_ns", elapsed->el_waits);
	text = prof_reader_info(reader, key);
	/* Not all that were merged need have the time. */
	why = prof_reader_info(reader, "merged") != NULL ? "is merged" :
	    text == NULL ? "was cut short" :
	    prof_reader_info(reader, "filter") != NULL ||
	    prof_reader_info(reader, "keep_if") != NULL ||
	    prof_reader_info(reader, "comm") != NULL ? "has a filter" : NULL;
	if (why != NULL) {
		prof_fail(&reader->rd_error, PROF_E_USAGE, "cannot convert "
		    "samples of %s to time: the recording %s", info->pi_name,
		    why);
		return (prof_cure(&reader->rd_error, "record -e cpu-clock "
		    "with --off-cpu, or choose one event with -e"));
	}
	if (prof_samples_each(reader, weight_add, &weights,
	    &reader->rd_error) == -1)
		return (-1);
	if (weights.we_sum > 0)
		elapsed->el_factor = strtod(text, NULL) / weights.we_sum;
	return (0);
}

/* The event has the arguments of waits: their state is one of them. */
static int
event_add(struct prof_reader *reader, struct prof_elapsed *elapsed)
{
	const uint32_t n = (uint32_t)reader->rd_nevents;
	struct prof_event_info *info = malloc(sizeof(*info));

	if (info == NULL || prof_keep_events(reader, n + 1) == -1) {
		free(info);
		return (prof_fail_nomem(&reader->rd_error));
	}
	*info = *prof_reader_event(reader, elapsed->el_waits);
	info->pi_name = info->pi_probe = "elapsed";
	info->pi_is_derived = 1;
	reader->rd_events[n] = info;
	elapsed->el_event = n;
	return (0);
}

int
prof_wait_arguments(const struct prof_reader *reader, uint32_t event,
    struct prof_err *error)
{
	if (event == 0 || prof_reader_event(reader, event)->pi_nargs > 0)
		return (0);
	prof_fail(error, PROF_E_USAGE, "a store does not keep states and "
	    "reasons of waits");
	return (prof_cure(error, "report the recording itself"));
}

int
prof_reader_elapsed(struct prof_reader *reader)
{
	struct prof_elapsed elapsed = { 0 };

	if (reader->rd_elapsed.el_event != 0)
		return ((int)reader->rd_elapsed.el_event);
	parts_find(reader, &elapsed);
	if (elapsed.el_waits == 0) {
		prof_fail(&reader->rd_error, PROF_E_USAGE,
		    "the recording has no waits of threads");
		return (prof_cure(&reader->rd_error,
		    "record with --off-cpu"));
	}
	if (prof_wait_arguments(reader, elapsed.el_waits,
	    &reader->rd_error) == -1)
		return (-1);
	elapsed.el_has_idle = prof_reader_info(reader, "pid.namespace") ==
	    NULL;
	if (factor_find(reader, &elapsed) == -1 ||
	    event_add(reader, &elapsed) == -1)
		return (-1);
	reader->rd_elapsed = elapsed;
	return ((int)elapsed.el_event);
}

const struct prof_elapsed *
prof_elapsed_of(const struct prof_reader *reader)
{
	return (&reader->rd_elapsed);
}

/* A running thread waits for nothing, so its other arguments are empty. */
static void
running_convert(const struct prof_reader *reader,
    const struct prof_elapsed *elapsed, struct prof_record *record)
{
	const struct prof_event_info *info = prof_reader_event(reader,
	    elapsed->el_event);

	record->pr_nargs = info->pi_nargs;
	for (uint32_t n = 0; n < info->pi_nargs; n++) {
		record->pr_args[n] = 0;
		record->pr_strs[n] = !info->pi_arg_is_str[n] ? NULL :
		    strcmp(info->pi_arg_names[n], "state") == 0 ? RUNNING :
		    "-";
	}
	record->pr_nvalues = 0;
	record->pr_weight = (uint64_t)((double)record->pr_weight *
	    elapsed->el_factor + .5);
}

bool
prof_elapsed_convert(const struct prof_reader *reader,
    struct prof_record *record)
{
	const struct prof_elapsed *elapsed = &reader->rd_elapsed;

	if (elapsed->el_event == 0 ||
	    (record->pr_event != elapsed->el_waits &&
	    record->pr_event != elapsed->el_running))
		return (true);
	if (prof_elapsed_is_idle(elapsed, record))
		return (false);
	if (record->pr_event == elapsed->el_running)
		running_convert(reader, elapsed, record);
	record->pr_event = elapsed->el_event;
	return (true);
}
