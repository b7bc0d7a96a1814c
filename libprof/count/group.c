/* SPDX-License-Identifier: ISC */
/*
 * Which events can count at the same time.  A PMU has a few counters; groups
 * {a,b,c} have one each at the same time, or none at all.  How many fit is
 * not written anywhere: it depends on the PMU, on which event goes to which
 * counter, and on who else holds one.  So it is tried, on ourselves.
 *
 * Called by counters.c for each -e, and when somebody wants to know why
 * events took turns.  What is opened here is closed again at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "counters_impl.h"
#include "os/permission.h"

#define GROUP_MAX	PROF_FIT_MAX

static int	resolve_one(struct prof_counting *, const char *,
		    const char *);
static int	resolve_group(struct prof_counting *, const char *,
		    const char *);
static int	try_one(struct prof_counting *, struct counting_event *);

/* ---------------------------------------------------------- what fits */

static size_t
group_fitting(struct counting_event *const *events, size_t n)
{
	struct perf_event_attr attrs[GROUP_MAX];

	for (size_t e = 0; e < n; e++)
		attrs[e] = events[e]->ke_attr;
	return (prof_attrs_fitting(attrs, n));
}

/* The events on a PMU, all or those of a group; how many. */
static size_t
hardware_of(const struct prof_counting *counting, int group,
    struct counting_event *out[GROUP_MAX])
{
	size_t n = 0;

	for (size_t e = 0; e < counting->kg_nevents && n < GROUP_MAX; e++)
		if (counting->kg_event[e].ke_info.ce_is_hardware &&
		    (group == COUNTING_NO_GROUP ||
		    counting->kg_event[e].ke_info.ce_group == group))
			out[n++] = &counting->kg_event[e];
	return (n);
}

/* Before privileges are dropped: some kernels want more than CAP_PERFMON. */
void
prof_counting_try_fitting(struct prof_counting *counting)
{
	struct counting_event *hardware[GROUP_MAX];
	const size_t n = hardware_of(counting, COUNTING_NO_GROUP, hardware);

	counting->kg_fitting = n == 0 ? 0 : group_fitting(hardware, n);
}

size_t
prof_counting_fitting(struct prof_counting *counting)
{
	return (counting->kg_fitting);
}

int
prof_counting_refuse_group(struct prof_counting *counting, int group,
    size_t fit)
{
	struct counting_event *hardware[GROUP_MAX];
	const size_t n = hardware_of(counting, group, hardware);
	size_t first = 0;

	while (counting->kg_event[first].ke_info.ce_group != group)
		first++;
	/* Of PMUs that serve all processes; it is not tried how many fit. */
	if (n == 0) {
		prof_fail(&counting->kg_error, PROF_E_COUNTERS,
		    "the events of group '%s' cannot be counted together",
		    counting->kg_event[first].ke_info.ce_name);
		return (prof_cure(&counting->kg_error, "group events of one "
		    "PMU only, or leave out the braces"));
	}
	prof_fail(&counting->kg_error, PROF_E_COUNTERS,
	    "the events of group '%s' cannot be counted together: of %zu "
	    "events on the PMU, only %zu can be counted at the same time",
	    counting->kg_event[first].ke_info.ce_name, n, fit);
	if (fit == 0)
		return (prof_cure(&counting->kg_error, "end other profilers%s",
		    prof_watchdog_cure()));
	return (prof_cure(&counting->kg_error, "use groups of at most %zu "
	    "events%s, or leave out the braces: then dtprof multiplexes the "
	    "events, and counts are estimates", fit, prof_watchdog_cure()));
}

int
prof_counting_fit_all(struct prof_counting *counting)
{
	struct counting_event *hardware[GROUP_MAX];
	const size_t n = hardware_of(counting, COUNTING_NO_GROUP, hardware);
	size_t fit = n == 0 ? 0 : group_fitting(hardware, n);

	if (fit == n)
		return (0);
	prof_fail(&counting->kg_error, PROF_E_COUNTERS, "of %zu events on the "
	    "PMU, only %zu can be counted at the same time, and counts per "
	    "process cannot be multiplexed", n, fit);
	return (prof_cure(&counting->kg_error, "count at most the first %zu "
	    "events", fit));
}

/* ------------------------------------------------------- one event more */

/* Opened on ourselves: does this machine have it, and may we? */
static int
try_one(struct prof_counting *counting, struct counting_event *event)
{
	struct perf_event_attr attr = event->ke_attr;
	const int refused = event->ke_cpus != NULL ? 0 :
	    prof_perf_probe(&attr);

	if (refused == 0)
		return (0);
	prof_perf_explain(&counting->kg_error, event->ke_of, refused, 0, -1);
	attr.exclude_kernel = 1;
	/* The usual cure, :u, would be none. */
	counting->kg_kernel_only = prof_perf_always_zero(&attr);
	if (counting->kg_error.pe_code == PROF_E_PERMISSION &&
	    counting->kg_kernel_only)
		prof_cure(&counting->kg_error, "this event occurs in the "
		    "kernel: sysctl kernel.perf_event_paranoid=1, or run as "
		    "root or with CAP_PERFMON");
	return (-1);
}

