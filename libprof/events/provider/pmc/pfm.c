/* SPDX-License-Identifier: ISC */
/*
 * Counter names by libpfm4: the vendors' names of this machine's PMU.  What
 * libpfm4 says is checked: it succeeds with no PMU at all when one that does
 * not exist was forced, and it knows tracepoints only where debugfs is
 * mounted, so those are never asked of it.  Called by pmc.c, and by the
 * catalog and suggest.c for its names.
 */
/* libpfm4 has an older copy of the kernel's header; the same layout. */
#define __PERFMON_PERF_EVENT_H__
#include <linux/perf_event.h>

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/names.h"

static int	pfm_failed(int result, const char *name,
		    struct prof_err *error);

/* libpfm4 is initialised once per process and cannot be shared twice. */
bool
prof_pfm_ready(struct prof_names *names)
{
	pfm_pmu_info_t pmu;
	pfm_pmu_t id;

	if (names->nm_pfm_tried)
		return (names->nm_pfm_ready);
	names->nm_pfm_tried = true;
	if (pfm_initialize() != PFM_SUCCESS)
		return (false);
	pfm_for_all_pmus(id) {
		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		if (pfm_get_pmu_info(id, &pmu) == PFM_SUCCESS &&
		    pmu.is_present)
			names->nm_pfm_ready = true;
	}
	return (names->nm_pfm_ready);
}

int
prof_counter_pfm(struct prof_names *names, const char *name,
    struct prof_pmc *counter, struct prof_err *error)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t encode;
	int result;

	if (!prof_pfm_ready(names))
		return (0);
	memset(&attr, 0, sizeof(attr));
	memset(&encode, 0, sizeof(encode));
	attr.size = sizeof(attr);
	encode.size = sizeof(encode);
	encode.attr = &attr;
	result = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
	    PFM_OS_PERF_EVENT_EXT, &encode);
	if (result != PFM_SUCCESS)
		return (pfm_failed(result, name, error));
	if (attr.type == PERF_TYPE_TRACEPOINT)
		return (0);
	counter->pc_type = attr.type;
	counter->pc_config = attr.config;
	counter->pc_config1 = attr.config1;
	counter->pc_config2 = attr.config2;
	counter->pc_exclude_user = attr.exclude_user;
	counter->pc_exclude_kernel = attr.exclude_kernel;
	counter->pc_exclude_hv = attr.exclude_hv;
	counter->pc_precise = attr.precise_ip;
	snprintf(counter->pc_name, sizeof(counter->pc_name), "%s", name);
	return (1);
}

/* Not found is not an error yet: perf or sysfs may know the name. */
static int
pfm_failed(int result, const char *name, struct prof_err *error)
{
	switch (result) {
	case PFM_ERR_UMASK:
	case PFM_ERR_ATTR:
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_TOOMANY:
	case PFM_ERR_FEATCOMB:
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "invalid event '%s': %s (libpfm4)", name,
		    pfm_strerror(result));
		return (prof_cure(error,
		    "list the unit masks of the event with dtprof list "
		    "'*%.*s*'",
		    (int)strcspn(name, ":"), name));
	default:
		return (0);
	}
}

/* ---------------------------------------------------------------- listing */

static int
pfm_tell(const struct prof_pfm_pmu *pmu, const pfm_event_info_t *event,
    const pfm_event_attr_info_t *mask, prof_pfm_fn *fn, void *arg)
{
	struct prof_pfm_event told = { .pe_pmu = pmu,
	    .pe_is_precise = mask != NULL ? mask->is_precise :
	    event->is_precise };
	char name[256], desc[1024];
	const char *of = event->desc == NULL ? "" : event->desc;

	snprintf(name, sizeof(name), "%s::%s%s%s", pmu->pu_name, event->name,
	    mask == NULL ? "" : ":", mask == NULL ? "" : mask->name);
	snprintf(desc, sizeof(desc), "%s%s%s", of, mask == NULL ||
	    mask->desc == NULL ? "" : ": ", mask == NULL ||
	    mask->desc == NULL ? "" : mask->desc);
	told.pe_name = name;
	told.pe_desc = desc;
	return (fn(arg, &told));
}

/* Each unit mask of an event; or the event, when it has none. */
static int
pfm_masks(const struct prof_pfm_pmu *pmu, int at,
    const pfm_event_info_t *event, prof_pfm_fn *fn, void *arg)
{
	pfm_event_attr_info_t mask;
	bool any = false;
	int rv = 0;

	for (int n = 0; rv == 0 && n < event->nattrs; n++) {
		memset(&mask, 0, sizeof(mask));
		mask.size = sizeof(mask);
		if (pfm_get_event_attr_info(at, n, PFM_OS_PERF_EVENT_EXT,
		    &mask) != PFM_SUCCESS || mask.type != PFM_ATTR_UMASK)
			continue;
		any = true;
		rv = pfm_tell(pmu, event, &mask, fn, arg);
	}
	return (rv != 0 || any ? rv : pfm_tell(pmu, event, NULL, fn, arg));
}

static int
pfm_events(const pfm_pmu_info_t *info, prof_pfm_fn *fn, void *arg)
{
	const struct prof_pfm_pmu pmu = { .pu_name = info->name,
	    .pu_desc = info->desc, .pu_is_present = info->is_present,
	    .pu_is_core = info->type == PFM_PMU_TYPE_CORE };
	pfm_event_info_t event;
	int rv = 0;

	for (int at = info->first_event; rv == 0 && at != -1;
	    at = pfm_get_event_next(at)) {
		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(at, PFM_OS_PERF_EVENT_EXT, &event) ==
		    PFM_SUCCESS)
			rv = pfm_masks(&pmu, at, &event, fn, arg);
	}
	return (rv);
}

/*
 * The kernel's own generic events, which libpfm4 has as PMUs too, are left
 * out unless they are asked for: perf's names say the same.
 */
int
prof_pfm_each(struct prof_names *names, const char *glob, prof_pfm_fn *fn,
    void *arg)
{
	pfm_pmu_info_t info;
	pfm_pmu_t id;
	int rv = 0;

	if (!prof_pfm_ready(names) && glob == NULL)
		return (0);
	pfm_for_all_pmus(id) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (rv != 0 || pfm_get_pmu_info(id, &info) != PFM_SUCCESS)
			continue;
		if (glob == NULL ? info.is_present &&
		    info.type != PFM_PMU_TYPE_OS_GENERIC :
		    prof_glob_match(glob, info.name))
			rv = pfm_events(&info, fn, arg);
	}
	return (rv);
}

/* The name of the n-th PMU that libpfm4 knows; NULL: no more. */
const char *
prof_pfm_pmu_at(struct prof_names *names, size_t n)
{
	pfm_pmu_info_t info;
	pfm_pmu_t id;

	(void)prof_pfm_ready(names);
	pfm_for_all_pmus(id) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(id, &info) == PFM_SUCCESS && n-- == 0)
			return (info.name);
	}
	return (NULL);
}
