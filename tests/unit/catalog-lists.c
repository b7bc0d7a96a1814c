/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: every probe that the catalog lists as usable can be added under
 * its name and under its alias, and is then that very probe with those
 * arguments; probes are sorted and listed once; what cannot be used says why;
 * a glob lists what it matches and no more.
 *
 * Easy to get wrong: an alias that means another event, a probe that is
 * listed by two sources, a listing that promises what resolving refuses.
 */
#include "names.h"

static bool
needs_more(const struct prof_err *error)
{
	/* libpfm4 lists events that must be given a unit mask. */
	return (strstr(error->pe_text, "(libpfm4)") != NULL);
}

static void
check_added(struct prof_names *names, const struct prof_probe *probe,
    const char *text)
{
	struct prof_events events = { 0 };
	struct prof_err error;
	const struct prof_event *event;

	if (prof_names_resolve(names, text, NULL, &events, &error) == -1) {
		CHECK(needs_more(&error), "%s is listed: %s", text,
		    error.pe_text);
		return;
	}
	CHECK(events.el_n == 1, "%s: %zu events", text, events.el_n);
	event = events.el_event[0];
	if (strncmp(probe->pp_probe, "pmc:", 4) != 0)
		CHECK(strcmp(event->ev_probe, probe->pp_probe) == 0,
		    "%s is %s", text, event->ev_probe);
	CHECK(event->ev_nargs == probe->pp_nargs, "%s: %u arguments", text,
	    event->ev_nargs);
	for (uint32_t n = 0; n < probe->pp_nargs; n++)
		CHECK(strcmp(event->ev_args[n].ag_name,
		    probe->pp_arg_names[n]) == 0 &&
		    strcmp(event->ev_args[n].ag_type,
		    probe->pp_arg_types[n]) == 0, "%s: argument %u", text, n);
	prof_events_free(&events);
}

static void
check_all(struct prof_names *names)
{
	struct prof_catalog *catalog;
	const struct prof_probe *probe, *last = NULL;
	unsigned usable = 0, with_args = 0;
	struct prof_err error;
	size_t count;

	catalog = prof_catalog_new(NULL, &error);
	CHECK(catalog != NULL, "%s", error.pe_text);
	count = prof_catalog_nprobes(catalog);
	for (size_t n = 0; n < count; n++) {
		probe = prof_catalog_probe(catalog, n);
		CHECK(last == NULL || strcmp(last->pp_probe,
		    probe->pp_probe) < 0, "%s is out of order",
		    probe->pp_probe);
		last = probe;
		if (probe->pp_why_not != NULL) {
			CHECK(probe->pp_why_not[0] != '\0', "%s",
			    probe->pp_probe);
			continue;
		}
		if (strstr(probe->pp_probe, "rNNN") != NULL)
			continue;
		/* Recorded, not counted. */
		if (strcmp(probe->pp_probe, "alloc") == 0 ||
		    strcmp(probe->pp_probe, "off-cpu") == 0 ||
		    strcmp(probe->pp_probe, "wall") == 0)
			continue;
		usable++;
		with_args += probe->pp_nargs != 0;
		check_added(names, probe, probe->pp_probe);
		if (probe->pp_alias[0] != '\0')
			check_added(names, probe, probe->pp_alias);
	}
	CHECK(usable > 100 && with_args > 50, "%u usable", usable);
	CHECK(prof_catalog_probe(catalog, count) == NULL, "behind the end");
	prof_catalog_free(catalog);
}

static void
check_glob(const char *glob, const char *prefix, size_t least)
{
	struct prof_err error;
	struct prof_catalog *catalog = prof_catalog_new(glob, &error);

	CHECK(catalog != NULL, "%s", error.pe_text);
	CHECK(prof_catalog_nprobes(catalog) >= least, "%s: %zu", glob,
	    prof_catalog_nprobes(catalog));
	for (size_t n = 0; n < prof_catalog_nprobes(catalog); n++)
		CHECK(strncmp(prof_catalog_probe(catalog, n)->pp_probe,
		    prefix, strlen(prefix)) == 0, "%s lists %s", glob,
		    prof_catalog_probe(catalog, n)->pp_probe);
	prof_catalog_free(catalog);
}

/* Hardware counters either work, or their provider says why not. */
static void
check_missing(void)
{
	struct prof_err error;
	struct prof_catalog *catalog = prof_catalog_new("cycles", &error);
	const char *provider = NULL, *reason = NULL;
	const struct prof_probe *cycles = NULL;

	CHECK(catalog != NULL, "%s", error.pe_text);
	for (size_t n = 0; n < prof_catalog_nprobes(catalog); n++)
		if (strcmp(prof_catalog_probe(catalog, n)->pp_probe,
		    "pmc:::cycles") == 0)
			cycles = prof_catalog_probe(catalog, n);
	CHECK(cycles != NULL, "cycles are not listed");
	CHECK(prof_catalog_missing(catalog, 0, &provider, &reason) ==
	    (cycles->pp_why_not != NULL), "missing and not, at once");
	if (cycles->pp_why_not != NULL)
		CHECK(strcmp(provider, "pmc") == 0 && strcmp(reason,
		    cycles->pp_why_not) == 0, "%s: %s", provider, reason);
	prof_catalog_free(catalog);
}

int
main(void)
{
	struct prof_names *names = open_names();
	size_t ntps;

	prof_tracepoints(names, &ntps);
	if (ntps == 0)
		skip("this kernel shows no tracepoints");
	check_all(names);
	if (prof_names_tracefs(names) != -1)
		check_glob("sched:*", "static:sched::", 10);
	check_glob("syscall:open*:entry", "syscall:open", 2);
	check_glob("no-such-thing-*", "", 0);
	check_missing();
	prof_names_close(names);
	return (passed());
}
