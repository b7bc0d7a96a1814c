/* SPDX-License-Identifier: ISC */
/*
 * stat --by --json and --csv.  Figures are exact; what is not known is null,
 * or empty.  Called by by.c.
 */
#include <math.h>

#include "by.h"

static void
emit_keys(const struct by *by, const struct by_event *event,
    const struct prof_group *group, struct emit *em)
{
	struct prof_key_value key;

	for (size_t k = 0; k < by->by_grouping.gp_nby; k++) {
		const char *name = by->by_grouping.gp_by[k];

		prof_group_key(event->be_event, group, k, &key);
		if (key.kv_is_text)
			EMIT(em, TEXT(name, key.kv_text));
		else if (key.kv_is_signed)
			EMIT(em, SIGNED(name, key.kv_number));
		else
			EMIT(em, COUNT(name, key.kv_number));
	}
}

/* Signed if the measure is. */
static struct cell
cell_value(const char *name, const struct dtp_measure *measure,
    uint64_t value)
{
	return (measure->gm_signed ? SIGNED(name, value) :
	    COUNT(name, value));
}

static void
emit_quantiles(const struct by *by, const struct prof_group *group,
    uint32_t n, const struct dtp_measure *measure, struct emit *em)
{
	static const struct {
		const char	*name;
		double		 share;
	} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 } };
	uint64_t value = 0;

	emit_object(em, "quantiles");
	for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++) {
		const bool is_known = prof_group_quantile(&by->by_groups,
		    group, n, measure, quantiles[q].share, &value);

		EMIT(em, KNOWN(is_known, cell_value(quantiles[q].name,
		    measure, value)));
	}
	emit_close(em);
}

static void
emit_buckets(const struct by *by, const struct prof_measured *of,
    const struct dtp_measure *measure, struct emit *em)
{
	emit_list(em, "buckets");
	for (size_t i = 0; i < of->me_nbuckets; i++) {
		const struct prof_group_bucket *bucket =
		    &by->by_groups.gs_bucket[of->me_first + i];
		const struct prof_bucket_ends ends = prof_bucket_ends(measure,
		    bucket->bu_bucket);

		EMIT_ROW(em, NULL, cell_value("low", measure, ends.be_low),
		    cell_value("high", measure, ends.be_high),
		    COUNT("count", bucket->bu_count));
	}
	emit_close(em);
}

static void
emit_duration(const struct by *by, const struct by_event *event,
    const struct prof_group *group, struct emit *em)
{
	const struct dtp_measure *measure =
	    &event->be_event->ev_grouping.gp_measure[0];
	const struct prof_measured *of = &group->gr_measured[0];
	const bool is_known = of->me_count > 0;

	EMIT(em, COUNT("timed", of->me_count), COUNT("total_ns", of->me_sum),
	    KNOWN(is_known, COUNT("min_ns", of->me_min)),
	    KNOWN(is_known, COUNT("max_ns", of->me_max)));
	emit_quantiles(by, group, 0, measure, em);
	emit_buckets(by, of, measure, em);
}

/* Fields of --hist, --sum and the like; sums wrap at 2^64. */
static void
emit_values(const struct by *by, const struct by_event *event,
    const struct prof_group *group, struct emit *em)
{
	emit_list(em, "values");
	for (uint32_t m = 0; m < by->by_grouping.gp_nmeasures; m++) {
		const struct dtp_measure *measure =
		    &event->be_event->ev_grouping.gp_measure[m];
		const struct prof_measured *of = &group->gr_measured[m];
		const bool is_known = of->me_count > 0;

		emit_object(em, NULL);
		EMIT(em, TEXT("field", by->by_grouping.gp_measure[m].me_field),
		    COUNT("count", of->me_count),
		    cell_value("sum", measure, of->me_sum),
		    KNOWN(is_known, cell_value("min", measure, of->me_min)),
		    KNOWN(is_known, cell_value("max", measure, of->me_max)));
		if (measure->gm_histogram != DTP_HIST_NONE) {
			emit_quantiles(by, group, m, measure, em);
			emit_buckets(by, of, measure, em);
		}
		emit_close(em);
	}
	emit_close(em);
}

static void
emit_errors(const struct by *by, const struct prof_group *group,
    struct emit *em)
{
	const struct prof_measured *of = &group->gr_errnos;

	emit_list(em, "errors_by_name");
	for (size_t i = 0; i < of->me_nbuckets; i++) {
		const struct prof_group_bucket *bucket =
		    &by->by_groups.gs_bucket[of->me_first + i];

		EMIT_ROW(em, NULL, COUNT("errno", bucket->bu_bucket),
		    GIVEN("error", error_name(-(int64_t)bucket->bu_bucket)),
		    COUNT("count", bucket->bu_count));
	}
	emit_close(em);
}

static void
emit_group(const struct by *by, const struct by_event *event,
    const struct prof_group *group, struct emit *em)
{
	const struct dtp_grouping *gp = &event->be_event->ev_grouping;

	emit_object(em, NULL);
	EMIT(em, TEXT("event", event->be_event->ev_name));
	emit_object(em, "keys");
	emit_keys(by, event, group, em);
	emit_close(em);
	EMIT(em, COUNT("count", group->gr_count));
	if (gp->gp_result != 0) {
		EMIT(em, COUNT("errors", group->gr_errors));
		emit_errors(by, group, em);
	}
	if (by->by_grouping.gp_nmeasures > 0)
		emit_values(by, event, group, em);
	else if (gp->gp_nmeasures > 0)
		emit_duration(by, event, group, em);
	EMIT(em, COUNT("unfiled", group->gr_unfiled));
	emit_close(em);
}

