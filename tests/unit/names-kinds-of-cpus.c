/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: where CPUs are of several kinds, a general event is on each CPU
 * the one of that CPU's kind, an event of one kind is not opened elsewhere,
 * and what a counter on a task misses is said.  Where all are alike, or the
 * kernel chooses by itself (arm64), an event stays what it is.
 *
 * Easy to get wrong: counting nothing on half of the machine, in silence.
 * Machines are made of files here; the kernel's part is not tried.
 */
#include <sys/stat.h>

#include <linux/perf_event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "os/pmu_kinds.h"

static char root[] = "/tmp/dtprof-kinds.XXXXXX";

static void
write_file(const char *pmu, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, pmu);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, name);
	CHECK((file = fopen(path, "w")) != NULL);
	fputs(text, file);
	fclose(file);
}

static void
remove_pmu(const char *pmu)
{
	static const char *const names[] = { "type", "cpus", "cpumask" };
	char path[256];

	for (size_t n = 0; n < 3; n++) {
		snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, names[n]);
		(void)unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%s", root, pmu);
	CHECK(rmdir(path) == 0);
}

static struct perf_event_attr
event_of(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.config = config;
	return (attr);
}

static void
hybrid(void)
{
	struct perf_event_attr cycles = event_of(PERF_TYPE_HARDWARE, 0);
	struct perf_event_attr own = event_of(10, 0x3c), attr;
	struct perf_event_attr clock = event_of(PERF_TYPE_SOFTWARE, 0);
	struct prof_pmu_kinds kinds;
	char text[256];

	write_file("cpu_core", "type", "4\n");
	write_file("cpu_core", "cpus", "0-3\n");
	write_file("cpu_atom", "type", "10\n");
	write_file("cpu_atom", "cpus", "4-7\n");
	write_file("uncore_imc", "type", "20\n");
	write_file("uncore_imc", "cpumask", "0\n");
	prof_pmu_kinds_read(&kinds, root);
	CHECK(kinds.ks_n == 2);
	prof_pmu_choose(&kinds, &cycles, -1);
	CHECK(cycles.config == 0);
	attr = cycles;
	prof_pmu_choose(&kinds, &attr, 3);
	CHECK(attr.type == PERF_TYPE_HARDWARE && attr.config == 4ULL << 32);
	/* Told once, it stays. */
	prof_pmu_choose(&kinds, &attr, 4);
	CHECK(attr.config == 4ULL << 32);
	attr = event_of(PERF_TYPE_HW_CACHE, 0x10002);
	prof_pmu_choose(&kinds, &attr, 4);
	CHECK(attr.config == (10ULL << 32 | 0x10002));
	attr = clock;
	prof_pmu_choose(&kinds, &attr, 4);
	CHECK(attr.config == 0);
	CHECK(prof_pmu_counts_on(&kinds, &cycles, 0) &&
	    prof_pmu_counts_on(&kinds, &cycles, 7));
	CHECK(!prof_pmu_counts_on(&kinds, &own, 3) &&
	    prof_pmu_counts_on(&kinds, &own, 4));
	CHECK(prof_pmu_partial(&kinds, &cycles, text, sizeof(text)));
	CHECK(strstr(text, "(cpu_core, cpu_atom)") != NULL);
	CHECK(prof_pmu_partial(&kinds, &own, text, sizeof(text)));
	CHECK(!prof_pmu_partial(&kinds, &clock, text, sizeof(text)));
	prof_pmu_kinds_free(&kinds);
	printf("ok: two kinds on x86: %s\n", text);
}

/* The kernel finds the CPU's own: only what a task misses is said. */
static void
big_and_little(void)
{
	struct perf_event_attr attr = event_of(PERF_TYPE_HARDWARE, 1);
	struct prof_pmu_kinds kinds;
	char text[256];

	write_file("armv8_cortex_a72", "type", "8\n");
	write_file("armv8_cortex_a72", "cpus", "4-5\n");
	write_file("armv8_cortex_a53", "type", "7\n");
	write_file("armv8_cortex_a53", "cpus", "0-3\n");
	prof_pmu_kinds_read(&kinds, root);
	CHECK(kinds.ks_n == 2);
	prof_pmu_choose(&kinds, &attr, 4);
	CHECK(attr.config == 1);
	CHECK(prof_pmu_partial(&kinds, &attr, text, sizeof(text)));
	prof_pmu_kinds_free(&kinds);
	printf("ok: two kinds on arm64: %s\n", text);
}

static void
all_alike(void)
{
	struct perf_event_attr attr = event_of(PERF_TYPE_HARDWARE, 1);
	struct perf_event_attr own = event_of(8, 0x11);
	struct prof_pmu_kinds kinds;
	char text[256];

	prof_pmu_kinds_read(&kinds, root);
	CHECK(kinds.ks_n == 1);
	prof_pmu_choose(&kinds, &attr, 0);
	CHECK(attr.config == 1);
	CHECK(prof_pmu_counts_on(&kinds, &own, 0));
	CHECK(!prof_pmu_partial(&kinds, &attr, text, sizeof(text)));
	prof_pmu_kinds_free(&kinds);
	prof_pmu_kinds_read(&kinds, "/nonexistent");
	CHECK(kinds.ks_n == 0);
	printf("ok: one kind, or none\n");
}

int
main(void)
{
	CHECK(mkdtemp(root) != NULL);
	hybrid();
	remove_pmu("cpu_core");
	remove_pmu("cpu_atom");
	remove_pmu("uncore_imc");
	big_and_little();
	remove_pmu("armv8_cortex_a53");
	all_alike();
	remove_pmu("armv8_cortex_a72");
	rmdir(root);
	return (0);
}
