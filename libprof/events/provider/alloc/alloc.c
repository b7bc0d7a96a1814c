/* SPDX-License-Identifier: ISC */
/*
 * Allocations of memory: alloc[/interval=512K/].
 *
 * A program that samples its allocations itself has the probes
 * otel_memory:alloc(pointer, bytes) and otel_memory:free(pointer), which are
 * recorded.  A command has them, since it loads sys/preload/alloc.c first; a
 * process may have them.  In any other process the functions of the allocator
 * are probed (functions.c), and what is freed is not known.
 *
 * There is an event for allocations, and one for frees, which is only used to
 * find what is still held.  Called through the table of providers.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_impl.h"
#include "base/error.h"
#include "base/text.h"
#include "events/instrument.h"

#define PRELOAD		"dtprof-alloc.so"
#define INTERVAL	(512u << 10)
#define INTERVAL_MAX	(1u << 30)
#define CONTRACT	"otel_memory"

static int
spec_refuse(struct prof_err *error, const char *what, const char *value)
{
	prof_fail(error, PROF_E_EVENT_SYNTAX, "alloc: %s '%s'", what, value);
	return (prof_cure(error, "use alloc or alloc/interval=SIZE/ with "
	    "a SIZE from 1 to 1G, e.g. alloc/interval=64K/"));
}

/* "64K"; 0: it is none, or out of range. */
static uint64_t
size_parse(const char *text)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	uint64_t bytes;

	if (*text < '0' || *text > '9')
		return (0);
	bytes = strtoull(text, &end, 10);
	if (bytes == 0 || bytes > INTERVAL_MAX)
		return (0);
	if (*end != '\0' && (unit = strchr(units, *end)) != NULL) {
		bytes <<= 10 * (unit - units + 1);
		end++;
	}
	return (*end == '\0' && bytes <= INTERVAL_MAX ? bytes : 0);
}

/* 0: not said. */
static int
interval_of(const struct prof_spec *spec, uint64_t *interval,
    struct prof_err *error)
{
	*interval = 0;
	if (spec->sp_mods[0] != '\0')
		return (spec_refuse(error, "no modifiers", spec->sp_mods));
	if (prof_spec_no_rate(spec, "alloc", error) == -1)
		return (-1);
	for (size_t n = 0; n < spec->sp_nterms; n++) {
		const struct prof_term *term = &spec->sp_term[n];

		if (strcmp(term->st_key, "interval") != 0)
			return (spec_refuse(error, "an alloc event "
			    "has no setting", term->st_key));
		if (term->st_value == NULL ||
		    (*interval = size_parse(term->st_value)) == 0)
			return (spec_refuse(error, "invalid interval",
			    term->st_value == NULL ? "" : term->st_value));
	}
	return (0);
}

/* Beside the program that runs, or where it is installed. */
static int
preload_find(char path[PATH_MAX], struct prof_err *error)
{
	static const char *const places[] = { "", "../lib/dtprof/" };
	char own[PATH_MAX / 2], *slash;
	const ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n < 0 ? 0 : n] = '\0';
	if ((slash = strrchr(own, '/')) != NULL)
		slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char near[PATH_MAX];

		snprintf(near, sizeof(near), "%s%s%s", own, places[i],
		    PRELOAD);
		/* The loader takes blanks and colons for ends of names. */
		if (realpath(near, path) != NULL && strpbrk(path, " :") ==
		    NULL)
			return (0);
	}
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: cannot use "
	    "library %s: the library is neither beside dtprof nor in "
	    "../lib/dtprof, or its path contains a blank or colon",
	    PRELOAD);
	return (prof_cure(error, "install dtprof again"));
}

/* The file of a process that has these probes; 1, or 0: none has them. */
static int
contract_find(struct prof_names *names, char path[PATH_MAX],
    struct prof_err *error)
{
	const struct prof_sites_want want = { .sw_kind = PROF_SITE_STATIC,
	    .sw_pattern = CONTRACT ":alloc" };
	struct prof_binaries binaries;
	struct prof_sites sites;
	struct prof_err why;
	int rv = 0;

	if (prof_binaries_find(names, "*", &binaries, error) == -1)
		return (-1);
	for (size_t n = 0; n < binaries.bs_n && rv == 0; n++) {
		/* Of what is no program nothing can be read. */
		if (prof_binary_sites(names, &binaries.bs_binary[n], &want,
		    &sites, &why) == -1)
			continue;
		rv = sites.st_n > 0;
		snprintf(path, PATH_MAX, "%s", binaries.bs_binary[n].bi_path);
		prof_sites_free(&sites);
	}
	prof_binaries_free(&binaries);
	return (rv);
}

/* Now it is one of ours. */
static int
event_take(struct prof_event *event, const char *name, const char *unit,
    struct prof_err *error)
{
	char *own_name = strdup(name), *own_unit = strdup(unit);

	if (own_name == NULL || own_unit == NULL) {
		free(own_name);
		free(own_unit);
		return (prof_fail_nomem(error));
	}
	free(event->ev_name);
	free(event->ev_unit);
	event->ev_name = own_name;
	event->ev_unit = own_unit;
	event->ev_provider = &prof_provider_alloc;
	return (0);
}

