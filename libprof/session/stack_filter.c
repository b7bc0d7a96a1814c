/* SPDX-License-Identifier: ISC */
/*
 * Filters by stack while recording.  Programs evaluate the rest of a filter;
 * stack == "f" has to wait for the symbols of a sample:
 *
 *	take -> know (symbols, places) -> queue --round, symbols--> sink
 *						    \-> dropped, counted
 *
 * Records keep their order, so those behind a sample that waits wait, too.  A
 * sample waits until all symbols of its round are there, for WAIT_NS at most;
 * how many were decided earlier is told.  What is dropped moves from stored to
 * filtered in the accounting of its CPU.
 *
 * Called by host.c with records, by session.c each round, and by account.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "events/instrument.h"
#include "events/names.h"
#include "filter/filter.h"
#include "os/cpus.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "process/symbols_live.h"
#include "recording/frame.h"
#include "recording/queue.h"
#include "session_impl.h"

#define WAIT_NS		1000000000ULL
#define WAITING_MOST	(64u << 20)	/* bytes of records that wait */
#define COMPARED	(UINT64_C(1) << 63)

struct event_filter {
	struct prof_filter *ef_filter;	/* NULL: all samples pass */
	struct prof_dropped *ef_dropped;	/* by CPU */
	uint64_t	*ef_calls;	/* bits of functions; COMPARED */
	size_t		 ef_ncalls;
	size_t		 ef_cap_calls;
};

struct prof_stack_filter {
	struct event_filter *sf_event;	/* by number */
	size_t		 sf_nevents;
	uint32_t	 sf_ncpus;
	struct prof_symbols *sf_symbols;
	struct prof_noted *sf_noted;
	struct prof_queue sf_queue;
	struct prof_frame *sf_frame;
	size_t		 sf_nframes;
	size_t		 sf_cap_frames;
	uint64_t	 sf_early;	/* decided before all symbols came */
	uint64_t	 sf_truncated;	/* decided without all callers */
};

/* ------------------------------------------------------------ events */

static int
events_reach(struct prof_stack_filter *filter, size_t n)
{
	while (filter->sf_nevents <= n) {
		struct event_filter *event = prof_append(&filter->sf_event,
		    &filter->sf_nevents, sizeof(*event));

		if (event == NULL)
			return (-1);
		event->ef_dropped = calloc(filter->sf_ncpus,
		    sizeof(*event->ef_dropped));
		if (event->ef_dropped == NULL)
			return (-1);
	}
	return (0);
}

int
prof_stack_filter_set(struct prof_session *session,
    const struct prof_event *event, struct prof_filter *of)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	struct event_filter *to;

	if (of != NULL && session->se_state != PROF_INIT) {
		prof_filter_free(of);
		prof_fail(&session->se_error, PROF_E_FILTER, "%s: the filter "
		    "of an event that is attached while recording cannot "
		    "contain 'stack'",
		    event->ev_name);
		return (prof_cure(&session->se_error, "filter when reading, "
		    "e.g. dtprof report --filter EXPR"));
	}
	if (filter == NULL && of == NULL)
		return (0);
	if (filter == NULL) {
		filter = calloc(1, sizeof(*filter));
		session->se_stack_filter = filter;
	}
	if (filter != NULL)
		filter->sf_ncpus = (uint32_t)prof_cpus_possible();
	if (filter == NULL || events_reach(filter, event->ev_id) == -1) {
		prof_filter_free(of);
		return (prof_fail_nomem(&session->se_error));
	}
	to = &filter->sf_event[event->ev_id];
	prof_filter_free(to->ef_filter);
	to->ef_filter = of;
	return (0);
}

static const char *
event_refuse(const struct prof_session *session,
    const struct prof_event *event)
{
	return (event->ev_instrument->im_is_of_next ?
	    "its samples are of threads that wait" :
	    (prof_event_parts(&session->se_plan, event) &
	    (DTP_P_USTACK | DTP_P_KSTACK)) == 0 ?
	    "the event has no stacks" : NULL);
}

