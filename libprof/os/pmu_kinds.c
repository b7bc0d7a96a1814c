/* SPDX-License-Identifier: ISC */
/*
 * CPUs of several kinds in one machine, each kind with counters of its own:
 * fast and thrifty ones of one x86 chip, big and LITTLE ones of an arm64 one.
 * An event that the kernel knows by a general name ("cycles") is then that of
 * one kind, and would count nothing on the others, or not open there.
 *
 * On a CPU, the general name is made to mean that CPU's own counter; arm64's
 * kernel does so by itself.  On a task, which moves, it cannot be: the notes
 * say so.  Called wherever counters are opened, with the kinds that names.c
 * has read.
 */
#include <linux/perf_event.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "pmu_kinds.h"
#include "procfs.h"

#define EXTENDED_SHIFT	32	/* of a general event: the PMU's number */

/* One PMU that serves some CPUs only, and their instructions. */
static bool
read_kind(const char *pmus, const char *name, struct prof_pmu_kind *kind)
{
	char path[512], text[4096];

	snprintf(path, sizeof(path), "%.200s/%.64s/cpus", pmus, name);
	if (prof_proc_read(path, text, sizeof(text)) <= 0 ||
	    prof_cpu_list_parse(text, &kind->pk_cpus, &kind->pk_ncpus) == -1)
		return (false);
	snprintf(path, sizeof(path), "%.200s/%.64s/type", pmus, name);
	kind->pk_type = (uint32_t)prof_proc_number(path, 0);
	snprintf(kind->pk_name, sizeof(kind->pk_name), "%.64s", name);
	/* Only x86 has to be told; there the names begin so. */
	kind->pk_extends = strncmp(name, "cpu_", 4) == 0;
	return (true);
}

static int
compare_kinds(const void *a, const void *b)
{
	const struct prof_pmu_kind *left = a, *right = b;

	return (left->pk_type < right->pk_type ? -1 :
	    left->pk_type > right->pk_type);
}

void
prof_pmu_kinds_read(struct prof_pmu_kinds *kinds, const char *pmus)
{
	DIR *dir = opendir(pmus);
	const struct dirent *entry;

	kinds->ks_n = 0;
	while (dir != NULL && kinds->ks_n < PROF_PMU_KINDS &&
	    (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && read_kind(pmus, entry->d_name,
		    &kinds->ks_kind[kinds->ks_n]))
			kinds->ks_n++;
	if (dir != NULL)
		closedir(dir);
	/* A directory has no order; the kernel's numbers have. */
	qsort(kinds->ks_kind, kinds->ks_n, sizeof(kinds->ks_kind[0]),
	    compare_kinds);
}

void
prof_pmu_kinds_free(struct prof_pmu_kinds *kinds)
{
	for (size_t n = 0; n < kinds->ks_n; n++)
		free(kinds->ks_kind[n].pk_cpus);
	kinds->ks_n = 0;
}

static bool
is_general(const struct perf_event_attr *attr)
{
	return ((attr->type == PERF_TYPE_HARDWARE ||
	    attr->type == PERF_TYPE_HW_CACHE) &&
	    attr->config >> EXTENDED_SHIFT == 0);
}

static bool
kind_serves(const struct prof_pmu_kind *kind, int cpu)
{
	for (size_t n = 0; n < kind->pk_ncpus; n++)
		if (kind->pk_cpus[n] == cpu)
			return (true);
	return (false);
}

bool
prof_pmu_skids(const struct prof_pmu_kinds *kinds,
    const struct perf_event_attr *attr)
{
	bool of_core = attr->type == PERF_TYPE_HARDWARE ||
	    attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;

	for (size_t n = 0; n < kinds->ks_n; n++)
		of_core |= kinds->ks_kind[n].pk_type == attr->type;
	return (of_core && attr->precise_ip == 0);
}

bool
prof_pmu_counts_on(const struct prof_pmu_kinds *kinds,
    const struct perf_event_attr *attr, int cpu)
{
	for (size_t n = 0; n < kinds->ks_n && kinds->ks_n > 1; n++)
		if (kinds->ks_kind[n].pk_type == attr->type)
			return (kind_serves(&kinds->ks_kind[n], cpu));
	return (true);
}

void
prof_pmu_choose(const struct prof_pmu_kinds *kinds,
    struct perf_event_attr *attr, int cpu)
{
	if (kinds->ks_n < 2 || cpu < 0 || !is_general(attr))
		return;
	for (size_t n = 0; n < kinds->ks_n; n++)
		if (kinds->ks_kind[n].pk_extends &&
		    kind_serves(&kinds->ks_kind[n], cpu))
			attr->config |= (uint64_t)kinds->ks_kind[n].pk_type <<
			    EXTENDED_SHIFT;
}

bool
prof_pmu_partial(const struct prof_pmu_kinds *kinds,
    const struct perf_event_attr *attr, char *text, size_t size)
{
	bool of_kind = false;
	size_t length, n;

	for (n = 0; n < kinds->ks_n; n++)
		of_kind |= kinds->ks_kind[n].pk_type == attr->type;
	if (kinds->ks_n < 2 || (!of_kind && !is_general(attr)))
		return (false);
	length = (size_t)snprintf(text, size, "available on one kind of this "
	    "machine's CPUs only (");
	for (n = 0; n < kinds->ks_n && length < size; n++)
		length += (size_t)snprintf(text + length, size - length,
		    "%s%s", n == 0 ? "" : ", ", kinds->ks_kind[n].pk_name);
	if (length < size)
		snprintf(text + length, size - length, ")");
	return (true);
}
