/* SPDX-License-Identifier: ISC */
/*
 * An annotated function for people, on a terminal or in a file: the headline,
 * then of each event the share of the function, how much that is and the
 * samples, then the line or the instruction.  The hottest rows have an
 * asterisk, and on a terminal a colour.  There a row is cut to its width.
 *
 * Called by cmd_annotate.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "annotate.h"

#define TAB		8
#define MIN_TEXT	30	/* of a line of source, else less is shown */
#define PAIR_WIDTH	26
#define GROUP_WIDTH	18
#define SAMPLES_WIDTH	9

struct page {
	const struct annotate *pg_annotate;
	struct out	*pg_out;
	const struct terminal *pg_terminal;
	size_t		 pg_step;	/* columns of a group */
	size_t		 pg_groups;	/* that are shown */
	bool		 pg_has_samples;
};

/*
 * A character of a program's text: tabs are blanks, a backslash is one, and
 * all that would act on a terminal is in hexadecimal.  Its columns; bytes: of
 * the text.
 */
static size_t
show_character(struct out *out, const char *text, size_t column,
    size_t *bytes)
{
	char shown[16];
	uint32_t code;
	int is_plain;

	*bytes = prof_text_take(text, &code, &is_plain);
	if (*bytes == 0) {
		*bytes = 1;
		snprintf(shown, sizeof(shown), "\\x%02x",
		    (unsigned char)*text);
	} else if (code == '\t') {
		snprintf(shown, sizeof(shown), "%*s",
		    (int)(TAB - column % TAB), "");
	} else if (!is_plain) {
		snprintf(shown, sizeof(shown), "\\u%04x", (unsigned)code);
	} else {
		if (out != NULL)
			out_mem(out, text, *bytes);
		/* At the most: wide ones have three bytes or four. */
		return (*bytes < 3 ? 1 : 2);
	}
	if (out != NULL)
		out_str(out, shown);
	return (strlen(shown));
}

/* In so many columns (SIZE_MAX: all of it); how many it took. */
static size_t
show_source(struct out *out, const char *text, size_t width)
{
	size_t column = 0, n, used;
	const char *at;

	for (at = text; *at != '\0' && column <= width; at += n)
		column += show_character(NULL, at, column, &n);
	if (column > width)
		width = width > 2 ? width - 2 : 0;
	for (used = 0; *text != '\0'; text += n) {
		if (used + show_character(NULL, text, used, &n) > width) {
			out_str(out, "..");
			return (used + 2);
		}
		used += show_character(out, text, used, &n);
	}
	return (used);
}

static void
show_sums(const struct page *page, const struct an_row *row)
{
	const struct annotate *an = page->pg_annotate;
	const struct an_sum *sum;
	char text[48];

	for (size_t c = 0; c < page->pg_groups; c++) {
		sum = annotate_sum_of(an, row, c);
		if (sum == NULL) {
			out_fmt(page->pg_out, "%*s", GROUP_WIDTH +
			    (page->pg_has_samples ? SAMPLES_WIDTH : 0), "");
			continue;
		}
		weight_text(text, sizeof(text), sum->as_weight,
		    an->an_column[c].ac_info->pi_unit);
		out_fmt(page->pg_out, "%6.2f %9s", 100 * annotate_part(sum,
		    an->an_column[c].ac_sum.as_weight), text);
		if (page->pg_has_samples)
			out_fmt(page->pg_out, " %8" PRIu64, sum->as_samples);
		out_str(page->pg_out, "  ");
	}
}

/* Of two sides: both shares, and the difference in points. */
static void
show_pairs(const struct page *page, const struct an_row *row)
{
	const struct annotate *an = page->pg_annotate;
	double base, new;

	for (size_t c = 0; c < 2 * page->pg_groups; c += 2) {
		if (row->ar_first == AN_NONE) {
			out_fmt(page->pg_out, "%*s", PAIR_WIDTH, "");
			continue;
		}
		base = 100 * annotate_share(an, row, c);
		new = 100 * annotate_share(an, row, c + 1);
		out_fmt(page->pg_out, "%7.2f %7.2f %+8.2f  ", base, new,
		    new - base);
	}
}

