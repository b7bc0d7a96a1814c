/* SPDX-License-Identifier: ISC */
/*
 * The list of counters for the catalog: perf's names, the PMU's by libpfm4,
 * those of sysfs.  One event of each class is opened once, on our own
 * process, to say why a class cannot be had here.  Called through the table
 * of providers (pmc.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events/names.h"
#include "os/permission.h"

struct pmc_listing {
	struct prof_names	*pl_names;
	prof_list_fn		*pl_fn;
	void			*pl_arg;
	const char		*pl_no_hardware;	/* NULL: there is */
	const char		*pl_no_cache;
	const char		*pl_no_software;
	bool			 pl_told_missing; /* one without a counter */
};

static int	pmc_tell(struct pmc_listing *listing, const char *name,
		    const char *alias, const char *desc, const char *why);
static int	pmc_list_perf(struct pmc_listing *listing);
static int	pmc_list_pfm(void *arg, const struct prof_pfm_event *event);
static int	pmc_list_sysfs(void *arg, const char *name);

#define NO_PMU		"no PMU driver: this kernel offers software events only"

int
prof_pmc_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	struct pmc_listing listing = { .pl_names = names, .pl_fn = fn,
	    .pl_arg = arg };
	int rv;

	if (!names->nm_offline) {
		listing.pl_no_hardware = prof_pmc_why_not(PERF_TYPE_HARDWARE,
		    PERF_COUNT_HW_CPU_CYCLES);
		listing.pl_no_cache = prof_pmc_why_not(PERF_TYPE_HW_CACHE,
		    PERF_COUNT_HW_CACHE_L1D);
		listing.pl_no_software = prof_pmc_why_not(PERF_TYPE_SOFTWARE,
		    PERF_COUNT_SW_CPU_CLOCK);
	}
	if ((rv = pmc_list_perf(&listing)) != 0)
		return (rv);
	rv = prof_pfm_each(names, NULL, pmc_list_pfm, &listing);
	if (rv == 0 && !names->nm_offline)
		rv = prof_sysfs_list(pmc_list_sysfs, &listing);
	if (listing.pl_told_missing)
		*why = listing.pl_no_hardware;
	return (rv);
}

const char *
prof_pmc_why_not(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};

	if (prof_perf_always_zero(&attr))
		attr.exclude_kernel = attr.exclude_hv = 0;
	switch (prof_perf_probe(&attr)) {
	case 0:
		return (NULL);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return (NO_PMU);
	case EACCES:
	case EPERM:
		return ("not permitted: see kernel.perf_event_paranoid");
	case ENOSYS:
		return ("this kernel has no perf_event_open");
	default:
		return ("the kernel rejects the event");
	}
}

static int
pmc_tell(struct pmc_listing *listing, const char *name, const char *alias,
    const char *desc, const char *why)
{
	struct prof_probe probe = { .pp_alias = alias, .pp_desc = desc,
	    .pp_why_not = why };
	char text[PROF_SPEC_MAX + 16];

	snprintf(text, sizeof(text), "pmc:::%s", name);
	if (!prof_listing_wants(listing->pl_names, text, alias))
		return (0);
	listing->pl_told_missing |= why != NULL;
	probe.pp_probe = text;
	return (listing->pl_fn(listing->pl_arg, &probe));
}

static int
pmc_list_perf(struct pmc_listing *listing)
{
	struct prof_pmc counter;
	const char *why, *desc;
	char name[64], of[PROF_SPEC_MAX + 160], text[128];
	int rv = 0;

	for (size_t n = 0; rv == 0 &&
	    prof_counter_name_at(n, name, sizeof(name)); n++) {
		memset(&counter, 0, sizeof(counter));
		if (prof_counter_software(name, &counter) == 0)
			prof_counter_perf(name, &counter);
		switch (counter.pc_type) {
		case PERF_TYPE_SOFTWARE:
			why = listing->pl_no_software;
			break;
		case PERF_TYPE_HARDWARE:
			why = listing->pl_no_hardware;
			break;
		default:
			why = listing->pl_no_cache;
			break;
		}
		desc = prof_counter_desc(name, text, sizeof(text));
		if (strcmp(counter.pc_name, name) != 0) {
			snprintf(of, sizeof(of), "same as %s: %s",
			    counter.pc_name, desc);
			desc = of;
		}
		rv = pmc_tell(listing, name, name, desc, why);
	}
	if (rv == 0)
		rv = pmc_tell(listing, "rNNN", "rNNN",
		    "raw event: NNN is an event code in hexadecimal",
		    listing->pl_no_hardware);
	return (rv);
}

/* What cannot take samples is sysfs's to list. */
static int
pmc_list_pfm(void *arg, const struct prof_pfm_event *event)
{
	struct pmc_listing *listing = arg;

	if (!event->pe_pmu->pu_is_core)
		return (0);
	return (pmc_tell(listing, event->pe_name,
	    strstr(event->pe_name, "::") + 2, event->pe_desc,
	    listing->pl_no_hardware));
}

/* Can it be opened on our own process or, as uncore PMUs want it, on a CPU? */
static bool
counter_opens(const struct prof_pmc *counter, uint64_t period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = counter->pc_type,
		.config = counter->pc_config,
		.config1 = counter->pc_config1,
		.config2 = counter->pc_config2,
		.disabled = 1, .sample_period = period,
	};
	int fd;

	if (prof_perf_probe(&attr) == 0)
		return (true);
	fd = prof_perf_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -1)
		return (false);
	close(fd);
	return (true);
}

/* A PMU without interrupts, as msr, refuses the same event with a period. */
static int
pmc_list_sysfs(void *arg, const char *name)
{
	struct pmc_listing *listing = arg;
	struct prof_pmc counter = { 0 };
	struct prof_spec spec;
	struct prof_err error = { 0 };
	char text[PROF_SPEC_MAX + 16];
	const char *why = NULL;

	snprintf(text, sizeof(text), "pmc:::%s", name);
	if (prof_spec_parse(&spec, text, &error) == 0 &&
	    prof_counter_sysfs(listing->pl_names, &spec, &counter,
	    &error) == 1 && counter_opens(&counter, 0) &&
	    !counter_opens(&counter, 1000000))
		why = "this PMU can count but not sample: use dtprof stat";
	return (pmc_tell(listing, name, name, "event of a PMU in sysfs", why));
}
