/* SPDX-License-Identifier: ISC */
/*
 * Empties the perf rings: all CPUs' records in order of time.
 *
 * A ring is nearly sorted, but not quite: a record takes its time before its
 * place, so what an interrupt wrote in between stands before it.  So each
 * drain looks at all unread records, sorts them, hands over those up to the
 * limit and leaves the others where they are (perfring.h says how).
 *
 * Called by the session's drain.  Counts, per event, what it handed over: the
 * one side of the accounting in perfring_account.c.  Reads a mapped file when
 * the kernel gave no build-id, once per file.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfring.h"

static int	collect(struct prof_rings *);
static int	collect_ring(struct prof_rings *, uint32_t, size_t *);
static int	compare_at(const void *, const void *);
static int	deliver(struct prof_rings *, const void *, size_t,
		    prof_record_fn *, void *);
static struct ring_event *event_of(struct prof_rings *, uint64_t);
static void	note_record(struct prof_rings *, const struct ring_head *,
		    struct prof_record *);
static void	note_sample(struct ring_event *, const struct prof_record *);
static void	exec_path(struct prof_record *, char *, size_t);
static void	release_taken(const struct prof_rings *);

static int
compare_at(const void *left, const void *right)
{
	const struct ring_at *a = left, *b = right;

	if (a->ra_time_ns != b->ra_time_ns)
		return (a->ra_time_ns < b->ra_time_ns ? -1 : 1);
	if (a->ra_ring != b->ra_ring)
		return (a->ra_ring < b->ra_ring ? -1 : 1);
	return (a->ra_position < b->ra_position ? -1 :
	    a->ra_position > b->ra_position);
}

static int
collect_ring(struct prof_rings *rings, uint32_t n, size_t *found)
{
	const struct ring *ring = &rings->rs_ring[n];
	uint64_t head = prof_ring_head_of(ring);
	uint64_t at = prof_ring_tail_of(ring);
	struct ring_at *grown;
	struct ring_head parts;
	size_t cap;

	for (; at < head; at += parts.rh_size) {
		if (!prof_ring_head(prof_ring_at(rings, ring, at,
		    head - at), head - at, &parts)) {
			/* Where the next one begins is unknown. */
			rings->rs_damaged++;
			prof_ring_release(ring, head);
			return (0);
		}
		if (parts.rh_type == RING_TAKEN)
			continue;
		if (*found == rings->rs_at_cap) {
			cap = rings->rs_at_cap * 2;
			grown = reallocarray(rings->rs_at, cap,
			    sizeof(*grown));
			if (grown == NULL)
				return (-1);
			rings->rs_at = grown;
			rings->rs_at_cap = cap;
		}
		rings->rs_at[*found].ra_time_ns = parts.rh_time_ns;
		rings->rs_at[*found].ra_position = at;
		rings->rs_at[*found].ra_ring = n;
		rings->rs_at[*found].ra_size = parts.rh_size;
		(*found)++;
	}
	return (0);
}

/* All unread records into rs_at, sorted: how many, or -1. */
static int
collect(struct prof_rings *rings)
{
	size_t found = 0, n;

	for (n = 0; n < rings->rs_nrings; n++)
		if (collect_ring(rings, (uint32_t)n, &found) == -1)
			return (-1);
	qsort(rings->rs_at, found, sizeof(*rings->rs_at), compare_at);
	return ((int)found);
}

static struct ring_event *
event_of(struct prof_rings *rings, uint64_t id)
{
	const struct ring_fd *fd = prof_ring_fd_of(rings, id);

	if (fd == NULL || fd->rf_event == RING_SIDE_BAND)
		return (NULL);
	return (&rings->rs_event[fd->rf_event]);
}

static void
note_sample(struct ring_event *event, const struct prof_record *record)
{
	event->re_stored++;
	event->re_weight += record->pr_weight;
	if (record->pr_weight > event->re_max_period)
		event->re_max_period = record->pr_weight;
	event->re_stack[record->pr_ustatus]++;
}

