/* SPDX-License-Identifier: ISC */
/*
 * A workload of known stacks, for measuring: eighteen levels, most of
 * four functions.  At six of them, two bits of a random number choose the
 * next function: 4096 paths, all of the same depth.
 *
 *	paths [-c cpu] [-n times | -s seconds] [-w turns] [-r file] what
 *
 *	flat	getppid in a loop, without the levels
 *	call	getppid below the levels
 *	spin	a loop of so many turns (-w) below the levels
 *
 * What it did is one line in the file: how many times, nanoseconds that
 * passed, of CPU time, of the clock when it began and ended, CPU time of
 * the whole process.  Compiled with frame pointers (run.sh).
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEVEL		static __attribute__((noinline)) uint64_t
#define BATCH		1000	/* between two looks at the clock */

struct did {
	uint64_t	di_times;
	uint64_t	di_wall_ns;
	uint64_t	di_cpu_ns;
	uint64_t	di_begin_ns;
	uint64_t	di_end_ns;
};

static volatile uint64_t sink;
static unsigned long turns = 1000;
static int is_call;

/* The number added differs, so no two functions are merged into one. */
#define STRAIGHT(at, k, next)						\
LEVEL level_##at##_##k(uint32_t path)					\
{									\
	uint64_t got = next;						\
									\
	return (got + at * 4 + k);					\
}

#define CHOOSE(at, k, shift, next)					\
LEVEL level_##at##_##k(uint32_t path)					\
{									\
	uint64_t got;							\
									\
	switch (path >> shift & 3) {					\
	case 0: got = level_##next##_0(path); break;			\
	case 1: got = level_##next##_1(path); break;			\
	case 2: got = level_##next##_2(path); break;			\
	default: got = level_##next##_3(path); break;			\
	}								\
	return (got + at * 4 + k);					\
}

#define FOUR(at, next)							\
STRAIGHT(at, 0, level_##next##_0(path))					\
STRAIGHT(at, 1, level_##next##_1(path))					\
STRAIGHT(at, 2, level_##next##_2(path))					\
STRAIGHT(at, 3, level_##next##_3(path))

#define FOUR_LEAVES(at)							\
STRAIGHT(at, 0, leaf(path))						\
STRAIGHT(at, 1, leaf(path))						\
STRAIGHT(at, 2, leaf(path))						\
STRAIGHT(at, 3, leaf(path))

#define FOUR_CHOICES(at, shift, next)					\
CHOOSE(at, 0, shift, next)						\
CHOOSE(at, 1, shift, next)						\
CHOOSE(at, 2, shift, next)						\
CHOOSE(at, 3, shift, next)

LEVEL
leaf_spin(uint32_t path)
{
	uint64_t x = path | 1;
	unsigned long i;

	for (i = 0; i < turns; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	return (x);
}

LEVEL
leaf(uint32_t path)
{
	uint64_t got;

	if (is_call)
		got = (uint64_t)syscall(SYS_getppid);
	else
		got = leaf_spin(path);
	return (got + path);
}

FOUR_LEAVES(17)
FOUR_CHOICES(16, 10, 17)
FOUR(15, 16)
FOUR(14, 15)
FOUR_CHOICES(13, 8, 14)
FOUR(12, 13)
FOUR(11, 12)
FOUR_CHOICES(10, 6, 11)
FOUR(9, 10)
FOUR(8, 9)
FOUR_CHOICES(7, 4, 8)
FOUR(6, 7)
FOUR(5, 6)
FOUR_CHOICES(4, 2, 5)
FOUR(3, 4)
FOUR(2, 3)
/* Of the first two levels just one: all paths begin alike. */
CHOOSE(1, 0, 0, 2)
STRAIGHT(0, 0, level_1_0(path))

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

LEVEL
batch(uint64_t n, int flat)
{
	static uint32_t x = 12345;
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		if (flat)
			sum += (uint64_t)syscall(SYS_getppid);
		else
			sum += level_0_0(x & 4095);
	}
	return (sum);
}

static void
run(struct did *did, int flat, uint64_t times, double seconds)
{
	uint64_t cpu_ns, n, limit_ns;

	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	did->di_begin_ns = did->di_end_ns = now_ns(CLOCK_MONOTONIC);
	limit_ns = did->di_begin_ns + (uint64_t)(seconds * 1e9);
	while (times != 0 ? did->di_times < times :
	    did->di_end_ns < limit_ns) {
		n = times != 0 && times - did->di_times < BATCH ?
		    times - did->di_times : BATCH;
		sink += batch(n, flat);
		did->di_times += n;
		did->di_end_ns = now_ns(CLOCK_MONOTONIC);
	}
	did->di_wall_ns = did->di_end_ns - did->di_begin_ns;
	did->di_cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
}

static void
stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == -1) {
		perror("paths: sched_setaffinity");
		exit(1);
	}
}

static void
say(const struct did *did, const char *path)
{
	FILE *file = path == NULL ? stdout : fopen(path, "w");

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	(void)fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 "\n", did->di_times, did->di_wall_ns,
	    did->di_cpu_ns, did->di_begin_ns, did->di_end_ns,
	    now_ns(CLOCK_PROCESS_CPUTIME_ID));
	(void)fclose(file);
}

int
main(int argc, char *argv[])
{
	struct did did = { 0 };
	uint64_t times = 0;
	double seconds = 1;
	const char *result = NULL;
	int option;

	while ((option = getopt(argc, argv, "c:n:r:s:w:")) != -1) {
		switch (option) {
		case 'c': stay_on(atoi(optarg)); break;
		case 'n': times = strtoull(optarg, NULL, 10); break;
		case 'r': result = optarg; break;
		case 's': seconds = atof(optarg); break;
		case 'w': turns = strtoul(optarg, NULL, 10); break;
		default: return (2);
		}
	}
	if (optind + 1 != argc)
		return (2);
	is_call = strcmp(argv[optind], "call") == 0;
	run(&did, strcmp(argv[optind], "flat") == 0, times, seconds);
	say(&did, result);
	return (0);
}
