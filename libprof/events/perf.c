/* SPDX-License-Identifier: ISC */
/*
 * Events of perf_event_open: why one was refused, and what PMU counts it.
 *
 * Called wherever such events are opened, to sample or to count.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "names.h"
#include "os/permission.h"

#define SYSFS_PMUS	"/sys/bus/event_source/devices"

int
prof_perf_explain(struct prof_err *error, const struct prof_event *event,
    int error_number, int pid, int cpu)
{
	const struct prof_perf_try try = {
		.pt_name = event == NULL ? "perf events" : event->ev_name,
		.pt_attr = event == NULL ? NULL : &event->ev_attr,
		.pt_pid = pid,
		.pt_cpu = cpu,
	};

	return (prof_perf_refused(error, &try, error_number));
}

int
prof_counting_refuse_zero(const struct prof_event *of,
    struct prof_err *error)
{
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this event occurs in "
	    "the kernel, so its count in user space is always 0",
	    of->ev_name);
	return (prof_cure(error, "leave out :u and --user-only (may need root, "
	    "CAP_PERFMON or kernel.perf_event_paranoid=1)"));
}

/* "pmc:::PMU/terms/": the PMU's name, and what is between the slashes. */
bool
prof_event_pmu(const struct prof_event *event, char *pmu, size_t size,
    char *terms, size_t terms_size)
{
	const char *probe = event->ev_probe, *slash;
	const char *name = strrchr(probe, ':');
	size_t length;

	name = name == NULL ? probe : name + 1;
	if (name[0] == '.' || (slash = strchr(name, '/')) == NULL)
		return (false);
	length = strcspn(slash + 1, "/");
	if ((size_t)(slash - name) >= size || length >= terms_size)
		return (false);
	memcpy(pmu, name, (size_t)(slash - name));
	pmu[slash - name] = '\0';
	memcpy(terms, slash + 1, length);
	terms[length] = '\0';
	return (true);
}

bool
prof_event_is_shared(const struct prof_event *event, char *pmu, size_t size)
{
	char path[256], terms[PROF_SPEC_MAX];

	if (!prof_event_pmu(event, pmu, size, terms, sizeof(terms)))
		return (false);
	snprintf(path, sizeof(path), SYSFS_PMUS "/%.150s/cpumask", pmu);
	return (access(path, F_OK) == 0);
}
