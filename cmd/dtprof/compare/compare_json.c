/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JSON, for programs.  Changes are shares (0.03 is 3 %); what
 * is not known is null.
 *
 * Called by cmd_compare.c.
 */
#include <math.h>
#include <string.h>

#include "../ui/emit.h"
#include "compare.h"

static const char *
verdict_name(const struct prof_change *cg)
{
	return (cg == NULL || cg->cg_verdict == PROF_VERDICT_FEW ?
	    "too_few_runs" : compare_word(cg));
}

/* Cliff's delta in words, as Romano has them. */
static const char *
effect_name(double delta)
{
	const double size = fabs(delta);

	return (!isfinite(delta) ? "unknown" : size < 0.147 ? "negligible" :
	    size < 0.33 ? "small" : size < 0.474 ? "medium" : "large");
}

/* What metrics and functions have in common. */
static void
emit_change(struct emit *em, const struct prof_change *cg)
{
	EMIT(em, TEXT("name", cg->cg_name), WORD("verdict", verdict_name(cg)),
	    NUMBERS("runs", ((const double[]){ (double)cg->cg_n[0],
	    (double)cg->cg_n[1] }), 2), NUMBERS("median", cg->cg_median, 2),
	    NUMBERS("mean", cg->cg_mean, 2), NUMBER("change", cg->cg_change),
	    NUMBERS("ci95", cg->cg_ci95, 2), NUMBER("p", cg->cg_p),
	    NUMBER("p_adjusted", cg->cg_p_adjusted),
	    NUMBER("smallest_change", cg->cg_smallest),
	    FLAG("exact", cg->cg_is_exact == 1),
	    KNOWN(cg->cg_runs_needed > 0,
	    COUNT("runs_needed", cg->cg_runs_needed)));
}

static void
emit_metric(struct emit *em, const char *name, const struct prof_change *cg)
{
	emit_object(em, name);
	emit_change(em, cg);
	EMIT(em, NUMBER("p_mann_whitney", cg->cg_p_rank),
	    NUMBER("p_welch", cg->cg_p_welch),
	    NUMBER("cliffs_delta", cg->cg_delta),
	    WORD("effect", effect_name(cg->cg_delta)),
	    TEXT("unit", cg->cg_unit));
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
	EMIT(em, NUMBERS("share", cg->cg_share, 2),
	    NUMBER("part", cg->cg_part));
	emit_list(em, "presence");
	EMIT(em, WORD(NULL, presence[cg->cg_presence[0]]),
	    WORD(NULL, presence[cg->cg_presence[1]]));
	emit_close(em);
	EMIT(em, TEXT("module", cg->cg_module),
	    KNOWN(*cg->cg_state != '\0', TEXT("state", cg->cg_state)));
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
		EMIT(em, UNKNOWN("total"));
	emit_line(em);
	EMIT(em, WORD("by", compare_by_words[by]),
	    COUNT("functions_tested", prof_comparison_ntested(cp)));
	emit_rows(em, "functions");
	for (size_t i = 0; i < prof_comparison_nfunctions(cp); i++)
		emit_function(em, prof_comparison_function(cp, i));
	emit_close(em);
}

/* What hosts were compared, and what was left out. */
static void
emit_hosts(struct emit *em, const struct pair *pair)
{
	const struct prof_hosts *ph =
	    prof_comparison_hosts(pair->pr_comparison);

	emit_line(em);
	if (ph == NULL) {
		EMIT(em, UNKNOWN("hosts"));
		return;
	}
	emit_object(em, "hosts");
	EMIT(em, FLAG("paired", ph->ph_is_paired),
	    FLAG("shares", ph->ph_is_share),
	    COUNT("window_ns", pair->pr_window_ns),
	    NUMBERS("hosts", ((const double[]){ (double)ph->ph_hosts[0],
	    (double)ph->ph_hosts[1] }), 2), NUMBERS("windows",
	    ((const double[]){ (double)ph->ph_windows[0],
	    (double)ph->ph_windows[1] }), 2),
	    NUMBERS("units", ph->ph_units, 2), COUNT("both", ph->ph_both),
	    COUNT("mixed", ph->ph_mixed), COUNT("lossy", pair->pr_lossy));
	emit_close(em);
	emit_line(em);
}

static void
emit_pair(struct emit *em, const struct pair *pair, unsigned by)
{
	const struct prof_comparison *cp = pair->pr_comparison;
	const char *note;

	emit_object(em, NULL);
	EMIT(em, TEXT("base", pair->pr_series[0]->se_name),
	    TEXT("new", pair->pr_series[1]->se_name));
	emit_list(em, "build_ids");
	for (int s = 0; s < 2; s++)
		EMIT(em, TEXT(NULL, pair->pr_series[s]->se_build_id[0] == '\0' ?
		    NULL : pair->pr_series[s]->se_build_id));
	emit_close(em);
	EMIT(em, WORD("verdict", strcmp(compare_verdict(pair),
	    "not visible") == 0 ? "not visible" :
	    verdict_name(compare_headline(pair))),
	    FLAG("assumes_no_drift", prof_comparison_assumes_no_drift(cp)));
	emit_hosts(em, pair);
	emit_rows(em, "metrics");
	for (size_t i = 0; i < prof_comparison_nmetrics(cp); i++)
		emit_metric(em, NULL, prof_comparison_metric(cp, i));
	emit_close(em);
	emit_functions(em, cp, by);
	emit_line(em);
	emit_list(em, "notes");
	for (size_t i = 0; (note = compare_note(pair, i)) != NULL; i++)
		EMIT(em, TEXT(NULL, note));
	emit_close(em);
	emit_close(em);
}

void
compare_json(const struct compare *cm, struct out *out)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
	    TEXT("version", prof_version()),
	    NUMBER("threshold", cm->cm_threshold));
	emit_rows(&em, "comparisons");
	for (size_t i = 0; i < cm->cm_npairs; i++)
		emit_pair(&em, &cm->cm_pair[i], cm->cm_options->co_by);
	emit_close(&em);
	emit_line(&em);
	if (cm->cm_npairs > 1 && isfinite(cm->cm_geomean))
		EMIT_ROW(&em, "geomean",
		    NUMBERS("ci95", cm->cm_geomean_ci, 2),
		    NUMBER("change", cm->cm_geomean),
		    SIGNED("comparisons", cm->cm_ngeomean));
	else
		EMIT(&em, UNKNOWN("geomean"));
	emit_end(&em);
}
