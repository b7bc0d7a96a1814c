/* SPDX-License-Identifier: ISC */
/*
 * What recording costs, and what is done where that is more than was allowed
 * (--max-overhead).  The cost is the run time of our programs, by the kernel's
 * own statistics, and the CPU time of this process and of its own children;
 * what an interrupt takes before a program begins is not known.
 *
 * Called by session.c: begun before the start, looked at twice a second, and
 * read a last time after the stop.  Where samples cost most, rates.c lowers
 * their rates.  A probe has no rate: where probes take most of it, the dearest
 * is detached, or as many at once as have to be, and a mark says when.  Where
 * neither rates nor probes are what costs most, pace.c keeps the limit.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session_impl.h"

#define LOOK_NS		500000000ULL
#define PATIENCE	2	/* looks: a new program costs once */
#define DEARER		1.1	/* a record may have become, at a look */
#define STORM		2	/* times too much of probes alone: one look */
#define WHOLE		100000.0	/* thousandths of a percent */

/* The back end that samples. */
const struct prof_source *
prof_overhead_source(const struct prof_session *session)
{
	const struct prof_merge *merge = &session->se_merge;
	size_t n = 0;

	while (merge->mg_source[n].so_backend != session->se_backend)
		n++;
	return (&merge->mg_source[n]);
}

/* Our own, and that of the processes that read files for us. */
uint64_t
prof_overhead_recorder_ns(const struct prof_session *session)
{
	struct prof_broker_stats stats;

	prof_broker_stats(session->se_plan.pn_broker, &stats);
	return (prof_process_cpu_ns() + stats.bs_cpu_ns);
}

static uint64_t
spent_ns(const struct prof_session *session)
{
	const struct prof_source *source = prof_overhead_source(session);

	return (source->so_backend->bk_spent_ns(source->so_state));
}

static void
overhead_measure(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;

	ov->ov_recorder_ns = prof_overhead_recorder_ns(session) -
	    ov->ov_recorder_from_ns;
	if (ov->ov_is_measured)
		ov->ov_programs_ns = spent_ns(session) -
		    ov->ov_programs_from_ns;
}

/* The most of all CPUs in ten seconds, or in all if that is less. */
static void
spent_look(struct prof_session *session, uint64_t now_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_spent now = { now_ns,
	    ov->ov_recorder_ns + ov->ov_programs_ns, ov->ov_rates_ns };
	const struct prof_spent *first = &ov->ov_spent[
	    ov->ov_nlooks < PROF_SPENT_LOOKS ? 0 :
	    ov->ov_nlooks % PROF_SPENT_LOOKS];
	double share;

	if (ov->ov_nlooks > 0 && now_ns > first->sp_at_ns) {
		share = (double)(now.sp_cost_ns - first->sp_cost_ns) /
		    ((double)(now_ns - first->sp_at_ns) *
		    (double)session->se_plan.pn_nonline);
		if (ov->ov_nlooks <= PROF_SPENT_LOOKS ||
		    share > ov->ov_share_max)
			ov->ov_share_max = share;
	}
	ov->ov_spent[ov->ov_nlooks++ % PROF_SPENT_LOOKS] = now;
}

