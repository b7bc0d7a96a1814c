/* SPDX-License-Identifier: ISC */
/*
 * Rows for programs.  A report says what a row holds, once, value by value:
 *
 *	EMIT_ROW(emit, NULL, TEXT("name", "main"), COUNT("self", 12));
 *
 *	{"name":"main","self":12}		"main",12
 *
 * and the form decides how it is written.  Commas, brackets and quotes are
 * here and nowhere else.  In JSON values stand as they come; in CSV a value
 * stands in the column of its name.  Names of JSON members and of columns are
 * a contract (dtprof(1)): added, never renamed.
 */
#include <math.h>
#include <string.h>

#include "emit.h"

#define EXACT	17	/* digits */

/* The rest is set where it is used: script makes one for each record. */
static void
emit_init(struct emit *em, struct out *out)
{
	em->em_out = out;
	em->em_is_csv = false;
	em->em_depth = 0;
	em->em_on_line = false;
	em->em_ncolumns = 0;
}

void
emit_json(struct emit *em, struct out *out)
{
	emit_init(em, out);
	emit_object(em, NULL);
}

void
emit_csv(struct emit *em, struct out *out, const char *const *columns,
    const char *newline)
{
	emit_init(em, out);
	em->em_is_csv = true;
	em->em_newline = newline;
	for (; *columns != NULL; columns++)
		emit_column(em, *columns, false);
}

void
emit_column(struct emit *em, const char *name, bool is_theirs)
{
	if (em->em_ncolumns == EMIT_COLUMNS)
		return;
	em->em_column[em->em_ncolumns].co_name = name;
	em->em_column[em->em_ncolumns++].co_is_theirs = is_theirs;
}

void
emit_head(struct emit *em)
{
	for (size_t n = 0; n < em->em_ncolumns; n++) {
		out_str(em->em_out, n > 0 ? "," : "");
		if (em->em_column[n].co_is_theirs)
			out_csv(em->em_out, em->em_column[n].co_name);
		else
			out_str(em->em_out, em->em_column[n].co_name);
	}
	out_str(em->em_out, em->em_newline);
}

void
emit_end(struct emit *em)
{
	while (em->em_depth > 0)
		emit_close(em);
	out_str(em->em_out, em->em_is_csv ? "" : "\n");
}

/* ------------------------------------------------------------- structure */

void
emit_line(struct emit *em)
{
	em->em_on_line = true;
}

/* A name that needs no quoting. */
static void
put_name(struct out *out, const char *name, size_t length)
{
	char *text = out_room(out, length + 3);

	text[0] = text[length + 1] = '"';
	memcpy(text + 1, name, length);
	text[length + 2] = ':';
	out->ou_n += length + 3;
}

/*
 * The comma, the line and the name of what comes next; its length is 0 where
 * it may need quoting.
 */
static void
begin_item(struct emit *em, const char *name, size_t length)
{
	const int level = em->em_depth - 1;

	if (level >= 0) {
		if (em->em_level[level].le_has_items)
			out_char(em->em_out, ',');
		if (em->em_level[level].le_has_lines || em->em_on_line)
			out_char(em->em_out, '\n');
		em->em_level[level].le_has_items = true;
	}
	em->em_on_line = false;
	if (length > 0)
		put_name(em->em_out, name, length);
	else if (name != NULL) {
		out_json(em->em_out, name);
		out_char(em->em_out, ':');
	}
}

static void
open_level(struct emit *em, const char *name, const char *brackets,
    bool has_lines)
{
	if (em->em_is_csv) {
		if (em->em_depth++ == 0)
			em->em_at = em->em_ncommas = 0;
		return;
	}
	begin_item(em, name, 0);
	out_char(em->em_out, brackets[0]);
	em->em_level[em->em_depth].le_close = brackets[1];
	em->em_level[em->em_depth].le_has_items = false;
	em->em_level[em->em_depth++].le_has_lines = has_lines;
}

void
emit_object(struct emit *em, const char *name)
{
	open_level(em, name, "{}", false);
}

void
emit_block(struct emit *em, const char *name)
{
	open_level(em, name, "{}", true);
}

void
emit_list(struct emit *em, const char *name)
{
	open_level(em, name, "[]", false);
}

void
emit_rows(struct emit *em, const char *name)
{
	emit_line(em);
	open_level(em, name, "[]", true);
}

static void
go_to_comma(struct emit *em, size_t n)
{
	for (; em->em_ncommas < n; em->em_ncommas++)
		out_char(em->em_out, ',');
}

