/* SPDX-License-Identifier: ISC */
/*
 * The pmc provider: everything that perf_event_open counts and lets overflow
 * - hardware, cache, raw and software events.  A name is looked for among
 * the software events (no PMU needed), then libpfm4, then perf's names, then
 * the PMUs of sysfs.  Whether this machine can open the event is left to the
 * one who attaches; the catalog tries one of each class.  Called through the
 * table of providers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "events/names.h"
#include "os/pmu_kinds.h"

static int	pmc_find(struct prof_names *names, struct prof_spec *spec,
		    struct prof_pmc *counter, struct prof_err *error);
static int	pmc_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);

const struct prof_provider prof_provider_pmc = {
	.pv_name = "pmc",
	.pv_resolve = pmc_resolve,
	.pv_list = prof_pmc_list,
};

static int
pmc_resolve(struct prof_names *names, const struct prof_spec *said,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_pmc counter;
	struct prof_spec spec = *said;	/* modes may be a unit mask */
	struct prof_event *event;
	char probe[PROF_SPEC_MAX + 32];
	bool is_clock;
	int rv;

	if (spec.sp_is_probe && (!prof_part_match(spec.sp_module, "") ||
	    !prof_part_match(spec.sp_function, "")))
		return (0);
	memset(&counter, 0, sizeof(counter));
	if ((rv = pmc_find(names, &spec, &counter, error)) != 1)
		return (rv);
	is_clock = counter.pc_type == PERF_TYPE_SOFTWARE &&
	    (counter.pc_config == PERF_COUNT_SW_CPU_CLOCK ||
	    counter.pc_config == PERF_COUNT_SW_TASK_CLOCK);
	snprintf(probe, sizeof(probe), "pmc:::%s", counter.pc_name);
	/* Both clocks fire by a timer, which may come late. */
	event = prof_event_new(spec.sp_whole, probe, is_clock ? "ns" : "events",
	    &prof_provider_pmc, is_clock ? &prof_instrument_clock :
	    &prof_instrument_counter);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_attr.type = counter.pc_type;
	event->ev_attr.config = counter.pc_config;
	event->ev_attr.config1 = counter.pc_config1;
	event->ev_attr.config2 = counter.pc_config2;
	event->ev_attr.exclude_user = counter.pc_exclude_user;
	event->ev_attr.exclude_kernel = counter.pc_exclude_kernel;
	event->ev_attr.exclude_hv = counter.pc_exclude_hv;
	event->ev_attr.precise_ip = (__u8)(counter.pc_precise & 3);
	if (prof_rate_choose(event, &spec, defaults, is_clock ?
	    PROF_PACE_CLOCK : counter.pc_type == PERF_TYPE_SOFTWARE ?
	    PROF_PACE_RARE : PROF_PACE_OFTEN, error) == -1 ||
	    prof_mods_set(event, &spec, defaults, error) == -1) {
		prof_event_free(event);
		return (-1);
	}
	if (prof_events_add(events, event) == -1)
		return (prof_fail_nomem(error));
	return (1);
}

static int
pmc_find(struct prof_names *names, struct prof_spec *spec,
    struct prof_pmc *counter, struct prof_err *error)
{
	char whole[PROF_SPEC_MAX];
	int rv;

	if (spec->sp_name[0] == '\0')
		return (0);
	if (prof_glob_is(spec->sp_name)) {
		if (strcmp(spec->sp_provider, "pmc") != 0)
			return (0);
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "'%s' is a pattern, but a hardware counter needs its full "
		    "name",
		    spec->sp_name);
		return (prof_cure(error, "list hardware counters with dtprof "
		    "list 'pmc:::%s'",
		    spec->sp_name));
	}
	/* A PMU's name wins when terms are given that only it understands. */
	if (spec->sp_nterms != 0 || (spec->sp_slashed &&
	    spec->sp_period == 0 && spec->sp_frequency == 0))
		if ((rv = prof_counter_sysfs(names, spec, counter, error)) != 0)
			return (rv);
	rv = prof_counter_software(spec->sp_name, counter);
	/* To libpfm4 a general name is one of the kinds of CPUs. */
	if (rv == 0 && prof_names_kinds(names)->ks_n > 1)
		rv = prof_counter_perf(spec->sp_name, counter);
	if (rv == 0)
		rv = prof_counter_pfm(names, spec->sp_name, counter, error);
	if (rv == 0)
		rv = prof_counter_perf(spec->sp_name, counter);
	/* What looked like our modifier may be a unit mask. */
	if (rv == 0 && spec->sp_mods[0] != '\0' && !spec->sp_slashed) {
		snprintf(whole, sizeof(whole), "%.*s:%s",
		    (int)(sizeof(whole) / 2), spec->sp_name, spec->sp_mods);
		rv = prof_counter_pfm(names, whole, counter, error);
		if (rv == 1)
			spec->sp_mods = "";
	}
	if (rv == 0 && spec->sp_nterms != 0) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN,
		    "no such PMU or event on this machine: '%s'",
		    spec->sp_name);
		return (prof_cure(error, "list the PMUs of this machine with "
		    "dtprof list 'pmc:::*/'"));
	}
	if (rv == 1 &&
	    prof_spec_no_terms(spec, counter->pc_name, error) == -1)
		return (-1);
	return (rv);
}
