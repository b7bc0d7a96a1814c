/* SPDX-License-Identifier: ISC */
/*
 * An annotated function for programs: as JSON, with the text around what was
 * sampled, and as CSV, a line for each row and event that has samples.  The
 * names of members and columns are a contract (dtprof(1)): added, never
 * renamed.
 *
 * Called by cmd_annotate.c.
 */
#include <inttypes.h>

#include "annotate.h"

static void
show_text(struct out *out, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	out_fmt(out, ",\"%s\":", name);
	out_json(out, text);
}

/* Of two recordings, whose figures these are; NULL: there is just one. */
static const char *
side_of(const struct annotate *an, size_t c)
{
	return (an->an_base == NULL ? NULL : c % 2 == 0 ? "base" : "new");
}

static void
show_sums(const struct annotate *an, const struct an_row *row,
    struct out *out)
{
	const struct an_column *column;
	const struct an_sum *sum;
	bool any = false;

	out_str(out, ",\"events\":[");
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		column = &an->an_column[c];
		sum = annotate_sum_of(an, row, c);
		if (sum == NULL)
			continue;
		out_str(out, any ? ",{\"event\":" : "{\"event\":");
		out_json(out, column->ac_info->pi_name);
		show_text(out, "recording", side_of(an, c));
		out_fmt(out, ",\"weight\":%" PRIu64 ",\"share\":%.6f,"
		    "\"samples\":%" PRIu64 "}", sum->as_weight,
		    annotate_part(sum, column->ac_sum.as_weight),
		    sum->as_samples);
		any = true;
	}
	out_str(out, "]}");
}

static const char *
kind_of(const struct an_row *row)
{
	return (row->ar_kind == AN_CODE ? "code" : "source");
}

static void
show_row(const struct annotate *an, const struct an_row *row,
    const char *file, struct out *out)
{
	out_fmt(out, "{\"kind\":\"%s\",\"hot\":%s", kind_of(row),
	    row->ar_is_hot ? "true" : "false");
	if (row->ar_kind == AN_CODE)
		out_fmt(out, ",\"address\":%" PRIu64, row->ar_number);
	else if (row->ar_number > 0)
		out_fmt(out, ",\"line\":%" PRIu64, row->ar_number);
	show_text(out, row->ar_kind == AN_CODE ? "module" : "file", file);
	show_text(out, "text", row->ar_text);
	show_text(out, "inlined_at", row->ar_chain);
	show_sums(an, row, out);
}

static void
show_column(const struct annotate *an, size_t c, struct out *out)
{
	const struct an_column *column = &an->an_column[c];
	struct prof_quality quality;

	prof_profile_quality(annotate_side(an, c)->an_profile,
	    column->ac_event, &quality);
	out_str(out, "{\"event\":");
	out_json(out, column->ac_info->pi_name);
	show_text(out, "recording", side_of(an, c));
	out_str(out, ",\"unit\":");
	out_json(out, column->ac_info->pi_unit);
	out_fmt(out, ",\"weight\":%" PRIu64 ",\"share\":%.6f,\"samples\":%"
	    PRIu64 ",\"is_bad\":%s,\"quality\":", column->ac_sum.as_weight,
	    annotate_part(&column->ac_sum, column->ac_all),
	    column->ac_sum.as_samples, quality.pq_is_bad ? "true" : "false");
	out_json(out, quality.pq_text);
	out_char(out, '}');
}

void
annotate_json(const struct annotate *an, struct out *out)
{
	const char *file = "", *comma = "\n";
	const struct an_row *row;

	out_str(out, "{\"schema_version\":1,\"function\":");
	out_json(out, an->an_function->fu_name);
	out_str(out, ",\"module\":");
	out_json(out, an->an_function->fu_module);
	out_fmt(out, ",\"address\":%" PRIu64 ",\n\"events\":[",
	    an->an_function->fu_address);
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		out_str(out, c > 0 ? ",\n" : "\n");
		show_column(an, c, out);
	}
	out_str(out, "],\n\"rows\":[");
	for (size_t i = 0; i < an->an_nrows; i++) {
		row = &an->an_row[i];
		if (row->ar_kind == AN_FILE)
			file = row->ar_text;
		if (row->ar_kind != AN_SOURCE && row->ar_kind != AN_CODE)
			continue;
		out_str(out, comma);
		show_row(an, row, file, out);
		comma = ",\n";
	}
	comma = "\n";
	out_str(out, "],\n\"notes\":[");
	for (size_t i = 0; i < an->an_nrows; i++) {
		if (an->an_row[i].ar_kind != AN_NOTE)
			continue;
		out_str(out, comma);
		out_json(out, an->an_row[i].ar_text);
		comma = ",\n";
	}
	out_str(out, "]}\n");
}

/* A row of source and an event, or an instruction and an event. */
static void
show_line(const struct annotate *an, const struct an_row *row, size_t c,
    const char *file, struct out *out)
{
	const struct an_column *column = &an->an_column[c];
	const struct an_sum *sum = annotate_sum_of(an, row, c);

	if (sum == NULL)
		return;
	out_csv(out, kind_of(row));
	out_char(out, ',');
	out_csv(out, file);
	out_char(out, ',');
	if (row->ar_kind == AN_SOURCE && row->ar_number > 0)
		out_u64(out, row->ar_number);
	out_char(out, ',');
	if (row->ar_kind == AN_CODE)
		out_fmt(out, "0x%" PRIx64, row->ar_number);
	out_char(out, ',');
	out_csv(out, row->ar_text != NULL ? row->ar_text : "");
	out_char(out, ',');
	out_csv(out, row->ar_chain);
	out_char(out, ',');
	out_csv(out, column->ac_info->pi_name);
	out_char(out, ',');
	out_csv(out, column->ac_info->pi_unit);
	out_char(out, ',');
	out_csv(out, side_of(an, c) != NULL ? side_of(an, c) : "");
	out_fmt(out, ",%" PRIu64 ",%.6f,%" PRIu64 "\r\n", sum->as_weight,
	    annotate_part(sum, column->ac_sum.as_weight), sum->as_samples);
}

void
annotate_csv(const struct annotate *an, struct out *out)
{
	const struct an_row *row;
	const char *file = "";

	out_str(out, "kind,file,line,address,text,inlined_at,event,unit,"
	    "recording,weight,share,samples\r\n");
	for (size_t i = 0; i < an->an_nrows; i++) {
		row = &an->an_row[i];
		if (row->ar_kind == AN_FILE)
			file = row->ar_text;
		if (row->ar_kind != AN_SOURCE && row->ar_kind != AN_CODE)
			continue;
		for (size_t c = 0; c < an->an_ncolumns; c++)
			show_line(an, row, c, file, out);
	}
}
