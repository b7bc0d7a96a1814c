/* SPDX-License-Identifier: ISC */
/*
 * Functions of the kernel: kprobe and fentry, they are entered, kretprobe and
 * fexit, they return.
 *
 *	kprobe:FUNCTION[/file->f_inode.i_ino,.../]
 *
 * Arguments are the function's, by name, and paths into them, by the kernel's
 * own types; at the return "ret", and with fexit the arguments as well.  A
 * glob makes an event of each function.  Called through the table of providers.
 */
#include <bpf/btf.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "events/names.h"

#define WHY_MAX	160

static const struct prof_provider *const functions[] = {
	&prof_provider_kprobe, &prof_provider_kretprobe,
	&prof_provider_fentry, &prof_provider_fexit,
};

static bool
is_return(const struct prof_provider *provider)
{
	return (provider == &prof_provider_kretprobe ||
	    provider == &prof_provider_fexit);
}

static struct prof_proto *
proto_open(struct prof_names *names, const struct prof_provider *provider,
    const char *function)
{
	return (prof_proto_of_function(names, function, is_return(provider),
	    provider != &prof_provider_kretprobe));
}

/* ------------------------------------------------------------- arguments */

/* Six at most are in registers. */
static size_t
args_most(const struct prof_proto *proto)
{
	const size_t n = prof_proto_nargs(proto);

	return (n < 6 ? n : 6);
}

/* The result first, then all that can be recorded. */
static uint32_t
args_all(const struct prof_proto *proto, struct prof_arg *args)
{
	char why[WHY_MAX];
	uint32_t nargs = 0;

	if (prof_proto_path(proto, "ret", &args[0], why, sizeof(why)) == 0)
		nargs++;
	for (size_t n = 0; n < args_most(proto) && nargs < DTP_MAX_ARGS; n++) {
		const char *name = prof_proto_arg_name(proto, n);

		if (name != NULL && prof_proto_path(proto, name, &args[nargs],
		    why, sizeof(why)) == 0)
			nargs++;
	}
	return (nargs);
}

static int
arg_add(struct prof_event *event, const struct prof_proto *proto,
    const char *path, struct prof_err *error)
{
	struct prof_arg *arg = &event->ev_args[event->ev_nargs];
	char why[WHY_MAX] = "this kernel has no types for it";

	if (proto == NULL || prof_proto_path(proto, path, arg, why,
	    sizeof(why)) == -1) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: no argument '%s': "
		    "%s", event->ev_name, path, why);
		return (prof_cure(error, "list its arguments with dtprof list "
		    "'%s'", event->ev_probe));
	}
	event->ev_nargs++;
	/* Beyond the sixth they are on the stack. */
	if (arg->ag_load.ar_index < 6 || arg->ag_load.ar_index == DTP_WORD_RET)
		return (0);
	return (prof_fail(error, PROF_E_EVENT_UNSUPPORTED,
	    "%s: '%s' is passed on the stack", event->ev_name, path));
}

static int
args_named(struct prof_event *event, const struct prof_proto *proto,
    const struct prof_spec *spec, struct prof_err *error)
{
	if (spec->sp_nterms > DTP_MAX_ARGS)
		return (prof_fail(error, PROF_E_LIMIT,
		    "%s: too many arguments: %zu (at most %d)", event->ev_name,
		    spec->sp_nterms, DTP_MAX_ARGS));
	for (size_t n = 0; n < spec->sp_nterms; n++)
		if (arg_add(event, spec->sp_term[n].st_value != NULL ? NULL :
		    proto, spec->sp_term[n].st_key, error) == -1)
			return (-1);
	return (0);
}

/* Those that the event's filter names, too. */
static int
args_used(struct prof_event *event, const struct prof_proto *proto,
    const struct prof_spec *spec, struct prof_err *error)
{
	for (size_t i = 0; i < spec->sp_nused; i++) {
		const uint32_t n = prof_event_arg(event, spec->sp_used[i]);

		if (n == DTP_MAX_ARGS)
			return (prof_fail(error, PROF_E_LIMIT, "%s: too many "
			    "arguments (at most %d)", event->ev_name,
			    DTP_MAX_ARGS));
		if (n == event->ev_nargs &&
		    arg_add(event, proto, spec->sp_used[i], error) == -1)
			return (-1);
	}
	return (0);
}

/* ---------------------------------------------------------------- naming */

static int
function_add(struct prof_names *names, const struct prof_provider *provider,
    const struct prof_spec *spec, const char *function,
    struct prof_events *events, struct prof_err *error)
{
	struct prof_proto *proto;
	struct prof_event *event;
	char probe[PROF_SPEC_MAX];
	int rv = 0;

	snprintf(probe, sizeof(probe), "%s:%.256s", provider->pv_name,
	    function);
	event = prof_event_new(prof_glob_is(spec->sp_function) ? probe :
	    spec->sp_whole, probe, "events", provider,
	    &prof_instrument_function);
	if (event == NULL || (event->ev_tracepoint = strdup(function)) ==
	    NULL) {
		prof_event_free(event);
		return (prof_fail_nomem(error));
	}
	event->ev_is_return = is_return(provider);
	proto = proto_open(names, provider, function);
	if (spec->sp_slashed)
		rv = args_named(event, proto, spec, error);
	else if (proto != NULL)
		event->ev_nargs = args_all(proto, event->ev_args);
	if (rv == 0)
		rv = args_used(event, proto, spec, error);
	prof_proto_close(proto);
	if (rv == -1) {
		prof_event_free(event);
		return (-1);
	}
	return (prof_events_add(events, event) == -1 ?
	    prof_fail_nomem(error) : 0);
}

