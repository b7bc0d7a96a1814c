/*
 * ASSERTION: What the processes that read files cost counts as CPU time of the
 * recorder's children once the broker is gone, as much as the broker says.
 *
 * Easy to get wrong: a process that nobody waits for costs nobody anything.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "broker/tables.h"
#include "cli-check.h"

#define ENOUGH_NS	100000000ULL
#define MOST		10000

static uint64_t
children_ns(void)
{
	struct rusage usage;

	CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0, "getrusage");
	return (((uint64_t)usage.ru_utime.tv_sec +
	    (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	    ((uint64_t)usage.ru_utime.tv_usec +
	    (uint64_t)usage.ru_stime.tv_usec) * 1000);
}

int
main(void)
{
	struct prof_broker_stats stats = { 0 };
	struct prof_unwind_table *table;
	struct prof_runtime runtime;
	struct prof_broker *broker;
	struct prof_err error;
	uint64_t ns;
	unsigned n;
	int fd = open("/proc/self/exe", O_RDONLY);

	broker = prof_broker_new(&error);
	CHECK(broker != NULL && fd != -1, "no broker");
	for (n = 0; n < MOST && stats.bs_cpu_ns < ENOUGH_NS; n++) {
		CHECK(prof_table_ask(broker, fd, "exe", &table, &runtime) ==
		    PROF_TABLED, "no table");
		prof_unwind_table_free(table);
		prof_broker_stats(broker, &stats);
	}
	CHECK(stats.bs_cpu_ns >= ENOUGH_NS, "%u tables cost nothing", n);
	CHECK(children_ns() == 0, "waited for too early");
	prof_broker_free(broker);
	ns = children_ns();
	CHECK(ns >= stats.bs_cpu_ns / 10 * 9, "%" PRIu64 " of %" PRIu64 " ns",
	    ns, stats.bs_cpu_ns);
	printf("ok: %" PRIu64 " of %" PRIu64 " ns of CPU time after %u "
	    "tables\n", ns, stats.bs_cpu_ns, n);
	close(fd);
	return (0);
}
