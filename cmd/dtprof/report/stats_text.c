/* SPDX-License-Identifier: ISC */
/*
 * report --stats for people: what is wrong first, then what was recorded,
 * then the accounting of each event, and whether it balances.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats.h"

#define NAME_WIDTH	20
#define MAX_NOTES	32

static void
show_info(const struct stats *stats, struct out *out, const char *label,
    const char *info_key)
{
	const char *value = prof_reader_info(stats->st_reader, info_key);

	if (value == NULL || *value == '\0')
		return;
	out_fmt(out, "%-12s", label);
	OUT(out, " ", value, "\n");
}

const char *
stats_budget(const struct stats *stats, size_t n)
{
	char key[32];

	snprintf(key, sizeof(key), "budget.%zu", n);
	return (prof_reader_info(stats->st_reader, key));
}

/* What the recorder said about how it was made. */
static void
show_notes(const struct stats *stats, struct out *out)
{
	char key[32];

	for (size_t n = 0; n < MAX_NOTES; n++) {
		snprintf(key, sizeof(key), "note.%zu", n);
		show_info(stats, out, "note", key);
	}
	show_info(stats, out, "not shown", "unwind.interpreters");
}

/* For an import, the path only says how to read it. */
static void
show_origin(const struct stats *stats, struct out *out)
{
	const char *import = prof_reader_info(stats->st_reader, "import");
	const char *version = prof_reader_info(stats->st_reader,
	    "import.version");
	const char *path = prof_reader_info(stats->st_reader, "path");
	const char *merged = prof_reader_info(stats->st_reader, "merged");

	if (merged != NULL)
		OUT(out, "merged       ", merged, " recordings\n");
	else if (import != NULL && version != NULL && *version != '\0')
		OUT(out, "backend      import from ", import, ", version ",
		    version, "\n");
	else if (import != NULL)
		OUT(out, "backend      import from ", import, "\n");
	else if (path != NULL)
		out_fmt(out, "backend      %s\n", strcmp(path, "bpf") == 0 ?
		    "bpf" : strcmp(path, "perf") == 0 ?
		    "perf (user space only)" : "unknown");
}

/* Where counters and timers were opened. */
static void
show_place(const struct stats *stats, struct out *out)
{
	const char *place = prof_reader_info(stats->st_reader, "attach");
	const char *why = prof_reader_info(stats->st_reader, "attach.why");

	if (place == NULL)
		return;
	OUT(out, "attached to  ", place, why == NULL ? "" : ": ",
	    why == NULL ? "" : why, "\n");
	show_info(stats, out, "then", "attach.moved");
}

static void
show_lost(struct out *out, const char *what, uint64_t stored, uint64_t lost)
{
	if (lost > 0)
		out_fmt(out, "LOST         %" PRIu64 " of %" PRIu64 " %s "
		    "(%.2g%%)\n", lost, stored + lost, what,
		    100 * prof_lost_share(stored, lost));
}

