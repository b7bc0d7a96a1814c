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

#include "list.h"

#define QUESTION_MAX	512

static void	 show(struct out *out, const struct prof_counter_info *info,
		    bool verbose);
static void	 show_json(struct out *out,
		    const struct prof_counter_info *info);

static void
show(struct out *out, const struct prof_counter_info *info, bool verbose)
{
	out_text(out, info->pt_name);
	out_str(out, info->pt_can_sample ? "  samples" : "  counts only");
	if (info->pt_precise > 0)
		out_fmt(out, ", precise (:%.*s)", info->pt_precise, "ppp");
	if (verbose && info->pt_code[0] != '\0') {
		out_str(out, ", code ");
		out_text(out, info->pt_code);
	}
	if (info->pt_why_not != NULL) {
		out_str(out, "  unavailable: ");
		out_text(out, info->pt_why_not);
	}
	out_str(out, "\n\t");
	out_text(out, info->pt_desc);
	out_char(out, '\n');
}

static void
show_json(struct out *out, const struct prof_counter_info *info)
{
	out_str(out, "{\"name\":");
	out_json(out, info->pt_name);
	out_str(out, ",\"pmu\":");
	out_json(out, info->pt_pmu);
	out_str(out, ",\"description\":");
	out_json(out, info->pt_desc);
	out_str(out, ",\"code\":");
	out_json(out, info->pt_code);
	out_fmt(out, ",\"can_sample\":%s,\"precise\":%d,\"why_not\":",
	    info->pt_can_sample ? "true" : "false", info->pt_precise);
	out_json(out, info->pt_why_not);
	out_char(out, '}');
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
		out_str(&out, "{\"schema_version\":1,\"counters\":[");
	for (size_t i = 0; i < prof_counters_n(counters); i++) {
		if (!lo->lo_json) {
			show(&out, prof_counters_at(counters, i),
			    lo->lo_verbose);
			continue;
		}
		out_str(&out, i == 0 ? "\n" : ",\n");
		show_json(&out, prof_counters_at(counters, i));
	}
	if (lo->lo_json)
		out_str(&out, "]}\n");
	for (size_t i = 0; (note = prof_counters_note(counters, i)) != NULL;
	    i++)
		msg_note("list", "%s", note);
	prof_counters_free(counters);
	return (out_end(&out, "list"));
}
