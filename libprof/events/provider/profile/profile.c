/* SPDX-License-Identifier: ISC */
/*
 * The profile provider: a timer on every CPU, at a rate or a period, that
 * samples whatever runs: profile:::997hz, profile:::10ms.  The timer is
 * perf's cpu-clock, so that it works without a PMU and counts time that the
 * CPU is busy for the target.  Called through the table of providers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"

static int	profile_list(struct prof_names *names, prof_list_fn *fn,
		    void *arg, const char **why);
static int	profile_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);

const struct prof_provider prof_provider_profile = {
	.pv_name = "profile",
	.pv_resolve = profile_resolve,
	.pv_list = profile_list,
};

static int
profile_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	(void)names;
	return (prof_timer_resolve(&prof_provider_profile, spec, defaults,
	    events, error));
}

/*
 * Also what interval is made of.  A timer's name is its rate, so an empty or
 * a glob provider never means one.
 */
int
prof_timer_resolve(const struct prof_provider *provider,
    const struct prof_spec *spec, const struct prof_event_defaults *defaults,
    struct prof_events *events, struct prof_err *error)
{
	struct prof_spec timer = *spec;
	struct prof_event *event;
	char probe[PROF_SPEC_MAX + 16];
	uint64_t ns, hz;

	if (!spec->sp_is_probe ||
	    strcmp(spec->sp_provider, provider->pv_name) != 0)
		return (0);
	snprintf(probe, sizeof(probe), "%s:::%s", provider->pv_name,
	    spec->sp_name);
	if (prof_spec_no_terms(spec, provider->pv_name, error) == -1)
		return (-1);
	event = prof_event_new(spec->sp_whole, probe, "ns", provider,
	    &prof_instrument_timer);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_attr.type = PERF_TYPE_SOFTWARE;
	event->ev_attr.config = PERF_COUNT_SW_CPU_CLOCK;
	if (spec->sp_name[0] != '\0') {
		if (!prof_parse_interval(spec->sp_name, &ns, &hz) ||
		    (ns == 0 && hz == 0)) {
			prof_fail(error, PROF_E_EVENT_SYNTAX,
			    "%s: '%s' is neither a rate nor an interval",
			    spec->sp_whole, spec->sp_name);
			prof_cure(error, "use for example %s:::997hz or "
			    "%s:::10ms", provider->pv_name,
			    provider->pv_name);
			goto fail;
		}
		timer.sp_period = ns;
		timer.sp_frequency = hz;
	}
	if (prof_rate_choose(event, &timer, defaults, PROF_PACE_CLOCK,
	    error) == -1 || prof_mods_set(event, spec, defaults, error) == -1)
		goto fail;
	if (prof_events_add(events, event) == -1)
		return (prof_fail_nomem(error));
	return (1);
fail:
	prof_event_free(event);
	return (-1);
}

static int
profile_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	static const struct prof_probe probe = {
		.pp_probe = "profile:::997hz",
		.pp_alias = "",
		.pp_desc = "timer on each CPU, with a rate (997hz) or an "
		    "interval (10ms, at least 10us)",
	};

	(void)why;
	return (prof_listing_wants(names, probe.pp_probe, "") ?
	    fn(arg, &probe) : 0);
}
