/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of the time in which a child may be made to sleep a sixteenth
 * counts against the limit of its request, over all parts of the answer; one
 * that may not sleep, or no longer, is late as always.
 *
 * Easy to get wrong: the first part comes in time, and the limit begins anew,
 * or is over, with the next.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli-check.h"
#include "confine/wire.h"

#define PARTS		4
#define PAUSE_US	500000	/* before each part */
#define LIMIT_NS	700000000ULL	/* more than one, less than all */

/* How many parts of an answer came; a negative share is 0 after the first. */
static int
parts_of(int32_t share)
{
	uint32_t slow = share < 0 ? 1 : (uint32_t)share;
	uint64_t slept_ns = 0;
	const struct prof_wire_limit limit = {
		.wl_until_ns = prof_now_ns() + LIMIT_NS,
		.wl_pid = getpid(),
		.wl_cpu_until_ns = UINT64_MAX,
		.wl_slow = &slow,
		.wl_slept_ns = &slept_ns,
	};
	int pair[2], n, part;
	pid_t child;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	child = fork();
	CHECK(child != -1, "fork");
	for (n = 0; child == 0 && n < PARTS; n++) {
		usleep(PAUSE_US);
		(void)prof_wire_send(pair[1], &n, sizeof(n), -1, NULL);
	}
	if (child == 0)
		_exit(0);
	close(pair[1]);
	for (n = 0; n < PARTS && prof_wire_recv(pair[0], &part, sizeof(part),
	    NULL, &limit); n++)
		if (share < 0)
			slow = 0;
	CHECK(n == PARTS || errno == ETIME, "errno %d", errno);
	close(pair[0]);
	CHECK(waitpid(child, NULL, 0) == child, "waitpid");
	return (n);
}

int
main(void)
{
	int n;

	n = parts_of(1);
	CHECK(n == PARTS, "%d of %d parts of one that may sleep", n, PARTS);
	n = parts_of(0);
	CHECK(n < PARTS, "all parts of one that may not");
	n = parts_of(-1);
	CHECK(n < PARTS, "all parts of one that no longer may");
	OK("%d parts, each after %d ms, within %d ms", PARTS, PAUSE_US / 1000,
	    (int)(LIMIT_NS / 1000000));
	return (0);
}
