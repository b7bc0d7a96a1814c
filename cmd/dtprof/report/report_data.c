/* SPDX-License-Identifier: ISC */
/*
 * A report for programs.  JSON: what --stats --json shows, then the quality
 * of the samples, then the rows.  CSV: the rows.  A row is there once for each
 * event; weights are exact, shares and intervals from 0 to 1.
 *
 * Called by cmd_report.c.
 */
#include <stdlib.h>

#include "report.h"

#define RATIO_DIGITS	9

/* What a part of a row is called, self or total; CSV alone has samples. */
struct part {
	const char	*pa_weight;
	const char	*pa_share;
	const char	*pa_low;
	const char	*pa_high;
	const char	*pa_samples;
};
static const struct part self_part = { "self", "self_share", "self_low",
    "self_high", "self_samples" };
static const struct part total_part = { "total", "total_share", "total_low",
    "total_high", "total_samples" };

static void
emit_part(struct emit *em, const struct report_column *column,
    const struct part *part, uint64_t weight, uint64_t samples)
{
	const struct report_share share = report_share(column, weight);

	EMIT(em, COUNT(part->pa_weight, weight),
	    SHARE(part->pa_share, share.sh_value),
	    SHARE(part->pa_low, share.sh_low),
	    SHARE(part->pa_high, share.sh_high),
	    WHERE(em->em_is_csv, COUNT(part->pa_samples, samples)));
}

/* "1234 name": JSON has the number. */
static void
emit_id(struct emit *em, const char *name, const char *text, size_t skip)
{
	if (em->em_is_csv)
		EMIT(em, TEXT(name, text));
	else if (text != NULL)
		EMIT(em, COUNT(name, strtoul(text + skip, NULL, 10)));
}

/* A counter's values for one of what its samples stand for. */
static void
emit_ratio(const struct report_table *table, struct emit *em,
    const struct report_column *column, const struct report_sum *sum)
{
	const struct report_sum *base = sum + (column->co_base - column);

	EMIT(em, TEXT("ratio_to", column->co_base->co_info->pi_name));
	EMIT(em, WHERE(!table->ta_is_flow, ROUNDED("self_ratio",
	    report_ratio(sum->su_self, base->su_self), RATIO_DIGITS)),
	    ROUNDED("total_ratio", report_ratio(sum->su_total,
	    base->su_total), RATIO_DIGITS));
}

/* In the tree: which row it is, and which it is below. */
static void
emit_place(const struct report_table *table, struct emit *em,
    const struct report_row *row)
{
	if (!table->ta_is_tree)
		return;
	EMIT(em, COUNT("id", (uint64_t)(row - table->ta_row)),
	    KNOWN(row->rw_parent != UINT32_MAX, COUNT("parent",
	    row->rw_parent)), COUNT("depth", row->rw_depth));
}

static void
emit_args(const struct report_table *table, struct emit *em,
    const struct report_row *row)
{
	if (table->ta_is_tree || (table->ta_by & BY_ARGS) == 0)
		return;
	emit_object(em, "args");
	for (size_t n = 0; n < table->ta_keys->rb_nargs; n++)
		if (em->em_is_csv || row->rw_arg[n] != NULL)
			EMIT(em,
			    TEXT(table->ta_keys->rb_arg[n], row->rw_arg[n]));
	emit_close(em);
}

static void
emit_tasks(struct emit *em, const struct report_row *row)
{
	EMIT(em, GIVEN("comm", row->rw_comm));
	emit_id(em, "pid", row->rw_pid, 0);
	emit_id(em, "tid", row->rw_tid, 0);
	emit_id(em, "cpu", row->rw_cpu, sizeof("cpu ") - 1);
}

/* What it is about, as JSON has it. */
static void
emit_names(const struct report_table *table, struct emit *em,
    const struct report_row *row, const struct prof_event_info *info)
{
	const struct prof_function *function = row->rw_function;
	const bool is_line = table->ta_by & BY_LINE;

	emit_place(table, em, row);
	EMIT(em, GIVEN(is_line && !row->rw_is_root ? "line" : "name",
	    row->rw_name),
	    GIVEN("function", is_line && function != NULL ?
	    function->fu_name : NULL),
	    WHERE(row->rw_module != NULL, TEXT("module", row->rw_module)),
	    GIVEN("kind", report_kind(row)));
	emit_tasks(em, row);
	EMIT(em, GIVEN("syscall", row->rw_call));
	emit_args(table, em, row);
	EMIT(em, TEXT("event", info->pi_name),
	    WHERE(table->ta_by & BY_PROBE, TEXT("probe", info->pi_probe)));
}

/* The same as CSV has it, where columns that only some have are the last. */
static void
emit_first_columns(struct emit *em, const struct report_row *row,
    const struct prof_event_info *info)
{
	EMIT(em, TEXT("event", info->pi_name), TEXT("unit", info->pi_unit));
	emit_tasks(em, row);
	EMIT(em, TEXT("name", row->rw_name), TEXT("module", row->rw_module));
}

static void
emit_last_columns(const struct report_table *table, struct emit *em,
    const struct report_row *row)
{
	EMIT(em, COUNT("depth", row->rw_depth), TEXT("syscall", row->rw_call));
	emit_args(table, em, row);
}

