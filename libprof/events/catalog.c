/* SPDX-License-Identifier: ISC */
/*
 * The catalog: every probe of this machine that a glob means, with argument
 * names and types, the perf name, and the reason where one cannot be used.
 * Asks each provider of the table; opens nothing for good.  Called by
 * `dtprof list`.  Probes come sorted by name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "names.h"

struct prof_catalog {
	struct prof_probe	*ca_probe;
	size_t			 ca_n, ca_cap;
	struct missing {
		const char	*mi_provider;	/* static */
		const char	*mi_reason;	/* static */
	}			 ca_missing[8];
	size_t			 ca_nmissing;
};

static int	catalog_add(void *arg, const struct prof_probe *probe);
static void	catalog_probe_fini(struct prof_probe *probe);
static int	catalog_fill(struct prof_catalog *catalog,
		    struct prof_names *names, struct prof_err *error);
static int	probe_order(const void *a, const void *b);

struct prof_catalog *
prof_catalog_of(struct prof_names *names, const char *glob,
    struct prof_err *error)
{
	struct prof_catalog *catalog = calloc(1, sizeof(*catalog));

	names->nm_wanted = glob == NULL || glob[0] == '\0' ? NULL : glob;
	if (catalog == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (catalog_fill(catalog, names, error) == -1) {
		prof_catalog_free(catalog);
		return (NULL);
	}
	if (catalog->ca_n != 0)
		qsort(catalog->ca_probe, catalog->ca_n,
		    sizeof(*catalog->ca_probe), probe_order);
	return (catalog);
}

static int
catalog_fill(struct prof_catalog *catalog, struct prof_names *names,
    struct prof_err *error)
{
	for (size_t n = 0; prof_providers[n] != NULL; n++) {
		const struct prof_provider *provider = prof_providers[n];
		const char *why = NULL;

		if (provider->pv_list == NULL)
			continue;
		prof_fail_nomem(error);
		names->nm_list_error = error;
		if (provider->pv_list(names, catalog_add, catalog, &why) != 0)
			return (-1);
		if (why == NULL || catalog->ca_nmissing == 8)
			continue;
		catalog->ca_missing[catalog->ca_nmissing].mi_provider =
		    provider->pv_name;
		catalog->ca_missing[catalog->ca_nmissing++].mi_reason = why;
	}
	return (0);
}

/* The whole probe, its alias, or a part of it: "sched:*", "*open*", "read". */
bool
prof_listing_wants(const struct prof_names *names, const char *probe,
    const char *alias)
{
	const char *wanted = names->nm_wanted;

	if (wanted == NULL)
		return (true);
	if (prof_glob_is(wanted))
		return (prof_glob_match(wanted, probe) ||
		    prof_glob_match(wanted, alias));
	return (strstr(probe, wanted) != NULL ||
	    (alias[0] != '\0' && strstr(alias, wanted) != NULL));
}

static int
catalog_add(void *arg, const struct prof_probe *probe)
{
	struct prof_catalog *catalog = arg;
	struct prof_probe *copy = prof_grow(&catalog->ca_probe, &catalog->ca_n,
	    &catalog->ca_cap, sizeof(*copy));

	if (copy == NULL)
		return (-1);
	copy->pp_probe = strdup(probe->pp_probe);
	copy->pp_alias = strdup(probe->pp_alias);
	copy->pp_desc = strdup(probe->pp_desc);
	if (copy->pp_probe == NULL || copy->pp_alias == NULL ||
	    copy->pp_desc == NULL)
		return (-1);
	if (probe->pp_why_not != NULL &&
	    (copy->pp_why_not = strdup(probe->pp_why_not)) == NULL)
		return (-1);
	copy->pp_price = probe->pp_price;	/* static */
	for (uint32_t n = 0; n < probe->pp_nargs; n++) {
		copy->pp_nargs = n + 1;
		copy->pp_arg_names[n] = strdup(probe->pp_arg_names[n]);
		copy->pp_arg_types[n] = strdup(probe->pp_arg_types[n]);
		if (copy->pp_arg_names[n] == NULL ||
		    copy->pp_arg_types[n] == NULL)
			return (-1);
	}
	return (0);
}

static int
probe_order(const void *a, const void *b)
{
	const struct prof_probe *x = a, *y = b;

	return (strcmp(x->pp_probe, y->pp_probe));
}

static void
catalog_probe_fini(struct prof_probe *probe)
{
	free((char *)probe->pp_probe);
	free((char *)probe->pp_alias);
	free((char *)probe->pp_desc);
	free((char *)probe->pp_why_not);
	for (uint32_t n = 0; n < probe->pp_nargs; n++) {
		free((char *)probe->pp_arg_names[n]);
		free((char *)probe->pp_arg_types[n]);
	}
}

size_t
prof_catalog_nprobes(const struct prof_catalog *catalog)
{
	return (catalog->ca_n);
}

const struct prof_probe *
prof_catalog_probe(const struct prof_catalog *catalog, size_t n)
{
	return (n < catalog->ca_n ? &catalog->ca_probe[n] : NULL);
}

int
prof_catalog_missing(const struct prof_catalog *catalog, size_t n,
    const char **provider, const char **reason)
{
	if (n >= catalog->ca_nmissing)
		return (0);
	*provider = catalog->ca_missing[n].mi_provider;
	*reason = catalog->ca_missing[n].mi_reason;
	return (1);
}

void
prof_catalog_free(struct prof_catalog *catalog)
{
	if (catalog == NULL)
		return;
	for (size_t n = 0; n < catalog->ca_n; n++)
		catalog_probe_fini(&catalog->ca_probe[n]);
	free(catalog->ca_probe);
	free(catalog);
}
