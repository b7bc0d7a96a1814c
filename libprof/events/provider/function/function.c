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
	char why[WHY_MAX] = "this kernel has no type information (BTF) of the "
	    "function";

	if (proto == NULL || prof_proto_path(proto, path, arg, why,
	    sizeof(why)) == -1) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: no argument '%s': "
		    "%s", event->ev_name, path, why);
		return (prof_cure(error, "list the arguments of the function "
		    "with dtprof list '%s'", event->ev_probe));
	}
	event->ev_nargs++;
	/* Beyond the sixth they are on the stack. */
	if (arg->ag_load.ar_index < 6 || arg->ag_load.ar_index == DTP_WORD_RET)
		return (0);
	return (prof_fail(error, PROF_E_EVENT_UNSUPPORTED,
	    "%s: argument '%s' is passed on the stack, not in a register",
	    event->ev_name, path));
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

/* ----------------------------------------------------- which functions */

/*
 * How many functions of that name the kernel can trace, by its own list; -1:
 * it shows none.  Types are those of the kernel without modules, whose
 * functions a name alone means, too.
 */
static int
traceable_count(struct prof_names *names, const struct prof_provider *provider,
    const char *function)
{
	const char *ends = provider == &prof_provider_fentry ||
	    provider == &prof_provider_fexit ? "\n" : " \t\n";
	const char *list = prof_names_traceable(names);
	const size_t length = strlen(function);
	int n = 0;

	if (list == NULL)
		return (-1);
	for (const char *at = list; (at = strstr(at, function)) != NULL;
	    at += length)
		n += (at == list || at[-1] == '\n') &&
		    strchr(ends, at[length]) != NULL;
	return (n);
}

/* One of them would be probed, and nobody could say which. */
static int
check_one(struct prof_names *names, const struct prof_provider *provider,
    const struct prof_spec *spec, struct prof_err *error)
{
	const int n = traceable_count(names, provider, spec->sp_function);

	if (n < 2)
		return (0);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: the kernel has %d "
	    "functions with this name, in different source files",
	    spec->sp_whole, n);
	return (prof_cure(error, "use a function that calls this function, or "
	    "a tracepoint"));
}

/* ---------------------------------------------------------------- naming */

static int
function_add(struct prof_names *names, const struct prof_provider *provider,
    const struct prof_spec *spec, const char *function,
    struct prof_events *events, struct prof_err *error)
{
	const bool is_glob = prof_glob_is(spec->sp_function);
	struct prof_proto *proto;
	struct prof_event *event;
	char probe[PROF_SPEC_MAX];
	int rv = 0;

	snprintf(probe, sizeof(probe), "%s:%.256s", provider->pv_name,
	    function);
	event = prof_event_new(is_glob ? probe : spec->sp_whole, probe,
	    "events", provider, &prof_instrument_function);
	if (event == NULL ||
	    (event->ev_tracepoint = strdup(function)) == NULL || (is_glob &&
	    (event->ev_pattern = strdup(spec->sp_whole)) == NULL)) {
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

/* Functions whose names match, each name once. */
struct matches {
	const struct btf *ma_btf;
	const char	*ma_pattern;
	__u32		 ma_id;
	bool		*ma_seen;	/* by where the name is */
};

/* -1: no memory. */
static int
matches_begin(struct matches *matches, struct prof_names *names,
    const char *pattern)
{
	const struct btf *btf = prof_names_btf(names);
	__u32 size = 0;

	*matches = (struct matches){ .ma_pattern = pattern };
	if (btf == NULL)
		return (0);
	matches->ma_btf = btf;
	(void)btf__raw_data(btf, &size);
	matches->ma_seen = calloc(size + 1u, sizeof(*matches->ma_seen));
	return (matches->ma_seen == NULL ? -1 : 0);
}

/* NULL: there is none left. */
static const char *
function_next(struct matches *matches)
{
	const struct btf *btf = matches->ma_btf;

	while (btf != NULL && ++matches->ma_id < btf__type_cnt(btf)) {
		const struct btf_type *type = btf__type_by_id(btf,
		    matches->ma_id);
		const char *name;

		if (!btf_is_func(type) || matches->ma_seen[type->name_off])
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		matches->ma_seen[type->name_off] = true;
		if (prof_glob_match(matches->ma_pattern, name))
			return (name);
	}
	return (NULL);
}

/* Does the kernel trace it, and only it?  Else the pattern leaves it out. */
static bool
glob_takes(struct prof_left *left, struct prof_names *names,
    const struct prof_provider *provider, const char *name)
{
	const int n = traceable_count(names, provider, name);

	if (n == 0)
		prof_left_out(left, "the kernel does not trace the function");
	if (n > 1)
		prof_left_out(left, "several kernel functions have this name");
	return (n == 1 || n == -1);
}

static int
matches_add(struct matches *matches, struct prof_names *names,
    const struct prof_provider *provider, const struct prof_spec *spec,
    struct prof_events *events, struct prof_err *error)
{
	const size_t before = events->el_n;
	struct prof_left left = { 0 };
	const char *name;

	while ((name = function_next(matches)) != NULL) {
		if (!glob_takes(&left, names, provider, name))
			continue;
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
	return (prof_left_say(&left, names, spec, events->el_n - before,
	    error) == -1 ? -1 : events->el_n > before);
}

/* Without that list functions are probed that the kernel may refuse. */
static int
unchecked_say(struct prof_names *names, const struct prof_spec *spec,
    struct prof_err *error)
{
	char text[PROF_SPEC_MAX + 160];

	if (names->nm_note == NULL || prof_names_traceable(names) != NULL)
		return (0);
	snprintf(text, sizeof(text), "%s: matches are not checked: dtprof "
	    "cannot read which functions the kernel traces "
	    "(available_filter_functions of tracefs)", spec->sp_whole);
	return (names->nm_note(names->nm_sites_arg, text) == -1 ?
	    prof_fail_nomem(error) : 0);
}

static int
glob_add(struct prof_names *names, const struct prof_provider *provider,
    const struct prof_spec *spec, struct prof_events *events,
    struct prof_err *error)
{
	struct matches matches;
	int rv;

	if (matches_begin(&matches, names, spec->sp_function) == -1)
		return (prof_fail_nomem(error));
	rv = matches_add(&matches, names, provider, spec, events, error);
	free(matches.ma_seen);
	return (rv == 1 && unchecked_say(names, spec, error) == -1 ? -1 : rv);
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
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: kernel "
		    "functions cannot be counted in groups", spec->sp_whole);
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
	return (check_one(names, provider, spec, error) == -1 ||
	    function_add(names, provider, spec, spec->sp_function, events,
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
	struct matches matches;
	int rv;

	if (wanted == NULL ||
	    strncmp(wanted, provider->pv_name, length) != 0 ||
	    wanted[length] != ':')
		return (0);
	*why = prof_function_why_not(provider);
	if (*why != NULL)
		return (0);
	rv = matches_begin(&matches, names, wanted + length + 1);
	while (rv == 0 && (name = function_next(&matches)) != NULL)
		rv = function_tell(names, provider, name, fn, arg);
	free(matches.ma_seen);
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
