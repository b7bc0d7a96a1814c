/* SPDX-License-Identifier: ISC */
/*
 * The static provider: every tracepoint of the kernel, by raw tracepoint.
 * sched:sched_switch as perf writes it, static:sched::sched_switch as a
 * probe, globs in both; between slashes the arguments that are wanted:
 *
 *	sched:sched_switch/prev.pid,next.comm/
 *
 * where . is -> for shells.  Without that, the fields of the event's format
 * that the checked table (fields.c) can express, else all
 * numbers, pointers and texts of the prototype.  Called through the table of
 * providers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "events/names.h"

#define WHY_MAX	160

static int	static_resolve(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
static bool	static_wanted(const struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_tracepoint *tp);
static int	static_add(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_tracepoint *tp,
		    struct prof_events *events, struct prof_err *error);
static int	static_named_args(struct prof_event *event,
		    const struct prof_proto *proto,
		    const struct prof_spec *spec, struct prof_err *error);
static int	static_named_arg(struct prof_event *event,
		    const struct prof_proto *proto, const char *word,
		    struct prof_err *error);

const struct prof_provider prof_provider_static = {
	.pv_name = "static",
	.pv_resolve = static_resolve,
	.pv_list = prof_static_list,
};

static int
static_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	const struct prof_tracepoint *tps;
	size_t ntps, found = 0;

	(void)defaults;
	if (spec->sp_is_probe ? !prof_part_match(spec->sp_function, "") :
	    strchr(spec->sp_name, ':') == NULL)
		return (0);
	tps = prof_tracepoints(names, &ntps);
	for (size_t n = 0; n < ntps; n++)
		found += static_wanted(names, spec, &tps[n]);
	if (found == 0)
		return (0);
	if (found > PROF_GLOB_EVENTS) {
		prof_fail(error, PROF_E_LIMIT,
		    "'%s' matches %zu tracepoints (at most %d)", spec->sp_whole,
		    found, PROF_GLOB_EVENTS);
		return (prof_cure(error, "narrow the pattern; list matches "
		    "with dtprof list '%s'", spec->sp_whole));
	}
	if (prof_spec_no_rate(spec, "a tracepoint", error) == -1)
		return (-1);
	for (size_t n = 0; n < ntps; n++)
		if (static_wanted(names, spec, &tps[n]) &&
		    static_add(names, spec, &tps[n], events, error) == -1)
			return (-1);
	return (1);
}

static bool
static_wanted(const struct prof_names *names, const struct prof_spec *spec,
    const struct prof_tracepoint *tp)
{
	const char *name = spec->sp_name, *colon;
	char group[128];

	if (spec->sp_is_probe)
		return (prof_part_match(spec->sp_module, tp->tp_group) &&
		    prof_part_match(name, tp->tp_name));
	colon = strchr(name, ':');
	if ((size_t)(colon - name) >= sizeof(group) || colon[1] == '\0')
		return (false);
	memcpy(group, name, (size_t)(colon - name));
	group[colon - name] = '\0';
	/* Where tracefs cannot be had the group must be believed. */
	if (tp->tp_group[0] == '\0' && names->nm_tracefs == -1)
		return (strcmp(colon + 1, tp->tp_name) == 0);
	return (group[0] != '\0' && prof_part_match(group, tp->tp_group) &&
	    prof_part_match(colon + 1, tp->tp_name));
}

static int
static_add(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_tracepoint *tp, struct prof_events *events,
    struct prof_err *error)
{
	const char *text = spec->sp_whole;
	struct prof_proto *proto;
	struct prof_event *event;
	char probe[512], name[512];
	int rv = 0;

	snprintf(probe, sizeof(probe), "static:%s::%s", tp->tp_group,
	    tp->tp_name);
	/* Each of many gets its own name. */
	if (prof_glob_is(text) || spec->sp_name[0] == '\0') {
		snprintf(name, sizeof(name), "%s:%s", tp->tp_group,
		    tp->tp_name);
		text = tp->tp_group[0] == '\0' ? probe : name;
	}
	event = prof_event_new(text, probe, "events", &prof_provider_static,
	    strcmp(tp->tp_name, "sched_process_free") == 0 ?
	    &prof_instrument_reaped : &prof_instrument_tracepoint);
	if (event == NULL ||
	    (event->ev_tracepoint = strdup(tp->tp_name)) == NULL) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	if (spec->sp_nterms != 0) {
		proto = prof_proto_open(names, tp->tp_name);
		rv = static_named_args(event, proto, spec, error);
		prof_proto_close(proto);
	} else
		event->ev_nargs = prof_static_args(names, tp, event->ev_args,
		    NULL, 0);
	if (rv == -1) {
		prof_event_free(event);
		return (-1);
	}
	if (prof_events_add(events, event) == -1)
		return (prof_fail_nomem(error));
	return (0);
}

/* The user said which. */
static int
static_named_args(struct prof_event *event, const struct prof_proto *proto,
    const struct prof_spec *spec, struct prof_err *error)
{
	if (proto == NULL)
		return (prof_fail(error, PROF_E_EVENT_UNSUPPORTED,
		    "%s: this kernel has no type information (BTF) of the "
		    "arguments",
		    event->ev_probe));
	if (spec->sp_nterms > DTP_MAX_ARGS) {
		prof_fail(error, PROF_E_LIMIT,
		    "%s: too many arguments: %zu (at most %d)", event->ev_probe,
		    spec->sp_nterms, DTP_MAX_ARGS);
		return (prof_cure(error, "use fewer arguments"));
	}
	for (size_t n = 0; n < spec->sp_nterms; n++) {
		const struct prof_term *term = &spec->sp_term[n];

		if (term->st_value != NULL) {
			prof_fail(error, PROF_E_EVENT_SYNTAX,
			    "%s: tracepoints have no setting '%s'",
			    event->ev_probe, term->st_key);
			return (prof_cure(error, "put the arguments between "
			    "slashes: sched:sched_switch/prev.pid,next.pid/"
			    ));
		}
		if (static_named_arg(event, proto, term->st_key,
		    error) == -1)
			return (-1);
	}
	return (0);
}

/* A field of the format by the table, else a path. */
static int
static_named_arg(struct prof_event *event, const struct prof_proto *proto,
    const char *word, struct prof_err *error)
{
	struct prof_arg *arg = &event->ev_args[event->ev_nargs];
	const struct prof_field *field;
	const char *reason = NULL;
	char why[WHY_MAX];
	int rv = -1;

	for (size_t n = 0; rv == -1 &&
	    (field = prof_field_at(event->ev_tracepoint, n)) != NULL; n++) {
		if (strcmp(field->fd_field, word) != 0)
			continue;
		if (field->fd_path == NULL)
			reason = field->fd_why;
		else
			rv = prof_proto_path(proto, field->fd_path, arg, why,
			    sizeof(why));
	}
	if (rv == -1 &&
	    prof_proto_path(proto, word, arg, why, sizeof(why)) == -1) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN,
		    "%s: no argument '%s': %s", event->ev_probe, word,
		    reason != NULL ? reason : why);
		return (prof_cure(error, "list the arguments of the tracepoint "
		    "with dtprof list '%s'",
		    event->ev_probe));
	}
	event->ev_nargs++;
	free(arg->ag_name);
	if ((arg->ag_name = strdup(word)) == NULL)
		return (prof_fail_nomem(error));
	return (0);
}
