/* SPDX-License-Identifier: ISC */
/*
 * The figures behind report --stats: one pass over all records, beside the
 * accounting that the recorder wrote, and whether both agree.  Prints
 * nothing but why it failed; stats_text.c and stats_json.c show it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

const struct stats_counter stats_counters[] = {
#define PROF_COUNTER(bit, name, type, role, source, text)		\
	{ #name, STATS_##role, offsetof(struct prof_accounting, pa_##name) },
#include "counters.def"
	{ NULL, STATS_FIRED, 0 }
};

uint64_t
stats_counter_of(const struct stats_counter *counter,
    const struct prof_accounting *pa)
{
	uint64_t value;

	memcpy(&value, (const char *)pa + counter->sc_offset, sizeof(value));
	return (value);
}

bool
stats_counts_read(const struct prof_reader *reader, size_t event,
    const char *what, const char *const *names, int nnames, uint64_t *count)
{
	const char *text;
	char key[64];

	for (int n = 0; n < nnames; n++) {
		snprintf(key, sizeof(key), "%s.%zu.%s", what, event, names[n]);
		if ((text = prof_reader_info(reader, key)) == NULL)
			return (false);
		count[n] = strtoull(text, NULL, 10);
	}
	return (true);
}

/* A sample, and the values of counters that it brings. */
static void
sample_count(struct stats *stats, const struct prof_record *record)
{
	const struct prof_event_info *info =
	    prof_reader_event(stats->st_reader, record->pr_event);

	stats->st_seen[record->pr_event]++;
	for (uint32_t n = 0; n < record->pr_nvalues &&
	    n < info->pi_ncounters; n++)
		stats->st_seen[info->pi_counter[n]]++;
}

/* Tasks and maps from before the start bear no time of theirs. */
static void
see_time(struct stats *stats, const struct prof_record *record)
{
	if (stats->st_start_ns != 0 && record->pr_time_ns > stats->st_end_ns)
		stats->st_end_ns = record->pr_time_ns;
}

static int
see_sample(void *arg, const struct prof_record *record)
{
	struct stats *stats = arg;

	if (record->pr_event < stats->st_nevents)
		sample_count(stats, record);
	see_time(stats, record);
	return (0);
}

static int
see_task(void *arg, const struct prof_record *record)
{
	struct stats *stats = arg;

	stats->st_process_events++;
	see_time(stats, record);
	return (0);
}

static int
see_mapping(void *arg, const struct prof_record *record)
{
	struct stats *stats = arg;

	stats->st_maps++;
	see_time(stats, record);
	return (0);
}

static int
see_mark(void *arg, const struct prof_record *record)
{
	struct stats *stats = arg;

	stats->st_marks += record->pr_type == PROF_R_MARK;
	if (record->pr_type == PROF_R_START)
		stats->st_start_ns = record->pr_time_ns;
	see_time(stats, record);
	return (0);
}

static int
see_lost(void *arg, const struct prof_record *record)
{
	struct stats *stats = arg;

	/* Lost mapping and process events are in the accounting. */
	stats->st_gaps += record->pr_type == PROF_R_LOST &&
	    record->pr_addr != 0;
	see_time(stats, record);
	return (0);
}

/* Sums over all events. */
static int
throttled_read(struct stats *stats)
{
	struct prof_throttled *by_event = calloc(stats->st_nevents + 1,
	    sizeof(*by_event));
	int rv = -1;

	if (by_event != NULL)
		rv = prof_reader_throttled(stats->st_reader, by_event,
		    &stats->st_ran);
	for (size_t e = 0; rv == 0 && e < stats->st_nevents; e++) {
		stats->st_throttles += by_event[e].to_times;
		stats->st_throttled_ns += by_event[e].to_ns;
	}
	free(by_event);
	return (rv);
}

/* A counter's values are lost with the samples that bring them. */
static void
count_lost(struct stats *stats)
{
	struct prof_accounting pa;

	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (prof_reader_event(stats->st_reader, e)->pi_is_counter ||
		    prof_reader_accounting(stats->st_reader, e, -1, &pa) == -1)
			continue;
		stats->st_stored += pa.pa_stored;
		stats->st_lost += prof_accounting_lost(&pa);
	}
	stats->st_side_stored = prof_reader_side_stored(stats->st_reader);
	stats->st_side_lost = prof_reader_side_lost(stats->st_reader);
}

