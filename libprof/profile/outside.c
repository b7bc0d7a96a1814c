/* SPDX-License-Identifier: ISC */
/*
 * Who ended a wait: a thread that was recorded, or something outside of these.
 *
 *	waker		recorded -p 1234	recorded -a
 *	interrupt	outside			outside
 *	a thread	outside, if the		not outside
 *			recording has none
 *			of its number
 *	not known	not outside		not outside
 *
 * Called by fold.c, from several threads at once, which only read it, and by
 * chains.c.
 */
#include <stdlib.h>

#include "recording/query.h"
#include "waits.h"

struct prof_outside {
	bool		 os_is_known;	/* threads can be told apart */
	bool		 os_is_all;	/* every thread was recorded */
	uint32_t	*os_tid;	/* of threads recorded, in order */
	size_t		 os_n;
	size_t		 os_cap;
};

static int
tid_compare(const void *a, const void *b)
{
	const uint32_t ta = *(const uint32_t *)a, tb = *(const uint32_t *)b;

	return (ta < tb ? -1 : ta > tb);
}

/* Numbers of wakers are those of the machine, and of one recording. */
static bool
knows_threads(const struct prof_reader *reader)
{
	static const char *const others[] = { "pid.namespace", "merged",
	    "import", "store" };

	for (size_t n = 0; n < sizeof(others) / sizeof(others[0]); n++)
		if (prof_reader_info(reader, others[n]) != NULL)
			return (false);
	return (prof_reader_info(reader, "target") != NULL &&
	    prof_reader_side_lost(reader) == 0);
}

static int
tids_read(struct prof_outside *outside, const struct prof_reader *reader)
{
	const size_t n = prof_reader_nlife(reader);
	struct prof_record record;
	uint32_t *tid;

	for (size_t i = 0; i < n; i++) {
		prof_reader_life(reader, i, &record);
		if (record.pr_type != PROF_R_TASK &&
		    record.pr_type != PROF_R_FORK &&
		    record.pr_type != PROF_R_EXEC &&
		    record.pr_type != PROF_R_COMM)
			continue;
		tid = prof_grow((void **)&outside->os_tid, &outside->os_n,
		    &outside->os_cap, sizeof(*tid));
		if (tid == NULL)
			return (-1);
		*tid = record.pr_tid;
	}
	if (outside->os_n > 1)
		qsort(outside->os_tid, outside->os_n, sizeof(*tid),
		    tid_compare);
	return (0);
}

struct prof_outside *
prof_outside_new(const struct prof_reader *reader)
{
	struct prof_outside *outside = calloc(1, sizeof(*outside));

	if (outside == NULL)
		return (NULL);
	outside->os_is_known = knows_threads(reader);
	outside->os_is_all = outside->os_is_known &&
	    strcmp(prof_reader_info(reader, "target"), "all") == 0;
	if (!outside->os_is_known || outside->os_is_all ||
	    tids_read(outside, reader) == 0)
		return (outside);
	prof_outside_free(outside);
	return (NULL);
}

enum prof_thread_is
prof_outside_thread(const struct prof_outside *outside, uint32_t tid)
{
	if (outside->os_is_all)
		return (PROF_THREAD_RECORDED);
	if (!outside->os_is_known || outside->os_n == 0)
		return (PROF_THREAD_UNKNOWN);
	return (bsearch(&tid, outside->os_tid, outside->os_n, sizeof(tid),
	    tid_compare) == NULL ? PROF_THREAD_OUTSIDE :
	    PROF_THREAD_RECORDED);
}

uint64_t
prof_outside_bits(const struct prof_outside *outside,
    const struct prof_event_info *info, const struct prof_record *record)
{
	int state, waker, tid;

	if (strcmp(info->pi_provider, "wait") != 0)
		return (0);
	state = prof_record_argument(info, record, "state");
	if (state < 0 || record->pr_strs[state] == NULL ||
	    strcmp(record->pr_strs[state], "blocked") != 0)
		return (0);
	waker = prof_record_argument(info, record, "waker");
	tid = prof_record_argument(info, record, "waker_tid");
	if (waker < 0 || tid < 0 || record->pr_strs[waker] == NULL)
		return (0);
	if (record->pr_args[tid] != 0 ? prof_outside_thread(outside,
	    (uint32_t)record->pr_args[tid]) == PROF_THREAD_OUTSIDE :
	    strcmp(record->pr_strs[waker], "-") != 0)
		return (PROF_FOLD_BLOCKED | PROF_FOLD_OUTSIDE);
	return (PROF_FOLD_BLOCKED);
}

void
prof_outside_free(struct prof_outside *outside)
{
	if (outside == NULL)
		return;
	free(outside->os_tid);
	free(outside);
}
