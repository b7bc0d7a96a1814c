/* SPDX-License-Identifier: ISC */
/*
 * One sequence of records out of what all back ends have.
 *
 * Called by the session, each round.  First each back end looks, and says up
 * to when it knows everything; the earliest of these times is the limit.  Then
 * whoever has the oldest record hands over as long as its own stay the oldest:
 * few back ends, so each is asked once a run of records, not once a record.
 */
#include <string.h>

#include "backend/merge.h"
#include "base/clock.h"
#include "base/error.h"

#define SLICE_NS	1000000ULL	/* of records, between two looks */

/*
 * Whose record is next, and until when its records stay the next, but at most
 * for slice_ns.
 */
static struct prof_source *
merge_next(struct prof_merge *merge, uint64_t slice_ns, uint64_t *until_ns)
{
	struct prof_source *best = NULL;
	uint64_t best_ns = UINT64_MAX, ns;

	for (size_t n = 0; n < merge->mg_n; n++) {
		struct prof_source *source = &merge->mg_source[n];

		ns = source->so_backend->bk_next(source->so_state);
		if (ns < best_ns) {
			/* The earlier source goes first where they meet. */
			if (best != NULL && best_ns - 1 < *until_ns)
				*until_ns = best_ns - 1;
			best_ns = ns;
			best = source;
		} else if (ns < *until_ns)
			*until_ns = ns;
	}
	if (best == NULL || best_ns > merge->mg_limit_ns)
		return (NULL);
	if (*until_ns - best_ns > slice_ns)
		*until_ns = best_ns + slice_ns;
	return (best);
}

static int
merge_look(struct prof_merge *merge)
{
	uint64_t limit_ns = UINT64_MAX, until_ns;
	unsigned fill;

	merge->mg_fill = 0;
	for (size_t n = 0; n < merge->mg_n; n++) {
		const struct prof_source *source = &merge->mg_source[n];

		fill = 0;
		if (source->so_backend->bk_look(source->so_state,
		    merge->mg_last_ns, &until_ns, &fill) == -1)
			return (-1);
		if (until_ns < limit_ns)
			limit_ns = until_ns;
		if (fill > merge->mg_fill)
			merge->mg_fill = fill;
	}
	if (limit_ns > merge->mg_limit_ns)
		merge->mg_limit_ns = limit_ns;
	return (0);
}

/* 1: what one source had up to *until_ns has been handed over; 0: no more. */
static int
merge_slice(struct prof_merge *merge, uint64_t slice_ns, uint64_t *until_ns)
{
	struct prof_source *source;

	*until_ns = merge->mg_limit_ns;
	if ((source = merge_next(merge, slice_ns, until_ns)) == NULL)
		return (0);
	merge->mg_now = source;
	return (source->so_backend->bk_drain_until(source->so_state,
	    *until_ns) == -1 ? -1 : 1);
}

/* Records are behind; what samples need of their processes cannot wait. */
static int
merge_peek(struct prof_merge *merge)
{
	for (size_t n = 0; n < merge->mg_n; n++) {
		const struct prof_source *source = &merge->mg_source[n];

		if (source->so_backend->bk_peek != NULL &&
		    source->so_backend->bk_peek(source->so_state) == -1)
			return (-1);
	}
	return (0);
}

/* What the last round left is from its look: looking costs, too. */
int
prof_merge_round(struct prof_merge *merge, uint64_t most_ns)
{
	const bool is_all = most_ns == UINT64_MAX;
	const uint64_t begin_ns = prof_now_ns();
	uint64_t until_ns;
	int rv;

	if ((is_all || !merge->mg_is_cut ? merge_look(merge) :
	    merge_peek(merge)) == -1)
		return (-1);
	merge->mg_is_cut = false;
	while ((rv = merge_slice(merge, is_all ? UINT64_MAX : SLICE_NS,
	    &until_ns)) == 1 && !merge->mg_is_cut) {
		/* Others may have more of that very time. */
		if (until_ns - 1 > merge->mg_until_ns)
			merge->mg_until_ns = until_ns - 1;
		merge->mg_is_cut = prof_now_ns() - begin_ns > most_ns;
	}
	if (rv == 0)
		merge->mg_until_ns = merge->mg_limit_ns;
	merge->mg_spent_ns += prof_now_ns() - begin_ns;
	return (rv == -1 ? -1 : 0);
}