static void
show_head(const struct stats *stats, struct out *out)
{
	const char *cut = prof_reader_cut(stats->st_reader), *budget;

	if (cut != NULL)
		OUT(out, prof_reader_in_progress(stats->st_reader) ?
		    "UNFINISHED   " : "CUT SHORT    ", cut,
		    "; statistics cover only the part that was read\n");
	OUT(out, "recording    ", stats->st_path, "\n");
	show_info(stats, out, "command", "command");
	show_info(stats, out, "target", "target");
	show_info(stats, out, "filter", "filter");
	show_info(stats, out, "keep-if", "keep_if");
	show_info(stats, out, "kernel", "machine.kernel");
	show_info(stats, out, "cpus", "machine.cpus");
	show_origin(stats, out);
	show_info(stats, out, "degraded", "less.event");
	show_info(stats, out, "degraded", "less.path");
	show_info(stats, out, "degraded", "less.rate");
	show_info(stats, out, "degraded", "less.pace");
	show_info(stats, out, "degraded", "less.probes");
	show_info(stats, out, "degraded", "less.memory");
	for (size_t n = 0; (budget = stats_budget(stats, n)) != NULL; n++)
		budget_text(budget, "limit        ", out);
	show_place(stats, out);
	show_notes(stats, out);
	if (stats->st_ran_ns > 0)
		out_fmt(out, "duration     %.3f s\n",
		    (double)stats->st_ran_ns / 1e9);
	if (stats->st_ran.rn_pauses > 0)
		out_fmt(out, "paused       %" PRIu64 " time%s, %.3f s "
		    "(not in duration)\n", stats->st_ran.rn_pauses,
		    stats->st_ran.rn_pauses == 1 ? "" : "s",
		    (double)stats->st_ran.rn_paused_ns / 1e9);
	out_fmt(out, "records      %" PRIu64 " samples, %" PRIu64
	    " process events, %" PRIu64 " mapping events, %" PRIu64
	    " markers\n",
	    prof_reader_nsamples(stats->st_reader), stats->st_process_events,
	    stats->st_maps, stats->st_marks);
	show_lost(out, "samples", stats->st_stored, stats->st_lost);
	show_lost(out, "mapping and process events", stats->st_side_stored,
	    stats->st_side_lost);
	if (stats->st_gaps > 0)
		out_fmt(out, "GAPS         %" PRIu64 " times a buffer was "
		    "full and events were lost\n", stats->st_gaps);
	if (stats->st_throttles > 0)
		out_fmt(out, "THROTTLED    %" PRIu64 " times by the kernel, "
		    "%.1f ms in total\n", stats->st_throttles,
		    (double)stats->st_throttled_ns / 1e6);
}

/* A name that is too long has a line of its own. */
static void
show_name(struct out *out, const char *name)
{
	const size_t length = strlen(name);

	out_text(out, name);
	if (length > NAME_WIDTH)
		out_fmt(out, "\n  %*s", NAME_WIDTH, "");
	else
		out_fmt(out, "%*s", (int)(NAME_WIDTH - length), "");
}

static void
show_events(const struct stats *stats, struct out *out)
{
	out_str(out, "\nevents\n");
	for (size_t e = 1; e < stats->st_nevents; e++) {
		const struct prof_event_info *info =
		    prof_reader_event(stats->st_reader, e);

		OUT(out, "  ", info->pi_name, "  ", info->pi_probe);
		if (info->pi_period != 0)
			out_fmt(out, "  every %" PRIu64 " ", info->pi_period);
		else if (info->pi_frequency_hz != 0)
			out_fmt(out, "  at %" PRIu64 " Hz, in ",
			    info->pi_frequency_hz);
		else
			out_str(out, info->pi_is_counter ?
			    "  counter in each sample, in " :
			    "  all, in ");
		OUT(out, "", info->pi_unit, "\n");
	}
}

/* A column for each counter of the identity; pa NULL: their names. */
static void
show_row(struct out *out, const char *name, const struct prof_accounting *pa)
{
	const struct stats_counter *counter = stats_counters;

	out_str(out, "  ");
	show_name(out, name);
	for (; counter->sc_role < STATS_BESIDE && counter->sc_name != NULL;
	    counter++) {
		const int width = counter->sc_role == STATS_LOST ? 7 : 10;

		if (pa == NULL)
			out_fmt(out, " %*s", width, counter->sc_name);
		else
			out_fmt(out, " %*" PRIu64, width,
			    stats_counter_of(counter, pa));
	}
	out_char(out, '\n');
}

/* cpu -1: summed over CPUs.  Event 0, proc, has an accounting like all. */
static void
show_table(const struct stats *stats, struct out *out, int cpu)
{
	struct prof_accounting pa;

	if (cpu == -1)
		out_fmt(out, "\naccounting: fired = %s\n",
		    prof_accounting_terms());
	else
		out_fmt(out, "\ncpu %d\n", cpu);
	show_row(out, "event", NULL);
	for (size_t e = 0; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, cpu, &pa) == 0)
			show_row(out, prof_reader_event(stats->st_reader,
			    e)->pi_name, &pa);
	}
}

static bool
has_beside(const struct prof_accounting *pa)
{
	const struct stats_counter *counter = stats_counters;

	for (; counter->sc_name != NULL; counter++)
		if (counter->sc_role == STATS_BESIDE &&
		    stats_counter_of(counter, pa) != 0)
			return (true);
	return (pa->pa_has_count);
}

