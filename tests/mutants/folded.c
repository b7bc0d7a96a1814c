/* SPDX-License-Identifier: ISC */
/*
 * Folded stacks: lines stand twice or not at all, and get other frames and
 * counts that are still such; some get whatever text can have.  One in a while
 * is large.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mutants.h"

#define MAX_COPIES	200

/* Many stacks that share nothing, or one that is deep. */
static void
flood(struct chance *chance, struct prof_buf *out)
{
	const size_t lines = chance_below(chance, 2000);
	const size_t depth = 1 + chance_below(chance, 200);
	char text[32];

	for (size_t n = 0; n < lines; n++) {
		for (size_t i = 0; i < depth; i++) {
			(void)snprintf(text, sizeof(text), "%zx%s", n * 7 + i,
			    i + 1 < depth ? ";" : " 1\n");
			prof_buf_bytes(out, text, strlen(text));
		}
	}
}

/* A line with a frame or more in front of it, and a count of its own. */
static void
put_line(struct chance *chance, const char *line, size_t length,
    struct prof_buf *out)
{
	const char *blank = memrchr(line, ' ', length);
	size_t frames = chance_is(chance, 8) ? chance_below(chance, 9000) :
	    chance_below(chance, 4);
	char text[64];

	for (; frames > 0; frames--) {
		(void)snprintf(text, sizeof(text), "f%zx;",
		    chance_below(chance, 50));
		prof_buf_bytes(out, text, strlen(text));
	}
	if (blank == NULL || chance_is(chance, 2)) {
		prof_buf_bytes(out, line, length);
	} else {
		prof_buf_bytes(out, line, (size_t)(blank - line));
		(void)snprintf(text, sizeof(text), " %" PRIu64 "%s",
		    chance_value(chance) >> chance_below(chance, 40),
		    chance_is(chance, 4) ? ".5" : "");
		prof_buf_bytes(out, text, strlen(text));
	}
	if (chance_is(chance, 16))
		prof_buf_bytes(out, "\r", 1);
	prof_buf_bytes(out, "\n", 1);
}

static void
folded_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	const char *at = (const char *)seed->bf_data;
	const char *end = at + seed->bf_len, *next;
	size_t copies;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		copies = chance_is(chance, 16) ? chance_below(chance,
		    MAX_COPIES) : chance_below(chance, 3);
		while (copies-- > 0)
			put_line(chance, at, (size_t)(next - at), out);
	}
	if (chance_is(chance, 4))
		text_mutate(chance, out, "; \n");
	if (chance_is(chance, 512))
		flood(chance, out);
}

const struct format format_folded = { "folded", folded_mutate,
    reading_import };
