/* SPDX-License-Identifier: ISC */
/*
 * From the streams of all CPUs to one sequence of records in order of time.
 *
 * Called by backend.c, again and again while recording and after stop until
 * nothing is left.  Only reads the rings; owns their tails.  Decides nothing
 * about a record: decodes it and hands it to the host.
 *
 *	ring of a CPU, positions grow to the right
 *
 *	   tail          scan           head or reserved
 *	    |  handed over | not looked at |   being written
 *	----+--------------+---------------+------------------
 *	    ^ pending: sorted by time, waiting for the other CPUs
 *
 * Why it is in order.  A look first takes the time T.  A CPU that is then
 * seen without writers is complete up to T: whoever enters later takes a
 * later time.  A CPU seen with writers is complete up to head, and since all
 * writers of a region entered before any of the next, nothing that follows
 * is older than the newest record below head.  The smallest of these times
 * over all CPUs is the limit: up to it, everything may be handed over.
 * Within a region positions are not in order of time, so pending is sorted.
 *
 * Where programs can be preempted a writer may be held up for long, and head
 * with it.  After STUCK_NS the other CPUs no longer wait for that one; what it
 * brings then is late: it gets the time that has been reached, and is counted.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "events/instrument.h"

#define TAIL_EVERY	32768	/* records handed over between two tails */
#define STUCK_NS	1000000000ULL	/* with writers, and head not moved */

/* One record that waits: when, and where it lies. */
struct waiting {
	uint64_t	wa_time_ns;
	uint64_t	wa_position;
};

/* One CPU.  pending[first..n) is sorted by time. */
struct lane {
	uint32_t	 la_cpu;
	struct dtp_stream *la_stream;
	const uint8_t	*la_ring;
	struct waiting	*la_pending;
	size_t		 la_first;
	size_t		 la_n;
	uint64_t	 la_scan;
	uint64_t	 la_newest_ns;	/* of all that was scanned */
	uint64_t	 la_safe_ns;	/* nothing older can still come */
	uint64_t	 la_head;	/* with writers at the last look ... */
	uint64_t	 la_since_ns;	/* ... and since when it stands there */
	uint64_t	*la_read;	/* records taken, per event */
	uint64_t	*la_late;	/* of them, with a later time */
	int64_t		*la_finished;	/* [event * DTP_S_NSTATUS + status] */
};

struct prof_drain {
	struct prof_bpf *dn_bpf;
	struct lane	*dn_lanes;
	size_t		 dn_nlanes;
	uint64_t	 dn_ring_mask;
	size_t		 dn_pending_bytes;
	unsigned	 dn_fill;
	uint64_t	 dn_handed_ns;	/* what is older comes late */
	struct prof_stream dn_stream;	/* takes records apart */
	struct prof_collect dn_collect;
};

static int	scan_lane(struct prof_drain *, struct lane *, bool);
static int	hand_over(struct prof_drain *, struct lane *,
		    const struct waiting *);

static int
lane_init(struct prof_drain *drain, struct lane *lane, uint32_t cpu)
{
	const struct prof_bpf *bpf = drain->dn_bpf;

	lane->la_cpu = cpu;
	lane->la_stream = &bpf->bp_streams[cpu];
	lane->la_ring = bpf->bp_rings +
	    lane->la_stream->ss_ring * bpf->bp_ring_stride;
	/* Address space for the worst case; untouched pages cost nothing. */
	lane->la_pending = mmap(NULL, drain->dn_pending_bytes,
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lane->la_pending == MAP_FAILED) {
		lane->la_pending = NULL;
		return (-1);
	}
	lane->la_read = calloc(bpf->bp_room, sizeof(*lane->la_read));
	lane->la_late = calloc(bpf->bp_room, sizeof(*lane->la_late));
	lane->la_finished = calloc((size_t)bpf->bp_room * DTP_S_NSTATUS,
	    sizeof(*lane->la_finished));
	return (lane->la_read == NULL || lane->la_late == NULL ||
	    lane->la_finished == NULL ? -1 : 0);
}

