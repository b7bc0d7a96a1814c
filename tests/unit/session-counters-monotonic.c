/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: What a running session says about itself only grows, while it
 * loses records too; a new session begins at nothing, and stopping ends the
 * growth.
 *
 * Easy to get wrong: counters live per CPU and event and are summed while
 * programs add to them; a sum of 32 bits, or one that is taken while a part
 * of it is being reset, goes backwards.
 */
#include <sys/syscall.h>

#include <pthread.h>

#include "session.h"

static volatile int ended;

static void *
load(void *arg)
{
	while (!ended)
		syscall(SYS_getppid);
	return (arg);
}

static void
compare(const struct prof_status *before, const struct prof_status *now)
{
	CHECK(now->ps_elapsed_s >= before->ps_elapsed_s);
	CHECK(now->ps_samples >= before->ps_samples);
	CHECK(now->ps_lost >= before->ps_lost);
	CHECK(now->ps_file_bytes >= before->ps_file_bytes);
}

static void
one_session(void)
{
	struct prof_options options = session_options();
	struct prof_status before = { 0 }, now = { 0 };
	struct prof_session *session;
	int turns = 0;

	options.po_include_self = 1;
	options.po_buffer_bytes = 1 << 16;
	session = session_open(&options);
	session_arm_or_skip(session);
	CHECK(prof_session_status(session, &before) == 0);
	CHECK(before.ps_samples == 0 && before.ps_lost == 0);
	CHECK(prof_session_start(session) == 0);
	/* Looked at far more often than drained, so that something is lost. */
	do {
		CHECK(prof_session_status(session, &now) == 0);
		compare(&before, &now);
		before = now;
		if (++turns % 100000 == 0)
			CHECK(prof_session_run(session, 0) == 1);
	} while (now.ps_lost == 0 || now.ps_samples < 1000);
	CHECK(prof_session_stop(session) == 0);
	CHECK(prof_session_status(session, &now) == 0);
	compare(&before, &now);
	before = now;
	for (int i = 0; i < 1000; i++)
		CHECK(prof_session_status(session, &now) == 0);
	CHECK(now.ps_samples == before.ps_samples);
	CHECK(now.ps_lost == before.ps_lost);
	prof_session_close(session);
	printf("ok: %d looks, %llu samples, %llu lost, never less\n", turns,
	    (unsigned long long)now.ps_samples,
	    (unsigned long long)now.ps_lost);
}

int
main(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, load, NULL) == 0);
	one_session();
	one_session();
	ended = 1;
	pthread_join(thread, NULL);
	return (0);
}
