/* SPDX-License-Identifier: ISC */
/*
 * Where the time of threads went whose waits were recorded: each was counted
 * where it ended, and elapsed time by itself, so their sum is a check.  For
 * report, which says it in a line, and for report --stats.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../ui/terminal.h"
#include "stats.h"

enum {
	WAITS_RUNNING, WAITS_RUNNABLE, WAITS_BLOCKED, WAITS_ELAPSED,
	WAITS_THREADS, WAITS_TURNS, WAITS_SHORT, WAITS_SHORT_NS, WAITS_OPEN,
	WAITS_OPEN_NS, WAITS_UNWALKED, WAITS_UNKEPT, WAITS_GAPS,
	WAITS_GAP_NS, WAITS_UNWOKEN, WAITS_UNWOKEN_NS, WAITS_N
};

static const char *const words[WAITS_N] = {
	"running_ns", "runnable_ns", "blocked_ns", "elapsed_ns", "threads",
	"turns", "short", "short_ns", "open", "open_ns", "unwalked", "unkept",
	"gaps", "gap_ns", "unwoken", "unwoken_ns"
};

/* Chance decided whether to walk. */
enum {
	CHANCE_ELIGIBLE, CHANCE_DRAWN, CHANCE_NS, CHANCE_DRAWN_NS,
	CHANCE_EXPECTED, CHANCE_VARIANCE, CHANCE_N
};

static const char *const chance_words[CHANCE_N] = {
	"eligible", "drawn", "chance_ns", "drawn_ns", "expected", "variance"
};

enum { WALL_PASSES, WALL_SAME, WALL_MOVED, WALL_N };

static const char *const wall_words[WALL_N] = { "passes", "same", "moved" };

/* False: it is no event of waits, or its recording was cut. */
static bool
waits_read(const struct prof_reader *reader, size_t event,
    uint64_t count[WAITS_N])
{
	return (stats_counts_read(reader, event, "waits", words, WAITS_N,
	    count));
}

static bool
chance_read(const struct prof_reader *reader, size_t event,
    uint64_t count[CHANCE_N])
{
	return (stats_counts_read(reader, event, "waits", chance_words,
	    CHANCE_N, count));
}

static bool
wall_read(const struct prof_reader *reader, size_t event,
    uint64_t count[WALL_N])
{
	return (stats_counts_read(reader, event, "wall", wall_words, WALL_N,
	    count));
}

/* Elapsed time in no state; negative: time that was counted twice. */
static int64_t
waits_difference(const uint64_t count[WAITS_N])
{
	return ((int64_t)(count[WAITS_ELAPSED] - count[WAITS_RUNNING] -
	    count[WAITS_RUNNABLE] - count[WAITS_BLOCKED]));
}

static bool
waits_balance(const uint64_t count[WAITS_N])
{
	return (waits_difference(count) == (int64_t)count[WAITS_GAP_NS]);
}

static void
show_time(struct out *out, const char *before, uint64_t ns, const char *what)
{
	char text[32];

	weight_time(text, sizeof(text), ns);
	OUT(out, before, text, what);
}

static void
show_identity(struct out *out, const uint64_t count[WAITS_N])
{
	const int64_t difference_ns = waits_difference(count);

	out_fmt(out, ": %" PRIu64 " thread%s, ", count[WAITS_THREADS],
	    count[WAITS_THREADS] == 1 ? "" : "s");
	show_time(out, "", count[WAITS_ELAPSED], " elapsed = ");
	show_time(out, "", count[WAITS_RUNNING], " running + ");
	show_time(out, "", count[WAITS_RUNNABLE], " runnable + ");
	show_time(out, "", count[WAITS_BLOCKED], " blocked");
	if (difference_ns > 0)
		show_time(out, " + ", (uint64_t)difference_ns, " unknown");
	else if (difference_ns < 0)
		show_time(out, " - ", 0 - (uint64_t)difference_ns,
		    " counted twice");
	if (count[WAITS_GAPS] != 0)
		out_fmt(out, " (%" PRIu64 " gap%s)", count[WAITS_GAPS],
		    count[WAITS_GAPS] == 1 ? "" : "s");
	out_str(out, waits_balance(count) ? "\n" : ": DOES NOT BALANCE\n");
}

/* Times that no sample has, or one without a stack. */
static void
show_beside(struct out *out, uint64_t count, const char *what, uint64_t ns)
{
	if (count == 0)
		return;
	out_fmt(out, "  %" PRIu64 " %s", count, what);
	if (ns != 0)
		show_time(out, ", ", ns, "");
	out_char(out, '\n');
}

void
stats_waits_line(const struct prof_reader *reader, size_t event,
    struct out *out)
{
	uint64_t count[WAITS_N];

	if (!waits_read(reader, event, count))
		return;
	OUT(out, "", prof_reader_event(reader, event)->pi_name, "");
	show_identity(out, count);
	if (count[WAITS_SHORT] != 0) {
		out_fmt(out, "waits shorter than the parameter min are not in "
		    "the table: %" PRIu64 ", in total", count[WAITS_SHORT]);
		show_time(out, " ", count[WAITS_SHORT_NS], "\n");
	}
	stats_throttled_text(reader, event, "", out);
}

