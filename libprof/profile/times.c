/* SPDX-License-Identifier: ISC */
/*
 * When each sample was, for what shows samples one by one (pl_times): a list
 * of time and thread in order, and the place in it is the sample's bucket.  So
 * gather.c needs no way of its own to keep samples apart.
 *
 * Called by profile.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "waits.h"

struct prof_times {
	struct prof_instant *ts_instant;
	size_t		 ts_n;
	size_t		 ts_cap;
};

static int
instant_compare(const void *a, const void *b)
{
	const struct prof_instant *ia = a, *ib = b;

	if (ia->it_time_ns != ib->it_time_ns)
		return (ia->it_time_ns < ib->it_time_ns ? -1 : 1);
	return (ia->it_tid < ib->it_tid ? -1 : ia->it_tid > ib->it_tid);
}

/* PROF_STATE_* of an off-CPU sample. */
static uint8_t
state_of(const struct prof_reader *reader, const struct prof_record *record)
{
	if (strcmp(prof_reader_event(reader, record->pr_event)->pi_probe,
	    "off-cpu") != 0)
		return (PROF_STATE_NONE);
	return (prof_wait_is_runnable(reader, record) ?
	    PROF_STATE_RUNNABLE : PROF_STATE_BLOCKED);
}

/* A list that is being made. */
struct listing {
	struct prof_times *li_times;
	const struct prof_reader *li_reader;
	struct prof_select li_select;
};

/* 1: there are too many; -1: no memory. */
static int
instant_add(void *arg, const struct prof_sample *sample)
{
	struct listing *listing = arg;
	struct prof_times *times = listing->li_times;
	const struct prof_record *record = &sample->sm_record;
	struct prof_instant *instant;

	if (!prof_select_time(&listing->li_select, record->pr_time_ns))
		return (0);
	if (times->ts_n == listing->li_select.se_options->pl_times)
		return (1);
	instant = prof_grow((void **)&times->ts_instant, &times->ts_n,
	    &times->ts_cap, sizeof(*instant));
	if (instant == NULL)
		return (-1);
	*instant = (struct prof_instant){ .it_time_ns = record->pr_time_ns,
	    .it_tid = record->pr_tid, .it_pid = record->pr_pid,
	    .it_state = state_of(listing->li_reader, record) };
	return (0);
}

int
prof_times_new(const struct prof_reader *reader,
    const struct prof_profile_options *options, struct prof_times **made,
    struct prof_err *error)
{
	struct prof_times *times = calloc(1, sizeof(*times));
	struct listing listing = { .li_times = times, .li_reader = reader,
	    .li_select.se_options = options };
	size_t kept = 0;
	int rv;

	*made = NULL;
	if (times == NULL)
		return (prof_fail_nomem(error));
	rv = prof_samples_each(reader, instant_add, &listing, error);
	if (rv != 0) {
		prof_times_free(times);
		return (rv == 1 ? 0 : -1);
	}
	if (times->ts_n > 0)
		qsort(times->ts_instant, times->ts_n,
		    sizeof(*times->ts_instant), instant_compare);
	for (size_t n = 0; n < times->ts_n; n++)
		if (kept == 0 || instant_compare(&times->ts_instant[n],
		    &times->ts_instant[kept - 1]) != 0)
			times->ts_instant[kept++] = times->ts_instant[n];
		else if (times->ts_instant[n].it_state != PROF_STATE_NONE)
			times->ts_instant[kept - 1] = times->ts_instant[n];
	times->ts_n = kept;
	*made = times;
	return (0);
}

int64_t
prof_times_bucket(const void *arg, uint32_t tid, uint64_t time_ns)
{
	const struct prof_times *times = arg;
	const struct prof_instant key = {
		.it_time_ns = time_ns, .it_tid = tid,
	};
	const struct prof_instant *found = times->ts_n == 0 ? NULL :
	    bsearch(&key, times->ts_instant, times->ts_n, sizeof(key),
	    instant_compare);

	return (found == NULL ? -1 : found - times->ts_instant);
}

const struct prof_instant *
prof_times_at(const struct prof_profile *profile, uint32_t n)
{
	return (&profile->pf_times->ts_instant[n]);
}

uint64_t
prof_profile_time(const struct prof_profile *profile, uint32_t n)
{
	const struct prof_times *times = profile->pf_times;

	return (times == NULL || n >= times->ts_n ? 0 :
	    times->ts_instant[n].it_time_ns);
}

void
prof_times_free(struct prof_times *times)
{
	if (times == NULL)
		return;
	free(times->ts_instant);
	free(times);
}