void
prof_drain_add(struct prof_drain *drain, const struct prof_event *event)
{
	drain->dn_stream.sm_parts[event->ev_id] =
	    prof_event_parts(drain->dn_bpf->bp_plan, event);
}

struct prof_drain *
prof_drain_new(struct prof_bpf *bpf)
{
	struct prof_drain *drain = calloc(1, sizeof(*drain));
	size_t n;

	if (drain == NULL)
		goto fail;
	drain->dn_bpf = bpf;
	drain->dn_stream.sm_plan = bpf->bp_plan;
	drain->dn_ring_mask = bpf->bp_ring_bytes - 1;
	drain->dn_pending_bytes = bpf->bp_ring_bytes /
	    sizeof(struct dtp_rec) * sizeof(struct waiting);
	drain->dn_nlanes = bpf->bp_plan->pn_nonline;
	drain->dn_lanes = calloc(drain->dn_nlanes, sizeof(*drain->dn_lanes));
	drain->dn_stream.sm_parts = calloc(bpf->bp_room,
	    sizeof(*drain->dn_stream.sm_parts));
	if (drain->dn_lanes == NULL || drain->dn_stream.sm_parts == NULL)
		goto fail;
	for (n = 0; n < bpf->bp_nevents; n++)
		prof_drain_add(drain, bpf->bp_events->el_event[n]);
	for (n = 0; n < drain->dn_nlanes; n++)
		if (lane_init(drain, &drain->dn_lanes[n],
		    (uint32_t)bpf->bp_plan->pn_online[n]) == -1)
			goto fail;
	return (drain);
fail:
	prof_fail_nomem(bpf->bp_error);
	prof_drain_free(drain);
	return (NULL);
}

void
prof_drain_free(struct prof_drain *drain)
{
	size_t n;

	if (drain == NULL)
		return;
	for (n = 0; drain->dn_lanes != NULL && n < drain->dn_nlanes; n++) {
		if (drain->dn_lanes[n].la_pending != NULL)
			munmap(drain->dn_lanes[n].la_pending,
			    drain->dn_pending_bytes);
		free(drain->dn_lanes[n].la_read);
		free(drain->dn_lanes[n].la_late);
		free(drain->dn_lanes[n].la_finished);
	}
	free(drain->dn_lanes);
	free(drain->dn_stream.sm_parts);
	free(drain);
}

unsigned
prof_drain_fill(const struct prof_drain *drain)
{
	return (drain->dn_fill);
}

static const struct lane *
lane_of(const struct prof_drain *drain, uint32_t cpu)
{
	for (size_t n = 0; n < drain->dn_nlanes; n++)
		if (drain->dn_lanes[n].la_cpu == cpu)
			return (&drain->dn_lanes[n]);
	return (NULL);
}

uint64_t
prof_drain_read(const struct prof_drain *drain, uint32_t cpu, uint32_t event)
{
	const struct lane *lane = lane_of(drain, cpu);

	return (lane == NULL ? 0 : lane->la_read[event]);
}

uint64_t
prof_drain_late(const struct prof_drain *drain, uint32_t cpu, uint32_t event)
{
	const struct lane *lane = lane_of(drain, cpu);

	return (lane == NULL ? 0 : lane->la_late[event]);
}

uint64_t
prof_drain_sum(const struct prof_drain *drain, uint32_t value)
{
	return (drain->dn_stream.sm_sums[value]);
}

int64_t
prof_drain_finished(const struct prof_drain *drain, uint32_t cpu,
    uint32_t event, unsigned status)
{
	const struct lane *lane = lane_of(drain, cpu);

	return (lane == NULL ? 0 : lane->la_finished[
	    event * DTP_S_NSTATUS + status]);
}

