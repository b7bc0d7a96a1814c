/* SPDX-License-Identifier: ISC */
/*
 * Finishes stacks in user space: what a session asks of this directory.
 *
 * Called by session.c and by the drains, with all process events and mappings
 * in order of time, and between them with samples that brought registers and a
 * stack copy.  The frames that the kernel's walk was sure of stay as they are;
 * what follows, and how it ended, is found here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "snapshot.h"

#define SWEEP_NS	250000000ULL

struct prof_snapshots {
	struct prof_objects *st_objects;
	struct prof_spaces *st_spaces;
	struct prof_unwinder *st_unwinder;
	struct prof_verify *st_verify;	/* NULL: nothing is compared */
	uint64_t	 st_swept_ns;
	uint64_t	 st_walked;
	uint64_t	 st_whole;
	struct prof_walk st_walk;
	uint64_t	 st_frame[DTP_MAX_UFRAMES];
};

struct prof_snapshots *
prof_snapshots_new(unsigned mode, bool verify)
{
	struct prof_snapshots *st = calloc(1, sizeof(*st));

	if (st == NULL)
		return (NULL);
	st->st_objects = prof_objects_new();
	if (st->st_objects != NULL) {
		st->st_spaces = prof_spaces_new(st->st_objects, mode);
		st->st_unwinder = prof_unwinder_new(st->st_objects);
	}
	if (verify)
		st->st_verify = prof_verify_new();
	if (st->st_spaces == NULL || st->st_unwinder == NULL ||
	    (verify && st->st_verify == NULL)) {
		prof_snapshots_free(st);
		return (NULL);
	}
	return (st);
}

void
prof_snapshots_free(struct prof_snapshots *st)
{
	if (st == NULL)
		return;
	prof_verify_free(st->st_verify);
	prof_unwinder_free(st->st_unwinder);
	prof_spaces_free(st->st_spaces);
	prof_objects_free(st->st_objects);
	free(st);
}

/* A rule that is remembered belongs to a space, which has gone as well. */
static void
objects_sweep(struct prof_snapshots *st)
{
	const uint64_t now_ns = prof_now_ns();

	if (now_ns - st->st_swept_ns < SWEEP_NS)
		return;
	st->st_swept_ns = now_ns;
	if (prof_spaces_mark(st->st_spaces) == -1)
		return;
	prof_objects_sweep(st->st_objects);
	prof_unwinder_forget(st->st_unwinder);
}

void
prof_snapshots_read_by(struct prof_snapshots *st, struct prof_broker *broker)
{
	prof_objects_read_by(st->st_objects, broker);
}

void
prof_snapshots_later(struct prof_snapshots *st, uint64_t unchanged_ns)
{
	prof_objects_later(st->st_objects, unchanged_ns);
}

int
prof_snapshots_observe(struct prof_snapshots *st,
    const struct prof_record *record)
{
	if (prof_objects_are_many(st->st_objects))
		objects_sweep(st);
	return (prof_spaces_observe(st->st_spaces, record));
}

int
prof_snapshots_renew(struct prof_snapshots *st, uint32_t pid,
    uint64_t time_ns)
{
	return (prof_spaces_renew(st->st_spaces, pid, time_ns));
}

void
prof_snapshots_finish(struct prof_snapshots *st, struct prof_record *sample,
    uint32_t kept, const struct prof_snapshot *snapshot)
{
	struct prof_space space;
	struct prof_walk *walk = &st->st_walk;
	uint32_t more;

	if (kept > DTP_MAX_UFRAMES || kept > sample->pr_nuser ||
	    !prof_spaces_find(st->st_spaces, sample->pr_pid,
	    sample->pr_time_ns, &space))
		return;
	prof_unwinder_walk(st->st_unwinder, sample->pr_pid, &space, snapshot,
	    walk);
	st->st_walked++;
	if (walk->wk_status == PROF_STACK_OK)
		st->st_whole++;
	if (st->st_verify != NULL && kept == 0)
		prof_verify_compare(st->st_verify, &space, sample, walk);
	if (sample->pr_ustatus == PROF_STACK_OK)
		return;
	more = walk->wk_n;
	if (more > DTP_MAX_UFRAMES - kept) {
		more = DTP_MAX_UFRAMES - kept;
		walk->wk_status = PROF_STACK_DEEP;
	}
	/*
	 * The kernel's walk may have had what is gone by now.  Of a process
	 * whose memory is gone, as at its exit, this one learns nothing.
	 */
	if (walk->wk_status != PROF_STACK_OK &&
	    kept + more < sample->pr_nuser + (snapshot->sn_bytes == 0))
		return;
	if (kept > 0)
		memcpy(st->st_frame, sample->pr_user,
		    kept * sizeof(*st->st_frame));
	memcpy(st->st_frame + kept, walk->wk_frame,
	    more * sizeof(*st->st_frame));
	sample->pr_user = st->st_frame;
	sample->pr_nuser = kept + more;
	sample->pr_ustatus = (uint8_t)walk->wk_status;
}

struct prof_verify *
prof_snapshots_verify(struct prof_snapshots *st)
{
	return (st->st_verify);
}

void
prof_snapshots_count(const struct prof_snapshots *st, uint64_t *walked,
    uint64_t *whole)
{
	*walked = st->st_walked;
	*whole = st->st_whole;
}
