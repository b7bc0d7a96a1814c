/* SPDX-License-Identifier: ISC */
/*
 * Functions of V8: name, script and line, see v8.h.  Lines are found by the
 * ends of lines of a script, which V8 has only after it was asked for one;
 * else by its source.  They are kept for the scripts met last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "v8.h"

#define DATA_AT		8		/* SharedFunctionInfo */
#define LITERAL_AT	20		/* behind the script */
#define SOURCE_AT	8		/* Script */
#define FILE_AT		16
#define LINE_AT		24
#define ENDS_AT		56
#define MAX_LOCALS	100000
#define FEW_LOCALS	75		/* their names have an object */
#define MAX_SOURCE	(64U << 20)
#define MAX_LINES	(4U << 20)

/* Flags of a ScopeInfo. */
enum { KIND = 0x0f, SAVED_CLASS = 1 << 10, FUNCTION = 3 << 12,
    INFERRED = 1 << 14 };

struct scope {
	uint64_t	 sc_name;
	uint64_t	 sc_inferred;
	uint32_t	 sc_start;
	bool		 sc_is_function;
};

void
v8_kept_free(struct v8_kept *kept)
{
	if (kept == NULL)
		return;
	for (unsigned n = 0; n < V8_SCRIPTS; n++)
		free(kept->ke_lines[n].li_end);
	free(kept);
}

/*
 * Its data, name and script in one go.  Functions that are built in have no
 * script: what is there instead tells nothing, but is the same on both sides.
 */
bool
v8_function_read(const struct v8 *v8, uint64_t shared,
    struct v8_function *function)
{
	const struct v8_layout *layout = v8->v8_layout;
	uint8_t bytes[80];
	uint32_t literal;
	uint64_t map, builtin, serial = 0;

	if (v8_type_in(v8->v8_memory, shared, &map) != layout->vl_shared ||
	    v8_type(v8, map) != layout->vl_map ||
	    !v8_read(v8, shared, 0, bytes, sizeof(bytes)))
		return (false);
	memcpy(&function->fn_data, bytes + DATA_AT, 8);
	memcpy(&function->fn_name, bytes + layout->vl_name, 8);
	memcpy(&function->fn_script, bytes + layout->vl_script_at, 8);
	memcpy(&literal, bytes + layout->vl_script_at + LITERAL_AT, 4);
	memcpy(&builtin, bytes + layout->vl_name - 8, 8);
	if (!prof_peek_read(v8->v8_memory, function->fn_script - 1 +
	    V8_SCRIPT_ID, &serial, sizeof(serial)))
		serial = 0;
	function->fn_identity = dtp_kept_identity(function->fn_script,
	    (uint32_t)(serial >> 32), literal, builtin);
	return (true);
}

uint64_t
v8_function_bytecode(const struct v8 *v8, const struct v8_function *function)
{
	uint16_t type = v8_type(v8, function->fn_data);
	uint64_t data;

	if (type == v8->v8_layout->vl_bytecode)
		return (function->fn_data);
	/* Its baseline code has it. */
	if (type != v8->v8_layout->vl_code || !v8_word(v8, function->fn_data,
	    v8->v8_layout->vl_data, &data) ||
	    v8_type(v8, data) != v8->v8_layout->vl_bytecode)
		return (0);
	return (data);
}

/* ----------------------------------------------------------------- name */

/* From the words behind the locals of a scope, by its flags. */
static bool
scope_rest(const struct v8 *v8, uint64_t object, uint32_t flags,
    uint64_t at, struct scope *scope)
{
	uint64_t start;

	if (flags & SAVED_CLASS)
		at += 8;
	if (flags & FUNCTION) {
		if (!v8_word(v8, object, at, &scope->sc_name))
			return (false);
		at += 16;
	}
	if (flags & INFERRED) {
		if (!v8_word(v8, object, at, &scope->sc_inferred))
			return (false);
		at += 8;
	}
	if (v8->v8_layout->vl_scope_raw)
		return (true);
	if (!v8_word(v8, object, at, &start) || !V8_IS_SMI(start) ||
	    V8_SMI(start) < 0)
		return (false);
	scope->sc_start = (uint32_t)V8_SMI(start);
	return (true);
}

