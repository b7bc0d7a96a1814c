/* SPDX-License-Identifier: ISC */
/*
 * Who kept threads waiting for locks, and what the holders did meanwhile:
 *
 *	waiter 1	   [ blocked ......]
 *	waiter 2	       [ blocked ............]
 *	meanwhile	   [.................]
 *	holder		[ running ][ blocked ][ running ]
 *
 * The first pass collects the waits for each lock and holder, and the time in
 * which there was a waiter.  The second pass divides the samples of holders:
 * a wait counts with its part that lies in this time, a sample of running time
 * if it was taken in it.
 *
 * Called by commands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/intern.h"
#include "blocked.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "image/module.h"
#include "profile_impl.h"
#include "recording/elapsed.h"
#include "recording/query.h"
#include "recording/sink.h"
#include "waits.h"

#define MAX_FRAMES	512

/* A wait of a holder, whose end is not known yet. */
struct pending {
	struct prof_range pd_range;
	enum prof_blocked_state pd_state;
	const struct prof_function *pd_function;
};

struct row {
	struct prof_blocked_row rw_row;
	uint32_t	 rw_tid;	/* of the holder; 0: not known */
	struct prof_range *rw_range;	/* in the end: apart, in order */
	size_t		 rw_n;
	size_t		 rw_cap;
	size_t		 rw_nparts;
	size_t		 rw_part_cap;
	struct pending	 rw_pending;	/* in the first row of a holder */
};

/* The last wait for a lock of a thread; its row plus 1, 0: there is none. */
struct last {
	size_t		 la_row;
	size_t		 la_range;
};

struct prof_blocked {
	struct prof_reader *bd_reader;
	struct prof_symbols *bd_symbols;
	struct prof_profile_options bd_options;
	struct prof_select bd_select;
	struct prof_history *bd_history;
	struct prof_dict bd_by_key;	/* of rows */
	struct prof_map	 bd_waiters;	/* rows and threads that waited */
	struct prof_map	 bd_by_tid;	/* of bd_last */
	struct last	*bd_last;
	size_t		 bd_nlast;
	size_t		 bd_last_cap;
	struct row	*bd_row;
	size_t		 bd_n;
	size_t		 bd_cap;
	uint32_t	 bd_waits;	/* the event */
	struct prof_frame bd_frames[MAX_FRAMES];
};

/* ------------------------------------------------------------- waits */

static struct row *
row_of(struct prof_blocked *blocked, const struct prof_record *record,
    const char *lock, const char *holder)
{
	struct prof_symbols *symbols = blocked->bd_symbols;
	const char *tid = strrchr(holder, ' ');
	struct row *row;
	char *key;
	bool is_new;
	uint32_t n;
	int length;

	length = asprintf(&key, "%u %s %s", record->pr_pid, lock,
	    holder);
	if (length == -1)
		return (NULL);
	n = prof_dict_find(&blocked->bd_by_key, key, (size_t)length, &is_new);
	free(key);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (!is_new)
		return (&blocked->bd_row[n]);
	row = prof_grow(&blocked->bd_row, &blocked->bd_n, &blocked->bd_cap,
	    sizeof(*row));
	if (row == NULL)
		return (NULL);
	row->rw_tid = tid == NULL ? 0 : (uint32_t)strtoul(tid, NULL, 10);
	row->rw_row.bl_pid = record->pr_pid;
	row->rw_row.bl_lock = strdup(prof_symbols_object(symbols,
	    prof_symbols_space(symbols, record->pr_pid, record->pr_time_ns),
	    lock));
	row->rw_row.bl_holder = strdup(holder);
	return (row->rw_row.bl_lock == NULL || row->rw_row.bl_holder == NULL ?
	    NULL : row);
}

/* Of the thread, which may be new; NULL: no memory. */
static struct last *
last_of(struct prof_blocked *blocked, uint32_t tid)
{
	bool is_new;
	const uint32_t n = prof_map_get(&blocked->bd_by_tid, tid, &is_new);

	if (n == PROF_INTERN_FAILED || (is_new && prof_grow(&blocked->bd_last,
	    &blocked->bd_nlast, &blocked->bd_last_cap,
	    sizeof(struct last)) == NULL))
		return (NULL);
	return (&blocked->bd_last[n]);
}

