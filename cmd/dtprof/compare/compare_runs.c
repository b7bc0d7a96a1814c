/* SPDX-License-Identifier: ISC */
/*
 * Runs of two series to a comparison: what each had of metrics, and what its
 * functions cost; and, where there is a difference, their trees to that.  So
 * compare and flamegraph --base say the same of the same runs.
 *
 * Called by cmd_compare.c and by flamegraph.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static int
runs_fail(const struct costs *ct)
{
	return (msg_prof(ct->ct_command,
	    prof_comparison_error(ct->ct_comparison)));
}

static int
fail_nomem(const struct costs *ct)
{
	return (msg_error(ct->ct_command, "out of memory", "free memory"));
}

int
compare_give_renames(const struct costs *ct)
{
	for (size_t i = 0; i < ct->ct_renames->os_n; i++) {
		const char *text = ct->ct_renames->os_text[i];
		const char *equals = strchr(text, '=');
		char *old = strndup(text, (size_t)(equals - text));
		const int rv = old == NULL ? -1 : prof_comparison_rename(
		    ct->ct_comparison, old, equals + 1);

		free(old);
		if (rv == -1)
			return (fail_nomem(ct));
	}
	return (0);
}

static int
give_values(const struct costs *ct, const struct series *se, const long *run)
{
	for (size_t m = 0; m < se->se_nmetrics; m++)
		for (size_t r = 0; r < se->se_nruns; r++)
			if (isfinite(se->se_run[r].sr_value[m]) &&
			    prof_comparison_value(ct->ct_comparison, run[r],
			    se->se_metric[m].sm_name,
			    se->se_metric[m].sm_unit,
			    se->se_run[r].sr_value[m]) == -1)
				return (runs_fail(ct));
	return (0);
}

/* Their order was drawn where one bench made all of them. */
static int
give_side(const struct costs *ct, int side, const struct series *se,
    bool is_interleaved, long *run)
{
	for (size_t r = 0; r < se->se_nruns; r++) {
		run[r] = prof_comparison_run(ct->ct_comparison, side,
		    se->se_run[r].sr_block, is_interleaved ?
		    se->se_run[r].sr_place : -1);
		if (run[r] == -1)
			return (runs_fail(ct));
	}
	return (give_values(ct, se, run));
}

static int
give_costs(struct costs *ct, int side, const struct series *se,
    const long *run)
{
	for (size_t r = 0; r < se->se_nruns; r++)
		if (se->se_run[r].sr_profile != NULL && compare_costs(ct, side,
		    run[r], se->se_run[r].sr_profile) == -1)
			return (-1);
	return (0);
}

int
compare_runs(struct costs *ct, const struct series *const series[2],
    bool is_interleaved)
{
	long *run[2];
	int rv;

	for (int s = 0; s < 2; s++)
		run[s] = calloc(series[s]->se_nruns + 1, sizeof(*run[s]));
	rv = run[0] == NULL || run[1] == NULL ? fail_nomem(ct) :
	    compare_give_renames(ct);
	for (int s = 0; s < 2 && rv == 0; s++)
		rv = give_side(ct, s, series[s], is_interleaved, run[s]);
	/* What is new first: by it are the base's lines called. */
	for (int s = 1; s >= 0 && rv == 0; s--)
		rv = give_costs(ct, s, series[s], run[s]);
	free(run[0]);
	free(run[1]);
	if (rv == 0)
		rv = compare_name_total(ct);
	choose_say_short(ct->ct_command, &ct->ct_short);
	compare_costs_free(ct);
	return (rv == 0 && prof_comparison_finish(ct->ct_comparison) == -1 ?
	    runs_fail(ct) : rv);
}
