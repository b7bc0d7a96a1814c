/* SPDX-License-Identifier: ISC */
/*
 * Which functions take more of slow spans than their share of fast ones can
 * explains, by the one test of comparisons (statistics_family.c): a window is
 * a block of two runs, its fast spans and its slow ones, whose values are as
 * likely exchanged where the share is the same times PROF_SPAN_VARIES.
 *
 * The estimates are ratios of sums over all windows, T / D, of which a window
 * with t and d adds the value
 *
 *	T / D + W (t - d T / D) / D		W: windows
 *
 * whose mean is T / D again, and whose spread is that of the ratio: so a
 * window counts as much as what is in it, and the tested difference is the one
 * that is shown.
 *
 * Called by span_difference.c.
 */
#include <math.h>
#include <stdlib.h>

#include "profile/profile_impl.h"
#include "span_difference.h"
#include "statistics.h"

/* Over all rows; as only more than a share is claimed, half of it errs. */
#define ALPHA_SHARES	0.01
#define ALPHA_INTERVALS	0.05
#define MIN_WAITS	8	/* 2^-8 is less than half of ALPHA_SHARES */

enum ratio { OF_SPANS, OF_DURATION, OF_RUNNING };

/* Rows of a family, by window and side. */
struct tests {
	const struct prof_span_difference *ts_sd;
	size_t		 ts_nruns;
	uint8_t		*ts_side;
	uint32_t	*ts_block;
	size_t		*ts_cell;	/* of a run */
	size_t		*ts_run;	/* of a cell */
	double		*ts_ns;		/* row * runs + run */
	double		*ts_value;
	struct prof_effect *ts_effect;
};

/*
 * Where either side would have less than a sample a window its noise is far
 * from even, and it is not tested; by all samples alike, whatever their side.
 * Waits are not sampled: it takes so many that their windows can tell.
 */
void
prof_span_tests_pick(struct prof_span_difference *sd)
{
	const struct prof_span_sides *sides = &sd->sd_sides;
	const double few = (double)(sides->sv_samples[0] <
	    sides->sv_samples[1] ? sides->sv_samples[0] :
	    sides->sv_samples[1]);
	const double all = (double)(sides->sv_samples[0] +
	    sides->sv_samples[1]);

	for (size_t p = 0; p < sd->sd_nparts; p++) {
		struct span_part *part = &sd->sd_part[p];
		const enum prof_span_state state = prof_span_part_state(sd, p);
		const bool is_many = state == PROF_SPAN_RUNNING ?
		    (double)part->pt_samples / all * few >=
		    (double)sides->sv_both : part->pt_samples >= MIN_WAITS ||
		    state == PROF_SPAN_NOT_RUNNING ||
		    state == PROF_SPAN_REST;

		part->pt_tested = UINT32_MAX;
		if (sides->sv_is_tested && is_many &&
		    prof_span_part_is_shown(sd, p))
			part->pt_tested = (uint32_t)sd->sd_ntested++;
	}
}

static int
tests_init(struct tests *ts, const struct prof_span_difference *sd)
{
	const size_t n = 2 * sd->sd_nwindows;

	ts->ts_sd = sd;
	ts->ts_side = calloc(n, sizeof(*ts->ts_side));
	ts->ts_block = calloc(n, sizeof(*ts->ts_block));
	ts->ts_cell = calloc(n, sizeof(*ts->ts_cell));
	ts->ts_run = calloc(n, sizeof(*ts->ts_run));
	if (ts->ts_side == NULL || ts->ts_block == NULL ||
	    ts->ts_cell == NULL || ts->ts_run == NULL)
		return (-1);
	for (size_t c = 0; c < n; c++) {
		if (sd->sd_cell[c].sc_spans == 0 ||
		    sd->sd_cell[c ^ 1].sc_spans == 0)
			continue;
		ts->ts_side[ts->ts_nruns] = c & 1;
		ts->ts_block[ts->ts_nruns] = (uint32_t)(c / 2);
		ts->ts_cell[ts->ts_nruns] = c;
		ts->ts_run[c] = ts->ts_nruns++;
	}
	ts->ts_ns = calloc(sd->sd_ntested * ts->ts_nruns + 1,
	    sizeof(*ts->ts_ns));
	ts->ts_value = calloc(sd->sd_ntested * ts->ts_nruns + 1,
	    sizeof(*ts->ts_value));
	ts->ts_effect = calloc(sd->sd_ntested + 1, sizeof(*ts->ts_effect));
	return (ts->ts_ns == NULL || ts->ts_value == NULL ||
	    ts->ts_effect == NULL ? -1 : 0);
}

static void
tests_fini(struct tests *ts)
{
	free(ts->ts_side);
	free(ts->ts_block);
	free(ts->ts_cell);
	free(ts->ts_run);
	free(ts->ts_ns);
	free(ts->ts_value);
	free(ts->ts_effect);
}

static void
time_add(struct tests *ts, const struct span_part *part, size_t run, double ns)
{
	if (part->pt_tested != UINT32_MAX)
		ts->ts_ns[part->pt_tested * ts->ts_nruns + run] += ns;
}

/* Of which it is neither known that threads ran, nor that they did not. */
static double
cell_rest(const struct prof_span_difference *sd, size_t n)
{
	const struct span_cell *cell = &sd->sd_cell[n];

	return (cell->sc_ns - cell->sc_off_ns - (!sd->sd_has_times ?
	    cell->sc_running_ns + cell->sc_waits_ns :
	    sd->sd_running_ns[n & 1] > 0 ? cell->sc_known_ns : 0));
}

