/* SPDX-License-Identifier: ISC */
/*
 * perf's own names for the kernel's generic events: software, hardware,
 * caches, and raw codes.  Called by pmc.c before (software) and after
 * (the rest) libpfm4 was asked, and by the catalog and suggest.c for the
 * list of names.  Whether a counter exists on this machine is not asked here.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/names.h"

struct counter_name {
	const char	*cn_name;
	uint32_t	 cn_type;
	uint64_t	 cn_config;
	const char	*cn_canonical;	/* NULL: this is it */
};

#define SW(name, config) { name, PERF_TYPE_SOFTWARE, \
	PERF_COUNT_SW_##config, NULL }
#define HW(name, config) { name, PERF_TYPE_HARDWARE, \
	PERF_COUNT_HW_##config, NULL }
#define ALSO(name, of) { name, 0, 0, of }

static const struct counter_name software[] = {
	SW("cpu-clock", CPU_CLOCK),
	SW("task-clock", TASK_CLOCK),
	SW("page-faults", PAGE_FAULTS),
	ALSO("faults", "page-faults"),
	SW("minor-faults", PAGE_FAULTS_MIN),
	SW("major-faults", PAGE_FAULTS_MAJ),
	SW("context-switches", CONTEXT_SWITCHES),
	ALSO("cs", "context-switches"),
	SW("cpu-migrations", CPU_MIGRATIONS),
	ALSO("migrations", "cpu-migrations"),
	SW("alignment-faults", ALIGNMENT_FAULTS),
	SW("emulation-faults", EMULATION_FAULTS),
	SW("cgroup-switches", CGROUP_SWITCHES),
	SW("dummy", DUMMY),
};

static const struct counter_name hardware[] = {
	HW("cycles", CPU_CYCLES),
	ALSO("cpu-cycles", "cycles"),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES),
	HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS),
	ALSO("branch-instructions", "branches"),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES),
	HW("ref-cycles", REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	ALSO("idle-cycles-frontend", "stalled-cycles-frontend"),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	ALSO("idle-cycles-backend", "stalled-cycles-backend"),
};

/* CACHE-OPERATION: "L1-dcache-load-misses". */
static const struct {
	const char	*ca_name;
	uint64_t	 ca_id;
	unsigned	 ca_ops;	/* bit per operation that makes sense */
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, 7 },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, 5 },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, 7 },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, 7 },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, 1 },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, 1 },
	{ "node", PERF_COUNT_HW_CACHE_NODE, 7 },
};

static const struct {
	const char	*co_name;
	uint64_t	 co_op, co_result;
} operations[] = {
	{ "loads", PERF_COUNT_HW_CACHE_OP_READ, 0 },
	{ "load-misses", PERF_COUNT_HW_CACHE_OP_READ, 1 },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE, 0 },
	{ "store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, 1 },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, 0 },
	{ "prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, 1 },
};

#define COUNT(table)	(sizeof(table) / sizeof((table)[0]))

static int
counter_lookup(const struct counter_name *table, size_t n, const char *name,
    struct prof_pmc *counter)
{
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(table[i].cn_name, name) != 0)
			continue;
		if (table[i].cn_canonical != NULL)
			return (counter_lookup(table, n,
			    table[i].cn_canonical, counter));
		counter->pc_type = table[i].cn_type;
		counter->pc_config = table[i].cn_config;
		snprintf(counter->pc_name, sizeof(counter->pc_name), "%s",
		    table[i].cn_name);
		return (1);
	}
	return (0);
}

int
prof_counter_software(const char *name, struct prof_pmc *counter)
{
	return (counter_lookup(software, COUNT(software), name, counter));
}

static int
counter_cache(const char *name, struct prof_pmc *counter)
{
	for (size_t c = 0; c < COUNT(caches); c++) {
		size_t length = strlen(caches[c].ca_name);

		if (strncasecmp(name, caches[c].ca_name, length) != 0 ||
		    name[length] != '-')
			continue;
		for (size_t o = 0; o < COUNT(operations); o++) {
			if ((caches[c].ca_ops >> operations[o].co_op & 1) == 0)
				continue;
			if (strcasecmp(name + length + 1,
			    operations[o].co_name) != 0)
				continue;
			counter->pc_type = PERF_TYPE_HW_CACHE;
			counter->pc_config = caches[c].ca_id |
			    operations[o].co_op << 8 |
			    operations[o].co_result << 16;
			snprintf(counter->pc_name, sizeof(counter->pc_name),
			    "%s-%s", caches[c].ca_name,
			    operations[o].co_name);
			return (1);
		}
	}
	return (0);
}

