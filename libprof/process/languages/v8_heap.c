/* SPDX-License-Identifier: ISC */
/*
 * Words, types and strings of V8's heap, see v8.h.
 */
#include <string.h>

#include "v8.h"

#define TYPE_AT		12	/* of a map */
#define LENGTH_AT	12	/* of a string */
#define CHARS_AT	16
#define FIRST_AT	16	/* cons; parent of a slice, or what it is */
#define SECOND_AT	24	/* cons; offset of a slice; external chars */
#define MAX_DEPTH	8	/* of strings made of others */

enum { STRINGS = 0x80, KIND = 0x07, IS_ONE_BYTE = 0x08, UNCACHED = 0x10 };
enum kind { SEQUENTIAL = 0, CONS = 1, EXTERNAL = 2, SLICED = 3, THIN = 5 };

struct string {
	uint64_t	 sr_object;
	uint16_t	 sr_type;
	uint32_t	 sr_length;
};

struct text {
	char		*tx_at;
	size_t		 tx_n;
	size_t		 tx_size;
};

bool
v8_read(const struct v8 *v8, uint64_t object, uint64_t offset, void *bytes,
    size_t size)
{
	return (V8_IS_OBJECT(object) && prof_peek_read(v8->v8_memory,
	    object - 1 + offset, bytes, size));
}

bool
v8_word(const struct v8 *v8, uint64_t object, uint64_t offset, uint64_t *word)
{
	return (v8_read(v8, object, offset, word, sizeof(*word)));
}

uint16_t
v8_type_in(const struct prof_peek *memory, uint64_t object, uint64_t *map)
{
	uint16_t type;

	if (!V8_IS_OBJECT(object) || !prof_peek_read(memory, object - 1, map,
	    sizeof(*map)) || !V8_IS_OBJECT(*map) || !prof_peek_read(memory,
	    *map - 1 + TYPE_AT, &type, sizeof(type)))
		return (0);
	return (type);
}

uint16_t
v8_type(const struct v8 *v8, uint64_t object)
{
	uint64_t map;

	return (v8_type_in(v8->v8_memory, object, &map));
}

/* ------------------------------------------------------------- strings */

static bool
string_open(const struct v8 *v8, uint64_t object, struct string *string)
{
	int32_t length;
	uint64_t map;

	string->sr_object = object;
	string->sr_type = v8_type_in(v8->v8_memory, object, &map);
	/* 0 is a type, too: two bytes a character, and unique. */
	if ((string->sr_type == 0 && (!V8_IS_OBJECT(object) ||
	    v8_type(v8, map) != v8->v8_layout->vl_map)) ||
	    string->sr_type >= STRINGS ||
	    !v8_read(v8, object, LENGTH_AT, &length, sizeof(length)) ||
	    length < 0)
		return (false);
	string->sr_length = (uint32_t)length;
	return (true);
}

/* Where characters lie, of a string that has them itself. */
static bool
string_chars(const struct v8 *v8, const struct string *string,
    uint64_t *chars)
{
	if ((string->sr_type & KIND) == SEQUENTIAL) {
		*chars = string->sr_object - 1 + CHARS_AT;
		return (true);
	}
	return ((string->sr_type & KIND) == EXTERNAL &&
	    (string->sr_type & UNCACHED) == 0 &&
	    v8_word(v8, string->sr_object, SECOND_AT, chars));
}

/* From a slice, or one that became another, to what has the characters. */
static bool
string_resolve(const struct v8 *v8, struct string *string, uint32_t *from)
{
	uint64_t object, offset;

	for (unsigned n = 0; n < MAX_DEPTH; n++) {
		unsigned kind = string->sr_type & KIND;

		if (kind != SLICED && kind != THIN)
			return (true);
		if (kind == SLICED) {
			if (!v8_word(v8, string->sr_object, SECOND_AT,
			    &offset) || !V8_IS_SMI(offset) ||
			    V8_SMI(offset) < 0)
				return (false);
			*from += (uint32_t)V8_SMI(offset);
		}
		if (!v8_word(v8, string->sr_object, FIRST_AT, &object) ||
		    !string_open(v8, object, string))
			return (false);
	}
	return (false);
}