static int
args_name(struct prof_event *event, struct prof_err *error)
{
	static const char *const words[] = { "ptr", "bytes" };

	for (uint32_t n = 0; n < event->ev_nargs; n++) {
		char *own = n < 2 ? strdup(words[n]) : NULL;

		if (own == NULL)
			return (prof_fail_nomem(error));
		free(event->ev_args[n].ag_name);
		event->ev_args[n].ag_name = own;
	}
	return (0);
}

/* The probe of that name, with so many arguments. */
static struct prof_event *
contract_event(struct prof_names *names, const char *path, const char *probe,
    uint32_t nargs, struct prof_events *events, struct prof_err *error)
{
	const struct prof_event_defaults defaults = { 0 };
	char text[PATH_MAX + 64];
	struct prof_spec spec;
	struct prof_event *event;

	snprintf(text, sizeof(text), "usdt:\"%s\":" CONTRACT ":%s", path,
	    probe);
	if (prof_spec_parse(&spec, text, error) == -1 ||
	    prof_provider_usdt.pv_resolve(names, &spec, &defaults, events,
	    error) == -1)
		return (NULL);
	event = events->el_event[events->el_n - 1];
	if (event->ev_nargs == nargs)
		return (event);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: the probe "
	    CONTRACT ":%s of %s has %u arguments, not %u", probe, path,
	    event->ev_nargs, nargs);
	prof_cure(error, "probe the functions of the process's allocator: "
	    "uprobe:FILE:FUNCTION");
	return (NULL);
}

static int
contract_add(struct prof_names *names, const char *path,
    struct prof_events *events, struct prof_err *error)
{
	struct prof_event *event = contract_event(names, path, "alloc", 2,
	    events, error);

	if (event == NULL || event_take(event, "alloc", "bytes", error) == -1 ||
	    args_name(event, error) == -1)
		return (-1);
	event->ev_instrument = &prof_instrument_alloc;
	event = contract_event(names, path, "free", 1, events, error);
	if (event == NULL || event_take(event, "alloc:free", "events",
	    error) == -1)
		return (-1);
	event->ev_is_of_span = true;
	return (args_name(event, error));
}

/* Has each process the probes of this file, which was found in one? */
static int
contract_check(const struct prof_names *names, const char *path,
    struct prof_err *error)
{
	struct prof_names one = *names;
	char own[PATH_MAX];
	int rv;

	for (size_t n = 0; n < names->nm_npids; n++) {
		one.nm_pids = &names->nm_pids[n];
		one.nm_npids = 1;
		if ((rv = contract_find(&one, own, error)) == -1)
			return (-1);
		if (rv == 1 && strcmp(own, path) == 0)
			continue;
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: not all "
		    "processes use the allocation probes of %s", path);
		return (prof_cure(error, "record the processes one at a "
		    "time"));
	}
	return (0);
}

/* What a process has; 1, or -1. */
static int
processes_add(struct prof_names *names, uint64_t interval,
    struct prof_events *events, struct prof_err *error)
{
	struct prof_event *event;
	char path[PATH_MAX];
	const int rv = contract_find(names, path, error);

	if (rv == -1 || (rv == 1 && contract_check(names, path, error) == -1))
		return (-1);
	if (rv == 1 && interval != 0) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: interval= "
		    "cannot be set: the process samples its allocations at an "
		    "interval of its own");
		return (prof_cure(error, "leave interval= out"));
	}
	if (rv == 1)
		return (contract_add(names, path, events, error) == -1 ? -1 :
		    1);
	if ((event = prof_alloc_functions(names, events, error)) == NULL)
		return (-1);
	event->ev_interval = interval == 0 ? INTERVAL : interval;
	return (1);
}

static int
alloc_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	const size_t before = events->el_n;
	struct prof_event *event;
	char path[PATH_MAX];
	uint64_t interval;

	(void)defaults;
	if (spec->sp_is_probe || strcmp(spec->sp_name, "alloc") != 0)
		return (0);
	if (interval_of(spec, &interval, error) == -1)
		return (-1);
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: "
		    "allocations are recorded, not counted");
		return (prof_cure(error, "use dtprof record --alloc"));
	}
	if (names->nm_npids > 0)
		return (processes_add(names, interval, events, error));
	if (preload_find(path, error) == -1 ||
	    contract_add(names, path, events, error) == -1)
		return (-1);
	event = events->el_event[before];
	event->ev_interval = interval == 0 ? INTERVAL : interval;
	event->ev_preload = strdup(path);
	return (event->ev_preload == NULL ? prof_fail_nomem(error) : 1);
}

static int
alloc_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	static const struct prof_probe probe = {
		.pp_probe = "alloc",
		.pp_alias = "",
		.pp_desc = "memory allocations of a command or process, "
		    "sampled by bytes",
	};

	(void)why;
	return (prof_listing_wants(names, probe.pp_probe, "") ?
	    fn(arg, &probe) : 0);
}

const struct prof_provider prof_provider_alloc = {
	.pv_name = "alloc",
	.pv_resolve = alloc_resolve,
	.pv_list = alloc_list,
};
