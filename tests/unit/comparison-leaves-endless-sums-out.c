/*
 * ASSERTION: a run whose costs add up to more than a number holds is left out
 * of a comparison, and what the other runs cost stays what it was.
 *
 * Easy to get wrong: a run that is left out has no column of its own, and
 * what it cost must not be put into another's.
 */
/* SPDX-License-Identifier: ISC */
#include <math.h>

#include "cli-check.h"
#include "prof.h"

#define RUNS	6	/* a side */

/* Of the last runs so many are endless; the function as it is seen then. */
static const struct prof_change *
compare(struct prof_comparison **cp, int endless)
{
	struct prof_err error = { 0 };
	long run[2][RUNS];

	*cp = prof_comparison_new(NULL, &error);
	CHECK(*cp != NULL, "%s", error.pe_text);
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < RUNS; r++)
			run[s][r] = prof_comparison_run(*cp, s, 0, -1);
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < RUNS; r++) {
			const double cost = r < RUNS - endless ? 10 : 1.7e308;

			CHECK(prof_comparison_cost(*cp, run[s][r], "f", "", 0,
			    cost) == 0 && prof_comparison_cost(*cp, run[s][r],
			    "g", "", 0, cost) == 0, "no costs");
		}
	CHECK(prof_comparison_finish(*cp) == 0, "%s",
	    prof_comparison_error(*cp)->pe_text);
	return (prof_comparison_function(*cp, 0));
}

int
main(void)
{
	struct prof_comparison *cp;
	const struct prof_change *cg = compare(&cp, 1);

	CHECK(cg->cg_n[0] == RUNS - 1 && cg->cg_n[1] == RUNS - 1,
	    "%zu and %zu runs", cg->cg_n[0], cg->cg_n[1]);
	CHECK(cg->cg_mean[0] == 10 && cg->cg_mean[1] == 10,
	    "%g and %g a run", cg->cg_mean[0], cg->cg_mean[1]);
	prof_comparison_free(cp);
	OK("one of six runs");
	cg = compare(&cp, RUNS);
	CHECK(cg->cg_n[0] == 0 && cg->cg_n[1] == 0, "%zu and %zu runs",
	    cg->cg_n[0], cg->cg_n[1]);
	prof_comparison_free(cp);
	OK("all of them");
	return (0);
}
