/* SPDX-License-Identifier: ISC */
/*
 * The counters whose values samples bring: on each CPU a group, so that all
 * count at the same time or none does, and what the programs have to know of
 * them.  They count whoever runs; sys/values.bpf.h gives each thread its own.
 * Events that are inherited would do the same without a program, but cannot
 * be read by one.
 *
 * Called by session/events.c (is it a counter?), backend.c (do they fit?) and
 * attach.c.  Started, stopped and read as all counters of a session are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"

#include "values.skel.h"

PROF_PROGRAM(values);

static const struct prof_instrument value = {
	.im_is_value = true,
	.im_program = &prof_program_values,
};

/* Counter n of the session. */
static struct prof_event *
value_event(const struct prof_bpf *bpf, size_t n)
{
	return (bpf->bp_events->el_event[bpf->bp_plan->pn_values + n]);
}

bool
prof_values_is_first(const struct prof_bpf *bpf,
    const struct prof_event *event)
{
	return (bpf->bp_plan->pn_nvalues > 0 && event == value_event(bpf, 0));
}

int
prof_values_make(struct prof_event *event, struct prof_err *error)
{
	char pmu[160];

	if (!event->ev_instrument->im_counts) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: --with needs a "
		    "counter", event->ev_name);
		return (prof_cure(error, "list counters with dtprof list "
		    "'pmc:::*', or sample the event with -e"));
	}
	/* Counted after the tracepoint, in who goes, and not at each switch. */
	if (event->ev_attr.type == PERF_TYPE_SOFTWARE &&
	    event->ev_attr.config == PERF_COUNT_SW_CGROUP_SWITCHES) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: --with "
		    "cannot use this event: the kernel counts a switch "
		    "between cgroups for neither of the two threads",
		    event->ev_name);
		return (prof_cure(error, "sample the event with -e, or count "
		    "the event with dtprof stat"));
	}
	event->ev_instrument = &value;
	event->ev_has_period = event->ev_is_timer = false;
	event->ev_is_value = true;
	event->ev_attr.freq = 0;
	event->ev_attr.sample_period = 0;
	event->ev_attr.precise_ip = 0;
	if (prof_perf_always_zero(&event->ev_attr))
		return (prof_counting_refuse_zero(event, error));
	if (!prof_event_is_shared(event, pmu, sizeof(pmu)))
		return (0);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: PMU '%s' counts for "
	    "the whole machine, not per process", event->ev_name, pmu);
	return (prof_cure(error, "count the event with dtprof stat -a"));
}

uint32_t
prof_values_ahead(const struct prof_bpf *bpf)
{
	uint32_t ahead = 0;

	for (size_t n = 0; n < bpf->bp_plan->pn_nvalues; n++) {
		const struct perf_event_attr *attr =
		    &value_event(bpf, n)->ev_attr;

		if (attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
			ahead |= 1U << n;
	}
	return (ahead);
}

/* ---------------------------------------------------------- do they fit? */

/* Those on a PMU, of all events or just of the counters; how many. */
static size_t
hardware_of(const struct prof_bpf *bpf, bool all,
    struct perf_event_attr *attrs)
{
	const size_t n = bpf->bp_events->el_n;
	size_t from = all ? 1 : bpf->bp_plan->pn_values, found = 0;

	for (; from < n; from++) {
		const struct prof_event *event =
		    bpf->bp_events->el_event[from];

		if (event->ev_attr.type != PERF_TYPE_SOFTWARE &&
		    (event->ev_has_period ||
		    event->ev_is_value))
			attrs[found++] = event->ev_attr;
	}
	return (found);
}

/* Opened on ourselves: does this machine have it, and may we? */
static int
try_each(struct prof_bpf *bpf)
{
	for (size_t n = 0; n < bpf->bp_plan->pn_nvalues; n++) {
		const struct prof_event *event = value_event(bpf, n);
		struct perf_event_attr attr = event->ev_attr;
		int fd = prof_perf_open(&attr, 0, -1, -1,
		    PERF_FLAG_FD_CLOEXEC);

		if (fd == -1)
			return (prof_perf_explain(bpf->bp_error, event,
			    errno, 0, -1));
		close(fd);
	}
	return (0);
}

int
prof_values_check(struct prof_bpf *bpf)
{
	struct perf_event_attr *attrs;
	size_t n, fit;
	int rv = 0;

	if (bpf->bp_plan->pn_nvalues == 0)
		return (0);
	if (try_each(bpf) == -1)
		return (-1);
	attrs = calloc(bpf->bp_events->el_n, sizeof(*attrs));
	if (attrs == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	n = hardware_of(bpf, false, attrs);
	if (n > 0 && (fit = prof_attrs_fitting(attrs, n)) < n) {
		prof_fail(bpf->bp_error, PROF_E_COUNTERS, "--with has %zu "
		    "counters, but only %zu can count at the same time", n,
		    fit);
		rv = prof_cure(bpf->bp_error, "use at most %zu counters with "
		    "--with%s", fit, prof_watchdog_cure());
	}
	n = rv == 0 ? hardware_of(bpf, true, attrs) : 0;
	if (n > 0 && (fit = prof_attrs_fitting(attrs, n)) < n)
		rv = prof_host_note(bpf->bp_plan, "of %zu events on the PMU, "
		    "only %zu can be counted at the same time: events are "
		    "multiplexed, so the counts of --with cover only a part of "
		    "the time%s", n, fit,
		    prof_watchdog_cure());
	free(attrs);
	return (rv);
}

/* ---------------------------------------------------------------- attach */

/* The group of one CPU. */
static int
attach_cpu(struct prof_bpf *bpf, int cpu)
{
	const int map = prof_bpf_values_fd(bpf);
	int leader = -1, fd;

	for (size_t n = 0; n < bpf->bp_plan->pn_nvalues; n++) {
		const struct prof_event *event = value_event(bpf, n);
		struct perf_event_attr attr = event->ev_attr;
		uint32_t at = (uint32_t)n * bpf->bp_ncpus +
		    (uint32_t)cpu;

		prof_pmu_choose(prof_names_kinds(bpf->bp_plan->pn_names), &attr,
		    cpu);
		attr.disabled = leader == -1;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		    PERF_FORMAT_TOTAL_TIME_RUNNING;
		fd = prof_perf_open(&attr, -1, cpu, leader,
		    PERF_FLAG_FD_CLOEXEC);
		if (fd == -1)
			return (prof_perf_explain(bpf->bp_error, event,
			    errno, -1, cpu));
		if (prof_bpf_keep_perf(bpf, event, fd, cpu) == -1)
			return (-1);
		if (leader == -1)
			leader = fd;
		if (bpf_map_update_elem(map, &at, &fd, BPF_ANY) != 0)
			return (prof_bpf_explain(bpf->bp_error, errno));
	}
	return (0);
}

int
prof_values_attach(struct prof_bpf *bpf)
{
	for (size_t n = 0; n < bpf->bp_plan->pn_ncpus; n++)
		if (attach_cpu(bpf, bpf->bp_plan->pn_cpus[n]) == -1)
			return (-1);
	return (0);
}