static void
text_put(struct text *text, uint32_t c)
{
	char *to = text->tx_at + text->tx_n;
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;

	if (text->tx_n + n >= text->tx_size)
		return;
	if (n == 1)
		to[0] = (char)(c < ' ' || c == 0x7f ? '?' : c);
	else if (n == 2)
		to[0] = (char)(0xc0 | c >> 6);
	else {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (n > 1)
		to[n - 1] = (char)(0x80 | (c & 0x3f));
	text->tx_n += n;
}

static bool
text_chars(const struct v8 *v8, struct text *text, uint64_t chars,
    uint32_t count, bool is_wide)
{
	const uint32_t width = is_wide ? 2 : 1;
	uint8_t bytes[128] = { 0 };
	uint32_t n, i, c;

	for (; count > 0 && text->tx_n + 1 < text->tx_size; count -= n) {
		n = count < 64 ? count : 64;
		if (!prof_peek_read(v8->v8_memory, chars, bytes, n * width))
			return (false);
		for (i = 0; i < n; i++) {
			c = bytes[i * width];
			if (is_wide)
				c |= (uint32_t)bytes[2 * i + 1] << 8;
			/* Halves of characters beyond 16 bits stay alone. */
			text_put(text, (c & 0xf800) == 0xd800 ? '?' : c);
		}
		chars += (uint64_t)n * width;
	}
	return (true);
}

static bool
text_string(const struct v8 *v8, struct text *text, uint64_t object,
    unsigned depth)
{
	struct string string;
	uint64_t first, second, chars;
	uint32_t from = 0, length;

	if (!string_open(v8, object, &string) || depth > MAX_DEPTH)
		return (false);
	length = string.sr_length;
	if (length == 0 || text->tx_n + 1 >= text->tx_size)
		return (true);
	if (!string_resolve(v8, &string, &from))
		return (false);
	if ((string.sr_type & KIND) == CONS)
		return (from == 0 && v8_word(v8, string.sr_object, FIRST_AT,
		    &first) && v8_word(v8, string.sr_object, SECOND_AT,
		    &second) && text_string(v8, text, first, depth + 1) &&
		    text_string(v8, text, second, depth + 1));
	if (from > string.sr_length || length > string.sr_length - from ||
	    !string_chars(v8, &string, &chars))
		return (false);
	return (text_chars(v8, text, chars + (uint64_t)from *
	    (string.sr_type & IS_ONE_BYTE ? 1 : 2), length,
	    (string.sr_type & IS_ONE_BYTE) == 0));
}

bool
v8_text(const struct v8 *v8, uint64_t string, char *text, size_t size)
{
	struct text to = { text, 0, size };
	bool is_text = text_string(v8, &to, string, 0);

	text[is_text ? to.tx_n : 0] = '\0';
	return (is_text);
}

bool
v8_flat(const struct v8 *v8, uint64_t object, uint64_t *chars,
    uint32_t *length, bool *is_wide)
{
	struct string string, second;
	uint32_t from = 0;
	uint64_t word;

	if (!string_open(v8, object, &string))
		return (false);
	*length = string.sr_length;
	/* One that was made flat has all in its first half. */
	if ((string.sr_type & KIND) == CONS && (!v8_word(v8, object,
	    SECOND_AT, &word) || !string_open(v8, word, &second) ||
	    second.sr_length != 0 || !v8_word(v8, object, FIRST_AT, &word) ||
	    !string_open(v8, word, &string)))
		return (false);
	if (!string_resolve(v8, &string, &from) ||
	    from > string.sr_length || *length > string.sr_length - from ||
	    !string_chars(v8, &string, chars))
		return (false);
	*is_wide = (string.sr_type & IS_ONE_BYTE) == 0;
	*chars += (uint64_t)from * (*is_wide ? 2 : 1);
	return (true);
}
