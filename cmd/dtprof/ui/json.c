/* SPDX-License-Identifier: ISC */
/*
 * Reads JSON: results of benchmarks, ours and those of other tools.  All of
 * it becomes a tree; depth is bounded, and every length is one that was seen.
 *
 * Called by bench (to go on where it stopped) and compare.  Writing JSON is
 * out.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmd.h"
#include "json.h"

#define MAX_DEPTH	64
#define MAX_FILE	(1UL << 30)

struct parse {
	const char	*pa_at;
	const char	*pa_end;
	const char	*pa_why;
	int		 pa_depth;
};

static struct json *parse_value(struct parse *parse);

static struct json *
json_refuse(struct parse *parse, const char *why)
{
	if (parse->pa_why == NULL)
		parse->pa_why = why;
	return (NULL);
}

static void
skip_blanks(struct parse *parse)
{
	while (parse->pa_at < parse->pa_end &&
	    strchr(" \t\r\n", *parse->pa_at) != NULL && *parse->pa_at != '\0')
		parse->pa_at++;
}

static bool
char_take(struct parse *parse, char c)
{
	skip_blanks(parse);
	if (parse->pa_at == parse->pa_end || *parse->pa_at != c)
		return (false);
	parse->pa_at++;
	return (true);
}

static struct json *
node_new(struct parse *parse, enum json_type type)
{
	struct json *json = calloc(1, sizeof(*json));

	if (json == NULL)
		return (json_refuse(parse, "out of memory"));
	json->js_type = type;
	return (json);
}

/* ------------------------------------------------------------ strings */

static int
hex4_parse(struct parse *parse, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++) {
		const char c = parse->pa_at < parse->pa_end ?
		    *parse->pa_at++ : '\0';

		if (c >= '0' && c <= '9')
			*code = *code << 4 | (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*code = *code << 4 | (uint32_t)((c | 32) - 'a' + 10);
		else
			return (-1);
	}
	return (0);
}

static char *
put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return (to);
}

/* What stands behind \u; halves of a pair that stand alone are replaced. */
static char *
take_unicode(struct parse *parse, char *to)
{
	uint32_t code, low;

	if (hex4_parse(parse, &code) == -1)
		return (NULL);
	if (code >= 0xd800 && code < 0xdc00 &&
	    parse->pa_end - parse->pa_at >= 6 && parse->pa_at[0] == '\\' &&
	    parse->pa_at[1] == 'u') {
		parse->pa_at += 2;
		if (hex4_parse(parse, &low) == -1)
			return (NULL);
		code = low >= 0xdc00 && low < 0xe000 ?
		    0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) : 0xfffd;
	}
	if (code == 0 || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	return (put_utf8(to, code));
}

static char *
take_escape(struct parse *parse, char *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char c = parse->pa_at < parse->pa_end ? *parse->pa_at++ : '\0';
	const char *which;

	if (c == 'u')
		return (take_unicode(parse, to));
	if (c == '\0' || (which = strchr(from, c)) == NULL)
		return (NULL);
	*to++ = into[which - from];
	return (to);
}

/* The opening quote has been taken.  No escape is shorter than its text. */
static char *
parse_text(struct parse *parse)
{
	const char *end = parse->pa_at;
	char *text, *to;

	while (end < parse->pa_end && *end != '"')
		end += *end == '\\' && end + 1 < parse->pa_end ? 2 : 1;
	text = to = malloc((size_t)(end - parse->pa_at) + 1);
	if (text == NULL) {
		json_refuse(parse, "out of memory");
		return (NULL);
	}
	while (parse->pa_at < parse->pa_end && *parse->pa_at != '"') {
		const char c = *parse->pa_at++;

		if (c != '\\')
			*to++ = c != '\0' ? c : '?';
		else if ((to = take_escape(parse, to)) == NULL)
			break;
	}
	if (to == NULL || !char_take(parse, '"')) {
		json_refuse(parse, "invalid string");
		free(text);
		return (NULL);
	}
	*to = '\0';
	return (text);
}

/* ------------------------------------------------------------- values */

/* The closing bracket ends it; what follows a comma must be a value. */
static struct json *
parse_list(struct parse *parse, enum json_type type, char close)
{
	struct json *list = node_new(parse, type), **next;
	char *name = NULL;

	if (list == NULL)
		return (NULL);
	next = &list->js_first;
	if (char_take(parse, close))
		return (list);
	do {
		if (type == JSON_OBJECT && (!char_take(parse, '"') ||
		    (name = parse_text(parse)) == NULL ||
		    !char_take(parse, ':')))
			goto fail;
		*next = parse_value(parse);
		if (*next == NULL)
			goto fail;
		(*next)->js_name = name;
		name = NULL;
		next = &(*next)->js_next;
	} while (char_take(parse, ','));
	if (char_take(parse, close))
		return (list);
fail:
	free(name);
	json_free(list);
	return (json_refuse(parse, "invalid list"));
}

