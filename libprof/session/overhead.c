/* SPDX-License-Identifier: ISC */
/*
 * What recording costs, and the rate lowered where that is more than was
 * allowed (--max-overhead).  The cost is the run time of our programs, by
 * the kernel's own statistics, and the CPU time of this process and of its
 * own children; what an interrupt takes before a program begins is not known.
 *
 * Called by session.c: begun before the start, looked at twice a second, and
 * read a last time after the stop.  A period only ever grows, by whole
 * multiples: each sample says what it stands for, so weights stay right, and
 * a mark in the recording says from when on.  Counters on single threads,
 * which promise exact counts, and perf rings are measured but left alone.
 *
 * A probe has no rate: where probes take most of it, the dearest is detached,
 * or as many at once as have to be, and a mark says when.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session_impl.h"

#define LOOK_NS		500000000ULL
#define PATIENCE	2	/* looks: a new program costs once */
#define STORM		2	/* times too much of probes alone: one look */
#define MOST_AT_ONCE	8	/* times slower in one step */
#define NS_PER_S	1000000000ULL
#define WHOLE		100000.0	/* thousandths of a percent */

/* The back end that samples. */
static const struct prof_source *
source_of(const struct prof_session *session)
{
	const struct prof_merge *merge = &session->se_merge;
	size_t n = 0;

	while (merge->mg_source[n].so_backend != session->se_backend)
		n++;
	return (&merge->mg_source[n]);
}

/* Our own, and that of the processes that read files for us. */
static uint64_t
recorder_ns(const struct prof_session *session)
{
	struct prof_broker_stats stats;
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	prof_broker_stats(session->se_plan.pn_broker, &stats);
	return ((uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec +
	    stats.bs_cpu_ns);
}

static uint64_t
spent_ns(const struct prof_session *session)
{
	const struct prof_source *source = source_of(session);

	return (source->so_backend->bk_spent_ns(source->so_state));
}

static void
overhead_measure(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;

	ov->ov_recorder_ns = recorder_ns(session) - ov->ov_recorder_from_ns;
	if (ov->ov_is_measured)
		ov->ov_programs_ns = spent_ns(session) -
		    ov->ov_programs_from_ns;
}

int
prof_overhead_begin(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = source_of(session);

	ov->ov_slower = 1;
	if (session->se_options.po_max_overhead == 0)
		return (0);
	ov->ov_recorder_from_ns = recorder_ns(session);
	ov->ov_looked_ns = prof_now_ns();
	if (source->so_backend->bk_measure == NULL)
		return (prof_session_add_note(session, "--max-overhead does "
		    "not lower the rate without BPF"));
	ov->ov_is_measured =
	    source->so_backend->bk_measure(source->so_state) == 0;
	if (!ov->ov_is_measured)
		return (prof_session_add_note(session, "the run time of BPF "
		    "programs is readable only with CAP_SYS_ADMIN: "
		    "--max-overhead counts only the recorder's own CPU time"));
	ov->ov_programs_from_ns = spent_ns(session);
	ov->ov_nevents = session->se_events.el_n;
	ov->ov_event_ns = calloc(ov->ov_nevents + 1,
	    sizeof(*ov->ov_event_ns));
	ov->ov_added_ns = calloc(ov->ov_nevents + 1,
	    sizeof(*ov->ov_added_ns));
	return (ov->ov_event_ns == NULL || ov->ov_added_ns == NULL ?
	    prof_fail_nomem(&session->se_error) : 0);
}

void
prof_overhead_free(struct prof_overhead *ov)
{
	free(ov->ov_event_ns);
	free(ov->ov_added_ns);
	free(ov->ov_detached);
}

/* ------------------------------------------------------------- probes */

static bool
is_timed(const struct prof_event *event)
{
	return (event->ev_has_clock && !event->ev_is_detached);
}

/* What goes only with the last of the events of spans is cost of them all. */
static uint64_t
clocks_look(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = source_of(session);
	const uint64_t now_ns = source->so_backend->bk_clocks_ns(
	    source->so_state);
	const uint64_t added_ns = now_ns - ov->ov_clocks_ns;
	uint64_t timed = 0;

	ov->ov_clocks_ns = now_ns;
	for (size_t n = 1; n < ov->ov_nevents; n++)
		timed += is_timed(session->se_events.el_event[n]);
	if (timed == 0)
		return (0);
	for (size_t n = 1; n < ov->ov_nevents; n++)
		if (is_timed(session->se_events.el_event[n]))
			ov->ov_added_ns[n] += added_ns / timed;
	return (added_ns);
}

/* The cost of each attached probe since the last look; returns the sum. */
static uint64_t
probes_look(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = source_of(session);
	uint64_t sum_ns = 0;

	for (size_t n = 1; n < ov->ov_nevents; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];
		const uint64_t now_ns = source->so_backend->bk_event_ns(
		    source->so_state, event->ev_id);

		ov->ov_added_ns[n] = event->ev_has_period ||
		    event->ev_is_value || event->ev_is_detached ? 0 :
		    now_ns - ov->ov_event_ns[n];
		ov->ov_event_ns[n] = now_ns;
		sum_ns += ov->ov_added_ns[n];
	}
	return (sum_ns + clocks_look(session));
}