/* Without --stack nobody shows the stacks that a filter needs. */
int
prof_stack_filter_check(struct prof_session *session)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	const char *why;

	if (filter == NULL)
		return (0);
	if (session->se_has_sink &&
	    session->se_options.po_callgraph == PROF_CALLGRAPH_NONE)
		session->se_options.po_callgraph = PROF_CALLGRAPH_AUTO;
	for (size_t n = 1; n < filter->sf_nevents &&
	    n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (filter->sf_event[n].ef_filter == NULL ||
		    (why = event_refuse(session, event)) == NULL)
			continue;
		prof_fail(&session->se_error, PROF_E_FILTER, "%s: 'stack' "
		    "cannot be compared: %s", event->ev_name, why);
		return (prof_cure(&session->se_error, "%s",
		    event->ev_instrument->im_is_of_next ?
		    "filter when reading, e.g. dtprof report --filter EXPR" :
		    "leave 'stack' or --call-graph none out"));
	}
	return (0);
}

int
prof_stack_filter_open(struct prof_session *session, unsigned mode)
{
	struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL)
		return (0);
	filter->sf_noted = prof_noted_new(mode | PROF_NOTED_LIVE);
	filter->sf_symbols = prof_symbols_live(mode == PROF_PROCESSES_PERF,
	    &session->se_error);
	return (filter->sf_noted == NULL || filter->sf_symbols == NULL ?
	    prof_fail_nomem(&session->se_error) : 0);
}

void
prof_stack_filter_ask(struct prof_session *session, prof_noted_ask_fn *ask,
    void *arg)
{
	if (session->se_stack_filter != NULL)
		prof_noted_ask_kernel(session->se_stack_filter->sf_noted, ask,
		    arg);
}

/* All but the filters: arming may be tried again. */
void
prof_stack_filter_close(struct prof_session *session)
{
	struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL)
		return;
	prof_queue_fini(&filter->sf_queue);
	prof_noted_free(filter->sf_noted);
	prof_symbols_close(filter->sf_symbols);
	filter->sf_noted = NULL;
	filter->sf_symbols = NULL;
}

void
prof_stack_filter_free(struct prof_session *session)
{
	struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL)
		return;
	prof_stack_filter_close(session);
	for (size_t n = 0; n < filter->sf_nevents; n++) {
		prof_filter_free(filter->sf_event[n].ef_filter);
		free(filter->sf_event[n].ef_dropped);
		free(filter->sf_event[n].ef_calls);
	}
	free(filter->sf_event);
	free(filter->sf_frame);
	free(filter);
	session->se_stack_filter = NULL;
}

/* ------------------------------------------------------------- stacks */

/* Functions get numbers as they are found; one without a name may get one. */
static int
function_find(struct prof_stack_filter *filter, struct event_filter *event,
    uint32_t n, uint64_t *found)
{
	const struct prof_function *function = prof_symbols_function(
	    filter->sf_symbols, n);
	uint64_t *calls;

	*found = 0;
	if (function->fu_unnamed != PROF_NAMED)
		return (0);
	while (event->ef_ncalls <= n)
		if (prof_grow(&event->ef_calls, &event->ef_ncalls,
		    &event->ef_cap_calls, sizeof(*event->ef_calls)) == NULL)
			return (-1);
	calls = &event->ef_calls[n];
	if ((*calls & COMPARED) == 0) {
		if (prof_filter_calls(event->ef_filter, function, calls) == -1)
			return (-1);
		*calls |= COMPARED;
	}
	*found = *calls & ~COMPARED;
	return (0);
}

/* The call that reports show as the innermost function. */
static int
syscall_find(const struct event_filter *event,
    const struct prof_record *record, uint64_t *found)
{
	const struct prof_function function = {
		.fu_name = record->pr_args[0] < DTP_MAX_SYSCALL ?
		    prof_syscall_name((unsigned)record->pr_args[0]) : NULL,
		.fu_raw = "", .fu_kind = PROF_FRAME_KERNEL };

	*found = 0;
	return (function.fu_name == NULL ? 0 :
	    prof_filter_calls(event->ef_filter, &function, found));
}

