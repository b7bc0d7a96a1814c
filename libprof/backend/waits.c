/* SPDX-License-Identifier: ISC */
/*
 * What the waits of threads add up to, as numbers of the recording.  Called by
 * back ends, at the end.
 */
#include <stdio.h>

#include "backend/backend.h"

int
prof_waits_say(const struct prof_plan *plan, const struct prof_event *event,
    const struct dtp_wait_counts *counts)
{
	static const struct {
		const char	*name;
		size_t		 at;
	} what[] = {
#define COUNT(name)	{ #name, offsetof(struct dtp_wait_counts, wn_##name) }
		COUNT(running_ns), COUNT(runnable_ns), COUNT(blocked_ns),
		COUNT(elapsed_ns), COUNT(threads), COUNT(turns), COUNT(short),
		COUNT(short_ns), COUNT(open), COUNT(open_ns),
		COUNT(unwalked), COUNT(unkept), COUNT(gaps), COUNT(gap_ns),
		COUNT(unwoken), COUNT(unwoken_ns), COUNT(eligible),
		COUNT(drawn), COUNT(expected), COUNT(variance),
		COUNT(chance_ns), COUNT(drawn_ns),
#undef COUNT
	};
	char key[64];

	for (size_t n = 0; n < sizeof(what) / sizeof(what[0]); n++) {
		snprintf(key, sizeof(key), "waits.%u.%s", event->ev_id,
		    what[n].name);
		if (prof_host_number(plan, key, *(const __u64 *)(const void *)
		    ((const char *)counts + what[n].at)) == -1)
			return (-1);
	}
	return (0);
}