int
stats_collect(struct stats *stats)
{
	const struct prof_sink sink = {
		.sk_arg = stats,
		.sk_task = see_task,
		.sk_mapping = see_mapping,
		.sk_sample = see_sample,
		.sk_mark = see_mark,
		.sk_lost = see_lost,
	};
	int rv;

	stats->st_nevents = prof_reader_nevents(stats->st_reader);
	/* It is derived from the others, and has no accounting. */
	while (stats->st_nevents > 0 && prof_reader_event(stats->st_reader,
	    stats->st_nevents - 1)->pi_is_derived)
		stats->st_nevents--;
	count_lost(stats);
	stats->st_seen = calloc(stats->st_nevents + 1,
	    sizeof(*stats->st_seen));
	if (stats->st_seen == NULL || throttled_read(stats) == -1)
		return (msg_error("report", "out of memory", "free memory"));
	rv = prof_reader_send(stats->st_reader, &sink);
	if (rv == -1)
		msg_prof("report", prof_reader_error(stats->st_reader));
	stats->st_ran_ns = stats->st_ran.rn_is_known ? stats->st_ran.rn_ns :
	    stats->st_end_ns > stats->st_start_ns + stats->st_ran.rn_paused_ns ?
	    stats->st_end_ns - stats->st_start_ns -
	    stats->st_ran.rn_paused_ns : 0;
	return (rv);
}

void
stats_free(struct stats *stats)
{
	free(stats->st_seen);
}

const char *
stats_imbalance(const struct stats *stats, size_t event,
    const struct prof_accounting *pa, char *buffer, size_t size)
{
	const uint64_t sum = prof_accounting_sum(pa);
	const uint64_t seen = stats->st_seen[event];

	buffer[0] = '\0';
	if (pa->pa_fired != sum)
		snprintf(buffer, size, "fired is %" PRIu64 ", but %s is %"
		    PRIu64,
		    pa->pa_fired, prof_accounting_terms(), sum);
	else if (event == 0)
		return (NULL);	/* process events are no samples */
	else if (pa->pa_read != pa->pa_stored)
		snprintf(buffer, size, "%" PRIu64 " samples stored, but %"
		    PRIu64 " read from the buffers", pa->pa_stored,
		    pa->pa_read);
	else if (prof_reader_event(stats->st_reader, event)->pi_is_counter) {
		/* Those that came nested are in a later sample. */
		if (seen != pa->pa_stored - pa->pa_nested_stored -
		    pa->pa_overwritten)
			snprintf(buffer, size, "%" PRIu64 " stored, but %"
			    PRIu64 " are in the file", pa->pa_stored, seen);
	} else if (stats_keep_if_wrong(stats, event, pa, buffer, size))
		return (buffer);
	else if (pa->pa_written + pa->pa_overwritten != pa->pa_read)
		snprintf(buffer, size, "%" PRIu64 " samples read from the "
		    "buffers, but %" PRIu64 " written or overwritten",
		    pa->pa_read, pa->pa_written + pa->pa_overwritten);
	else if (seen != pa->pa_written)
		snprintf(buffer, size, "%" PRIu64 " samples written, but %"
		    PRIu64 " are in the file", pa->pa_written, seen);
	return (buffer[0] == '\0' ? NULL : buffer);
}

double
stats_complete_stacks(const struct stats *stats)
{
	struct prof_accounting pa;
	uint64_t whole = 0, all = 0;

	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == -1)
			continue;
		whole += pa.pa_kstack[PROF_STACK_OK] +
		    pa.pa_ustack[PROF_STACK_OK];
		for (int s = PROF_STACK_OK; s < PROF_STACK_NSTATUS; s++)
			all += pa.pa_kstack[s] + pa.pa_ustack[s];
	}
	return (all == 0 ? -1 : (double)whole / (double)all);
}

/* Of the time that all instances of all events could have counted. */
double
stats_throttled(const struct stats *stats)
{
	struct prof_accounting pa;
	double all = 0;

	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == 0)
			all += prof_accounting_open_ns(&pa,
			    stats->st_ran.rn_ns);
	}
	if (all <= 0)
		return (-1);
	all = (double)stats->st_throttled_ns / all;
	return (all > 1 ? 1 : all);
}

double
stats_multiplexed(const struct stats *stats)
{
	struct prof_accounting pa;
	double running = 0, enabled = 0;

	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) ==
		    -1 || !pa.pa_has_count)
			continue;
		running += (double)pa.pa_running_ns;
		enabled += (double)pa.pa_enabled_ns;
	}
	if (enabled <= 0)
		return (-1);
	return (running > enabled ? 0 : 1 - running / enabled);
}
