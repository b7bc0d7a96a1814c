/* SPDX-License-Identifier: ISC */
/*
 * Time off the CPU: off-cpu[/min=1ms,walk=auto/].  A sample is the part of a
 * wait in one state, blocked or runnable; its weight is the time.  The event
 * lock[/min=1ms,walk=auto/] is off-cpu with a filter: waits for futexes alone.
 * Called through the table of providers; back ends use its instrument.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_object.h"
#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"
#include "events/provider/wait/reasons.h"

#include "prov_wait.skel.h"

#define PROBE	"off-cpu"
#define LOCK	"lock"
#define LOCK_FILTER	"reason == \"futex\""
#define MIN_NS	1000000
#define WALK	"auto"	/* see doc/PERFORMANCE.md, Waits */

/* In the order of sys/prov_wait.bpf.c; the last are of its object. */
#define NARGS	8
static const char *const arg_names[NARGS] = { "state", "prev_state", "reason",
    "waker", "waker_tid", "lock", "file", "holder" };
static const char *const arg_types[NARGS] = { "const char *", "unsigned int",
    "const char *", "const char *", "unsigned int", "const char *",
    "const char *", "const char *" };

PROF_PROGRAM(prov_wait);

/* The stack is walked when the wait begins: a copy would come too late. */
static void
wait_configure(const struct prof_event *event, struct dtp_config *cfg)
{
	cfg->dc_min_ns = event->ev_interval;
	cfg->dc_interval = event->ev_step;
	cfg->dc_snap_bytes = 0;
	cfg->dc_snap_mode = DTP_SNAP_DOUBT;
	prof_wait_reasons(cfg->dc_call);
}

static const struct prof_instrument waits = {
	.im_has_weight = true,
	.im_is_of_next = true,
	.im_has_switches = true,
	.im_has_object = true,
	.im_program = &prof_program_prov_wait,
	.im_at_end = "each_wait",
	.im_configure = wait_configure,
};

static int
spec_refuse(struct prof_err *error, const char *name, const char *what,
    const char *value)
{
	prof_fail(error, PROF_E_EVENT_SYNTAX, "%s: %s '%s'", name, what, value);
	return (prof_cure(error, "use %s, %s/min=TIME/ or %s/walk=N/, e.g. "
	    "%s/min=100us,walk=8/", name, name, name, name));
}

static int
min_take(uint64_t *min_ns, const char *name, const char *value,
    struct prof_err *error)
{
	uint64_t hz;

	if (!prof_parse_interval(value, min_ns, &hz) ||
	    (hz != 0 || value[strspn(value, "0123456789")] == '\0'))
		return (spec_refuse(error, name, "invalid time", value));
	return (0);
}

/* A power of two, as its exponent. */
static int
walk_take(uint32_t *step, const char *name, const char *value,
    struct prof_err *error)
{
	uint64_t n;

	*step = DTP_WALK_PACED;
	if (strcmp(value, WALK) == 0)
		return (0);
	if (!prof_parse_u64(value, &n))
		return (spec_refuse(error, name, "invalid number", value));
	for (*step = 0; n != 1ULL << *step; (*step)++)
		if (*step == DTP_WALK_STEPS)
			return (spec_refuse(error, name, "no power of two up "
			    "to 65536:", value));
	return (0);
}

static int
terms_take(const struct prof_spec *spec, uint64_t *min_ns, uint32_t *step,
    struct prof_err *error)
{
	*min_ns = MIN_NS;
	*step = DTP_WALK_PACED;
	if (prof_spec_no_rate(spec, spec->sp_name, error) == -1)
		return (-1);
	for (size_t n = 0; n < spec->sp_nterms; n++) {
		const struct prof_term *term = &spec->sp_term[n];
		const char *value = term->st_value == NULL ? "" :
		    term->st_value;

		if (strcmp(term->st_key, "min") == 0) {
			if (min_take(min_ns, spec->sp_name, value,
			    error) == -1)
				return (-1);
		} else if (strcmp(term->st_key, "walk") == 0) {
			if (walk_take(step, spec->sp_name, value,
			    error) == -1)
				return (-1);
		} else {
			return (spec_refuse(error, spec->sp_name, "no "
			    "setting", term->st_key));
		}
	}
	return (0);
}

static int
args_add(struct prof_event *event)
{
	for (uint32_t n = 0; n < NARGS; n++) {
		struct prof_arg *arg = &event->ev_args[event->ev_nargs++];

		arg->ag_name = strdup(arg_names[n]);
		arg->ag_type = strdup(arg_types[n]);
		arg->ag_is_later = n >= NARGS - DTP_OBJECT_ARGS;
		arg->ag_load.ar_kind = strchr(arg_types[n], '*') != NULL &&
		    !arg->ag_is_later ? DTP_A_STR : DTP_A_INT;
		arg->ag_load.ar_size = 4;
		if (arg->ag_name == NULL || arg->ag_type == NULL)
			return (-1);
	}
	return (0);
}

/* It has a filter already, and an event has one. */
static int
lock_check(const struct prof_spec *spec, struct prof_err *error)
{
	if (spec->sp_filter == NULL)
		return (0);
	prof_fail(error, PROF_E_EVENT_SYNTAX, LOCK ": a filter in braces");
	return (prof_cure(error, "use " PROBE "{" LOCK_FILTER " && %s}",
	    spec->sp_filter));
}

static int
wait_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_event *event;
	uint64_t min_ns;
	const bool is_lock = strcmp(spec->sp_name, LOCK) == 0;
	uint32_t step;

	(void)defaults;
	if (spec->sp_is_probe || (!is_lock && strcmp(spec->sp_name, PROBE) !=
	    0))
		return (0);
	if (terms_take(spec, &min_ns, &step, error) == -1 ||
	    (is_lock && lock_check(spec, error) == -1))
		return (-1);
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, PROBE ": waits are "
		    "recorded, not counted");
		return (prof_cure(error, "use dtprof record --off-cpu"));
	}
	event = prof_event_new(spec->sp_whole, PROBE, "ns",
	    &prof_provider_wait, &waits);
	if (event == NULL)
		return (prof_fail_nomem(error));
	event->ev_interval = min_ns;
	event->ev_step = step;
	if (is_lock)
		event->ev_expression = strdup(LOCK_FILTER);
	if (args_add(event) == -1 ||
	    (is_lock && event->ev_expression == NULL)) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	return (prof_events_add(events, event) == -1 ? prof_fail_nomem(error) :
	    1);
}

static int
wait_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	struct prof_probe probe = {
		.pp_probe = PROBE,
		.pp_alias = "",
		.pp_desc = "time in which a thread is blocked, or waits for a "
		    "CPU",
		.pp_nargs = NARGS,
	};

	(void)why;
	memcpy(probe.pp_arg_names, arg_names, sizeof(arg_names));
	memcpy(probe.pp_arg_types, arg_types, sizeof(arg_types));
	return (prof_listing_wants(names, probe.pp_probe, "") ?
	    fn(arg, &probe) : 0);
}

const struct prof_provider prof_provider_wait = {
	.pv_name = "wait",
	.pv_resolve = wait_resolve,
	.pv_list = wait_list,
};
