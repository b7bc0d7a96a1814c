/* SPDX-License-Identifier: ISC */
/*
 * What one may show of text that others chose: names of functions, threads
 * and files.  Splits it into characters and says which of them would do
 * something to a terminal or to the order in which one reads, instead of
 * being read.  Every output escapes by this, each in its own notation.
 */
#include <stdbool.h>

#include "prof.h"
#include "text.h"

/* Bytes of one well-formed character, 0: it is not well formed. */
static size_t
utf8_take(const unsigned char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n;

	*code = text[0];
	if (*code < 0x80)
		return (1);
	if (*code >= 0xc2 && *code < 0xe0)
		n = 2;
	else if (*code >= 0xe0 && *code < 0xf0)
		n = 3;
	else if (*code >= 0xf0 && *code < 0xf5)
		n = 4;
	else
		return (0);
	*code &= 0x7fU >> n;
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return (0);
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code < 0xe000))
		return (0);
	return (n);
}

/*
 * Moves the cursor, changes the terminal, reorders what one reads, or is no
 * character at all (U+FFFE and U+FFFF, which XML does not take either).
 */
static bool
is_hostile(uint32_t code)
{
	return (code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	    code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2060 && code <= 0x2069) || code == 0xfeff ||
	    code == 0xfffe || code == 0xffff);
}

size_t
prof_text_take(const char *text, uint32_t *code, int *is_plain)
{
	size_t n = utf8_take((const unsigned char *)text, code);

	*is_plain = n != 0 && !is_hostile(*code);
	return (n);
}

uint64_t
prof_unit_scale(const char *unit, const char **name)
{
	const char *at = unit;
	uint64_t scale = 1;

	*name = unit;
	if (*at++ != '0' || *at++ != '.')
		return (1);
	while (*at == '0' && !__builtin_mul_overflow(scale, 10, &scale))
		at++;
	if (at[0] != '1' || at[1] != ' ' ||
	    __builtin_mul_overflow(scale, 10, &scale))
		return (1);
	*name = at + 2;
	return (scale);
}
