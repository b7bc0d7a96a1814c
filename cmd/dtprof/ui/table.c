/* SPDX-License-Identifier: ISC */
/*
 * Tables for people.  Each row is asked for twice: to measure it, and to
 * print it.  On a terminal a column is as wide as its widest cell, columns
 * that have no room are left out in an order of their own, and the last one
 * is cut.  No line ends in blanks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

#define CELL_MAX	256

void
table_put(const struct table *tb, const char *text)
{
	if (tb->tb_style == TABLE_HTML)
		out_html(tb->tb_out, text);
	else if (tb->tb_style == TABLE_MARKDOWN)
		out_markdown(tb->tb_out, text);
	else
		out_text(tb->tb_out, text);
}

void
table_colour(struct table *tb, enum terminal_colour colour)
{
	tb->tb_colour = colour;
}

/* Columns of the terminal; 0: no end. */
static size_t
width_of(const struct table *tb)
{
	return (tb->tb_style != TABLE_TEXT || tb->tb_terminal == NULL ? 0 :
	    tb->tb_terminal->te_width);
}

static void
put_colour(const struct table *tb, enum terminal_colour colour)
{
	if (tb->tb_style == TABLE_TEXT && tb->tb_terminal != NULL)
		terminal_colour(tb->tb_terminal, tb->tb_out, colour);
}

/* ----------------------------------------------------------------- cells */

/* Blanks are owed until there is something behind them. */
static void
put_owed(struct table *tb)
{
	for (; tb->tb_owed > 0; tb->tb_owed--, tb->tb_used++)
		out_char(tb->tb_out, ' ');
}

static void
put_text_cell(struct table *tb, const struct table_column *column,
    const char *text, bool is_ours)
{
	const size_t width = width_of(tb);
	const size_t columns = is_ours ? strlen(text) : terminal_columns(text);
	const size_t pad = columns < column->tc_width ?
	    column->tc_width - columns : 0;
	const bool is_last = tb->tb_at + 1 == tb->tb_ncolumns;
	size_t room = SIZE_MAX;

	tb->tb_owed += column->tc_gap;
	if (!column->tc_is_left)
		tb->tb_owed += pad;
	if (*text != '\0') {
		put_owed(tb);
		if (width > 0 && is_last && column->tc_is_left)
			room = width > tb->tb_used + 2 ?
			    width - tb->tb_used : 2;
		else if (width > 0 && column->tc_is_left)
			room = column->tc_width;
		if (tb->tb_colour != TERMINAL_PLAIN)
			put_colour(tb, tb->tb_colour);
		if (is_ours && columns <= room) {
			out_mem(tb->tb_out, text, columns);
			tb->tb_used += columns;
		} else
			tb->tb_used += terminal_text(tb->tb_out, text, room);
		if (tb->tb_colour != TERMINAL_PLAIN)
			put_colour(tb, TERMINAL_PLAIN);
	}
	if (column->tc_is_left && !is_last)
		tb->tb_owed += pad;
}

static void
put_marked_cell(struct table *tb, const struct table_column *column,
    const char *text)
{
	const bool is_page = tb->tb_style == TABLE_HTML;

	if (tb->tb_at == 0)
		out_str(tb->tb_out, is_page ? "<tr>" : "|");
	out_str(tb->tb_out, !is_page ? " " : !column->tc_is_name ? "<td>" :
	    "<th class=\"name\" scope=\"row\">");
	table_put(tb, text);
	out_str(tb->tb_out, is_page ? "" : " |");
}

static void
put_cell(struct table *tb, const char *text, bool is_ours)
{
	struct table_column *column = &tb->tb_column[tb->tb_at];
	size_t width;

	if (tb->tb_is_measure) {
		width = column->tc_is_fixed ? 0 : terminal_columns(text);
		if (width > column->tc_width)
			column->tc_width = width;
	} else if (tb->tb_style != TABLE_TEXT)
		put_marked_cell(tb, column, text);
	else if (!column->tc_is_gone)
		put_text_cell(tb, column, text, is_ours);
	tb->tb_colour = TERMINAL_PLAIN;
	tb->tb_at++;
}

void
table_text(struct table *tb, const char *text)
{
	put_cell(tb, text, false);
}

void
table_cell(struct table *tb, const char *fmt, ...)
{
	char text[CELL_MAX] = "";
	va_list ap;

	if (!tb->tb_is_measure || !tb->tb_column[tb->tb_at].tc_is_fixed) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
	}
	put_cell(tb, text, true);
}

bool
table_rest(struct table *tb, size_t *room)
{
	const size_t width = width_of(tb);

	if (tb->tb_is_measure)
		return (false);
	tb->tb_owed += tb->tb_column[tb->tb_ncolumns - 1].tc_gap;
	put_owed(tb);
	*room = width == 0 ? 0 : width > tb->tb_used + 4 ?
	    width - tb->tb_used : 4;
	tb->tb_at++;
	return (true);
}

