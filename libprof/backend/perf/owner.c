/* SPDX-License-Identifier: ISC */
/*
 * Which of two events counts, when one task fires both.
 *
 * A task that was started while its parent was being attached to may have
 * inherited some of the parent's events, and got all of its own as well
 * (tasks.c).  What it does can then come twice, and so can what its
 * children do.  So each task has an owner, the task whose descriptors count
 * for it: itself where they were opened for it, else its parent's owner.  A
 * record from any other descriptor is a double.
 *
 * Called by the drain, in order of time, and only when tasks were found by
 * listing: never for a command that we start.
 */
#include <stdlib.h>
#include <string.h>

#include "rings_impl.h"

#define MAX_OWNERS	(1u << 20)	/* places for them */

static struct ring_owner *owner_slot(struct ring_owner *, size_t, int);
static int	owner_set(struct prof_rings *, int, uint32_t, uint64_t);
static bool	is_anothers(const struct prof_rings *, const struct ring_fd *,
		    const struct ring_head *);

/* The entry of a tid, or the free one where it belongs. */
static struct ring_owner *
owner_slot(struct ring_owner *owners, size_t cap, int tid)
{
	size_t at = ((uint32_t)tid * 2654435761U) & (cap - 1);

	while (owners[at].ow_tid != 0 && owners[at].ow_tid != tid)
		at = (at + 1) & (cap - 1);
	return (&owners[at]);
}

static int
owner_set(struct prof_rings *rings, int tid, uint32_t owner,
    uint64_t since_ns)
{
	struct ring_owner *slot, *grown;
	size_t cap = rings->rs_owners_cap, n;

	if (rings->rs_nowners * 2 >= cap) {
		cap = cap == 0 ? 1024 : cap * 2;
		if (cap > MAX_OWNERS)
			return (-1);
		grown = calloc(cap, sizeof(*grown));
		if (grown == NULL)
			return (-1);
		for (n = 0; n < rings->rs_owners_cap; n++)
			if (rings->rs_owner[n].ow_tid != 0)
				*owner_slot(grown, cap,
				    rings->rs_owner[n].ow_tid) =
				    rings->rs_owner[n];
		free(rings->rs_owner);
		rings->rs_owner = grown;
		rings->rs_owners_cap = cap;
	}
	slot = owner_slot(rings->rs_owner, cap, tid);
	if (slot->ow_tid == 0)
		rings->rs_nowners++;
	*slot = (struct ring_owner){ .ow_tid = tid, .ow_owner = owner,
	    .ow_since_ns = since_ns };
	return (0);
}

int
prof_ring_owners_init(struct prof_rings *rings)
{
	size_t n;

	for (n = 0; n < rings->rs_ntasks; n++)
		if (owner_set(rings, rings->rs_task[n].rt_tid,
		    rings->rs_task[n].rt_owner,
		    rings->rs_task[n].rt_done_ns) == -1)
			return (-1);
	return (0);
}

/*
 * The start of a task that was attached to later is about as old as what we
 * know of it; a much newer one means that its tid is used again.  Without
 * memory the child has no owner, and all its records count.
 */
void
prof_ring_owner_fork(struct prof_rings *rings,
    const struct prof_record *record)
{
	const struct ring_owner *parent, *child;

	parent = owner_slot(rings->rs_owner, rings->rs_owners_cap,
	    (int)record->pr_ptid);
	child = owner_slot(rings->rs_owner, rings->rs_owners_cap,
	    (int)record->pr_tid);
	if (parent->ow_tid == 0 || (child->ow_tid != 0 &&
	    record->pr_time_ns < child->ow_since_ns + RING_SURE_NS))
		return;
	(void)owner_set(rings, (int)record->pr_tid, parent->ow_owner,
	    record->pr_time_ns);
}

static bool
is_anothers(const struct prof_rings *rings, const struct ring_fd *fd,
    const struct ring_head *head)
{
	const struct ring_owner *owner;

	owner = owner_slot(rings->rs_owner, rings->rs_owners_cap,
	    (int)head->rh_tid);
	/* Before its own were open, the inherited ones were all it had. */
	return (owner->ow_tid != 0 && owner->ow_owner != fd->rf_task &&
	    head->rh_time_ns > owner->ow_since_ns);
}

/*
 * Kernels from 6.3 on fill in a sample once for all software events that fire
 * together: both then carry the time and the id of the first.  So of two that
 * are alike, which no two firings are, exactly one counts.
 */
bool
prof_ring_is_double(const struct prof_rings *rings, struct ring *ring,
    const struct ring_head *head)
{
	const struct ring_fd *fd = prof_ring_fd_of(rings, head->rh_id);
	struct ring_sample *last = &ring->rg_last;
	bool is_double;

	if (fd == NULL || fd->rf_task == RING_NO_TASK ||
	    head->rh_type == PERF_RECORD_LOST)
		return (false);
	is_double = is_anothers(rings, fd, head);
	if (head->rh_type != PERF_RECORD_SAMPLE)
		return (is_double);
	if (last->la_time_ns == head->rh_time_ns &&
	    last->la_tid == head->rh_tid && last->la_event == fd->rf_event)
		is_double = !last->la_is_double;
	*last = (struct ring_sample){ .la_time_ns = head->rh_time_ns,
	    .la_tid = head->rh_tid, .la_event = fd->rf_event,
	    .la_is_double = is_double };
	return (is_double);
}
