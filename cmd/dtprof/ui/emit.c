/* SPDX-License-Identifier: ISC */
/*
 * Rows for programs.  A report says what a row holds, once, value by value:
 *
 *	emit_object(emit, NULL);
 *	emit_text(emit, "name", name);		{"name":"main","self":12}
 *	emit_count(emit, "self", 12);		"main",12
 *	emit_close(emit);
 *
 * and the form decides how it is written.  Commas, brackets and quotes are
 * here and nowhere else.  In JSON values stand as they come; in CSV a value
 * stands in the column of its name.  Names of JSON members and of columns are
 * a contract (dtprof(1)): added, never renamed.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "emit.h"

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

/* The comma, the line and the name of what comes next. */
static void
begin_item(struct emit *em, const char *name)
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
	if (name != NULL) {
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
	begin_item(em, name);
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

/* False: there is nothing to write. */
static bool
begin_value(struct emit *em, const char *name)
{
	if (em->em_is_csv)
		return (go_to_column(em, name));
	begin_item(em, name);
	return (true);
}

void
emit_null(struct emit *em, const char *name)
{
	if (begin_value(em, name) && !em->em_is_csv)
		out_str(em->em_out, "null");
}

void
emit_bool(struct emit *em, const char *name, bool value)
{
	if (begin_value(em, name))
		out_str(em->em_out, value ? "true" : "false");
}

void
emit_count(struct emit *em, const char *name, uint64_t value)
{
	if (begin_value(em, name))
		out_u64(em->em_out, value);
}

void
emit_signed(struct emit *em, const char *name, int64_t value)
{
	if (begin_value(em, name))
		out_i64(em->em_out, value);
}

void
emit_number(struct emit *em, const char *name, double value, int digits)
{
	if (!isfinite(value))
		emit_null(em, name);
	else if (begin_value(em, name))
		out_fmt(em->em_out, "%.*g", digits, value);
}

void
emit_fixed(struct emit *em, const char *name, double value, int digits)
{
	if (!isfinite(value))
		emit_null(em, name);
	else if (begin_value(em, name))
		out_fmt(em->em_out, "%.*f", digits, value);
}

void
emit_share(struct emit *em, const char *name, double share)
{
	emit_fixed(em, name, share < 0 ? NAN : share, 6);
}

void
emit_hex(struct emit *em, const char *name, uint64_t value)
{
	if (!begin_value(em, name))
		return;
	out_str(em->em_out, em->em_is_csv ? "0x" : "\"0x");
	out_hex(em->em_out, value);
	out_str(em->em_out, em->em_is_csv ? "" : "\"");
}

void
emit_word(struct emit *em, const char *name, const char *word)
{
	if (em->em_is_csv && go_to_column(em, name))
		out_str(em->em_out, word);
	else if (!em->em_is_csv)
		emit_text(em, name, word);
}

void
emit_text(struct emit *em, const char *name, const char *text)
{
	if (!begin_value(em, name))
		return;
	if (em->em_is_csv)
		out_csv(em->em_out, text != NULL ? text : "");
	else
		out_json(em->em_out, text);
}

void
emit_given(struct emit *em, const char *name, const char *text)
{
	if (em->em_is_csv || (text != NULL && text[0] != '\0'))
		emit_text(em, name, text);
}
