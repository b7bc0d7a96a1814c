/* SPDX-License-Identifier: ISC */
/*
 * What is said of a difference as a whole: a headline, which the pictures
 * show beside their title, and what makes one doubt it.  The verdict on the
 * total is that of a comparison, with the same words and the same tests.
 *
 * Called by difference.c when all is tested.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "comparison.h"
#include "difference.h"

static int PROF_PRINTF(2, 3)
add_note(struct prof_difference *df, const char *fmt, ...)
{
	char *text, **slot;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return (-1);
	slot = prof_grow((void **)&df->df_note, &df->df_nnotes,
	    &df->df_cap_notes, sizeof(*slot));
	if (slot == NULL) {
		free(text);
		return (-1);
	}
	*slot = text;
	return (0);
}

void
prof_difference_amount(char *text, size_t size, double value,
    const char *unit)
{
	const char *name;
	const uint64_t scale = prof_unit_scale(unit, &name);
	const double much = fabs(value);

	if (scale > 1)
		snprintf(text, size, "%.4g %s", value / (double)scale, name);
	else if (strcmp(unit, "ns") != 0)
		snprintf(text, size, much < 100 ? "%.1f %s" : "%.0f %s",
		    value, unit);
	else if (much >= 1e9)
		snprintf(text, size, "%.2f s", value / 1e9);
	else if (much >= 1e6)
		snprintf(text, size, "%.2f ms", value / 1e6);
	else
		snprintf(text, size, "%.2f us", value / 1e3);
}

/* ------------------------------------------------------------ headline */

static void
say_sides(const struct prof_difference *df, char *text, size_t size)
{
	static const char *const names[2] = { "base", "new" };
	uint64_t samples[2] = { 0, 0 };
	char amount[64];
	size_t length = 0;
	int n;

	for (size_t r = 0; r < df->df_nruns; r++)
		samples[df->df_run[r].dr_side] += df->df_run[r].dr_samples;
	for (int s = 0; s < 2; s++) {
		prof_difference_amount(amount, sizeof(amount), df->df_sum[s],
		    df->df_info.pi_unit);
		n = snprintf(text + length, size - length, "%s%s %zu run%s "
		    "of %.40s, %" PRIu64 " samples", s == 0 ? "" : "; ",
		    names[s], df->df_nside[s], df->df_nside[s] == 1 ? "" :
		    "s", amount, samples[s]);
		length += n > 0 && (size_t)n < size - length ? (size_t)n : 0;
	}
}

static void
say_verdict(const struct prof_change *cg, char *text, size_t size)
{
	char range[96] = "";

	if (!isnan(cg->cg_ci95[0]))
		snprintf(range, sizeof(range), " (95%%: %+.1f%% to %+.1f%%)",
		    100 * cg->cg_ci95[0], 100 * cg->cg_ci95[1]);
	switch (cg->cg_verdict) {
	case PROF_VERDICT_MORE:
	case PROF_VERDICT_LESS:
		snprintf(text, size, "new takes %.1f%% %s%s",
		    100 * fabs(cg->cg_change), cg->cg_verdict ==
		    PROF_VERDICT_MORE ? "more" : "less", range);
		break;
	case PROF_VERDICT_SAME:
		snprintf(text, size, "total: no change%s", range);
		break;
	case PROF_VERDICT_OPEN:
		snprintf(text, size, cg->cg_runs_needed == 0 ?
		    "total: inconclusive%s" : "total: inconclusive%s; a "
		    "verdict needs about %zu runs each of base and new",
		    range, cg->cg_runs_needed);
		break;
	default:
		snprintf(text, size, "not tested: %s each of base and new; "
		    "a test needs at least %d runs each",
		    cg->cg_n[0] == 1 && cg->cg_n[1] == 1 ? "one run" :
		    "too few runs", PROF_MIN_RUNS);
	}
}

/* --------------------------------------------------------------- notes */

/* What must be alike for times to mean the same. */
static int
note_machines(struct prof_difference *df)
{
	int rv = 0;

	/* The first is the command, the last is dtprof's version. */
	for (int i = 1; i < PROF_NFACTS - 1 && rv == 0; i++) {
		const char *base = df->df_fact[0][i];
		const char *new = df->df_fact[1][i];

		if (base != NULL && new != NULL && strcmp(base, new) != 0)
			rv = add_note(df, "the machines differ: %s is %s in "
			    "base and %s in new", prof_facts[i][1],
			    base, new);
	}
	return (rv);
}

static int
note_rates(struct prof_difference *df)
{
	if (df->df_rate_hz[0] == df->df_rate_hz[1] &&
	    df->df_period[0] == df->df_period[1])
		return (0);
	return (add_note(df, "base and new were sampled at different rates: "
	    "compare weights, not numbers of samples"));
}

int
prof_difference_say(struct prof_difference *df)
{
	const size_t size = sizeof(df->df_headline);
	const char *note;
	size_t length;

	say_verdict(prof_comparison_total(df->df_comparison),
	    df->df_headline, size);
	length = strlen(df->df_headline);
	snprintf(df->df_headline + length, size - length, "; ");
	length = strlen(df->df_headline);
	say_sides(df, df->df_headline + length, size - length);
	/* Where nothing is claimed, what the runs take says nothing. */
	for (size_t i = 0; (df->df_claims ||
	    i < df->df_comparison->cp_nwarnings) &&
	    (note = prof_comparison_note(df->df_comparison, i)) != NULL; i++)
		if (add_note(df, "%s", note) == -1)
			return (-1);
	return (note_machines(df) == -1 || note_rates(df) == -1 ? -1 : 0);
}
