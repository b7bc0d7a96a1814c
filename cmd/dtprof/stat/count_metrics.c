/* SPDX-License-Identifier: ISC */
/*
 * Ratios of what was counted: instructions per cycle, shares of misses,
 * rates.  A table says which; a ratio is there when both of its events were
 * counted in the same modes (:u with :u).  Each run has its own ratio, and
 * the mean is the mean of these.
 *
 * Called by count.c after the last run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

/* Below the line: another event, or a second of wall time. */
#define PER_SECOND	NULL

static const struct {
	const char	*me_event;
	const char	*me_per;
	double		 me_factor;
	const char	*me_unit;
	const char	*me_name;	/* in JSON */
	int		 me_digits;
} metrics[] = {
	{ "task-clock", PER_SECOND, 1e-9, "CPUs used", "cpus_used", 2 },
	{ "context-switches", PER_SECOND, 1, "/s",
	    "context_switches_per_second", 0 },
	{ "cpu-migrations", PER_SECOND, 1, "/s",
	    "cpu_migrations_per_second", 0 },
	{ "page-faults", PER_SECOND, 1, "/s", "page_faults_per_second", 0 },
	/* A count in each nanosecond is a gigahertz. */
	{ "cycles", "task-clock", 1, "GHz", "gigahertz", 2 },
	{ "instructions", "cycles", 1, "per cycle",
	    "instructions_per_cycle", 2 },
	{ "branches", "instructions", 100, "% of instructions",
	    "branch_share", 1 },
	{ "branch-misses", "branches", 100, "% of branches",
	    "branch_miss_rate", 2 },
	{ "cache-misses", "cache-references", 100, "% of references",
	    "cache_miss_rate", 2 },
	{ "L1-dcache-load-misses", "L1-dcache-loads", 100, "% of loads",
	    "l1_dcache_load_miss_rate", 2 },
	{ "LLC-load-misses", "LLC-loads", 100, "% of loads",
	    "llc_load_miss_rate", 2 },
	{ "dTLB-load-misses", "dTLB-loads", 100, "% of loads",
	    "dtlb_load_miss_rate", 2 },
	{ "stalled-cycles-frontend", "cycles", 100, "% of cycles",
	    "frontend_stall_share", 1 },
	{ "stalled-cycles-backend", "cycles", 100, "% of cycles",
	    "backend_stall_share", 1 },
};

static const char *mods_of(const char *name);
static bool	 is_called(const struct count *count, size_t event,
		    const char *name);

/* What follows the last colon, when it is modifiers. */
static const char *
mods_of(const char *name)
{
	const char *colon = strrchr(name, ':');

	if (colon == NULL || colon[1 + strspn(colon + 1, "ukhp")] != '\0')
		return ("");
	return (colon + 1);
}

static bool
is_called(const struct count *count, size_t event, const char *name)
{
	const char *probe = prof_counting_event(count->co_counting,
	    event)->ce_probe;
	const char *last = strrchr(probe, ':');

	if (last == NULL || strncmp(probe, "pmc:", 4) != 0)
		return (false);
	return (strcmp(last + 1, name) == 0 || (strcmp(name, "cycles") == 0 &&
	    strcmp(last + 1, "cpu-cycles") == 0));
}

/*
 * The event to divide by: of the same group if there, since then both were
 * counted in the same time; else any in the same modes.  A clock has none.
 */
static size_t
divisor_of(const struct count *count, size_t event, const char *name)
{
	const struct prof_counted_event *of = prof_counting_event(
	    count->co_counting, event), *by;
	size_t found = count->co_nevents;

	for (size_t e = 0; e < count->co_nevents; e++) {
		by = prof_counting_event(count->co_counting, e);
		if (!is_called(count, e, name) ||
		    (strcmp(name, "task-clock") != 0 &&
		    strcmp(mods_of(of->ce_name), mods_of(by->ce_name)) != 0))
			continue;
		if (found == count->co_nevents ||
		    (by->ce_group != -1 && by->ce_group == of->ce_group))
			found = e;
	}
	return (found);
}

static double *
ratio_mean(const struct count *count, size_t event, size_t by, double factor)
{
	double *values = calloc(count->co_nruns + 1, sizeof(*values));
	const double *below = by == count->co_nevents ?
	    count->co_time[COUNT_WALL].cs_values :
	    count->co_event[by].cs_values;

	for (size_t r = 0; values != NULL && r < count->co_nruns; r++)
		values[r] = below[r] > 0 ? count->co_event[event].cs_values[r]
		    * factor / below[r] : NAN;
	return (values);
}

int
count_metrics(struct count *count)
{
	for (size_t e = 0; e < count->co_nevents; e++)
		for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]);
		    m++) {
			struct count_metric *metric =
			    &count->co_metric[count->co_nmetrics];
			size_t by = count->co_nevents;

			if (!is_called(count, e, metrics[m].me_event) ||
			    count->co_nmetrics == COUNT_METRICS)
				continue;
			if (metrics[m].me_per != PER_SECOND &&
			    (by = divisor_of(count, e, metrics[m].me_per)) ==
			    count->co_nevents)
				continue;
			metric->cm_event = e;
			metric->cm_digits = metrics[m].me_digits;
			metric->cm_series.cs_name = metrics[m].me_name;
			metric->cm_series.cs_unit = metrics[m].me_unit;
			metric->cm_series.cs_values = ratio_mean(count, e, by,
			    metrics[m].me_factor);
			if (metric->cm_series.cs_values == NULL)
				return (-1);
			count->co_nmetrics++;
		}
	return (0);
}