int
prof_merge_check(struct prof_merge *merge, const struct prof_record *record,
    struct prof_err *error)
{
	if (record->pr_time_ns < merge->mg_last_ns)
		return (prof_fail(error, PROF_E_DAMAGED, "back end %s: a "
		    "record is %llu ns older than the previous record",
		    merge->mg_now->so_backend->bk_name, (unsigned long long)
		    (merge->mg_last_ns - record->pr_time_ns)));
	merge->mg_last_ns = record->pr_time_ns;
	return (0);
}

bool
prof_merge_is_empty(const struct prof_merge *merge)
{
	for (size_t n = 0; n < merge->mg_n; n++) {
		const struct prof_source *source = &merge->mg_source[n];

		if (source->so_backend->bk_is_empty != NULL &&
		    !source->so_backend->bk_is_empty(source->so_state))
			return (false);
	}
	return (true);
}

bool
prof_merge_mappings_wait(const struct prof_merge *merge)
{
	for (size_t n = 0; n < merge->mg_n; n++) {
		const struct prof_source *source = &merge->mg_source[n];
		const unsigned flags = source->so_backend->bk_flags;

		if ((flags & PROF_BACKEND_MAPS) &&
		    !(flags & PROF_BACKEND_SHARES) &&
		    source->so_backend->bk_next(source->so_state) !=
		    UINT64_MAX)
			return (true);
	}
	return (false);
}

/* --------------------------------------------------------------- all */

int
prof_merge_add(struct prof_merge *merge, const struct prof_backend *backend,
    struct prof_plan *plan)
{
	struct prof_source added = { .so_backend = backend };
	size_t at = merge->mg_n;

	if (merge->mg_n == PROF_MAX_SOURCES)
		return (prof_fail(plan->pn_error, PROF_E_LIMIT,
		    "too many back ends (at most %d)", PROF_MAX_SOURCES));
	added.so_state = backend->bk_load(plan);
	if (added.so_state == NULL)
		return (-1);
	/* Mappings come before a sample of the same time. */
	for (; at > 0 && (backend->bk_flags & PROF_BACKEND_MAPS); at--)
		merge->mg_source[at] = merge->mg_source[at - 1];
	merge->mg_source[at] = added;
	merge->mg_n++;
	return (0);
}

int
prof_merge_step(struct prof_merge *merge, enum prof_step step)
{
	int rv = 0;

	for (size_t n = 0; n < merge->mg_n; n++) {
		const struct prof_source *source = &merge->mg_source[n];

		if (source->so_backend->bk_step[step] != NULL &&
		    source->so_backend->bk_step[step](source->so_state) == -1)
			rv = -1;
	}
	return (rv);
}

void
prof_merge_enter(struct prof_merge *merge, uint32_t id, bool waits_for_exec)
{
	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_enter != NULL)
			merge->mg_source[n].so_backend->bk_enter(
			    merge->mg_source[n].so_state, id, waits_for_exec);
}

/* Who walks stacks by mappings hears of them, whoever brought them. */
int
prof_merge_observe(struct prof_merge *merge, const struct prof_record *record)
{
	int rv = 0;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_observe != NULL &&
		    merge->mg_source[n].so_backend->bk_observe(
		    merge->mg_source[n].so_state, record) == -1)
			rv = -1;
	return (rv);
}

int
prof_merge_renew(struct prof_merge *merge, uint32_t pid, uint64_t time_ns,
    bool any_exec)
{
	int rv = 0;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_renew != NULL &&
		    merge->mg_source[n].so_backend->bk_renew(
		    merge->mg_source[n].so_state, pid, time_ns, any_exec) == -1)
			rv = -1;
	return (rv);
}

bool
prof_merge_publish(struct prof_merge *merge)
{
	bool is_more = false;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_publish != NULL)
			is_more |= merge->mg_source[n].so_backend->bk_publish(
			    merge->mg_source[n].so_state);
	return (is_more);
}

uint64_t
prof_merge_caps(const struct prof_merge *merge)
{
	uint64_t caps = 0;

	for (size_t n = 0; n < merge->mg_n; n++)
		if (merge->mg_source[n].so_backend->bk_caps != NULL)
			caps |= merge->mg_source[n].so_backend->bk_caps(
			    merge->mg_source[n].so_state);
	return (caps);
}

void
prof_merge_close(struct prof_merge *merge)
{
	while (merge->mg_n-- > 0)
		merge->mg_source[merge->mg_n].so_backend->bk_close(
		    merge->mg_source[merge->mg_n].so_state);
	memset(merge, 0, sizeof(*merge));
}