/* ------------------------------------------------------------ the table */

size_t
table_groups(const struct table *tb, bool is_gone)
{
	size_t groups = 0;

	for (size_t i = 0; i < tb->tb_ncolumns; i++)
		groups += tb->tb_column[i].tc_over != NULL &&
		    tb->tb_column[i].tc_is_gone == is_gone;
	return (groups);
}

/* Columns from one that begins a group to the next that does, or the last. */
static size_t
group_width(const struct table *tb, size_t from)
{
	size_t width = 0, i;

	for (i = from; i + 1 < tb->tb_ncolumns; i++) {
		const struct table_column *column = &tb->tb_column[i];

		if (i > from && column->tc_over != NULL)
			break;
		if (!column->tc_is_gone)
			width += column->tc_width + (i > from ?
			    column->tc_gap : 0);
	}
	return (width + tb->tb_column[i].tc_gap);
}

static void
put_groups(struct table *tb)
{
	size_t width, used;

	for (size_t i = 0; i < tb->tb_ncolumns; i++) {
		if (tb->tb_column[i].tc_over == NULL ||
		    tb->tb_column[i].tc_is_gone)
			continue;
		width = group_width(tb, i);
		used = terminal_text(tb->tb_out, tb->tb_column[i].tc_over,
		    width - 1);
		out_fmt(tb->tb_out, "%*s", (int)(width - used), "");
	}
	out_char(tb->tb_out, '\n');
}

/* What does not fit goes, in order; the last column stays. */
static void
columns_fit(struct table *tb)
{
	struct table_column *column = tb->tb_column;
	const size_t width = width_of(tb);
	size_t sum, most = 0;

	for (size_t i = 0; i < tb->tb_ncolumns; i++)
		if ((size_t)column[i].tc_drop > most)
			most = (size_t)column[i].tc_drop;
	for (size_t drop = 1; width > 0 && drop <= most; drop++) {
		sum = tb->tb_last + column[tb->tb_ncolumns - 1].tc_gap;
		for (size_t i = 0; i + 1 < tb->tb_ncolumns; i++)
			if (!column[i].tc_is_gone)
				sum += column[i].tc_gap + column[i].tc_width;
		if (sum <= width)
			return;
		for (size_t i = 0; i + 1 < tb->tb_ncolumns; i++)
			column[i].tc_is_gone |=
			    (size_t)column[i].tc_drop == drop;
	}
}

static void
end_row(struct table *tb)
{
	if (tb->tb_at > 0 && !tb->tb_is_measure)
		out_char(tb->tb_out, '\n');
	tb->tb_at = tb->tb_used = tb->tb_owed = 0;
}

static void
put_head(struct table *tb, table_row_fn *row, const void *arg)
{
	const size_t ntitles = tb->tb_ncolumns - tb->tb_has_rest;

	if (tb->tb_style == TABLE_HTML) {
		out_str(tb->tb_out, "<table>\n<tr>");
		for (size_t i = 0; i < tb->tb_ncolumns; i++)
			out_fmt(tb->tb_out, "<th%s scope=\"col\">%s",
			    tb->tb_column[i].tc_is_name ? " class=\"name\"" :
			    "", tb->tb_column[i].tc_title);
		out_char(tb->tb_out, '\n');
		return;
	}
	put_colour(tb, TERMINAL_BOLD);
	if (table_groups(tb, false) > 1)
		put_groups(tb);
	for (size_t i = 0; i < ntitles; i++)
		table_text(tb, tb->tb_column[i].tc_title);
	if (tb->tb_has_rest)
		row(tb, arg, TABLE_HEAD);
	put_colour(tb, TERMINAL_PLAIN);
	end_row(tb);
	if (tb->tb_style != TABLE_MARKDOWN)
		return;
	out_char(tb->tb_out, '|');
	for (size_t i = 1; i < tb->tb_ncolumns; i++)
		out_str(tb->tb_out, "---:|");
	out_str(tb->tb_out, "---|\n");
}

void
table_show(struct table *tb, size_t nrows, table_row_fn *row, const void *arg)
{
	for (size_t i = 0; i < tb->tb_ncolumns; i++) {
		struct table_column *column = &tb->tb_column[i];

		column->tc_width = column->tc_least;
		if (!column->tc_is_fixed &&
		    terminal_columns(column->tc_title) > column->tc_width)
			column->tc_width = terminal_columns(column->tc_title);
	}
	tb->tb_colour = TERMINAL_PLAIN;
	tb->tb_at = tb->tb_used = tb->tb_owed = 0;
	for (int pass = 0; pass < 2; pass++) {
		tb->tb_is_measure = pass == 0;
		if (pass == 1) {
			columns_fit(tb);
			put_head(tb, row, arg);
		}
		for (size_t n = 0; n < nrows; n++) {
			row(tb, arg, n);
			end_row(tb);
		}
	}
	out_str(tb->tb_out, tb->tb_style == TABLE_HTML ? "</table>\n" : "");
}
