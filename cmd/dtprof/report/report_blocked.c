/* SPDX-License-Identifier: ISC */
/*
 * report --by lock,holder: how long threads waited for each lock, which thread
 * held it, and what that thread did meanwhile.
 *
 * Called by cmd_report.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/table.h"
#include "report.h"

static const char *const states[PROF_BLOCKED_NSTATES] = {
	"running", "runnable", "blocked"
};

struct shown {
	const struct prof_blocked *sw_blocked;
	uint64_t	 sw_total_ns;
	size_t		 sw_nrows;	/* within --limit */
};

static bool
has_one(const struct report_by *by, const char *name)
{
	for (size_t n = 0; n < by->rb_nargs; n++)
		if (strcmp(by->rb_arg[n], name) == 0)
			return (true);
	return (false);
}

bool
report_is_blocked(const struct report_by *by)
{
	return (by->rb_set == BY_ARGS && by->rb_nargs == 2 &&
	    has_one(by, "lock") && has_one(by, "holder"));
}

static double
share_of(uint64_t part, uint64_t whole)
{
	return (whole == 0 ? 0 : (double)part / (double)whole);
}

/* -------------------------------------------------------------- text */

/* "worker-3 812: blocked in reload_config 96%, running in parse 3%" */
static void
holder_text(FILE *stream, const struct prof_blocked_row *row)
{
	const char *before = ": ";

	fputs(row->bl_holder, stream);
	for (size_t n = 0; n < row->bl_nparts && n < 2; n++) {
		const struct prof_blocked_part *part = &row->bl_part[n];

		fprintf(stream, "%s%s", before, states[part->bp_state]);
		if (part->bp_function != NULL)
			fprintf(stream, " in %s", part->bp_function->fu_name);
		fprintf(stream, " %.0f%%", 100 * share_of(part->bp_ns,
		    row->bl_meanwhile_ns));
		before = ", ";
	}
}

static void
blocked_row(struct table *tb, const void *arg, size_t n)
{
	const struct shown *shown = arg;
	const struct prof_blocked_row *row = prof_blocked_row(
	    shown->sw_blocked, n);
	char *text = NULL, ns[32];
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	weight_time(ns, sizeof(ns), row->bl_ns);
	table_cell(tb, "%.2f", 100 * share_of(row->bl_ns,
	    shown->sw_total_ns));
	table_cell(tb, "%s", ns);
	table_cell(tb, "%" PRIu64, row->bl_waits);
	table_cell(tb, "%zu", row->bl_nwaiters);
	table_cell(tb, "%" PRIu32, row->bl_pid);
	table_text(tb, row->bl_lock);
	if (stream != NULL) {
		holder_text(stream, row);
		if (fclose(stream) == 0)
			table_text(tb, text);
	}
	free(text);
}

static void
blocked_text(const void *arg, struct out *out, const struct terminal *terminal)
{
	const struct shown *shown = arg;
	struct table_column columns[] = {
		{ .tc_title = "share%", .tc_least = 6 },
		{ .tc_title = "time", .tc_gap = 2, .tc_least = 8 },
		{ .tc_title = "waits", .tc_gap = 2, .tc_drop = 2 },
		{ .tc_title = "waiters", .tc_gap = 2 },
		{ .tc_title = "pid", .tc_gap = 2, .tc_drop = 1 },
		{ .tc_title = "lock", .tc_gap = 2, .tc_is_left = true,
		    .tc_is_name = true },
		{ .tc_title = "holder, and what it did meanwhile",
		    .tc_gap = 2, .tc_is_left = true }
	};
	struct table tb = { .tb_out = out, .tb_column = columns,
	    .tb_terminal = terminal->te_width == 0 ? NULL : terminal,
	    .tb_ncolumns = sizeof(columns) / sizeof(columns[0]) };

	table_show(&tb, shown->sw_nrows, blocked_row, shown);
}

/* ------------------------------------------------------ for programs */

/* Of no part: its state is not known. */
static void
emit_part(struct emit *em, const struct prof_blocked_part *part)
{
	if (part == NULL) {
		EMIT(em, UNKNOWN("state"), UNKNOWN("function"),
		    COUNT("part_ns", 0));
		return;
	}
	EMIT(em, WORD("state", states[part->bp_state]),
	    TEXT("function", part->bp_function == NULL ? NULL :
	    part->bp_function->fu_name), COUNT("part_ns", part->bp_ns));
}

/* CSV has what the holder did for most of the time. */
static void
emit_parts(struct emit *em, const struct prof_blocked_row *row)
{
	if (em->em_is_csv) {
		emit_part(em, row->bl_nparts > 0 ? row->bl_part : NULL);
		return;
	}
	emit_list(em, "meanwhile");
	for (size_t n = 0; n < row->bl_nparts; n++) {
		emit_object(em, NULL);
		emit_part(em, &row->bl_part[n]);
		emit_close(em);
	}
	emit_close(em);
}

static void
emit_blocked(const void *arg, struct emit *em)
{
	const struct shown *shown = arg;
	const struct prof_blocked_row *row;

	for (size_t n = 0; n < shown->sw_nrows; n++) {
		row = prof_blocked_row(shown->sw_blocked, n);
		emit_object(em, NULL);
		EMIT(em, COUNT("pid", row->bl_pid), TEXT("lock", row->bl_lock),
		    TEXT("holder", row->bl_holder),
		    COUNT("time_ns", row->bl_ns),
		    COUNT("waits", row->bl_waits),
		    COUNT("waiters", row->bl_nwaiters),
		    COUNT("meanwhile_ns", row->bl_meanwhile_ns));
		emit_parts(em, row);
		emit_close(em);
	}
}

static const char *const blocked_columns[] = {
	"pid", "lock", "holder", "time_ns", "waits", "waiters",
	"meanwhile_ns", "state", "function", "part_ns", NULL
};

int
report_blocked(struct report *report, const struct report_waits *rw)
{
	struct prof_err error = { 0 };
	struct shown shown = { 0 };
	const struct report_rows rows = { "blocked_by", blocked_columns,
	    &shown, blocked_text, emit_blocked };
	struct prof_blocked *blocked;
	const struct prof_blocked_row *row;
	int status = EXIT_FAILED;

	input_say_cut("report", report->re_reader);
	report->re_symbols = prof_symbols_open(report->re_reader, NULL,
	    &error);
	blocked = report->re_symbols == NULL ? NULL : prof_blocked_new(
	    report->re_reader, report->re_symbols, rw->rw_options, &error);
	if (blocked == NULL)
		return (msg_prof("report", &error), EXIT_FAILED);
	shown.sw_blocked = blocked;
	shown.sw_nrows = prof_blocked_nrows(blocked);
	for (size_t n = 0; (row = prof_blocked_row(blocked, n)) != NULL; n++)
		shown.sw_total_ns += row->bl_ns;
	if (shown.sw_nrows == 0)
		msg_note("report", "no sample is a wait for a lock");
	else
		choose_say_part("report", report->re_reader,
		    "what holders did includes");
	if (shown.sw_nrows > rw->rw_limit)
		shown.sw_nrows = rw->rw_limit;
	status = report_rows(report, &rows, rw->rw_form, rw->rw_color);
	prof_blocked_free(blocked);
	return (status);
}
