/* SPDX-License-Identifier: ISC */
/*
 * The uprobe provider: a function of a program or library is entered.
 *
 *	uprobe:FILE:FUNCTION
 *
 * FUNCTION is a linker's name, a demangled one with or without parameters, or
 * a glob, of which each function becomes an event.  Called through the table
 * of providers; where functions are is found by a parser (prof_names).
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "events/names.h"

/* One -e, and what comes of it. */
struct naming {
	struct prof_names *ng_names;
	const struct prof_spec *ng_spec;
	struct prof_events *ng_events;
	size_t		 ng_before;	/* events of others */
	bool		 ng_is_glob;
	struct prof_err	*ng_error;
};

/* ----------------------------------------------------------------- naming */

/* A part of a probe's name, in quotes where it needs them. */
static const char *
quote_for(const char *part)
{
	return (part[strcspn(part, ":{,@ ")] != '\0' ? "\"" : "");
}

static void
probe_name(char *out, size_t size, const char *file, const char *function,
    uint64_t offset)
{
	const char *fq = quote_for(file);
	const char *q = strchr(function, '/') != NULL ? "\"" :
	    quote_for(function);
	int n;

	n = snprintf(out, size, "uprobe:%s%s%s:%s%s%s", fq, file, fq, q,
	    function, q);
	if (offset != 0 && n > 0 && (size_t)n < size)
		(void)snprintf(out + n, size - (size_t)n, "+%#llx",
		    (unsigned long long)offset);
}

/* The event that a function fires, made for the first of that name. */
static struct prof_event *
event_of(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	const struct prof_spec *spec = naming->ng_spec;
	const struct prof_events *events = naming->ng_events;
	char probe[PROF_SPEC_MAX + 512], name[PROF_SPEC_MAX + 512];
	struct prof_event *event;

	if (!naming->ng_is_glob && events->el_n > naming->ng_before)
		return (events->el_event[naming->ng_before]);
	probe_name(probe, sizeof(probe), binary->bi_path, site->si_name,
	    spec->sp_offset);
	probe_name(name, sizeof(name), spec->sp_file, site->si_name,
	    spec->sp_offset);
	for (size_t n = naming->ng_before; n < events->el_n; n++)
		if (strcmp(events->el_event[n]->ev_name, name) == 0)
			return (events->el_event[n]);
	event = prof_event_new(naming->ng_is_glob ? name : spec->sp_whole,
	    probe, "events", &prof_provider_uprobe, &prof_instrument_uprobe);
	if (event == NULL)
		return (NULL);
	/* The kernel's stack is that of the breakpoint. */
	event->ev_attr.exclude_kernel = 1;
	return (prof_events_add(naming->ng_events, event) == -1 ? NULL :
	    event);
}

/* -------------------------------------------------------------- refusals */

/* The function of a file whose name is nearest; to be freed. */
static char *
function_nearest(struct naming *naming, const struct prof_binary *binary)
{
	const char *wanted = naming->ng_spec->sp_function;
	unsigned distance, least = (unsigned)(strlen(wanted) / 3) + 1;
	struct prof_sites sites;
	struct prof_err why;
	char *best = NULL;
	size_t nearest = 0;

	if (naming->ng_is_glob || prof_binary_sites(naming->ng_names, binary,
	    "*", &sites, &why) == -1)
		return (NULL);
	for (size_t n = 0; n < sites.st_n; n++) {
		distance = prof_name_distance(wanted,
		    sites.st_site[n].si_name);
		if (distance < least) {
			least = distance;
			nearest = n + 1;
		}
	}
	if (nearest > 0)
		best = strdup(sites.st_site[nearest - 1].si_name);
	prof_sites_free(&sites);
	return (best);
}

static int
refuse_unknown(struct naming *naming, const struct prof_binary *binary,
    size_t functions)
{
	const struct prof_spec *spec = naming->ng_spec;
	struct prof_err *error = naming->ng_error;
	char *nearest;

	if (functions == 0) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: '%s' has no "
		    "symbols", spec->sp_whole, binary->bi_path);
		return (prof_cure(error, "install its debug symbols"));
	}
	nearest = function_nearest(naming, binary);
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot open event '%s': no "
	    "function '%s' in %s", spec->sp_whole, spec->sp_function,
	    binary->bi_path);
	if (nearest != NULL)
		prof_cure(error, "did you mean '%s'?", nearest);
	else
		prof_cure(error, "list functions with dtprof list "
		    "'uprobe:%s:*'", spec->sp_file);
	free(nearest);
	return (-1);
}

static int
refuse_many(struct naming *naming, size_t found)
{
	prof_fail(naming->ng_error, PROF_E_LIMIT, "'%s' matches %zu functions "
	    "(at most %d)", naming->ng_spec->sp_whole, found,
	    PROF_GLOB_EVENTS);
	return (prof_cure(naming->ng_error, "narrow the pattern; list matches "
	    "with dtprof list '%s'", naming->ng_spec->sp_whole));
}

