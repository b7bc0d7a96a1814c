/* SPDX-License-Identifier: ISC */
/*
 * report --json: the names of its members are a contract (dtprof(1)); they
 * are added, never renamed.  A share that is not known is null.
 */
#include <inttypes.h>

#include "stats.h"

#define SCHEMA_VERSION	1

static void	 key_str(struct out *out, const char *name, const char *text);
static void	 show_recording(const struct stats *stats, struct out *out);
static void	 show_event(const struct stats *stats, struct out *out,
		    size_t event);
static void	 show_counts(struct out *out,
		    const struct prof_accounting *pa, bool is_counter);
static void	 show_stacks(struct out *out, const char *name,
		    const uint64_t *counts);
static void	 show_accounting(const struct stats *stats, struct out *out,
		    size_t event);
static void	 show_share(struct out *out, const char *name, double share);

static void
key_str(struct out *out, const char *name, const char *text)
{
	out_fmt(out, "\"%s\":", name);
	out_json(out, text);
}

static void
show_recording(const struct stats *stats, struct out *out)
{
	const char *name, *value, *backend = prof_reader_info(
	    stats->st_reader, "import") != NULL ? "import" :
	    prof_reader_info(stats->st_reader, "path");

	out_str(out, "\"recording\":{");
	key_str(out, "file", stats->st_path);
	out_char(out, ',');
	key_str(out, "cut", prof_reader_cut(stats->st_reader));
	out_fmt(out, ",\"in_progress\":%s,",
	    prof_reader_in_progress(stats->st_reader) ? "true" : "false");
	key_str(out, "backend", backend);
	out_fmt(out, ",\"samples\":%" PRIu64 ",\"process_events\":%" PRIu64
	    ",\"mapping_events\":%" PRIu64 ",\"markers\":%" PRIu64
	    ",\"sideband_lost\":%" PRIu64 ",\"gaps\":%" PRIu64
	    ",\"duration_ns\":%" PRIu64 ",\"pauses\":%" PRIu64
	    ",\"paused_ns\":%" PRIu64,
	    prof_reader_nsamples(stats->st_reader), stats->st_lives,
	    stats->st_maps, stats->st_marks, stats->st_side_lost,
	    stats->st_gaps, stats->st_ran_ns,
	    stats->st_ran.rn_pauses, stats->st_ran.rn_paused_ns);
	out_str(out, ",\"info\":{");
	for (size_t n = 0; prof_reader_info_at(stats->st_reader, n, &name,
	    &value); n++) {
		if (n > 0)
			out_char(out, ',');
		out_json(out, name);
		out_char(out, ':');
		out_json(out, value);
	}
	out_str(out, "}}");
}

