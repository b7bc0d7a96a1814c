/* SPDX-License-Identifier: ISC */
/*
 * How many samples of each event a file has.  Without memory those of an event
 * are not counted.  Called by output.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "tallied.h"

void
prof_tallied_init(struct prof_tallied *tallied)
{
	pthread_mutex_init(&tallied->tl_mutex, NULL);
}

void
prof_tallied_fini(struct prof_tallied *tallied)
{
	free(tallied->tl_count);
	pthread_mutex_destroy(&tallied->tl_mutex);
}

/* Is there room for the count of this event? */
static bool
event_room(struct prof_tallied *tallied, size_t event)
{
	while (event >= tallied->tl_nevents)
		if (prof_append(&tallied->tl_count, &tallied->tl_nevents,
		    sizeof(*tallied->tl_count)) == NULL)
			return (false);
	return (true);
}

/* times: 1, or -1 modulo 2^64. */
static void
tallied_change(struct prof_tallied *tallied, const struct prof_buf *tallies,
    uint64_t times)
{
	const struct prof_tally *tally = (const void *)tallies->bf_data;
	const size_t n = tallies->bf_len / sizeof(*tally);

	pthread_mutex_lock(&tallied->tl_mutex);
	for (size_t i = 0; i < n; i++) {
		if (!event_room(tallied, tally[i].ty_event))
			break;
		tallied->tl_count[tally[i].ty_event] +=
		    tally[i].ty_count * times;
		tallied->tl_all += tally[i].ty_count * times;
	}
	pthread_mutex_unlock(&tallied->tl_mutex);
}

void
prof_tallied_add(struct prof_tallied *tallied, const struct prof_buf *tallies)
{
	tallied_change(tallied, tallies, 1);
}

void
prof_tallied_remove(struct prof_tallied *tallied,
    const struct prof_buf *tallies)
{
	tallied_change(tallied, tallies, UINT64_MAX);
}

uint64_t
prof_tallied_event(struct prof_tallied *tallied, size_t event)
{
	uint64_t count;

	pthread_mutex_lock(&tallied->tl_mutex);
	count = event < tallied->tl_nevents ? tallied->tl_count[event] : 0;
	pthread_mutex_unlock(&tallied->tl_mutex);
	return (count);
}

uint64_t
prof_tallied_all(struct prof_tallied *tallied)
{
	uint64_t all;

	pthread_mutex_lock(&tallied->tl_mutex);
	all = tallied->tl_all;
	pthread_mutex_unlock(&tallied->tl_mutex);
	return (all);
}