static void
emit_account(const struct by *by, const struct by_event *event,
    struct emit *em)
{
	const struct prof_accounting *pa = &event->be_account;
	const bool is_call = event->be_event->ev_is_call;

	EMIT_ROW(em, NULL, TEXT("event", event->be_event->ev_name),
	    COUNT("fired", pa->pa_fired), COUNT("stored", pa->pa_stored),
	    COUNT("filtered", pa->pa_filtered),
	    COUNT("dropped_groups", pa->pa_full),
	    COUNT("nested", pa->pa_nested), COUNT("error", pa->pa_error),
	    COUNT("missed", pa->pa_missed),
	    COUNT("hidden_groups", event->be_nrows -
	    by_rows_shown(by, event)),
	    WHERE(is_call, COUNT("running", event->be_call[BY_CALL_RUNNING])),
	    WHERE(is_call, COUNT("ended", event->be_call[BY_CALL_ENDED])),
	    WHERE(is_call, COUNT("unbegun", event->be_call[BY_CALL_UNBEGUN])),
	    WHERE(is_call, COUNT("compat", event->be_call[BY_CALL_COMPAT])));
}

void
by_json(struct by *by)
{
	char *const *argv = by->by_what->co_argv;
	uint64_t dropped = 0, running = 0;
	struct emit em;

	for (size_t e = 0; e < by->by_nevents; e++) {
		dropped += by->by_event[e].be_account.pa_full;
		running += by->by_event[e].be_call[BY_CALL_RUNNING];
	}
	emit_json(&em, &by->by_out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
	    TEXT("version", prof_version()),
	    WORD("target", count_target_name(by->by_what->co_target)));
	emit_list(&em, "command");
	for (; argv != NULL && *argv != NULL; argv++)
		EMIT(&em, TEXT(NULL, *argv));
	emit_close(&em);
	EMIT(&em, FLAG("interrupted", by->by_ending.en_signalled),
	    FIXED("elapsed_s", by->by_status.ps_elapsed_s, 9),
	    COUNT("dropped_groups", dropped), COUNT("running", running));
	emit_rows(&em, "accounting");
	for (size_t e = 0; e < by->by_nevents; e++)
		emit_account(by, &by->by_event[e], &em);
	emit_close(&em);
	emit_rows(&em, "groups");
	for (size_t e = 0; e < by->by_nevents; e++)
		for (size_t n = 0; n < by_rows_shown(by, &by->by_event[e]);
		    n++)
			emit_group(by, &by->by_event[e],
			    by->by_event[e].be_row[n], &em);
	by_spans_json(by, &em);
	emit_end(&em);
}

/* The event with most columns has those of all others. */
static void
begin_csv(struct by *by, struct emit *em)
{
	static const char *const first[] = { "time_s", "event", NULL };
	const struct by_event *event = by->by_event;

	for (size_t e = 1; e < by->by_nevents; e++)
		if (by->by_event[e].be_ncolumns > event->be_ncolumns)
			event = &by->by_event[e];
	emit_csv(em, &by->by_out, first, "\n");
	for (size_t k = 0; k < by->by_grouping.gp_nby; k++)
		emit_column(em, by->by_grouping.gp_by[k], false);
	for (size_t c = 0; c < event->be_ncolumns; c++)
		emit_column(em, event->be_column[c].bc_figure == BY_COUNT ?
		    "count" : event->be_column[c].bc_title, false);
}

void
by_csv_head(struct by *by)
{
	struct emit em;

	begin_csv(by, &em);
	emit_head(&em);
}

static struct cell
cell_figure(const struct by *by, const struct by_event *event,
    const struct prof_group *group, const struct by_column *column)
{
	const char *name = column->bc_figure == BY_COUNT ? "count" :
	    column->bc_title;
	uint64_t exact;
	double value;

	if (!by_figure(by, event, group, column, &value))
		return (NUMBER(name, NAN));
	if (column->bc_figure == BY_AVG ||
	    !by_exact(by, event, group, column, &exact))
		return (NUMBER(name, value));
	return (by_is_signed(event, column) ? SIGNED(name, exact) :
	    COUNT(name, exact));
}

static void
emit_line_of(const struct by *by, const struct by_event *event,
    const struct prof_group *group, struct emit *em)
{
	emit_object(em, NULL);
	EMIT(em, FIXED("time_s", by->by_status.ps_elapsed_s, 9),
	    TEXT("event", event->be_event->ev_name));
	emit_keys(by, event, group, em);
	for (size_t c = 0; c < event->be_ncolumns; c++)
		EMIT(em, cell_figure(by, event, group,
		    &event->be_column[c]));
	emit_close(em);
}

void
by_csv(struct by *by)
{
	struct emit em;

	begin_csv(by, &em);
	for (size_t e = 0; e < by->by_nevents; e++) {
		const struct by_event *event = &by->by_event[e];

		for (size_t n = 0; n < by_rows_shown(by, event); n++)
			emit_line_of(by, event, event->be_row[n], &em);
	}
}
