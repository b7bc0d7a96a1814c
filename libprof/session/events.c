/* SPDX-License-Identifier: ISC */
/*
 * The events of a session: those that are sampled, as they are named, and
 * behind them the counters whose values each sample brings.
 *
 * Called by whoever sets a session up, before arm; what each event's samples
 * hold is asked by those who load programs, decode and describe.
 */
#include <string.h>

#include "events/names.h"
#include "session_impl.h"

#define NS_PER_S	1000000000ULL

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
static int
forget_from(struct prof_session *session, size_t before)
{
	while (session->se_events.el_n > before)
		prof_event_free(session->se_events.el_event[
		    --session->se_events.el_n]);
	return (-1);
}

static int
add(struct prof_session *session, const char *spec,
    const struct prof_event_defaults *defaults)
{
	size_t n, before = session->se_events.el_n;

	if (session->se_state != PROF_INIT)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "%s: events must be added before arming", spec));
	if (prof_names_resolve(session->se_names, spec, defaults,
	    &session->se_events, &session->se_error) == -1)
		return (-1);
	if (already_there(session, before)) {
		prof_fail(&session->se_error, PROF_E_EXISTS,
		    "duplicate event '%s'", spec);
		return (forget_from(session, before));
	}
	if (session->se_events.el_n > UINT16_MAX) {
		prof_fail(&session->se_error, PROF_E_LIMIT,
		    "more than %d events", UINT16_MAX);
		return (forget_from(session, before));
	}
	for (n = before; n < session->se_events.el_n; n++)
		session->se_events.el_event[n]->ev_id = (uint32_t)n;
	return (0);
}

int
prof_session_add_event(struct prof_session *session, const char *spec)
{
	const struct prof_options *po = &session->se_options;
	const struct prof_event_defaults defaults = {
		.ed_frequency_hz = po->po_frequency_hz,
		.ed_period = po->po_period,
		.ed_user_only = po->po_no_kernel,
	};

	if (session->se_nvalues > 0)
		return (prof_fail(&session->se_error, PROF_E_BUSY,
		    "%s: events must be added before counters", spec));
	return (add(session, spec, &defaults));
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

	if (prof_spec_parse(&parsed, spec, error) == -1)
		return (-1);
	if (parsed.sp_period != 0 || parsed.sp_frequency != 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "%s: a counter in "
		    "samples has no period", spec);
		return (prof_cure(error, "leave it out"));
	}
	if (add(session, spec, &defaults) == -1)
		return (-1);
	if (session->se_events.el_n - before + session->se_nvalues >
	    DTP_MAX_VALUES) {
		prof_fail(error, PROF_E_LIMIT, "more than %d counters in each "
		    "sample", DTP_MAX_VALUES);
		return (forget_from(session, before));
	}
	for (n = before; n < session->se_events.el_n; n++)
		if (prof_values_make(session->se_events.el_event[n], error) ==
		    -1)
			return (forget_from(session, before));
	session->se_nvalues += session->se_events.el_n - before;
	return (0);
}

/*
 * The end of a task is told when it has left its CPU for good, in the context
 * of whoever runs there: it is recorded for the task that it is about.
 */
bool
prof_event_is_about(const struct prof_session *session,
    const struct prof_event *event)
{
	const enum prof_target target = session->se_options.po_target;

	return (target != PROF_TARGET_ALL && target != PROF_TARGET_CGROUP &&
	    session->se_nvalues == 0 &&
	    event->ev_kind == PROF_KIND_TRACEPOINT &&
	    strcmp(event->ev_tracepoint, "sched_process_free") == 0);
}

/* What a sample of this event holds, in the words of the ABI. */
uint32_t
prof_event_parts(const struct prof_session *session,
    const struct prof_event *event)
{
	const struct prof_options *po = &session->se_options;
	uint32_t parts = 0;

	if (event->ev_kind == PROF_KIND_PROC)
		return (0);
	if (event->ev_kind == PROF_KIND_COUNTER)
		return (DTP_P_COUNTER);
	if (event->ev_kind == PROF_KIND_PERF || event->ev_is_call)
		parts |= DTP_P_WEIGHT;
	if (event->ev_nargs > 0)
		parts |= DTP_P_ARGS;
	if (event->ev_has_texts)
		parts |= DTP_P_TEXTS;
	if (po->po_record_comm)
		parts |= DTP_P_COMM;
	if (session->se_nvalues > 0)
		parts |= DTP_P_VALUES;
	if (po->po_callgraph == PROF_CALLGRAPH_NONE)
		return (event->ev_kind == PROF_KIND_PERF ?
		    parts | DTP_P_IP : parts);
	/* The stack in user space is another task's. */
	if (!prof_event_is_about(session, event))
		parts |= DTP_P_USTACK;
	/* Below a system call there is but the way from its tracepoint. */
	if (!event->ev_attr.exclude_kernel && !po->po_no_kernel &&
	    event->ev_kind != PROF_KIND_SYSCALL)
		parts |= DTP_P_KSTACK;
	return (parts);
}

uint64_t
prof_events_rate(const struct prof_session *session)
{
	const struct prof_options *po = &session->se_options;
	const size_t nsampled = session->se_events.el_n - session->se_nvalues;
	uint64_t hz = 0;

	if (po->po_verify || po->po_callgraph == PROF_CALLGRAPH_DWARF)
		return (0);
	for (size_t n = 1; n < nsampled; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (event->ev_kind != PROF_KIND_PERF)
			return (0);
		if (event->ev_attr.freq)
			hz += event->ev_attr.sample_freq;
		else if (strcmp(event->ev_unit, "ns") == 0)
			hz += NS_PER_S / event->ev_attr.sample_period + 1;
		else
			return (0);
	}
	return (hz);
}
