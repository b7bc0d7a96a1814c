/* SPDX-License-Identifier: ISC */
/*
 * report --stats: which samples have no name, and which user stacks end before
 * their entry, by reason and by module, the worst first.  Each sample in the
 * file counts once in the first sum: resolved, without a pc, or one of the
 * reasons.  The second is of user stacks alone, by the module in which they
 * end.  Looks at every sample again, with symbols.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define MAX_ROWS	256	/* modules beyond are one row, "others" */
#define MAX_TEXT	8

/* One more of this reason and module. */
static void
row_count(struct stats_rows *rows, unsigned why, const char *module)
{
	struct stats_row *row = NULL;
	size_t n;

	rows->sr_sum++;
	for (n = 0; n < rows->sr_n; n++) {
		row = &rows->sr_row[n];
		if (row->ro_why == why && strcmp(row->ro_module, module) == 0)
			break;
	}
	if (n == rows->sr_n && n < MAX_ROWS) {
		row = &rows->sr_row[rows->sr_n++];
		row->ro_why = why;
		row->ro_module = module;
	} else if (n == rows->sr_n) {
		rows->sr_others++;
		return;
	}
	row->ro_samples++;
}

static const struct prof_function *
function_at(struct stats_names *names, const struct prof_record *record,
    const struct prof_frame *frame)
{
	uint32_t space = prof_symbols_space(names->sn_symbols,
	    record->pr_pid, record->pr_time_ns);

	return (prof_symbols_function(names->sn_symbols,
	    prof_symbols_find(names->sn_symbols, space, frame)));
}

static void
sample_count(struct stats_names *names, const struct prof_record *record)
{
	const struct prof_function *fu;
	const uint32_t last = record->pr_nuser - 1;
	struct prof_frame frame = { record->pr_ip, record->pr_in_kernel ?
	    PROF_FRAME_KERNEL : PROF_FRAME_NATIVE, 0 };

	names->sn_samples++;
	if (record->pr_nkernel > 0) {
		frame.fr_id = record->pr_kernel[0];
		frame.fr_kind = PROF_FRAME_KERNEL;
	} else if (record->pr_nuser > 0) {
		frame.fr_id = record->pr_user[0];
		frame.fr_kind = PROF_FRAME_NATIVE;
	}
	if (record->pr_nkernel == 0 && record->pr_nscript > 0)
		(void)prof_record_stack(names->sn_symbols, record,
		    PROF_FRAMES_ALL, &frame, 1);
	if (frame.fr_id == 0 && frame.fr_kind <= PROF_FRAME_KERNEL) {
		names->sn_without++;
	} else {
		fu = function_at(names, record, &frame);
		if (fu->fu_unnamed == PROF_NAMED)
			names->sn_resolved++;
		else
			row_count(&names->sn_unresolved, fu->fu_unnamed,
			    fu->fu_module);
	}
	if (record->pr_ustatus == PROF_STACK_NONE)
		return;
	names->sn_stacks++;
	if (record->pr_ustatus == PROF_STACK_OK)
		return;
	fu = record->pr_nuser == 0 ? NULL : function_at(names, record,
	    &(struct prof_frame){ record->pr_user[last], PROF_FRAME_NATIVE,
	    last > 0 ? PROF_FRAME_RETURN : 0 });
	row_count(&names->sn_truncated, record->pr_ustatus,
	    fu == NULL ? "" : fu->fu_module);
}

static int
rows_compare(const void *a, const void *b)
{
	const struct stats_row *ra = a, *rb = b;

	if (ra->ro_samples != rb->ro_samples)
		return (ra->ro_samples > rb->ro_samples ? -1 : 1);
	if (ra->ro_why != rb->ro_why)
		return (ra->ro_why < rb->ro_why ? -1 : 1);
	return (strcmp(ra->ro_module, rb->ro_module));
}

