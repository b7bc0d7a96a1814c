/* SPDX-License-Identifier: ISC */
/*
 * From a resolved event to one that can be counted: what perf_event_open
 * gets, and what one count means.  The same names as for sampling; but here
 * tracepoints and system calls are counted by the kernel's own tracepoint
 * events, without a program, and timers are refused, since they count
 * nothing.  An event that could only ever count 0 is refused too.
 *
 * Called by group.c.  Reads tracefs and sysfs; opens no event.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters_impl.h"
#include "events/instrument.h"
#include "os/cpus.h"
#include "os/permission.h"

#define SYSFS_PMUS	"/sys/bus/event_source/devices"
#define FILTER_MAX	4000	/* the kernel takes a page */

static int	make_perf(struct prof_counting *, struct counting_event *);
static int	make_tracepoint(struct prof_counting *,
		    struct counting_event *);
static int	make_syscall(struct prof_counting *,
		    struct counting_event *);
static int	make_shared(struct prof_counting *,
		    struct counting_event *, const char *, const char *);

int
prof_counting_make(struct prof_counting *counting,
    const struct prof_event *of, struct counting_event *event)
{
	struct prof_err *error = &counting->kg_error;
	int rv = -1;

	memset(event, 0, sizeof(*event));
	event->ke_of = of;
	event->ke_attr.size = sizeof(event->ke_attr);
	event->ke_info.ce_name = of->ev_name;
	event->ke_info.ce_probe = of->ev_probe;
	event->ke_info.ce_scale = 1;
	event->ke_info.ce_group = COUNTING_NO_GROUP;
	if ((event->ke_unit = strdup(of->ev_unit)) == NULL)
		return (prof_fail_nomem(error));
	if (of->ev_has_period)
		rv = make_perf(counting, event);
	else if (of->ev_is_syscall)
		rv = make_syscall(counting, event);
	else
		rv = make_tracepoint(counting, event);
	event->ke_info.ce_unit = event->ke_unit;
	event->ke_attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	    PERF_FORMAT_TOTAL_TIME_RUNNING;
	event->ke_attr.disabled = 1;
	if (rv == -1)
		prof_counting_unmake(event);
	return (rv);
}

void
prof_counting_unmake(struct counting_event *event)
{
	free(event->ke_filter);
	free(event->ke_unit);
	free(event->ke_cpus);
	event->ke_filter = event->ke_unit = NULL;
	event->ke_cpus = NULL;
}

/* ------------------------------------------------------ perf's own events */

static int
make_perf(struct prof_counting *counting, struct counting_event *event)
{
	struct prof_err *error = &counting->kg_error;
	const struct prof_event *of = event->ke_of;
	char pmu[160], terms[PROF_SPEC_MAX];

	if (!of->ev_instrument->im_counts) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s: a timer cannot be counted", of->ev_name);
		return (prof_cure(error, "use -e task-clock, or sample with "
		    "dtprof record"));
	}
	event->ke_attr = of->ev_attr;
	event->ke_attr.freq = 0;
	event->ke_attr.sample_period = 0;
	if (prof_perf_always_zero(&event->ke_attr))
		return (prof_counting_refuse_zero(of, error));
	event->ke_info.ce_is_hardware =
	    event->ke_attr.type == PERF_TYPE_HARDWARE ||
	    event->ke_attr.type == PERF_TYPE_HW_CACHE ||
	    event->ke_attr.type == PERF_TYPE_RAW;
	if (prof_event_pmu(of, pmu, sizeof(pmu), terms,
	    sizeof(terms)))
		return (make_shared(counting, event, pmu, terms));
	return (0);
}

/*
 * What sysfs says about an event of a PMU: its unit, and, where one PMU
 * serves several CPUs, on which to open it: once, or it would count again
 * for each.
 */
