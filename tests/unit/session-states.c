/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A session goes one way through its states; a call that does not
 * fit says so and changes nothing.
 *
 * Easy to get wrong: an event added while programs are loaded has counters
 * nobody sized a map for; a second start would count twice; stop has to be
 * harmless twice, because both a signal and the end of the command call it.
 */
#include "session.h"

static void
before_arm(struct prof_session *session)
{
	CHECK(prof_session_start(session) == -1);
	CHECK(session_code(session) == PROF_E_EMPTY);
	CHECK(prof_session_stop(session) == -1);
	CHECK(session_code(session) == PROF_E_EMPTY);
	CHECK(prof_session_run(session, 0) == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	CHECK(prof_session_mark(session, "too early") == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	CHECK(prof_session_add_event(session, "cpu-clock") == -1);
	CHECK(session_code(session) == PROF_E_EXISTS);
	printf("ok: before arming: nothing to start, stop, run or mark; an "
	    "event twice exists\n");
}

/* Adding events and arming, in a state that does not allow it. */
static void
refuses_changes(struct prof_session *session, const char *state)
{
	CHECK(prof_session_add_event(session, "page-faults") == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	CHECK(prof_session_arm(session) == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	printf("ok: %s: no event can be added, nor anything armed\n", state);
}

static void
empty_session(void)
{
	struct prof_options options = session_options();
	struct prof_err error = { 0 };
	struct prof_session *session = prof_session_open(&options, &error);

	CHECK(session != NULL);
	CHECK(prof_session_arm(session) == -1);
	CHECK(session_code(session) == PROF_E_EMPTY);
	CHECK(access(session_file, F_OK) == -1);
	prof_session_close(session);
	printf("ok: a session without events is not armed and has no file\n");
}

int
main(void)
{
	struct prof_options options = session_options();
	struct prof_session *session;

	empty_session();
	session = session_open(&options);
	before_arm(session);
	session_arm_or_skip(session);
	refuses_changes(session, "armed");
	CHECK(prof_session_stop(session) == -1);
	CHECK(session_code(session) == PROF_E_EMPTY);
	CHECK(prof_session_start(session) == 0);
	CHECK(prof_session_start(session) == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	printf("ok: start twice is busy\n");
	refuses_changes(session, "recording");
	CHECK(prof_session_run(session, 10) == 1);
	CHECK(prof_session_stop(session) == 0);
	CHECK(prof_session_stop(session) == 0);
	printf("ok: stop twice does nothing\n");
	refuses_changes(session, "stopped");
	CHECK(prof_session_start(session) == -1);
	CHECK(prof_session_run(session, 0) == -1);
	CHECK(access(session_file, F_OK) == 0);
	prof_session_close(session);
	CHECK(access(session_file, F_OK) == 0);
	printf("ok: closing keeps the recording\n");
	return (0);
}
