/* SPDX-License-Identifier: ISC */
/*
 * Rows for programs: one description of a row, by names and typed values, is
 * JSON or CSV.  See emit.c; rows for people are table.h's.
 */
#ifndef EMIT_H
#define EMIT_H

#include "../cmd.h"

#define EMIT_DEPTH	8	/* objects and arrays in each other */
#define EMIT_COLUMNS	48

/* One output of rows; the members are emit.c's, but em_is_csv. */
struct emit {
	struct out	*em_out;
	bool		 em_is_csv;
	/* JSON: what is open. */
	int		 em_depth;
	struct {
		char	 le_close;	/* ']' or '}' */
		bool	 le_has_items;
		bool	 le_has_lines;	/* each item on a line */
	}		 em_level[EMIT_DEPTH];
	bool		 em_on_line;	/* what comes next begins a line */
	/* CSV: the columns, and the one that comes next. */
	const char	*em_newline;
	struct {
		const char *co_name;
		bool	 co_is_theirs;	/* its name is hostile */
	}		 em_column[EMIT_COLUMNS];
	size_t		 em_ncolumns;
	size_t		 em_at;
	size_t		 em_ncommas;	/* of the row */
};

/* One JSON object, which is open until emit_end. */
void	emit_json(struct emit *emit, struct out *out);
/* CSV: its columns, NULL-ended; borrowed. */
void	emit_csv(struct emit *emit, struct out *out,
	    const char *const *columns, const char *newline);
/* One more; theirs: what stands in an object of the row. */
void	emit_column(struct emit *emit, const char *name, bool is_theirs);
void	emit_head(struct emit *emit);
/* All that is still open ends, and the line. */
void	emit_end(struct emit *emit);

/*
 * Of JSON, and of CSV only rows: an object, with name NULL as an item of an
 * array, in a line or (block) with a line for each member; an array in a line
 * or (rows) with a line for each item.
 */
void	emit_object(struct emit *emit, const char *name);
void	emit_block(struct emit *emit, const char *name);
void	emit_list(struct emit *emit, const char *name);
void	emit_rows(struct emit *emit, const char *name);
void	emit_close(struct emit *emit);
/* What comes next begins a line. */
void	emit_line(struct emit *emit);

/*
 * Values.  In CSV those whose name is no column are left out, others come in
 * the order of the columns, and what is not told is empty.
 */
void	emit_null(struct emit *emit, const char *name);
void	emit_bool(struct emit *emit, const char *name, bool value);
void	emit_count(struct emit *emit, const char *name, uint64_t value);
void	emit_signed(struct emit *emit, const char *name, int64_t value);
/* So many significant digits at most, EMIT_EXACT: all; not finite: null. */
#define EMIT_EXACT	17
void	emit_number(struct emit *emit, const char *name, double value,
	    int digits);
/* So many digits behind the point; the same. */
void	emit_fixed(struct emit *emit, const char *name, double value,
	    int digits);
/* From 0 to 1; below 0: not known, null. */
void	emit_share(struct emit *emit, const char *name, double share);
/* "0x1f" */
void	emit_hex(struct emit *emit, const char *name, uint64_t value);
/* A word of ours, which needs no quoting. */
void	emit_word(struct emit *emit, const char *name, const char *word);
/* Hostile text; NULL: null. */
void	emit_text(struct emit *emit, const char *name, const char *text);
/* The same; of nothing, NULL or "", no JSON member. */
void	emit_given(struct emit *emit, const char *name, const char *text);

#endif /* EMIT_H */