static int
refuse_chosen(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED, "%s: '%s' of %s "
	    "only chooses, once, which function is called (IFUNC)",
	    naming->ng_spec->sp_whole, site->si_name, binary->bi_path);
	return (prof_cure(naming->ng_error, "use the name of the function "
	    "that is chosen: a profile (dtprof record -e cpu-clock) has it"));
}

/* ------------------------------------------------------------------ sites */

static int
site_add(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	struct prof_event *event;

	if (site->si_flags & PROF_SITE_CHOSEN)
		return (naming->ng_is_glob ? 0 : refuse_chosen(naming, binary,
		    site));
	event = event_of(naming, binary, site);
	if (event == NULL || prof_event_add_hook(event, binary->bi_fd,
	    site->si_offset + naming->ng_spec->sp_offset) == -1)
		return (prof_fail_nomem(naming->ng_error));
	return (0);
}

static int
binary_add(struct naming *naming, const struct prof_binary *binary,
    bool is_last)
{
	struct prof_sites sites;
	int rv = 0;

	if (prof_binary_sites(naming->ng_names, binary,
	    naming->ng_spec->sp_function, &sites, naming->ng_error) == -1)
		return (-1);
	if (sites.st_found > PROF_GLOB_EVENTS)
		rv = refuse_many(naming, sites.st_found);
	for (size_t n = 0; n < sites.st_n && rv == 0; n++)
		rv = site_add(naming, binary, &sites.st_site[n]);
	if (rv == 0 && is_last &&
	    naming->ng_events->el_n == naming->ng_before)
		rv = refuse_unknown(naming, binary, sites.st_functions);
	prof_sites_free(&sites);
	return (rv);
}

static int
uprobe_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct naming naming = { names, spec, events, events->el_n,
	    false, error };
	struct prof_binaries binaries;
	int rv = 0;

	(void)defaults;
	if (spec->sp_file == NULL || strcmp(spec->sp_provider, "uprobe") != 0)
		return (0);
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: probes of "
		    "programs are recorded, not counted", spec->sp_whole);
		return (prof_cure(error, "use dtprof record; its report "
		    "counts them"));
	}
	/* A breakpoint within an instruction makes another one of it. */
	if (spec->sp_offset != 0) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: only the "
		    "first instruction of a function can be probed",
		    spec->sp_whole);
		return (prof_cure(error, "leave out '+%#llx'",
		    (unsigned long long)spec->sp_offset));
	}
	if (prof_spec_no_rate(spec, "a probe", error) == -1 ||
	    prof_spec_no_terms(spec, "a probe", error) == -1)
		return (-1);
	if (prof_binaries_find(names, spec->sp_file, &binaries, error) == -1)
		return (-1);
	naming.ng_is_glob = prof_glob_is(spec->sp_function);
	for (size_t n = 0; n < binaries.bs_n && rv == 0; n++)
		rv = binary_add(&naming, &binaries.bs_binary[n],
		    n + 1 == binaries.bs_n);
	prof_binaries_free(&binaries);
	return (rv == -1 ? -1 : 1);
}

/* ---------------------------------------------------------------- listing */

static int
site_list(const struct prof_binary *binary, const struct prof_site *site,
    prof_list_fn *fn, void *arg)
{
	char name[PROF_SPEC_MAX + 512];
	struct prof_probe probe = {
		.pp_probe = name,
		.pp_alias = "",
		.pp_desc = "",
		.pp_price = site->si_flags & PROF_SITE_CHEAP ? "cheap" :
		    "trap",
	};

	probe_name(name, sizeof(name), binary->bi_path, site->si_name, 0);
	if (site->si_flags & PROF_SITE_CHOSEN)
		probe.pp_why_not = "only chooses, once, which function is "
		    "called (IFUNC)";
	return (fn(arg, &probe));
}

/* All programs' functions are too many: those of one file. */
static int
uprobe_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	struct prof_err *error = names->nm_list_error;
	struct prof_binaries binaries;
	struct prof_sites sites;
	struct prof_spec spec;
	int rv = 0;

	(void)why;
	if (names->nm_wanted == NULL || names->nm_sites == NULL ||
	    strncmp(names->nm_wanted, "uprobe:", 7) != 0)
		return (0);
	if (prof_spec_parse(&spec, names->nm_wanted, error) == -1 ||
	    prof_binaries_find(names, spec.sp_file, &binaries, error) == -1)
		return (-1);
	for (size_t b = 0; b < binaries.bs_n && rv == 0; b++) {
		rv = prof_binary_sites(names, &binaries.bs_binary[b],
		    spec.sp_function, &sites, error);
		if (rv == -1)
			break;
		for (size_t n = 0; n < sites.st_n && rv == 0; n++)
			rv = site_list(&binaries.bs_binary[b],
			    &sites.st_site[n], fn, arg);
		prof_sites_free(&sites);
	}
	prof_binaries_free(&binaries);
	return (rv);
}

const struct prof_provider prof_provider_uprobe = {
	.pv_name = "uprobe",
	.pv_resolve = uprobe_resolve,
	.pv_list = uprobe_list,
};
