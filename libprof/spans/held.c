/* SPDX-License-Identifier: ISC */
/*
 * Which allocations nobody had freed when the recording, or their process,
 * ended.  An allocation is known by its address in its process; as long as
 * nothing is lost, no other one has the same until it is freed.
 *
 *	alloc 0x10 ---- free 0x10      alloc 0x10 ------------- exit
 *	           freed                            held
 *
 * One around which an event may be missing is not said to be held.  Called by
 * profile/ when a recording is read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/search.h"
#include "held.h"
#include "recording/query.h"
#include "spans_impl.h"

/* A file of any size could claim as many; what is more is not followed. */
#define MAX_BLOCKS	(1u << 22)

/* An address that a process had; no padding. */
struct block_key {
	uint64_t	bk_pointer;
	uint32_t	bk_pid;
	uint32_t	bk_ended;	/* how often its number was given up */
};

struct block {
	uint64_t	bl_pointer;
	uint64_t	bl_weight;
	uint64_t	bl_time_ns;	/* when it was allocated; 0: freed */
	uint32_t	bl_pid;
	uint32_t	bl_pad;
};

struct prof_held {
	struct prof_reader *he_reader;
	uint32_t	 he_alloc;	/* the events */
	uint32_t	 he_free;
	struct prof_dict he_by_key;
	struct block	*he_block;	/* by key; then those held, by time */
	size_t		 he_n;
	size_t		 he_cap;
	struct span_pids he_pids;
	struct prof_held_rest he_rest;
	uint64_t	 he_last_ns;
};

static int
events_find(struct prof_held *held, struct prof_err *error)
{
	for (size_t e = 1; e < prof_reader_nevents(held->he_reader); e++) {
		const struct prof_event_info *info =
		    prof_reader_event(held->he_reader, e);

		if (strcmp(info->pi_provider, "alloc") != 0)
			continue;
		if (info->pi_is_of_span)
			held->he_free = (uint32_t)e;
		else
			held->he_alloc = (uint32_t)e;
	}
	/* Merging keeps samples alone: no losses, and no ends of processes. */
	if (held->he_alloc != 0 && held->he_free != 0 &&
	    prof_reader_info(held->he_reader, "merged") == NULL)
		return (0);
	prof_fail(error, PROF_E_USAGE, "%s", held->he_alloc == 0 ?
	    "no allocations were recorded" : held->he_free == 0 ?
	    "the recording has no events of freed "
	    "memory" : "a merged recording has no events of freed memory");
	return (prof_cure(error, held->he_alloc != 0 && held->he_free != 0 ?
	    "read the recordings one at a time" :
	    "use dtprof record --alloc -- COMMAND"));
}

/* 1: the block of an event is *block, 0: there is none, -1: no memory. */
static int
block_find(struct prof_held *held, const struct prof_record *record,
    struct block **block)
{
	const struct block_key key = { record->pr_args[0], record->pr_pid,
	    prof_span_pid_ended(&held->he_pids, record->pr_pid) };
	bool is_new = false;
	uint32_t n;

	if (record->pr_event == held->he_free || held->he_n >= MAX_BLOCKS)
		n = prof_dict_peek(&held->he_by_key, &key, sizeof(key));
	else if ((n = prof_dict_find(&held->he_by_key, &key, sizeof(key),
	    &is_new)) == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&held->he_block, &held->he_n, &held->he_cap,
	    sizeof(*held->he_block)) == NULL))
		return (-1);
	if (n == PROF_INTERN_FAILED)
		return (0);
	*block = &held->he_block[n];
	return (1);
}

static int
sample_take(struct prof_held *held, const struct prof_record *record)
{
	struct block *block;
	int rv;

	if ((record->pr_event != held->he_alloc &&
	    record->pr_event != held->he_free) || record->pr_nargs == 0)
		return (0);
	if (record->pr_event == held->he_alloc && record->pr_args[0] == 0) {
		held->he_rest.hr_unfollowed += record->pr_weight;
		return (0);
	}
	if ((rv = block_find(held, record, &block)) == -1)
		return (-1);
	if (record->pr_event == held->he_free) {
		/* What was allocated before, or by a parent, is not ours. */
		if (rv == 1)
			block->bl_time_ns = 0;
		return (0);
	}
	if (rv == 0) {
		held->he_rest.hr_unfollowed += record->pr_weight;
		return (0);
	}
	*block = (struct block){ .bl_pointer = record->pr_args[0],
	    .bl_weight = record->pr_weight, .bl_pid = record->pr_pid,
	    .bl_time_ns = record->pr_time_ns };
	return (0);
}