static bool
scope_read(const struct v8 *v8, uint64_t object, struct scope *scope)
{
	const struct v8_layout *layout = v8->v8_layout;
	uint64_t word[5], at = layout->vl_scope_raw ? 48 : 32, locals;
	uint32_t flags;

	if (!v8_read(v8, object, 8, word, sizeof(word)) ||
	    !V8_IS_SMI(word[2]) || V8_SMI(word[2]) < 0 ||
	    V8_SMI(word[2]) > MAX_LOCALS)
		return (false);
	flags = (uint32_t)(layout->vl_scope_raw ? word[0] : word[0] >> 32);
	locals = (uint64_t)V8_SMI(word[2]);
	scope->sc_is_function = (flags & KIND) == layout->vl_scope_function;
	if (!scope->sc_is_function)
		return (true);
	if (layout->vl_scope_raw) {
		if (!V8_IS_SMI(word[3]) || V8_SMI(word[3]) < 0)
			return (false);
		scope->sc_start = (uint32_t)V8_SMI(word[3]);
	}
	at += 8 * (locals < FEW_LOCALS ? locals : 1) + 8 * locals;
	return (scope_rest(v8, object, flags, at, scope));
}

/* The path of a file, where it is one; V8 has URLs of modules. */
static void
file_clean(char *file)
{
	static const char url[] = "file://";
	const size_t n = sizeof(url) - 1;

	if (strncmp(file, url, n) == 0 && file[n] == '/' &&
	    strchr(file, '%') == NULL)
		memmove(file, file + n, strlen(file) + 1 - n);
}

/* What has no name has its file and line; V8's own functions have no file. */
static void
name_place(const char *file, uint32_t line, char *name)
{
	const char *base = strrchr(file, '/');

	base = base == NULL || base[1] == '\0' ? file : base + 1;
	if (*base == '\0')
		(void)snprintf(name, PROF_CODE_TEXT, "(builtin)");
	else if (line == 0)
		(void)snprintf(name, PROF_CODE_TEXT, "%s", base);
	else
		(void)snprintf(name, PROF_CODE_TEXT, "%.*s:%u",
		    PROF_CODE_TEXT - 12, base, line);
}

bool
v8_function_describe(struct v8 *v8, const struct v8_function *function,
    char *name, char *file, uint32_t *line)
{
	struct scope scope = { 0 };
	uint64_t url;

	name[0] = file[0] = '\0';
	*line = 0;
	if (v8_type(v8, function->fn_name) == v8->v8_layout->vl_scope) {
		if (!scope_read(v8, function->fn_name, &scope))
			return (false);
	} else
		scope.sc_name = function->fn_name;
	if (V8_IS_OBJECT(scope.sc_name))
		(void)v8_text(v8, scope.sc_name, name, PROF_CODE_TEXT);
	if (name[0] == '\0' && V8_IS_OBJECT(scope.sc_inferred))
		(void)v8_text(v8, scope.sc_inferred, name, PROF_CODE_TEXT);
	if (v8_type(v8, function->fn_script) == v8->v8_layout->vl_script) {
		if (v8_word(v8, function->fn_script, FILE_AT, &url) &&
		    v8_text(v8, url, file, PROF_CODE_TEXT))
			file_clean(file);
		*line = v8_function_line(v8, function, scope.sc_start);
	}
	if (name[0] == '\0')
		name_place(file, *line, name);
	return (true);
}

/* ---------------------------------------------------------------- lines */

static bool
lines_add(struct v8_lines *lines, uint32_t end)
{
	uint32_t *to = lines->li_n >= MAX_LINES ? NULL :
	    prof_grow(&lines->li_end, &lines->li_n, &lines->li_cap,
	    sizeof(*to));

	if (to == NULL)
		return (false);
	*to = end;
	return (true);
}

/* V8 has an array of them. */
static bool
lines_copy(const struct v8 *v8, struct v8_lines *lines)
{
	uint64_t words[512], n, i, part;

	for (n = 0; n < lines->li_length; n += part) {
		part = lines->li_length - n;
		if (part > 512)
			part = 512;
		if (!v8_read(v8, lines->li_from, V8_HEADER + 8 * n, words,
		    8 * part))
			return (false);
		for (i = 0; i < part; i++)
			if (!V8_IS_SMI(words[i]) || !lines_add(lines,
			    (uint32_t)V8_SMI(words[i])))
				return (false);
	}
	return (true);
}

