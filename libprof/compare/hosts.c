/* SPDX-License-Identifier: ISC */
/*
 * Runs of many machines: what each host did in a window of time, one run for
 * each side.  Windows of a host are no independent runs, so the host is the
 * unit: the test deals what a host ran over time to other hosts, as a whole.
 *
 *	paired		hosts ran both versions, one after the other.  Each
 *			host and each window has a mean of its own, so what is
 *			compared is a host with itself, less what others did
 *			in the same time
 *	not paired	hosts of the same kind are compared, in the same
 *			windows
 *
 * Costs are those per unit of work, of a host that is as the average one: its
 * own mean over both sides is scaled to that of all, so that large hosts do
 * not count for more.  Neither depends on who ran what, as the test demands.
 *
 * Called by comparison.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comparison.h"
#include "recording/format.h"
#include "statistics_impl.h"

/* The number of a text, or of two. */
static uint32_t
number_of(struct prof_dict *dict, const char *text, const char *more)
{
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new;

	prof_buf_bytes(&key, text, strlen(text) + 1);
	prof_buf_bytes(&key, more, strlen(more));
	if (!key.bf_failed)
		n = prof_dict_find(dict, key.bf_data, key.bf_len, &is_new);
	prof_buf_free(&key);
	return (n);
}

long
prof_comparison_window(struct prof_comparison *cp, int side, const char *host,
    const char *kind, uint32_t window)
{
	const uint32_t key[3] = { number_of(&cp->cp_by_host, host, kind),
	    (uint32_t)side, window };
	const uint32_t of_kind = number_of(&cp->cp_by_kind, kind, "");
	bool is_new = false;
	uint32_t n;
	long run;

	n = prof_dict_find(&cp->cp_by_window, key, sizeof(key), &is_new);
	if (key[0] == PROF_INTERN_FAILED || of_kind == PROF_INTERN_FAILED ||
	    n == PROF_INTERN_FAILED)
		return (prof_fail_nomem(&cp->cp_error));
	if (!is_new)
		return ((long)n);
	run = prof_comparison_run(cp, side, 0, -1);
	if (run == -1)
		return (-1);
	cp->cp_is_hosts = true;
	cp->cp_run[run].rn_host = key[0];
	cp->cp_run[run].rn_kind = of_kind;
	cp->cp_run[run].rn_window = window;
	if (key[0] >= cp->cp_nhosts)
		cp->cp_nhosts = (size_t)key[0] + 1;
	return (run);
}

int
prof_comparison_units(struct prof_comparison *cp, long run, double units)
{
	if (run < 0 || (size_t)run >= cp->cp_nruns || !(units >= 0))
		return (prof_fail(&cp->cp_error, PROF_E_USAGE,
		    "no such run, or invalid number of units of work: run %ld",
		    run));
	cp->cp_run[run].rn_units += units;
	cp->cp_has_units = true;
	return (0);
}

int
prof_comparison_call_total(struct prof_comparison *cp, const char *name,
    const char *unit)
{
	free(cp->cp_total_name);
	free(cp->cp_total_unit);
	cp->cp_total_name = strdup(name);
	cp->cp_total_unit = strdup(unit);
	return (cp->cp_total_name == NULL || cp->cp_total_unit == NULL ?
	    prof_fail_nomem(&cp->cp_error) : 0);
}

const struct prof_hosts *
prof_comparison_hosts(const struct prof_comparison *cp)
{
	return (cp->cp_is_hosts ? &cp->cp_hosts : NULL);
}

size_t
prof_side_values(const struct prof_comparison *cp, int side,
    const double *values, double *to)
{
	double *sum = cp->cp_of_host, *n = cp->cp_of_host + cp->cp_nhosts;
	size_t of = 0;

	for (size_t h = 0; cp->cp_is_hosts && h < cp->cp_nhosts; h++)
		sum[h] = n[h] = 0;
	for (size_t i = 0; i < cp->cp_nruns; i++) {
		if (cp->cp_run[i].rn_side != side || !isfinite(values[i]))
			continue;
		if (!cp->cp_is_hosts)
			to[of++] = values[i];
		else {
			sum[cp->cp_run[i].rn_host] += values[i];
			n[cp->cp_run[i].rn_host]++;
		}
	}
	for (size_t h = 0; cp->cp_is_hosts && h < cp->cp_nhosts; h++)
		if (n[h] > 0)
			to[of++] = sum[h] / n[h];
	return (of);
}

/* ---------------------------------------------------- which runs count */

static double *
totals_make(const struct prof_comparison *cp)
{
	double *total = calloc(cp->cp_nruns + 1, sizeof(*total));

	for (size_t i = 0; total != NULL && i < cp->cp_ncosts; i++)
		total[cp->cp_cost[i].cs_run] += cp->cp_cost[i].cs_cost;
	return (total);
}

static int
by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ((x > y) - (x < y));
}

