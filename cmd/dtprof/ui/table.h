/* SPDX-License-Identifier: ISC */
/*
 * Tables for people: one description of a row, cell by cell, is a table on a
 * terminal or in a file, Markdown, or part of a page.  See table.c; rows for
 * programs are emit.h's.
 */
#ifndef TABLE_H
#define TABLE_H

#include "terminal.h"

enum table_style { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML };

struct table_column {
	const char	*tc_title;
	const char	*tc_over;	/* head of a group that begins; NULL */
	size_t		 tc_least;	/* at least so wide */
	size_t		 tc_gap;	/* blanks in front */
	int		 tc_drop;	/* 1: the first to go; 0: never */
	bool		 tc_is_fixed;	/* as wide as tc_least says */
	bool		 tc_is_left;
	bool		 tc_is_name;	/* what the row is about */
	/* table.c's */
	size_t		 tc_width;
	bool		 tc_is_gone;
};

/*
 * Cells of row n, from the left; of a row that is none: no cell.  With
 * tb_has_rest TABLE_HEAD is a row, too, of which only the rest is told.
 */
#define TABLE_HEAD	SIZE_MAX
struct table;
typedef void	 table_row_fn(struct table *table, const void *arg, size_t n);

struct table {
	struct out	*tb_out;
	enum table_style tb_style;
	const struct terminal *tb_terminal;	/* NULL: a file */
	struct table_column *tb_column;
	size_t		 tb_ncolumns;
	size_t		 tb_last;	/* columns kept for the last one */
	bool		 tb_has_rest;	/* of which the caller prints all */
	/* table.c's */
	bool		 tb_is_measure;
	size_t		 tb_at;		/* of the cell that comes next */
	size_t		 tb_used;	/* columns of the line */
	size_t		 tb_owed;	/* blanks behind them */
	enum terminal_colour tb_colour;
};

/* The whole of it: as wide as its cells, and as the terminal allows. */
void	table_show(struct table *table, size_t nrows, table_row_fn *row,
	    const void *arg);

/* Hostile text; on a terminal the last cell is cut. */
void	table_text(struct table *table, const char *text);
/* Text of ours, in ASCII. */
void	table_cell(struct table *table, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/*
 * The last cell is put out by the caller, if this is true; how many columns of
 * the terminal there are for it, 0: no end.
 */
bool	table_rest(struct table *table, size_t *room);
/* Of groups with a head of their own: how many are there, how many are gone. */
size_t	table_groups(const struct table *table, bool is_gone);
/* Of the next cell alone. */
void	table_colour(struct table *table, enum terminal_colour colour);

/* Hostile text in a style, outside of tables. */
void	table_put(const struct table *table, const char *text);

#endif /* TABLE_H */