bool
prof_drain_empty(const struct prof_drain *drain)
{
	size_t n;

	for (n = 0; n < drain->dn_nlanes; n++) {
		const struct lane *lane = &drain->dn_lanes[n];

		if (lane->la_first < lane->la_n || lane->la_scan !=
		    __atomic_load_n(&lane->la_stream->ss_state,
		    __ATOMIC_ACQUIRE) >> DTP_WRITERS_BITS)
			return (false);
	}
	return (true);
}

/* Everything below the first record that still waits may be overwritten. */
static void
move_tail(struct lane *lane)
{
	uint64_t tail = lane->la_scan;
	size_t n;

	for (n = lane->la_first; n < lane->la_n; n++)
		if (lane->la_pending[n].wa_position < tail)
			tail = lane->la_pending[n].wa_position;
	/* Partner: the load of ss_tail before a reservation (stream.bpf.h). */
	__atomic_store_n(&lane->la_stream->ss_tail, tail, __ATOMIC_RELEASE);
}

static struct waiting *
lane_oldest(const struct lane *lane)
{
	return (lane->la_first < lane->la_n ?
	    &lane->la_pending[lane->la_first] : NULL);
}

/*
 * The lane whose record is next, and the time up to which it stays next;
 * few lanes, so each is looked at once a run of records, not once a record.
 */
static struct lane *
next_lane(struct prof_drain *drain, uint64_t *until_ns)
{
	struct lane *best = NULL;
	uint64_t best_ns = UINT64_MAX;
	size_t n;

	for (n = 0; n < drain->dn_nlanes; n++) {
		struct waiting *waiting = lane_oldest(&drain->dn_lanes[n]);

		if (waiting == NULL)
			continue;
		if (waiting->wa_time_ns < best_ns) {
			if (best != NULL && best_ns < *until_ns)
				*until_ns = best_ns;
			best_ns = waiting->wa_time_ns;
			best = &drain->dn_lanes[n];
		} else if (waiting->wa_time_ns < *until_ns)
			*until_ns = waiting->wa_time_ns;
	}
	return (best_ns <= *until_ns ? best : NULL);
}

static void
lane_compact(struct lane *lane)
{
	move_tail(lane);
	memmove(lane->la_pending, lane->la_pending + lane->la_first,
	    (lane->la_n - lane->la_first) * sizeof(*lane->la_pending));
	lane->la_n -= lane->la_first;
	lane->la_first = 0;
}

/* A record that is refused has been taken all the same: none comes twice. */
int
prof_drain_until(struct prof_drain *drain, uint64_t most_ns)
{
	struct lane *lane;
	int rv = 0, tailed = 0;
	size_t n;

	while (rv == 0) {
		uint64_t until_ns = most_ns;
		struct waiting *waiting;

		if ((lane = next_lane(drain, &until_ns)) == NULL)
			break;
		while (rv == 0 && (waiting = lane_oldest(lane)) != NULL &&
		    waiting->wa_time_ns <= until_ns) {
			rv = hand_over(drain, lane, waiting);
			lane->la_first++;
			if (++tailed >= TAIL_EVERY) {
				move_tail(lane);
				tailed = 0;
			}
		}
	}
	/* Room is given back at once where that is little work. */
	for (n = 0; n < drain->dn_nlanes; n++) {
		lane = &drain->dn_lanes[n];
		if (lane->la_first >= lane->la_n - lane->la_first)
			lane_compact(lane);
	}
	return (rv);
}

uint64_t
prof_drain_next(const struct prof_drain *drain)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t n = 0; n < drain->dn_nlanes; n++) {
		const struct waiting *waiting =
		    lane_oldest(&drain->dn_lanes[n]);

		if (waiting != NULL && waiting->wa_time_ns < next_ns)
			next_ns = waiting->wa_time_ns;
	}
	return (next_ns);
}

int
prof_drain_peek(struct prof_drain *drain)
{
	for (size_t n = 0; n < drain->dn_nlanes; n++) {
		struct lane *lane = &drain->dn_lanes[n];

		if (lane->la_first > 0)
			lane_compact(lane);
		if (scan_lane(drain, lane, true) == -1)
			return (-1);
	}
	return (0);
}

