/* SPDX-License-Identifier: ISC */
/*
 * The accounting of system calls from entry to return, for report --stats:
 * what became of each that was begun.  Every term was counted where it
 * happened, so their sum is a check.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stats.h"

enum {
	CALLS_BEGUN, CALLS_RETURNED, CALLS_PAUSED, CALLS_UNSEEN, CALLS_ENDED,
	CALLS_RUNNING, CALLS_UNBEGUN, CALLS_BORN, CALLS_UNKEPT, CALLS_COMPAT,
	CALLS_N
};

static const char *const words[CALLS_N] = {
	"begun", "returned", "paused", "unseen", "ended", "running",
	"unbegun", "born", "unkept", "compat"
};

static const char *
info_of(const struct stats *stats, size_t event, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "calls.%zu.%s", event, what);
	return (prof_reader_info(stats->st_reader, key));
}

/* False: it is no event of calls, or its recording was cut. */
static bool
calls_read(const struct stats *stats, size_t event, uint64_t count[CALLS_N])
{
	return (stats_counts_read(stats->st_reader, event, "calls", words,
	    CALLS_N, count));
}

static bool
calls_balance(const uint64_t count[CALLS_N])
{
	return (count[CALLS_BEGUN] == count[CALLS_RETURNED] +
	    count[CALLS_PAUSED] + count[CALLS_UNSEEN] + count[CALLS_ENDED] +
	    count[CALLS_RUNNING]);
}

static void
show_term(struct out *out, uint64_t count, const char *what,
    const char *names)
{
	if (count == 0)
		return;
	out_fmt(out, " + %" PRIu64 " %s", count, what);
	if (names != NULL)
		OUT(out, " (", names, ")");
}

static void
show_beside(struct out *out, uint64_t count, const char *what)
{
	if (count != 0)
		out_fmt(out, "  %" PRIu64 " %s\n", count, what);
}

void
stats_calls_text(const struct stats *stats, struct out *out)
{
	uint64_t count[CALLS_N];

	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (!calls_read(stats, e, count))
			continue;
		OUT(out, "\nsystem calls of ", prof_reader_event(
		    stats->st_reader, e)->pi_name);
		out_fmt(out, ": %" PRIu64 " begun = %" PRIu64 " returned",
		    count[CALLS_BEGUN], count[CALLS_RETURNED]);
		show_term(out, count[CALLS_PAUSED], "returned while paused",
		    NULL);
		show_term(out, count[CALLS_UNSEEN], "whose return was missed",
		    NULL);
		show_term(out, count[CALLS_ENDED],
		    "ended when their thread exited",
		    info_of(stats, e, "ended.names"));
		show_term(out, count[CALLS_RUNNING], "still running",
		    info_of(stats, e, "running.names"));
		out_str(out, calls_balance(count) ? "\n" :
		    ": DOES NOT BALANCE\n");
		show_beside(out, count[CALLS_UNBEGUN], "returns whose "
		    "entry was missed (duration unknown)");
		show_beside(out, count[CALLS_BORN], "first returns in new "
		    "threads, e.g. from clone (filtered)");
		show_beside(out, count[CALLS_UNKEPT], "entries dropped for "
		    "lack of memory (duration unknown)");
		show_beside(out, count[CALLS_COMPAT],
		    "32-bit calls (not recorded)");
	}
}

void
stats_calls_json(const struct stats *stats, struct emit *em, size_t event)
{
	const char *ended = info_of(stats, event, "ended.names");
	const char *running = info_of(stats, event, "running.names");
	uint64_t count[CALLS_N];

	if (!calls_read(stats, event, count))
		return;
	emit_object(em, "calls");
	for (int n = 0; n < CALLS_N; n++)
		EMIT(em, COUNT(words[n], count[n]));
	EMIT(em, TEXT("ended_names", ended == NULL ? "" : ended),
	    TEXT("running_names", running == NULL ? "" : running),
	    FLAG("balances", calls_balance(count)));
	emit_close(em);
}