static int
range_add(struct prof_blocked *blocked, struct row *row, struct last *last,
    const struct prof_record *record)
{
	struct prof_range *range = prof_grow(&row->rw_range, &row->rw_n,
	    &row->rw_cap, sizeof(*range));
	bool is_new;

	if (range == NULL || prof_map_find(&blocked->bd_waiters, (uint64_t)(
	    row - blocked->bd_row) << 32 | record->pr_tid, &is_new) ==
	    PROF_INTERN_FAILED)
		return (-1);
	*range = prof_range_of(record);
	last->la_row = (size_t)(row - blocked->bd_row) + 1;
	last->la_range = row->rw_n - 1;
	row->rw_row.bl_ns += record->pr_weight;
	row->rw_row.bl_waits++;
	row->rw_row.bl_nwaiters += is_new;
	return (0);
}

static int
wait_add(void *arg, const struct prof_sample *sample)
{
	struct prof_blocked *blocked = arg;
	const struct prof_record *record = &sample->sm_record;
	const char *lock, *holder;
	struct prof_moment moment;
	struct prof_range range;
	struct last *last;
	struct row *row;

	if (record->pr_event != blocked->bd_waits)
		return (0);
	if ((last = last_of(blocked, record->pr_tid)) == NULL)
		return (-1);
	range = prof_range_of(record);
	if (last->la_row != 0 &&
	    prof_wait_is_runnable(blocked->bd_reader, record))
		prof_range_end(&blocked->bd_row[last->la_row - 1].rw_range[
		    last->la_range], &range);
	last->la_row = 0;
	lock = prof_wait_text(blocked->bd_reader, record, PROF_LOCK);
	holder = prof_wait_text(blocked->bd_reader, record, "holder");
	if (lock == NULL ||
	    !prof_select_time(&blocked->bd_select, record->pr_time_ns))
		return (0);
	prof_history_at(blocked->bd_history, record->pr_tid,
	    record->pr_time_ns, &moment);
	if (!prof_select_wants(&blocked->bd_select, sample, moment.mo_comm))
		return (0);
	row = row_of(blocked, record, lock, holder == NULL ? "-" : holder);
	return (row == NULL ? -1 : range_add(blocked, row, last, record));
}

/* Join ranges that overlap. */
static void
ranges_join(struct row *row)
{
	row->rw_n = prof_ranges_join(row->rw_range, row->rw_n);
	for (size_t n = 0; n < row->rw_n; n++)
		row->rw_row.bl_meanwhile_ns += row->rw_range[n].ra_to_ns -
		    row->rw_range[n].ra_from_ns;
}

/* ----------------------------------------------------------- holders */

/* By its holder, so that all rows of a thread are together. */
static int
holder_compare(const void *a, const void *b)
{
	const struct row *one = a, *two = b;

	return (one->rw_tid < two->rw_tid ? -1 : one->rw_tid > two->rw_tid);
}

