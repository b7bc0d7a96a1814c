/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever an input says, reading all of it stays within memory
 * that belongs to it, takes at most 256 MB and four times its size, and ends
 * within ten seconds of CPU time.
 *
 *	mutants [--seed N] [--from N] [--count N] [--seconds S]
 *	    FORMAT SEED-FILE ...
 *
 * At least count mutants and at least so many seconds of CPU time.  Memory is
 * what malloc has given out; the first byte too many ends the run, as does
 * the first finding of the sanitizers.  Then stands which mutant it was, and
 * --from N --count 1 makes it again.  Status 1: a finding, or half of them did
 * not pass the door.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mutants.h"

#define MEMORY_FIRST	(256ull << 20)
#define MEMORY_PER_BYTE	4
#define MAX_SECONDS	10
#define LEAKS_EVERY	4096

static const struct format *const formats[] = { &format_recording,
    &format_perfdata, &format_pprof, &format_folded, &format_perf_script,
    &format_elf, &format_perfmap };

/* What the hooks look at. */
static atomic_ullong live, peak, limit = UINT64_MAX;
static const struct format *format;
static uint64_t number, seed = 1;
static char work[64], output[96], current[96];

struct cutter {
	pthread_t	cu_thread;
	int		cu_fd;
	size_t		cu_length;
	unsigned	cu_after_us;
	bool		cu_runs;
} cutter;

struct run {
	uint64_t	ru_from;
	uint64_t	ru_count;
	double		ru_seconds;
	struct prof_buf	*ru_seed;
	size_t		ru_nseeds;
	uint64_t	ru_passed;
	uint64_t	ru_peak;
	uint64_t	ru_peak_number;
	double		ru_slowest;
	uint64_t	ru_slowest_number;
};

int	main(int, char **);

/* ------------------------------------------------------------ findings */

/* Called where nothing may be allocated. */
static void
say_number(void)
{
	char text[160];
	int n = snprintf(text, sizeof(text), "FINDING: %s --seed %" PRIu64
	    " --from %" PRIu64 ": %s\n", format->fm_name, seed, number,
	    current);

	if (n > 0)
		(void)!write(STDERR_FILENO, text, (size_t)n);
}

static void
finding(const char *what)
{
	(void)!write(STDERR_FILENO, what, strlen(what));
	say_number();
	_exit(1);
}

static void
on_time(int signo)
{
	(void)signo;
	finding("too slow: over ten seconds of CPU time\n");
}

static void
on_malloc(const volatile void *at, size_t size)
{
	unsigned long long now, before;

	(void)at;
	now = atomic_fetch_add(&live, size) + size;
	before = atomic_load(&peak);
	while (now > before &&
	    !atomic_compare_exchange_weak(&peak, &before, now))
		;
	if (now > atomic_load(&limit)) {
		atomic_store(&limit, UINT64_MAX);
		__sanitizer_print_stack_trace();
		finding("too large: over 256 MB and four times the input\n");
	}
}

static void
on_free(const volatile void *at)
{
	if (at != NULL)
		atomic_fetch_sub(&live, __sanitizer_get_allocated_size(
		    (const void *)(uintptr_t)at));
}

/* ------------------------------------------------------------- cutting */

static void *
cut(void *arg)
{
	const struct timespec after = { 0, cutter.cu_after_us * 1000L };

	(void)nanosleep(&after, NULL);
	(void)!ftruncate(cutter.cu_fd, (off_t)cutter.cu_length);
	return (arg);
}

void
mutants_cut(int fd, size_t length, unsigned after_us)
{
	cutter.cu_fd = fd;
	cutter.cu_length = length;
	cutter.cu_after_us = after_us;
	cutter.cu_runs = pthread_create(&cutter.cu_thread, NULL, cut,
	    NULL) == 0;
}

const char *
mutants_output(void)
{
	return (output);
}

/* ----------------------------------------------------------------- runs */

static double
cpu_seconds(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

static void
write_mutant(int fd, const struct prof_buf *bytes)
{
	if (ftruncate(fd, 0) == -1 || pwrite(fd, bytes->bf_data,
	    bytes->bf_len, 0) != (ssize_t)bytes->bf_len ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		perror(current);
		exit(2);
	}
}

/* Number n of this seed, whatever came before it. */
static void
run_one(struct run *run, int fd)
{
	struct chance chance = { seed * 0x9e3779b97f4a7c15 ^ number << 20 };
	const struct itimerval time = { { 0, 0 }, { MAX_SECONDS, 0 } };
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };
	struct prof_buf bytes = { 0 };
	unsigned long long before;
	double began;
	bool passed;

	(void)chance_next(&chance);
	format->fm_mutate(&chance, &run->ru_seed[chance_below(&chance,
	    run->ru_nseeds)], &bytes);
	write_mutant(fd, &bytes);
	before = atomic_load(&live) - bytes.bf_cap;
	prof_buf_free(&bytes);
	atomic_store(&peak, atomic_load(&live));
	atomic_store(&limit, before + MEMORY_FIRST + MEMORY_PER_BYTE *
	    (unsigned long long)lseek(fd, 0, SEEK_END));
	setitimer(ITIMER_PROF, &time, NULL);
	began = cpu_seconds();
	passed = format->fm_run(&chance, fd, (size_t)lseek(fd, 0, SEEK_END));
	began = cpu_seconds() - began;
	setitimer(ITIMER_PROF, &none, NULL);
	atomic_store(&limit, UINT64_MAX);
	if (cutter.cu_runs)
		(void)pthread_join(cutter.cu_thread, NULL);
	cutter.cu_runs = false;
	run->ru_passed += passed;
	if (atomic_load(&peak) - before > run->ru_peak) {
		run->ru_peak = atomic_load(&peak) - before;
		run->ru_peak_number = number;
	}
	if (began > run->ru_slowest) {
		run->ru_slowest = began;
		run->ru_slowest_number = number;
	}
}

