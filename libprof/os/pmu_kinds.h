/* SPDX-License-Identifier: ISC */
/*
 * Kinds of CPUs in one machine (pmu_kinds.c).  Included by what opens
 * counters, and by the test, which has machines of its own.
 */
#ifndef PMU_KINDS_H
#define PMU_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_PMU_KINDS	8

struct perf_event_attr;
struct prof_names;

struct prof_pmu_kind {
	char		 pk_name[68];
	uint32_t	 pk_type;
	int		*pk_cpus;
	size_t		 pk_ncpus;
	bool		 pk_extends;	/* general names must be told of it */
};

/* Fewer than two: all CPUs are alike. */
struct prof_pmu_kinds {
	struct prof_pmu_kind ks_kind[PROF_PMU_KINDS];
	size_t		 ks_n;
};

/* Of this machine, read when first asked for; borrowed (names.c). */
const struct prof_pmu_kinds *prof_names_kinds(struct prof_names *names);
/* As a directory of PMUs says. */
void	prof_pmu_kinds_read(struct prof_pmu_kinds *kinds, const char *pmus);
void	prof_pmu_kinds_free(struct prof_pmu_kinds *kinds);
/* false: it is an event of another kind's PMU. */
bool	prof_pmu_counts_on(const struct prof_pmu_kinds *kinds,
	    const struct perf_event_attr *attr, int cpu);
/* Make a general event that of this CPU's kind. */
void	prof_pmu_choose(const struct prof_pmu_kinds *kinds,
	    struct perf_event_attr *attr, int cpu);
/* Does it miss what a task does elsewhere?  Then that in words. */
bool	prof_pmu_partial(const struct prof_pmu_kinds *kinds,
	    const struct perf_event_attr *attr, char *text, size_t size);

/* Does it interrupt some instructions behind the one that it means? */
bool	prof_pmu_skids(const struct prof_pmu_kinds *kinds,
	    const struct perf_event_attr *attr);

#endif /* PMU_KINDS_H */
