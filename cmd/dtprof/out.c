/* SPDX-License-Identifier: ISC */
/*
 * Buffered output without format strings in the hot path: a million records
 * a second go through here.  Also the place where text that others chose
 * (names, paths, remarks) is made harmless for a terminal and for JSON.
 *
 * Used by every command that writes to standard output.  After the first
 * failed write nothing more is written; out_end says what it means.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static size_t	 utf8_take(const unsigned char *text, uint32_t *code);
static bool	 is_hostile(uint32_t code);
static size_t	 plain_run(const unsigned char *text);

static const char hex_digits[] = "0123456789abcdef";

void
out_init(struct out *out, int fd)
{
	out->ou_fd = fd;
	out->ou_errno = 0;
	out->ou_n = 0;
}

void
out_flush(struct out *out)
{
	size_t done = 0;

	while (done < out->ou_n && out->ou_errno == 0) {
		ssize_t n = write(out->ou_fd, out->ou_buf + done,
		    out->ou_n - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			out->ou_errno = errno;
	}
	out->ou_n = 0;
}

void
out_mem(struct out *out, const char *bytes, size_t n)
{
	while (n > 0) {
		size_t room = sizeof(out->ou_buf) - out->ou_n;
		size_t part = n < room ? n : room;

		memcpy(out->ou_buf + out->ou_n, bytes, part);
		out->ou_n += part;
		bytes += part;
		n -= part;
		if (out->ou_n == sizeof(out->ou_buf))
			out_flush(out);
	}
}

void
out_str(struct out *out, const char *text)
{
	out_mem(out, text, strlen(text));
}

void
out_char(struct out *out, char c)
{
	if (out->ou_n == sizeof(out->ou_buf))
		out_flush(out);
	out->ou_buf[out->ou_n++] = c;
}

void
out_digits(struct out *out, uint64_t value, unsigned width)
{
	char text[32];
	unsigned at = sizeof(text);

	if (width > sizeof(text))
		width = sizeof(text);
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	while (sizeof(text) - at < width)
		text[--at] = '0';
	out_mem(out, text + at, sizeof(text) - at);
}

void
out_u64(struct out *out, uint64_t value)
{
	out_digits(out, value, 1);
}

void
out_i64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void
out_hex(struct out *out, uint64_t value)
{
	char text[16];
	unsigned at = sizeof(text);

	do {
		text[--at] = hex_digits[value & 0xf];
		value >>= 4;
	} while (value != 0);
	out_mem(out, text + at, sizeof(text) - at);
}

void
out_fmt(struct out *out, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		out_mem(out, text, (size_t)n < sizeof(text) ? (size_t)n :
		    sizeof(text) - 1);
}

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

/* Moves the cursor, changes the terminal, or reorders what one reads. */
static bool
is_hostile(uint32_t code)
{
	return (code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	    (code >= 0x200e && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069) || code == 0xfeff);
}

/* Bytes that both forms print as they are: nearly all of them. */
static size_t
plain_run(const unsigned char *text)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '\\' &&
	    text[n] != '"')
		n++;
	return (n);
}

void
out_text(struct out *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (;;) {
		uint32_t code;
		size_t n = plain_run(p);

		out_mem(out, (const char *)p, n);
		p += n;
		if (*p == '\0')
			return;
		n = utf8_take(p, &code);
		if (n != 0 && !is_hostile(code) && code != '\\') {
			out_mem(out, (const char *)p, n);
			p += n;
			continue;
		}
		if (code == '\\' && n == 1) {
			out_str(out, "\\\\");
			p++;
			continue;
		}
		for (n = n == 0 ? 1 : n; n > 0; n--, p++) {
			out_str(out, "\\x");
			out_char(out, hex_digits[*p >> 4]);
			out_char(out, hex_digits[*p & 0xf]);
		}
	}
}

void
out_json(struct out *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	out_char(out, '"');
	for (;;) {
		uint32_t code;
		size_t n = plain_run(p);

		out_mem(out, (const char *)p, n);
		p += n;
		if (*p == '\0')
			break;
		n = utf8_take(p, &code);
		if (n == 0) {
			out_str(out, "\\ufffd");
			n = 1;
		} else if (is_hostile(code)) {
			out_str(out, "\\u");
			for (int shift = 12; shift >= 0; shift -= 4)
				out_char(out, hex_digits[code >> shift & 0xf]);
		} else {
			if (code == '"' || code == '\\')
				out_char(out, '\\');
			out_mem(out, (const char *)p, n);
		}
		p += n;
	}
	out_char(out, '"');
}

int
out_end(struct out *out, const char *command)
{
	out_flush(out);
	if (out->ou_errno == 0 || out->ou_errno == EPIPE)
		return (0);
	msg_fail(command, "check the disk, or where the output goes",
	    "standard output: %s", strerror(out->ou_errno));
	return (EXIT_FAILED);
}