int
stats_names_collect(struct stats_names *names, struct prof_reader *reader)
{
	const struct prof_record *record;
	struct prof_err error;
	int rv;

	names->sn_unresolved.sr_row = calloc(MAX_ROWS,
	    sizeof(struct stats_row));
	names->sn_truncated.sr_row = calloc(MAX_ROWS,
	    sizeof(struct stats_row));
	if (names->sn_unresolved.sr_row == NULL ||
	    names->sn_truncated.sr_row == NULL)
		return (msg_error("report", "out of memory", "free memory"));
	names->sn_symbols = prof_symbols_open(reader, NULL, &error);
	if (names->sn_symbols == NULL)
		return (msg_prof("report", &error));
	(void)prof_reader_rewind(reader);
	while ((rv = prof_reader_borrow(reader, &record)) == 1)
		if (record->pr_type == PROF_R_SAMPLE)
			sample_count(names, record);
	if (rv == -1)
		msg_prof("report", prof_reader_error(reader));
	qsort(names->sn_unresolved.sr_row, names->sn_unresolved.sr_n,
	    sizeof(struct stats_row), rows_compare);
	qsort(names->sn_truncated.sr_row, names->sn_truncated.sr_n,
	    sizeof(struct stats_row), rows_compare);
	return (rv);
}

void
stats_names_free(struct stats_names *names)
{
	free(names->sn_unresolved.sr_row);
	free(names->sn_truncated.sr_row);
	if (names->sn_symbols != NULL)
		prof_symbols_close(names->sn_symbols);
}

/* The words of script --json. */
static const char *
reason_name(const struct stats_row *row, bool is_stack)
{
	return (is_stack ? prof_stack_status_name(row->ro_why) :
	    prof_unnamed_name(row->ro_why));
}

/* ----------------------------------------------------------- text */

static void
show_rows(struct out *out, const struct stats_rows *rows, uint64_t all,
    bool is_stack)
{
	const struct stats_row *row;
	uint64_t rest = rows->sr_sum;
	size_t n;

	for (n = 0; n < rows->sr_n && n < MAX_TEXT; n++) {
		row = &rows->sr_row[n];
		rest -= row->ro_samples;
		out_fmt(out, "  %7.3f%% %10" PRIu64 "  %-10s", 100 *
		    (double)row->ro_samples / (double)all, row->ro_samples,
		    reason_name(row, is_stack));
		OUT(out, " ", row->ro_module[0] == '\0' ? "-" :
		    row->ro_module, "\n");
	}
	if (rest > 0)
		out_fmt(out, "  %7.3f%% %10" PRIu64 "  others\n", 100 *
		    (double)rest / (double)all, rest);
}

void
stats_names_text(const struct stats_names *names, struct out *out)
{
	const uint64_t all = names->sn_samples;

	if (all > 0) {
		out_fmt(out, "\naddresses of %" PRIu64 " samples: %" PRIu64 " "
		    "resolved, %" PRIu64 " without a program counter, %" PRIu64
		    " unresolved\n", all, names->sn_resolved,
		    names->sn_without, names->sn_unresolved.sr_sum);
		show_rows(out, &names->sn_unresolved, all, false);
	}
	if (names->sn_stacks == 0)
		return;
	out_fmt(out, "\nuser stacks of %" PRIu64 " samples: %" PRIu64 " "
	    "complete, %" PRIu64 " truncated; grouped by where the stack "
	    "ends\n",
	    names->sn_stacks,
	    names->sn_stacks - names->sn_truncated.sr_sum,
	    names->sn_truncated.sr_sum);
	show_rows(out, &names->sn_truncated, names->sn_stacks, true);
}

/* ----------------------------------------------------------- JSON */

static void
emit_reasons(struct emit *em, const char *name, const struct stats_rows *rows,
    bool is_stack)
{
	const struct stats_row *row;
	char others[32], by[32];

	snprintf(others, sizeof(others), "%s_others", name);
	snprintf(by, sizeof(by), "%s_by", name);
	EMIT(em, COUNT(name, rows->sr_sum), COUNT(others, rows->sr_others));
	emit_list(em, by);
	for (size_t n = 0; n < rows->sr_n; n++) {
		row = &rows->sr_row[n];
		EMIT_ROW(em, NULL, WORD("reason", reason_name(row, is_stack)),
		    TEXT("module", row->ro_module),
		    COUNT("samples", row->ro_samples));
	}
	emit_close(em);
}

void
stats_names_json(const struct stats_names *names, struct emit *em)
{
	emit_line(em);
	emit_object(em, "symbols");
	EMIT(em, COUNT("samples", names->sn_samples),
	    COUNT("resolved", names->sn_resolved),
	    COUNT("without_pc", names->sn_without));
	emit_reasons(em, "unresolved", &names->sn_unresolved, false);
	EMIT(em, COUNT("user_stacks", names->sn_stacks));
	emit_reasons(em, "truncated", &names->sn_truncated, true);
	emit_close(em);
}
