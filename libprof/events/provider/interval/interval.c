/* SPDX-License-Identifier: ISC */
/*
 * The interval provider: a tick on one CPU, for rows of a table over time:
 * interval:::1s.  The first CPU ticks unless the session records others.
 * Made of the same timer as profile.  Called through the table of providers.
 */
#include <stdlib.h>

#include "events/names.h"
#include "os/cpus.h"

static int	interval_list(struct prof_names *names, prof_list_fn *fn,
		    void *arg, const char **why);
static int	interval_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);

const struct prof_provider prof_provider_interval = {
	.pv_name = "interval",
	.pv_resolve = interval_resolve,
	.pv_list = interval_list,
};

static int
interval_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_event *event;
	size_t ncpus;
	int *cpus, rv;

	rv = prof_timer_resolve(&prof_provider_interval, spec, defaults,
	    events, error);
	if (rv != 1)
		return (rv);
	event = events->el_event[events->el_n - 1];
	event->ev_cpu = 0;
	if (!names->nm_offline) {
		if (prof_cpus_online(&cpus, &ncpus, error) == -1)
			return (-1);
		event->ev_cpu = ncpus != 0 ? cpus[0] : 0;
		free(cpus);
	}
	return (1);
}

static int
interval_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	static const struct prof_probe probe = {
		.pp_probe = "interval:::1s",
		.pp_alias = "",
		.pp_desc = "timer on one CPU, with an interval (at least 10us) "
		    "or a rate",
	};

	(void)why;
	return (prof_listing_wants(names, probe.pp_probe, "") ?
	    fn(arg, &probe) : 0);
}