static void
wall_text(const struct stats *stats, struct out *out, size_t event)
{
	uint64_t count[WALL_N];

	if (!wall_read(stats->st_reader, event, count))
		return;
	OUT(out, "\n", prof_reader_event(stats->st_reader, event)->pi_name,
	    "\n");
	show_beside(out, count[WALL_PASSES], "passes over all threads", 0);
	show_beside(out, count[WALL_SAME], "times that a thread was still "
	    "blocked since the previous pass", 0);
	show_beside(out, count[WALL_MOVED], "times that a thread ran while its "
	    "stack was read (the next pass counts the time)", 0);
}

static void
chance_text(const struct stats *stats, struct out *out, size_t event)
{
	uint64_t count[CHANCE_N];

	if (!chance_read(stats->st_reader, event, count))
		return;
	show_beside(out, count[CHANCE_ELIGIBLE], "waits for which chance "
	    "decided whether to walk the stack; their samples",
	    count[CHANCE_NS]);
	show_beside(out, count[CHANCE_DRAWN], "of these waits had their stack "
	    "walked; their samples", count[CHANCE_DRAWN_NS]);
}

void
stats_waits_text(const struct stats *stats, struct out *out)
{
	uint64_t count[WAITS_N];

	for (size_t e = 1; e < stats->st_nevents; e++) {
		wall_text(stats, out, e);
		if (!waits_read(stats->st_reader, e, count))
			continue;
		OUT(out, "\nwaits of ", prof_reader_event(stats->st_reader,
		    e)->pi_name, "");
		show_identity(out, count);
		show_beside(out, count[WAITS_TURNS], "context switches to "
		    "the recorded threads", 0);
		show_beside(out, count[WAITS_SHORT], "waits shorter than the "
		    "minimum (not sampled)", count[WAITS_SHORT_NS]);
		show_beside(out, count[WAITS_OPEN], "waits that had not ended "
		    "when recording ended or paused", count[WAITS_OPEN_NS]);
		show_beside(out, count[WAITS_UNWALKED], "waits without a "
		    "stack (too many waits at once)", 0);
		chance_text(stats, out, e);
		show_beside(out, count[WAITS_UNKEPT], "context switches and "
		    "wakeups not recorded, because the table of threads was "
		    "full", 0);
		show_beside(out, count[WAITS_GAPS], "context switches that the "
		    "kernel did not report", count[WAITS_GAP_NS]);
		show_beside(out, count[WAITS_UNWOKEN], "waits whose wakeup the "
		    "kernel did not report (counted as blocked)",
		    count[WAITS_UNWOKEN_NS]);
		stats_throttled_text(stats->st_reader, e, "  ", out);
	}
}

static void
chance_json(struct emit *em, const uint64_t chance[CHANCE_N])
{
	for (int n = 0; n < CHANCE_EXPECTED; n++)
		EMIT(em, COUNT(chance_words[n], chance[n]));
	EMIT(em, ROUNDED("expected", ldexp((double)chance[CHANCE_EXPECTED],
	    -16), 17), ROUNDED("variance",
	    ldexp((double)chance[CHANCE_VARIANCE], -32), 17));
}

void
stats_waits_json(const struct stats *stats, struct emit *em, size_t event)
{
	uint64_t count[WAITS_N], chance[CHANCE_N], wall[WALL_N];

	if (wall_read(stats->st_reader, event, wall))
		EMIT(em, COUNT("wall_passes", wall[WALL_PASSES]),
		    COUNT("same_again", wall[WALL_SAME]),
		    COUNT("moved", wall[WALL_MOVED]));
	if (!waits_read(stats->st_reader, event, count))
		return;
	emit_object(em, "waits");
	for (int n = 0; n < WAITS_N; n++)
		EMIT(em, COUNT(words[n], count[n]));
	if (chance_read(stats->st_reader, event, chance))
		chance_json(em, chance);
	EMIT(em, FLAG("balances", waits_balance(count)));
	stats_throttled_json(stats, em, event);
	emit_close(em);
}

void
stats_waits_identity(const struct prof_reader *reader, struct emit *em)
{
	uint64_t count[WAITS_N];
	size_t e = 1;

	while (e < prof_reader_nevents(reader) &&
	    !waits_read(reader, e, count))
		e++;
	if (e == prof_reader_nevents(reader)) {
		EMIT(em, UNKNOWN("identity"));
		return;
	}
	emit_object(em, "identity");
	EMIT(em, COUNT("elapsed_ns", count[WAITS_ELAPSED]),
	    COUNT("running_ns", count[WAITS_RUNNING]),
	    COUNT("runnable_ns", count[WAITS_RUNNABLE]),
	    COUNT("blocked_ns", count[WAITS_BLOCKED]),
	    SIGNED("difference_ns", waits_difference(count)),
	    COUNT("gaps", count[WAITS_GAPS]));
	emit_close(em);
}
