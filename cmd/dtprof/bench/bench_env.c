/* SPDX-License-Identifier: ISC */
/*
 * The machine of a bench: what it is, for the description, so that results
 * of unlike machines are not compared by mistake; and what disturbs it, for
 * warnings.  What a file of /proc or /sys does not say is left out.
 */
#include <sys/utsname.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define CPU	"/sys/devices/system/cpu/"
#define STOLEN	0.01	/* of the time of a CPU: other guests disturb */

/* The first line of a file; "" when it cannot be read. */
static const char *
line_of(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read(fd, line, size - 1);

	if (fd != -1)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return (line);
}

static const char *
cpu_model(char *model, size_t size)
{
	char line[512], *colon;
	FILE *file = fopen("/proc/cpuinfo", "re");

	model[0] = '\0';
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "model name", 10) != 0 ||
		    (colon = strchr(line, ':')) == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(model, size, "%s", colon + 2);
		break;
	}
	if (file != NULL)
		fclose(file);
	return (model);
}

/* "[madvise]" of "always [madvise] never". */
static const char *
chosen_of(char *line)
{
	char *begin = strchr(line, '['), *end;

	if (begin == NULL || (end = strchr(begin, ']')) == NULL)
		return (line);
	*end = '\0';
	return (begin + 1);
}

void
bench_program(struct bench_command *bc)
{
	char path[4096];

	bc->bc_build_id[0] = '\0';
	if (bc->bc_argv != NULL && bc->bc_argv[0] != NULL &&
	    file_find_program(bc->bc_argv[0], path, sizeof(path)))
		prof_build_id(path, bc->bc_build_id,
		    sizeof(bc->bc_build_id));
}

static void
emit_file(struct emit *em, const char *name, const char *path)
{
	char line[512];

	EMIT(em, GIVEN(name, line_of(path, line, sizeof(line))));
}

void
bench_environment(struct emit *em)
{
	const time_t now = time(NULL);
	struct utsname un;
	struct tm tm;
	char when[32] = "", model[512], pages[512];

	uname(&un);
	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	EMIT(em, TEXT("kernel", un.release), GIVEN("host", un.nodename),
	    GIVEN("time", when), GIVEN("arch", un.machine),
	    GIVEN("cpu_model", cpu_model(model, sizeof(model))),
	    SIGNED("cpus", sysconf(_SC_NPROCESSORS_ONLN)));
	emit_file(em, "governor", CPU "cpu0/cpufreq/scaling_governor");
	emit_file(em, "no_turbo", CPU "intel_pstate/no_turbo");
	emit_file(em, "boost", CPU "cpufreq/boost");
	emit_file(em, "smt", CPU "smt/control");
	emit_file(em, "aslr", "/proc/sys/kernel/randomize_va_space");
	line_of("/sys/kernel/mm/transparent_hugepage/enabled", pages,
	    sizeof(pages));
	EMIT(em, GIVEN("huge_pages", chosen_of(pages)));
	emit_file(em, "load", "/proc/loadavg");
}

/* Time that the machine under this one gave to others. */
static double
steal_seconds(void)
{
	unsigned long long steal = 0;
	char line[512];

	line_of("/proc/stat", line, sizeof(line));
	if (sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		return (0);
	return ((double)steal / (double)sysconf(_SC_CLK_TCK));
}

static uint64_t
throttle_sum(void)
{
	char path[512], line[64];
	uint64_t sum = 0;
	struct dirent *entry;
	DIR *dir = opendir(CPU);

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof(path), CPU
		    "%s/thermal_throttle/core_throttle_count", entry->d_name);
		sum += strtoull(line_of(path, line, sizeof(line)), NULL, 10);
	}
	if (dir != NULL)
		closedir(dir);
	return (sum);
}

void
bench_noise(struct bench_noise *noise)
{
	char line[128];

	noise->no_steal_s = steal_seconds();
	noise->no_load = strtod(line_of("/proc/loadavg", line, sizeof(line)),
	    NULL);
	noise->no_throttled = throttle_sum();
}

void
bench_warn_before(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct bench_noise noise;
	char line[64];

	bench_noise(&noise);
	if (noise.no_load > (double)cpus / 2)
		msg_warning("bench", "the machine is not idle (load %.2f on "
		    "%ld CPUs)", noise.no_load, cpus);
	line_of(CPU "cpu0/cpufreq/scaling_governor", line, sizeof(line));
	if (line[0] != '\0' && strcmp(line, "performance") != 0)
		msg_warning("bench", "CPU frequency varies: the governor is "
		    "'%s', not 'performance'", line);
}

void
bench_warn_after(const struct bench *bench)
{
	double stolen = 0, wall = 0;
	uint64_t hot = 0;
	size_t failed = 0;

	for (size_t i = 0; i < bench->be_nresults; i++) {
		const struct bench_result *br = &bench->be_result[i];

		stolen += br->br_steal_s;
		wall += br->br_value[BENCH_WALL];
		hot += br->br_throttled;
		failed += br->br_status != 0;
	}
	if (stolen > STOLEN * wall)
		msg_warning("bench", "the hypervisor took %.1f%% of a CPU "
		    "(steal time): results are noisy", 100 * stolen / wall);
	if (hot > 0)
		msg_warning("bench", "thermal throttling slowed the CPU %llu "
		    "times: results are noisy", (unsigned long long)hot);
	if (failed > 0)
		msg_warning("bench", "%zu of %zu runs exited with a nonzero "
		    "status; the results include them (--ignore-failure)",
		    failed, bench->be_nresults);
}