static struct json *
parse_number(struct parse *parse)
{
	struct json *json;
	char digits[64], *end;
	size_t n = 0;

	while (n < sizeof(digits) - 1 && parse->pa_at + n < parse->pa_end &&
	    strchr("+-.0123456789eE", parse->pa_at[n]) != NULL &&
	    parse->pa_at[n] != '\0') {
		digits[n] = parse->pa_at[n];
		n++;
	}
	digits[n] = '\0';
	json = node_new(parse, JSON_NUMBER);
	if (json == NULL)
		return (NULL);
	json->js_number = strtod(digits, &end);
	if (n == 0 || *end != '\0') {
		json_free(json);
		return (json_refuse(parse, "invalid value"));
	}
	parse->pa_at += n;
	return (json);
}

static bool
take_word(struct parse *parse, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(parse->pa_end - parse->pa_at) < n ||
	    memcmp(parse->pa_at, word, n) != 0)
		return (false);
	parse->pa_at += n;
	return (true);
}

static struct json *
parse_any(struct parse *parse)
{
	struct json *json;

	if (char_take(parse, '{'))
		return (parse_list(parse, JSON_OBJECT, '}'));
	if (char_take(parse, '['))
		return (parse_list(parse, JSON_ARRAY, ']'));
	if (take_word(parse, "null"))
		return (node_new(parse, JSON_NULL));
	if (take_word(parse, "false"))
		return (node_new(parse, JSON_FALSE));
	if (take_word(parse, "true"))
		return (node_new(parse, JSON_TRUE));
	if (!char_take(parse, '"'))
		return (parse_number(parse));
	json = node_new(parse, JSON_STRING);
	if (json != NULL && (json->js_text = parse_text(parse)) == NULL) {
		json_free(json);
		return (NULL);
	}
	return (json);
}

static struct json *
parse_value(struct parse *parse)
{
	struct json *json;

	if (parse->pa_depth == MAX_DEPTH)
		return (json_refuse(parse, "arrays and objects are nested too "
		    "deeply"));
	parse->pa_depth++;
	json = parse_any(parse);
	parse->pa_depth--;
	return (json);
}

struct json *
json_parse(const char *text, size_t length, const char **why)
{
	struct parse parse = { text, text + length, NULL, 0 };
	struct json *json = parse_value(&parse);

	skip_blanks(&parse);
	if (json != NULL && parse.pa_at != parse.pa_end) {
		json_free(json);
		json = json_refuse(&parse, "trailing characters");
	}
	*why = parse.pa_why;
	return (json);
}

/* Along the list; down only as deep as was parsed. */
void
json_free(struct json *json)
{
	while (json != NULL) {
		struct json *next = json->js_next;

		json_free(json->js_first);
		free(json->js_name);
		free(json->js_text);
		free(json);
		json = next;
	}
}

const struct json *
json_get(const struct json *json, const char *name)
{
	if (json == NULL || json->js_type != JSON_OBJECT)
		return (NULL);
	for (json = json->js_first; json != NULL; json = json->js_next)
		if (strcmp(json->js_name, name) == 0)
			break;
	return (json);
}

double
json_number(const struct json *json, const char *name, double otherwise)
{
	json = json_get(json, name);
	return (json != NULL && json->js_type == JSON_NUMBER ?
	    json->js_number : otherwise);
}

const char *
json_text(const struct json *json, const char *name)
{
	json = json_get(json, name);
	return (json != NULL && json->js_type == JSON_STRING ?
	    json->js_text : NULL);
}

size_t
json_count(const struct json *json)
{
	size_t n = 0;

	if (json != NULL)
		for (json = json->js_first; json != NULL;
		    json = json->js_next)
			n++;
	return (n);
}

/* All that comes from it, which is then closed. */
static char *
read_all(int fd, size_t *length)
{
	size_t n = 0, cap = 65536;
	ssize_t got = -1;
	char *text = NULL, *grown;
	int saved;

	do {
		grown = n >= MAX_FILE ? NULL : realloc(text, cap + 1);
		if (grown == NULL) {
			errno = n >= MAX_FILE ? EFBIG : ENOMEM;
			got = -1;
			break;
		}
		text = grown;
		got = read(fd, text + n, cap - n);
		if (got > 0)
			n += (size_t)got;
		if (n == cap)
			cap *= 2;
	} while (got > 0);
	saved = errno;
	close(fd);
	if (got == -1) {
		free(text);
		errno = saved;
		return (NULL);
	}
	text[n] = '\0';
	*length = n;
	return (text);
}

char *
file_read(const char *path, size_t *length)
{
	const int fd = prof_reading_open(path, O_NOCTTY);

	file_narrow(path);
	return (fd == -1 ? NULL : read_all(fd, length));
}

char *
file_read_regular(const char *path, size_t *length)
{
	const int fd = file_open_regular(path);

	return (fd == -1 ? NULL : read_all(fd, length));
}