/* The number of the dearest; 0: none cost anything. */
static size_t
probe_dearest(const struct prof_overhead *ov)
{
	size_t dearest = 0;

	for (size_t n = 1; n < ov->ov_nevents; n++)
		if (ov->ov_added_ns[n] > (dearest == 0 ? 0 :
		    ov->ov_added_ns[dearest]))
			dearest = n;
	return (dearest);
}

/* Nothing is recorded of it any more, from now on. */
static int
probe_detach(struct prof_session *session, struct prof_event *event,
    double share)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = source_of(session);
	char *before = ov->ov_detached;
	char text[512];

	if (prof_session_drop(session, source, event) == -1) {
		ov->ov_at_limit = true;
		return (prof_session_add_note(session, "cannot detach %s: %s",
		    event->ev_name, session->se_error.pe_text));
	}
	if (asprintf(&ov->ov_detached, "%s%s%s detached after %.1f s",
	    before == NULL ? "" : before, before == NULL ? "" : ", ",
	    event->ev_name, (double)prof_clock_ran_ns(
	    &session->se_plan.pn_clock) / 1e9) == -1) {
		ov->ov_detached = before;
		return (prof_fail_nomem(&session->se_error));
	}
	free(before);
	snprintf(text, sizeof(text), "%s was detached and is no longer "
	    "recorded: overhead was %.2f%% of all CPUs, above --max-overhead "
	    "%.3g", event->ev_name, 100 * share, 100 *
	    (double)session->se_options.po_max_overhead / WHOLE);
	if (prof_session_mark(session, text) == -1)
		return (-1);
	return (prof_session_add_note(session, "%s", text));
}

/*
 * The dearest, for what the recorder does may be for it; more at once only
 * where their programs alone take more than allowed of that CPU time.
 */
static int
probes_detach(struct prof_session *session, double share, uint64_t probes_ns,
    double allowed_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	size_t n;

	while ((n = probe_dearest(ov)) != 0) {
		if (probe_detach(session, session->se_events.el_event[n],
		    share) == -1)
			return (-1);
		probes_ns -= ov->ov_added_ns[n];
		ov->ov_added_ns[n] = 0;
		if (ov->ov_at_limit || (double)probes_ns <= allowed_ns)
			break;
	}
	return (0);
}

/* -------------------------------------------------------------- rates */

/* All goes on as before: that is no reason to end a recording. */
static int
give_up(struct prof_session *session)
{
	session->se_overhead.ov_at_limit = true;
	return (prof_session_add_note(session, "cannot lower the rate further: "
	    "%s", session->se_error.pe_text));
}

