/* SPDX-License-Identifier: ISC */
/*
 * How fast the recorder works where --max-overhead limits it.  What fills the
 * buffers is not up to us: mappings and processes come at any rate.  So there
 * is an account of CPU time: what may be used flows in, up to what a second
 * brings; what programs and recorder have used is taken out.  A round hands
 * over records until the account is empty, and leaves the others in the
 * buffers.  What finds these full is lost, and counted as always.
 *
 *	             allowed - a little
 *	                    |
 *	                    v
 *	 debt ------ 0 ------------ one second's
 *	             |
 *	             +--> recorder, programs
 *
 * Other work than handing over is not cut, but is paid for, if need be by debt.
 * In debt the recorder still works, slowly.  Work that may take any time, and
 * can wait, has an account of its own, of a part of what may be used.  While
 * more than a second's time is owed, only short lists of mappings are read, and
 * only of processes that are sampled often, which would have no functions
 * otherwise.  What a parser does cannot be cut either, and is done the more
 * slowly the less there is in the account.
 *
 * Programs of process events cost even when their buffers are full.  Where
 * they are much of the debt they have no room in the buffers at all, and cost
 * little, until half of a second's time has come together.
 *
 * Called by session.c in each round and by overhead.c at each look.
 */
#include <limits.h>

#include "base/clock.h"
#include "broker/throttle.h"
#include "session_impl.h"

#define BURST_NS	1000000000ULL
#define DEBT		10	/* bursts: older ones are forgotten */
/* So that ten seconds with a burst, however they lie, are within the limit. */
#define HOLD		0.72
#define LEAST		10	/* in debt: a part of what is allowed */
#define PARSERS		0.25	/* the same, for them */
#define PART		8	/* the same, for work with its own account */
#define ONES_PART	4	/* of that: for one cause of it */
#define SHORT		512	/* mappings */
#define LIVES		4	/* part of what is allowed: process events */
#define WANTING		4	/* the same: events, while parsers wait */
#define DEEP		8	/* the same, in more than a burst's debt */
#define PATIENCE	2	/* looks behind, until that is told */
#define CALM		10	/* looks not behind, until that is told */
#define WHOLE		100000.0	/* thousandths of a percent */

double
prof_pace_allowed_ns(const struct prof_session *session, uint64_t elapsed_ns)
{
	return ((double)elapsed_ns * (double)session->se_plan.pn_nonline *
	    (double)session->se_options.po_max_overhead / WHOLE);
}

static int64_t
room_most(const struct prof_session *session, double part)
{
	return ((int64_t)(part * prof_pace_allowed_ns(session, BURST_NS)));
}

/* Returns what has flowed in. */
static uint64_t
room_fill(const struct prof_session *session, struct prof_room *room,
    double part, int64_t debt)
{
	const int64_t most = room_most(session, part);
	const uint64_t now_ns = prof_now_ns();
	const uint64_t added = (uint64_t)(part * prof_pace_allowed_ns(session,
	    now_ns - room->rm_at_ns));

	room->rm_at_ns = now_ns;
	room->rm_ns += (int64_t)added;
	if (room->rm_ns > most)
		room->rm_ns = most;
	if (room->rm_ns < -debt * most)
		room->rm_ns = -debt * most;
	return (added);
}

void
prof_pace_begin(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;

	ov->ov_room.rm_at_ns = prof_now_ns();
	ov->ov_room.rm_ns = room_most(session, HOLD);
	ov->ov_paid_ns = prof_overhead_recorder_ns(session);
}

/*
 * Parsers get what is left: the fuller the account, the more of what flows in.
 * Half of the account is for records; parsers have a part even in debt, for
 * without their tables stacks have no callers.
 */
static void
parsers_pace(struct prof_session *session)
{
	const double most = (double)room_most(session, HOLD);
	const double full = (double)session->se_overhead.ov_room.rm_ns / most;
	const double left = 2 * full - 1;
	const double part = left < PARSERS ? PARSERS : left;

	session->se_overhead.ov_is_wanting = prof_broker_throttle(
	    session->se_plan.pn_broker, (uint32_t)(part * most *
	    PROF_THROTTLE_CPU / BURST_NS) + 1, full <= 0) && left <= 0;
}

void
prof_pace_end(struct prof_session *session)
{
	if (session->se_options.po_max_overhead != 0)
		(void)prof_broker_throttle(session->se_plan.pn_broker, 0,
		    false);
}