static int
event_append(struct prof_counting *counting, const struct prof_event *of)
{
	struct counting_event *event;

	if (counting->kg_nevents == COUNTING_EVENTS)
		return (prof_fail(&counting->kg_error, PROF_E_LIMIT,
		    "more than %d events", COUNTING_EVENTS));
	event = prof_append(&counting->kg_event, &counting->kg_nevents,
	    sizeof(*event));
	if (event == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	if (prof_counting_make(counting, of, event) == 0)
		return (try_one(counting, event));
	counting->kg_nevents--;
	return (-1);
}

/* mods: those behind the braces, for who has none of its own; or "". */
static int
resolve_one(struct prof_counting *counting, const char *text,
    const char *mods)
{
	const struct prof_event_defaults defaults = {
		.ed_user_only = counting->kg_options.po_no_kernel,
	};
	const size_t before = counting->kg_events.el_n;
	struct prof_err *error = &counting->kg_error;
	char whole[PROF_SPEC_MAX + 16];
	struct prof_spec spec;

	if (prof_spec_parse(&spec, text, error) == -1 ||
	    prof_spec_no_filter(&spec, "a counter", error) == -1)
		return (-1);
	if (spec.sp_period != 0 || spec.sp_frequency != 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "%s: period and freq are "
		    "for sampling, not for counting", text);
		return (prof_cure(error, "leave out period and freq, or use "
		    "dtprof record"));
	}
	if (mods[0] != '\0' && spec.sp_mods[0] == '\0') {
		snprintf(whole, sizeof(whole), "%s:%s", spec.sp_whole, mods);
		spec.sp_whole = whole;
		spec.sp_mods = mods;
	}
	if (prof_spec_resolve(counting->kg_names, &spec, &defaults,
	    &counting->kg_events, error) == -1)
		return (-1);
	for (size_t n = before; n < counting->kg_events.el_n; n++)
		if (event_append(counting,
		    counting->kg_events.el_event[n]) == -1)
			return (-1);
	return (0);
}

/* "{a,b/x,y/,c}:u"; usual: mods where none stand behind the braces. */
static int
resolve_group(struct prof_counting *counting, const char *spec,
    const char *usual)
{
	const size_t before = counting->kg_nevents, length = strlen(spec);
	const char *close = strrchr(spec, '}'), *mods;
	struct counting_event *hardware[GROUP_MAX];
	char *text, *at, *begin;
	bool slashes = false;
	size_t n, fit;
	int rv = 0;

	mods = close == NULL ? "" : close + 1 + (close[1] == ':');
	if (close == NULL || mods[strspn(mods, "ukhp")] != '\0')
		return (prof_fail(&counting->kg_error, PROF_E_EVENT_SYNTAX,
		    "invalid group '%.100s': use {a,b,c} or {a,b,c}:u",
		    spec));
	if ((text = strndup(spec + 1, length)) == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	text[close - spec - 1] = '\0';
	if (mods[0] == '\0')
		mods = usual;
	for (at = begin = text; rv == 0; at++) {
		slashes ^= *at == '/';
		if (*at != '\0' && (*at != ',' || slashes))
			continue;
		slashes = *at == '\0';
		*at = '\0';
		rv = resolve_one(counting, begin, mods);
		if (slashes)
			break;
		begin = at + 1;
	}
	free(text);
	if (rv == -1 || counting->kg_nevents - before < 2)
		return (rv);
	for (n = before; n < counting->kg_nevents; n++)
		counting->kg_event[n].ke_info.ce_group = counting->kg_ngroups;
	n = hardware_of(counting, counting->kg_ngroups++, hardware);
	if (n == 0 || (fit = group_fitting(hardware, n)) == n)
		return (0);
	return (prof_counting_refuse_group(counting, counting->kg_ngroups - 1,
	    fit));
}

/* All of it or nothing; mods: for those that have none. */
static int
resolve_with(struct prof_counting *counting, const char *spec,
    const char *mods)
{
	const size_t before = counting->kg_nevents,
	    had = counting->kg_events.el_n;
	int rv;

	rv = spec[0] == '{' ? resolve_group(counting, spec, mods) :
	    resolve_one(counting, spec, mods);
	if (rv == 0)
		return (0);
	while (counting->kg_nevents > before)
		prof_counting_unmake(
		    &counting->kg_event[--counting->kg_nevents]);
	while (counting->kg_events.el_n > had)
		prof_event_free(counting->kg_events.el_event[
		    --counting->kg_events.el_n]);
	return (-1);
}

int
prof_counting_resolve(struct prof_counting *counting, const char *spec)
{
	struct prof_err refused;

	counting->kg_kernel_only = false;
	if (resolve_with(counting, spec, "") == 0)
		return (0);
	if (counting->kg_error.pe_code != PROF_E_PERMISSION ||
	    counting->kg_kernel_only)
		return (-1);
	refused = counting->kg_error;
	if (resolve_with(counting, spec, "u") == 0)
		return (0);
	/* What else is wrong with it stands in the way first. */
	if (counting->kg_error.pe_code == PROF_E_PERMISSION)
		counting->kg_error = refused;
	return (-1);
}