int
prof_drain_look(struct prof_drain *drain, uint64_t handed_ns,
    uint64_t *until_ns)
{
	uint64_t now_ns = prof_now_ns(), limit_ns = UINT64_MAX;
	size_t n;

	drain->dn_fill = 0;
	drain->dn_handed_ns = handed_ns;
	for (n = 0; n < drain->dn_nlanes; n++) {
		struct lane *lane = &drain->dn_lanes[n];

		if (lane->la_first > 0)
			lane_compact(lane);
		lane->la_safe_ns = now_ns;
		if (scan_lane(drain, lane, false) == -1)
			return (-1);
		if (lane->la_safe_ns < limit_ns)
			limit_ns = lane->la_safe_ns;
	}
	*until_ns = limit_ns;
	return (0);
}

/* Nearly sorted already: the newcomer sinks from the end to its place. */
static void
add_waiting(struct lane *lane, uint64_t time_ns, uint64_t position)
{
	size_t at = lane->la_n++;

	while (at > lane->la_first &&
	    lane->la_pending[at - 1].wa_time_ns > time_ns) {
		lane->la_pending[at] = lane->la_pending[at - 1];
		at--;
	}
	lane->la_pending[at].wa_time_ns = time_ns;
	lane->la_pending[at].wa_position = position;
	if (time_ns > lane->la_newest_ns)
		lane->la_newest_ns = time_ns;
}

/* Up to when a CPU is complete that has writers; now: it is not waited for. */
static uint64_t
safe_beside_writers(struct lane *lane, uint64_t head, uint64_t now_ns)
{
	if (lane->la_since_ns == 0 || head != lane->la_head) {
		lane->la_head = head;
		lane->la_since_ns = now_ns;
	}
	return (now_ns - lane->la_since_ns > STUCK_NS ? now_ns :
	    lane->la_newest_ns);
}

static int
sample_seen(const struct prof_drain *drain, const struct dtp_rec *rec)
{
	const struct prof_plan *plan = drain->dn_bpf->bp_plan;
	const struct prof_record sample = {
		.pr_type = PROF_R_SAMPLE,
		.pr_event = rec->dr_event,
		.pr_time_ns = rec->dr_time_ns,
		.pr_pid = rec->dr_pid,
		.pr_tid = rec->dr_tid,
	};

	return (plan->pn_host->ho_before(plan->pn_arg, &sample));
}

static int
scan_lane(struct prof_drain *drain, struct lane *lane, bool is_peek)
{
	uint64_t state, end, used;

	/* Partner: dtp_leave in stream.bpf.h. */
	state = __atomic_load_n(&lane->la_stream->ss_state, __ATOMIC_ACQUIRE);
	end = state >> DTP_WRITERS_BITS;
	if (state & DTP_WRITERS_MASK)
		end = __atomic_load_n(&lane->la_stream->ss_head,
		    __ATOMIC_ACQUIRE);
	used = (end - lane->la_stream->ss_tail) * 100 /
	    (drain->dn_ring_mask + 1);
	if (used > drain->dn_fill)
		drain->dn_fill = (unsigned)used;
	while (lane->la_scan < end) {
		const struct dtp_rec *rec = (const struct dtp_rec *)
		    (lane->la_ring + (lane->la_scan & drain->dn_ring_mask));

		if (rec->dr_size < sizeof(*rec) || rec->dr_size % 8 != 0 ||
		    rec->dr_size > end - lane->la_scan ||
		    rec->dr_size > DTP_MAX_RECORD ||
		    rec->dr_event >= drain->dn_bpf->bp_nevents)
			return (prof_fail(drain->dn_bpf->bp_error,
			    PROF_E_DAMAGED, "the buffer of CPU %u is corrupt "
			    "at position %llu", lane->la_cpu,
			    (unsigned long long)lane->la_scan));
		add_waiting(lane, rec->dr_time_ns, lane->la_scan);
		if (is_peek && rec->dr_type == DTP_T_SAMPLE &&
		    sample_seen(drain, rec) == -1)
			return (-1);
		lane->la_scan += rec->dr_size;
	}
	if (state & DTP_WRITERS_MASK)
		lane->la_safe_ns = safe_beside_writers(lane, end,
		    lane->la_safe_ns);
	else
		lane->la_since_ns = 0;
	return (0);
}

