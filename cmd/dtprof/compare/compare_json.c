/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JSON, for programs.  Changes are shares (0.03 is 3 %); what
 * is not known is null.
 *
 * Called by cmd_compare.c.
 */
#include <math.h>

#include "../ui/emit.h"
#include "compare.h"

static void
emit_couple(struct emit *em, const char *name, const double value[2])
{
	emit_list(em, name);
	emit_number(em, NULL, value[0], EMIT_EXACT);
	emit_number(em, NULL, value[1], EMIT_EXACT);
	emit_close(em);
}

static const char *
verdict(const struct prof_change *cg)
{
	return (cg == NULL || cg->cg_verdict == PROF_VERDICT_FEW ?
	    "too_few_runs" : compare_word(cg));
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
emit_change(struct emit *em, const struct prof_change *cg)
{
	emit_text(em, "name", cg->cg_name);
	emit_word(em, "verdict", verdict(cg));
	emit_list(em, "runs");
	emit_count(em, NULL, cg->cg_n[0]);
	emit_count(em, NULL, cg->cg_n[1]);
	emit_close(em);
	emit_couple(em, "median", cg->cg_median);
	emit_couple(em, "mean", cg->cg_mean);
	emit_number(em, "change", cg->cg_change, EMIT_EXACT);
	emit_couple(em, "ci95", cg->cg_ci95);
	emit_number(em, "p", cg->cg_p, EMIT_EXACT);
	emit_number(em, "p_adjusted", cg->cg_p_adjusted, EMIT_EXACT);
	emit_number(em, "smallest_change", cg->cg_smallest, EMIT_EXACT);
	emit_bool(em, "exact", cg->cg_is_exact == 1);
	if (cg->cg_runs_needed > 0)
		emit_count(em, "runs_needed", cg->cg_runs_needed);
	else
		emit_null(em, "runs_needed");
}

static void
emit_metric(struct emit *em, const char *name, const struct prof_change *cg)
{
	emit_object(em, name);
	emit_change(em, cg);
	emit_number(em, "p_mann_whitney", cg->cg_p_rank, EMIT_EXACT);
	emit_number(em, "p_welch", cg->cg_p_welch, EMIT_EXACT);
	emit_number(em, "cliffs_delta", cg->cg_delta, EMIT_EXACT);
	emit_word(em, "effect", effect(cg->cg_delta));
	emit_text(em, "unit", cg->cg_unit);
	emit_close(em);
}

static void
emit_function(struct emit *em, const struct prof_change *cg)
{
	static const char *const presence[] = {
		"none", "inlined", "out_of_line"
	};

	emit_object(em, NULL);
	emit_change(em, cg);
	emit_couple(em, "share", cg->cg_share);
	emit_number(em, "part", cg->cg_part, EMIT_EXACT);
	emit_list(em, "presence");
	emit_word(em, NULL, presence[cg->cg_presence[0]]);
	emit_word(em, NULL, presence[cg->cg_presence[1]]);
	emit_close(em);
	emit_text(em, "module", cg->cg_module);
	emit_close(em);
}

static void
emit_functions(struct emit *em, const struct prof_comparison *cp, unsigned by)
{
	const struct prof_change *total = prof_comparison_total(cp);

	emit_line(em);
	if (total != NULL)
		emit_metric(em, "total", total);
	else
		emit_null(em, "total");
	emit_line(em);
	emit_word(em, "by", compare_by_words[by]);
	emit_count(em, "functions_tested", prof_comparison_ntested(cp));
	emit_rows(em, "functions");
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++)
		emit_function(em, prof_comparison_function(cp, i));
	emit_close(em);
}

static void
emit_pair(struct emit *em, const struct pair *pair, unsigned by)
{
	const struct prof_comparison *cp = pair->pr_comparison;
	const char *note;

	emit_object(em, NULL);
	emit_text(em, "base", pair->pr_series[0]->se_name);
	emit_text(em, "new", pair->pr_series[1]->se_name);
	emit_list(em, "build_ids");
	for (int s = 0; s < 2; s++)
		emit_text(em, NULL, pair->pr_series[s]->se_build_id[0] ==
		    '\0' ? NULL : pair->pr_series[s]->se_build_id);
	emit_close(em);
	emit_word(em, "verdict", verdict(compare_headline(pair)));
	emit_bool(em, "assumes_no_drift",
	    prof_comparison_assumes_no_drift(cp));
	emit_rows(em, "metrics");
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		emit_metric(em, NULL, prof_comparison_metric(cp, i));
	emit_close(em);
	emit_functions(em, cp, by);
	emit_line(em);
	emit_list(em, "notes");
	for (size_t i = 0; (note = compare_note(pair, i)) != NULL; i++)
		emit_text(em, NULL, note);
	emit_close(em);
	emit_close(em);
}

void
compare_json(const struct compare *cm, struct out *out)
{
	struct emit em;

	emit_json(&em, out);
	emit_count(&em, "schema_version", COMPARE_SCHEMA);
	emit_text(&em, "version", prof_version());
	emit_number(&em, "threshold", cm->cm_threshold, EMIT_EXACT);
	emit_rows(&em, "comparisons");
	for (size_t i = 0; i < cm->cm_npairs; i++)
		emit_pair(&em, &cm->cm_pair[i], cm->cm_options->co_by);
	emit_close(&em);
	emit_line(&em);
	if (cm->cm_npairs > 1 && isfinite(cm->cm_geomean)) {
		emit_object(&em, "geomean");
		emit_couple(&em, "ci95", cm->cm_geomean_ci);
		emit_number(&em, "change", cm->cm_geomean, EMIT_EXACT);
		emit_signed(&em, "comparisons", cm->cm_ngeomean);
	} else
		emit_null(&em, "geomean");
	emit_end(&em);
}
