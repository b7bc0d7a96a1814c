/* SPDX-License-Identifier: ISC */
/*
 * dtprof stat --span: a row for each kind of spans.
 *
 *	span       count  open  orphan  lost   total      avg      p50 ...
 *	request    20000     2       0     0  64.2 s  3.21 ms  2.10 ms ...
 *
 * and one for each counter of --with in them.
 *
 * Called by by.c, by_text.c and by_data.c.
 */
#include <inttypes.h>
#include <string.h>

#include "../opt/spans.h"
#include "../ui/table.h"
#include "by.h"

static size_t
kinds_of(const struct by *by)
{
	return (by->by_spans == NULL ? 0 : prof_spans_nkinds(by->by_spans));
}

static struct prof_span_kind
kind_of(const struct by *by, size_t n)
{
	struct prof_span_kind kind;

	prof_spans_live_kind(by->by_spans, n, by->by_is_interval, &kind);
	return (kind);
}

int
by_spans_account(struct by *by)
{
	struct prof_session *session = by->by_session;
	struct prof_accounting pa;
	size_t e = by->by_nevents + 1;

	if (by->by_spans == NULL)
		return (0);
	for (; prof_session_event(session, e) != NULL; e++) {
		if (prof_session_account(session, e, &pa) == -1)
			return (msg_prof("stat", prof_session_error(session)));
		prof_spans_live_account(by->by_spans, e, &pa);
	}
	/* Behind them is the first counter, which has it for all. */
	if (by->by_options->co_with.os_n == 0)
		return (0);
	if (prof_session_account(session, e, &pa) == -1)
		return (msg_prof("stat", prof_session_error(session)));
	by->by_unread = prof_accounting_lost(&pa);
	return (0);
}

/* --------------------------------------------------------------- people */

static void
put_time(struct table *tb, uint64_t count, uint64_t ns)
{
	char text[32];

	weight_time(text, sizeof(text), ns);
	table_cell(tb, "%s", count == 0 ? "-" : text);
}

static void
put_row(struct table *tb, const void *arg, size_t n)
{
	const struct prof_span_kind kind = kind_of(arg, n);
	const uint64_t count = kind.sk_count;

	table_text(tb, kind.sk_name);
	table_cell(tb, "%" PRIu64, count);
	table_cell(tb, "%" PRIu64, kind.sk_open);
	table_cell(tb, "%" PRIu64, kind.sk_orphan);
	table_cell(tb, "%" PRIu64, spans_lost(&kind));
	put_time(tb, count, kind.sk_total_ns);
	put_time(tb, count, count == 0 ? 0 : kind.sk_total_ns / count);
	put_time(tb, count, kind.sk_p50_ns);
	put_time(tb, count, kind.sk_p90_ns);
	put_time(tb, count, kind.sk_p99_ns);
	put_time(tb, count, kind.sk_max_ns);
}

/* A row for each span name and counter, those of a name together. */
static size_t
counters_of(const struct by *by)
{
	struct prof_span_counter counter;
	size_t n = 0;

	while (prof_spans_live_counter(by->by_spans, 0, n, false, &counter))
		n++;
	return (n);
}

static void
put_counter(struct table *tb, const void *arg, size_t n)
{
	const struct by *by = arg;
	const size_t of = n / counters_of(by);
	const struct prof_span_kind kind = kind_of(by, of);
	struct prof_span_counter counter;

	(void)prof_spans_live_counter(by->by_spans, of, n % counters_of(by),
	    by->by_is_interval, &counter);
	table_text(tb, kind.sk_name);
	table_text(tb, counter.sr_name);
	table_cell(tb, "%" PRIu64, counter.sr_count);
	if (counter.sr_spans == 0)
		table_cell(tb, "-");
	else
		table_cell(tb, "%.4g", (double)counter.sr_count /
		    (double)counter.sr_spans);
	table_cell(tb, "%" PRIu64, counter.sr_spans);
}

static void
counters_text(const struct by *by, struct out *out)
{
	struct table_column columns[] = {
		{ .tc_title = "span", .tc_gap = 1, .tc_is_left = true },
		{ .tc_title = "counter", .tc_gap = 2, .tc_is_left = true },
		{ .tc_title = "count", .tc_gap = 2, .tc_least = 6 },
		{ .tc_title = "per span", .tc_gap = 2 },
		{ .tc_title = "spans", .tc_gap = 2 }
	};
	struct table table = { .tb_out = out, .tb_column = columns,
	    .tb_ncolumns = sizeof(columns) / sizeof(columns[0]) };

	if (counters_of(by) == 0)
		return;
	out_char(out, '\n');
	table_show(&table, kinds_of(by) * counters_of(by), put_counter, by);
}

