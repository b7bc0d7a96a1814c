/* SPDX-License-Identifier: ISC */
/*
 * Which tasks the events of the perf path are opened for: threads asked for,
 * and of a running process all its threads and descendants.
 *
 * An event is inherited by what its task starts afterwards, so the listing
 * in /proc is read again until it brings nothing to open.  A task in it that
 * was started meanwhile by one that already had our events has inherited
 * them.  The sideband, opened first, reports such a start.  But one that was
 * started while its parent was being attached to has some and not others, and
 * nothing tells which: it gets all of its own, and the drain drops what comes
 * from the inherited ones (owner.c).
 *
 * Called by rings.c.  Nothing is sampling yet while this runs.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/procfs.h"
#include "rings_impl.h"

static struct ring_task *task_find(const struct prof_rings *, int);
static bool	birth_find(const struct prof_rings *, int,
		    struct prof_record *);
static int	task_append(struct prof_rings *, int);
static const struct ring_task *task_inherited(struct prof_rings *, int,
		    uint64_t *);
static int	add_task(struct prof_rings *, int, bool, struct prof_err *);
static int	add_threads(struct prof_rings *, int, struct prof_err *);
static int	add_family(struct prof_rings *, int, int, struct prof_err *);

static struct ring_task *
task_find(const struct prof_rings *rings, int tid)
{
	size_t n;

	for (n = 0; n < rings->rs_ntasks; n++)
		if (rings->rs_task[n].rt_tid == tid)
			return (&rings->rs_task[n]);
	return (NULL);
}

/* The record of a task's start; nothing has been taken from the rings yet. */
static bool
birth_find(const struct prof_rings *rings, int tid,
    struct prof_record *record)
{
	struct ring_head head;
	const void *bytes;
	uint64_t at, end;
	size_t n;

	for (n = 0; n < rings->rs_nrings; n++) {
		const struct ring *ring = &rings->rs_ring[n];

		end = prof_ring_head_of(ring);
		for (at = 0; at < end; at += head.rh_size) {
			bytes = prof_ring_at(rings, ring, at, end - at);
			if (!prof_ring_head(bytes, end - at, &head))
				break;
			if (head.rh_type == PERF_RECORD_FORK &&
			    prof_ring_parse(bytes, head.rh_size, NULL,
			    record) == 1 && record->pr_tid == (uint32_t)tid)
				return (true);
		}
	}
	return (false);
}

/*
 * Has it all of our events from its parent?  Only sure when it was started
 * well after they had all been opened: the record of a start is written a
 * while after the events were inherited.
 */
static const struct ring_task *
task_inherited(struct prof_rings *rings, int tid, uint64_t *since_ns)
{
	const struct ring_task *parent;
	struct prof_record birth;

	if (!rings->rs_inherit || !birth_find(rings, tid, &birth))
		return (NULL);
	parent = task_find(rings, (int)birth.pr_ptid);
	*since_ns = birth.pr_time_ns;
	if (parent != NULL && parent->rt_done_ns < birth.pr_time_ns &&
	    birth.pr_time_ns - parent->rt_done_ns > RING_SURE_NS)
		return (parent);
	return (NULL);
}

static int
task_append(struct prof_rings *rings, int tid)
{
	struct ring_task *grown;
	size_t cap;

	if (rings->rs_ntasks == rings->rs_tasks_cap) {
		cap = rings->rs_tasks_cap == 0 ? 16 :
		    rings->rs_tasks_cap * 2;
		grown = reallocarray(rings->rs_task, cap, sizeof(*grown));
		if (grown == NULL)
			return (-1);
		rings->rs_task = grown;
		rings->rs_tasks_cap = cap;
	}
	rings->rs_task[rings->rs_ntasks] = (struct ring_task){
	    .rt_tid = tid, .rt_owner = (uint32_t)rings->rs_ntasks,
	    .rt_done_ns = UINT64_MAX };
	rings->rs_ntasks++;
	return (0);
}

/*
 * 1: opened, 0: there was nothing to open, -1: failed.  A task found by
 * listing may have ended or become another user's; one asked for may not.
 */
static int
add_task(struct prof_rings *rings, int tid, bool asked_for,
    struct prof_err *error)
{
	const struct ring_task *from = NULL;
	uint32_t task = (uint32_t)rings->rs_ntasks, owner = task;
	uint64_t since_ns = 0;

	if (task_find(rings, tid) != NULL)
		return (0);
	if (!asked_for && (from = task_inherited(rings, tid, &since_ns)) !=
	    NULL)
		owner = from->rt_owner;
	if (task_append(rings, tid) == -1)
		return (prof_fail_nomem(error));
	rings->rs_task[task].rt_owner = owner;
	rings->rs_task[task].rt_done_ns = since_ns;
	if (from != NULL)
		return (0);
	/* Its start may not even be reported yet. */
	if (!asked_for)
		rings->rs_doubles = true;
	if (prof_rings_open_task(rings, task, !rings->rs_all, error) == -1) {
		if (asked_for || (error->pe_code != PROF_E_TARGET &&
		    error->pe_code != PROF_E_PERMISSION))
			return (-1);
		if (error->pe_code == PROF_E_PERMISSION)
			prof_rings_say(rings, "task %d is not recorded: %s",
			    tid,
			    error->pe_text);
		memset(error, 0, sizeof(*error));
	}
	rings->rs_task[task].rt_done_ns = prof_now_ns();
	return (1);
}

/* Of a tree of processes. */
#define DEPTH_MAX	256

/* How many threads of a process were opened, or -1. */
static int
add_threads(struct prof_rings *rings, int pid, struct prof_err *error)
{
	struct dirent *entry;
	int added, rv = 0, tid;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return (0);
	while ((entry = readdir(dir)) != NULL) {
		tid = prof_proc_pid(entry->d_name);
		if (tid == -1)
			continue;
		added = add_task(rings, tid, false, error);
		if (added == -1) {
			rv = -1;
			break;
		}
		rv += added;
	}
	closedir(dir);
	return (rv);
}

/*
 * A process, its threads, and the same for all below it.  How many were
 * opened, or -1.  The depth is bounded, as a tree read while it moves might
 * not be.
 */
static int
add_family(struct prof_rings *rings, int pid, int depth,
    struct prof_err *error)
{
	int *child = NULL, total, added;
	size_t n, nchildren = 0, cap = 0;

	total = add_threads(rings, pid, error);
	if (total == -1 || depth == 0)
		return (total);
	if (prof_procfs_children(pid, &child, &nchildren, &cap) == -1) {
		free(child);
		return (prof_fail_nomem(error));
	}
	for (n = 0; n < nchildren; n++) {
		added = add_family(rings, child[n], depth - 1, error);
		if (added == -1) {
			total = -1;
			break;
		}
		total += added;
	}
	free(child);
	return (total);
}

int
prof_rings_add_tasks(struct prof_rings *rings,
    const struct prof_rings_options *options, struct prof_err *error)
{
	const int depth = rings->rs_inherit && !options->ro_threads ?
	    DEPTH_MAX : 0;
	size_t n;
	int added;

	if (rings->rs_all || rings->rs_has_cgroup)
		return (add_task(rings, rings->rs_all ? -1 :
		    options->ro_cgroup, true, error) == -1 ? -1 : 0);
	for (n = 0; n < options->ro_npids; n++) {
		if (add_task(rings, options->ro_pids[n], true, error) == -1)
			return (-1);
		do
			added = !rings->rs_inherit && !options->ro_threads ?
			    0 : add_family(rings, options->ro_pids[n],
			    depth, error);
		while (added > 0);
		if (added == -1)
			return (-1);
	}
	return (0);
}
