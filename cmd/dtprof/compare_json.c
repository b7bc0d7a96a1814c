/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JSON, for programs.  Changes are shares (0.03 is 3 %); what
 * is not known is null; names of members are stable (dtprof(1)).
 *
 * Called by cmd_compare.c.
 */
#include <math.h>
#include <stdio.h>

#include "compare.h"

static void
number(struct out *out, const char *name, double value)
{
	if (isfinite(value))
		out_fmt(out, "\"%s\":%.17g,", name, value);
	else
		out_fmt(out, "\"%s\":null,", name);
}

static void
couple(struct out *out, const char *name, const double value[2])
{
	out_fmt(out, "\"%s\":[", name);
	for (int i = 0; i < 2; i++) {
		if (isfinite(value[i]))
			out_fmt(out, "%.17g", value[i]);
		else
			out_str(out, "null");
		out_str(out, i == 0 ? "," : "],");
	}
}

static const char *
verdict(const struct prof_change *cg)
{
	if (cg == NULL)
		return ("too_few_runs");
	return (cg->cg_verdict == PROF_VERDICT_FEW ? "too_few_runs" :
	    compare_word(cg));
}

/* Cliff's delta in words, as Romano has them. */
static const char *
effect(double delta)
{
	const double size = fabs(delta);

	return (!isfinite(delta) ? "unknown" : size < 0.147 ? "negligible" :
	    size < 0.33 ? "small" : size < 0.474 ? "medium" : "large");
}

/* What metrics and functions have in common. */
static void
change(struct out *out, const struct prof_change *cg)
{
	out_str(out, "{\"name\":");
	out_json(out, cg->cg_name);
	out_fmt(out, ",\"verdict\":\"%s\",\"runs\":[%zu,%zu],", verdict(cg),
	    cg->cg_n[0], cg->cg_n[1]);
	couple(out, "median", cg->cg_median);
	couple(out, "mean", cg->cg_mean);
	number(out, "change", cg->cg_change);
	couple(out, "ci95", cg->cg_ci95);
	number(out, "p", cg->cg_p);
	number(out, "p_adjusted", cg->cg_p_adjusted);
	number(out, "smallest_change", cg->cg_smallest);
	out_fmt(out, "\"exact\":%s,\"runs_needed\":", cg->cg_is_exact == 1 ?
	    "true" : "false");
	if (cg->cg_runs_needed > 0)
		out_u64(out, cg->cg_runs_needed);
	else
		out_str(out, "null");
}

static void
metric(struct out *out, const struct prof_change *cg)
{
	change(out, cg);
	out_char(out, ',');
	number(out, "p_mann_whitney", cg->cg_p_rank);
	number(out, "p_welch", cg->cg_p_welch);
	number(out, "cliffs_delta", cg->cg_delta);
	out_fmt(out, "\"effect\":\"%s\",\"unit\":", effect(cg->cg_delta));
	out_json(out, cg->cg_unit);
	out_char(out, '}');
}

static void
function(struct out *out, const struct prof_change *cg)
{
	static const char *const presence[] = {
		"none", "inlined", "out_of_line"
	};

	change(out, cg);
	out_char(out, ',');
	couple(out, "share", cg->cg_share);
	number(out, "part", cg->cg_part);
	out_fmt(out, "\"presence\":[\"%s\",\"%s\"],\"module\":",
	    presence[cg->cg_presence[0]], presence[cg->cg_presence[1]]);
	out_json(out, cg->cg_module);
	out_char(out, '}');
}

static void
functions(struct out *out, const struct prof_comparison *cp, unsigned by)
{
	const struct prof_change *total = prof_comparison_total(cp);

	out_str(out, ",\n\"total\":");
	if (total != NULL)
		metric(out, total);
	else
		out_str(out, "null");
	out_fmt(out, ",\n\"by\":\"%s\",\"functions_tested\":%zu,"
	    "\"functions\":[", compare_by_words[by],
	    prof_comparison_ntested(cp));
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++) {
		out_str(out, i > 0 ? ",\n" : "\n");
		function(out, prof_comparison_function(cp, i));
	}
	out_str(out, "]");
}

static void
one_pair(struct out *out, const struct pair *pair, unsigned by)
{
	const struct prof_comparison *cp = pair->pr_comparison;
	const char *note;

	out_str(out, "{\"base\":");
	out_json(out, pair->pr_series[0]->se_name);
	out_str(out, ",\"new\":");
	out_json(out, pair->pr_series[1]->se_name);
	out_str(out, ",\"build_ids\":[");
	for (int s = 0; s < 2; s++) {
		out_str(out, s > 0 ? "," : "");
		out_json(out, pair->pr_series[s]->se_build_id[0] == '\0' ?
		    NULL : pair->pr_series[s]->se_build_id);
	}
	out_fmt(out, "],\"verdict\":\"%s\",\"assumes_no_drift\":%s,"
	    "\n\"metrics\":[", verdict(compare_headline(pair)),
	    prof_comparison_assumes_no_drift(cp) ? "true" : "false");
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++) {
		out_str(out, i > 0 ? ",\n" : "\n");
		metric(out, prof_comparison_metric(cp, i));
	}
	out_char(out, ']');
	functions(out, cp, by);
	out_str(out, ",\n\"notes\":[");
	for (size_t i = 0; (note = compare_note(pair, i)) != NULL; i++) {
		out_str(out, i > 0 ? "," : "");
		out_json(out, note);
	}
	out_str(out, "]}");
}

void
compare_json(const struct compare *cm, struct out *out)
{
	out_fmt(out, "{\"schema_version\":%d,\"version\":\"%s\",",
	    COMPARE_SCHEMA, prof_version());
	number(out, "threshold", cm->cm_threshold);
	out_str(out, "\n\"comparisons\":[");
	for (size_t i = 0; i < cm->cm_npairs; i++) {
		out_str(out, i > 0 ? ",\n" : "\n");
		one_pair(out, &cm->cm_pair[i], cm->cm_options->co_by);
	}
	out_str(out, "],\n\"geomean\":");
	if (cm->cm_npairs > 1 && isfinite(cm->cm_geomean)) {
		out_char(out, '{');
		couple(out, "ci95", cm->cm_geomean_ci);
		out_fmt(out, "\"change\":%.17g,\"comparisons\":%d}}\n",
		    cm->cm_geomean, cm->cm_ngeomean);
	} else
		out_str(out, "null}\n");
}
