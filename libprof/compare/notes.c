/* SPDX-License-Identifier: ISC */
/*
 * What makes one doubt runs, in sentences: profiles with something bad, times
 * that drift, lie in two heaps or far apart, a slow first run, runs far off
 * the others, too few runs, runs that were not interleaved, functions that may
 * have got another name.  Nothing is ever left out because of it.
 *
 * Called by comparison.c at the end.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comparison.h"

#define DRIFT_P		0.01
#define NOISY		0.05	/* of the median, by MAD */
#define FAR_OFF		3.5	/* MADs, each taken as 0.6745 sigma */
#define MANY_FAR_OFF	0.1	/* of the runs */
#define MAD_SIGMA	1.4826
#define FIRST_SLOW	0.05	/* of the median: less does not matter */
#define ALIKE		0.25	/* cost of a function under another name */

static int	note_add(struct prof_comparison *cp, const char *fmt, ...)
		    PROF_PRINTF(2, 3);

static const char *const side_name[2] = { "base", "new" };

static int
note_add(struct prof_comparison *cp, const char *fmt, ...)
{
	char **note = prof_grow(&cp->cp_note, &cp->cp_nnotes,
	    &cp->cp_cap_notes, sizeof(*note));
	va_list ap;
	int n;

	if (note == NULL)
		return (-1);
	va_start(ap, fmt);
	n = vasprintf(note, fmt, ap);
	va_end(ap);
	if (n != -1)
		return (0);
	*note = NULL;
	cp->cp_nnotes--;
	return (-1);
}

static int
doubt_values(struct prof_comparison *cp, const char *name, int side,
    const double *values, size_t n)
{
	const char *of = side_name[side];
	double median, mad, rho, p;
	size_t off = 0;

	if (prof_median_mad(values, n, &median, &mad) == -1 ||
	    prof_drift(values, n, &rho, &p) == -1)
		return (-1);
	mad *= MAD_SIGMA;
	for (size_t i = 0; i < n; i++)
		off += fabs(values[i] - median) > FAR_OFF * mad;
	if (p < DRIFT_P && note_add(cp, "%s, %s: %s during the runs (drift, "
	    "Spearman's rho %.2f)", of, name, rho > 0 ? "rises" : "falls",
	    rho) == -1)
		return (-1);
	if (prof_modes(values, n) > 1 && note_add(cp, "%s, %s: the runs form "
	    "several clusters; see --plot", of, name) == -1)
		return (-1);
	if (n >= 3 && values[0] - median > FAR_OFF * mad &&
	    values[0] > median * (1 + FIRST_SLOW) && note_add(cp, "%s, %s: the "
	    "first run was slow; more warm-up runs (-w) may help",
	    of, name) == -1)
		return (-1);
	if (mad > NOISY * median && note_add(cp,
	    "%s, %s: noisy, the runs vary by "
	    "%.1f%%", of, name, 100 * mad / median) == -1)
		return (-1);
	if (mad > 0 && n >= 5 && (double)off > MANY_FAR_OFF * (double)n)
		return (note_add(cp, "%s, %s: %zu of %zu runs are outliers",
		    of, name, off, n));
	return (0);
}

/* In the order in which they were run. */
static int
doubt_metric(struct prof_comparison *cp, const struct metric *metric)
{
	double *values = calloc(cp->cp_nruns + 1, sizeof(*values));
	int rv = values == NULL ? -1 : 0;

	for (int side = 0; side < 2 && rv == 0; side++) {
		size_t n = 0, without = 0;

		for (size_t i = 0; i < cp->cp_nruns; i++) {
			if (cp->cp_run[i].rn_side != side)
				continue;
			if (isfinite(metric->mt_value[i]))
				values[n++] = metric->mt_value[i];
			else
				without++;
		}
		rv = doubt_values(cp, metric->mt_name, side, values, n);
		if (rv == 0 && without > 0)
			rv = note_add(cp, "%s, %s: %zu runs have no value",
			    side_name[side], metric->mt_name, without);
	}
	free(values);
	return (rv);
}

static int
doubt_order(struct prof_comparison *cp)
{
	const double alpha = ALPHA_HEADLINE /
	    (double)cp->cp_options.cp_family;
	size_t n[2] = { 0, 0 };

	for (size_t i = 0; i < cp->cp_nruns; i++)
		n[cp->cp_run[i].rn_side]++;
	if (n[0] < PROF_MIN_RUNS || n[1] < PROF_MIN_RUNS)
		return (note_add(cp,
		    "%zu runs of base and %zu of new are too few: "
		    "a verdict needs at least %d runs of each",
		    n[0], n[1], PROF_MIN_RUNS));
	if (!cp->cp_is_drawn && note_add(cp,
	    "the test assumes no drift: these runs were not interleaved by "
	    "dtprof bench, so a change of the machine between runs looks like "
	    "a difference") == -1)
		return (-1);
	if (cp->cp_floor > alpha)
		return (note_add(cp,
		    "make more runs: with so few randomized runs, the "
		    "p-value is at least %.2g, but a verdict needs a p-value "
		    "of at most %.2g",
		    cp->cp_floor, alpha));
	return (0);
}

