/* SPDX-License-Identifier: ISC */
/*
 * Numbers of processes and threads come again: how often each process's was
 * given up tells one process from the next, and when each thread's was, until
 * when a span can have been its own.
 *
 * Called by pair.c, place.c, spans.c and held.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "base/search.h"
#include "recording/query.h"
#include "spans_impl.h"

/* The kernel has no more: of those of a forged file none ends. */
#define MAX_PID		(1U << 22)

uint32_t
prof_span_pid_ended(const struct span_pids *pids, uint32_t pid)
{
	const uint32_t n = prof_map_peek(&pids->sp_by_pid, pid);

	return (n == PROF_INTERN_FAILED ? 0 : pids->sp_ended[n]);
}

int
prof_span_pid_end(struct span_pids *pids, uint32_t pid)
{
	bool is_new;
	uint32_t n;

	if (pid > MAX_PID)
		return (0);
	n = prof_map_find(&pids->sp_by_pid, pid, &is_new);
	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(
	    (void **)&pids->sp_ended, &pids->sp_n, &pids->sp_cap,
	    sizeof(*pids->sp_ended)) == NULL))
		return (-1);
	pids->sp_ended[n]++;
	return (0);
}

void
prof_span_pids_fini(struct span_pids *pids)
{
	prof_map_free(&pids->sp_by_pid);
	free(pids->sp_ended);
}

/* ------------------------------------------------------------ threads */

static int
exit_add(struct span_exits *exits, uint32_t tid, uint64_t time_ns)
{
	struct span_exit *exit = prof_grow((void **)&exits->se_exit,
	    &exits->se_n, &exits->se_cap, sizeof(*exit));

	if (exit == NULL)
		return (-1);
	exit->ex_tid = tid;
	exit->ex_time_ns = time_ns;
	return (0);
}

static int
exit_order(const void *a, const void *b)
{
	const struct span_exit *x = a, *y = b;

	if (x->ex_tid != y->ex_tid)
		return (x->ex_tid > y->ex_tid ? 1 : -1);
	return ((x->ex_time_ns > y->ex_time_ns) -
	    (x->ex_time_ns < y->ex_time_ns));
}

/* A thread that execs goes on with another number, whose thread is gone. */
int
prof_span_exits_find(const struct prof_reader *reader,
    struct span_exits *exits)
{
	const size_t nlife = prof_reader_nlife(reader);
	struct prof_record record;
	uint64_t time_ns;

	for (size_t n = 0; n < nlife; n++) {
		const enum prof_record_type type =
		    prof_reader_life_type(reader, n, &time_ns);

		if (type != PROF_R_EXIT && type != PROF_R_EXEC)
			continue;
		prof_reader_life(reader, n, &record);
		if (type == PROF_R_EXEC && record.pr_ptid == record.pr_tid)
			continue;
		if (exit_add(exits, record.pr_tid, time_ns) == -1 ||
		    (type == PROF_R_EXEC && exit_add(exits, record.pr_ptid,
		    time_ns) == -1))
			return (-1);
	}
	if (exits->se_n > 0)
		qsort(exits->se_exit, exits->se_n, sizeof(*exits->se_exit),
		    exit_order);
	return (0);
}

uint64_t
prof_span_exit_after(const struct span_exits *exits, uint32_t tid,
    uint64_t time_ns)
{
	const struct span_exit *exit = exits->se_exit;
	const size_t n = PROF_BEFORE(i, exits->se_n, exit[i].ex_tid < tid ||
	    (exit[i].ex_tid == tid && exit[i].ex_time_ns < time_ns));

	return (n < exits->se_n && exit[n].ex_tid == tid ?
	    exit[n].ex_time_ns : UINT64_MAX);
}