/* CR LF is one end, and so are two characters of Unicode. */
static bool
lines_scan(struct v8_lines *lines, const uint8_t *bytes, uint32_t n,
    uint32_t from, bool is_wide)
{
	uint16_t c, next;

	for (uint32_t i = 0; i < n; i++) {
		c = next = bytes[i];
		if (is_wide)
			memcpy(&c, bytes + 2 * i, 2);
		if (c != '\n' && c != '\r' && (c & 0xfffe) != 0x2028)
			continue;
		/* The buffer has one character more. */
		next = bytes[i + 1];
		if (is_wide)
			memcpy(&next, bytes + 2 * i + 2, 2);
		if ((c != '\r' || next != '\n') &&
		    !lines_add(lines, from + i))
			return (false);
	}
	return (true);
}

static bool
lines_find(const struct v8 *v8, struct v8_lines *lines, uint64_t source)
{
	const uint32_t room = 16384;
	uint8_t bytes[2 * 16384 + 2];
	uint32_t length, n, part, more;
	uint64_t chars;
	bool is_wide;

	if (!v8_flat(v8, source, &chars, &length, &is_wide) ||
	    length > MAX_SOURCE)
		return (false);
	for (n = 0; n < length; n += part) {
		part = length - n < room ? length - n : room;
		more = n + part < length ? 1 : 0;
		memset(bytes, 0, sizeof(bytes));
		if (!prof_peek_read(v8->v8_memory,
		    chars + (uint64_t)n * (is_wide ? 2 : 1), bytes,
		    (part + more) * (is_wide ? 2 : 1)) ||
		    !lines_scan(lines, bytes, part, n, is_wide))
			return (false);
	}
	return (lines_add(lines, length));
}

/* Those of a script, kept or found; NULL: they cannot be read. */
static const struct v8_lines *
lines_of(struct v8 *v8, uint64_t script)
{
	struct v8_kept *kept = v8->v8_kept;
	uint64_t word[V8_SCRIPT_ID / 8 + 1], from, id, length = 0;
	struct v8_lines *lines;
	bool is_array;

	if (!v8_read(v8, script, 0, word, sizeof(word)))
		return (NULL);
	id = word[V8_SCRIPT_ID / 8];
	from = word[ENDS_AT / 8];
	is_array = v8_type(v8, from) == v8->v8_layout->vl_array &&
	    v8_word(v8, from, 8, &length) && V8_IS_SMI(length) &&
	    V8_SMI(length) > 0;
	if (!is_array)
		from = word[SOURCE_AT / 8];
	for (unsigned n = 0; n < V8_SCRIPTS; n++) {
		lines = &kept->ke_lines[n];
		if (lines->li_script == script && lines->li_id == id &&
		    lines->li_from == from && lines->li_n > 0)
			return (lines);
	}
	lines = &kept->ke_lines[kept->ke_next++ % V8_SCRIPTS];
	lines->li_script = script;
	lines->li_id = id;
	lines->li_from = from;
	lines->li_length = is_array ? (uint64_t)V8_SMI(length) : 0;
	lines->li_n = 0;
	if (is_array ? lines_copy(v8, lines) : lines_find(v8, lines, from))
		return (lines);
	lines->li_n = 0;
	return (NULL);
}

uint32_t
v8_function_line(struct v8 *v8, const struct v8_function *function,
    uint32_t position)
{
	const struct v8_lines *lines;
	size_t low = 0, high, middle;
	uint64_t first;

	if (v8_type(v8, function->fn_script) != v8->v8_layout->vl_script ||
	    !v8_word(v8, function->fn_script, LINE_AT, &first) ||
	    !V8_IS_SMI(first) || V8_SMI(first) < 0 ||
	    (lines = lines_of(v8, function->fn_script)) == NULL)
		return (0);
	for (high = lines->li_n; low < high;) {
		middle = low + (high - low) / 2;
		if (lines->li_end[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return (low == lines->li_n ? 0 :
	    (uint32_t)low + 1 + (uint32_t)V8_SMI(first));
}
