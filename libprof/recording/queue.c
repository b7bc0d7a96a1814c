/* SPDX-License-Identifier: ISC */
/*
 * Records that wait for the names of their stacks: copies, since a session
 * lends a record for one call.  Called by trace with --stack, by sessions that
 * filter by stack, and by spans/speculation.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "queue.h"

/* Words and texts of a record, one behind the other. */
struct pool {
	char	*po_at;
	size_t	 po_bytes;
};

/* Behind what is there; NULL stays NULL.  Without memory: only counted. */
static const void *
pool_put(struct pool *pool, const void *from, size_t length)
{
	void *to = pool->po_at;

	if (from == NULL)
		return (NULL);
	pool->po_bytes += length;
	if (to == NULL)
		return (from);
	pool->po_at += length;
	return (memcpy(to, from, length));
}

static const char *
pool_text(struct pool *pool, const char *text)
{
	return (pool_put(pool, text, text == NULL ? 0 : strlen(text) + 1));
}

/* All that it points to; words first, which are aligned so. */
static void
record_pool(struct prof_record *record, struct pool *pool)
{
	record->pr_kernel = pool_put(pool, record->pr_kernel,
	    record->pr_nkernel * sizeof(uint64_t));
	record->pr_user = pool_put(pool, record->pr_user,
	    record->pr_nuser * sizeof(uint64_t));
	record->pr_script = pool_put(pool, record->pr_script,
	    record->pr_nscript * sizeof(uint64_t));
	record->pr_comm = pool_text(pool, record->pr_comm);
	record->pr_path = pool_text(pool, record->pr_path);
	for (uint32_t n = 0; n < record->pr_nargs && n < PROF_MAX_ARGS; n++)
		record->pr_strs[n] = pool_text(pool, record->pr_strs[n]);
}

int
prof_waiting_set(struct prof_waiting *waiting,
    const struct prof_record *record)
{
	struct pool pool = { 0 };

	waiting->wt_record = *record;
	record_pool(&waiting->wt_record, &pool);
	waiting->wt_pool = pool.po_at = malloc(pool.po_bytes + 1);
	if (waiting->wt_pool == NULL)
		return (-1);
	waiting->wt_since_ns = prof_now_ns();
	waiting->wt_bytes = sizeof(*waiting) + pool.po_bytes;
	record_pool(&waiting->wt_record, &pool);
	return (0);
}

int
prof_queue_put(struct prof_queue *queue, const struct prof_record *record)
{
	struct prof_waiting *waiting = prof_grow(&queue->qu_waiting,
	    &queue->qu_n, &queue->qu_cap, sizeof(*waiting));

	if (waiting == NULL)
		return (-1);
	if (prof_waiting_set(waiting, record) == -1) {
		queue->qu_n--;
		return (-1);
	}
	queue->qu_bytes += waiting->wt_bytes;
	return (0);
}

size_t
prof_queue_due(const struct prof_queue *queue, uint64_t wait_ns, size_t most)
{
	const uint64_t now_ns = prof_now_ns();
	size_t bytes = queue->qu_bytes, n = 0;

	while (n < queue->qu_n && (bytes >= most ||
	    now_ns - queue->qu_waiting[n].wt_since_ns >= wait_ns))
		bytes -= queue->qu_waiting[n++].wt_bytes;
	return (n);
}

void
prof_queue_drop(struct prof_queue *queue, size_t n)
{
	struct prof_waiting *waiting = queue->qu_waiting;

	for (size_t i = 0; i < n; i++) {
		free(waiting[i].wt_pool);
		queue->qu_bytes -= waiting[i].wt_bytes;
	}
	queue->qu_n -= n;
	if (n > 0)
		memmove(waiting, waiting + n, queue->qu_n * sizeof(*waiting));
}

void
prof_queue_fini(struct prof_queue *queue)
{
	prof_queue_drop(queue, queue->qu_n);
	free(queue->qu_waiting);
	memset(queue, 0, sizeof(*queue));
}