/* "r1a8": the PMU's own code, in hexadecimal. */
static int
counter_raw(const char *name, struct prof_pmc *counter)
{
	size_t length = strlen(name);

	if (name[0] != 'r' || length < 2 || length > 17)
		return (0);
	for (size_t n = 1; n < length; n++)
		if (!isxdigit((unsigned char)name[n]))
			return (0);
	counter->pc_type = PERF_TYPE_RAW;
	counter->pc_config = strtoull(name + 1, NULL, 16);
	snprintf(counter->pc_name, sizeof(counter->pc_name), "%s", name);
	return (1);
}

int
prof_counter_perf(const char *name, struct prof_pmc *counter)
{
	return (counter_lookup(hardware, COUNT(hardware), name, counter) ||
	    counter_cache(name, counter) || counter_raw(name, counter));
}

/* All names in the order above; buffer is the caller's. */
bool
prof_counter_name_at(size_t n, char *buffer, size_t size)
{
	if (n < COUNT(software)) {
		snprintf(buffer, size, "%s", software[n].cn_name);
		return (true);
	}
	n -= COUNT(software);
	if (n < COUNT(hardware)) {
		snprintf(buffer, size, "%s", hardware[n].cn_name);
		return (true);
	}
	n -= COUNT(hardware);
	for (size_t c = 0; c < COUNT(caches); c++)
		for (size_t o = 0; o < COUNT(operations); o++) {
			if ((caches[c].ca_ops >> operations[o].co_op & 1) == 0)
				continue;
			if (n-- == 0) {
				snprintf(buffer, size, "%s-%s",
				    caches[c].ca_name, operations[o].co_name);
				return (true);
			}
		}
	return (false);
}

/* ----------------------------------------------------------- meanings */

static const struct {
	const char	*me_name;
	const char	*me_desc;
} meanings[] = {
	{ "cpu-clock", "time on each CPU, also while the CPU is idle" },
	{ "task-clock", "CPU time that the task has used" },
	{ "page-faults", "page faults: accesses to memory that was not mapped "
	    "yet, or had to be read from disk" },
	{ "minor-faults", "page faults served without reading from disk" },
	{ "major-faults", "page faults that had to read from disk" },
	{ "context-switches", "context switches: the CPU went from this task "
	    "to another" },
	{ "cpu-migrations", "moves of the task from one CPU to another" },
	{ "alignment-faults", "unaligned memory accesses that the kernel had "
	    "to handle" },
	{ "emulation-faults", "instructions that the kernel had to emulate" },
	{ "cgroup-switches", "switches of the CPU to a task of another "
	    "cgroup" },
	{ "dummy", "counts nothing; carries mapping and process events" },
	{ "cycles", "CPU clock cycles, not while halted" },
	{ "instructions", "instructions retired: executed and not discarded" },
	{ "cache-references", "memory accesses that reached the last-level "
	    "cache" },
	{ "cache-misses", "memory accesses that missed the last-level cache "
	    "and went to memory" },
	{ "branches", "branch instructions retired" },
	{ "branch-misses", "branch mispredictions: branches that were "
	    "predicted wrongly" },
	{ "bus-cycles", "clock cycles of the bus" },
	{ "ref-cycles", "cycles at the reference frequency, whatever the "
	    "CPU's frequency is" },
	{ "stalled-cycles-frontend", "cycles in which the front end "
	    "delivered no instruction: stalls on fetch and decode" },
	{ "stalled-cycles-backend", "cycles in which no instruction could "
	    "proceed: stalls on memory or execution units" },
};

static const char *const cache_meanings[] = {
	"level-1 (L1) data cache", "level-1 (L1) instruction cache",
	"last-level cache (LLC, mostly L3)",
	"data TLB (address translations)",
	"instruction TLB (address translations)",
	"branch predictor", "memory of the CPU's own NUMA node"
};

/* Borrowed; one of the caches' is made into the caller's buffer. */
const char *
prof_counter_desc(const char *name, char *buffer, size_t size)
{
	struct prof_pmc counter = { 0 };

	if (prof_counter_software(name, &counter) == 0 &&
	    prof_counter_perf(name, &counter) == 0)
		return ("");
	for (size_t n = 0; n < COUNT(meanings); n++)
		if (strcmp(meanings[n].me_name, counter.pc_name) == 0)
			return (meanings[n].me_desc);
	for (size_t c = 0; c < COUNT(caches); c++)
		for (size_t o = 0; o < COUNT(operations); o++)
			if (counter.pc_type == PERF_TYPE_HW_CACHE &&
			    counter.pc_config == (caches[c].ca_id |
			    operations[o].co_op << 8 |
			    operations[o].co_result << 16)) {
				snprintf(buffer, size, "%s: %s%s",
				    cache_meanings[c], operations[o &
				    ~(size_t)1].co_name,
				    operations[o].co_result ?
				    " that missed" : "");
				return (buffer);
			}
	return ("");
}
