/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a program that calls prof_session_run only when the session's
 * descriptor is readable does not lose a timer's samples, though the buffers
 * hold far fewer than come.
 *
 * Easy to get wrong: programs of counters and timers may run in an NMI and
 * wake nobody; dtprof record itself never sees that, as it waits no longer
 * than the next round.  The target is one process that maps nothing: mappings
 * and system calls would wake the poller.  The poller goes before all others,
 * so that none is lost because a busy machine did not let it run.
 */
#include <sys/prctl.h>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "session.h"

#define BUFFER		(256 << 10)
#define SAMPLES	20000	/* of 32 bytes and more: twice a buffer */

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

int
main(void)
{
	struct prof_options options = session_options();
	struct prof_session *session;
	struct prof_err error = { 0 };
	struct prof_status status;
	struct pollfd descriptor = { .events = POLLIN };
	const struct sched_param first = { .sched_priority = 1 };
	const double until = now() + 60;
	int child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			continue;
	}
	CHECK(child > 0);

	options.po_buffer_bytes = BUFFER;
	options.po_target = PROF_TARGET_PIDS;
	options.po_ids = &child;
	options.po_nids = 1;
	session = prof_session_open(&options, &error);
	CHECK(session != NULL);
	CHECK(prof_session_add_event(session, "profile:::100us") == 0);
	session_arm_or_skip(session);
	if (sched_setscheduler(0, SCHED_FIFO, &first) == -1) {
		printf("SKIP: no priority for the poller\n");
		kill(child, SIGKILL);
		return (77);
	}
	CHECK(prof_session_start(session) == 0);
	descriptor.fd = prof_session_fd(session);
	do {
		/* Nothing else looks after the buffer. */
		if (poll(&descriptor, 1, 3000) == 1)
			CHECK(prof_session_run(session, 0) == 1);
		else
			break;
		CHECK(prof_session_status(session, &status) == 0);
	} while (status.ps_samples < SAMPLES && now() < until);
	kill(child, SIGKILL);
	CHECK(prof_session_stop(session) == 0);
	CHECK(prof_session_status(session, &status) == 0);
	printf("ok: %llu samples, %llu lost\n",
	    (unsigned long long)status.ps_samples,
	    (unsigned long long)status.ps_lost);
	CHECK(status.ps_samples >= SAMPLES);
	CHECK(status.ps_lost == 0);
	prof_session_close(session);
	return (0);
}
