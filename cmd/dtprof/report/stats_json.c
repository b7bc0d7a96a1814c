/* SPDX-License-Identifier: ISC */
/*
 * report --stats --json.  A share that is not known is null.
 */
#include "stats.h"

#define SCHEMA_VERSION	1

static void
emit_recording(const struct stats *stats, struct emit *em)
{
	const char *name, *value, *backend = prof_reader_info(
	    stats->st_reader, "import") != NULL ? "import" :
	    prof_reader_info(stats->st_reader, "path");

	emit_line(em);
	emit_object(em, "recording");
	emit_text(em, "file", stats->st_path);
	emit_text(em, "cut", prof_reader_cut(stats->st_reader));
	emit_bool(em, "in_progress",
	    prof_reader_in_progress(stats->st_reader));
	emit_text(em, "backend", backend);
	emit_count(em, "samples", prof_reader_nsamples(stats->st_reader));
	emit_count(em, "process_events", stats->st_lives);
	emit_count(em, "mapping_events", stats->st_maps);
	emit_count(em, "markers", stats->st_marks);
	emit_count(em, "sideband_lost", stats->st_side_lost);
	emit_count(em, "gaps", stats->st_gaps);
	emit_count(em, "duration_ns", stats->st_ran_ns);
	emit_count(em, "pauses", stats->st_ran.rn_pauses);
	emit_count(em, "paused_ns", stats->st_ran.rn_paused_ns);
	emit_object(em, "info");
	for (size_t n = 0; prof_reader_info_at(stats->st_reader, n, &name,
	    &value); n++)
		emit_text(em, name, value);
	emit_close(em);
	emit_close(em);
}

static void
emit_event(const struct prof_event_info *info, struct emit *em)
{
	emit_object(em, NULL);
	emit_text(em, "name", info->pi_name);
	emit_text(em, "probe", info->pi_probe);
	emit_text(em, "provider", info->pi_provider);
	emit_text(em, "unit", info->pi_unit);
	emit_count(em, "period", info->pi_period);
	emit_count(em, "frequency_hz", info->pi_frequency_hz);
	emit_bool(em, "is_counter", info->pi_is_counter);
	emit_list(em, "args");
	for (uint32_t n = 0; n < info->pi_nargs; n++) {
		emit_object(em, NULL);
		emit_text(em, "name", info->pi_arg_names[n]);
		emit_text(em, "type", info->pi_arg_types[n]);
		emit_close(em);
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
		if (!is_known(counter, pa, is_counter))
			emit_null(em, counter->sc_name);
		else if (counter->sc_offset == offsetof(
		    struct prof_accounting, pa_unaccounted))
			emit_signed(em, counter->sc_name, pa->pa_unaccounted);
		else
			emit_count(em, counter->sc_name,
			    stats_counter_of(counter, pa));
	}
}

static void
emit_stacks(struct emit *em, const char *name, const uint64_t *counts)
{
	emit_object(em, name);
	for (unsigned s = 0; s < PROF_STACK_NSTATUS; s++)
		emit_count(em, stack_status_name(s), counts[s]);
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
	emit_text(em, "event", info->pi_name);
	emit_counts(em, &pa, info->pi_is_counter);
	emit_count(em, "in_file", stats->st_seen[event]);
	emit_stacks(em, "kernel_stacks", pa.pa_kstack);
	emit_stacks(em, "user_stacks", pa.pa_ustack);
	emit_count(em, "unaccounted_excess",
	    prof_accounting_hidden(info, &pa));
	wrong = stats_imbalance(stats, event, &pa, buffer, sizeof(buffer));
	emit_bool(em, "balances", wrong == NULL);
	emit_text(em, "imbalance", wrong);
	stats_calls_json(stats, em, event);
	emit_close(em);
}

void
stats_json_begin(const struct stats *stats, struct emit *em)
{
	emit_count(em, "schema_version", SCHEMA_VERSION);
	emit_recording(stats, em);
	emit_rows(em, "events");
	for (size_t e = 0; e < stats->st_nevents; e++)
		emit_event(prof_reader_event(stats->st_reader, e), em);
	emit_close(em);
	emit_rows(em, "accounting");
	for (size_t e = 0; e < stats->st_nevents; e++)
		emit_accounting(stats, em, e);
	emit_close(em);
}

void
stats_json_quality(const struct stats *stats, struct emit *em,
    double unresolved)
{
	emit_line(em);
	emit_object(em, "quality");
	emit_share(em, "complete_stacks", stats_complete_stacks(stats));
	emit_share(em, "unresolved", unresolved);
	emit_share(em, "lost", prof_lost_share(stats->st_stored,
	    stats->st_lost));
	emit_share(em, "sideband_lost", prof_lost_share(stats->st_side_stored,
	    stats->st_side_lost));
	emit_share(em, "throttled", stats_throttled(stats));
	emit_share(em, "multiplexed", stats_multiplexed(stats));
	emit_close(em);
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
