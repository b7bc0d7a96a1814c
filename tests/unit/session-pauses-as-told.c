/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A session that is paused and resumed in any order records each
 * firing while it is on, none while it is not, says for how long it was
 * paused, and what it says of itself never goes back.  A thousand steps, from
 * a seed, against a model.
 *
 * Easy to get wrong: a timer that seems to be late after a pause, a program
 * that stores what happened between two switches, a pause counted twice.
 */
#include <sys/syscall.h>

#include <inttypes.h>
#include <stdbool.h>

#include "recording/query.h"
#include "session.h"

#define SESSIONS	4
#define STEPS		250
#define MAX_CALLS	64

/* What must be true of a session. */
struct model {
	bool		mo_paused;
	uint64_t	mo_pauses;
	uint64_t	mo_calls;	/* of getppid, while it recorded */
	struct prof_status mo_last;
};

static void
look(struct prof_session *session, struct model *model)
{
	struct prof_status now;

	CHECK(prof_session_status(session, &now) == 0);
	CHECK(now.ps_samples >= model->mo_last.ps_samples);
	CHECK(now.ps_elapsed_s >= model->mo_last.ps_elapsed_s);
	CHECK(now.ps_lost == 0);
	CHECK((now.ps_is_paused != 0) == model->mo_paused);
	if (model->mo_paused && model->mo_last.ps_is_paused)
		CHECK(now.ps_elapsed_s <= model->mo_last.ps_elapsed_s);
	model->mo_last = now;
}

static void
work(struct model *model)
{
	const long calls = random() % MAX_CALLS;

	for (long n = 0; n < calls; n++)
		syscall(SYS_getppid);
	if (!model->mo_paused)
		model->mo_calls += (uint64_t)calls;
}

static void
take_step(struct prof_session *session, struct model *model)
{
	switch (random() % 5) {
	case 0:
		CHECK(prof_session_pause(session, "by chance") == 0);
		model->mo_pauses += !model->mo_paused;
		model->mo_paused = true;
		/* The first look after it may see more than the last before. */
		CHECK(prof_session_status(session, &model->mo_last) == 0);
		break;
	case 1:
		CHECK(prof_session_resume(session, "") == 0);
		model->mo_paused = false;
		break;
	case 2:
		CHECK(prof_session_run(session, 0) == 1);
		break;
	default:
		work(model);
		break;
	}
	look(session, model);
}

/* In the file: the calls that were made, and nothing within a pause. */
static void
read_back(const struct model *model)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(session_file, &error);
	uint64_t calls = 0, pauses = 0, others = 0;
	struct prof_record record;
	struct prof_throttled by_event[8];
	struct prof_ran ran;
	bool paused = false;
	int rv;

	CHECK(reader != NULL);
	CHECK(prof_reader_nevents(reader) <= 8);
	while ((rv = prof_reader_record(reader, &record)) == 1) {
		if (record.pr_type == PROF_R_PAUSE ||
		    record.pr_type == PROF_R_RESUME) {
			CHECK(paused == (record.pr_type == PROF_R_RESUME));
			paused = record.pr_type == PROF_R_PAUSE;
			pauses += paused;
		}
		if (record.pr_type != PROF_R_SAMPLE)
			continue;
		CHECK(!paused);
		if (strstr(prof_reader_event(reader, record.pr_event)->pi_name,
		    "getppid") != NULL)
			calls++;
		else
			others++;
	}
	CHECK(rv == 0);
	CHECK(prof_reader_throttled(reader, by_event, &ran) == 0);
	CHECK(ran.rn_pauses == pauses && pauses == model->mo_pauses);
	CHECK(ran.rn_paused_ns > 0 && ran.rn_ns > 0);
	CHECK(calls == model->mo_calls && calls > 0);
	prof_reader_close(reader);
	printf("ok: %d steps, %" PRIu64 " pauses: %" PRIu64 " calls and %"
	    PRIu64 " other samples, each while it recorded\n", STEPS, pauses,
	    calls, others);
}

static void
one_session(void)
{
	const int tid = (int)syscall(SYS_gettid);
	struct prof_options options = session_options();
	struct model model = { 0 };
	struct prof_session *session;

	options.po_include_self = 1;
	options.po_target = PROF_TARGET_TIDS;
	options.po_ids = &tid;
	options.po_nids = 1;
	session = session_open(&options);
	CHECK(prof_session_pause(session, "") == -1);
	CHECK(session_code(session) == PROF_E_BUSY);
	CHECK(prof_session_resume(session, "") == -1);
	session_arm_or_skip(session);
	CHECK(prof_session_pause(session, "") == -1);
	CHECK(prof_session_start(session) == 0);
	for (int step = 0; step < STEPS; step++)
		take_step(session, &model);
	CHECK(prof_session_stop(session) == 0);
	CHECK(prof_session_pause(session, "") == -1);
	CHECK(prof_session_resume(session, "") == -1);
	prof_session_close(session);
	read_back(&model);
}

int
main(void)
{
	const char *text = getenv("SEED");
	const unsigned seed = text != NULL ? (unsigned)atoi(text) : 1;

	srandom(seed);
	for (int n = 0; n < SESSIONS; n++)
		one_session();
	return (0);
}
