/* SPDX-License-Identifier: ISC */
/*
 * The columns of a report that say what a row is about: what --by asks for in
 * its order, the kind of the code and the module it is in; of a tree the name
 * is indented.  On a terminal what is too wide is cut, the widest first.
 *
 * Called by report_text.c.
 */
#include <string.h>

#include "../ui/terminal.h"
#include "report.h"

#define MAX_KEYS	(BY_NWORDS + PROF_MAX_ARGS)
#define GAP		2	/* between columns */
#define PLACE_TEXT	4200	/* a path and a line */
#define KIND_WIDTH	6	/* at least */
#define WHERE_WIDTH	16	/* once something must be cut */
#define NAME_WIDTH	30	/* below it a kind has no room */
#define TREE_WIDTH	50	/* the same in a tree, with indentation */
#define PADDED_WIDTH	48	/* without a terminal: of what is aligned */

static bool
has_name(const struct report_table *table)
{
	return (table->ta_is_tree ||
	    (table->ta_by & (BY_FUNCTION | BY_LINE)) != 0);
}

/* Functions apart by address have it in their names; and see na_where. */
static bool
is_column(const struct report_table *table, size_t n)
{
	const unsigned key = table->ta_keys->rb_key[n];

	if (table->ta_is_tree)
		return (n == 0);
	return (key >= BY_NWORDS || (1u << key != BY_ADDRESS &&
	    (1u << key != BY_MODULE || !has_name(table))));
}

static const char *
head_of(const struct report_table *table, size_t n)
{
	if (table->ta_is_tree)
		return (table->ta_by & BY_LINE ? "line" : "function");
	return (report_by_word(table->ta_keys, n));
}

const char *
report_kind(const struct report_row *row)
{
	if (row->rw_module != NULL &&
	    strcmp(row->rw_module, "[syscall]") == 0)
		return ("kernel");
	if (row->rw_function == NULL || row->rw_module == NULL ||
	    (row->rw_module[0] == '\0' &&
	    row->rw_function->fu_kind == PROF_FRAME_NATIVE))
		return ("");
	return (prof_frame_kind_name(row->rw_function->fu_kind));
}

/* On a terminal the last part of a path. */
static const char *
where_of(const struct report_names *names, const struct report_row *row)
{
	const char *module = row->rw_module != NULL ? row->rw_module : "";

	return (names->na_is_wide ? module : file_name(module));
}

/* The same, with the line where a function of a script begins. */
static const char *
place_of(const struct report_names *names, const struct report_row *row,
    char *text)
{
	const char *where = where_of(names, row);

	if (row->rw_function == NULL || row->rw_function->fu_line == 0 ||
	    (names->na_table->ta_by & BY_LINE))
		return (where);
	(void)snprintf(text, PLACE_TEXT, "%s:%u", where,
	    row->rw_function->fu_line);
	return (text);
}

/* What a row has for a word of --by, BY_*; NULL: nothing. */
static const char *
word_of(const struct report_names *names, const struct report_row *row,
    unsigned word)
{
	const struct prof_event_info *info =
	    report_column(names->na_table, row, 0)->co_info;

	switch (word) {
	case BY_PID:
		return (row->rw_pid);
	case BY_TID:
		return (row->rw_tid);
	case BY_COMM:
		return (row->rw_comm);
	case BY_CPU:
		return (row->rw_cpu);
	case BY_EVENT:
		return (info->pi_name);
	case BY_PROBE:
		return (info->pi_probe);
	case BY_SYSCALL:
		return (row->rw_call);
	case BY_MODULE:
		return (row->rw_module == NULL ? NULL :
		    row->rw_module[0] == '\0' ? "[no module]" :
		    where_of(names, row));
	}
	return (row->rw_name);
}

static const char *
text_of(const struct report_names *names, const struct report_row *row,
    size_t n)
{
	const struct report_table *table = names->na_table;
	const unsigned key = table->ta_keys->rb_key[n];
	const char *text;

	if (table->ta_is_tree)
		return (row->rw_name);
	text = key >= BY_NWORDS ? row->rw_arg[key - BY_NWORDS] :
	    word_of(names, row, 1u << key);
	return (text != NULL ? text : "");
}

