/* SPDX-License-Identifier: ISC */
/*
 * report --by span: of each kind of spans that record --span defined, how many
 * there were, what is not known of others, and how long they took.
 *
 * Called by cmd_report.c.  What is lost is known exactly, and stands in the
 * table; what makes durations uncertain is said below it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../opt/spans.h"
#include "../ui/table.h"
#include "report.h"

#define NQUANTILES	4

static void
put_time(struct table *tb, const struct prof_span_kind *kind, uint64_t ns)
{
	char text[32];

	weight_time(text, sizeof(text), ns);
	table_cell(tb, "%s", kind->sk_count == 0 ? "-" : text);
}

/* Of all spans; "-": it was not recorded. */
static void
put_sum(struct table *tb, const struct prof_span_kind *kind, uint64_t ns)
{
	char text[32];

	weight_time(text, sizeof(text), ns);
	table_cell(tb, "%s", kind->sk_has_times ? text : "-");
}

static void
span_row(struct table *tb, const void *arg, size_t n)
{
	const struct prof_span_kind *kind = prof_spans_kind(arg, n);

	table_text(tb, kind->sk_name);
	table_cell(tb, "%" PRIu64, kind->sk_count);
	table_cell(tb, "%" PRIu64, kind->sk_open);
	table_cell(tb, "%" PRIu64, kind->sk_orphan);
	table_cell(tb, "%" PRIu64, spans_lost(kind));
	put_time(tb, kind, kind->sk_p50_ns);
	put_time(tb, kind, kind->sk_p90_ns);
	put_time(tb, kind, kind->sk_p99_ns);
	put_time(tb, kind, kind->sk_max_ns);
	put_sum(tb, kind, kind->sk_running_ns);
	put_sum(tb, kind, kind->sk_not_running_ns);
}

static void
ambiguous_note(const struct prof_span_kind *kind, struct out *out)
{
	char text[32];

	if (kind->sk_ambiguous_ns == 0)
		return;
	weight_time(text, sizeof(text), kind->sk_ambiguous_ns);
	out_fmt(out, "note: %s: %s of span time is in neither column, "
	    "'running' or 'not running': a thread was in several spans at "
	    "once, or a span is open, was lost, or ended in another thread\n",
	    kind->sk_name, text);
}

static void
spans_text(const void *arg, struct out *out, const struct terminal *terminal)
{
	const struct prof_spans *spans = arg;
	struct table_column columns[] = {
		{ .tc_title = "span", .tc_is_left = true, .tc_is_name = true },
		{ .tc_title = "count", .tc_gap = 2, .tc_least = 6 },
		{ .tc_title = "open", .tc_gap = 2, .tc_drop = 4 },
		{ .tc_title = "orphan", .tc_gap = 2, .tc_drop = 3 },
		{ .tc_title = "lost", .tc_gap = 2 },
		{ .tc_title = "p50", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "p90", .tc_gap = 2, .tc_least = 7, .tc_drop = 1 },
		{ .tc_title = "p99", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "max", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "running", .tc_gap = 2 },
		{ .tc_title = "not running", .tc_gap = 2, .tc_drop = 2 }
	};
	struct table tb = { .tb_out = out, .tb_column = columns,
	    .tb_terminal = terminal->te_width == 0 ? NULL : terminal,
	    .tb_ncolumns = sizeof(columns) / sizeof(columns[0]) };

	table_show(&tb, prof_spans_nkinds(spans), span_row, spans);
	for (size_t n = 0; n < prof_spans_nkinds(spans); n++)
		ambiguous_note(prof_spans_kind(spans, n), out);
}

static void
emit_spans(const void *arg, struct emit *em)
{
	const struct prof_span_kind *kind;

	for (size_t n = 0; (kind = prof_spans_kind(arg, n)) != NULL; n++)
		spans_emit(kind, true, em);
}

static const char *const span_columns[] = {
	"name", "key", "count", "open", "orphan", "ambiguous", "samples",
	"lost", "lost_begins", "lost_ends", "unpaired_begins",
	"unpaired_ends", "missed", "late", "total_ns", "p50_ns", "p90_ns",
	"p99_ns", "max_ns", "inside_ns", "running_ns", "not_running_ns",
	"ambiguous_ns", "difference_ns", "gaps", "clockless", NULL
};

int
report_spans(const struct report *report, enum report_form form, int color)
{
	struct prof_err error = { 0 };
	struct prof_spans *spans = prof_spans_new(report->re_reader, &error);
	const struct report_rows rows = { "spans", span_columns, spans,
	    spans_text, emit_spans };
	const struct prof_span_kind *kind;
	int status = EXIT_FAILED;

	input_say_cut("report", report->re_reader);
	if (spans == NULL)
		msg_prof("report", &error);
	else if (prof_spans_nkinds(spans) == 0)
		msg_error("report", "the recording has no spans",
		    "record spans with dtprof record --span NAME=BEGIN,END");
	else if (prof_spans_count(spans) == -1)
		msg_prof("report", prof_reader_error(report->re_reader));
	else {
		for (size_t n = 0; (kind = prof_spans_kind(spans, n)) != NULL;
		    n++)
			spans_doubt("report", kind);
		status = report_rows(report, &rows, form, color);
	}
	prof_spans_free(spans);
	return (status);
}
