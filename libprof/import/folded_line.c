/* SPDX-License-Identifier: ISC */
/*
 * See folded.h.  What is refused is refused with its reason: a count that was
 * read as something else would be a figure that nobody wrote.
 */
#include <string.h>

#include "folded.h"

static bool
is_blank(char c)
{
	return (c == ' ' || c == '\t');
}

/* Without blanks at its end, nor what ends lines elsewhere. */
static const char *
line_trim(const char *text, const char *end)
{
	while (end > text && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	return (end);
}

bool
folded_line_is_empty(const char *text, size_t length)
{
	if (length > 0 && *text == '#')
		return (true);
	return (line_trim(text, text + length) == text);
}

static bool
add_digit(uint64_t *digits, uint64_t digit)
{
	return (!__builtin_mul_overflow(*digits, 10, digits) &&
	    !__builtin_add_overflow(*digits, digit, digits));
}

/* Digits, with a point between them at most; NULL, or why it is none. */
static const char *
read_count(const char *at, const char *end, struct folded_count *count)
{
	const char *point = memchr(at, '.', (size_t)(end - at));
	bool any = false;

	memset(count, 0, sizeof(*count));
	if (end - at > 1 && *at == '-' && at[1] >= '0' && at[1] <= '9')
		return ("negative count");
	/* What stands last behind the point says nothing when it is 0. */
	while (point != NULL && end > point && (end[-1] == '0' ||
	    end[-1] == '.')) {
		any = any || (end[-1] == '0');
		end--;
	}
	for (; at < end; at++) {
		if (at == point)
			continue;
		if (*at < '0' || *at > '9')
			return ("the count is not a decimal number");
		if (!add_digit(&count->fc_digits, (uint64_t)(*at - '0')))
			return ("the count exceeds 64 bits");
		count->fc_decimals += point != NULL && at > point;
		any = true;
	}
	if (!any)
		return ("the count is not a decimal number");
	return (count->fc_decimals > FOLDED_DECIMALS ?
	    "the count exceeds 64 bits" : NULL);
}

/* Where the last word begins; text: there is no other. */
static const char *
last_word(const char *text, const char *end)
{
	while (end > text && !is_blank(end[-1]))
		end--;
	return (end);
}

const char *
folded_line_parse(const char *text, size_t length, struct folded_line *line)
{
	const char *end = text + length, *count, *before;
	const char *why;

	if (memchr(text, '\0', length) != NULL)
		return ("not text");
	end = line_trim(text, end);
	count = last_word(text, end);
	why = read_count(count, end, &line->ln_count[1]);
	if (count == text)
		return (why == NULL ? "no stack before the count" :
		    "no count after the stack");
	if (why != NULL)
		return (why);
	line->ln_text = text;
	line->ln_length = (size_t)(count - 1 - text);
	if (line->ln_length == 0)
		return ("no stack before the count");
	/* The same of what stands before it. */
	end = line_trim(text, count);
	before = last_word(text, end);
	line->ln_has_two = before > text + 1 && read_count(before, end,
	    &line->ln_count[0]) == NULL;
	line->ln_length_of_two = line->ln_has_two ?
	    (size_t)(before - 1 - text) : 0;
	return (NULL);
}