uint64_t
prof_pace_round_ns(struct prof_session *session)
{
	struct prof_overhead *ov = &session->se_overhead;
	uint64_t spent_ns, least_ns;

	if (session->se_options.po_max_overhead == 0)
		return (UINT64_MAX);
	ov->ov_was_cut |= session->se_merge.mg_is_cut;
	spent_ns = prof_overhead_recorder_ns(session);
	least_ns = room_fill(session, &ov->ov_room, HOLD, DEBT) / LEAST;
	ov->ov_room.rm_ns -= (int64_t)(spent_ns - ov->ov_paid_ns);
	ov->ov_paid_ns = spent_ns;
	parsers_pace(session);
	/* Spans are decided by what was lost: nothing may lie in buffers. */
	if (session->se_speculation != NULL)
		return (UINT64_MAX);
	return (ov->ov_room.rm_ns > (int64_t)least_ns ?
	    (uint64_t)ov->ov_room.rm_ns : least_ns);
}

/* Is more owed than a second brings? */
static bool
is_deep(const struct prof_session *session)
{
	return (session->se_overhead.ov_room.rm_ns < -room_most(session, HOLD));
}

bool
prof_pace_may(struct prof_session *session, enum prof_paced work,
    bool is_urgent)
{
	struct prof_room *room = &session->se_overhead.ov_work[work];

	if (session->se_options.po_max_overhead == 0)
		return (true);
	/*
	 * One cause that took long does not stop all others for long, but what
	 * is published is of all causes at once.
	 */
	(void)room_fill(session, room, HOLD / PART,
	    work == PROF_PACED_PUBLISH ? DEBT : 1);
	if (is_deep(session) && (work == PROF_PACED_PUBLISH || !is_urgent))
		return (false);
	return (room->rm_ns > (is_urgent ? 0 :
	    room_most(session, HOLD / PART) / 2));
}

unsigned
prof_pace_mappings(const struct prof_session *session)
{
	return (session->se_options.po_max_overhead != 0 && is_deep(session) ?
	    SHORT : UINT_MAX);
}

uint64_t
prof_pace_paid(struct prof_session *session, enum prof_paced work,
    uint64_t spent_ns)
{
	const int64_t most = room_most(session, HOLD / PART);

	if (most == 0)
		return (0);
	session->se_overhead.ov_work[work].rm_ns -= (int64_t)spent_ns;
	return (spent_ns * ONES_PART * BURST_NS / (uint64_t)most);
}

/* ---------------------------------------------------------- at a look */

static void
lives_hold(struct prof_session *session, uint64_t elapsed_ns,
    uint64_t lives_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	const struct prof_source *source = prof_overhead_source(session);
	const int64_t room_ns = ov->ov_room.rm_ns;
	const bool is_held = ov->ov_is_held ?
	    room_ns < room_most(session, HOLD / 2) : room_ns < 0 &&
	    (double)lives_ns * LIVES > prof_pace_allowed_ns(session,
	    elapsed_ns);

	if (is_held != ov->ov_is_held)
		source->so_backend->bk_hold(source->so_state, is_held);
	ov->ov_is_held = is_held;
}

void
prof_pace_forgive(struct prof_session *session)
{
	struct prof_room *room = &session->se_overhead.ov_room;

	if (room->rm_ns < 0)
		room->rm_ns = 0;
}

unsigned
prof_pace_part(const struct prof_session *session)
{
	const struct prof_overhead *ov = &session->se_overhead;

	if (is_deep(session))
		return (DEEP);
	return (ov->ov_is_wanting ? WANTING : PROF_SPENT_EVENTS);
}

static int
pace_mark(struct prof_session *session, bool is_behind)
{
	struct prof_overhead *ov = &session->se_overhead;
	const double most = (double)session->se_options.po_max_overhead;
	char text[160];

	ov->ov_is_behind = is_behind;
	snprintf(text, sizeof(text), is_behind ? "recording is held back to "
	    "keep --max-overhead %.3g: events that find no room in buffers are "
	    "lost" : "--max-overhead %.3g no longer holds recording back",
	    100 * most / WHOLE);
	return (prof_session_mark(session, text));
}

void
prof_pace_text(const struct prof_overhead *ov, char *text, size_t size)
{
	snprintf(text, size, "recording was held back for %.1f s",
	    (double)ov->ov_behind_ns / 1e9);
}

int
prof_pace_look(struct prof_session *session, uint64_t elapsed_ns,
    uint64_t programs_ns, uint64_t lives_ns)
{
	struct prof_overhead *ov = &session->se_overhead;
	const bool was_behind = ov->ov_was_cut || ov->ov_is_held;

	ov->ov_room.rm_ns -= (int64_t)programs_ns;
	ov->ov_was_cut = false;
	lives_hold(session, elapsed_ns, lives_ns);
	if (was_behind)
		ov->ov_behind_ns += elapsed_ns;
	/* Looks in a row at which it was not as it is told to be. */
	ov->ov_changed = was_behind == ov->ov_is_behind ? 0 :
	    ov->ov_changed + 1;
	if (ov->ov_changed >= (was_behind ? PATIENCE : CALM) &&
	    pace_mark(session, was_behind) == -1)
		return (-1);
	return (was_behind);
}