static int
run_all(struct run *run)
{
	const double until = cpu_seconds() + run->ru_seconds;
	int fd = open(current, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	uint64_t n;

	if (fd == -1) {
		perror(current);
		return (2);
	}
	for (n = 0; n < run->ru_count || cpu_seconds() < until; n++) {
		number = run->ru_from + n;
		run_one(run, fd);
		if (n % LEAKS_EVERY == LEAKS_EVERY - 1 &&
		    __lsan_do_recoverable_leak_check() != 0)
			finding("leaked, in one of the last\n");
	}
	if (__lsan_do_recoverable_leak_check() != 0)
		finding("leaked, in one of the last\n");
	close(fd);
	printf("mutants: %s: %" PRIu64 " mutants, seed %" PRIu64
	    ", %.0f s of CPU time, %.1f %% passed the door, at most %.1f MB "
	    "(%" PRIu64 ") and %.2f s (%" PRIu64 "), no finding\n",
	    format->fm_name, n, seed, cpu_seconds(), 100 *
	    (double)run->ru_passed / (double)(n == 0 ? 1 : n),
	    (double)run->ru_peak / 1048576, run->ru_peak_number,
	    run->ru_slowest, run->ru_slowest_number);
	return (n > 0 && 2 * run->ru_passed <= n);
}

/* --------------------------------------------------------------- starting */

static int
read_seed(const char *path, struct prof_buf *buf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *at;

	memset(buf, 0, sizeof(*buf));
	if (fd == -1 || fstat(fd, &st) == -1 || st.st_size <= 0 ||
	    (at = prof_buf_room(buf, (size_t)st.st_size)) == NULL ||
	    read(fd, at, (size_t)st.st_size) != st.st_size) {
		perror(path);
		return (-1);
	}
	buf->bf_len = (size_t)st.st_size;
	close(fd);
	return (0);
}

static int
usage(void)
{
	(void)fprintf(stderr, "usage: mutants [--seed N] [--from N] "
	    "[--count N] [--seconds S] FORMAT SEED-FILE ...\n");
	return (2);
}

static int
options(int argc, char **argv, struct run *run)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "from", required_argument, NULL, 'f' },
		{ "count", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 }
	};
	size_t n;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1)
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'f':
			run->ru_from = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			run->ru_count = strtoull(optarg, NULL, 10);
			break;
		case 't':
			run->ru_seconds = strtod(optarg, NULL);
			break;
		default:
			return (-1);
		}
	for (n = 0; optind < argc && n < sizeof(formats) /
	    sizeof(formats[0]); n++)
		if (strcmp(argv[optind], formats[n]->fm_name) == 0)
			format = formats[n];
	return (format == NULL || argc - optind < 2 ? -1 : optind + 1);
}

int
main(int argc, char **argv)
{
	struct run run = { .ru_count = 1000 };
	const char *tmp = getenv("TMPDIR");
	int first = options(argc, argv, &run), n, rv;

	if (first == -1)
		return (usage());
	(void)snprintf(work, sizeof(work), "%.30s/mutants.XXXXXX",
	    tmp == NULL ? "/tmp" : tmp);
	run.ru_seed = calloc((size_t)argc, sizeof(*run.ru_seed));
	if (run.ru_seed == NULL || mkdtemp(work) == NULL)
		return (2);
	(void)snprintf(output, sizeof(output), "%s/out.dtp", work);
	(void)snprintf(current, sizeof(current), "%s/mutant", work);
	for (n = first; n < argc; n++)
		if (read_seed(argv[n], &run.ru_seed[run.ru_nseeds++]) == -1)
			return (2);
	(void)signal(SIGPROF, on_time);
	__sanitizer_set_death_callback(say_number);
	(void)__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	rv = run_all(&run);
	for (n = 0; n < (int)run.ru_nseeds; n++)
		prof_buf_free(&run.ru_seed[n]);
	free(run.ru_seed);
	(void)unlink(current);
	(void)unlink(output);
	(void)rmdir(work);
	return (rv);
}