static int
doubt_hosts(struct prof_comparison *cp)
{
	const struct prof_hosts *ph = &cp->cp_hosts;
	const struct prof_change *cg = &cp->cp_total.mt_change;
	const double seen = cg->cg_median[1] / cg->cg_median[0] - 1;
	const double alpha = (ph->ph_is_share ? ALPHA_FUNCTIONS :
	    ALPHA_HEADLINE) / (double)cp->cp_options.cp_family;

	if (ph->ph_is_share && note_add(cp, "only shares are compared: a "
	    "change that slows everything alike is not visible, and if one "
	    "share grows, the other shares fall; use --per to compare "
	    "costs") == -1)
		return (-1);
	if (ph->ph_hosts[0] < PROF_MIN_RUNS || ph->ph_hosts[1] < PROF_MIN_RUNS)
		return (note_add(cp, "%zu hosts of base and %zu of new are too "
		    "few: a verdict needs at least %d hosts of each",
		    ph->ph_hosts[0], ph->ph_hosts[1], PROF_MIN_RUNS));
	if (seen < cg->cg_ci95[0] || seen > cg->cg_ci95[1])
		if (note_add(cp, "the measured difference of base and new is "
		    "%+.1f%%; the reported change is another number, because "
		    "it excludes differences between hosts and between times",
		    100 * seen) == -1)
			return (-1);
	if (cp->cp_floor > alpha)
		return (note_add(cp, "too few hosts changed their "
		    "version at different times: the p-value is at least "
		    "%.2g, but a verdict needs a p-value of at most %.2g",
		    cp->cp_floor, alpha));
	return (0);
}

/* Gone here, new there, at the same cost: it may be a matter of names. */
static int
doubt_names(struct prof_comparison *cp)
{
	for (size_t a = 0; a < cp->cp_nfunctions; a++) {
		const struct prof_change *gone = &cp->cp_function[a].fn_change;

		if (gone->cg_verdict != PROF_VERDICT_LESS ||
		    gone->cg_presence[1] != PROF_PRESENCE_NONE)
			continue;
		for (size_t b = 0; b < cp->cp_nfunctions; b++) {
			const struct prof_change *come =
			    &cp->cp_function[b].fn_change;

			if (come->cg_verdict != PROF_VERDICT_MORE ||
			    come->cg_presence[0] != PROF_PRESENCE_NONE ||
			    strcmp(come->cg_state, gone->cg_state) != 0 ||
			    fabs(come->cg_mean[1] - gone->cg_mean[0]) >
			    ALIKE * gone->cg_mean[0])
				continue;
			if (note_add(cp, "%s is gone and %s is new at the same "
			    "cost: if both are the same function, add --rename "
			    "%s=%s",
			    gone->cg_name, come->cg_name, gone->cg_name,
			    come->cg_name) == -1)
				return (-1);
		}
	}
	return (0);
}

/* A note for each line of what is bad about a run's profile. */
static int
add_warning(struct prof_comparison *cp, const char *side, size_t bad, size_t n,
    const char *text)
{
	size_t length;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (note_add(cp, "%s, %zu of %zu run%s: %.*s", side, bad, n,
		    n == 1 ? "" : "s", (int)length, text) == -1)
			return (-1);
	}
	return (0);
}

/* Of each side the first run whose profile has something bad. */
static int
doubt_profiles(struct prof_comparison *cp)
{
	for (int s = 0; s < 2; s++) {
		const struct run *first = NULL;
		size_t bad = 0, n = 0;

		for (size_t r = cp->cp_nruns; r-- > 0;) {
			const struct run *run = &cp->cp_run[r];

			n += run->rn_side == s;
			if (run->rn_side != s || run->rn_warning == NULL)
				continue;
			first = run;
			bad++;
		}
		if (first != NULL && add_warning(cp, side_name[s], bad, n,
		    first->rn_warning) == -1)
			return (-1);
	}
	cp->cp_nwarnings = cp->cp_nnotes;
	return (0);
}

int
prof_comparison_doubt(struct prof_comparison *cp)
{
	if (doubt_profiles(cp) == -1 || (cp->cp_is_hosts ? doubt_hosts(cp) :
	    doubt_order(cp)) == -1)
		return (-1);
	if (cp->cp_is_hosts)
		return (doubt_names(cp));
	if (cp->cp_nmetrics > 0 && doubt_metric(cp, &cp->cp_metric[0]) == -1)
		return (-1);
	if (cp->cp_nmetrics == 0 && cp->cp_ncosts > 0 &&
	    doubt_metric(cp, &cp->cp_total) == -1)
		return (-1);
	return (doubt_names(cp));
}