static const struct dtp_rec *
record_of(const struct prof_drain *drain, const struct lane *lane,
    const struct waiting *waiting)
{
	return ((const struct dtp_rec *)(lane->la_ring +
	    (waiting->wa_position & drain->dn_ring_mask)));
}

static bool
is_of_snapshot(const struct dtp_rec *rec)
{
	return (rec->dr_type == DTP_T_SNAPSHOT ||
	    rec->dr_type == DTP_T_PIECE);
}

/* The lane's n-th record belongs to a sample of that time. */
static bool
is_together(const struct lane *lane, size_t n, uint64_t time_ns)
{
	return (n < lane->la_n &&
	    lane->la_pending[n].wa_time_ns == time_ns);
}

/*
 * The sample that was just decoded is the lane's first.  When a snapshot
 * follows it, the stack is finished with what was mapped at that time.
 */
static void
finish_stack(struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	int64_t *finished = &lane->la_finished[rec->dr_event *
	    DTP_S_NSTATUS];
	struct prof_collect *collect = &drain->dn_collect;
	struct prof_record *sample = &drain->dn_stream.sm_record;
	const uint64_t *before = sample->pr_user;
	const uint32_t nbefore = sample->pr_nuser;
	const struct dtp_rec *next;
	size_t n = lane->la_first + 1;

	if (!is_together(lane, n, rec->dr_time_ns))
		return;
	prof_collect_begin(collect);
	for (; is_together(lane, n, rec->dr_time_ns); n++) {
		next = record_of(drain, lane, &lane->la_pending[n]);
		if (next->dr_event == rec->dr_event && is_of_snapshot(next))
			prof_collect_add(collect, next);
	}
	if (!collect->co_has_head)
		return;
	finished[sample->pr_ustatus]--;
	prof_snapshots_finish(drain->dn_bpf->bp_plan->pn_snapshots, sample,
	    collect->co_kept, &collect->co_snapshot);
	finished[sample->pr_ustatus]++;
	if (sample->pr_user != before)
		prof_stream_moved(&drain->dn_stream, before, nbefore);
}

/* Of the record that was just decoded. */
static void
mend_late(struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	if (rec->dr_time_ns >= drain->dn_handed_ns)
		return;
	lane->la_late[rec->dr_event]++;
	drain->dn_stream.sm_record.pr_time_ns = drain->dn_handed_ns;
}

/* A sample, and the values that it brings. */
static void
count_read(const struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	const struct prof_plan *plan = drain->dn_bpf->bp_plan;

	lane->la_read[rec->dr_event]++;
	if (rec->dr_type == DTP_T_SAMPLE &&
	    (drain->dn_stream.sm_parts[rec->dr_event] & DTP_P_VALUES))
		for (size_t n = 0; n < plan->pn_nvalues; n++)
			lane->la_read[plan->pn_values + n]++;
}

/* A stack without the frames of its interpreter is not complete. */
static void
judge_script(struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	struct prof_unwind *unwind = drain->dn_bpf->bp_unwind;
	const uint32_t chain = rec->dr_flags >> DTP_R_CHAIN_SHIFT;
	int64_t *finished = &lane->la_finished[rec->dr_event *
	    DTP_S_NSTATUS];
	struct prof_record *sample = &drain->dn_stream.sm_record;

	if (chain == 0 || unwind == NULL ||
	    !prof_unwind_fails(unwind, chain, sample) ||
	    sample->pr_ustatus != PROF_STACK_OK)
		return;
	finished[PROF_STACK_OK]--;
	sample->pr_ustatus = PROF_STACK_NOSCRIPT;
	finished[PROF_STACK_NOSCRIPT]++;
}