/* Memory ends with the process, and with what it executed. */
static int
record_take(struct prof_held *held, const struct prof_record *record)
{
	held->he_last_ns = record->pr_time_ns;
	if (record->pr_type == PROF_R_SAMPLE)
		return (sample_take(held, record));
	if (record->pr_type != PROF_R_EXEC &&
	    (record->pr_type != PROF_R_EXIT || !record->pr_group_dead))
		return (0);
	return (prof_span_pid_end(&held->he_pids, record->pr_pid));
}

static int
records_take(struct prof_held *held, struct prof_err *error)
{
	const struct prof_record *record;
	int rv;

	(void)prof_reader_rewind(held->he_reader);
	while ((rv = prof_reader_borrow(held->he_reader, &record)) == 1)
		if (record_take(held, record) == -1) {
			(void)prof_reader_rewind(held->he_reader);
			return (prof_fail_nomem(error));
		}
	if (rv == -1)
		*error = *prof_reader_error(held->he_reader);
	(void)prof_reader_rewind(held->he_reader);
	return (rv);
}

static int
block_order(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return ((x->bl_time_ns > y->bl_time_ns) -
	    (x->bl_time_ns < y->bl_time_ns));
}

/* Some were skipped, or are not where their times say. */
static bool
has_late(const struct prof_held *held)
{
	const size_t events[] = { held->he_alloc, held->he_free };
	struct prof_accounting sum;

	for (int n = 0; n < 2; n++)
		if (prof_reader_accounting(held->he_reader, events[n], -1,
		    &sum) == 0 && (sum.pa_late > 0 || sum.pa_missed > 0))
			return (true);
	return (false);
}

/* Only those that were held, and for sure. */
static int
blocks_keep(struct prof_held *held)
{
	const size_t nevents = prof_reader_nevents(held->he_reader);
	const bool is_unsure = has_late(held);
	struct span_kind kind = { 0 };
	size_t kept = 0;
	int rv = -1;

	kind.ks_role = calloc(nevents, sizeof(*kind.ks_role));
	if (kind.ks_role == NULL)
		return (-1);
	kind.ks_role[held->he_alloc] = kind.ks_role[held->he_free] = SPAN_END;
	if (prof_span_gaps_find(held->he_reader, &kind) == -1)
		goto out;
	for (size_t n = 0; n < held->he_n; n++) {
		const struct block *block = &held->he_block[n];

		if (block->bl_time_ns == 0)
			continue;
		if (is_unsure || prof_span_gaps_touch(&kind.ks_gaps,
		    block->bl_time_ns, held->he_last_ns))
			held->he_rest.hr_unsure += block->bl_weight;
		else
			held->he_block[kept++] = *block;
	}
	held->he_n = kept;
	if (kept > 0)
		qsort(held->he_block, kept, sizeof(*held->he_block),
		    block_order);
	rv = 0;
out:
	free(kind.ks_gaps.gs_gap);
	free(kind.ks_role);
	return (rv);
}

struct prof_held *
prof_held_new(struct prof_reader *reader, struct prof_err *error)
{
	struct prof_held *held = calloc(1, sizeof(*held));

	if (held == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	held->he_reader = reader;
	if (events_find(held, error) == 0 && records_take(held, error) == 0) {
		prof_dict_free(&held->he_by_key);
		if (blocks_keep(held) == 0)
			return (held);
		prof_fail_nomem(error);
	}
	prof_held_free(held);
	return (NULL);
}

bool
prof_held_has(const struct prof_held *held, const struct prof_record *record)
{
	const struct block *block = held->he_block;

	if (record->pr_event != held->he_alloc || record->pr_nargs == 0)
		return (false);
	for (size_t at = PROF_BEFORE(n, held->he_n,
	    block[n].bl_time_ns < record->pr_time_ns); at < held->he_n &&
	    block[at].bl_time_ns == record->pr_time_ns; at++)
		if (block[at].bl_pointer == record->pr_args[0] &&
		    block[at].bl_pid == record->pr_pid)
			return (true);
	return (false);
}

struct prof_held_rest
prof_held_rest(const struct prof_held *held)
{
	static const struct prof_held_rest none;

	return (held == NULL ? none : held->he_rest);
}

void
prof_held_free(struct prof_held *held)
{
	if (held == NULL)
		return;
	prof_dict_free(&held->he_by_key);
	prof_span_pids_fini(&held->he_pids);
	free(held->he_block);
	free(held);
}