static void
show_event(const struct stats *stats, struct out *out, size_t event)
{
	const struct prof_event_info *info =
	    prof_reader_event(stats->st_reader, event);

	out_str(out, event == 0 ? "\n{" : ",\n{");
	key_str(out, "name", info->pi_name);
	out_char(out, ',');
	key_str(out, "probe", info->pi_probe);
	out_char(out, ',');
	key_str(out, "provider", info->pi_provider);
	out_char(out, ',');
	key_str(out, "unit", info->pi_unit);
	out_fmt(out, ",\"period\":%" PRIu64 ",\"frequency_hz\":%" PRIu64
	    ",\"is_counter\":", info->pi_period, info->pi_frequency_hz);
	out_str(out, info->pi_is_counter ? "true,\"args\":[" :
	    "false,\"args\":[");
	for (uint32_t n = 0; n < info->pi_nargs; n++) {
		out_str(out, n == 0 ? "{" : ",{");
		key_str(out, "name", info->pi_arg_names[n]);
		out_char(out, ',');
		key_str(out, "type", info->pi_arg_types[n]);
		out_char(out, '}');
	}
	out_str(out, "]}");
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
show_counts(struct out *out, const struct prof_accounting *pa,
    bool is_counter)
{
	const struct stats_counter *counter = stats_counters;

	for (; counter->sc_name != NULL; counter++) {
		out_fmt(out, ",\"%s\":", counter->sc_name);
		if (!is_known(counter, pa, is_counter))
			out_str(out, "null");
		else if (counter->sc_offset == offsetof(
		    struct prof_accounting, pa_unaccounted))
			out_fmt(out, "%" PRId64, pa->pa_unaccounted);
		else
			out_fmt(out, "%" PRIu64, stats_counter_of(counter,
			    pa));
	}
}

static void
show_stacks(struct out *out, const char *name, const uint64_t *counts)
{
	out_fmt(out, ",\"%s\":{", name);
	for (int s = 0; s < PROF_STACK_NSTATUS; s++)
		out_fmt(out, "%s\"%s\":%" PRIu64, s == 0 ? "" : ",",
		    stack_status_name((unsigned)s), counts[s]);
	out_char(out, '}');
}

/* An event whose accounting is missing, in a cut recording, is left out. */
static void
show_accounting(const struct stats *stats, struct out *out, size_t event)
{
	struct prof_accounting pa;
	char buffer[256];
	const struct prof_event_info *info =
	    prof_reader_event(stats->st_reader, event);
	const char *wrong;

	if (prof_reader_accounting(stats->st_reader, event, -1, &pa) == -1)
		return;
	out_str(out, event == 0 ? "\n{" : ",\n{");
	key_str(out, "event", info->pi_name);
	show_counts(out, &pa, info->pi_is_counter);
	out_fmt(out, ",\"in_file\":%" PRIu64, stats->st_seen[event]);
	show_stacks(out, "kernel_stacks", pa.pa_kstack);
	show_stacks(out, "user_stacks", pa.pa_ustack);
	out_fmt(out, ",\"unaccounted_excess\":%" PRIu64,
	    prof_accounting_hidden(info, &pa));
	wrong = stats_imbalance(stats, event, &pa, buffer, sizeof(buffer));
	out_fmt(out, ",\"balances\":%s,", wrong == NULL ? "true" : "false");
	key_str(out, "imbalance", wrong);
	stats_calls_json(stats, out, event);
	out_char(out, '}');
}

static void
show_share(struct out *out, const char *name, double share)
{
	if (share < 0)
		out_fmt(out, "\"%s\":null", name);
	else
		out_fmt(out, "\"%s\":%.6f", name, share);
}

void
stats_json_begin(const struct stats *stats, struct out *out)
{
	out_fmt(out, "{\"schema_version\":%d,\n", SCHEMA_VERSION);
	show_recording(stats, out);
	out_str(out, ",\n\"events\":[");
	for (size_t e = 0; e < stats->st_nevents; e++)
		show_event(stats, out, e);
	out_str(out, "],\n\"accounting\":[");
	for (size_t e = 0; e < stats->st_nevents; e++)
		show_accounting(stats, out, e);
	out_char(out, ']');
}

void
stats_json_quality(const struct stats *stats, struct out *out,
    double unresolved)
{
	out_str(out, ",\n\"quality\":{");
	show_share(out, "complete_stacks", stats_complete_stacks(stats));
	out_char(out, ',');
	show_share(out, "unresolved", unresolved);
	out_char(out, ',');
	show_share(out, "lost", prof_lost_share(stats->st_stored,
	    stats->st_lost));
	out_char(out, ',');
	show_share(out, "sideband_lost", prof_lost_share(stats->st_side_stored,
	    stats->st_side_lost));
	out_char(out, ',');
	show_share(out, "throttled", stats_throttled(stats));
	out_char(out, ',');
	show_share(out, "multiplexed", stats_multiplexed(stats));
	out_char(out, '}');
}

void
stats_json(const struct stats *stats, const struct stats_names *names,
    struct out *out)
{
	const uint64_t named = names->sn_samples - names->sn_without;

	stats_json_begin(stats, out);
	stats_json_quality(stats, out, named == 0 ? -1 :
	    (double)names->sn_unresolved.sr_sum / (double)named);
	stats_names_json(names, out);
	out_str(out, "}\n");
}
