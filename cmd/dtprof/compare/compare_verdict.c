/* SPDX-License-Identifier: ISC */
/*
 * What the verdicts of a comparison amount to: a failure by --fail-on, an
 * open question by --strict, and the exit status.  What is written for
 * continuous integration says the same.
 *
 * Called by cmd_compare.c, compare_junit.c and compare_github.c.
 */
#include <string.h>

#include "compare.h"

#define EXIT_WORSE		3
#define EXIT_INCONCLUSIVE	4

double
compare_fail_limit(const char *text)
{
	uint64_t thousandths = 0;

	if (strncmp(text, "slower", 6) != 0 ||
	    (text[6] != '\0' && (text[6] != ':' ||
	    opt_percent(text + 7, &thousandths) == -1)))
		return (-1);
	return ((double)thousandths / 100000);
}

enum compare_outcome
compare_outcome(const struct compare *cm, const struct pair *pair)
{
	const struct prof_change *cg = compare_headline(pair);
	const char *fail_on = cm->cm_options->co_fail_on;

	if (fail_on != NULL && cg->cg_verdict == PROF_VERDICT_MORE &&
	    !(cg->cg_ci95[0] <= compare_fail_limit(fail_on)))
		return (COMPARE_WORSE);
	return (cm->cm_options->co_strict &&
	    cg->cg_verdict <= PROF_VERDICT_OPEN ? COMPARE_OPEN :
	    COMPARE_GOOD);
}

const char *
compare_note(const struct pair *pair, size_t n)
{
	if (pair->pr_note == NULL)
		return (prof_comparison_note(pair->pr_comparison, n));
	return (n == 0 ? pair->pr_note :
	    prof_comparison_note(pair->pr_comparison, n - 1));
}

/* What is worse goes before what is open. */
int
compare_status(const struct compare *cm)
{
	int status = 0;

	for (size_t i = 0; i < cm->cm_npairs; i++)
		switch (compare_outcome(cm, &cm->cm_pair[i])) {
		case COMPARE_WORSE:
			return (EXIT_WORSE);
		case COMPARE_OPEN:
			status = EXIT_INCONCLUSIVE;
			break;
		case COMPARE_GOOD:
			break;
		}
	return (status);
}
