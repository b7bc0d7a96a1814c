/* SPDX-License-Identifier: ISC */
/*
 * Rows for programs: one description of a row, by names and typed values, is
 * JSON or CSV.  See emit.c; rows for people are table.h's.
 */
#ifndef EMIT_H
#define EMIT_H

#include "../cmd.h"

/* schema_version: a key was removed, or means something else. */
#define JSON_SCHEMA	2

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
 * Typed values by name: EMIT(emit, TEXT("name", name), COUNT("self", n)).  In
 * CSV those whose name is no column are left out, others come in the order of
 * the columns, and what is not told is empty.
 * Texts are borrowed until EMIT returns: no two of them share a buffer.
 */
enum cell_type {
	CELL_END, CELL_LEFT_OUT, CELL_NULL, CELL_BOOL, CELL_COUNT, CELL_SIGNED,
	CELL_NUMBER, CELL_FIXED, CELL_NUMBERS, CELL_HEX, CELL_HEXES, CELL_WORD,
	CELL_TEXT, CELL_GIVEN
};

struct cell {
	const char	*ce_name;	/* NULL: an item of an array */
	uint8_t		 ce_type;	/* enum cell_type */
	uint8_t		 ce_length;	/* of a name of ours; 0: of theirs */
	int		 ce_digits;	/* of a number; an array: how many */
	union {
		uint64_t	 ce_count;
		double		 ce_number;
		const char	*ce_text;
		const double	*ce_numbers;
		const uint64_t	*ce_counts;
	};
};

#define CELL(name, type, ...) (struct cell){ .ce_name = (name), \
	    .ce_type = (type), .ce_length = cell_name(name), __VA_ARGS__ }
#define UNKNOWN(name)		CELL(name, CELL_NULL, .ce_count = 0)
#define FLAG(name, value)	CELL(name, CELL_BOOL, .ce_count = (value))
#define COUNT(name, value)	CELL(name, CELL_COUNT, .ce_count = (value))
#define SIGNED(name, value)	CELL(name, CELL_SIGNED, \
	    .ce_count = (uint64_t)(int64_t)(value))
/* So many significant digits, or all; null where it is not finite. */
#define ROUNDED(name, value, digits) CELL(name, CELL_NUMBER, \
	    .ce_digits = (digits), .ce_number = (value))
#define NUMBER(name, value)	ROUNDED(name, value, 17)
/* So many digits behind the point; null where it is not finite. */
#define FIXED(name, value, digits) CELL(name, CELL_FIXED, \
	    .ce_digits = (digits), .ce_number = (value))
/* An array, of JSON alone; borrowed. */
#define NUMBERS(name, values, n) CELL(name, CELL_NUMBERS, \
	    .ce_digits = (int)(n), .ce_numbers = (values))
/* From 0 to 1; below 0: not known. */
#define SHARE(name, value)	cell_share(name, value)
/* "0x1f" */
#define HEX(name, value)	CELL(name, CELL_HEX, .ce_count = (value))
/* An array of these, of JSON alone; borrowed. */
#define HEXES(name, values, n)	CELL(name, CELL_HEXES, \
	    .ce_digits = (int)(n), .ce_counts = (values))
/* A word of ours, which needs no quoting. */
#define WORD(name, value)	CELL(name, CELL_WORD, .ce_text = (value))
/* Hostile text; NULL: null. */
#define TEXT(name, value)	CELL(name, CELL_TEXT, .ce_text = (value))
/* The same; of nothing, NULL or "", no JSON member. */
#define GIVEN(name, value)	CELL(name, CELL_GIVEN, .ce_text = (value))
/* Null where it is not known; its value is looked at in any case. */
#define KNOWN(is_known, cell)	cell_unless(!(is_known), CELL_NULL, cell)
/* The same, left out. */
#define WHERE(is_there, cell)	cell_unless(!(is_there), CELL_LEFT_OUT, cell)

/* A name that the compiler knows is ours, and plain. */
static inline uint8_t
cell_name(const char *name)
{
	return (name != NULL && __builtin_constant_p(strlen(name)) ?
	    (uint8_t)strlen(name) : 0);
}

static inline struct cell
cell_unless(bool is_other, enum cell_type other, struct cell cell)
{
	cell.ce_type = is_other ? (uint8_t)other : cell.ce_type;
	return (cell);
}

static inline struct cell
cell_share(const char *name, double share)
{
	return (KNOWN(share >= 0, FIXED(name, share, 6)));
}

#define EMIT(emit, ...) emit_cells((emit), (const struct cell[]){ \
	    __VA_ARGS__, { .ce_type = CELL_END } })
/* An object of values alone. */
#define EMIT_ROW(emit, name, ...) do { \
	emit_object((emit), (name)); \
	EMIT((emit), __VA_ARGS__); \
	emit_close(emit); \
} while (0)
void	emit_cells(struct emit *emit, const struct cell *cells);

#endif /* EMIT_H */
