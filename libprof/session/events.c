/* SPDX-License-Identifier: ISC */
/*
 * The events of a session: those that are sampled, as they are named, and
 * behind them the counters whose values each sample brings.
 *
 * Called by whoever sets a session up, before arm, and by attach.c.
 */
#include <string.h>

#include "broker/sites.h"
#include "events/names.h"
#include "session_impl.h"

#define REFUSED_SAID	3	/* refused events that are named in notes */

/* A parser, before arm, too. */
static int
sites_of(void *arg, int fd, const char *name,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct prof_session *session = arg;

	return (prof_session_broker(session) == -1 ? -1 :
	    prof_sites_ask(session->se_plan.pn_broker, fd, name, want,
	    sites));
}

static int
note_add(void *arg, const char *text)
{
	return (prof_session_add_note(arg, "%s", text));
}

void
prof_session_names(struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	struct prof_names *names = session->se_names;

	names->nm_sites = sites_of;
	names->nm_sites_arg = session;
	names->nm_note = note_add;
	if (po->po_target == PROF_TARGET_PIDS ||
	    po->po_target == PROF_TARGET_TIDS) {
		names->nm_pids = po->po_ids;
		names->nm_npids = po->po_nids;
	}
}

int
prof_session_broker(struct prof_session *session)
{
	struct prof_plan *plan = &session->se_plan;

	if (plan->pn_broker == NULL)
		plan->pn_broker = prof_broker_new(&session->se_error);
	return (plan->pn_broker == NULL ? -1 : 0);
}

static bool
already_there(const struct prof_session *session, size_t from)
{
	size_t a, b;

	for (a = from; a < session->se_events.el_n; a++)
		for (b = 1; b < a; b++)
			if (strcmp(session->se_events.el_event[a]->ev_name,
			    session->se_events.el_event[b]->ev_name) == 0)
				return (true);
	return (false);
}

/* Back to the events before; -1. */
int
prof_session_forget(struct prof_session *session, size_t before)
{
	while (session->se_events.el_n > before)
		prof_event_free(session->se_events.el_event[
		    --session->se_events.el_n]);
	return (-1);
}

/* Number of events of the pattern that are not refused. */
static size_t
pattern_left(const struct prof_session *session, const char *pattern)
{
	size_t left = 0;

	for (size_t n = 1; n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		left += event->ev_pattern != NULL &&
		    event->ev_refused == NULL &&
		    strcmp(event->ev_pattern, pattern) == 0;
	}
	return (left);
}

/* Notes with the kernel's reason for the first ones, then their number. */
static int
refused_say(struct prof_session *session, const struct prof_event *event,
    size_t before, size_t all)
{
	if (before == REFUSED_SAID)
		return (prof_session_add_note(session, "left out: %zu more "
		    "functions that the kernel refuses to probe",
		    all - before));
	return (before > REFUSED_SAID ? 0 : prof_session_add_note(session,
	    "left out: %s", event->ev_refused->pe_text));
}

bool
prof_session_leave_out(struct prof_session *session)
{
	struct prof_events *events = &session->se_events;
	size_t kept = 0, all = 0, said = 0;

	for (size_t n = 0; n < events->el_n; n++) {
		const struct prof_event *event = events->el_event[n];

		if (event->ev_refused == NULL)
			continue;
		all++;
		if (pattern_left(session, event->ev_pattern) > 0)
			continue;
		prof_fail(&session->se_error, PROF_E_EVENT_UNSUPPORTED,
		    "'%s': the kernel refuses each function that matches; "
		    "the first refusal: %s", event->ev_pattern,
		    event->ev_refused->pe_text);
		prof_cure(&session->se_error, "%s", event->ev_refused->pe_cure);
		return (false);
	}
	/* Spans refer to their events by number, so none may be dropped. */
	if (all == 0 || session->se_nspans > 0)
		return (false);
	for (size_t n = 0; n < events->el_n; n++)
		if (events->el_event[n]->ev_refused != NULL && refused_say(
		    session, events->el_event[n], said++, all) == -1)
			return (false);
	for (size_t n = 0; n < events->el_n; n++) {
		struct prof_event *event = events->el_event[n];

		if (event->ev_refused != NULL) {
			prof_event_free(event);
			continue;
		}
		event->ev_id = (uint32_t)kept;
		events->el_event[kept++] = event;
	}
	session->se_plan.pn_values -= session->se_plan.pn_nvalues > 0 ? all : 0;
	events->el_n = kept;
	return (true);
}