static void
show_count(struct out *out, const struct prof_event_info *info,
    const struct prof_accounting *pa)
{
	if (info->pi_is_counter) {
		out_fmt(out, "\n  %*s counted %" PRIu64 " in all tasks; "
		    "samples contain %" PRIu64 " of this count",
		    NAME_WIDTH, "", pa->pa_count, pa->pa_weight);
		return;
	}
	out_fmt(out, "\n  %*s count %" PRIu64 " unaccounted %" PRId64,
	    NAME_WIDTH, "", pa->pa_count, pa->pa_unaccounted);
	if (pa->pa_unaccounted_bound == PROF_BOUND_NONE)
		out_str(out, " (no upper bound is known)");
	else
		out_fmt(out, " (upper bound %" PRIu64 ")",
		    pa->pa_unaccounted_bound);
}

static void
show_beside_of(struct out *out, const struct prof_event_info *info,
    const struct prof_accounting *pa)
{
	const struct stats_counter *counter = stats_counters;

	if (!has_beside(pa))
		return;
	out_str(out, "  ");
	show_name(out, info->pi_name);
	for (; counter->sc_name != NULL; counter++) {
		if (counter->sc_role == STATS_BESIDE &&
		    stats_counter_of(counter, pa) != 0)
			out_fmt(out, " %s %" PRIu64, counter->sc_name,
			    stats_counter_of(counter, pa));
	}
	if (pa->pa_has_count)
		show_count(out, info, pa);
	out_char(out, '\n');
}

static void
show_beside(const struct stats *stats, struct out *out)
{
	struct prof_accounting pa;

	out_str(out, "\nother nonzero counters (not part of fired)\n");
	for (size_t e = 0; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == 0)
			show_beside_of(out, prof_reader_event(
			    stats->st_reader, e), &pa);
	}
}

static void
show_stack_row(struct out *out, const char *name, const char *kind,
    const uint64_t *counts)
{
	uint64_t all = 0;

	for (int s = 0; s < PROF_STACK_NSTATUS; s++)
		all += counts[s];
	if (all == 0 || all == counts[PROF_STACK_NONE])
		return;
	out_str(out, "  ");
	show_name(out, name);
	out_fmt(out, " %-6s", kind);
	for (int s = 0; s < PROF_STACK_NSTATUS; s++)
		if (counts[s] != 0)
			out_fmt(out, " %s %" PRIu64,
			    prof_stack_status_name((unsigned)s), counts[s]);
	out_char(out, '\n');
}

static void
show_stacks(const struct stats *stats, struct out *out)
{
	struct prof_accounting pa;
	const double whole = stats_complete_stacks(stats);
	const char *name;

	if (whole < 0)
		return;
	out_fmt(out, "\nstacks: %.2f%% complete; grouped by how the stack "
	    "ended\n",
	    100 * whole);
	for (size_t e = 1; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == -1)
			continue;
		name = prof_reader_event(stats->st_reader, e)->pi_name;
		show_stack_row(out, name, "kernel", pa.pa_kstack);
		show_stack_row(out, name, "user", pa.pa_ustack);
	}
}

/* Beside the identity, which only covers what the kernel let us see. */
static void
show_hidden(const struct stats *stats, struct out *out, size_t event,
    const struct prof_accounting *pa)
{
	const struct prof_event_info *info =
	    prof_reader_event(stats->st_reader, event);
	const uint64_t unaccounted = prof_accounting_unaccounted(info, pa);

	if (unaccounted == 0)
		return;
	OUT(out, "UNACCOUNTED: ", info->pi_name);
	out_fmt(out, ": %" PRIu64, unaccounted);
	OUT(out, " ", info->pi_unit, ": the kernel skipped dtprof's BPF "
	    "program; other BPF programs can cause this\n");
}

/* Figures that the recorder has left, on a line; none where it has not. */
static void
show_figures(const struct stats *stats, struct out *out, const char *title,
    const char *const keys[][2], size_t nkeys)
{
	const char *value;

	if (prof_reader_info(stats->st_reader, keys[0][0]) == NULL)
		return;
	out_char(out, '\n');
	out_str(out, title);
	for (size_t n = 0; n < nkeys; n++) {
		value = prof_reader_info(stats->st_reader, keys[n][0]);
		OUT(out, n == 0 ? ": " : ", ", keys[n][1], " ",
		    value == NULL ? "?" : value);
	}
	out_char(out, '\n');
}