/* Native and script frames, in room that grows; -1: no memory. */
static int
frames_merge(struct prof_stack_filter *filter,
    const struct prof_record *record)
{
	size_t need = record->pr_nuser + record->pr_nscript + 1;

	do {
		if (!prof_room(&filter->sf_frame, &filter->sf_cap_frames, need,
		    sizeof(*filter->sf_frame)))
			return (-1);
		need = filter->sf_nframes = prof_record_stack(
		    filter->sf_symbols, record, PROF_FRAMES_ALL,
		    filter->sf_frame, filter->sf_cap_frames);
	} while (need > filter->sf_cap_frames);
	return (0);
}

static int
frame_find(struct prof_stack_filter *filter, struct event_filter *event,
    uint32_t space, const struct prof_frame *frame, uint64_t *found)
{
	uint64_t bits;

	if (function_find(filter, event, prof_symbols_find(filter->sf_symbols,
	    space, frame), &bits) == -1)
		return (-1);
	*found |= bits;
	return (0);
}

/* The bits of a stack; -1: no memory. */
static int
stack_find(struct prof_stack_filter *filter, struct event_filter *event,
    const struct prof_record *record, bool is_syscall, uint64_t *found)
{
	const uint32_t space = prof_symbols_space(filter->sf_symbols,
	    record->pr_pid, record->pr_time_ns);
	struct prof_frame frame;

	*found = 0;
	if ((is_syscall && syscall_find(event, record, found) == -1) ||
	    frames_merge(filter, record) == -1)
		return (-1);
	for (size_t n = 0; n < filter->sf_nframes; n++)
		if (frame_find(filter, event, space, &filter->sf_frame[n],
		    found) == -1)
			return (-1);
	for (uint32_t n = 0; n < record->pr_nkernel; n++) {
		prof_frame_of_pc(record->pr_kernel[n], PROF_FRAME_KERNEL,
		    n > 0, &frame);
		if (frame_find(filter, event, space, &frame, found) == -1)
			return (-1);
	}
	return (0);
}

/* ------------------------------------------------------------ records */

static struct event_filter *
filter_of(const struct prof_stack_filter *filter,
    const struct prof_record *record)
{
	struct event_filter *event;

	if (record->pr_type != PROF_R_SAMPLE ||
	    record->pr_event >= filter->sf_nevents)
		return (NULL);
	event = &filter->sf_event[record->pr_event];
	return (event->ef_filter == NULL ? NULL : event);
}

/* Stacks that were not asked for, which only the filter needs. */
static void
stacks_hide(const struct prof_session *session, struct prof_record *record)
{
	if (!session->se_has_sink || session->se_sink.sk_symbols != NULL)
		return;
	record->pr_nkernel = record->pr_nuser = record->pr_nscript = 0;
	record->pr_kstatus = record->pr_ustatus = PROF_STACK_NONE;
}

/* To the sink, or dropped. */
static int
record_decide(struct prof_session *session, struct prof_record *record)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	struct event_filter *event = filter_of(filter, record);
	uint64_t calls;

	if (event == NULL) {
		stacks_hide(session, record);
		return (prof_session_deliver(session, record));
	}
	if (stack_find(filter, event, record, session->se_events.el_event[
	    record->pr_event]->ev_is_syscall, &calls) == -1)
		return (prof_fail_nomem(&session->se_error));
	filter->sf_truncated += record->pr_ustatus != PROF_STACK_NONE &&
	    record->pr_ustatus != PROF_STACK_OK;
	if (!prof_filter_holds_in(event->ef_filter, record, "", 0, calls)) {
		session->se_samples--;
		prof_dropped_add(event->ef_dropped, filter->sf_ncpus, record,
		    false);
		return (0);
	}
	stacks_hide(session, record);
	return (prof_session_deliver(session, record));
}

/* The first n of those that wait. */
static int
queue_decide(struct prof_session *session, size_t n)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	struct prof_queue *queue = &filter->sf_queue;
	int rv = 0;

	if (n == 0)
		return (0);
	for (size_t i = 0; i < n && rv == 0; i++)
		rv = record_decide(session, &queue->qu_waiting[i].wt_record);
	prof_symbols_live_forget(filter->sf_symbols,
	    queue->qu_waiting[n - 1].wt_record.pr_time_ns);
	prof_queue_drop(queue, n);
	return (rv);
}