/*
 * The sample that was just decoded is the lane's first.  What the host knows
 * of mappings may grow by it: then its stack is worth another try.
 */
static int
finish_sample(struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	const struct prof_plan *plan = drain->dn_bpf->bp_plan;
	const struct prof_record *sample = &drain->dn_stream.sm_record;
	int rv;

	if (plan->pn_host->ho_before(plan->pn_arg, sample) == -1)
		return (-1);
	if (plan->pn_snapshots != NULL)
		finish_stack(drain, lane, rec);
	rv = plan->pn_host->ho_after(plan->pn_arg, sample);
	if (rv == 1 && plan->pn_snapshots != NULL)
		finish_stack(drain, lane, rec);
	judge_script(drain, lane, rec);
	return (rv == -1 ? -1 : 0);
}

static int
take_call(struct prof_drain *drain, const struct dtp_rec *rec)
{
	struct prof_bpf *bpf = drain->dn_bpf;
	const struct prof_event *event =
	    bpf->bp_events->el_event[rec->dr_event];

	return (!event->ev_is_syscall ||
	    bpf->bp_calls == NULL ? 0 :
	    prof_calls_take(bpf, event, &drain->dn_stream.sm_record));
}

/* Arguments that only the recorder can make text of. */
static void
take_object(struct prof_drain *drain, const struct dtp_rec *rec)
{
	const struct prof_event *event =
	    drain->dn_bpf->bp_events->el_event[rec->dr_event];

	if (event->ev_instrument->im_has_object)
		prof_waited_take(drain->dn_bpf->bp_waited, &drain->dn_stream,
		    event->ev_nargs - DTP_OBJECT_ARGS);
}

static bool
is_of_pass(const struct prof_drain *drain, const struct dtp_rec *rec)
{
	return (drain->dn_bpf->bp_wall != NULL &&
	    drain->dn_bpf->bp_events->el_event[rec->dr_event]->
	    ev_instrument->im_pass != NULL);
}

/* The sample that was just decoded should have stacks that were not kept. */
static void
judge_again(struct prof_drain *drain, struct lane *lane,
    const struct dtp_rec *rec)
{
	int64_t *finished = &lane->la_finished[rec->dr_event *
	    DTP_S_NSTATUS];
	struct prof_record *sample = &drain->dn_stream.sm_record;

	if ((rec->dr_flags & DTP_R_AGAIN) == 0)
		return;
	if (sample->pr_kstatus != PROF_STACK_NONE)
		sample->pr_kstatus = PROF_STACK_BUSY;
	if (sample->pr_ustatus == PROF_STACK_NONE)
		return;
	finished[sample->pr_ustatus]--;
	sample->pr_ustatus = PROF_STACK_BUSY;
	finished[PROF_STACK_BUSY]++;
}

static int
hand_over(struct prof_drain *drain, struct lane *lane,
    const struct waiting *waiting)
{
	const struct dtp_rec *rec = record_of(drain, lane, waiting);
	const struct prof_plan *plan = drain->dn_bpf->bp_plan;

	if (is_of_snapshot(rec))
		return (0);
	count_read(drain, lane, rec);
	if (is_of_pass(drain, rec) && (rec = prof_wall_complete(
	    drain->dn_bpf->bp_wall, rec)) == NULL)
		return (prof_fail_nomem(plan->pn_error));
	if (prof_stream_decode(&drain->dn_stream, rec) == -1)
		return (prof_fail(plan->pn_error, PROF_E_DAMAGED,
		    "truncated record of event %u", rec->dr_event));
	judge_again(drain, lane, rec);
	mend_late(drain, lane, rec);
	if (rec->dr_type == DTP_T_SAMPLE)
		take_object(drain, rec);
	if (rec->dr_type == DTP_T_SAMPLE && (take_call(drain, rec) == -1 ||
	    finish_sample(drain, lane, rec) == -1))
		return (-1);
	return (prof_host_take(plan, &drain->dn_stream.sm_record));
}