/* From times to numbers without gaps. */
static int
windows_number(struct prof_comparison *cp)
{
	uint32_t *window = calloc(cp->cp_nruns + 1, sizeof(*window));
	size_t n = 0;

	if (window == NULL)
		return (-1);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		window[i] = cp->cp_run[i].rn_window;
	qsort(window, cp->cp_nruns, sizeof(*window), by_number);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		if (n == 0 || window[n - 1] != window[i])
			window[n++] = window[i];
	for (size_t i = 0; i < cp->cp_nruns; i++) {
		const uint32_t *at = bsearch(&cp->cp_run[i].rn_window, window,
		    n, sizeof(*window), by_number);

		cp->cp_run[i].rn_window = (uint32_t)(at - window);
	}
	free(window);
	cp->cp_nwindows = n;
	return (0);
}

/* Of each host and window: which sides it had, as bits. */
static uint8_t *
sides_make(const struct prof_comparison *cp)
{
	uint8_t *sides = calloc(cp->cp_nhosts + 1, cp->cp_nwindows + 1);

	for (size_t i = 0; sides != NULL && i < cp->cp_nruns; i++) {
		const struct run *run = &cp->cp_run[i];

		sides[run->rn_host * cp->cp_nwindows + run->rn_window] |=
		    (uint8_t)(1u << run->rn_side);
	}
	return (sides);
}

/*
 * Runs that count move together: not those without cost or work, nor the
 * windows in which a host changed its version.
 */
static int
runs_choose(struct prof_comparison *cp)
{
	double *total = totals_make(cp);
	uint8_t *sides = sides_make(cp);
	uint32_t *now = calloc(cp->cp_nruns + 1, sizeof(*now));
	size_t n = 0, mixed = 0, ncosts = 0;

	for (size_t i = 0; total != NULL && sides != NULL && now != NULL &&
	    i < cp->cp_nruns; i++) {
		const struct run *run = &cp->cp_run[i];
		const bool is_mixed = sides[run->rn_host * cp->cp_nwindows +
		    run->rn_window] == 3;

		mixed += is_mixed && run->rn_side == 1;
		now[i] = UINT32_MAX;
		if (is_mixed || !isfinite(total[i]) || !((cp->cp_has_units ?
		    run->rn_units : total[i]) > 0)) {
			free(cp->cp_run[i].rn_warning);
			continue;
		}
		now[i] = (uint32_t)n;
		cp->cp_run[n++] = *run;
	}
	for (size_t i = 0; now != NULL && i < cp->cp_ncosts; i++) {
		struct cost cost = cp->cp_cost[i];

		cost.cs_run = now[cost.cs_run];
		if (cost.cs_run != UINT32_MAX)
			cp->cp_cost[ncosts++] = cost;
	}
	cp->cp_hosts.ph_mixed = mixed;
	if (total != NULL && sides != NULL && now != NULL) {
		cp->cp_nruns = n;
		cp->cp_ncosts = ncosts;
	}
	n = total != NULL && sides != NULL && now != NULL;
	free(total);
	free(sides);
	free(now);
	return (n ? 0 : -1);
}

/* --------------------------------------------------------------- design */

/* How many of these have either side, and both; by a member of runs. */
static size_t
sides_count(const struct prof_comparison *cp, size_t offset, size_t of[2])
{
	size_t both = 0, most = 0;
	uint8_t *sides;

	for (size_t i = 0; i < cp->cp_nruns; i++) {
		const uint32_t *number = (const uint32_t *)(const void *)
		    ((const char *)&cp->cp_run[i] + offset);

		most = *number > most ? *number : most;
	}
	sides = calloc(most + 1, 1);
	if (sides == NULL)
		return (SIZE_MAX);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		sides[*(const uint32_t *)(const void *)((const char *)
		    &cp->cp_run[i] + offset)] |=
		    (uint8_t)(1u << cp->cp_run[i].rn_side);
	of[0] = of[1] = 0;
	for (size_t n = 0; n <= most; n++) {
		of[0] += sides[n] & 1;
		of[1] += sides[n] >> 1;
		both += sides[n] == 3;
	}
	free(sides);
	return (both);
}

static int
design_choose(struct prof_comparison *cp)
{
	struct prof_hosts *ph = &cp->cp_hosts;
	size_t kinds[2];
	const size_t windows = sides_count(cp, offsetof(struct run,
	    rn_window), ph->ph_windows);
	const size_t same = sides_count(cp, offsetof(struct run, rn_kind),
	    kinds);

	ph->ph_both = sides_count(cp, offsetof(struct run, rn_host),
	    ph->ph_hosts);
	if (windows == SIZE_MAX || same == SIZE_MAX || ph->ph_both == SIZE_MAX)
		return (-1);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		ph->ph_units[cp->cp_run[i].rn_side] += cp->cp_run[i].rn_units;
	ph->ph_is_share = !cp->cp_has_units;
	ph->ph_is_paired = ph->ph_both >= PROF_MIN_RUNS;
	if (ph->ph_hosts[0] == 0 || ph->ph_hosts[1] == 0)
		return (0);	/* too few runs, and no more is to be said */
	if (windows == 0)
		ph->ph_confounder = PROF_CONFOUNDER_TIME;
	else if (!ph->ph_is_paired && same == 0)
		ph->ph_confounder = PROF_CONFOUNDER_KIND;
	return (0);
}