int
prof_stack_filter_know(struct prof_session *session,
    const struct prof_record *record)
{
	struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL)
		return (0);
	if (record->pr_type == PROF_R_SAMPLE) {
		if (filter_of(filter, record) != NULL)
			prof_noted_sample(filter->sf_noted, record,
			    prof_frames_number(record->pr_kernel,
			    record->pr_nkernel),
			    prof_frames_number(record->pr_user,
			    record->pr_nuser));
		return (0);
	}
	return (prof_symbols_live_event(filter->sf_symbols, record) == -1 ||
	    prof_noted_event(filter->sf_noted, record) == -1 ?
	    prof_fail_nomem(&session->se_error) : 0);
}

int
prof_stack_filter_renew(struct prof_session *session, uint32_t pid,
    uint64_t time_ns)
{
	return (session->se_stack_filter == NULL ? 0 : prof_noted_renew(
	    session->se_stack_filter->sf_noted, pid, time_ns));
}

int
prof_stack_filter_put(struct prof_session *session,
    const struct prof_record *record)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	struct prof_queue *queue = &filter->sf_queue;

	if (queue->qu_n == 0 && filter_of(filter, record) == NULL) {
		struct prof_record shown = *record;

		stacks_hide(session, &shown);
		return (prof_session_deliver(session, &shown));
	}
	return (prof_queue_put(queue, record) == -1 ?
	    prof_fail_nomem(&session->se_error) : 0);
}

/* ------------------------------------------------------------- rounds */

int
prof_stack_filter_symbols(void *arg, const void *body, size_t length)
{
	struct prof_session *session = arg;
	struct prof_stack_filter *filter = session->se_stack_filter;

	return (filter == NULL || prof_symbols_live_table(filter->sf_symbols,
	    body, length) == 0 ? 0 : prof_fail_nomem(&session->se_error));
}

bool
prof_stack_filter_waits(const struct prof_session *session)
{
	return (session->se_stack_filter != NULL &&
	    session->se_stack_filter->sf_queue.qu_n > 0);
}

int
prof_stack_filter_round(struct prof_session *session)
{
	struct prof_stack_filter *filter = session->se_stack_filter;
	const struct prof_queue *queue;
	size_t n;

	if (filter == NULL)
		return (0);
	if (prof_noted_round(filter->sf_noted) == -1 ||
	    (prof_noted_any(filter->sf_noted) && prof_noted_now(
	    filter->sf_noted, session->se_plan.pn_broker,
	    prof_stack_filter_symbols, session) == -1))
		return (session->se_error.pe_code != PROF_OK ? -1 :
		    prof_fail_nomem(&session->se_error));
	queue = &filter->sf_queue;
	if (!prof_noted_any(filter->sf_noted) &&
	    !prof_codes_is_busy(session->se_plan.pn_codes))
		return (queue_decide(session, queue->qu_n));
	n = prof_queue_due(queue, WAIT_NS, WAITING_MOST);
	for (size_t i = 0; i < n; i++)
		filter->sf_early += filter_of(filter,
		    &queue->qu_waiting[i].wt_record) != NULL;
	return (queue_decide(session, n));
}

int
prof_stack_filter_describe(struct prof_session *session)
{
	const struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL)
		return (0);
	if (filter->sf_early > 0 && prof_session_add_note(session, "the filter "
	    "compared %" PRIu64 " stacks before all symbols were known: "
	    "samples may be filtered wrongly", filter->sf_early) == -1)
		return (-1);
	return (filter->sf_truncated == 0 ? 0 : prof_session_add_note(session,
	    "the filter compared %" PRIu64 " truncated stacks: samples may be "
	    "filtered wrongly, because callers are missing",
	    filter->sf_truncated));
}

/* --------------------------------------------------------- accounting */

void
prof_stack_filter_account(const struct prof_session *session, int cpu,
    struct prof_accounting *rows)
{
	const struct prof_stack_filter *filter = session->se_stack_filter;

	if (filter == NULL || cpu < 0 || (uint32_t)cpu >= filter->sf_ncpus)
		return;
	for (size_t e = 1; e < filter->sf_nevents &&
	    e < session->se_events.el_n; e++)
		prof_dropped_account(session, e,
		    &filter->sf_event[e].ef_dropped[cpu], &rows[e]);
}
