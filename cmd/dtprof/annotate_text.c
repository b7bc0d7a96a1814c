/* SPDX-License-Identifier: ISC */
/*
 * An annotated function for people, on a terminal or in a file: of each event
 * the share of the function, the weight and the samples, then the line or the
 * instruction.  The hottest rows are in colour, or have an asterisk.
 *
 * Called by cmd_annotate.c.
 */
#include <inttypes.h>
#include <string.h>

#include "annotate.h"
#include "terminal.h"

#define TAB	8

/*
 * Text of a program: tabs are blanks, a backslash is one, and all that would
 * act on a terminal is in hexadecimal.
 */
static void
show_source(struct out *out, const char *text)
{
	uint32_t code;
	int is_plain;
	size_t n, column = 0;

	for (; *text != '\0'; text += n) {
		n = prof_text_take(text, &code, &is_plain);
		if (n == 0) {
			out_fmt(out, "\\x%02x", (unsigned char)*text);
			n = 1;
		} else if (code == '\t') {
			out_fmt(out, "%*s", (int)(TAB - column % TAB), "");
			column = 0;
			continue;
		} else if (!is_plain) {
			out_fmt(out, "\\u%04x", (unsigned)code);
		} else {
			out_mem(out, text, n);
		}
		column++;
	}
}

static void
show_sums(const struct annotate *an, const struct an_row *row,
    struct out *out)
{
	const struct an_sum *sum;

	for (size_t c = 0; c < an->an_ncolumns; c++) {
		sum = annotate_sum_of(an, row, c);
		if (sum == NULL)
			out_fmt(out, "%6s %14s %8s  ", "", "", "");
		else
			out_fmt(out, "%6.2f %14" PRIu64 " %8" PRIu64 "  ",
			    100 * annotate_part(sum,
			    an->an_column[c].ac_sum.as_weight),
			    sum->as_weight, sum->as_samples);
	}
}

/* Of two sides: both shares, and the difference in points. */
static void
show_pairs(const struct annotate *an, const struct an_row *row,
    struct out *out)
{
	double base, new;

	for (size_t c = 0; c < an->an_ncolumns; c += 2) {
		if (row->ar_first == AN_NONE) {
			out_fmt(out, "%7s %7s %8s  ", "", "", "");
			continue;
		}
		base = 100 * annotate_share(an, row, c);
		new = 100 * annotate_share(an, row, c + 1);
		out_fmt(out, "%7.2f %7.2f %+8.2f  ", base, new, new - base);
	}
}

static void
show_row(const struct annotate *an, const struct an_row *row,
    struct out *out, const struct terminal *terminal)
{
	const char *text = row->ar_text != NULL ? row->ar_text : "";

	if (row->ar_kind == AN_FILE || row->ar_kind == AN_NOTE) {
		terminal_colour(terminal, out, row->ar_kind == AN_FILE ?
		    TERMINAL_BOLD : TERMINAL_DIM);
		out_str(out, row->ar_kind == AN_FILE ? "\n" : "  (");
		out_text(out, text);
		out_str(out, row->ar_kind == AN_FILE ? "" : ")");
		terminal_colour(terminal, out, TERMINAL_PLAIN);
		out_char(out, '\n');
		return;
	}
	if (row->ar_is_hot)
		terminal_colour(terminal, out, TERMINAL_HOT);
	out_str(out, row->ar_is_hot && !terminal->te_colour ? "* " : "  ");
	(an->an_base != NULL ? show_pairs : show_sums)(an, row, out);
	if (row->ar_kind == AN_GAP)
		out_str(out, "   ...");
	else if (row->ar_kind == AN_SOURCE && row->ar_number > 0)
		out_fmt(out, "%6" PRIu64 "  ", row->ar_number);
	else if (row->ar_kind == AN_CODE)
		out_fmt(out, "%10" PRIx64 ":  ", row->ar_number);
	show_source(out, text);
	if (row->ar_is_hot)
		terminal_colour(terminal, out, TERMINAL_PLAIN);
	if (row->ar_chain[0] != '\0') {
		terminal_colour(terminal, out, TERMINAL_DIM);
		out_str(out, "  <- ");
		out_text(out, row->ar_chain);
		terminal_colour(terminal, out, TERMINAL_PLAIN);
	}
	out_char(out, '\n');
}

static void
show_quality(const struct annotate *an, struct out *out,
    const struct terminal *terminal)
{
	struct prof_quality quality;

	for (size_t c = 0; c < an->an_ncolumns; c++) {
		prof_profile_quality(annotate_side(an, c)->an_profile,
		    an->an_column[c].ac_event, &quality);
		terminal_warn(terminal, out, annotate_side_name(an, c),
		    an->an_column[c].ac_info->pi_name, quality.pq_text);
	}
}

void
annotate_text(const struct annotate *an, struct out *out,
    const struct terminal *terminal)
{
	const struct an_column *column;

	show_quality(an, out, terminal);
	terminal_colour(terminal, out, TERMINAL_BOLD);
	out_text(out, an->an_function->fu_name);
	terminal_colour(terminal, out, TERMINAL_PLAIN);
	out_str(out, "  ");
	out_text(out, an->an_function->fu_module);
	out_char(out, '\n');
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		column = &an->an_column[c];
		out_str(out, annotate_side_name(an, c));
		out_text(out, column->ac_info->pi_name);
		out_fmt(out, ": %.2f %% of all: weight %" PRIu64 ", %" PRIu64
		    " samples\n", 100 * annotate_part(&column->ac_sum,
		    column->ac_all), column->ac_sum.as_weight,
		    column->ac_sum.as_samples);
	}
	if (an->an_base != NULL)
		out_fmt(out, "%s\n", annotate_no_claim);
	terminal_colour(terminal, out, TERMINAL_BOLD);
	out_str(out, "\n  ");
	for (size_t c = 0; c < an->an_ncolumns && an->an_base == NULL; c++)
		out_fmt(out, "%6s %14s %8s  ", "share%", "weight", "samples");
	for (size_t c = 0; c < an->an_ncolumns && an->an_base != NULL; c += 2)
		out_fmt(out, "%7s %7s %8s  ", "base%", "new%", "points");
	terminal_colour(terminal, out, TERMINAL_PLAIN);
	out_char(out, '\n');
	for (size_t i = 0; i < an->an_nrows; i++)
		show_row(an, &an->an_row[i], out, terminal);
}