static int
event_add(struct prof_session *session, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults)
{
	size_t n, before = session->se_events.el_n;

	if (prof_spec_resolve(session->se_names, spec, defaults,
	    &session->se_events, &session->se_error) == -1)
		return (-1);
	if (already_there(session, before)) {
		prof_fail(&session->se_error, PROF_E_EXISTS,
		    "duplicate event '%s'", spec->sp_whole);
		return (prof_session_forget(session, before));
	}
	if (session->se_events.el_n > UINT16_MAX) {
		prof_fail(&session->se_error, PROF_E_LIMIT,
		    "more than %d events", UINT16_MAX);
		return (prof_session_forget(session, before));
	}
	for (n = before; n < session->se_events.el_n; n++)
		session->se_events.el_event[n]->ev_id = (uint32_t)n;
	return (0);
}

int
prof_session_resolve(struct prof_session *session, const char *spec)
{
	const struct prof_options *po = &session->se_options;
	const struct prof_event_defaults defaults = {
		.ed_frequency_hz = po->po_frequency_hz,
		.ed_period = po->po_period,
		.ed_user_only = po->po_no_kernel,
	};
	struct prof_spec parsed;

	return (prof_spec_parse(&parsed, spec, &session->se_error) == -1 ? -1 :
	    event_add(session, &parsed, &defaults));
}

static int
check_init(struct prof_session *session, const char *spec)
{
	return (session->se_state == PROF_INIT ? 0 :
	    prof_fail(&session->se_error, PROF_E_BUSY,
	    "%s: events must be added before the session is armed", spec));
}

int
prof_session_add_event(struct prof_session *session, const char *spec)
{
	if (session->se_plan.pn_nvalues > 0)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "%s: all events must be added before any counter", spec));
	return (check_init(session, spec) == -1 ? -1 :
	    prof_session_resolve(session, spec));
}

int
prof_session_add_counter(struct prof_session *session, const char *spec)
{
	const struct prof_event_defaults defaults = {
		.ed_user_only = session->se_options.po_no_kernel,
	};
	struct prof_err *error = &session->se_error;
	size_t n, before = session->se_events.el_n;
	struct prof_spec parsed;

	if (check_init(session, spec) == -1 ||
	    prof_spec_parse(&parsed, spec, error) == -1)
		return (-1);
	if (prof_spec_no_filter(&parsed, "a counter of --with",
	    error) == -1)
		return (-1);
	if (parsed.sp_period != 0 || parsed.sp_frequency != 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "%s: a counter of "
		    "--with cannot have a period", spec);
		return (prof_cure(error, "leave out period and freq"));
	}
	if (event_add(session, &parsed, &defaults) == -1)
		return (-1);
	if (session->se_events.el_n - before + session->se_plan.pn_nvalues >
	    DTP_MAX_VALUES) {
		prof_fail(error, PROF_E_LIMIT, "too many counters for each "
		    "sample (at most %d)", DTP_MAX_VALUES);
		return (prof_session_forget(session, before));
	}
	for (n = before; n < session->se_events.el_n; n++)
		if (prof_values_make(session->se_events.el_event[n], error) ==
		    -1)
			return (prof_session_forget(session, before));
	if (session->se_plan.pn_nvalues == 0)
		session->se_plan.pn_values = before;
	session->se_plan.pn_nvalues += session->se_events.el_n - before;
	return (0);
}
