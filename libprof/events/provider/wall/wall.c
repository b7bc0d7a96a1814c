/* SPDX-License-Identifier: ISC */
/*
 * Wall-clock time: wall[/freq=19/].  A sample is a thread at a pass over all
 * threads; its weight is the time since the pass before.  Called through the
 * table of providers; back ends use its instrument.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"
#include "events/provider/wait/reasons.h"

#include "prov_wall.skel.h"

#define PROBE		"wall"
#define FREQUENCY	19
#define MAX_FREQUENCY	1000
#define SECOND_NS	1000000000ULL

/* In the order of sys/prov_wall.bpf.c. */
#define NARGS	2
static const char *const arg_names[NARGS] = { "state", "reason" };
#define TEXT	"const char *"

PROF_PROGRAM(prov_wall);

/* A stack is copied only in the context of its own task. */
static void
wall_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	(void)event;
	cfg->dc_snap_bytes = 0;
	cfg->dc_snap_mode = DTP_SNAP_DOUBT;
	prof_wait_reasons(cfg->dc_call);
}

/* So the verifier refuses it; what else fails has other cures. */
static int
wall_explain(const struct prof_event *event, int error_number,
    struct prof_err *error)
{
	if (error_number != EINVAL && error_number != EACCES &&
	    error_number != E2BIG)
		return (0);
	prof_fail(error, PROF_E_KERNEL, "%s: this kernel refuses the BPF "
	    "program that reads threads", event->ev_name);
	return (prof_cure(error, "use dtprof record --off-cpu, or a newer "
	    "kernel"));
}

static const struct prof_instrument wall = {
	.im_has_weight = true,
	.im_is_of_next = true,
	.im_program = &prof_program_prov_wall,
	.im_pass = "each_wall",
	.im_at_end = "each_wall",
	.im_configure = wall_configure,
	.im_explain = wall_explain,
};

static int
spec_check(const struct prof_spec *spec, struct prof_err *error)
{
	struct prof_spec rest = *spec;

	if (spec->sp_nterms > 0 || spec->sp_period != 0)
		prof_fail(error, PROF_E_EVENT_SYNTAX, PROBE ": a wall event "
		    "has no setting '%s'", spec->sp_nterms > 0 ?
		    spec->sp_term[0].st_key : "period");
	else if (spec->sp_frequency > MAX_FREQUENCY)
		prof_fail(error, PROF_E_EVENT_SYNTAX, PROBE ": invalid "
		    "frequency '%llu'",
		    (unsigned long long)spec->sp_frequency);
	else {
		rest.sp_frequency = 0;
		return (prof_spec_no_rate(&rest, PROBE, error));
	}
	return (prof_cure(error, "use " PROBE " or " PROBE "/freq=HZ/, with "
	    "HZ from 1 to %d", MAX_FREQUENCY));
}

static int
args_add(struct prof_event *event)
{
	for (uint32_t n = 0; n < NARGS; n++) {
		struct prof_arg *arg = &event->ev_args[event->ev_nargs++];

		arg->ag_name = strdup(arg_names[n]);
		arg->ag_type = strdup(TEXT);
		arg->ag_load.ar_kind = DTP_A_STR;
		if (arg->ag_name == NULL || arg->ag_type == NULL)
			return (-1);
	}
	return (0);
}

static int
wall_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_event *event;

	(void)defaults;
	if (spec->sp_is_probe || strcmp(spec->sp_name, PROBE) != 0)
		return (0);
	if (spec_check(spec, error) == -1)
		return (-1);
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, PROBE ": wall-clock "
		    "time is recorded, not counted");
		return (prof_cure(error, "use dtprof record --wall"));
	}
	event = prof_event_new(spec->sp_whole, PROBE, "ns",
	    &prof_provider_wall, &wall);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_interval = SECOND_NS / (spec->sp_frequency != 0 ?
	    spec->sp_frequency : FREQUENCY);
	if (args_add(event) == -1) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	return (prof_events_add(events, event) == -1 ? prof_fail_nomem(error) :
	    1);
}

static int
wall_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	static const struct prof_probe probe = {
		.pp_probe = PROBE,
		.pp_alias = "",
		.pp_desc = "wall-clock time of each thread, by its state",
		.pp_nargs = NARGS,
		.pp_arg_names = { "state", "reason" },
		.pp_arg_types = { TEXT, TEXT },
	};

	(void)why;
	return (prof_listing_wants(names, probe.pp_probe, "") ?
	    fn(arg, &probe) : 0);
}

const struct prof_provider prof_provider_wall = {
	.pv_name = "wall",
	.pv_resolve = wall_resolve,
	.pv_list = wall_list,
};
