/* SPDX-License-Identifier: ISC */
/*
 * The proc provider: process events (fork, exec, exit, comm).  It is
 * event 0 of every recording and cannot be chosen with -e: without it
 * samples could not be told apart.  The session makes that event itself; this
 * is called through the table of providers to say so.
 */
#include <string.h>

#include "base/error.h"
#include "events/names.h"

static int	proc_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);

const struct prof_provider prof_provider_proc = {
	.pv_name = "proc",
	.pv_resolve = proc_resolve,
};

static int
proc_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	(void)names;
	(void)defaults;
	(void)events;
	if (strcmp(spec->sp_is_probe ? spec->sp_provider : spec->sp_name,
	    "proc") != 0)
		return (0);
	prof_fail(error, PROF_E_EVENT_SYNTAX,
	    "proc (fork, exec, exit, comm) is part of every recording");
	return (prof_cure(error, "leave out -e %s; for the scheduler's "
	    "tracepoints use -e 'sched:sched_process_*'", spec->sp_whole));
}
