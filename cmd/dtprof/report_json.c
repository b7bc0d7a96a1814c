/* SPDX-License-Identifier: ISC */
/*
 * report --json: what --stats --json shows, then the quality of the samples,
 * then the rows.  The names of members are a contract (dtprof(1)): added,
 * never renamed.  A function stands there once for each event; weights are
 * exact, shares and intervals from 0 to 1.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"

static void
member(struct out *out, const char *name, const char *text)
{
	if (text == NULL)
		return;
	out_fmt(out, "\"%s\":", name);
	out_json(out, text);
	out_char(out, ',');
}

static void
show_part(struct out *out, const struct report_column *column,
    const char *name, uint64_t weight)
{
	const struct report_share share = report_share(column, weight);

	out_fmt(out, "\"%s\":%" PRIu64 ",\"%s_share\":%.6f,\"%s_low\":%.6f,"
	    "\"%s_high\":%.6f,", name, weight, name, share.sh_value, name,
	    share.sh_low, name, share.sh_high);
}

/* "1234 name": the number. */
static void
show_id(struct out *out, const char *name, const char *text)
{
	if (text != NULL)
		out_fmt(out, "\"%s\":%lu,", name, strtoul(text, NULL, 10));
}

/* A counter's values for one of what its samples stand for. */
static void
show_ratio(const struct report_table *table, struct out *out,
    const struct report_row *row, size_t n)
{
	const struct report_column *column = report_column(table, row, n);
	const struct report_sum *sum = &table->ta_sum[row->rw_first + n];
	const struct report_sum *base = sum + (column->co_base - column);

	member(out, "ratio_to", column->co_base->co_info->pi_name);
	if (!table->ta_is_flow)
		out_fmt(out, "\"self_ratio\":%.9g,",
		    report_ratio(sum->su_self, base->su_self));
	out_fmt(out, "\"total_ratio\":%.9g,",
	    report_ratio(sum->su_total, base->su_total));
}

/* In the tree: which row it is, and which it is below. */
static void
show_place(const struct report_table *table, struct out *out,
    const struct report_row *row)
{
	out_fmt(out, "\"id\":%zu,\"parent\":", (size_t)(row -
	    table->ta_row));
	if (row->rw_parent == UINT32_MAX)
		out_str(out, "null");
	else
		out_fmt(out, "%" PRIu32, row->rw_parent);
	out_fmt(out, ",\"depth\":%" PRIu32 ",", row->rw_depth);
}

static void
show_args(const struct report_table *table, struct out *out,
    const struct report_row *row)
{
	const char *comma = "";

	if (table->ta_is_tree || (table->ta_by & BY_ARGS) == 0)
		return;
	out_str(out, "\"args\":{");
	for (size_t n = 0; n < table->ta_keys->rb_nargs; n++) {
		if (row->rw_arg[n] == NULL)
			continue;
		out_str(out, comma);
		out_json(out, table->ta_keys->rb_arg[n]);
		out_char(out, ':');
		out_json(out, row->rw_arg[n]);
		comma = ",";
	}
	out_str(out, "},");
}

static void
show_row(const struct report *report, struct out *out,
    const struct report_row *row, size_t n)
{
	const struct report_table *table = &report->re_table;
	const struct report_column *column = report_column(table, row, n);
	const struct report_sum *sum = &table->ta_sum[row->rw_first + n];

	out_char(out, '{');
	if (table->ta_is_tree)
		show_place(table, out, row);
	member(out, table->ta_by & BY_LINE && !row->rw_is_root ? "line" :
	    "name", row->rw_name);
	if (table->ta_by & BY_LINE && row->rw_function != NULL)
		member(out, "function", row->rw_function->fu_name);
	member(out, "module", row->rw_module);
	if (*report_kind(row) != '\0')
		member(out, "kind", report_kind(row));
	member(out, "comm", row->rw_comm);
	show_id(out, "pid", row->rw_pid);
	show_id(out, "tid", row->rw_tid);
	if (row->rw_cpu != NULL)
		show_id(out, "cpu", row->rw_cpu + sizeof("cpu ") - 1);
	member(out, "syscall", row->rw_call);
	show_args(table, out, row);
	member(out, "event", column->co_info->pi_name);
	if (table->ta_by & BY_PROBE)
		member(out, "probe", column->co_info->pi_probe);
	if (!table->ta_is_flow)
		show_part(out, column, "self", sum->su_self);
	show_part(out, column, "total", sum->su_total);
	if (column->co_base != NULL)
		show_ratio(table, out, row, n);
	out_fmt(out, "\"samples\":%" PRIu64 ",\"total_samples\":%" PRIu64 "}",
	    table->ta_is_flow ? sum->su_total_samples : sum->su_self_samples,
	    sum->su_total_samples);
}

static void
show_rows(const struct report *report, struct out *out)
{
	const struct report_table *table = &report->re_table;
	const struct report_row *row;
	bool any = false;

	out_fmt(out, ",\n\"%s\":[", table->ta_is_tree ? "tree" :
	    table->ta_by == BY_FUNCTION ? "functions" : "rows");
	for (size_t n = 0; n < table->ta_nrows; n++) {
		row = &table->ta_row[n];
		for (size_t c = 0; c < table->ta_per_row; c++) {
			if (table->ta_sum[row->rw_first +
			    c].su_total_samples == 0)
				continue;
			out_str(out, any ? ",\n" : "\n");
			show_row(report, out, row, c);
			any = true;
		}
	}
	out_char(out, ']');
}

static void
show_quality(const struct report *report, struct out *out,
    const struct prof_quality *quality, size_t event)
{
	out_str(out, "{");
	member(out, "event", prof_reader_event(report->re_reader,
	    event)->pi_name);
	out_fmt(out, "\"samples\":%" PRIu64 ",\"weight\":%" PRIu64
	    ",\"complete_stacks\":%.6f,\"unresolved\":%.6f,\"lost\":%.6f,"
	    "\"sideband_lost\":%.6f,"
	    "\"unaccounted\":%.6f,\"throttled\":%.6f,\"multiplexed\":%.6f,"
	    "\"is_bad\":%s,", quality->pq_samples, quality->pq_weight,
	    quality->pq_complete, quality->pq_unresolved, quality->pq_lost,
	    quality->pq_side_lost, quality->pq_hidden, quality->pq_throttled,
	    quality->pq_multiplexed, quality->pq_is_bad ? "true" : "false");
	out_str(out, "\"text\":");
	out_json(out, quality->pq_text);
	out_char(out, '}');
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
	struct prof_quality quality;

	stats_json_begin(stats, out);
	stats_json_quality(stats, out, unresolved_of(report));
	out_str(out, ",\n\"quality_by_event\":[");
	for (size_t c = 0; c < table->ta_ncolumns; c++) {
		out_str(out, c == 0 ? "\n" : ",\n");
		prof_profile_quality(report->re_profile,
		    table->ta_column[c].co_event, &quality);
		show_quality(report, out, &quality,
		    table->ta_column[c].co_event);
	}
	out_char(out, ']');
	show_rows(report, out);
	out_str(out, "}\n");
}