/*
 * The path of what was just executed, where it is still running and its name
 * says that it is the same; else "": the mapping that follows has it too.
 */
static void
exec_path(struct prof_record *record, char *path, size_t size)
{
	char link[64];
	const char *name;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%u/exe", record->pr_pid);
	len = readlink(link, path, size - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	name = strrchr(path, '/');
	if (name != NULL && strncmp(name + 1, record->pr_comm,
	    DTP_COMM_LEN - 1) == 0)
		record->pr_path = path;
}

static void
note_record(struct prof_rings *rings, const struct ring_head *head,
    struct prof_record *record)
{
	struct ring_event *event;

	switch (head->rh_type) {
	case PERF_RECORD_SAMPLE:
		note_sample(event_of(rings, head->rh_id), record);
		break;
	case PERF_RECORD_LOST:
		rings->rs_lost += record->pr_weight;
		event = event_of(rings, head->rh_subject);
		if (event != NULL)
			event->re_ring_lost += record->pr_weight;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		event = event_of(rings, head->rh_id);
		if (event != NULL) {
			event->re_hw_lost += record->pr_weight;
			record->pr_event = event->re_layout.ly_event;
		}
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		event = event_of(rings, head->rh_subject);
		if (event != NULL)
			record->pr_event = event->re_layout.ly_event;
		break;
	case PERF_RECORD_FORK:
		rings->rs_forks++;
		break;
	case PERF_RECORD_MMAP2:
		if (record->pr_build_id_len == 0)
			prof_mapping_build_id(rings->rs_ids, record);
		break;
	}
}

static int
deliver(struct prof_rings *rings, const void *bytes, size_t len,
    prof_record_fn *fn, void *arg)
{
	const struct prof_ring_layout *layout = NULL;
	struct prof_record record;
	struct ring_event *event;
	struct ring_head head;
	char path[PATH_MAX];
	int rv;

	if (!prof_ring_head(bytes, len, &head)) {
		rings->rs_damaged++;
		return (0);
	}
	if (head.rh_type == PERF_RECORD_SAMPLE) {
		event = event_of(rings, head.rh_id);
		if (event != NULL)
			layout = &event->re_layout;
	}
	rv = prof_ring_parse(bytes, len, layout, &record);
	if (rv == -1)
		rings->rs_damaged++;
	if (rv != 1)
		return (0);
	if (record.pr_type == PROF_R_EXEC)
		exec_path(&record, path, sizeof(path));
	note_record(rings, &head, &record);
	return (fn(arg, &record));
}

/* Only what lies below the first record that stays can be given back. */
static void
release_taken(const struct prof_rings *rings)
{
	struct ring_head parts;
	size_t n;

	for (n = 0; n < rings->rs_nrings; n++) {
		const struct ring *ring = &rings->rs_ring[n];
		uint64_t head = prof_ring_head_of(ring);
		uint64_t tail = prof_ring_tail_of(ring), at = tail;

		while (at < head && prof_ring_head(prof_ring_at(rings, ring,
		    at, head - at), head - at, &parts) &&
		    parts.rh_type == RING_TAKEN)
			at += parts.rh_size;
		if (at != tail)
			prof_ring_release(ring, at);
	}
}

int
prof_rings_drain(struct prof_rings *rings, uint64_t until_ns,
    prof_record_fn *fn, void *arg)
{
	int found, n, rv = 0;

	found = collect(rings);
	if (found == -1)
		return (-1);
	for (n = 0; n < found && rv == 0; n++) {
		const struct ring_at *at = &rings->rs_at[n];
		const struct ring *ring = &rings->rs_ring[at->ra_ring];

		if (at->ra_time_ns > until_ns)
			break;
		rv = deliver(rings, prof_ring_at(rings, ring,
		    at->ra_position, at->ra_size), at->ra_size, fn, arg);
		prof_ring_take(ring, at->ra_position);
	}
	release_taken(rings);
	return (rv);
}

uint64_t
prof_rings_lost(const struct prof_rings *rings)
{
	return (rings->rs_lost);
}