static void
times_fill(struct tests *ts)
{
	const struct prof_span_difference *sd = ts->ts_sd;
	const struct span_part *rest = &sd->sd_part[sd->sd_nparts - 1];
	const struct span_part *off = rest - 1;
	const struct prof_bucket *bucket;
	size_t n;

	bucket = prof_profile_buckets(sd->sd_profile, &n);
	for (size_t i = 0; i < n; i++) {
		const size_t part = prof_span_part_of(sd, &bucket[i]);

		if (part != SIZE_MAX)
			time_add(ts, &sd->sd_part[part],
			    ts->ts_run[bucket[i].pc_bucket],
			    prof_span_time_of(sd, &bucket[i]));
	}
	for (size_t r = 0; r < ts->ts_nruns; r++) {
		const struct span_cell *cell = &sd->sd_cell[ts->ts_cell[r]];

		time_add(ts, off, r, cell->sc_off_ns - cell->sc_waits_ns);
		time_add(ts, rest, r, cell_rest(sd, ts->ts_cell[r]));
	}
}

/*
 * What a ratio is of: spans, their durations, or of functions the running time
 * that samples stand for.  A sample makes its span longer, so among spans that
 * are chosen for being short those without one are too many.
 */
static double
cell_size(const struct span_cell *cell, enum ratio ratio)
{
	return (ratio == OF_SPANS ? (double)cell->sc_spans :
	    ratio == OF_DURATION ? cell->sc_ns : cell->sc_running_ns);
}

static void
values_fill(struct tests *ts, size_t row, enum ratio of)
{
	const double windows = (double)ts->ts_nruns / 2;
	const double *ns = ts->ts_ns + row * ts->ts_nruns;
	double sum[2] = { 0, 0 }, size[2] = { 0, 0 };

	for (size_t r = 0; r < ts->ts_nruns; r++) {
		sum[ts->ts_side[r]] += ns[r];
		size[ts->ts_side[r]] += cell_size(
		    &ts->ts_sd->sd_cell[ts->ts_cell[r]], of);
	}
	for (size_t r = 0; r < ts->ts_nruns; r++) {
		const int s = ts->ts_side[r];
		const double ratio = size[s] > 0 ? sum[s] / size[s] : 0;
		const double times = of != OF_SPANS && s == 0 ?
		    PROF_SPAN_VARIES : 1;

		ts->ts_value[row * ts->ts_nruns + r] = size[s] > 0 ? times *
		    (ratio + windows * (ns[r] - ratio * cell_size(
		    &ts->ts_sd->sd_cell[ts->ts_cell[r]], of)) / size[s]) : 0;
	}
}

/* Values of all rows as ratios, tested at this rate of errors. */
static int
tests_make(struct tests *ts, bool is_share, double alpha)
{
	const struct prof_span_difference *sd = ts->ts_sd;
	const struct prof_design design = { .dg_n = ts->ts_nruns,
	    .dg_side = ts->ts_side, .dg_block = ts->ts_block };
	struct prof_family family = { .fa_alpha = alpha,
	    .fa_seed = sd->sd_options.sd_seed };

	for (size_t p = 0; p < sd->sd_nparts; p++)
		if (sd->sd_part[p].pt_tested != UINT32_MAX)
			values_fill(ts, sd->sd_part[p].pt_tested,
			    !is_share ? OF_SPANS : prof_span_part_state(sd,
			    p) == PROF_SPAN_RUNNING ? OF_RUNNING :
			    OF_DURATION);
	return (prof_test_family(&design, ts->ts_value, sd->sd_ntested,
	    &family, ts->ts_effect));
}

static void
shares_give(const struct tests *ts, struct prof_span_row *rows)
{
	for (size_t p = 0; p < ts->ts_sd->sd_nparts; p++) {
		const uint32_t row = ts->ts_sd->sd_part[p].pt_tested;
		const struct prof_effect *effect = &ts->ts_effect[row];

		if (row == UINT32_MAX)
			continue;
		rows[p].sr_is_tested = 1;
		rows[p].sr_p = effect->ef_p;
		rows[p].sr_p_adjusted = effect->ef_adjusted;
		rows[p].sr_is_more = effect->ef_is_sure &&
		    effect->ef_shift > 0;
	}
}

static void
intervals_give(const struct tests *ts, struct prof_span_row *rows)
{
	for (size_t p = 0; p < ts->ts_sd->sd_nparts; p++) {
		const uint32_t row = ts->ts_sd->sd_part[p].pt_tested;

		if (row == UINT32_MAX ||
		    !isfinite(ts->ts_effect[row].ef_interval[0]) ||
		    !isfinite(ts->ts_effect[row].ef_interval[1]))
			continue;
		for (int end = 0; end < 2; end++)
			rows[p].sr_ci95_ns[end] =
			    ts->ts_effect[row].ef_interval[end];
	}
}

int
prof_span_tests_run(struct prof_span_difference *sd,
    struct prof_span_row *rows)
{
	struct tests ts = { .ts_sd = sd };
	int rv;

	if (sd->sd_ntested == 0)
		return (0);
	rv = tests_init(&ts, sd);
	if (rv == 0) {
		times_fill(&ts);
		rv = tests_make(&ts, true, ALPHA_SHARES);
	}
	if (rv == 0) {
		shares_give(&ts, rows);
		rv = tests_make(&ts, false, ALPHA_INTERVALS);
	}
	if (rv == 0)
		intervals_give(&ts, rows);
	tests_fini(&ts);
	return (rv);
}
