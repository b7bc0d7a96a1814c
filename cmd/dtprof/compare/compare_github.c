/* SPDX-License-Identifier: ISC */
/*
 * A comparison for GitHub Actions: an annotation for each command that is
 * slower or that fails the step, as a workflow command on standard output,
 * and all tables in Markdown, at the end of the file that GITHUB_STEP_SUMMARY
 * names, or on standard output where it names none.
 *
 * Called by cmd_compare.c.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* Hostile text, as the runner reads workflow commands. */
static void
put_escaped(struct out *out, const char *text, const char *special)
{
	size_t length;

	for (; *text != '\0'; text += length) {
		uint32_t code;
		int is_plain;

		length = prof_text_take(text, &code, &is_plain);
		if (length == 0) {
			out_fmt(out, "\\x%02x", (unsigned char)*text);
			length = 1;
		} else if (!is_plain)
			out_fmt(out, "\\u%04x", (unsigned)code);
		else if (code < 0x80 && strchr(special, (int)code) != NULL)
			out_fmt(out, "%%%02X", (unsigned)code);
		else
			out_mem(out, text, length);
	}
}

/* "error", "warning", or NULL: nothing to say. */
static const char *
annotation_of(const struct compare *cm, const struct pair *pair)
{
	if (compare_outcome(cm, pair) != COMPARE_GOOD)
		return ("error");
	return (compare_headline(pair)->cg_verdict == PROF_VERDICT_MORE ?
	    "warning" : NULL);
}

static int
put_annotation(const struct compare *cm, const struct pair *pair,
    struct out *out)
{
	const char *level = annotation_of(cm, pair);
	char *sentence;

	if (level == NULL)
		return (0);
	sentence = compare_sentence(pair, cm->cm_threshold);
	if (sentence == NULL)
		return (-1);
	out_fmt(out, "::%s title=", level);
	put_escaped(out, "dtprof compare: ", "%:,");
	put_escaped(out, compare_verdict(pair), "%:,");
	out_str(out, "::");
	put_escaped(out, sentence, "%");
	out_char(out, '\n');
	free(sentence);
	return (0);
}

static void
put_summary(const void *arg, struct out *out)
{
	compare_text(arg, TABLE_MARKDOWN, out, NULL);
	out_char(out, '\n');
}

const char *
compare_summary(void)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");

	return (path != NULL && *path != '\0' ? path : NULL);
}

int
compare_github(const struct compare *cm, struct out *out)
{
	const char *path = compare_summary();

	for (size_t i = 0; i < cm->cm_npairs; i++)
		if (put_annotation(cm, &cm->cm_pair[i], out) == -1)
			return (msg_error("compare", "out of memory",
			    "free memory"));
	/* Behind what other steps have written. */
	return (path == NULL ? 0 : file_append_by("compare", path,
	    put_summary, cm));
}
