/* SPDX-License-Identifier: ISC */
/*
 * Tables of a comparison.  On a terminal a column is as wide as its widest
 * cell, columns that have no room are left out in an order of their own, and
 * the last one is cut.
 *
 * Called by compare_text.c.
 */
#include <stdio.h>
#include <string.h>

#include "compare_table.h"

#define MIN_LAST	16	/* columns of a terminal for the last one */

bool
compare_is(const struct table *tb, enum compare_style style)
{
	return (tb->tb_style == style);
}

void
compare_put(const struct table *tb, const char *text)
{
	if (compare_is(tb, COMPARE_HTML))
		out_html(tb->tb_out, text);
	else if (compare_is(tb, COMPARE_MARKDOWN))
		out_markdown(tb->tb_out, text);
	else
		out_text(tb->tb_out, text);
}

void
compare_colour(const struct table *tb, enum terminal_colour colour)
{
	if (compare_is(tb, COMPARE_TEXT))
		terminal_colour(tb->tb_terminal, tb->tb_out, colour);
}

/* The widest cell of each column. */
void
compare_measure(struct column *columns, size_t n, const struct cells *row)
{
	for (size_t i = 0; i + 1 < n; i++) {
		const size_t width = terminal_columns(row->ce_text[i]);

		if (width > columns[i].cl_width)
			columns[i].cl_width = width;
	}
}

/* What does not fit goes, in order; the last column stays. */
void
compare_fit(const struct table *tb, struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(columns[i].cl_title) > columns[i].cl_width)
			columns[i].cl_width = strlen(columns[i].cl_title);
	for (int drop = 1; drop <= MAX_COLUMNS; drop++) {
		size_t sum = MIN_LAST;

		for (size_t i = 0; i + 1 < n; i++)
			if (!columns[i].cl_is_gone)
				sum += columns[i].cl_width + 1;
		if (!compare_is(tb, COMPARE_TEXT) ||
		    tb->tb_terminal->te_width == 0 ||
		    sum + 2 <= tb->tb_terminal->te_width)
			return;
		for (size_t i = 0; i + 1 < n; i++)
			columns[i].cl_is_gone |= columns[i].cl_drop == drop;
	}
}

/* A cell, to the right of its column; the last one stands free. */
static void
cell(const struct table *tb, const struct column *column, const char *text,
    size_t *used)
{
	const size_t width = terminal_columns(text);
	const int pad = width < column->cl_width ?
	    (int)(column->cl_width - width) : 0;

	out_fmt(tb->tb_out, " %*s", column->cl_is_left ? 0 : pad, "");
	compare_put(tb, text);
	if (column->cl_is_left)
		out_fmt(tb->tb_out, "%*s", pad, "");
	*used += 1 + column->cl_width;
}

static void
text_row(const struct table *tb, const struct column *columns, size_t n,
    const struct cells *row, size_t verdict)
{
	const size_t width = tb->tb_terminal->te_width;
	size_t used = 2;

	for (size_t i = 0; i + 1 < n; i++) {
		if (columns[i].cl_is_gone)
			continue;
		if (i == verdict)
			compare_colour(tb, row->ce_colour);
		cell(tb, &columns[i], row->ce_text[i], &used);
		if (i == verdict)
			compare_colour(tb, TERMINAL_PLAIN);
	}
	if (n - 1 == verdict)
		compare_colour(tb, row->ce_colour);
	out_str(tb->tb_out, "  ");
	(void)terminal_text(tb->tb_out, row->ce_last, width == 0 ? SIZE_MAX :
	    width > used + 2 ? width - used : 2);
	if (n - 1 == verdict)
		compare_colour(tb, TERMINAL_PLAIN);
	out_char(tb->tb_out, '\n');
}

static void
marked_row(const struct table *tb, const struct column *columns, size_t n,
    const struct cells *row)
{
	const bool is_page = compare_is(tb, COMPARE_HTML);

	out_str(tb->tb_out, is_page ? "<tr>" : "|");
	for (size_t i = 0; i < n; i++) {
		out_str(tb->tb_out, !is_page ? " " : columns[i].cl_is_name ?
		    "<th class=\"name\" scope=\"row\">" : "<td>");
		compare_put(tb, i + 1 < n ? row->ce_text[i] : row->ce_last);
		out_str(tb->tb_out, is_page ? "" : " |");
	}
	out_char(tb->tb_out, '\n');
}

void
compare_row(const struct table *tb, const struct column *columns, size_t n,
    const struct cells *row, size_t verdict)
{
	if (compare_is(tb, COMPARE_TEXT))
		text_row(tb, columns, n, row, verdict);
	else
		marked_row(tb, columns, n, row);
}

void
compare_head(const struct table *tb, const struct column *columns, size_t n)
{
	struct cells titles = { .ce_last = columns[n - 1].cl_title };

	if (compare_is(tb, COMPARE_HTML)) {
		out_str(tb->tb_out, "<table>\n<tr>");
		for (size_t i = 0; i < n; i++)
			out_fmt(tb->tb_out, "<th%s scope=\"col\">%s",
			    columns[i].cl_is_name ? " class=\"name\"" : "",
			    columns[i].cl_title);
		out_char(tb->tb_out, '\n');
		return;
	}
	for (size_t i = 0; i < n; i++)
		snprintf(titles.ce_text[i], sizeof(titles.ce_text[i]), "%s",
		    columns[i].cl_title);
	out_char(tb->tb_out, '\n');
	compare_colour(tb, TERMINAL_BOLD);
	compare_row(tb, columns, n, &titles, n);
	compare_colour(tb, TERMINAL_PLAIN);
	if (!compare_is(tb, COMPARE_MARKDOWN))
		return;
	out_char(tb->tb_out, '|');
	for (size_t i = 0; i < n; i++)
		out_str(tb->tb_out, i == n - 1 ? "---|\n" : "---:|");
}
