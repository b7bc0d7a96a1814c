/* SPDX-License-Identifier: ISC */
/* See mutants.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutants.h"

#define MAX_REPEAT	(256u << 10)	/* bytes that one change may add */

uint64_t
chance_next(struct chance *chance)
{
	uint64_t z = chance->ch_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31);
}

size_t
chance_below(struct chance *chance, size_t n)
{
	return (n == 0 ? 0 : (size_t)(chance_next(chance) % n));
}

bool
chance_is(struct chance *chance, size_t n)
{
	return (chance_below(chance, n) == 0);
}

uint64_t
chance_value(struct chance *chance)
{
	const uint64_t bit = (uint64_t)1 << chance_below(chance, 64);

	switch (chance_below(chance, 4)) {
	case 0:
		return (chance_below(chance, 4));
	case 1:
		return (bit - chance_below(chance, 2));
	case 2:
		return (0 - (uint64_t)chance_below(chance, 300));
	default:
		return (chance_next(chance) & (bit - 1));
	}
}

void
bytes_replace(struct prof_buf *buf, size_t at, size_t old, const void *bytes,
    size_t length)
{
	if (length > old && prof_buf_room(buf, length - old) == NULL)
		return;
	memmove(buf->bf_data + at + length, buf->bf_data + at + old,
	    buf->bf_len - at - old);
	memcpy(buf->bf_data + at, bytes, length);
	buf->bf_len += length - old;
}

/* A range of it again, once or many times. */
static void
repeat(struct chance *chance, struct prof_buf *buf, size_t from, size_t length)
{
	size_t times = chance_is(chance, 4) ? chance_below(chance, 5000) :
	    chance_below(chance, 4), n;
	uint8_t *bytes;

	if (length == 0)
		return;
	if (times > MAX_REPEAT / length)
		times = MAX_REPEAT / length;
	bytes = malloc(length * times + 1);
	for (n = 0; bytes != NULL && n < times; n++)
		memcpy(bytes + n * length, buf->bf_data + from, length);
	if (bytes != NULL)
		bytes_replace(buf, from, 0, bytes, length * times);
	free(bytes);
}

static void
mutate_once(struct chance *chance, struct prof_buf *buf)
{
	const size_t at = chance_below(chance, buf->bf_len);
	const size_t left = buf->bf_len - at;
	size_t length = chance_is(chance, 8) ? chance_below(chance, left) :
	    chance_below(chance, left < 32 ? left : 32);
	uint64_t value = chance_value(chance);

	switch (chance_below(chance, 8)) {
	case 0:
		buf->bf_data[at] ^= (uint8_t)(1u << chance_below(chance, 8));
		return;
	case 1:
	case 2:
		buf->bf_data[at] = (uint8_t)value;
		return;
	case 3:
	case 4:
		memcpy(buf->bf_data + at, &value, left < 8 ? left :
		    (size_t)1 << chance_below(chance, 4));
		return;
	case 5:
		bytes_replace(buf, at, length, "", 0);
		return;
	case 6:
		repeat(chance, buf, at, length);
		return;
	default:
		memmove(buf->bf_data + at, buf->bf_data +
		    chance_below(chance, buf->bf_len - length + 1), length);
		return;
	}
}

void
bytes_mutate(struct chance *chance, struct prof_buf *buf)
{
	size_t n = 1 + chance_below(chance, chance_is(chance, 4) ? 16 : 3);

	while (n-- > 0 && buf->bf_len > 0)
		mutate_once(chance, buf);
}

/* From one mark to the next, or a line. */
static size_t
piece_at(struct chance *chance, const struct prof_buf *buf, const char *marks,
    size_t *length)
{
	const char *text = (const char *)buf->bf_data;
	const char *ends = chance_is(chance, 2) ? "\n" : marks;
	size_t from = chance_below(chance, buf->bf_len), to;

	while (from > 0 && strchr(ends, text[from - 1]) == NULL)
		from--;
	for (to = from; to < buf->bf_len && strchr(ends, text[to]) == NULL;)
		to++;
	*length = to - from;
	return (from);
}

static void
text_once(struct chance *chance, struct prof_buf *buf, const char *marks)
{
	static const char *const words[] = { "", "0", "-1", "1e300", "nan",
	    "18446744073709551615", "18446744073709551616", "0x", "\r\n",
	    "\n\n", "a;b 1", ";;;", " ", "\t", "[unknown]", "+0x1", "(/x)",
	    "ffffffffffffffff", "\xff\xfe", "(inlined)", "#", "1.5", "3 4" };
	char number[32];
	size_t length, at = piece_at(chance, buf, marks, &length), n;
	const char *word = number;

	switch (chance_below(chance, 6)) {
	case 0:
		n = chance_below(chance, sizeof(words) / sizeof(words[0]));
		bytes_replace(buf, at, length, words[n], strlen(words[n]));
		return;
	case 1:
		(void)snprintf(number, sizeof(number), chance_is(chance, 2) ?
		    "%llu" : "%llx", (unsigned long long)
		    chance_value(chance));
		bytes_replace(buf, at, length, word, strlen(word));
		return;
	case 2:
		bytes_replace(buf, at, length, "", 0);
		return;
	case 3:
	case 4:
		/* With the mark behind it. */
		repeat(chance, buf, at, length + (at + length <
		    buf->bf_len));
		return;
	default:
		mutate_once(chance, buf);
		return;
	}
}

void
text_mutate(struct chance *chance, struct prof_buf *buf, const char *marks)
{
	size_t n = 1 + chance_below(chance, chance_is(chance, 4) ? 16 : 4);

	while (n-- > 0 && buf->bf_len > 0)
		text_once(chance, buf, marks);
}
