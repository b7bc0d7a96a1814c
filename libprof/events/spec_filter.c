/* SPDX-License-Identifier: ISC */
/*
 * The filter of one event: EVENT{EXPRESSION}.  What the expression says is for
 * filter/ to read, once the event's arguments are known; which arguments it
 * names has to be known before, so that probes get them.
 *
 * Called by spec.c.  The text may be anything at all.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "names.h"

/* The brace that begins it, outside of quotes and parentheses; or NULL. */
static char *
filter_begin(char *text)
{
	bool is_quoted = false;
	int depth = 0;

	/* A brace that comes first begins a group. */
	for (char *at = text; *at != '\0'; at++) {
		if (*at == '"')
			is_quoted = !is_quoted;
		else if (is_quoted)
			continue;
		else if (*at == '{' && depth == 0)
			return (at == text ? NULL : at);
		else if (*at == '(')
			depth++;
		else if (*at == ')')
			depth--;
	}
	return (NULL);
}

/* Behind a word that may name an argument; a path, or "str(arg0)". */
static const char *
word_end(const char *at)
{
	const char *begin = at;

	while (isalnum((unsigned char)*at) || *at == '_' || *at == '.' ||
	    (at[0] == '-' && at[1] == '>') || (*at == '>' && at > begin &&
	    at[-1] == '-'))
		at++;
	if (*at == '(' && at - begin == 3 && strncmp(begin, "str", 3) == 0 &&
	    strchr(at, ')') != NULL)
		at = strchr(at, ')') + 1;
	return (at);
}

/* What each event has, and words of the language. */
static bool
is_common(const char *word)
{
	static const char *const words[] = { "pid", "tid", "cpu", "uid", "gid",
	    "comm", "kernel", "in" };

	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (strcmp(word, words[n]) == 0)
			return (true);
	return (false);
}

static void
word_add(struct prof_spec *spec, const char *word)
{
	for (size_t n = 0; n < spec->sp_nused; n++)
		if (strcmp(spec->sp_used[n], word) == 0)
			return;
	if (!is_common(word) && spec->sp_nused < PROF_SPEC_TERMS)
		spec->sp_used[spec->sp_nused++] = word;
}

/* stack compared with text is not an argument; filter/ refuses it. */
static bool
is_stack(const char *word, const char *behind)
{
	const char value = behind[strspn(behind, " =!~")];

	return (strcmp(word, "stack") == 0 && (value == '"' || value == '\''));
}

static void
words_find(struct prof_spec *spec)
{
	char *to = spec->sp_used_text;
	const char *at = spec->sp_filter, *end;

	while (*at != '\0') {
		if (*at == '"' || *at == '\'') {
			end = strchr(at + 1, *at);
			at = end == NULL ? at + strlen(at) : end + 1;
			continue;
		}
		end = word_end(at);
		if (isalpha((unsigned char)*at) || *at == '_') {
			memcpy(to, at, (size_t)(end - at));
			to[end - at] = '\0';
			if (!is_stack(to, end))
				word_add(spec, to);
			to += end - at + 1;
		}
		at = end == at ? at + 1 : end;
	}
}

int
prof_spec_filter(struct prof_spec *spec, struct prof_err *error)
{
	char *begin = filter_begin(spec->sp_text), *end;

	if (begin == NULL)
		return (0);
	end = begin + strlen(begin) - 1;
	if (*end != '}') {
		prof_fail(error, PROF_E_EVENT_SYNTAX, "invalid event name "
		    "'%s': the filter does not end in '}'", spec->sp_whole);
		return (prof_cure(error, "use EVENT{EXPRESSION}, with "
		    "'\"...\"' around file and function if they contain "
		    "braces"));
	}
	*begin = *end = '\0';
	spec->sp_filter = begin + 1;
	words_find(spec);
	return (0);
}

int
prof_spec_no_filter(const struct prof_spec *spec, const char *what,
    struct prof_err *error)
{
	if (spec->sp_filter == NULL)
		return (0);
	prof_fail(error, PROF_E_EVENT_SYNTAX, "%s: %s cannot have its own "
	    "filter",
	    spec->sp_whole, what);
	return (prof_cure(error, "leave '{%s}' out", spec->sp_filter));
}
