/* SPDX-License-Identifier: ISC */
/*
 * Empties the perf rings: all CPUs' records in order of time.
 *
 * A ring is nearly sorted, but not quite: a record takes its time before its
 * place, so what an interrupt wrote in between stands before it.  So a
 * drain looks at all unread records, sorts them, hands over those up to the
 * limit and leaves the others where they are (rings_impl.h says how).
 *
 * Called by the session's drain.  Counts, per event, what it handed over: the
 * one side of the accounting in account.c.  Reads a mapped file when
 * the kernel gave no build-id, once per file.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/procfs.h"
#include "rings_impl.h"

static int	collect_ring(struct prof_rings *, uint32_t);
static int	compare_at(const void *, const void *);
static int	record_deliver(struct prof_rings *, const struct ring_at *);
static struct ring_event *event_of(struct prof_rings *, uint64_t);
static void	note_lost(struct prof_rings *, const struct ring *,
		    const struct ring_head *, struct prof_record *);
static void	note_record(struct prof_rings *, const struct ring *,
		    const struct ring_head *, struct prof_record *);
static void	note_sample(struct ring_event *, const struct prof_record *);
static void	exec_path(struct prof_record *, char *, size_t);
static void	rings_release(struct prof_rings *);
static void	loss_widen(struct prof_rings *, const struct ring *,
		    const struct ring_head *);

static int
compare_at(const void *left, const void *right)
{
	const struct ring_at *a = left, *b = right;

	if (a->ra_time_ns != b->ra_time_ns)
		return (a->ra_time_ns < b->ra_time_ns ? -1 : 1);
	if (a->ra_ring != b->ra_ring)
		return (a->ra_ring < b->ra_ring ? -1 : 1);
	return (a->ra_position < b->ra_position ? -1 :
	    a->ra_position > b->ra_position);
}

/* LOST comes with the first record that fits again. */
static void
loss_widen(struct prof_rings *rings, const struct ring *ring,
    const struct ring_head *head)
{
	if (rings->rs_lost_until_ns == 0 ||
	    ring->rg_seen_ns < rings->rs_lost_from_ns)
		rings->rs_lost_from_ns = ring->rg_seen_ns;
	if (head->rh_time_ns > rings->rs_lost_until_ns)
		rings->rs_lost_until_ns = head->rh_time_ns;
}

/* What has come since the last look; -1: no memory. */
static int
collect_ring(struct prof_rings *rings, uint32_t n)
{
	struct ring *ring = &rings->rs_ring[n];
	uint64_t head = prof_ring_head_of(ring), at;
	struct ring_at *grown;
	struct ring_head parts;
	size_t cap;

	if (head - ring->rg_tail > ring->rg_bytes / 4 * 3)
		rings->rs_was_full = true;
	for (at = ring->rg_seen; at < head; at += parts.rh_size) {
		if (!prof_ring_head(prof_ring_at(rings, ring, at,
		    head - at), head - at, &parts)) {
			/* Where the next one begins is unknown. */
			rings->rs_damaged++;
			at = head;
			break;
		}
		if (parts.rh_type == PERF_RECORD_LOST)
			loss_widen(rings, ring, &parts);
		if (parts.rh_time_ns > ring->rg_seen_ns)
			ring->rg_seen_ns = parts.rh_time_ns;
		if (rings->rs_nat == rings->rs_at_cap) {
			cap = rings->rs_at_cap * 2;
			grown = reallocarray(rings->rs_at, cap,
			    sizeof(*grown));
			if (grown == NULL)
				break;
			rings->rs_at = grown;
			rings->rs_at_cap = cap;
		}
		rings->rs_at[rings->rs_nat++] = (struct ring_at){
		    .ra_time_ns = parts.rh_time_ns, .ra_position = at,
		    .ra_ring = n, .ra_size = parts.rh_size };
	}
	ring->rg_seen = at;
	return (at < head ? -1 : 0);
}

static struct ring_event *
event_of(struct prof_rings *rings, uint64_t id)
{
	const struct ring_fd *fd = prof_ring_fd_of(rings, id);

	if (fd == NULL || fd->rf_event == RING_SIDE_BAND)
		return (NULL);
	return (&rings->rs_event[fd->rf_event]);
}

static void
note_sample(struct ring_event *event, const struct prof_record *record)
{
	event->re_stored++;
	event->re_weight += record->pr_weight;
	if (record->pr_weight > event->re_max_period)
		event->re_max_period = record->pr_weight;
	event->re_stack[record->pr_ustatus]++;
}

/*
 * The path of what was just executed, where it is still running and its name
 * says that it is the same; else "": the mapping that follows has it too.
 */
