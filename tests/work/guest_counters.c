/* SPDX-License-Identifier: ISC */
/*
 * Reads a counter of its own between two reads by a system call, for so many
 * rounds, and fails unless it lies between both:
 *
 *	guest_counters PERIOD MOVES EVENTS ROUNDS
 *
 * The counter overflows every PERIOD events (0: when its bits end); another
 * thread moves this one to another CPU MOVES times; EVENTS of the same kind
 * share the counters of the PMU.  Prints one line of JSON.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count/direct.h"
#include "prof.h"

#define EVENTS_MAX	64
#define SPINS		2000
#define INSTRUCTIONS	8	/* as arm64 numbers its events */
#define USER_READS	2	/* config1 */

struct move {
	pid_t	mo_tid;
	long	mo_times;
};

static int fds[EVENTS_MAX];
static long moved, overflows;
static volatile bool is_done;

static void
give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void *
move(void *arg)
{
	const struct move *to = arg;
	cpu_set_t set;

	for (long n = 0; n < to->mo_times && !is_done; n++) {
		CPU_ZERO(&set);
		CPU_SET(n % 2, &set);
		if (sched_setaffinity(to->mo_tid, sizeof(set), &set) == -1)
			give_up("sched_setaffinity");
		usleep(1000);
	}
	return (NULL);
}

static int
counter_open(uint64_t period)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
	    .type = PERF_TYPE_RAW, .config = INSTRUCTIONS,
	    .config1 = USER_READS, .sample_period = period,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	    PERF_FORMAT_TOTAL_TIME_RUNNING };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd == -1)
		give_up("perf_event_open");
	return (fd);
}

static void
spin(void)
{
	for (volatile int n = 0; n < SPINS; n++)
		continue;
}

/* 1: read directly, between both; 0: not read directly; -1: wrong. */
static int
round_check(const volatile struct perf_event_mmap_page *page)
{
	static int64_t last_offset;
	static int last_cpu = -1;
	uint64_t before[3], after[3], count;
	const int cpu = sched_getcpu();
	bool is_direct;

	moved += last_cpu != -1 && cpu != last_cpu;
	last_cpu = cpu;
	overflows += page->offset != last_offset;
	last_offset = page->offset;
	if (read(fds[0], before, sizeof(before)) != (ssize_t)sizeof(before))
		give_up("read");
	is_direct = prof_direct_read(page, prof_pmc_read, &count);
	if (read(fds[0], after, sizeof(after)) != (ssize_t)sizeof(after))
		give_up("read");
	if (!is_direct)
		return (0);
	if (before[0] <= count && count <= after[0] && before[1] == before[2])
		return (1);
	printf("%" PRIu64 " is not between %" PRIu64 " and %" PRIu64 ", or "
	    "%" PRIu64 " of %" PRIu64 " ns\n", count, before[0], after[0],
	    before[2], before[1]);
	return (-1);
}

/* The same by the public interface: what it says of one event. */
static void
library_print(void)
{
	struct prof_err error = { 0 };
	struct prof_counter *counter = prof_counter_open("instructions",
	    &error);
	struct prof_counter_value first, last;

	if (counter == NULL) {
		printf("%s\n", error.pe_text);
		exit(1);
	}
	for (int n = 0; n < 1000; n++)
		spin();
	(void)prof_counter_read(counter, &first);
	(void)prof_counter_read(counter, &last);
	printf("\"exact\": %d, \"by_library\": %d, \"running\": %.3f, "
	    "\"between\": %" PRIu64 "}\n", last.cr_is_exact, last.cr_is_direct,
	    last.cr_running, last.cr_count - first.cr_count);
	prof_counter_close(counter);
}

int
main(int argc, char **argv)
{
	struct move to = { .mo_tid = (pid_t)syscall(SYS_gettid) };
	long direct = 0, rounds;
	pthread_t mover;
	int rv = 0;
	void *page;

	if (argc != 5 || atoi(argv[3]) < 1 || atoi(argv[3]) > EVENTS_MAX)
		return (2);
	to.mo_times = atol(argv[2]);
	for (int n = 0; n < atoi(argv[3]); n++)
		fds[n] = counter_open(strtoull(argv[1], NULL, 0));
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
	    fds[0], 0);
	if (page == MAP_FAILED)
		give_up("mmap");
	if (pthread_create(&mover, NULL, move, &to) != 0)
		give_up("pthread_create");
	for (rounds = 0; rounds < atol(argv[4]) && rv != -1; rounds++) {
		rv = round_check(page);
		direct += rv == 1;
		spin();
	}
	is_done = true;
	pthread_join(mover, NULL);
	if (rv == -1)
		return (1);
	printf("{\"rounds\": %ld, \"direct\": %ld, \"moved\": %ld, "
	    "\"overflows\": %ld, ", rounds, direct, moved, overflows);
	library_print();
	return (0);
}
