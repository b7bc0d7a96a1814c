/* SPDX-License-Identifier: ISC */
/*
 * dtprof list --counters: counters found by what they mean, the best first.
 *
 *	skx::L2_RQSTS:MISS  samples
 *		L2 requests: All requests that miss the L2 cache
 *
 * Called by cmd_list.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/emit.h"
#include "list.h"

#define QUESTION_MAX	512

static void
counter_show(struct out *out, const struct prof_counter_info *info,
    bool verbose)
{
	out_text(out, info->pt_name);
	out_str(out, info->pt_can_sample ? "  samples" : "  counts only");
	if (info->pt_precise > 0)
		out_fmt(out, ", precise (:%.*s)", info->pt_precise, "ppp");
	if (verbose && info->pt_code[0] != '\0')
		OUT(out, ", code ", info->pt_code);
	if (info->pt_why_not != NULL)
		OUT(out, "  unavailable: ", info->pt_why_not);
	OUT(out, "\n\t", info->pt_desc, "\n");
}

static void
emit_counter(struct emit *em, const struct prof_counter_info *info)
{
	EMIT_ROW(em, NULL, TEXT("name", info->pt_name),
	    TEXT("pmu", info->pt_pmu), TEXT("description", info->pt_desc),
	    TEXT("code", info->pt_code),
	    FLAG("can_sample", info->pt_can_sample),
	    SIGNED("precise", info->pt_precise),
	    TEXT("why_not", info->pt_why_not));
}

static void
show_json(struct out *out, const struct prof_counters *counters)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
	emit_rows(&em, "counters");
	for (size_t i = 0; i < prof_counters_n(counters); i++)
		emit_counter(&em, prof_counters_at(counters, i));
	emit_end(&em);
}

int
list_counters(const struct list_options *lo, int n, char **words)
{
	struct prof_counters *counters;
	struct prof_err error = { 0 };
	char question[QUESTION_MAX] = "";
	const char *note;
	struct out out;

	for (int w = 0; w < n; w++) {
		strncat(question, words[w],
		    sizeof(question) - strlen(question) - 1);
		strncat(question, " ",
		    sizeof(question) - strlen(question) - 1);
	}
	if (n > 0)
		question[strlen(question) - 1] = '\0';
	/* libpfm4 encodes for PMUs that are not here when it finds this. */
	if (lo->lo_pmu != NULL)
		setenv("LIBPFM_ENCODE_INACTIVE", "1", 0);
	counters = prof_counters_new(question, lo->lo_pmu, &error);
	if (counters == NULL) {
		msg_prof("list", &error);
		return (EXIT_FAILED);
	}
	out_init(&out, STDOUT_FILENO);
	if (lo->lo_json)
		show_json(&out, counters);
	for (size_t i = 0; !lo->lo_json && i < prof_counters_n(counters); i++)
		counter_show(&out, prof_counters_at(counters, i),
		    lo->lo_verbose);
	for (size_t i = 0; (note = prof_counters_note(counters, i)) != NULL;
	    i++)
		msg_note("list", "%s", note);
	prof_counters_free(counters);
	return (out_end(&out, "list"));
}
