/* SPDX-License-Identifier: ISC */
/*
 * A back end whose records come from an array, with their times: for tests
 * that ask what becomes of records, and want to know beforehand.  It has
 * nothing to do with this machine, so it needs no privilege; nothing is
 * mapped but what the script says.
 *
 * It plays as much of the script a round as sc_a_round says, in the order of
 * the array: a script out of order is played so.
 */
#ifndef SCRIPTED_H
#define SCRIPTED_H

#include "session.h"
#include "session/session_impl.h"

struct script {
	const struct prof_record *sc_record;
	size_t		 sc_n;
	size_t		 sc_at;		/* the next of them */
	size_t		 sc_seen;	/* the look has come so far */
	size_t		 sc_a_round;
	uint64_t	 sc_samples;	/* handed over */
	bool		 sc_is_recording;
	bool		 sc_is_stopped;
	struct prof_plan *sc_plan;
};

/* The one that a session plays; set before it is armed. */
static struct script *script;

static void *
script_load(struct prof_plan *plan)
{
	script->sc_plan = plan;
	return (script);
}

static int
script_enable(void *state)
{
	struct script *sc = state;

	sc->sc_is_recording = true;
	return (0);
}

static int
script_pause(void *state)
{
	struct script *sc = state;

	sc->sc_is_recording = false;
	return (0);
}

static int
script_stop(void *state)
{
	struct script *sc = state;

	sc->sc_is_stopped = true;
	return (0);
}

static int
script_look(void *state, uint64_t handed_ns, uint64_t *until_ns,
    unsigned *fill)
{
	struct script *sc = state;

	(void)handed_ns;
	(void)fill;
	if (sc->sc_is_recording)
		sc->sc_seen += sc->sc_a_round;
	if (sc->sc_seen > sc->sc_n || sc->sc_is_stopped)
		sc->sc_seen = sc->sc_n;
	*until_ns = sc->sc_seen == sc->sc_n ? UINT64_MAX :
	    sc->sc_record[sc->sc_seen].pr_time_ns;
	return (0);
}

static uint64_t
script_next(const void *state)
{
	const struct script *sc = state;

	return (sc->sc_at < sc->sc_seen ?
	    sc->sc_record[sc->sc_at].pr_time_ns : UINT64_MAX);
}

static int
script_drain_until(void *state, uint64_t until_ns)
{
	struct script *sc = state;

	while (sc->sc_at < sc->sc_seen &&
	    sc->sc_record[sc->sc_at].pr_time_ns <= until_ns) {
		const struct prof_record *record =
		    &sc->sc_record[sc->sc_at++];

		sc->sc_samples += record->pr_type == PROF_R_SAMPLE;
		if (prof_host_take(sc->sc_plan, record) == -1)
			return (-1);
	}
	return (0);
}

static bool
script_is_empty(const void *state)
{
	const struct script *sc = state;

	return (sc->sc_at == sc->sc_n);
}

static int
script_account(void *state, int cpu, struct prof_accounting *rows)
{
	const struct script *sc = state;

	if (cpu != -1)
		return (0);
	rows[1].pa_fired = rows[1].pa_stored = rows[1].pa_read =
	    sc->sc_samples;
	return (1);
}

static void
script_close(void *state)
{
	(void)state;
}

static const struct prof_backend scripted = {
	.bk_name = "script",
	.bk_flags = PROF_BACKEND_MAPS,
	.bk_wait_ms = 1,
	.bk_load = script_load,
	.bk_step[PROF_STEP_ENABLE] = script_enable,
	.bk_step[PROF_STEP_PAUSE] = script_pause,
	.bk_step[PROF_STEP_STOP] = script_stop,
	.bk_look = script_look,
	.bk_next = script_next,
	.bk_drain_until = script_drain_until,
	.bk_is_empty = script_is_empty,
	.bk_account = script_account,
	.bk_close = script_close,
};

/* A session that a back end plays a script to: armed, but not started. */
static inline struct prof_session *
script_session(const struct prof_backend *backend, struct script *played)
{
	struct prof_options options = session_options();
	struct prof_err error = { 0 };
	const int self = getpid();
	struct prof_session *session;

	options.po_target = PROF_TARGET_PIDS;
	options.po_ids = &self;
	options.po_nids = 1;
	options.po_backend = PROF_BACKEND_AUTO;
	session = prof_session_open(&options, &error);
	CHECK(session != NULL);
	CHECK(prof_session_add_event(session, "cpu-clock") == 0);
	session->se_backend = backend;
	script = played;
	CHECK(prof_session_arm(session) == 0);
	return (session);
}

#endif /* SCRIPTED_H */