int
prof_overhead_begin(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = prof_overhead_source(session);

	prof_rates_begin(ov);
	if (session->se_options.po_max_overhead == 0)
		return (0);
	ov->ov_recorder_from_ns = prof_overhead_recorder_ns(session);
	prof_pace_begin(session);
	ov->ov_looked_ns = prof_now_ns();
	spent_look(session, ov->ov_looked_ns);
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
	const struct prof_source *source = prof_overhead_source(session);
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
	const struct prof_source *source = prof_overhead_source(session);
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
	const struct prof_source *source = prof_overhead_source(session);
	char *before = ov->ov_detached;
	char text[512], cost[96];

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
	prof_pace_forgive(session);
	prof_rates_cost(session, share, cost, sizeof(cost));
	snprintf(text, sizeof(text), "%s was detached and is no longer "
	    "recorded: %s", event->ev_name, cost);
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

/* -------------------------------------------------------------- looks */

/*
 * What would cost less at lower rates: the programs of events, and the handing
 * over of samples.  Now and then other work is done meanwhile, as processes
 * are read again or forgotten: a record costs what it last cost at least.
 */
static double
events_look(struct prof_session *session, uint64_t programs_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	const uint64_t handed_ns = session->se_merge.mg_spent_ns -
	    ov->ov_handed_ns;
	const uint64_t samples = session->se_samples - ov->ov_samples;
	const uint64_t records = session->se_records - ov->ov_records;
	const double each_ns = records == 0 ? 0 : (double)handed_ns /
	    (double)records;

	ov->ov_handed_ns += handed_ns;
	ov->ov_samples += samples;
	ov->ov_records += records;
	ov->ov_each_ns *= DEARER;
	if (records != 0 && (ov->ov_each_ns == 0 || each_ns < ov->ov_each_ns))
		ov->ov_each_ns = each_ns;
	return ((double)programs_ns + ov->ov_each_ns * (double)samples);
}

/*
 * Of the programs of process events, since the last look: read after those of
 * all, it may be more, and is then all.
 */
static uint64_t
lives_look(struct prof_session *session, uint64_t programs_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = prof_overhead_source(session);
	uint64_t added_ns = ov->ov_lives_ns;

	if (!ov->ov_is_measured)
		return (0);
	ov->ov_lives_ns = source->so_backend->bk_event_ns(source->so_state,
	    0);
	added_ns = ov->ov_lives_ns - added_ns;
	return (added_ns < programs_ns ? added_ns : programs_ns);
}

/* Too much for so long that something has to be done? */
static bool
is_enough(struct prof_overhead *ov, bool is_above, uint64_t probes_ns,
    double allowed_ns)
{
	if (!is_above)
		ov->ov_above = 0;
	else if ((double)probes_ns > STORM * allowed_ns)
		ov->ov_above = PATIENCE;
	else
		ov->ov_above++;
	if (ov->ov_above < PATIENCE)
		return (false);
	ov->ov_above = 0;
	return (true);
}

static int
events_lower(struct prof_session *session, double share, uint64_t events_ns,
    uint64_t probes_ns, double allowed_ns)
{
	const struct prof_source *source = prof_overhead_source(session);

	if (session->se_overhead.ov_at_limit ||
	    source->so_backend->bk_change_rate == NULL)
		return (0);
	return (probes_ns > events_ns / 2 ?
	    probes_detach(session, share, probes_ns, allowed_ns) :
	    prof_rates_lower(session, share));
}

int
prof_overhead_look(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	const uint64_t now_ns = prof_now_ns();
	const uint64_t elapsed_ns = now_ns - ov->ov_looked_ns;
	const double allowed_ns = prof_pace_allowed_ns(session, elapsed_ns);
	uint64_t cost_ns = ov->ov_recorder_ns + ov->ov_programs_ns;
	uint64_t programs_ns = ov->ov_programs_ns, probes_ns, lives_ns;
	double events_ns;
	int is_behind;

	if (session->se_options.po_max_overhead == 0 || elapsed_ns < LOOK_NS)
		return (0);
	ov->ov_looked_ns = now_ns;
	overhead_measure(session);
	cost_ns = ov->ov_recorder_ns + ov->ov_programs_ns - cost_ns;
	programs_ns = ov->ov_programs_ns - programs_ns;
	lives_ns = lives_look(session, programs_ns);
	probes_ns = ov->ov_is_measured ? probes_look(session) : 0;
	events_ns = events_look(session, programs_ns - lives_ns);
	if (events_ns > (double)probes_ns)
		ov->ov_rates_ns += events_ns - (double)probes_ns;
	spent_look(session, now_ns);
	is_behind = prof_pace_look(session, elapsed_ns, programs_ns, lives_ns);
	if (is_behind == -1)
		return (-1);
	if (!is_enough(ov, (is_behind || ov->ov_is_wanting ||
	    (double)cost_ns > allowed_ns) && events_ns > allowed_ns /
	    prof_pace_part(session), probes_ns, allowed_ns))
		return (prof_rates_raise(session));
	return (events_lower(session, (double)cost_ns / ((double)elapsed_ns *
	    (double)session->se_plan.pn_nonline), programs_ns - lives_ns,
	    probes_ns, allowed_ns));
}

/* What does not fit is cut off. */
static void
action_add(char *text, size_t size, const char *part)
{
	const size_t length = strlen(text);

	snprintf(text + length, size - length, "%s%s", length == 0 ? "" : "; ",
	    part);
}

int
prof_overhead_budget(struct prof_session *session)
{
	const struct prof_overhead *ov = &session->se_overhead;
	char text[256] = "", part[96];

	if (session->se_options.po_max_overhead == 0)
		return (0);
	if (ov->ov_slowest > 1) {
		prof_rates_text(ov, part, sizeof(part));
		action_add(text, sizeof(text), part);
	}
	if (ov->ov_behind_ns != 0) {
		prof_pace_text(ov, part, sizeof(part));
		action_add(text, sizeof(text), part);
	}
	if (ov->ov_detached != NULL)
		action_add(text, sizeof(text), ov->ov_detached);
	return (prof_session_budget(session, "max-overhead",
	    100 * (double)session->se_options.po_max_overhead / WHOLE,
	    100 * ov->ov_share_max, text[0] == '\0' ? "none" : text));
}

void
prof_overhead_end(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;

	if (session->se_options.po_max_overhead == 0)
		return;
	overhead_measure(session);
	spent_look(session, prof_now_ns());
	ov->ov_was_measured = ov->ov_is_measured;
}
