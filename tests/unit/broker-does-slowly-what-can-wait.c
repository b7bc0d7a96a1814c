/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a parser whose request can wait has no more than its share of a
 * CPU, however much there is to do; requests that cannot wait have all of one
 * meanwhile; those that can fail do where there is a debt; without a limit the
 * same request goes on at once, as fast as any.
 *
 * Easy to get wrong: a parser sleeps in the middle of its work, and what counts
 * is the time of all of them, not of one request.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli-check.h"
#include "../interop/parser_fault.c"

#define SHARE		20000	/* millionths of a CPU */
#define TICKS_NS	40000000ULL	/* of the kernel, of a few processes */
#define SECOND_NS	1000000000ULL

static struct prof_broker *broker;
static enum prof_called spun;

/* A file that has a parser run on for ever. */
static int
endless(void)
{
	char path[] = "/tmp/dtprof-slow.XXXXXX", mark[MARK_BYTES] = MARK "spin";
	const int fd = mkstemp(path);

	CHECK(fd != -1 && write(fd, mark, sizeof(mark)) == sizeof(mark), "%s",
	    path);
	unlink(path);
	return (fd);
}

static enum prof_called
call(struct prof_call request)
{
	request.ca_what = PROF_PARSE_NOTHING;
	request.ca_name = "a file";
	request.ca_most = 64 << 20;
	request.ca_cpu_s = 1;
	request.ca_wall_s = 20;
	return (prof_broker_call(broker, &request));
}

static void *
spin(void *arg)
{
	spun = call((struct prof_call){ .ca_fd = endless(),
	    .ca_can_wait = true });
	return (arg);
}

static uint64_t
used_ns(void)
{
	struct prof_broker_stats stats;

	prof_broker_stats(broker, &stats);
	return (stats.bs_cpu_ns);
}

int
main(void)
{
	uint64_t from_ns, before_ns, used, passed;
	struct prof_err error;
	pthread_t thread;
	const char *text;

	broker = prof_broker_new(&error);
	CHECK(broker != NULL, "%s", error.pe_text);
	(void)prof_broker_throttle(broker, SHARE, true);
	from_ns = prof_now_ns();
	before_ns = used_ns();
	CHECK(pthread_create(&thread, NULL, spin, NULL) == 0, "thread");
	while (!prof_broker_throttle(broker, SHARE, true))
		usleep(1000);
	usleep(2000000);
	used = used_ns() - before_ns;
	passed = prof_now_ns() - from_ns;
	CHECK(used <= passed * SHARE / 1000000 + TICKS_NS, "%llu ns of %llu",
	    (unsigned long long)used, (unsigned long long)passed);
	OK("%.1f ms of CPU time in %.1f s", (double)used / 1e6,
	    (double)passed / 1e9);

	before_ns = used_ns();
	CHECK(call((struct prof_call){ .ca_fd = endless() }) ==
	    PROF_CALLED_LOST, "a request that cannot wait");
	used = used_ns() - before_ns;
	CHECK(used > SECOND_NS * 9 / 10, "%llu ns of one that cannot wait",
	    (unsigned long long)used);
	CHECK(call((struct prof_call){ .ca_fd = -1, .ca_can_fail = true }) ==
	    PROF_CALLED_NOBODY, "a request that can fail, in debt");
	CHECK(prof_broker_throttle(broker, SHARE, false), "it has ended");
	CHECK(call((struct prof_call){ .ca_fd = -1, .ca_can_fail = true }) ==
	    PROF_CALLED, "a request that can fail");

	before_ns = used_ns();
	(void)prof_broker_throttle(broker, 0, false);
	CHECK(pthread_join(thread, NULL) == 0, "thread");
	text = prof_broker_lost(broker, 1);
	CHECK(spun == PROF_CALLED_LOST && text != NULL &&
	    strstr(text, "takes too long") != NULL, "%s", text);
	used = used_ns() - before_ns;
	CHECK(used > SECOND_NS / 2, "%llu ns without a limit",
	    (unsigned long long)used);
	OK("then at once %.1f s of CPU time", (double)used / 1e9);
	prof_broker_free(broker);
	return (0);
}
