/* SPDX-License-Identifier: ISC */
/*
 * What record --keep-if made of the samples that it took, for report --stats.
 * Each count was counted where it happened, so their sum is a check.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stats.h"

enum { KEEP_TAKEN, KEEP_COMMITTED, KEEP_DISCARDED, KEEP_LOST, KEEP_N };

static const char *const words[KEEP_N] = {
	"taken", "committed", "discarded", "lost"
};

/* False: it is of a recording without --keep-if, or of one that was cut. */
static bool
keep_read(const struct stats *stats, size_t event, uint64_t count[KEEP_N])
{
	return (stats_counts_read(stats->st_reader, event, "keep_if", words,
	    KEEP_N, count));
}

static bool
keep_balances(const uint64_t count[KEEP_N])
{
	return (count[KEEP_TAKEN] == count[KEEP_COMMITTED] +
	    count[KEEP_DISCARDED] + count[KEEP_LOST]);
}

bool
stats_keep_if_wrong(const struct stats *stats, size_t event,
    const struct prof_accounting *pa, char *buffer, size_t size)
{
	uint64_t count[KEEP_N];

	if (!keep_read(stats, event, count))
		return (false);
	if (!keep_balances(count))
		snprintf(buffer, size, "%" PRIu64 " samples taken by "
		    "--keep-if, but %" PRIu64 " committed, %" PRIu64
		    " discarded, %" PRIu64 " lost", count[KEEP_TAKEN],
		    count[KEEP_COMMITTED], count[KEEP_DISCARDED],
		    count[KEEP_LOST]);
	else if (count[KEEP_COMMITTED] != pa->pa_stored)
		snprintf(buffer, size, "%" PRIu64 " samples committed by "
		    "--keep-if, but %" PRIu64 " stored",
		    count[KEEP_COMMITTED], pa->pa_stored);
	return (buffer[0] != '\0');
}

void
stats_keep_if_text(const struct stats *stats, struct out *out)
{
	const char *expression = prof_reader_info(stats->st_reader, "keep_if");
	uint64_t count[KEEP_N];

	if (expression == NULL)
		return;
	OUT(out, "\n--keep-if '", expression, "'\n");
	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (!keep_read(stats, e, count))
			continue;
		OUT(out, "  ", prof_reader_event(stats->st_reader,
		    e)->pi_name);
		out_fmt(out, ": %" PRIu64 " taken = %" PRIu64 " committed + %"
		    PRIu64 " discarded + %" PRIu64 " lost%s\n",
		    count[KEEP_TAKEN], count[KEEP_COMMITTED],
		    count[KEEP_DISCARDED], count[KEEP_LOST],
		    keep_balances(count) ? "" : ": DOES NOT BALANCE");
	}
}

void
stats_keep_if_json(const struct stats *stats, struct emit *em, size_t event)
{
	uint64_t count[KEEP_N];

	if (!keep_read(stats, event, count))
		return;
	emit_object(em, "keep_if");
	for (int n = 0; n < KEEP_N; n++)
		EMIT(em, COUNT(words[n], count[n]));
	EMIT(em, FLAG("balances", keep_balances(count)));
	emit_close(em);
}
