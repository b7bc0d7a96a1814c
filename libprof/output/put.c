/* SPDX-License-Identifier: ISC */
/*
 * Text and numbers put into a buffer, for JSON, for XML, for people.  Names
 * come from symbol tables and threads, so all of them are hostile: what is
 * not plain becomes \x1b, visibly, before any notation's own escapes.  The
 * locale is never asked.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "flame.h"

static const char hex_digits[] = "0123456789abcdef";

void
prof_put_str(struct prof_buf *buf, const char *text)
{
	prof_buf_bytes(buf, text, strlen(text));
}

void
prof_put_fmt(struct prof_buf *buf, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		prof_buf_bytes(buf, text, (size_t)n < sizeof(text) ?
		    (size_t)n : sizeof(text) - 1);
}

void
prof_put_number(struct prof_buf *buf, uint64_t value)
{
	char digits[24];
	int n, i;

	n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	for (i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			prof_put_str(buf, " ");
		prof_buf_bytes(buf, digits + i, 1);
	}
}

/* One character of a visible text in a notation. */
typedef void put_fn(struct prof_buf *buf, const char *bytes, size_t n);

static void
put_plain(struct prof_buf *buf, const char *bytes, size_t n)
{
	prof_buf_bytes(buf, bytes, n);
}

/* < > & too: neither a tag nor a comment can then end the data. */
static void
put_json(struct prof_buf *buf, const char *bytes, size_t n)
{
	switch (*bytes) {
	case '"':
	case '\\':
		prof_put_fmt(buf, "\\%c", *bytes);
		break;
	case '<':
	case '>':
	case '&':
		prof_put_fmt(buf, "\\u%04x", (unsigned)*bytes);
		break;
	default:
		prof_buf_bytes(buf, bytes, n);
	}
}

static void
put_xml(struct prof_buf *buf, const char *bytes, size_t n)
{
	switch (*bytes) {
	case '"':
	case '\'':
	case '<':
	case '>':
	case '&':
		prof_put_fmt(buf, "&#%d;", *bytes);
		break;
	default:
		prof_buf_bytes(buf, bytes, n);
	}
}

/* What stands between frames cannot stand in one. */
static void
put_frame(struct prof_buf *buf, const char *bytes, size_t n)
{
	prof_buf_bytes(buf, *bytes == ';' ? ":" : bytes, n);
}

static void
put_text(struct prof_buf *buf, const char *text, size_t max, put_fn *put)
{
	const char *begin = text;
	char shown[4] = "\\x";
	uint32_t code;
	int is_plain;
	size_t n, i;

	while (*text != '\0') {
		n = prof_text_take(text, &code, &is_plain);
		if (max > 0 && (size_t)(text - begin) + n > max) {
			prof_put_str(buf, "\xe2\x80\xa6");
			return;
		}
		if (is_plain) {
			put(buf, text, n);
			text += n;
			continue;
		}
		for (n = n == 0 ? 1 : n; n > 0; n--, text++) {
			shown[2] = hex_digits[(unsigned char)*text >> 4];
			shown[3] = hex_digits[(unsigned char)*text & 0xf];
			for (i = 0; i < sizeof(shown); i++)
				put(buf, &shown[i], 1);
		}
	}
}

void
prof_put_visible(struct prof_buf *buf, const char *text, size_t max)
{
	put_text(buf, text, max, put_plain);
}

void
prof_put_frame(struct prof_buf *buf, const char *text)
{
	put_text(buf, text, 0, put_frame);
}

void
prof_put_json(struct prof_buf *buf, const char *text)
{
	prof_put_str(buf, "\"");
	put_text(buf, text, 0, put_json);
	prof_put_str(buf, "\"");
}

void
prof_put_xml(struct prof_buf *buf, const char *text, size_t max)
{
	put_text(buf, text, max, put_xml);
}

/* ---------------------------------------------------------- packing */

void
prof_put_base64(struct prof_buf *buf, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *at = prof_buf_room(buf, (n + 2) / 3 * 4);
	uint32_t three;
	size_t i;

	if (at == NULL)
		return;
	for (i = 0; i < n; i += 3) {
		three = (uint32_t)bytes[i] << 16;
		three |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < n ? bytes[i + 2] : 0;
		*at++ = (uint8_t)digits[three >> 18];
		*at++ = (uint8_t)digits[three >> 12 & 63];
		*at++ = i + 1 < n ? (uint8_t)digits[three >> 6 & 63] : '=';
		*at++ = i + 2 < n ? (uint8_t)digits[three & 63] : '=';
	}
	buf->bf_len = (size_t)(at - buf->bf_data);
}
