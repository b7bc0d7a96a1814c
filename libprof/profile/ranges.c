/* SPDX-License-Identifier: ISC */
/*
 * From when until when a thread waited, as a sample of a wait says it.  Called
 * by blocked.c, chains.c, fold.c and times.c, and by span_difference.c.
 */
#include <stdlib.h>
#include <string.h>

#include "recording/query.h"
#include "waits.h"

const char *
prof_wait_text(const struct prof_reader *reader,
    const struct prof_record *record, const char *name)
{
	const int n = prof_record_argument(prof_reader_event(reader,
	    record->pr_event), record, name);

	return (n == -1 || record->pr_strs[n] == NULL ||
	    strcmp(record->pr_strs[n], "-") == 0 ? NULL : record->pr_strs[n]);
}

bool
prof_wait_is_runnable(const struct prof_reader *reader,
    const struct prof_record *record)
{
	const char *state = prof_wait_text(reader, record, "state");

	return (state != NULL && strcmp(state, "runnable") == 0);
}

struct prof_range
prof_range_of(const struct prof_record *record)
{
	return ((struct prof_range){ record->pr_weight > record->pr_time_ns ?
	    0 : record->pr_time_ns - record->pr_weight, record->pr_time_ns });
}

void
prof_range_end(struct prof_range *range, const struct prof_range *runnable)
{
	const uint64_t late_ns = range->ra_to_ns > runnable->ra_from_ns ?
	    range->ra_to_ns - runnable->ra_from_ns : 0;

	range->ra_from_ns -= late_ns < range->ra_from_ns ? late_ns :
	    range->ra_from_ns;
	range->ra_to_ns -= late_ns;
}

static int
range_compare(const void *a, const void *b)
{
	const struct prof_range *one = a, *two = b;

	return (one->ra_from_ns < two->ra_from_ns ? -1 :
	    one->ra_from_ns > two->ra_from_ns);
}

size_t
prof_ranges_join(struct prof_range *range, size_t n)
{
	size_t last = 0;

	if (n == 0)
		return (0);
	qsort(range, n, sizeof(*range), range_compare);
	for (size_t i = 1; i < n; i++) {
		if (range[i].ra_from_ns > range[last].ra_to_ns)
			range[++last] = range[i];
		else if (range[i].ra_to_ns > range[last].ra_to_ns)
			range[last].ra_to_ns = range[i].ra_to_ns;
	}
	return (last + 1);
}

size_t
prof_ranges_first(const struct prof_range *range, size_t n, uint64_t from_ns)
{
	size_t low = 0, high = n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (range[middle].ra_to_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}
