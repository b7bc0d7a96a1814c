/* SPDX-License-Identifier: ISC */
/*
 * An annotated function as a page in one file: no script at all, a style that
 * stands in the page, and a policy that allows nothing else.  All names and
 * all source are hostile text: what is markup is written as entities, what
 * would act on the reader's screen is written in hexadecimal.
 *
 * Called by cmd_annotate.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../ui/terminal.h"
#include "annotate.h"
#include "annotate_page.h"

static void
put_sums(const struct annotate *an, const struct an_row *row,
    struct out *out)
{
	const struct an_sum *sum;
	char text[48];

	for (size_t c = 0; c < an->an_ncolumns; c++) {
		sum = annotate_sum_of(an, row, c);
		if (sum == NULL) {
			out_str(out, "<td><td><td>");
			continue;
		}
		weight_text(text, sizeof(text), sum->as_weight,
		    an->an_column[c].ac_info->pi_unit);
		out_fmt(out, "<td>%.2f<td>%s<td>%" PRIu64,
		    100 * annotate_part(sum,
		    an->an_column[c].ac_sum.as_weight), text,
		    sum->as_samples);
	}
}

static void
put_pairs(const struct annotate *an, const struct an_row *row,
    struct out *out)
{
	double base, new;

	for (size_t c = 0; c < an->an_ncolumns; c += 2) {
		if (row->ar_first == AN_NONE) {
			out_str(out, "<td><td><td>");
			continue;
		}
		base = 100 * annotate_share(an, row, c);
		new = 100 * annotate_share(an, row, c + 1);
		out_fmt(out, "<td>%.2f<td>%.2f<td>%+.2f", base, new,
		    new - base);
	}
}

static void
put_row(const struct annotate *an, const struct an_row *row, struct out *out)
{
	static const char *const classes[] = {
		[AN_FILE] = "file", [AN_SOURCE] = "source", [AN_GAP] = "gap",
		[AN_LINE] = "line", [AN_CODE] = "code", [AN_NOTE] = "note"
	};

	out_fmt(out, "<tr class=\"%s%s\">", classes[row->ar_kind],
	    row->ar_is_hot ? " hot" : "");
	(an->an_base != NULL ? put_pairs : put_sums)(an, row, out);
	out_str(out, "<td>");
	if (row->ar_kind == AN_SOURCE && row->ar_number > 0)
		out_u64(out, row->ar_number);
	else if (row->ar_kind == AN_CODE)
		out_fmt(out, "%" PRIx64, row->ar_number);
	out_str(out, "<td class=\"text\">");
	out_html(out, row->ar_kind == AN_GAP ? "..." :
	    row->ar_text != NULL ? row->ar_text : "");
	if (row->ar_chain[0] != '\0') {
		out_str(out, "<span> &larr; ");
		out_html(out, row->ar_chain);
		out_str(out, "</span>");
	}
	out_str(out, "\n");
}

static void
put_warnings(struct out *out, const char *side, const char *text)
{
	char line[sizeof(((struct prof_quality *)0)->pq_text)];
	size_t length;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		out_fmt(out, "<p class=\"bad\">%swarning: ", side);
		out_html(out, line);
		out_str(out, "</p>\n");
	}
}

static void
put_head(const struct annotate *an, struct out *out)
{
	const struct an_column *column;
	struct prof_quality quality;
	char text[48];

	out_str(out, "<h1>");
	out_html(out, an->an_function->fu_name);
	out_str(out, "</h1>\n<p>");
	out_html(out, an->an_function->fu_module);
	out_str(out, "</p>\n");
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		column = &an->an_column[c];
		prof_profile_quality(annotate_side(an, c)->an_profile,
		    column->ac_event, &quality);
		out_fmt(out, "<p>%s", annotate_side_name(an, c));
		out_html(out, column->ac_info->pi_name);
		weight_text(text, sizeof(text), column->ac_sum.as_weight,
		    column->ac_info->pi_unit);
		out_fmt(out, ": %.2f%% of all: %s, %" PRIu64
		    " samples</p>\n",
		    100 * annotate_part(&column->ac_sum, column->ac_all),
		    text, column->ac_sum.as_samples);
		put_warnings(out, annotate_side_name(an, c),
		    quality.pq_text);
	}
}

void
annotate_html(const struct annotate *an, struct out *out)
{
	const size_t step = an->an_base != NULL ? 2 : 1;

	out_mem(out, (const char *)annotate_page_head,
	    sizeof(annotate_page_head));
	put_head(an, out);
	if (an->an_base != NULL)
		out_fmt(out, "<p class=\"bad\">%s</p>\n",
		    annotate_no_claim);
	out_str(out, "<table>\n<tr>");
	for (size_t c = 0; c < an->an_ncolumns; c += step) {
		out_str(out, "<th colspan=\"3\">");
		out_html(out, an->an_column[c].ac_info->pi_name);
	}
	out_str(out, "<th><th>\n<tr>");
	for (size_t c = 0; c < an->an_ncolumns; c += step) {
		if (an->an_base != NULL) {
			out_str(out, "<th>base%<th>new%<th>points");
			continue;
		}
		out_str(out, "<th>share%<th>");
		out_html(out, weight_head(an->an_column[c].ac_info->pi_unit));
		out_str(out, "<th>samples");
	}
	out_str(out, "<th><th>\n");
	for (size_t i = 0; i < an->an_nrows; i++)
		put_row(an, &an->an_row[i], out);
	out_str(out, "</table>\n");
	out_mem(out, (const char *)annotate_page_tail,
	    sizeof(annotate_page_tail));
}
