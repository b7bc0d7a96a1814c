/* SPDX-License-Identifier: ISC */
/*
 * A session that keeps only the samples of spans that an expression selects
 * (po_keep_if): a speculation (spans/speculation.c) is its sink, the writer
 * behind it.  Its counts are in the recording.
 *
 * Called by arm.c, session.c and account.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/cpus.h"
#include "session_impl.h"

#define HELD_MOST	(64u << 20)	/* bytes of samples that are held */

static int
options_refuse(struct prof_session *session, const char *cure, const char *why)
{
	prof_fail(&session->se_error, PROF_E_USAGE, "keep-if %s", why);
	return (prof_cure(&session->se_error, "%s", cure));
}

int
prof_speculate_check(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;

	if (po->po_keep_if == NULL)
		return (0);
	if (session->se_nspans == 0)
		return (options_refuse(session, "define spans with --span",
		    "selects spans, and no span is recorded"));
	if (session->se_plan.pn_nvalues > 0)
		return (options_refuse(session, "leave out --with, or filter "
		    "when reading", "cannot be used with counters: their "
		    "values in discarded samples would be missing"));
	if (session->se_has_sink || po->po_rotates || po->po_ring_bytes != 0)
		return (options_refuse(session, "write one file, or filter "
		    "when reading", "requires a single file: samples are held "
		    "until their spans end"));
	return (0);
}

static void
sample_left(void *arg, const struct prof_record *record, bool is_lost)
{
	struct prof_session *session = arg;

	prof_dropped_add(&session->se_dropped[record->pr_event *
	    session->se_ndropped_cpus], session->se_ndropped_cpus, record,
	    is_lost);
}

int
prof_speculate_open(struct prof_session *session)
{
	if (session->se_options.po_keep_if == NULL)
		return (0);
	session->se_ndropped_cpus = (size_t)prof_cpus_possible();
	session->se_dropped = calloc(session->se_events.el_n *
	    session->se_ndropped_cpus, sizeof(*session->se_dropped));
	if (session->se_dropped == NULL)
		return (prof_fail_nomem(&session->se_error));
	session->se_speculation = prof_speculation_new(
	    session->se_options.po_keep_if, HELD_MOST, &session->se_sink,
	    &session->se_error);
	if (session->se_speculation == NULL)
		return (-1);
	prof_speculation_left(session->se_speculation, sample_left, session);
	session->se_sink = prof_speculation_sink(session->se_speculation);
	return (0);
}

void
prof_speculate_close(struct prof_session *session)
{
	prof_speculation_free(session->se_speculation);
	session->se_speculation = NULL;
	free(session->se_dropped);
	session->se_dropped = NULL;
}

uint64_t
prof_speculate_limit(const struct prof_session *session)
{
	return (session->se_speculation == NULL ? 0 :
	    prof_speculation_most(session->se_speculation));
}

int
prof_speculate_shrink(struct prof_session *session, uint64_t bytes)
{
	return (prof_speculation_shrink(session->se_speculation, bytes));
}

void
prof_speculate_account(const struct prof_session *session, int cpu,
    struct prof_accounting *rows)
{
	if (session->se_dropped == NULL || cpu < 0 ||
	    (size_t)cpu >= session->se_ndropped_cpus)
		return;
	for (size_t e = 1; e < session->se_events.el_n; e++)
		prof_dropped_account(session, e, &session->se_dropped[e *
		    session->se_ndropped_cpus + (size_t)cpu], &rows[e]);
}

/* After stop the streams are still read to their end. */
int
prof_speculate_round(struct prof_session *session)
{
	if (session->se_speculation == NULL || prof_speculation_round(
	    session->se_speculation, false) == 0)
		return (0);
	(void)prof_session_sink_failed(session);
	return (session->se_state == PROF_STOPPED ? 0 : -1);
}

static int
count_say(struct prof_session *session, size_t event, const char *what,
    uint64_t count)
{
	char key[48], value[24];

	snprintf(key, sizeof(key), "keep_if.%zu.%s", event, what);
	snprintf(value, sizeof(value), "%" PRIu64, count);
	return (prof_describe_say(session, key, value));
}

static int
counts_say(struct prof_session *session, size_t event)
{
	const struct prof_speculated sd = prof_speculation_of(
	    session->se_speculation, event);

	return (count_say(session, event, "taken", sd.sd_taken) == -1 ||
	    count_say(session, event, "committed", sd.sd_committed) == -1 ||
	    count_say(session, event, "discarded", sd.sd_discarded) == -1 ||
	    count_say(session, event, "lost", sd.sd_lost) == -1 ? -1 : 0);
}

static int
lost_note(struct prof_session *session, uint64_t count, const char *why)
{
	return (count == 0 ? 0 : prof_session_add_note(session, "--keep-if "
	    "lost %" PRIu64 " sample%s: %s", count, count == 1 ? "" : "s",
	    why));
}

int
prof_speculate_end(struct prof_session *session)
{
	struct prof_unkept unkept;
	int rv = 0;

	if (session->se_speculation == NULL)
		return (0);
	if (prof_speculation_round(session->se_speculation, true) == -1)
		rv = prof_session_sink_failed(session);
	for (size_t n = 1; n < session->se_events.el_n; n++)
		if (counts_say(session, n) == -1)
			rv = -1;
	unkept = prof_speculation_unkept(session->se_speculation);
	if (lost_note(session, unkept.uk_memory, "more samples were "
	    "held until their spans ended than memory allows") == -1 ||
	    lost_note(session, unkept.uk_unsure, "events were lost, or "
	    "recording was paused, so whether their spans are selected is "
	    "unknown") == -1 ||
	    lost_note(session, unkept.uk_unended, "their spans had not ended "
	    "when recording stopped") == -1)
		rv = -1;
	return (rv);
}

void
prof_speculate_status(const struct prof_session *session,
    struct prof_status *status)
{
	if (session->se_speculation == NULL)
		return;
	status->ps_held_bytes = prof_speculation_bytes(
	    session->se_speculation);
	for (size_t n = 1; n < session->se_events.el_n; n++) {
		const struct prof_speculated sd = prof_speculation_of(
		    session->se_speculation, n);

		status->ps_taken += sd.sd_taken;
		status->ps_committed += sd.sd_committed;
		status->ps_discarded += sd.sd_discarded;
		status->ps_held_lost += sd.sd_lost;
	}
}