/* The next function whose name matches, from *id on; NULL: there is none. */
static const char *
function_next(const struct btf *btf, const char *pattern, __u32 *id)
{
	for (; *id < btf__type_cnt(btf); ++*id) {
		const struct btf_type *type = btf__type_by_id(btf, *id);
		const char *name;

		if (!btf_is_func(type))
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		if (prof_glob_match(pattern, name)) {
			++*id;
			return (name);
		}
	}
	return (NULL);
}

static int
glob_add(struct prof_names *names, const struct prof_provider *provider,
    const struct prof_spec *spec, struct prof_events *events,
    struct prof_err *error)
{
	const struct btf *btf = prof_names_btf(names);
	const size_t before = events->el_n;
	const char *name;
	__u32 id = 1;

	while (btf != NULL && (name = function_next(btf, spec->sp_function,
	    &id)) != NULL) {
		if (events->el_n - before == PROF_GLOB_EVENTS) {
			prof_fail(error, PROF_E_LIMIT, "'%s' matches more "
			    "than %d functions", spec->sp_whole,
			    PROF_GLOB_EVENTS);
			return (prof_cure(error, "narrow the pattern; list "
			    "matches with dtprof list '%s'", spec->sp_whole));
		}
		if (function_add(names, provider, spec, name, events,
		    error) == -1)
			return (-1);
	}
	return (events->el_n > before);
}

static int
function_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	const struct prof_provider *provider = NULL;
	const char *why;

	(void)defaults;
	for (size_t n = 0; n < sizeof(functions) / sizeof(functions[0]); n++)
		if (strcmp(spec->sp_provider, functions[n]->pv_name) == 0)
			provider = functions[n];
	if (provider == NULL || spec->sp_function[0] == '\0')
		return (0);
	if (prof_spec_no_offset(spec, error) == -1)
		return (-1);
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: functions of "
		    "the kernel are not counted in groups", spec->sp_whole);
		return (prof_cure(error, "use dtprof stat -e %s",
		    spec->sp_whole));
	}
	if ((why = prof_function_why_not(provider)) != NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: %s",
		    spec->sp_whole, why);
		return (prof_cure(error, "use a tracepoint: dtprof list "
		    "'static:*'"));
	}
	if (prof_spec_no_rate(spec, "a probe", error) == -1)
		return (-1);
	if (prof_glob_is(spec->sp_function))
		return (glob_add(names, provider, spec, events, error));
	return (function_add(names, provider, spec, spec->sp_function, events,
	    error) == -1 ? -1 : 1);
}

/* --------------------------------------------------------------- listing */

static int
function_tell(struct prof_names *names, const struct prof_provider *provider,
    const char *function, prof_list_fn *fn, void *arg)
{
	struct prof_proto *proto = proto_open(names, provider, function);
	struct prof_arg args[DTP_MAX_ARGS] = { 0 };
	char name[PROF_SPEC_MAX];
	struct prof_probe probe = {
		.pp_probe = name,
		.pp_alias = "",
		.pp_desc = "",
		.pp_nargs = proto == NULL ? 0 : args_all(proto, args),
	};
	int rv;

	snprintf(name, sizeof(name), "%s:%.256s", provider->pv_name, function);
	for (uint32_t n = 0; n < probe.pp_nargs; n++) {
		probe.pp_arg_names[n] = args[n].ag_name;
		probe.pp_arg_types[n] = args[n].ag_type;
	}
	rv = fn(arg, &probe);
	for (uint32_t n = 0; n < probe.pp_nargs; n++)
		prof_arg_fini(&args[n]);
	prof_proto_close(proto);
	return (rv);
}

/* All of them are too many: those of a pattern. */
static int
functions_list(const struct prof_provider *provider, struct prof_names *names,
    prof_list_fn *fn, void *arg, const char **why)
{
	const size_t length = strlen(provider->pv_name);
	const char *wanted = names->nm_wanted, *name;
	const struct btf *btf;
	__u32 id = 1;
	int rv = 0;

	if (wanted == NULL ||
	    strncmp(wanted, provider->pv_name, length) != 0 ||
	    wanted[length] != ':')
		return (0);
	*why = prof_function_why_not(provider);
	if (*why != NULL || (btf = prof_names_btf(names)) == NULL)
		return (0);
	while (rv == 0 && (name = function_next(btf, wanted + length + 1,
	    &id)) != NULL)
		rv = function_tell(names, provider, name, fn, arg);
	return (rv);
}

#define FUNCTION_PROVIDER(name)						\
	static int							\
	name##_list(struct prof_names *names, prof_list_fn *fn,		\
	    void *arg, const char **why)				\
	{								\
		return (functions_list(&prof_provider_##name, names, fn, \
		    arg, why));						\
	}								\
									\
	const struct prof_provider prof_provider_##name = {		\
		.pv_name = #name,					\
		.pv_resolve = function_resolve,				\
		.pv_list = name##_list,					\
	}

FUNCTION_PROVIDER(kprobe);
FUNCTION_PROVIDER(kretprobe);
FUNCTION_PROVIDER(fentry);
FUNCTION_PROVIDER(fexit);
