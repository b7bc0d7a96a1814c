/* SPDX-License-Identifier: ISC */
/* Folded stacks: frames, counts and lines.  One in a while is large. */
#include <stdio.h>
#include <string.h>

#include "mutants.h"

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

static void
folded_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	prof_buf_bytes(out, seed->bf_data, seed->bf_len);
	text_mutate(chance, out, "; \n");
	if (chance_is(chance, 512))
		flood(chance, out);
}

const struct format format_folded = { "folded", folded_mutate,
    reading_import };
