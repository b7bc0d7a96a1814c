/* SPDX-License-Identifier: ISC */
/*
 * report --csv: a line for each row and event, as RFC 4180 has it, with a
 * line of names first.  Columns that only some reports have are the last.
 */
#include <inttypes.h>

#include "report.h"

static void
field(struct out *out, const char *text)
{
	out_csv(out, text != NULL ? text : "");
	out_char(out, ',');
}

static void
show_part(struct out *out, const struct report_column *column,
    uint64_t weight, uint64_t samples)
{
	const struct report_share share = report_share(column, weight);

	out_fmt(out, "%" PRIu64 ",%.6f,%.6f,%.6f,%" PRIu64, weight,
	    share.sh_value, share.sh_low, share.sh_high, samples);
}

/* Of callers, callees, threads and the like there is no self. */
static void
show_self(struct out *out, const struct report_table *table,
    const struct report_column *column, const struct report_sum *sum)
{
	if (table->ta_is_flow)
		out_str(out, ",,,,");
	else
		show_part(out, column, sum->su_self, sum->su_self_samples);
	out_char(out, ',');
}

static void
show_more_names(struct out *out, const struct report_table *table)
{
	if (table->ta_is_tree) {
		out_str(out, ",depth");
		return;
	}
	if (table->ta_by & BY_SYSCALL)
		out_str(out, ",syscall");
	for (size_t n = 0; n < table->ta_keys->rb_nargs; n++) {
		out_char(out, ',');
		out_csv(out, table->ta_keys->rb_arg[n]);
	}
}

static void
show_more(struct out *out, const struct report_table *table,
    const struct report_row *row)
{
	if (table->ta_is_tree) {
		out_fmt(out, ",%" PRIu32, row->rw_depth);
		return;
	}
	if (table->ta_by & BY_SYSCALL) {
		out_char(out, ',');
		out_csv(out, row->rw_call != NULL ? row->rw_call : "");
	}
	for (size_t n = 0; n < table->ta_keys->rb_nargs; n++) {
		out_char(out, ',');
		out_csv(out, row->rw_arg[n] != NULL ? row->rw_arg[n] : "");
	}
}

void
report_csv(const struct report *report, struct out *out)
{
	const struct report_table *table = &report->re_table;
	const struct report_column *column;
	const struct report_row *row;
	const struct report_sum *sum;

	out_str(out, "event,unit,comm,pid,tid,cpu,name,module,self,self_share,"
	    "self_low,self_high,self_samples,total,total_share,total_low,"
	    "total_high,total_samples");
	show_more_names(out, table);
	out_str(out, "\r\n");
	for (size_t n = 0; n < table->ta_nrows; n++) {
		row = &table->ta_row[n];
		for (size_t c = 0; c < table->ta_per_row; c++) {
			column = report_column(table, row, c);
			sum = &table->ta_sum[row->rw_first + c];
			field(out, column->co_info->pi_name);
			field(out, column->co_info->pi_unit);
			field(out, row->rw_comm);
			field(out, row->rw_pid);
			field(out, row->rw_tid);
			field(out, row->rw_cpu);
			field(out, row->rw_name);
			field(out, row->rw_module);
			show_self(out, table, column, sum);
			show_part(out, column, sum->su_total,
			    sum->su_total_samples);
			show_more(out, table, row);
			out_str(out, "\r\n");
		}
	}
}
