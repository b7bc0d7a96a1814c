/* SPDX-License-Identifier: ISC */
/*
 * report --stats --json.  A share that is not known is null.
 */
#include <stdlib.h>

#include "stats.h"

static uint64_t
info_number(const struct stats *stats, const char *key)
{
	const char *text = prof_reader_info(stats->st_reader, key);

	return (text == NULL ? 0 : strtoull(text, NULL, 10));
}

/* Of --ring: why it was written, and what of. */
static void
emit_dump(const struct stats *stats, struct emit *em)
{
	const char *reason = prof_reader_info(stats->st_reader, "dump.reason");

	if (reason == NULL) {
		EMIT(em, UNKNOWN("dump"));
		return;
	}
	EMIT_ROW(em, "dump", TEXT("reason", reason),
	    COUNT("requested_ns", info_number(stats, "dump.requested_ns")),
	    COUNT("written_ns", info_number(stats, "dump.written_ns")),
	    COUNT("history_ns", info_number(stats, "dump.history_ns")),
	    COUNT("overwritten", info_number(stats, "dump.overwritten")));
}

static void
emit_recording(const struct stats *stats, struct emit *em)
{
	const char *name, *value, *backend = prof_reader_info(
	    stats->st_reader, "import") != NULL ? "import" :
	    prof_reader_info(stats->st_reader, "path");

	emit_line(em);
	emit_object(em, "recording");
	EMIT(em, TEXT("file", stats->st_path),
	    TEXT("cut", prof_reader_cut(stats->st_reader)),
	    FLAG("in_progress", prof_reader_in_progress(stats->st_reader)),
	    TEXT("backend", backend),
	    COUNT("samples", prof_reader_nsamples(stats->st_reader)),
	    COUNT("process_events", stats->st_process_events),
	    COUNT("mapping_events", stats->st_maps),
	    COUNT("markers", stats->st_marks),
	    COUNT("sideband_lost", stats->st_side_lost),
	    COUNT("gaps", stats->st_gaps),
	    COUNT("duration_ns", stats->st_ran_ns),
	    COUNT("pauses", stats->st_ran.rn_pauses),
	    COUNT("paused_ns", stats->st_ran.rn_paused_ns));
	emit_dump(stats, em);
	emit_object(em, "info");
	for (size_t n = 0; prof_reader_info_at(stats->st_reader, n, &name,
	    &value); n++)
		EMIT(em, TEXT(name, value));
	emit_close(em);
	emit_close(em);
}

static void
emit_event(const struct prof_event_info *info, struct emit *em)
{
	emit_object(em, NULL);
	EMIT(em, TEXT("name", info->pi_name), TEXT("probe", info->pi_probe),
	    TEXT("provider", info->pi_provider), TEXT("unit", info->pi_unit),
	    COUNT("period", info->pi_period),
	    COUNT("frequency_hz", info->pi_frequency_hz),
	    FLAG("is_counter", info->pi_is_counter));
	emit_list(em, "args");
	for (uint32_t n = 0; n < info->pi_nargs; n++) {
		EMIT_ROW(em, NULL, TEXT("name", info->pi_arg_names[n]),
		    TEXT("type", info->pi_arg_types[n]));
	}
	emit_close(em);
	emit_close(em);
}

/* What a counter counted for others is not missing. */
static bool
is_known(const struct stats_counter *counter,
    const struct prof_accounting *pa, bool is_counter)
{
	switch (counter->sc_offset) {
	case offsetof(struct prof_accounting, pa_unaccounted):
		return (pa->pa_has_count && !is_counter);
	case offsetof(struct prof_accounting, pa_unaccounted_bound):
		return (pa->pa_has_count && !is_counter &&
		    pa->pa_unaccounted_bound != PROF_BOUND_NONE);
	default:
		return (counter->sc_role != STATS_COUNT || pa->pa_has_count);
	}
}

