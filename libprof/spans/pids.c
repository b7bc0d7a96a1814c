/* SPDX-License-Identifier: ISC */
/*
 * Numbers of processes come again: how often each one was given up tells one
 * process from the next.
 *
 * Called by pair.c and held.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "spans_impl.h"

uint32_t *
prof_span_pid_ended(struct span_pids *pids, uint32_t pid)
{
	bool is_new;
	const uint32_t n = prof_map_find(&pids->sp_by_pid, pid, &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&pids->sp_ended, &pids->sp_n, &pids->sp_cap,
	    sizeof(*pids->sp_ended)) == NULL))
		return (NULL);
	return (&pids->sp_ended[n]);
}

void
prof_span_pids_fini(struct span_pids *pids)
{
	prof_map_free(&pids->sp_by_pid);
	free(pids->sp_ended);
}