/* Before the text of a row. */
static size_t
group_width(const struct page *page)
{
	return (page->pg_step == 2 ? PAIR_WIDTH : GROUP_WIDTH +
	    (page->pg_has_samples ? SAMPLES_WIDTH : 0));
}

/* As much of the end of a path as fits. */
static void
show_path(const struct page *page, const char *path)
{
	const size_t width = page->pg_terminal->te_width;
	const char *tail = path;

	while (width > 0 && terminal_columns(tail) + 2 > width &&
	    strchr(tail + 1, '/') != NULL)
		tail = strchr(tail + 1, '/');
	out_str(page->pg_out, tail == path ? "" : "..");
	(void)terminal_text(page->pg_out, tail, width == 0 ? SIZE_MAX :
	    width > 4 ? width - 2 : 2);
	out_char(page->pg_out, '\n');
}

/* A heading, or why something is missing. */
static void
show_sentence(const struct page *page, const struct an_row *row,
    const char *text)
{
	const bool is_file = row->ar_kind == AN_FILE;
	char *line;

	terminal_colour(page->pg_terminal, page->pg_out, is_file ?
	    TERMINAL_BOLD : TERMINAL_DIM);
	if (is_file) {
		out_char(page->pg_out, '\n');
		show_path(page, text);
	} else if (asprintf(&line, "  (%s)", text) != -1) {
		terminal_fold(page->pg_terminal, page->pg_out, line, 3);
		free(line);
	}
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
}

/* Number or address and the text, and where it was inlined. */
static void
show_text(const struct page *page, const struct an_row *row, const char *text,
    size_t room)
{
	struct out *out = page->pg_out;
	char number[32];
	size_t used;

	number[0] = '\0';
	if (row->ar_kind == AN_GAP)
		snprintf(number, sizeof(number), "   ...");
	else if (row->ar_kind == AN_SOURCE && row->ar_number > 0)
		snprintf(number, sizeof(number), "%6" PRIu64 "  ",
		    row->ar_number);
	else if (row->ar_kind == AN_CODE)
		snprintf(number, sizeof(number), "%10" PRIx64 ":  ",
		    row->ar_number);
	out_str(out, number);
	if (room != SIZE_MAX)
		room = room > strlen(number) ? room - strlen(number) : 0;
	used = show_source(out, text, room);
	if (row->ar_is_hot)
		terminal_colour(page->pg_terminal, out, TERMINAL_PLAIN);
	if (row->ar_chain[0] == '\0' || (room != SIZE_MAX && room < used + 8))
		return;
	terminal_colour(page->pg_terminal, out, TERMINAL_DIM);
	out_str(out, "  <- ");
	(void)terminal_text(out, row->ar_chain, room == SIZE_MAX ? SIZE_MAX :
	    room - used - 5);
	terminal_colour(page->pg_terminal, out, TERMINAL_PLAIN);
}

static void
show_row(const struct page *page, const struct an_row *row)
{
	const char *text = row->ar_text != NULL ? row->ar_text : "";
	const size_t width = page->pg_terminal->te_width;
	const size_t before = 2 + page->pg_groups * group_width(page);

	if (row->ar_kind == AN_FILE || row->ar_kind == AN_NOTE) {
		show_sentence(page, row, text);
		return;
	}
	if (row->ar_is_hot)
		terminal_colour(page->pg_terminal, page->pg_out,
		    TERMINAL_HOT);
	out_str(page->pg_out, row->ar_is_hot ? "* " : "  ");
	(page->pg_step == 2 ? show_pairs : show_sums)(page, row);
	show_text(page, row, text, width == 0 ? SIZE_MAX : width > before ?
	    width - before : 0);
	out_char(page->pg_out, '\n');
}

/* ----------------------------------------------------------------- above */

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

static void
put_column(const struct annotate *an, size_t c, FILE *stream)
{
	const struct an_column *column = &an->an_column[c];

	(void)headline_weight(&annotate_side(an, c)->an_headline, stream,
	    column->ac_info, column->ac_sum.as_weight,
	    column->ac_sum.as_samples, 0);
	fprintf(stream, ", %.2f%% of all, %" PRIu64 " samples",
	    100 * annotate_part(&column->ac_sum, column->ac_all),
	    column->ac_sum.as_samples);
}

