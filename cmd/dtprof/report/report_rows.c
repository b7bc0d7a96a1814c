/* SPDX-License-Identifier: ISC */
/*
 * What a report shows in place of its functions: as text, as CSV, or as JSON
 * between the parts that each report has.
 *
 * Called by report_blocked.c, report_chains.c and report_spans.c.
 */
#include <unistd.h>

#include "../ui/terminal.h"
#include "report.h"

static void
rows_csv(const struct report_rows *rows, struct out *out)
{
	struct emit em;

	emit_csv(&em, out, rows->rr_columns, "\r\n");
	emit_head(&em);
	rows->rr_emit(rows->rr_arg, &em);
}

static int
rows_json(const struct report *report, const struct report_rows *rows,
    struct out *out)
{
	struct stats stats = { .st_reader = report->re_reader,
	    .st_path = report->re_path };
	struct emit em;
	int rv = stats_collect(&stats);

	if (rv == 0) {
		emit_json(&em, out);
		stats_json_begin(&stats, &em);
		stats_json_quality(&stats, &em, -1);
		emit_rows(&em, rows->rr_name);
		rows->rr_emit(rows->rr_arg, &em);
		emit_end(&em);
	}
	stats_free(&stats);
	return (rv);
}

int
report_rows(const struct report *report, const struct report_rows *rows,
    enum report_form form, int color)
{
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	struct out out;
	int rv = 0;

	if (form == REPORT_TEXT)
		terminal_begin(&terminal, color);
	out_init(&out, terminal.te_fd);
	if (form == REPORT_JSON)
		rv = rows_json(report, rows, &out);
	else if (form == REPORT_CSV)
		rows_csv(rows, &out);
	else
		rows->rr_text(rows->rr_arg, &out, &terminal);
	return (terminal_end(&terminal, "report", rv == -1 ? EXIT_FAILED :
	    out_end(&out, "report")));
}