static void
exec_path(struct prof_record *record, char *path, size_t size)
{
	char link[64];
	const char *name;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%u/exe", record->pr_pid);
	len = readlink(link, path, size - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	name = strrchr(path, '/');
	if (name != NULL && strncmp(name + 1, record->pr_comm,
	    DTP_COMM_LEN - 1) == 0)
		record->pr_path = path;
}

/*
 * A LOST comes with the first record that fits again, and tells how many did
 * not, of whichever event.  In a ring that samples share they are a gap in
 * these, since what was written before; prof_rings_side_lost knows what of it
 * was sideband.
 */
static void
note_lost(struct prof_rings *rings, const struct ring *ring,
    const struct ring_head *head, struct prof_record *record)
{
	const bool is_of_ring = head->rh_type == PERF_RECORD_LOST;
	struct ring_event *event = event_of(rings, is_of_ring ?
	    head->rh_subject : head->rh_id);

	if (is_of_ring)
		rings->rs_lost += record->pr_weight;
	if (event != NULL) {
		*(is_of_ring ? &event->re_ring_lost : &event->re_hw_lost) +=
		    record->pr_weight;
		record->pr_event = event->re_layout.ly_event;
	}
	if (rings->rs_samples)
		record->pr_addr = ring->rg_before_ns != 0 ?
		    ring->rg_before_ns : record->pr_time_ns;
}

static void
note_record(struct prof_rings *rings, const struct ring *ring,
    const struct ring_head *head, struct prof_record *record)
{
	struct ring_event *event;

	if (head->rh_type != PERF_RECORD_SAMPLE &&
	    record->pr_type != PROF_R_LOST)
		rings->rs_side_read++;
	switch (head->rh_type) {
	case PERF_RECORD_SAMPLE:
		note_sample(event_of(rings, head->rh_id), record);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		note_lost(rings, ring, head, record);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		event = event_of(rings, head->rh_subject);
		if (event != NULL)
			record->pr_event = event->re_layout.ly_event;
		break;
	case PERF_RECORD_FORK:
		rings->rs_forks++;
		if (rings->rs_doubles)
			prof_ring_owner_fork(rings, record);
		break;
	case PERF_RECORD_MMAP2:
		if (record->pr_build_id_len == 0)
			prof_mapping_build_id(rings->rs_ids, record);
		break;
	}
}

/* The stack out of its copy; without one the pc is all that is known. */
static void
finish_stack(struct prof_rings *rings, const void *bytes, size_t size,
    const struct prof_ring_layout *layout, struct prof_record *record)
{
	struct prof_snapshot snapshot;

	record->pr_user = &record->pr_ip;
	record->pr_nuser = 1;
	record->pr_ustatus = PROF_STACK_NOPROC;
	if (!prof_ring_snapshot(bytes, size, layout, &snapshot))
		record->pr_ustatus = PROF_STACK_FAULT;
	else
		prof_snapshots_finish(rings->rs_snapshots, record, 0,
		    &snapshot);
}

/*
 * With mappings the kernel always writes forks and exits into a ring.  Beside
 * BPF they are dropped: its streams have them, and with more detail.
 */
static bool
is_of_task(const struct prof_record *record)
{
	return (record->pr_type == PROF_R_FORK ||
	    record->pr_type == PROF_R_EXEC || record->pr_type == PROF_R_EXIT ||
	    record->pr_type == PROF_R_COMM);
}

/*
 * An exec takes a process's own events away if the program has rights that its
 * user has not, or may not be read: the kernel says that the task has ended,
 * before it has mapped anything, though the program runs.
 */
static bool
is_no_end(struct prof_rings *rings, const struct prof_record *record)
{
	const bool was_new = prof_pidset_has(&rings->rs_execs, record->pr_pid);

	switch (record->pr_type) {
	case PROF_R_EXEC:
		(void)prof_pidset_add(&rings->rs_execs, record->pr_pid);
		return (false);
	case PROF_R_EXIT:
		if (!record->pr_group_dead)
			return (false);
		break;
	case PROF_R_MMAP:
		break;
	default:
		return (false);
	}
	prof_pidset_remove(&rings->rs_execs, record->pr_pid);
	if (!was_new || record->pr_type == PROF_R_MMAP)
		return (false);
	rings->rs_taken_away += !rings->rs_all;
	return (true);
}

/* What the kernel published late is known from now on. */
static int
record_hand(struct prof_rings *rings, struct ring_event *event,
    struct prof_record *record)
{
	if (record->pr_time_ns < rings->rs_handed_ns) {
		record->pr_time_ns = rings->rs_handed_ns;
		if (event != NULL)
			event->re_late++;
	}
	rings->rs_handed_ns = record->pr_time_ns;
	return (rings->rs_fn(rings->rs_arg, record));
}

int
prof_ring_store(struct prof_rings *rings, struct ring_event *event,
    struct prof_record *record)
{
	note_sample(event, record);
	return (record_hand(rings, event, record));
}

static int
record_deliver(struct prof_rings *rings, const struct ring_at *at)
{
	struct ring *ring = &rings->rs_ring[at->ra_ring];
	const void *bytes = prof_ring_at(rings, ring, at->ra_position,
	    at->ra_size);
	const struct prof_ring_layout *layout = NULL;
	struct prof_record record;
	struct ring_event *event = NULL;
	struct ring_switch to;
	struct ring_head head;
	char path[PATH_MAX];
	int rv;

	if (!prof_ring_head(bytes, at->ra_size, &head)) {
		rings->rs_damaged++;
		return (0);
	}
	if (rings->rs_switches != NULL && prof_ring_switch(bytes, &head, &to))
		return (rings->rs_doubles && prof_ring_is_double(rings, ring,
		    &head) ? 0 : prof_ring_switch_take(rings, &to));
	if (head.rh_type == PERF_RECORD_SAMPLE) {
		event = event_of(rings, head.rh_id);
		if (event != NULL)
			layout = &event->re_layout;
	}
	rv = prof_ring_parse(bytes, at->ra_size, layout, &record);
	if (rv == -1)
		rings->rs_damaged++;
	if (rv != 1)
		return (0);
	if (rings->rs_doubles && prof_ring_is_double(rings, ring,
	    &head)) {
		if (event != NULL) {
			event->re_twice++;
			event->re_twice_weight += record.pr_weight;
		}
		return (0);
	}
	if (rings->rs_samples && is_no_end(rings, &record))
		return (0);
	if (record.pr_type == PROF_R_EXEC)
		exec_path(&record, path, sizeof(path));
	if (layout != NULL && rings->rs_before != NULL &&
	    rings->rs_before(rings->rs_arg, &record) == -1)
		return (-1);
	if (layout != NULL && layout->ly_stack_bytes != 0)
		finish_stack(rings, bytes, head.rh_size, layout, &record);
	note_record(rings, ring, &head, &record);
	ring->rg_before_ns = record.pr_time_ns;
	if (!rings->rs_samples && is_of_task(&record))
		return (0);
	return (record_hand(rings, event, &record));
}

/* What is done; only what lies below all others can be given back. */
static void
rings_release(struct prof_rings *rings)
{
	struct ring *ring;
	size_t i;

	rings->rs_nat -= rings->rs_first;
	memmove(rings->rs_at, rings->rs_at + rings->rs_first,
	    rings->rs_nat * sizeof(*rings->rs_at));
	rings->rs_first = 0;
	for (i = 0; i < rings->rs_nrings; i++)
		rings->rs_ring[i].rg_tail = rings->rs_ring[i].rg_seen;
	for (i = 0; i < rings->rs_nat; i++) {
		ring = &rings->rs_ring[rings->rs_at[i].ra_ring];
		if (rings->rs_at[i].ra_position < ring->rg_tail)
			ring->rg_tail = rings->rs_at[i].ra_position;
	}
	for (i = 0; i < rings->rs_nrings; i++)
		prof_ring_release(&rings->rs_ring[i],
		    rings->rs_ring[i].rg_tail);
}

/* Short of memory: what was found goes first, the rest comes later. */
void
prof_rings_look(struct prof_rings *rings, uint64_t handed_ns)
{
	if (handed_ns > rings->rs_handed_ns)
		rings->rs_handed_ns = handed_ns;
	for (uint32_t r = 0; r < rings->rs_nrings; r++)
		if (collect_ring(rings, r) == -1)
			break;
	qsort(rings->rs_at + rings->rs_first,
	    rings->rs_nat - rings->rs_first, sizeof(*rings->rs_at),
	    compare_at);
}

static uint64_t
record_next(const struct prof_rings *rings)
{
	return (rings->rs_first < rings->rs_nat ?
	    rings->rs_at[rings->rs_first].ra_time_ns : UINT64_MAX);
}

uint64_t
prof_rings_next(const struct prof_rings *rings)
{
	const uint64_t turn_ns = prof_ring_turn_next(rings);
	const uint64_t record_ns = record_next(rings);

	return (turn_ns < record_ns ? turn_ns : record_ns);
}

/*
 * In a round this is called for one time after another: it gives room back
 * when half of what it knows is done.
 */
int
prof_rings_drain(struct prof_rings *rings, uint64_t until_ns,
    prof_record_fn *fn, void *arg)
{
	uint64_t next_ns;
	int rv = 0;

	rings->rs_fn = fn;
	rings->rs_arg = arg;
	while (rv == 0 && (next_ns = prof_rings_next(rings)) <= until_ns) {
		/* A damaged record can have this time, too. */
		if (next_ns == UINT64_MAX && rings->rs_first == rings->rs_nat)
			break;
		if (record_next(rings) > next_ns)
			rv = prof_ring_turn(rings);
		else
			rv = record_deliver(rings,
			    &rings->rs_at[rings->rs_first++]);
	}
	if (rings->rs_first >= rings->rs_nat - rings->rs_first)
		rings_release(rings);
	return (rv);
}
