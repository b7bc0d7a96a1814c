/* SPDX-License-Identifier: ISC */
/*
 * The functions by which programs allocate, in each file that a process has
 * mapped and that defines malloc: the C library, another allocator, or the
 * program itself.  Only those fire that the process calls.
 *
 * Some of glibc's go on with malloc, by a jump or a call, where they have
 * nothing to do themselves: then only malloc is counted.  Of musl's some always
 * go on with malloc or aligned_alloc, and are not looked at.
 *
 * Called by alloc.c.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc_impl.h"
#include "base/error.h"
#include "events/instrument.h"
#include "events/provider/uprobe/uprobe_impl.h"

#define NONE		(-1)
#define GLIBC		"__libc_memalign"
#define MUSL		"__dls3"	/* its loader is the library */
#define MUSL_STATIC	"__libc_malloc_impl"
#define MALLOC_ALIGNED	16	/* as malloc aligns without being asked */

/* Which of its arguments say how much. */
struct function {
	const char	*fn_name;
	int		 fn_bytes;
	int		 fn_factor;
	int		 fn_at_least;	/* of glibc: this must be ... */
	uint64_t	 fn_least;	/* ... at least that */
	bool		 fn_goes_on;	/* of musl: with another of these */
};

static const struct function functions[] = {
	{ "malloc", 0, NONE, NONE, 0, false },
	{ "calloc", 0, 1, NONE, 0, true },
	{ "realloc", 1, NONE, 0, 1, false },
	{ "posix_memalign", 2, NONE, 1, MALLOC_ALIGNED + 1, true },
	{ "aligned_alloc", 1, NONE, 0, MALLOC_ALIGNED + 1, false },
	{ "memalign", 1, NONE, 0, MALLOC_ALIGNED + 1, true },
	{ "valloc", 0, NONE, NONE, 0, true },
	{ "pvalloc", 0, NONE, NONE, 0, false },
	/* operator new, new[], where an allocator has its own */
	{ "_Znwm", 0, NONE, NONE, 0, false },
	{ "_Znam", 0, NONE, NONE, 0, false },
};

/* Of a function of that name: its places; none where it has none. */
static int
sites_of(struct prof_names *names, const struct prof_binary *binary,
    const char *name, struct prof_sites *sites, struct prof_err *error)
{
	const struct prof_sites_want want = {
	    .sw_kind = PROF_SITE_FUNCTION, .sw_pattern = name };

	if (prof_binary_sites(names, binary, &want, sites, error) == 0)
		return (0);
	memset(sites, 0, sizeof(*sites));
	return (-1);
}

static bool
has_function(struct prof_names *names, const struct prof_binary *binary,
    const char *name)
{
	struct prof_sites sites;
	struct prof_err why;
	bool has;

	/* Of what is no program nothing can be read. */
	if (sites_of(names, binary, name, &sites, &why) == -1)
		return (false);
	has = sites.st_n > 0;
	prof_sites_free(&sites);
	return (has);
}

static void
hook_fill(struct prof_hook *hook, const struct function *function,
    bool is_glibc)
{
	struct dtp_operands *all = &hook->hk_args;
	struct prof_site site = { 0 };

	prof_site_abi(&site);
	all->os_arg[0] = site.si_arg[function->fn_bytes];
	if (function->fn_factor != NONE)
		all->os_arg[1] = site.si_arg[function->fn_factor];
	if (is_glibc && function->fn_at_least != NONE) {
		all->os_arg[2] = site.si_arg[function->fn_at_least];
		all->os_arg[3].op_number = function->fn_least;
	}
}

/* A function may have several names. */
static bool
has_hook(const struct prof_event *event, size_t from, uint64_t offset)
{
	for (size_t n = from; n < event->ev_nhooks; n++)
		if (event->ev_hooks[n].hk_offset == offset)
			return (true);
	return (false);
}

static int
binary_add(struct prof_names *names, const struct prof_binary *binary,
    struct prof_event *event, struct prof_err *error)
{
	const bool is_glibc = has_function(names, binary, GLIBC);
	const bool is_musl = has_function(names, binary, MUSL) ||
	    has_function(names, binary, MUSL_STATIC);
	const size_t from = event->ev_nhooks;
	struct prof_sites sites;
	struct prof_hook *hook;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		/* In a static program libstdc++, which calls malloc. */
		if ((is_glibc && functions[i].fn_name[0] == '_') ||
		    (is_musl && functions[i].fn_goes_on))
			continue;
		if (sites_of(names, binary, functions[i].fn_name, &sites,
		    error) == -1)
			return (-1);
		for (size_t n = 0; n < sites.st_n; n++) {
			const struct prof_site *site = &sites.st_site[n];

			if (site->si_flags & PROF_SITE_CHOSEN ||
			    has_hook(event, from, site->si_offset))
				continue;
			hook = prof_event_add_hook(event, binary->bi_fd,
			    site->si_offset);
			if (hook == NULL) {
				prof_sites_free(&sites);
				return (prof_fail_nomem(error));
			}
			hook_fill(hook, &functions[i], is_glibc);
		}
		prof_sites_free(&sites);
	}
	return (0);
}

/* The loader has one of its own, until the C library is there; musl is both. */
static bool
is_loader(const struct prof_binary *binary)
{
	const char *slash = strrchr(binary->bi_path, '/');

	return (slash != NULL && strncmp(slash + 1, "ld-", 3) == 0 &&
	    strncmp(slash + 1, "ld-musl", 7) != 0);
}

static int
refuse_none(struct prof_err *error)
{
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "alloc: the process has "
	    "mapped no file with a function malloc");
	return (prof_cure(error, "start the process with dtprof record --alloc "
	    "-- COMMAND, or probe its allocator with uprobe:FILE:FUNCTION"));
}

struct prof_event *
prof_alloc_functions(struct prof_names *names, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_binaries binaries;
	struct prof_event *event;
	int rv = 0;

	event = prof_event_new("alloc", "alloc", "bytes", &prof_provider_alloc,
	    &prof_instrument_alloc);
	if (event == NULL || prof_events_add(events, event) == -1) {
		prof_fail_nomem(error);
		return (NULL);
	}
	/* The kernel's stack is that of the breakpoint. */
	event->ev_attr.exclude_kernel = 1;
	/* Nobody else is to pay for each malloc. */
	event->ev_is_alone = true;
	if (prof_binaries_find(names, "*", &binaries, error) == -1)
		return (NULL);
	for (size_t n = 0; n < binaries.bs_n && rv == 0; n++) {
		const struct prof_binary *binary = &binaries.bs_binary[n];

		if (!is_loader(binary) &&
		    has_function(names, binary, "malloc"))
			rv = binary_add(names, binary, event, error);
	}
	prof_binaries_free(&binaries);
	if (rv == 0 && event->ev_nhooks == 0)
		rv = refuse_none(error);
	return (rv == -1 ? NULL : event);
}