/* The first row of a holder, or bd_n. */
static size_t
holder_find(const struct prof_blocked *blocked, uint32_t tid)
{
	size_t low = 0, high = blocked->bd_n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (blocked->bd_row[middle].rw_tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/* How much of a time lies in the ranges of a row. */
static uint64_t
range_overlap(const struct row *row, const struct prof_range *with)
{
	const uint64_t from_ns = with->ra_from_ns, to_ns = with->ra_to_ns;
	uint64_t sum = 0, from, to;

	for (size_t n = prof_ranges_first(row->rw_range, row->rw_n, from_ns);
	    n < row->rw_n && row->rw_range[n].ra_from_ns < to_ns; n++) {
		from = row->rw_range[n].ra_from_ns;
		to = row->rw_range[n].ra_to_ns;
		from = from < from_ns ? from_ns : from;
		to = to > to_ns ? to_ns : to;
		sum += to - from;
	}
	return (sum);
}

/*
 * The function that a holder was in: of waits the one that waits, not those
 * that waiting is made of.  NULL: no stack is known.
 */
static const struct prof_function *
function_of(struct prof_blocked *blocked, const struct prof_record *record,
    bool is_wait)
{
	struct prof_symbols *symbols = blocked->bd_symbols;
	const uint32_t space = prof_symbols_space(symbols, record->pr_pid,
	    record->pr_time_ns);
	const struct prof_function *function, *innermost = NULL;
	const struct prof_frame kernel = {
		.fr_id = record->pr_nkernel > 0 ? record->pr_kernel[0] : 0,
		.fr_kind = PROF_FRAME_KERNEL
	};
	size_t n, nframes;

	if (record->pr_nkernel > 0 && !is_wait)
		return (prof_symbols_function(symbols, prof_symbols_find(
		    symbols, space, &kernel)));
	nframes = prof_record_stack(symbols, record, 0, blocked->bd_frames,
	    MAX_FRAMES);
	for (n = 0; n < nframes && n < MAX_FRAMES; n++) {
		if (blocked->bd_frames[n].fr_kind == PROF_FRAME_BOUNDARY)
			continue;
		function = prof_symbols_function(symbols, prof_symbols_find(
		    symbols, space, &blocked->bd_frames[n]));
		if (innermost == NULL)
			innermost = function;
		if (!is_wait || !prof_is_c_library(function->fu_module))
			return (function);
	}
	return (innermost);
}

static int
part_add(struct row *row, const struct pending *pending, uint64_t ns)
{
	struct prof_blocked_part *part = row->rw_row.bl_part;
	size_t n;

	for (n = 0; n < row->rw_nparts; n++)
		if (part[n].bp_state == pending->pd_state &&
		    part[n].bp_function == pending->pd_function)
			break;
	if (n == row->rw_nparts) {
		if (prof_grow(&row->rw_row.bl_part, &row->rw_nparts,
		    &row->rw_part_cap, sizeof(*part)) == NULL)
			return (-1);
		part = row->rw_row.bl_part;
		part[n].bp_state = pending->pd_state;
		part[n].bp_function = pending->pd_function;
	}
	part[n].bp_ns += ns;
	row->rw_row.bl_nparts = row->rw_nparts;
	return (0);
}

/* Of the rows of a holder, the first one is n. */
static int
parts_add(struct prof_blocked *blocked, size_t n,
    const struct pending *pending, double weight)
{
	const uint32_t tid = blocked->bd_row[n].rw_tid;
	uint64_t ns;

	for (; n < blocked->bd_n && blocked->bd_row[n].rw_tid == tid; n++) {
		ns = (uint64_t)((double)range_overlap(&blocked->bd_row[n],
		    &pending->pd_range) * weight);
		if (ns != 0 && part_add(&blocked->bd_row[n], pending, ns) ==
		    -1)
			return (-1);
	}
	return (0);
}

/* A sample stands for its weight in the time before it. */
static int
running_add(struct prof_blocked *blocked, size_t n,
    const struct prof_record *record)
{
	const struct pending running = {
		.pd_range = { record->pr_time_ns, record->pr_time_ns + 1 },
		.pd_state = PROF_BLOCKED_RUNNING,
		.pd_function = function_of(blocked, record, false),
	};

	return (parts_add(blocked, n, &running, (double)record->pr_weight *
	    prof_elapsed_of(blocked->bd_reader)->el_factor));
}

static int
pending_add(struct prof_blocked *blocked, size_t n)
{
	struct pending *pending = &blocked->bd_row[n].rw_pending;
	int rv = pending->pd_range.ra_to_ns == 0 ? 0 : parts_add(blocked, n,
	    pending, 1);

	pending->pd_range.ra_to_ns = 0;
	return (rv);
}

static int
holder_add(void *arg, const struct prof_record *record)
{
	struct prof_blocked *blocked = arg;
	const size_t n = holder_find(blocked, record->pr_tid);
	const struct prof_range range = prof_range_of(record);
	struct pending *pending;
	bool is_runnable;

	if (n == blocked->bd_n || blocked->bd_row[n].rw_tid !=
	    record->pr_tid || record->pr_tid == 0)
		return (0);
	if (record->pr_event == prof_elapsed_of(
	    blocked->bd_reader)->el_running)
		return (running_add(blocked, n, record));
	if (record->pr_event != blocked->bd_waits)
		return (0);
	pending = &blocked->bd_row[n].rw_pending;
	is_runnable = prof_wait_is_runnable(blocked->bd_reader, record);
	if (is_runnable)
		prof_range_end(&pending->pd_range, &range);
	if (pending_add(blocked, n) == -1)
		return (-1);
	pending->pd_range = range;
	pending->pd_state = is_runnable ? PROF_BLOCKED_RUNNABLE :
	    PROF_BLOCKED_BLOCKED;
	pending->pd_function = is_runnable ? NULL :
	    function_of(blocked, record, true);
	return (0);
}

/* What holders waited for in the end. */
static int
pendings_add(struct prof_blocked *blocked)
{
	for (size_t n = 0; n < blocked->bd_n; n++)
		if (pending_add(blocked, n) == -1)
			return (-1);
	return (0);
}

static int
lost_ignore(void *arg, const struct prof_record *record)
{
	(void)arg;
	(void)record;
	return (0);
}

/* --------------------------------------------------------------- all */

static int
part_compare(const void *a, const void *b)
{
	const struct prof_blocked_part *one = a, *two = b;

	return (one->bp_ns > two->bp_ns ? -1 : one->bp_ns < two->bp_ns);
}

static int
row_compare(const void *a, const void *b)
{
	const struct prof_blocked_row *one = &((const struct row *)a)->rw_row,
	    *two = &((const struct row *)b)->rw_row;
	int order;

	if (one->bl_ns != two->bl_ns)
		return (one->bl_ns > two->bl_ns ? -1 : 1);
	order = strcmp(one->bl_lock, two->bl_lock);
	return (order != 0 ? order : strcmp(one->bl_holder, two->bl_holder));
}

static int
blocked_fill(struct prof_blocked *blocked, struct prof_err *error)
{
	const struct prof_sink sink = { .sk_arg = blocked,
	    .sk_sample = holder_add, .sk_lost = lost_ignore };
	struct prof_reader *reader = blocked->bd_reader;

	/* Without samples of running time there still are the waits. */
	(void)prof_reader_elapsed(reader);
	blocked->bd_waits = prof_wait_event(reader);
	blocked->bd_history = prof_history_new(reader,
	    blocked->bd_options.pl_filter != NULL, error);
	if (blocked->bd_history == NULL ||
	    prof_wait_arguments(reader, blocked->bd_waits, error) == -1 ||
	    prof_select_init(&blocked->bd_select, reader,
	    blocked->bd_symbols, &blocked->bd_options, error) == -1)
		return (-1);
	if (prof_samples_each(reader, wait_add, blocked, error) == -1 ||
	    prof_select_check(&blocked->bd_select, error) == -1)
		return (-1);
	for (size_t n = 0; n < blocked->bd_n; n++)
		ranges_join(&blocked->bd_row[n]);
	if (blocked->bd_n > 1)
		qsort(blocked->bd_row, blocked->bd_n, sizeof(*blocked->bd_row),
		    holder_compare);
	if (prof_reader_send(reader, &sink) == -1) {
		*error = *prof_reader_error(reader);
		return (error->pe_code == PROF_OK ? prof_fail_nomem(error) :
		    -1);
	}
	if (pendings_add(blocked) == -1)
		return (prof_fail_nomem(error));
	for (size_t n = 0; n < blocked->bd_n; n++)
		if (blocked->bd_row[n].rw_nparts > 0)
			qsort(blocked->bd_row[n].rw_row.bl_part,
			    blocked->bd_row[n].rw_nparts,
			    sizeof(struct prof_blocked_part), part_compare);
	if (blocked->bd_n > 1)
		qsort(blocked->bd_row, blocked->bd_n, sizeof(*blocked->bd_row),
		    row_compare);
	return (0);
}

struct prof_blocked *
prof_blocked_new(struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct prof_blocked *blocked = calloc(1, sizeof(*blocked));

	if (blocked == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	blocked->bd_reader = reader;
	blocked->bd_symbols = symbols;
	if (prof_options_take(&blocked->bd_options,
	    sizeof(blocked->bd_options), options, "prof_profile_options",
	    error) == 0 && blocked_fill(blocked, error) == 0)
		return (blocked);
	prof_blocked_free(blocked);
	return (NULL);
}

const struct prof_blocked_row *
prof_blocked_row(const struct prof_blocked *blocked, size_t n)
{
	return (n < blocked->bd_n ? &blocked->bd_row[n].rw_row : NULL);
}

size_t
prof_blocked_nrows(const struct prof_blocked *blocked)
{
	return (blocked->bd_n);
}

void
prof_blocked_free(struct prof_blocked *blocked)
{
	if (blocked == NULL)
		return;
	for (size_t n = 0; n < blocked->bd_n; n++) {
		free((char *)(uintptr_t)blocked->bd_row[n].rw_row.bl_lock);
		free((char *)(uintptr_t)blocked->bd_row[n].rw_row.bl_holder);
		free(blocked->bd_row[n].rw_row.bl_part);
		free(blocked->bd_row[n].rw_range);
	}
	free(blocked->bd_row);
	prof_dict_free(&blocked->bd_by_key);
	prof_map_free(&blocked->bd_waiters);
	prof_map_free(&blocked->bd_by_tid);
	free(blocked->bd_last);
	prof_select_fini(&blocked->bd_select);
	prof_history_free(blocked->bd_history);
	free(blocked);
}
