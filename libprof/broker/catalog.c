/* SPDX-License-Identifier: ISC */
/*
 * The catalog of probes, with a parser for those of programs.  Called by
 * `dtprof list`.
 */
#include "events/names.h"
#include "sites.h"

/* A broker is made for the first file. */
struct reading {
	struct prof_broker *rd_broker;
	struct prof_err	*rd_error;
};

static int
sites_of(void *arg, int fd, const char *name,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct reading *reading = arg;

	if (reading->rd_broker == NULL &&
	    (reading->rd_broker = prof_broker_new(reading->rd_error)) == NULL)
		return (-1);
	return (prof_sites_ask(reading->rd_broker, fd, name, want, sites));
}

struct prof_catalog *
prof_catalog_of_processes(const char *glob, const int *pids, size_t npids,
    struct prof_err *error)
{
	struct reading reading = { .rd_error = error };
	struct prof_names *names = prof_names_open(error);
	struct prof_catalog *catalog;

	if (names == NULL)
		return (NULL);
	names->nm_sites = sites_of;
	names->nm_sites_arg = &reading;
	names->nm_pids = pids;
	names->nm_npids = npids;
	catalog = prof_catalog_of(names, glob, error);
	prof_broker_free(reading.rd_broker);
	prof_names_close(names);
	return (catalog);
}

struct prof_catalog *
prof_catalog_new(const char *glob, struct prof_err *error)
{
	return (prof_catalog_of_processes(glob, NULL, 0, error));
}