/* A line for each side: what was recorded, and the function's part of it. */
static void
show_side(const struct page *page, size_t side)
{
	const struct annotate *an = page->pg_annotate;
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	bool any = false;

	if (stream == NULL)
		return;
	fputs(annotate_side_name(an, side), stream);
	headline_begin(&annotate_side(an, side)->an_headline, stream);
	for (size_t c = side; c < an->an_ncolumns; c += page->pg_step) {
		/* Of several events those that met the function. */
		if (an->an_column[c].ac_sum.as_samples == 0 && (any ||
		    c + page->pg_step < an->an_ncolumns))
			continue;
		fputs(any ? "; " : ": ", stream);
		put_column(an, c, stream);
		any = true;
	}
	if (fclose(stream) == 0)
		terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	free(text);
}

static void
show_headline(const struct page *page)
{
	const struct annotate *an = page->pg_annotate;
	char *text;

	if (asprintf(&text, "%s  %s", an->an_function->fu_name,
	    an->an_function->fu_module) == -1)
		return;
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_BOLD);
	terminal_fold(page->pg_terminal, page->pg_out, text, 4);
	terminal_colour(page->pg_terminal, page->pg_out, TERMINAL_PLAIN);
	free(text);
	for (size_t side = 0; side < page->pg_step; side++)
		show_side(page, side);
	show_quality(an, page->pg_out, page->pg_terminal);
	if (an->an_base != NULL)
		terminal_fold(page->pg_terminal, page->pg_out,
		    annotate_no_claim, 4);
}

static void
show_head(const struct page *page)
{
	const struct annotate *an = page->pg_annotate;
	struct out *out = page->pg_out;
	size_t used;

	terminal_colour(page->pg_terminal, out, TERMINAL_BOLD);
	for (size_t c = 0; c < page->pg_groups && page->pg_groups > 1; c++) {
		out_str(out, c == 0 ? "\n  " : "");
		used = terminal_text(out, an->an_column[c *
		    page->pg_step].ac_info->pi_name, group_width(page) - 2);
		out_fmt(out, "%*s", (int)(group_width(page) - used), "");
	}
	out_str(out, "\n  ");
	for (size_t c = 0; c < page->pg_groups; c++) {
		if (page->pg_step == 2) {
			out_fmt(out, "%7s %7s %8s  ", "base%", "new%",
			    "points");
			continue;
		}
		out_fmt(out, "%6s %9.9s", "share%",
		    weight_head(an->an_column[c].ac_info->pi_unit));
		out_fmt(out, page->pg_has_samples ? " %8s  " : "  ",
		    "samples");
	}
	terminal_colour(page->pg_terminal, out, TERMINAL_PLAIN);
	out_char(out, '\n');
}

/* As many events as leave room for the text. */
static void
columns_fit(struct page *page)
{
	const size_t width = page->pg_terminal->te_width;

	page->pg_step = page->pg_annotate->an_base != NULL ? 2 : 1;
	page->pg_groups = page->pg_annotate->an_ncolumns / page->pg_step;
	page->pg_has_samples = true;
	if (width == 0)
		return;
	page->pg_has_samples = 2 + page->pg_groups * group_width(page) +
	    MIN_TEXT + TAB <= width;
	while (page->pg_groups > 1 && 2 + page->pg_groups *
	    group_width(page) + MIN_TEXT > width)
		page->pg_groups--;
}

void
annotate_text(const struct annotate *an, struct out *out,
    const struct terminal *terminal)
{
	struct page page = { .pg_annotate = an, .pg_out = out,
	    .pg_terminal = terminal };
	size_t hidden;

	columns_fit(&page);
	hidden = an->an_ncolumns / page.pg_step - page.pg_groups;
	show_headline(&page);
	show_head(&page);
	for (size_t i = 0; i < an->an_nrows; i++)
		show_row(&page, &an->an_row[i]);
	if (hidden > 0)
		terminal_more_events(terminal, out, hidden);
}