void
by_spans_text(const struct by *by, struct out *out)
{
	struct table_column columns[] = {
		{ .tc_title = "span", .tc_gap = 1, .tc_is_left = true },
		{ .tc_title = "count", .tc_gap = 2, .tc_least = 6 },
		{ .tc_title = "open", .tc_gap = 2 },
		{ .tc_title = "orphan", .tc_gap = 2 },
		{ .tc_title = "lost", .tc_gap = 2 },
		{ .tc_title = "total", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "avg", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "p50", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "p90", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "p99", .tc_gap = 2, .tc_least = 7 },
		{ .tc_title = "max", .tc_gap = 2, .tc_least = 7 }
	};
	struct table table = { .tb_out = out, .tb_column = columns,
	    .tb_ncolumns = sizeof(columns) / sizeof(columns[0]) };

	if (kinds_of(by) == 0)
		return;
	if (by->by_nevents == 0) {
		by_when(by, out);
		out_char(out, '\n');
	}
	out_char(out, '\n');
	table_show(&table, kinds_of(by), put_row, by);
	out_str(out, by->by_is_interval ? "quantiles and max" : "quantiles");
	out_str(out, " are at most 3.2% too high\n");
	counters_text(by, out);
}

/* They are one group, and multiplexed with others. */
static void
counters_doubt(const struct by *by, size_t n, const char *name)
{
	struct prof_span_counter counter;

	if (prof_spans_live_counter(by->by_spans, n, 0, false, &counter) &&
	    counter.sr_running < 1)
		msg_warning("stat", "span %s: counters counted for %.1f%% of "
		    "the time in spans, and are not scaled", name,
		    100 * counter.sr_running);
}

void
by_spans_warn(const struct by *by)
{
	for (size_t n = 0; n < kinds_of(by); n++) {
		const struct prof_span_kind kind = kind_of(by, n);

		spans_doubt("stat", &kind);
		counters_doubt(by, n, kind.sk_name);
	}
	if (by->by_unread > 0)
		msg_warning("stat", "counters could not be read %" PRIu64
		    " times: counts in spans may be too low", by->by_unread);
}

/* ------------------------------------------------------------- programs */

static void
emit_counters(const struct by *by, struct emit *em)
{
	struct prof_span_counter counter;

	emit_rows(em, "span_counters");
	for (size_t n = 0; n < kinds_of(by); n++) {
		const struct prof_span_kind kind = kind_of(by, n);

		for (size_t i = 0; prof_spans_live_counter(by->by_spans, n, i,
		    false, &counter); i++)
			EMIT_ROW(em, NULL, TEXT("span", kind.sk_name),
			    TEXT("counter", counter.sr_name),
			    COUNT("count", counter.sr_count),
			    COUNT("spans", counter.sr_spans),
			    FIXED("running_share", counter.sr_running, 6));
	}
	emit_close(em);
}

void
by_spans_json(const struct by *by, struct emit *em)
{
	if (kinds_of(by) == 0)
		return;
	emit_close(em);
	emit_rows(em, "spans");
	for (size_t n = 0; n < kinds_of(by); n++) {
		const struct prof_span_kind kind = kind_of(by, n);

		spans_emit(&kind, false, em);
	}
	emit_close(em);
	emit_counters(by, em);
}

static void
begin_csv(struct by *by, struct emit *em)
{
	static const char *const columns[] = { "time_s", "span", "count",
	    "open", "orphan", "lost", "total_ns", "p50_ns", "p90_ns", "p99_ns",
	    "max_ns", NULL };

	emit_csv(em, &by->by_out, columns, "\n");
}

void
by_spans_csv_head(struct by *by)
{
	struct emit em;

	begin_csv(by, &em);
	emit_head(&em);
}

void
by_spans_csv(struct by *by)
{
	struct emit em;

	begin_csv(by, &em);
	for (size_t n = 0; n < kinds_of(by); n++) {
		const struct prof_span_kind kind = kind_of(by, n);
		const bool is_known = kind.sk_count > 0;

		EMIT_ROW(&em, NULL,
		    FIXED("time_s", by->by_status.ps_elapsed_s, 9),
		    TEXT("span", kind.sk_name),
		    COUNT("count", kind.sk_count),
		    COUNT("open", kind.sk_open),
		    COUNT("orphan", kind.sk_orphan),
		    COUNT("lost", spans_lost(&kind)),
		    COUNT("total_ns", kind.sk_total_ns),
		    KNOWN(is_known, COUNT("p50_ns", kind.sk_p50_ns)),
		    KNOWN(is_known, COUNT("p90_ns", kind.sk_p90_ns)),
		    KNOWN(is_known, COUNT("p99_ns", kind.sk_p99_ns)),
		    KNOWN(is_known, COUNT("max_ns", kind.sk_max_ns)));
	}
}