/* How many events were slowed. */
static int
slow_down(struct prof_session *session, uint64_t wanted)
{
	const struct prof_source *source = source_of(session);
	struct prof_slower slower = { .sl_wanted = wanted };
	const int done = source->so_backend->bk_slow_down(source->so_state,
	    &slower);

	if (slower.sl_failed && give_up(session) == -1)
		return (-1);
	if (done > 0) {
		session->se_overhead.ov_slower = slower.sl_reached;
		session->se_overhead.ov_is_uneven = slower.sl_is_uneven;
	}
	return (done);
}

/* One number for all, unless some could not be had less often. */
void
prof_overhead_text(const struct prof_overhead *ov, char *text, size_t size)
{
	snprintf(text, size, ov->ov_is_uneven ?
	    "rates lowered by factors up to %llu" : "rate lowered to 1/%llu",
	    (unsigned long long)ov->ov_slower);
}

static int
overhead_tell(struct prof_session *session, double share, int done)
{
	struct prof_overhead *ov = &session->se_overhead;
	const double most = (double)session->se_options.po_max_overhead;
	char rate[64], text[160];

	if (done == 0 && ov->ov_at_limit)
		return (0);
	if (done == 0) {
		ov->ov_at_limit = true;
		return (prof_session_add_note(session, "overhead was %.2f%% of "
		    "all CPUs, above --max-overhead %.3g, and no rate can be "
		    "lowered further", 100 * share,
		    100 * most / WHOLE));
	}
	prof_overhead_text(ov, rate, sizeof(rate));
	snprintf(text, sizeof(text), "%s: overhead was %.2f%% of all CPUs, "
	    "above --max-overhead %.3g", rate, 100 * share,
	    100 * most / WHOLE);
	if (prof_session_mark(session, text) == -1)
		return (-1);
	return (prof_session_add_note(session, "%s", text));
}

int
prof_overhead_look(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const double most = (double)session->se_options.po_max_overhead /
	    WHOLE;
	const uint64_t now_ns = prof_now_ns();
	const uint64_t elapsed_ns = now_ns - ov->ov_looked_ns;
	uint64_t cost_ns = ov->ov_recorder_ns + ov->ov_programs_ns;
	uint64_t programs_ns = ov->ov_programs_ns, probes_ns;
	double cpus_ns, share, times;
	int done;

	if (most == 0 || ov->ov_at_limit ||
	    source_of(session)->so_backend->bk_slow_down == NULL ||
	    elapsed_ns < LOOK_NS)
		return (0);
	ov->ov_looked_ns = now_ns;
	overhead_measure(session);
	cost_ns = ov->ov_recorder_ns + ov->ov_programs_ns - cost_ns;
	programs_ns = ov->ov_programs_ns - programs_ns;
	probes_ns = probes_look(session);
	cpus_ns = (double)elapsed_ns * (double)session->se_plan.pn_nonline;
	share = (double)cost_ns / cpus_ns;
	ov->ov_above = share <= most ? 0 : (double)probes_ns > STORM * most *
	    cpus_ns ? PATIENCE : ov->ov_above + 1;
	if (ov->ov_above < PATIENCE)
		return (0);
	ov->ov_above = 0;
	if (probes_ns > programs_ns / 2)
		return (probes_detach(session, share, probes_ns,
		    most * cpus_ns));
	times = share / most < MOST_AT_ONCE ? share / most : MOST_AT_ONCE;
	done = slow_down(session,
	    (uint64_t)((double)ov->ov_slower * times) + 1);
	return (done == -1 ? -1 : overhead_tell(session, share, done));
}

void
prof_overhead_end(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;

	if (session->se_options.po_max_overhead == 0)
		return;
	overhead_measure(session);
	ov->ov_was_measured = ov->ov_is_measured;
}