/* What it took to walk stacks: by tables, and from copies of them. */
static void
show_unwind(const struct stats *stats, struct out *out)
{
	static const char *const tables[][2] = {
		{ "unwind.modules", "files" }, { "unwind.tables", "tables" },
		{ "unwind.bytes", "bytes" }, { "unwind.evicted", "evicted" },
		{ "unwind.calls", "bpf(2) calls while recording" }
	};
	static const char *const copies[][2] = {
		{ "snapshots.taken", "taken" },
		{ "snapshots.refused", "refused" },
		{ "snapshots.cut", "cut" },
		{ "snapshots.whole", "complete stacks" }
	};
	static const char *const kept[][2] = {
		{ "names.places", "addresses" },
		{ "names.modules", "modules" },
		{ "names.functions", "functions" },
		{ "names.late", "late modules" },
		{ "names.dropped", "dropped addresses" }
	};
	static const char *const files[][2] = {
		{ "files.processes", "processes" },
		{ "files.lost", "lost files" },
		{ "files.readers", "privileges" }
	};
	static const char *const verified[][2] = {
		{ "verify.same", "identical" }, { "verify.short", "short" },
		{ "verify.doubt", "left to libunwind" },
		{ "verify.earlier", "libunwind ended earlier" },
		{ "verify.further", "BPF ended earlier" },
		{ "verify.differ", "different" }
	};

	show_figures(stats, out, "unwind tables", tables,
	    sizeof(tables) / sizeof(tables[0]));
	show_figures(stats, out, "stack copies", copies,
	    sizeof(copies) / sizeof(copies[0]));
	show_figures(stats, out, "symbols in the recording", kept,
	    sizeof(kept) / sizeof(kept[0]));
	show_figures(stats, out, "file readers", files,
	    sizeof(files) / sizeof(files[0]));
	show_figures(stats, out, "unwound both ways", verified,
	    sizeof(verified) / sizeof(verified[0]));
}

static void
show_balance(const struct stats *stats, struct out *out)
{
	struct prof_accounting pa;
	char buffer[256];
	const char *wrong;
	bool balances = true;
	size_t known = 0;

	out_char(out, '\n');
	for (size_t e = 0; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == -1)
			continue;
		known++;
		wrong = stats_imbalance(stats, e, &pa, buffer, sizeof(buffer));
		if (wrong == NULL)
			continue;
		balances = false;
		OUT(out, prof_reader_cut(stats->st_reader) != NULL ?
		    "accounting of the last complete chunk:  " :
		    "accounting DOES NOT BALANCE: ", prof_reader_event(
		    stats->st_reader, e)->pi_name, ": ", wrong, "\n");
	}
	if (known == 0)
		out_str(out, "NO ACCOUNTING: the recording was cut before its "
		    "accounting was written\n");
	else if (balances)
		out_str(out, "accounting balances\n");
	for (size_t e = 0; e < stats->st_nevents; e++) {
		if (prof_reader_accounting(stats->st_reader, e, -1, &pa) == 0)
			show_hidden(stats, out, e, &pa);
	}
}

/* Perf rings are accounted for as a whole, as is what was imported. */
static void
show_cpus(const struct stats *stats, struct out *out)
{
	const char *import = prof_reader_info(stats->st_reader, "import");
	int cpu;

	if (prof_reader_cpu(stats->st_reader, 0) == -1)
		out_fmt(out, "\nby cpu: unknown, %s\n", import != NULL ?
		    "imported" : "recorded without BPF");
	for (size_t n = 0; (cpu = prof_reader_cpu(stats->st_reader, n)) != -1;
	    n++)
		show_table(stats, out, cpu);
}

void
stats_text(const struct stats *stats, const struct stats_names *names,
    struct out *out, bool per_cpu)
{
	show_head(stats, out);
	show_events(stats, out);
	show_table(stats, out, -1);
	if (per_cpu)
		show_cpus(stats, out);
	show_beside(stats, out);
	show_stacks(stats, out);
	stats_names_text(names, out);
	show_unwind(stats, out);
	stats_keep_if_text(stats, out);
	stats_calls_text(stats, out);
	stats_waits_text(stats, out);
	show_balance(stats, out);
}