/* ---------------------------------------------------------------- costs */

/*
 * By run, what its costs are multiplied by: to be per unit of work, or a
 * share; and as on an average host, if hosts are compared with themselves.
 */
static int
factors_make(struct prof_comparison *cp, double *factor)
{
	double *total = totals_make(cp);
	double *sum = cp->cp_of_host, *n = cp->cp_of_host + cp->cp_nhosts;
	double all = 0, hosts = 0;

	for (size_t i = 0; total != NULL && i < cp->cp_nruns; i++)
		factor[i] = 1 / (cp->cp_has_units ?
		    cp->cp_run[i].rn_units : total[i]);
	if (total != NULL && cp->cp_is_hosts && cp->cp_hosts.ph_is_paired) {
		memset(sum, 0, 2 * cp->cp_nhosts * sizeof(*sum));
		for (size_t i = 0; i < cp->cp_nruns; i++) {
			sum[cp->cp_run[i].rn_host] += total[i] * factor[i];
			n[cp->cp_run[i].rn_host]++;
		}
		for (size_t h = 0; h < cp->cp_nhosts; h++) {
			all += n[h] > 0 ? sum[h] / n[h] : 0;
			hosts += n[h] > 0;
		}
		for (size_t i = 0; i < cp->cp_nruns; i++) {
			const uint32_t h = cp->cp_run[i].rn_host;

			if (sum[h] > 0)
				factor[i] *= all / hosts / (sum[h] / n[h]);
		}
	}
	free(total);
	return (total == NULL ? -1 : 0);
}

static int
costs_scale(struct prof_comparison *cp)
{
	double *factor = calloc(cp->cp_nruns + 1, sizeof(*factor));
	const int rv = factor == NULL ? -1 : factors_make(cp, factor);

	for (size_t i = 0; rv == 0 && i < cp->cp_ncosts; i++)
		cp->cp_cost[i].cs_cost *= factor[cp->cp_cost[i].cs_run];
	free(factor);
	return (rv);
}

int
prof_hosts_prepare(struct prof_comparison *cp)
{
	if (!cp->cp_is_hosts)
		return (cp->cp_has_units && costs_scale(cp) == -1 ?
		    prof_fail_nomem(&cp->cp_error) : 0);
	cp->cp_of_host = calloc(2 * cp->cp_nhosts + 1, sizeof(double));
	if (cp->cp_of_host == NULL || windows_number(cp) == -1)
		return (prof_fail_nomem(&cp->cp_error));
	if (cp->cp_nwindows > PROF_HOSTS_WINDOWS) {
		prof_fail(&cp->cp_error, PROF_E_USAGE, "%zu time windows "
		    "exceed the limit of %d", cp->cp_nwindows,
		    PROF_HOSTS_WINDOWS);
		return (prof_cure(&cp->cp_error, "choose longer windows with "
		    "--window"));
	}
	return (runs_choose(cp) == -1 || design_choose(cp) == -1 ||
	    costs_scale(cp) == -1 ? prof_fail_nomem(&cp->cp_error) : 0);
}

/*
 * What a host's whole cost was where new hosts were: of the cells by which the
 * test estimates a shift, weighted as it weights them, without what the total
 * is said to have changed.  The mean of the base lies at other times.
 */
int
prof_hosts_whole(const struct prof_comparison *cp, double *whole)
{
	const struct drawing *dw = &cp->cp_drawing;
	const size_t n = cp->cp_nruns;
	const double change = cp->cp_total.mt_change.cg_change;
	double *there = calloc(n + 1, sizeof(*there));
	double *side = calloc(n + 1, sizeof(*side));
	double sum = 0, of = 0;
	struct prof_levels levels = { 0 };
	int rv;

	for (size_t i = 0; i < n && there != NULL && side != NULL; i++) {
		there[i] = 1;
		side[i] = dw->dw_side[i] * prof_design_root(&dw->dw_design, i);
	}
	rv = there == NULL || side == NULL ? -1 :
	    prof_levels_init(&levels, &dw->dw_design, there);
	if (rv == 0)
		prof_levels_take_off(&levels, side);
	for (size_t i = 0; i < n && rv == 0; i++)
		if (dw->dw_side[i] != 0) {
			side[i] *= prof_design_root(&dw->dw_design, i);
			sum += side[i] * cp->cp_total.mt_value[dw->dw_at[i]];
			of += side[i];
		}
	*whole = sum / of / (isfinite(change) ? 1 + change : 1);
	prof_levels_fini(&levels);
	free(there);
	free(side);
	return (rv);
}
