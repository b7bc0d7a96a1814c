/* SPDX-License-Identifier: ISC */
/*
 * Tables of a comparison, for a terminal or a file, as Markdown and as what
 * stands in a page; see compare_table.c.
 */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare.h"
#include "terminal.h"

#define MAX_COLUMNS	8

/* How a table is drawn. */
struct table {
	struct out	*tb_out;
	enum compare_style tb_style;
	const struct terminal *tb_terminal;
	bool		 tb_is_verbose;
};

/* A column of text; what is dropped first on a narrow terminal. */
struct column {
	const char	*cl_title;
	int		 cl_drop;	/* 1: the first; 0: never */
	bool		 cl_is_left;
	bool		 cl_is_name;	/* what the row is about */
	size_t		 cl_width;	/* of the widest cell */
	bool		 cl_is_gone;
};

/* A row's cells; a verdict's colour. */
struct cells {
	char		 ce_text[MAX_COLUMNS][128];
	const char	*ce_last;	/* hostile */
	enum terminal_colour ce_colour;
};

bool	compare_is(const struct table *tb, enum compare_style style);
/* Hostile text. */
void	compare_put(const struct table *tb, const char *text);
/* Of text alone. */
void	compare_colour(const struct table *tb, enum terminal_colour colour);

/* Look at each row, then fit the terminal; then print. */
void	compare_measure(struct column *columns, size_t n,
	    const struct cells *row);
void	compare_fit(const struct table *tb, struct column *columns, size_t n);
void	compare_head(const struct table *tb, const struct column *columns,
	    size_t n);
/* verdict: which column has it. */
void	compare_row(const struct table *tb, const struct column *columns,
	    size_t n, const struct cells *row, size_t verdict);

#endif /* COMPARE_TABLE_H */