static int
make_shared(struct prof_counting *counting, struct counting_event *event,
    const char *pmu, const char *terms)
{
	struct prof_err *error = &counting->kg_error;
	char path[PROF_SPEC_MAX + 256], text[256];

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/cpumask", pmu);
	if (prof_proc_read(path, text, sizeof(text)) > 0) {
		if (prof_cpu_list_parse(text, &event->ke_cpus,
		    &event->ke_ncpus) == -1)
			return (prof_fail(error, PROF_E_KERNEL,
			    "%s is not a list of CPUs", path));
		if (counting->kg_options.po_target != PROF_TARGET_ALL) {
			prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: PMU "
			    "'%s' counts for the whole machine, not per "
			    "process", event->ke_of->ev_name, pmu);
			return (prof_cure(error, "add -a; dtprof then counts "
			    "on the whole machine until COMMAND exits"));
		}
	} else
		event->ke_info.ce_is_hardware = 1;
	if (strpbrk(terms, "/=,") != NULL || terms[0] == '.')
		return (0);
	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events/%s.scale", pmu,
	    terms);
	if (prof_proc_read(path, text, sizeof(text)) > 0)
		event->ke_info.ce_scale = strtod(text, NULL);
	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events/%s.unit", pmu,
	    terms);
	if (prof_proc_read(path, text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		free(event->ke_unit);
		if ((event->ke_unit = strdup(text)) == NULL)
			return (prof_fail_nomem(error));
	}
	return (0);
}

/* ----------------------------------------------------------- tracepoints */

/* The kernel's number of an event, which its tracefs tells. */
static int
tracepoint_id(struct prof_counting *counting, struct counting_event *event,
    const char *group, const char *name)
{
	struct prof_err *error = &counting->kg_error;
	char path[512], *text;

	snprintf(path, sizeof(path), "events/%s/%s/id", group, name);
	text = prof_names_tracefs_read(counting->kg_names, path);
	if (text == NULL) {
		if (prof_names_tracefs(counting->kg_names) == -1) {
			*error = counting->kg_names->nm_tracefs_error;
			return (-1);
		}
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: '%s' is "
		    "missing in tracefs, or not readable",
		    event->ke_of->ev_name,
		    path);
		return (prof_cure(error, "run as root"));
	}
	event->ke_attr.type = PERF_TYPE_TRACEPOINT;
	event->ke_attr.config = strtoull(text, NULL, 10);
	free(text);
	return (0);
}

/* "static:sched::sched_switch" */
static int
make_tracepoint(struct prof_counting *counting, struct counting_event *event)
{
	const char *probe = event->ke_of->ev_probe;
	const char *group = strchr(probe, ':');
	char name[128] = "";
	size_t length;

	group = group == NULL ? probe : group + 1;
	length = strcspn(group, ":");
	if (length < sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)length, group);
	return (tracepoint_id(counting, event, name,
	    event->ke_of->ev_tracepoint));
}

/* Is it every system call there is? */
static bool
is_every_syscall(const struct prof_event *of)
{
	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++)
		if (prof_syscall_name(nr) != NULL &&
		    (of->ev_sysmask[nr / 64] >> nr % 64 & 1) == 0)
			return (false);
	return (true);
}

/* One tracepoint for all system calls; which are meant, a filter says. */
static int
make_syscall(struct prof_counting *counting, struct counting_event *event)
{
	const struct prof_event *of = event->ke_of;
	size_t length = 0;
	char *filter;

	/* A call is counted at its entry: a new thread has a return alone. */
	if (of->ev_is_call) {
		free(event->ke_unit);
		if ((event->ke_unit = strdup("events")) == NULL)
			return (prof_fail_nomem(&counting->kg_error));
	}
	if (tracepoint_id(counting, event, "raw_syscalls",
	    of->ev_is_return ? "sys_exit" : "sys_enter") == -1)
		return (-1);
	if (is_every_syscall(of))
		return (0);
	if ((filter = malloc(FILTER_MAX)) == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	for (unsigned nr = 0; nr < DTP_MAX_SYSCALL; nr++)
		if ((of->ev_sysmask[nr / 64] >> nr % 64 & 1) != 0 &&
		    length < FILTER_MAX)
			length += (size_t)snprintf(filter + length,
			    FILTER_MAX - length, "%sid == %u",
			    length == 0 ? "" : " || ", nr);
	event->ke_filter = filter;
	if (length < FILTER_MAX)
		return (0);
	prof_fail(&counting->kg_error, PROF_E_LIMIT, "%s: too many system "
	    "calls for one kernel filter", of->ev_name);
	return (prof_cure(&counting->kg_error,
	    "count all system calls, or fewer system calls"));
}
