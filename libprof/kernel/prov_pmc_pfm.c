/* SPDX-License-Identifier: ISC */
/*
 * Counter names by libpfm4: the vendors' names of this machine's PMU.  What
 * libpfm4 says is checked: it succeeds with no PMU at all when one that does
 * not exist was forced, and it knows tracepoints only where debugfs is
 * mounted, so those are never asked of it.  Called by prov_pmc.c, and by the
 * catalog and suggest.c for its names.
 */
/* libpfm4 has an older copy of the kernel's header; the same layout. */
#define __PERFMON_PERF_EVENT_H__
#include <linux/perf_event.h>

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <stdlib.h>
#include <string.h>

#include "names.h"

static bool	pfm_is_vendor(const pfm_pmu_info_t *pmu);
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
    struct prof_counter *counter, struct prof_err *error)
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
		    "libpfm4 knows the event of \"%s\", but: %s", name,
		    pfm_strerror(result));
		return (prof_cure(error,
		    "its unit masks are listed by: dtprof list '*%.*s*'",
		    (int)strcspn(name, ":"), name));
	default:
		return (0);
	}
}

static bool
pfm_is_vendor(const pfm_pmu_info_t *pmu)
{
	return (pmu->is_present && pmu->type == PFM_PMU_TYPE_CORE);
}

/* Names of the core PMU's events: "arm_n1::CPU_CYCLES". */
int
prof_pfm_list(struct prof_names *names,
    int (*fn)(void *arg, const char *name, const char *desc), void *arg)
{
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;
	pfm_pmu_t id;
	char name[256];
	int rv;

	if (!prof_pfm_ready(names))
		return (0);
	pfm_for_all_pmus(id) {
		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		if (pfm_get_pmu_info(id, &pmu) != PFM_SUCCESS ||
		    !pfm_is_vendor(&pmu))
			continue;
		for (int at = pmu.first_event; at != -1;
		    at = pfm_get_event_next(at)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			if (pfm_get_event_info(at, PFM_OS_NONE, &event) !=
			    PFM_SUCCESS)
				continue;
			snprintf(name, sizeof(name), "%s::%s", pmu.name,
			    event.name);
			if ((rv = fn(arg, name, event.desc)) != 0)
				return (rv);
		}
	}
	return (0);
}