/* ---------------------------------------------------------------- widths */

/* Columns before a name in a tree; levels beyond are told by a number. */
static size_t
indent_of(const struct report_names *names, const struct report_row *row,
    size_t *beyond)
{
	const size_t depth = row->rw_depth;
	size_t columns = 2;

	*beyond = 0;
	if (!names->na_table->ta_is_tree)
		return (0);
	if (depth <= names->na_levels)
		return (names->na_indent * depth);
	*beyond = depth - names->na_levels;
	for (size_t n = *beyond; n > 0; n /= 10)
		columns++;
	return (names->na_indent * names->na_levels + columns);
}

/* How much of the room a tree may be indented by. */
static void
fit_levels(struct report_names *names, size_t room)
{
	const struct report_table *table = names->na_table;
	size_t deepest = 0;

	for (size_t r = 0; r < table->ta_nrows; r++)
		if (table->ta_row[r].rw_depth > deepest)
			deepest = table->ta_row[r].rw_depth;
	names->na_indent = 2;
	names->na_levels = deepest;
	if (names->na_is_wide)
		return;
	if (2 * deepest > room / 2)
		names->na_indent = 1;
	if (names->na_indent * deepest > room / 2)
		names->na_levels = room / 2;
}

/* As wide as the widest. */
static void
widths_measure(struct report_names *names)
{
	const struct report_table *table = names->na_table;
	const struct report_row *row;
	char text[PLACE_TEXT];
	size_t width, beyond;

	for (size_t n = 0; n < table->ta_keys->rb_nkeys; n++) {
		if (!is_column(table, n))
			continue;
		names->na_width[n] = strlen(head_of(table, n));
		for (size_t r = 0; r < table->ta_nrows; r++) {
			row = &table->ta_row[r];
			width = terminal_columns(text_of(names, row, n)) +
			    indent_of(names, row, &beyond);
			if (width > names->na_width[n])
				names->na_width[n] = width;
		}
	}
	for (size_t r = 0; r < table->ta_nrows && has_name(table); r++) {
		row = &table->ta_row[r];
		width = terminal_columns(place_of(names, row, text));
		if (width > names->na_where)
			names->na_where = width;
		width = table->ta_has_kinds ? strlen(report_kind(row)) : 0;
		if (width > 0 && width < KIND_WIDTH)
			width = KIND_WIDTH;
		if (width > names->na_kind)
			names->na_kind = width;
	}
	if (names->na_where > 0 && names->na_where < strlen("where"))
		names->na_where = strlen("where");
}

/* No key wider than this. */
static size_t
width_below(const struct report_names *names, size_t cap)
{
	size_t sum = 0;

	for (size_t n = 0; n < MAX_KEYS; n++)
		if (names->na_width[n] > 0)
			sum += GAP + (names->na_width[n] < cap ?
			    names->na_width[n] : cap);
	return (sum + (names->na_where > 0 ? names->na_where : 0) -
	    (names->na_where > 0 ? 0 : GAP));
}

static void
widths_limit(struct report_names *names, size_t cap)
{
	for (size_t n = 0; n < MAX_KEYS; n++)
		if (names->na_width[n] > cap)
			names->na_width[n] = cap;
}

void
report_names_fit(struct report_names *names,
    const struct report_table *table, size_t room)
{
	size_t cap;

	memset(names, 0, sizeof(*names));
	names->na_table = table;
	names->na_is_wide = room == 0;
	fit_levels(names, room);
	widths_measure(names);
	if (names->na_is_wide) {
		widths_limit(names, PADDED_WIDTH);
		if (names->na_where > PADDED_WIDTH)
			names->na_where = PADDED_WIDTH;
		return;
	}
	if (room < names->na_kind + 1 +
	    (table->ta_is_tree ? TREE_WIDTH : NAME_WIDTH))
		names->na_kind = 0;
	if (names->na_kind > 0)
		room -= names->na_kind + 1;
	if (width_below(names, SIZE_MAX) > room &&
	    names->na_where > WHERE_WIDTH)
		names->na_where = WHERE_WIDTH;
	if (width_below(names, 8) > room)
		names->na_where = 0;
	for (cap = room; cap > 2 && width_below(names, cap) > room; cap--)
		continue;
	widths_limit(names, cap);
	/* What is left of a tree's column is for names, half of it. */
	if (names->na_indent * names->na_levels > names->na_width[0] / 2)
		names->na_levels = names->na_width[0] / 2 / names->na_indent;
}

