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

#include "../cmd.h"

static const char hex_digits[] = "0123456789abcdef";

void
out_init(struct out *out, int fd)
{
	out->ou_fd = fd;
	out->ou_name = "standard output";
	out->ou_errno = 0;
	out->ou_n = 0;
}

/* To a spreadsheet.  A negative number is none. */
static bool
is_formula(const char *text)
{
	if (text[0] == '-' && text[1] != '\0' &&
	    text[1 + strspn(text + 1, "0123456789")] == '\0')
		return (false);
	return (text[0] != '\0' && strchr("=+-@", text[0]) != NULL);
}

void
out_csv(struct out *out, const char *text)
{
	size_t run;

	out_char(out, '"');
	if (is_formula(text))
		out_char(out, '\'');
	/* out_text escapes all but quotes; it takes whole characters. */
	while (*text != '\0') {
		char part[256];

		run = strcspn(text, "\"");
		if (run == 0) {
			out_str(out, "\"\"");
			text++;
			continue;
		}
		if (run >= sizeof(part)) {
			run = sizeof(part) - 1;
			while (run > 1 && ((unsigned char)text[run] & 0xc0) ==
			    0x80)
				run--;
		}
		memcpy(part, text, run);
		part[run] = '\0';
		out_text(out, part);
		text += run;
	}
	out_char(out, '"');
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
	size_t room;

	while ((room = sizeof(out->ou_buf) - out->ou_n) < n) {
		memcpy(out->ou_buf + out->ou_n, bytes, room);
		out->ou_n += room;
		bytes += room;
		n -= room;
		out_flush(out);
	}
	memcpy(out->ou_buf + out->ou_n, bytes, n);
	out->ou_n += n;
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
	/* Bits by four, rounded up; 0 has one. */
	const int n = (67 - __builtin_clzll(value | 1)) / 4;
	char *text = out_room(out, sizeof(value) * 2);

	for (int at = n; at > 0; value >>= 4)
		text[--at] = hex_digits[value & 0xf];
	out->ou_n += (size_t)n;
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

/*
 * Bytes that both forms print as they are, nearly all of them; what comes
 * behind.  Names are short: byte by byte is faster than to measure and copy.
 */
static const unsigned char *
put_plain(struct out *out, const unsigned char *text)
{
	/* From blank to tilde, but for the quote and the backslash. */
	static const bool is_plain[256] = {
		[' '] = true, ['!'] = true, ['#' ... '['] = true,
		[']' ... '~'] = true
	};
	size_t n = out->ou_n;

	for (; is_plain[*text]; text++) {
		if (n == sizeof(out->ou_buf)) {
			out->ou_n = n;
			out_flush(out);
			n = 0;
		}
		out->ou_buf[n++] = (char)*text;
	}
	out->ou_n = n;
	return (text);
}

void
out_text(struct out *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (;;) {
		uint32_t code;
		int is_plain;
		size_t n;

		p = put_plain(out, p);
		if (*p == '\0')
			return;
		n = prof_text_take((const char *)p, &code, &is_plain);
		if (is_plain && code != '\\') {
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
out_texts(struct out *out, const char *const *texts)
{
	for (size_t n = 0; texts[n] != NULL; n++)
		(n % 2 == 0 ? out_str : out_text)(out, texts[n]);
}

/* What is special there as an entity, or after a backslash. */
static void
put_marked(struct out *out, const char *text, const char *special,
    bool is_entity)
{
	uint32_t code;
	int is_plain;
	size_t n;

	for (; *text != '\0'; text += n) {
		n = prof_text_take(text, &code, &is_plain);
		if (n == 0) {
			out_fmt(out, "\\x%02x", (unsigned char)*text);
			n = 1;
		} else if (code == '\t') {
			out_char(out, '\t');
		} else if (!is_plain) {
			out_fmt(out, "\\u%04x", (unsigned)code);
		} else if (code < 0x80 && strchr(special, (int)code) != NULL) {
			out_fmt(out, is_entity ? "&#%u;" : "\\%c",
			    (unsigned)code);
		} else {
			out_mem(out, text, n);
		}
	}
}

void
out_html(struct out *out, const char *text)
{
	put_marked(out, text, "<>&\"'", true);
}

void
out_markdown(struct out *out, const char *text)
{
	put_marked(out, text, "<>&|*_~[]`\\", false);
}

void
out_json(struct out *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (text == NULL) {
		out_str(out, "null");
		return;
	}
	out_char(out, '"');
	for (;;) {
		uint32_t code;
		int is_plain;
		size_t n;

		p = put_plain(out, p);
		if (*p == '\0')
			break;
		n = prof_text_take((const char *)p, &code, &is_plain);
		if (n == 0) {
			out_str(out, "\\ufffd");
			n = 1;
		} else if (!is_plain) {
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
	msg_fail(command, "check the disk, or the output file",
	    "%s: %s", out->ou_name, strerror(out->ou_errno));
	return (EXIT_FAILED);
}