static void
emit_counts(struct emit *em, const struct prof_accounting *pa,
    bool is_counter)
{
	const struct stats_counter *counter = stats_counters;

	for (; counter->sc_name != NULL; counter++) {
		const bool is_signed = counter->sc_offset ==
		    offsetof(struct prof_accounting, pa_unaccounted);

		EMIT(em, KNOWN(is_known(counter, pa, is_counter), is_signed ?
		    SIGNED(counter->sc_name, pa->pa_unaccounted) :
		    COUNT(counter->sc_name, stats_counter_of(counter, pa))));
	}
}

static void
emit_stacks(struct emit *em, const char *name, const uint64_t *counts)
{
	emit_object(em, name);
	for (unsigned s = 0; s < PROF_STACK_NSTATUS; s++)
		EMIT(em, COUNT(prof_stack_status_name(s), counts[s]));
	emit_close(em);
}

/* An event whose accounting is missing, in a cut recording, is left out. */
static void
emit_accounting(const struct stats *stats, struct emit *em, size_t event)
{
	struct prof_accounting pa;
	char buffer[256];
	const struct prof_event_info *info =
	    prof_reader_event(stats->st_reader, event);
	const char *wrong;

	if (prof_reader_accounting(stats->st_reader, event, -1, &pa) == -1)
		return;
	emit_object(em, NULL);
	EMIT(em, TEXT("event", info->pi_name));
	emit_counts(em, &pa, info->pi_is_counter);
	EMIT(em, COUNT("in_file", stats->st_seen[event]));
	emit_stacks(em, "kernel_stacks", pa.pa_kstack);
	emit_stacks(em, "user_stacks", pa.pa_ustack);
	EMIT(em, COUNT("unaccounted_excess",
	    prof_accounting_unaccounted(info, &pa)));
	wrong = stats_imbalance(stats, event, &pa, buffer, sizeof(buffer));
	EMIT(em, FLAG("balances", wrong == NULL), TEXT("imbalance", wrong));
	stats_keep_if_json(stats, em, event);
	stats_calls_json(stats, em, event);
	stats_waits_json(stats, em, event);
	emit_close(em);
}

void
stats_json_begin(const struct stats *stats, struct emit *em)
{
	const char *budget;

	EMIT(em, COUNT("schema_version", JSON_SCHEMA));
	emit_recording(stats, em);
	emit_rows(em, "events");
	for (size_t e = 0; e < stats->st_nevents; e++)
		emit_event(prof_reader_event(stats->st_reader, e), em);
	emit_close(em);
	emit_rows(em, "accounting");
	for (size_t e = 0; e < stats->st_nevents; e++)
		emit_accounting(stats, em, e);
	emit_close(em);
	emit_rows(em, "budgets");
	for (size_t n = 0; (budget = stats_budget(stats, n)) != NULL; n++)
		budget_emit(budget, em);
	emit_close(em);
}

void
stats_json_quality(const struct stats *stats, struct emit *em,
    double unresolved)
{
	emit_line(em);
	EMIT_ROW(em, "quality",
	    SHARE("complete_stacks", stats_complete_stacks(stats)),
	    SHARE("unresolved", unresolved),
	    SHARE("lost", prof_lost_share(stats->st_stored, stats->st_lost)),
	    SHARE("sideband_lost", prof_lost_share(stats->st_side_stored,
	    stats->st_side_lost)), SHARE("throttled", stats_throttled(stats)),
	    SHARE("multiplexed", stats_multiplexed(stats)));
}

void
stats_json(const struct stats *stats, const struct stats_names *names,
    struct out *out)
{
	const uint64_t named = names->sn_samples - names->sn_without;
	struct emit em;

	emit_json(&em, out);
	stats_json_begin(stats, &em);
	stats_json_quality(stats, &em, named == 0 ? -1 :
	    (double)names->sn_unresolved.sr_sum / (double)named);
	stats_names_json(names, &em);
	emit_end(&em);
}
