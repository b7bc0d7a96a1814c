/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: po_log and co_log are told each note at once, with the caller's
 * argument and the text that prof_session_note and prof_counting_note return,
 * in the same order; without a callback the notes are kept just so.
 *
 * Easy to get wrong: counting hands its options on to those of a session, and
 * the first note of a session comes before its open returns.  The notes are
 * the test's own: what the library has to note depends on the machine.
 */
#include "count/counters_impl.h"
#include "session.h"
#include "session/session_impl.h"

#define NOTES	100

struct told {
	size_t	td_n;
	char	td_text[NOTES + 1][32];
};

static void
keep(void *arg, enum prof_log_level level, const char *text)
{
	struct told *told = arg;

	CHECK(level == PROF_LOG_NOTE);
	CHECK(told->td_n <= NOTES);
	CHECK(strlen(text) < sizeof(told->td_text[0]));
	strcpy(told->td_text[told->td_n++], text);
}

static void
check_session(struct told *told)
{
	const struct prof_options options = {
		.po_size = sizeof(options), .po_output = "/nonexistent/x",
		.po_target = PROF_TARGET_ALL, .po_note = "the first",
		.po_log = told == NULL ? NULL : keep, .po_log_arg = told,
	};
	struct prof_err error = { 0 };
	struct prof_session *session = prof_session_open(&options, &error);
	size_t n;

	CHECK(session != NULL);
	CHECK(told == NULL || told->td_n == 1);
	for (n = 1; n <= NOTES; n++) {
		CHECK(prof_session_add_note(session, "note %zu", n) == 0);
		CHECK(told == NULL || told->td_n == n + 1);
	}
	CHECK(strcmp(prof_session_note(session, 0), "the first") == 0);
	CHECK(strcmp(prof_session_note(session, NOTES), "note 100") == 0);
	CHECK(prof_session_note(session, NOTES + 1) == NULL);
	for (n = 0; told != NULL && n <= NOTES; n++)
		CHECK(strcmp(prof_session_note(session, n),
		    told->td_text[n]) == 0);
	prof_session_close(session);
}

static void
check_counting(struct told *told)
{
	const int self = getpid();
	const struct prof_counting_options options = {
		.co_size = sizeof(options), .co_target = PROF_TARGET_PIDS,
		.co_ids = &self, .co_nids = 1,
		.co_log = told == NULL ? NULL : keep, .co_log_arg = told,
	};
	struct prof_err error = { 0 };
	struct prof_counting *counting = prof_counting_open(&options, &error);
	size_t n;

	CHECK(counting != NULL);
	for (n = 0; n < NOTES; n++) {
		CHECK(prof_counting_say(counting, "note %zu", n) == 0);
		CHECK(told == NULL || told->td_n == n + 1);
	}
	CHECK(strcmp(prof_counting_note(counting, NOTES - 1), "note 99") == 0);
	CHECK(prof_counting_note(counting, NOTES) == NULL);
	for (n = 0; told != NULL && n < NOTES; n++)
		CHECK(strcmp(prof_counting_note(counting, n),
		    told->td_text[n]) == 0);
	prof_counting_close(counting);
}

int
main(void)
{
	static struct told session, counting;

	check_session(&session);
	check_session(NULL);
	printf("ok: each note of a session\n");
	check_counting(&counting);
	check_counting(NULL);
	printf("ok: each note of counting\n");
	return (0);
}
