/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JUnit XML, which servers of continuous integration show: a
 * test case for each command.  It fails just where compare exits with 3 or 4
 * because of it; without a verdict it is skipped.  All attributes and
 * elements that the stricter readers demand are there.
 *
 * Called by cmd_compare.c.
 */
#include <sys/mman.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "compare.h"

/* All about one pair, as on a terminal; owned; NULL: no memory. */
static char *
whole_text(const struct compare *cm, const struct pair *pair)
{
	const struct terminal plain = { .te_fd = -1 };
	const int fd = memfd_create("comparison", MFD_CLOEXEC);
	struct pair copy = *pair;
	struct compare one = *cm;
	char *text = NULL;
	struct out out;
	off_t length;

	if (fd == -1)
		return (NULL);
	one.cm_pair = &copy;
	one.cm_npairs = 1;
	out_init(&out, fd);
	compare_text(&one, TABLE_TEXT, &out, &plain);
	out_flush(&out);
	length = lseek(fd, 0, SEEK_CUR);
	if (out.ou_errno == 0 && length >= 0)
		text = calloc(1, (size_t)length + 1);
	if (text != NULL && pread(fd, text, (size_t)length, 0) != length) {
		free(text);
		text = NULL;
	}
	close(fd);
	return (text);
}

/* A text of lines; what XML cannot hold is escaped. */
static void
put_lines(struct out *out, const char *text)
{
	while (*text != '\0') {
		const size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		if (line != NULL)
			out_html(out, line);
		free(line);
		text += length;
		if (*text == '\n') {
			out_char(out, '\n');
			text++;
		}
	}
}

static void
put_attribute(struct out *out, const char *name, const char *text)
{
	out_fmt(out, " %s=\"", name);
	out_html(out, text);
	out_char(out, '"');
}

/* Median wall time of the new side in s; 0: it is not known. */
static double
wall_of(const struct pair *pair)
{
	const struct prof_comparison *cp = pair->pr_comparison;

	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++) {
		const struct prof_change *cg = prof_comparison_metric(cp, i);

		if (strcmp(cg->cg_name, "wall") == 0 &&
		    strcmp(cg->cg_unit, "s") == 0 &&
		    isfinite(cg->cg_median[1]) && cg->cg_median[1] >= 0)
			return (cg->cg_median[1]);
	}
	return (0);
}

static bool
is_skipped(const struct compare *cm, const struct pair *pair)
{
	return (compare_outcome(cm, pair) == COMPARE_GOOD &&
	    compare_headline(pair)->cg_verdict <= PROF_VERDICT_OPEN);
}

static void
put_case(const struct compare *cm, const struct pair *pair, struct out *out)
{
	const enum compare_outcome outcome = compare_outcome(cm, pair);
	const char *word = compare_verdict(pair);
	char *sentence = compare_sentence(pair, cm->cm_threshold);
	char *whole = whole_text(cm, pair);

	out_str(out, "    <testcase classname=\"dtprof.compare\"");
	put_attribute(out, "name", pair->pr_series[1]->se_name);
	out_fmt(out, " time=\"%.6f\"", wall_of(pair));
	if (outcome == COMPARE_GOOD && !is_skipped(cm, pair))
		out_str(out, "/>\n");
	else {
		out_str(out, outcome == COMPARE_GOOD ? ">\n      <skipped" :
		    ">\n      <failure");
		if (outcome != COMPARE_GOOD)
			put_attribute(out, "type", word);
		put_attribute(out, "message", sentence != NULL ? sentence :
		    word);
		out_char(out, '>');
		put_lines(out, whole != NULL ? whole : word);
		out_str(out, outcome == COMPARE_GOOD ? "</skipped>\n" :
		    "</failure>\n");
		out_str(out, "    </testcase>\n");
	}
	free(sentence);
	free(whole);
}

/* Where and when: of the first new side that says so. */
static void
put_origin(const struct compare *cm, struct out *out)
{
	const char *host = "localhost", *when = "";
	const time_t now = time(NULL);
	char text[32];
	struct tm tm;

	for (size_t i = 0; i < cm->cm_npairs && *when == '\0'; i++) {
		const struct series *se = cm->cm_pair[i].pr_series[1];

		host = se->se_host[0] != '\0' ? se->se_host : host;
		when = se->se_time;
	}
	/* Local times without a zone are what readers take. */
	if (*when != '\0')
		snprintf(text, sizeof(text), "%.19s", when);
	else if (gmtime_r(&now, &tm) == NULL || strftime(text, sizeof(text),
	    "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		snprintf(text, sizeof(text), "1970-01-01T00:00:00");
	put_attribute(out, "timestamp", text);
	put_attribute(out, "hostname", host);
}

static void
put_output(const struct compare *cm, struct out *out)
{
	out_str(out, "    <system-out>");
	for (size_t i = 0; i < cm->cm_npairs; i++) {
		char *whole = whole_text(cm, &cm->cm_pair[i]);

		if (i > 0)
			out_char(out, '\n');
		if (whole != NULL)
			put_lines(out, whole);
		free(whole);
	}
	out_str(out, "</system-out>\n    <system-err/>\n");
}

static void
put_junit(const void *arg, struct out *out)
{
	const struct compare *cm = arg;
	size_t failures = 0, skipped = 0;
	double seconds = 0;

	for (size_t i = 0; i < cm->cm_npairs; i++) {
		const struct pair *pair = &cm->cm_pair[i];

		failures += compare_outcome(cm, pair) != COMPARE_GOOD;
		skipped += is_skipped(cm, pair);
		seconds += wall_of(pair);
	}
	out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<testsuites>\n  <testsuite name=\"dtprof compare\" "
	    "package=\"dtprof\" id=\"0\"");
	put_origin(cm, out);
	out_fmt(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
	    "skipped=\"%zu\" time=\"%.3f\">\n    <properties/>\n",
	    cm->cm_npairs, failures, skipped, seconds);
	for (size_t i = 0; i < cm->cm_npairs; i++)
		put_case(cm, &cm->cm_pair[i], out);
	put_output(cm, out);
	out_str(out, "  </testsuite>\n</testsuites>\n");
}

int
compare_junit(const struct compare *cm, const char *path)
{
	return (file_replace_by("compare", path, put_junit, cm));
}
