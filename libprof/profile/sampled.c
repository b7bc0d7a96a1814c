/* SPDX-License-Identifier: ISC */
/*
 * Whose samples a profile is made of: how many threads and processes, and
 * what the process of most samples is called.  Called by gather.c, by each
 * thread with a table of its own, and in the end by profile.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "profile_impl.h"

/* Memory of one, with the table. */
#define TASK_BYTES	96

int
prof_tasks_find(struct prof_tasks *tasks, struct prof_budget *budget,
    uint32_t pid, uint32_t tid, uint32_t *number)
{
	const uint64_t id = (uint64_t)pid << 32 | tid;
	struct prof_task *task;
	bool is_new;

	*number = prof_map_peek(&tasks->tk_by_id, id);
	if (*number != PROF_INTERN_FAILED)
		return (0);
	if (!prof_budget_take(budget, TASK_BYTES)) {
		tasks->tk_is_more = true;
		return (0);
	}
	*number = prof_map_find(&tasks->tk_by_id, id, &is_new);
	task = *number == PROF_INTERN_FAILED ? NULL :
	    prof_grow((void **)&tasks->tk_task, &tasks->tk_n, &tasks->tk_cap,
	    sizeof(*task));
	if (task == NULL)
		return (-1);
	*task = (struct prof_task){ .ta_pid = pid, .ta_tid = tid };
	return (0);
}

int
prof_tasks_join(struct prof_tasks *tasks, const struct prof_tasks *from)
{
	const struct prof_task *task;
	uint32_t n;

	tasks->tk_is_more |= from->tk_is_more;
	for (size_t i = 0; i < from->tk_n; i++) {
		task = &from->tk_task[i];
		if (prof_tasks_find(tasks, NULL, task->ta_pid, task->ta_tid,
		    &n) == -1)
			return (-1);
		tasks->tk_task[n].ta_samples += task->ta_samples;
	}
	return (0);
}

void
prof_tasks_fini(struct prof_tasks *tasks)
{
	prof_map_free(&tasks->tk_by_id);
	free(tasks->tk_task);
}

static int
compare_pids(const void *a, const void *b)
{
	const struct prof_task *x = a, *y = b;

	return (x->ta_pid < y->ta_pid ? -1 : x->ta_pid > y->ta_pid);
}

void
prof_tasks_count(struct prof_tasks *tasks,
    const struct prof_history *history, struct prof_sampled *sampled)
{
	const struct prof_task *task = tasks->tk_task;
	uint64_t samples = 0, most = 0;
	uint32_t pid = 0;

	/* What a filter left nothing of was not sampled. */
	if (tasks->tk_n > 1)
		qsort(tasks->tk_task, tasks->tk_n, sizeof(*task),
		    compare_pids);
	for (size_t i = 0; i < tasks->tk_n; i++) {
		if (task[i].ta_pid == 0)
			continue;
		samples += task[i].ta_samples;
		sampled->sa_threads += task[i].ta_samples > 0;
		if (i + 1 < tasks->tk_n && task[i + 1].ta_pid ==
		    task[i].ta_pid)
			continue;
		sampled->sa_processes += samples > 0;
		if (samples > most) {
			most = samples;
			pid = task[i].ta_pid;
		}
		samples = 0;
	}
	sampled->sa_is_more = tasks->tk_is_more;
	if (most > 0)
		(void)snprintf(sampled->sa_comm, sizeof(sampled->sa_comm),
		    "%s", prof_history_last_comm(history, pid));
}