/* ------------------------------------------------------------------ rows */

/* Hostile text; the last column has nothing behind it. */
static void
column_put(const struct report_names *names, struct out *out, const char *text,
    size_t width, bool is_last)
{
	size_t used = terminal_text(out, text,
	    names->na_is_wide ? SIZE_MAX : width);

	if (!is_last)
		out_fmt(out, "%*s", (int)(GAP + (used < width ? width - used :
		    0)), "");
}

static size_t
last_key(const struct report_names *names)
{
	size_t last = 0;

	for (size_t n = 0; n < names->na_table->ta_keys->rb_nkeys; n++)
		if (is_column(names->na_table, n))
			last = n;
	return (last);
}

void
report_names_head(const struct report_names *names, struct out *out)
{
	const struct report_table *table = names->na_table;
	const size_t last = last_key(names);

	for (size_t n = 0; n < table->ta_keys->rb_nkeys; n++) {
		if (!is_column(table, n))
			continue;
		if (names->na_kind > 0 && (table->ta_is_tree || 1u <<
		    table->ta_keys->rb_key[n] & (BY_FUNCTION | BY_LINE)))
			out_fmt(out, "%-*s ", (int)names->na_kind, "kind");
		column_put(names, out, head_of(table, n), names->na_width[n],
		    n == last && names->na_where == 0);
	}
	if (names->na_where > 0)
		out_str(out, "where");
}

/* A name, in a tree as deep as it is. */
static void
put_name(const struct report_names *names, struct out *out,
    const struct report_row *row, size_t n, bool is_last)
{
	size_t beyond, indent = indent_of(names, row, &beyond);
	size_t width = names->na_width[n];

	if (beyond > 0)
		out_fmt(out, "%*s+%zu ", (int)(names->na_indent *
		    names->na_levels), "", beyond);
	else
		out_fmt(out, "%*s", (int)indent, "");
	if (names->na_kind > 0 && !row->rw_is_root)
		out_fmt(out, "%-*s ", (int)names->na_kind,
		    report_kind(row));
	else if (names->na_kind > 0)
		width += names->na_kind + 1;
	column_put(names, out, text_of(names, row, n), width > indent + 2 ?
	    width - indent : 2, is_last);
}

void
report_names_row(const struct report_names *names, struct out *out,
    const struct terminal *terminal, const struct report_row *row)
{
	const struct report_table *table = names->na_table;
	const size_t last = last_key(names);
	char text[PLACE_TEXT];
	const char *where = place_of(names, row, text);

	for (size_t n = 0; n < table->ta_keys->rb_nkeys; n++) {
		const unsigned key = table->ta_keys->rb_key[n];
		const bool is_last = n == last &&
		    (names->na_where == 0 || *where == '\0');

		if (!is_column(table, n))
			continue;
		if (table->ta_is_tree || (key < BY_NWORDS &&
		    1u << key & (BY_FUNCTION | BY_LINE)))
			put_name(names, out, row, n, is_last);
		else
			column_put(names, out, text_of(names, row, n),
			    names->na_width[n], is_last);
	}
	if (names->na_where == 0 || *where == '\0')
		return;
	terminal_colour(terminal, out, TERMINAL_DIM);
	(void)terminal_text(out, where, names->na_is_wide ? SIZE_MAX :
	    names->na_where);
	terminal_colour(terminal, out, TERMINAL_PLAIN);
}
