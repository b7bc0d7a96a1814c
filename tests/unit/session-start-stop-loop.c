/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Sessions can be started and stopped under load, again and again:
 * nothing is freed that a program still uses, descriptors do not add up, and
 * every recording is whole and balances.
 *
 * Easy to get wrong: the rings may only go when the last program has come
 * out of them.  Threads that call and fault at full speed are in a program
 * nearly always.  The number of turns is 12, or what LOOPS says; under the
 * address sanitizer memory of ours that is used too late shows as well.
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

/* Balanced, to the unit, per event. */
static uint64_t
check_recording(void)
{
	struct prof_accounting pa;
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	uint64_t fired = 0;
	size_t n;

	if (reader == NULL) {
		printf("FAIL: %s\n", error.pe_text);
		exit(1);
	}
	CHECK(prof_reader_cut(reader) == NULL);
	for (n = 0; n < prof_reader_nevents(reader); n++) {
		CHECK(prof_reader_accounting(reader, n, -1, &pa) == 0);
		CHECK(pa.pa_fired == pa.pa_stored + pa.pa_full +
		    pa.pa_nested + pa.pa_filtered + pa.pa_error);
		CHECK(pa.pa_read == pa.pa_stored);
		fired += pa.pa_fired;
	}
	prof_reader_close(reader);
	return (fired);
}

static void
turn(int loop)
{
	struct prof_options options = session_options();
	struct prof_session *session;

	options.po_include_self = 1;
	options.po_buffer_bytes = loop % 2 ? 1 << 16 : 1 << 20;
	session = session_open(&options);
	session_arm_or_skip(session);
	CHECK(prof_session_start(session) == 0);
	for (int i = 0; i < loop % 4; i++)
		CHECK(prof_session_run(session, 1) == 1);
	/* Close has to be enough, too. */
	if (loop % 3 != 0)
		CHECK(prof_session_stop(session) == 0);
	prof_session_close(session);
}

int
main(void)
{
	const char *loops = getenv("LOOPS");
	int before = 0, n = loops != NULL ? atoi(loops) : 12;
	uint64_t fired = 0;
	pthread_t thread[2];

	CHECK(n > 3);
	turn(0);
	CHECK(pthread_create(&thread[0], NULL, load, NULL) == 0);
	CHECK(pthread_create(&thread[1], NULL, load, NULL) == 0);
	for (int i = 0; i < n; i++) {
		if (i == 3)
			before = session_count_fds();
		turn(i);
		fired += check_recording();
	}
	ended = 1;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	CHECK(session_count_fds() == before);
	CHECK(fired > 0);
	printf("ok: %d sessions under load, %llu firings, all balanced, "
	    "%d descriptors before and after\n", n,
	    (unsigned long long)fired, before);
	return (0);
}