void
emit_close(struct emit *em)
{
	em->em_depth--;
	if (!em->em_is_csv) {
		out_char(em->em_out, em->em_level[em->em_depth].le_close);
		return;
	}
	if (em->em_depth > 0)
		return;
	/* What was not told is empty. */
	go_to_comma(em, em->em_ncolumns - 1);
	out_str(em->em_out, em->em_newline);
}

/* ---------------------------------------------------------------- values */

/* Of a CSV row: up to the column of a name, which is one still to come. */
static bool
go_to_column(struct emit *em, const char *name)
{
	const bool is_theirs = em->em_depth > 1;

	for (size_t n = em->em_at; n < em->em_ncolumns; n++) {
		if (em->em_column[n].co_is_theirs != is_theirs ||
		    strcmp(em->em_column[n].co_name, name) != 0)
			continue;
		go_to_comma(em, n);
		em->em_at = n + 1;
		return (true);
	}
	return (false);
}

static void
put_number(struct emit *em, const char *fmt, int digits, double value)
{
	if (isfinite(value))
		out_fmt(em->em_out, fmt, digits, value);
	else
		out_str(em->em_out, em->em_is_csv ? "" : "null");
}

static void
put_numbers(struct emit *em, const double *values, int n)
{
	out_char(em->em_out, '[');
	for (int i = 0; i < n; i++) {
		out_str(em->em_out, i > 0 ? "," : "");
		put_number(em, "%.*g", EXACT, values[i]);
	}
	out_char(em->em_out, ']');
}

static void
put_quote(struct emit *em)
{
	if (!em->em_is_csv)
		out_char(em->em_out, '"');
}

static void
put_hex(struct emit *em, uint64_t value)
{
	put_quote(em);
	out_str(em->em_out, "0x");
	out_hex(em->em_out, value);
	put_quote(em);
}

static void
put_hexes(struct emit *em, const uint64_t *values, int n)
{
	out_char(em->em_out, '[');
	for (int i = 0; i < n; i++) {
		if (i > 0)
			out_char(em->em_out, ',');
		put_hex(em, values[i]);
	}
	out_char(em->em_out, ']');
}

/* A value that is there. */
static void
put_value(struct emit *em, const struct cell *cell)
{
	switch ((enum cell_type)cell->ce_type) {
	case CELL_BOOL:
		out_str(em->em_out, cell->ce_count ? "true" : "false");
		break;
	case CELL_COUNT:
		out_u64(em->em_out, cell->ce_count);
		break;
	case CELL_SIGNED:
		out_i64(em->em_out, (int64_t)cell->ce_count);
		break;
	case CELL_NUMBER:
		put_number(em, "%.*g", cell->ce_digits, cell->ce_number);
		break;
	case CELL_FIXED:
		put_number(em, "%.*f", cell->ce_digits, cell->ce_number);
		break;
	case CELL_NUMBERS:
		put_numbers(em, cell->ce_numbers, cell->ce_digits);
		break;
	case CELL_HEX:
		put_hex(em, cell->ce_count);
		break;
	case CELL_HEXES:
		put_hexes(em, cell->ce_counts, cell->ce_digits);
		break;
	case CELL_WORD:
		put_quote(em);
		out_str(em->em_out, cell->ce_text);
		put_quote(em);
		break;
	case CELL_TEXT:
	case CELL_GIVEN:
		if (em->em_is_csv)
			out_csv(em->em_out, cell->ce_text != NULL ?
			    cell->ce_text : "");
		else
			out_json(em->em_out, cell->ce_text);
		break;
	case CELL_NULL:
		out_str(em->em_out, em->em_is_csv ? "" : "null");
		break;
	case CELL_LEFT_OUT:
	case CELL_END:
		break;
	}
}

static bool
is_left_out(const struct emit *em, const struct cell *cell)
{
	return (cell->ce_type == CELL_LEFT_OUT || (!em->em_is_csv &&
	    cell->ce_type == CELL_GIVEN && (cell->ce_text == NULL ||
	    cell->ce_text[0] == '\0')));
}

void
emit_cells(struct emit *em, const struct cell *cell)
{
	for (; cell->ce_type != CELL_END; cell++) {
		if (is_left_out(em, cell))
			continue;
		if (!em->em_is_csv)
			begin_item(em, cell->ce_name, cell->ce_length);
		else if (!go_to_column(em, cell->ce_name))
			continue;
		put_value(em, cell);
	}
}
