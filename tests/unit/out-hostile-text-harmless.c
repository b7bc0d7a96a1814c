/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: no text that others chose reaches a terminal, JSON, a page or
 * Markdown unescaped: control characters, C1 in UTF-8, bidirectional
 * overrides, broken UTF-8, what is markup there.
 * Easy to get wrong for overlong forms and for what is cut at a buffer's end.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../cmd/dtprof/ui/msg.c"
#include "../../cmd/dtprof/ui/out.c"
#include "cli-check.h"

static struct out out;

static void
gives(void (*escape)(struct out *, const char *), const char *text,
    const char *want)
{
	out_init(&out, -1);
	escape(&out, text);
	CHECK(out.ou_n == strlen(want) &&
	    memcmp(out.ou_buf, want, out.ou_n) == 0, "got <%.*s> not <%s>",
	    (int)out.ou_n, out.ou_buf, want);
}

static void
every_byte(void)
{
	char text[3] = "x";

	for (int byte = 1; byte < 256; byte++) {
		text[0] = (char)byte;
		out_init(&out, -1);
		out_text(&out, text);
		out_json(&out, text);
		for (size_t n = 0; n < out.ou_n; n++)
			CHECK(out.ou_buf[n] >= 0x20 && out.ou_buf[n] < 0x7f,
			    "byte 0x%02x goes through", byte);
	}
	OK("no single byte goes through that is not printable");
}

static void
numbers(void)
{
	out_init(&out, -1);
	out_i64(&out, INT64_MIN);
	out_char(&out, ' ');
	out_u64(&out, UINT64_MAX);
	out_char(&out, ' ');
	out_hex(&out, 0xdeadbeef12345678ULL);
	out_char(&out, ' ');
	out_digits(&out, 7, 9);
	out_char(&out, '\0');
	CHECK(strcmp(out.ou_buf, "-9223372036854775808 18446744073709551615 "
	    "deadbeef12345678 000000007") == 0, "%s", out.ou_buf);
	OK("numbers");
}

/* More than the buffer holds, in pieces that do not divide it. */
static void
flushes(void)
{
	char name[] = "/tmp/dtprof-out.XXXXXX", piece[7];
	int fd = mkstemp(name);
	off_t size;

	CHECK(fd != -1, "temporary file");
	unlink(name);
	memset(piece, 'a', sizeof(piece));
	out_init(&out, fd);
	for (int n = 0; n < 100000; n++)
		out_mem(&out, piece, sizeof(piece));
	CHECK(out_end(&out, "test") == 0, "end");
	size = lseek(fd, 0, SEEK_END);
	CHECK(size == 700000, "%lld bytes", (long long)size);
	close(fd);
	out_init(&out, open("/dev/full", O_WRONLY | O_CLOEXEC));
	out_str(&out, "x");
	CHECK(out_end(&out, "test") == 1, "a full disk is a failure");
	OK("everything is written, or the failure is said");
}

int
main(void)
{
	gives(out_text, "plain text, \xc3\xa9\xe2\x82\xac",
	    "plain text, \xc3\xa9\xe2\x82\xac");
	gives(out_text, "\033[31mred\007", "\\x1b[31mred\\x07");
	gives(out_text, "a\nb\tc", "a\\x0ab\\x09c");
	gives(out_text, "back\\slash \"x\"", "back\\\\slash \"x\"");
	gives(out_text, "\xc2\x9b" "31m", "\\xc2\\x9b31m");
	gives(out_text, "\xe2\x80\xae" "dlrow", "\\xe2\\x80\\xaedlrow");
	gives(out_text, "\xc0\xaf", "\\xc0\\xaf");
	gives(out_text, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	gives(out_text, "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
	gives(out_text, "\xed\xa0\x80", "\\xed\\xa0\\x80");
	gives(out_text, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	gives(out_text, "cut \xe2\x82", "cut \\xe2\\x82");
	gives(out_json, "q\"b\\n\n\x1b", "\"q\\\"b\\\\n\\u000a\\u001b\"");
	gives(out_json, "\xc3\xa9 \xff \xe2\x80\xae",
	    "\"\xc3\xa9 \\ufffd \\u202e\"");
	gives(out_html, "<b a=\"'\">&amp;\t|_\x1b\xff",
	    "&#60;b a=&#34;&#39;&#34;&#62;&#38;amp;\t|_\\u001b\\xff");
	gives(out_markdown, "a|b_c*d <i>&#124;[x](y)`~\\|\x1b\xff \xc3\xa9",
	    "a\\|b\\_c\\*d \\<i\\>\\&#124;\\[x\\](y)\\`\\~\\\\\\|"
	    "\\u001b\\xff \xc3\xa9");
	OK("hostile text is shown, not obeyed");
	every_byte();
	numbers();
	flushes();
	return (0);
}