static void
emit_row(const struct report_table *table, struct emit *em,
    const struct report_row *row, size_t n)
{
	const struct report_column *column = report_column(table, row, n);
	const struct report_sum *sum = &table->ta_sum[row->rw_first + n];

	/* A program that reads JSON misses no row of nothing. */
	if (!em->em_is_csv && sum->su_total_samples == 0)
		return;
	emit_object(em, NULL);
	if (em->em_is_csv)
		emit_first_columns(em, row, column->co_info);
	else
		emit_names(table, em, row, column->co_info);
	if (!table->ta_is_flow)
		emit_part(em, column, &self_part, sum->su_self,
		    sum->su_self_samples);
	emit_part(em, column, &total_part, sum->su_total,
	    sum->su_total_samples);
	if (em->em_is_csv) {
		emit_last_columns(table, em, row);
		emit_close(em);
		return;
	}
	if (column->co_base != NULL)
		emit_ratio(table, em, column, sum);
	EMIT(em, COUNT("samples", table->ta_is_flow ? sum->su_total_samples :
	    sum->su_self_samples),
	    COUNT("total_samples", sum->su_total_samples));
	emit_close(em);
}

static void
emit_table(const struct report_table *table, struct emit *em)
{
	for (size_t n = 0; n < table->ta_nrows; n++)
		for (size_t c = 0; c < table->ta_per_row; c++)
			emit_row(table, em, &table->ta_row[n], c);
}

void
report_csv(const struct report *report, struct out *out)
{
	static const char *const columns[] = { "event", "unit", "comm", "pid",
	    "tid", "cpu", "name", "module", "self", "self_share", "self_low",
	    "self_high", "self_samples", "total", "total_share", "total_low",
	    "total_high", "total_samples", NULL };
	const struct report_table *table = &report->re_table;
	struct emit em;

	/* With depth or syscall, and arguments. */
	_Static_assert(sizeof(columns) / sizeof(columns[0]) + PROF_MAX_ARGS <=
	    EMIT_COLUMNS, "EMIT_COLUMNS is less than the columns of a report");
	emit_csv(&em, out, columns, "\r\n");
	if (table->ta_is_tree)
		emit_column(&em, "depth", false);
	else if (table->ta_by & BY_SYSCALL)
		emit_column(&em, "syscall", false);
	for (size_t n = 0; !table->ta_is_tree &&
	    n < table->ta_keys->rb_nargs; n++)
		emit_column(&em, table->ta_keys->rb_arg[n], true);
	emit_head(&em);
	emit_table(table, &em);
}

static void
emit_quality(const struct report *report, struct emit *em, size_t event)
{
	struct prof_quality quality;

	prof_profile_quality(report->re_profile, event, &quality);
	emit_object(em, NULL);
	EMIT(em,
	    TEXT("event", prof_reader_event(report->re_reader, event)->pi_name),
	    COUNT("samples", quality.pq_samples),
	    COUNT("weight", quality.pq_weight),
	    FIXED("complete_stacks", quality.pq_complete, 6),
	    FIXED("unresolved", quality.pq_unresolved, 6),
	    FIXED("lost", quality.pq_lost, 6),
	    FIXED("sideband_lost", quality.pq_side_lost, 6),
	    FIXED("unaccounted", quality.pq_unaccounted, 6),
	    FIXED("throttled", quality.pq_throttled, 6),
	    FIXED("multiplexed", quality.pq_multiplexed, 6),
	    FLAG("is_bad", quality.pq_is_bad), TEXT("text", quality.pq_text));
	emit_close(em);
}

/* What has no rows of its own. */
static void
emit_folded(const struct report *report, struct emit *em)
{
	const struct report_table *table = &report->re_table;
	struct prof_quality quality = { 0 };
	const char *name, *part;

	if (table->ta_ncolumns > 0)
		prof_profile_quality(report->re_profile,
		    table->ta_column[0].co_event, &quality);
	emit_object(em, "folded");
	EMIT(em, FIXED("interpreter_share", quality.pq_folded, 6),
	    COUNT("idle_ns", report_idle_ns(report)));
	emit_close(em);
	emit_rows(em, "schedulers");
	for (size_t n = 0; (name = prof_profile_scheduler(report->re_profile,
	    n, &part)) != NULL; n++)
		EMIT_ROW(em, NULL, TEXT("name", name), TEXT("part", part));
	emit_close(em);
}

/* Of the whole: the share of samples whose innermost function is unnamed. */
static double
unresolved_of(const struct report *report)
{
	const struct report_table *table = &report->re_table;
	double part = 0, all = 0;
	struct prof_quality quality;

	for (size_t c = 0; c < table->ta_ncolumns; c++) {
		prof_profile_quality(report->re_profile,
		    table->ta_column[c].co_event, &quality);
		part += quality.pq_unresolved * (double)quality.pq_samples;
		all += (double)quality.pq_samples;
	}
	return (all == 0 ? -1 : part / all);
}

void
report_json(const struct report *report, const struct stats *stats,
    struct out *out)
{
	const struct report_table *table = &report->re_table;
	struct emit em;

	emit_json(&em, out);
	stats_json_begin(stats, &em);
	stats_json_quality(stats, &em, unresolved_of(report));
	emit_rows(&em, "quality_by_event");
	for (size_t c = 0; c < table->ta_ncolumns; c++)
		emit_quality(report, &em, table->ta_column[c].co_event);
	emit_close(&em);
	emit_folded(report, &em);
	stats_waits_identity(report->re_reader, &em);
	emit_rows(&em, table->ta_is_tree ? "tree" :
	    table->ta_by == BY_FUNCTION ? "functions" : "rows");
	emit_table(table, &em);
	emit_end(&em);
}
