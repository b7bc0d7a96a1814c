/* SPDX-License-Identifier: ISC */
/*
 * Slow spans against fast ones: the time of a span, by function.
 *
 * Samples of spans are folded by a profile, whose buckets are the spans' sides
 * and windows.  How long threads ran in spans and how long they did not is
 * known exactly; running time has functions as samples tell, and not running is
 * a row.  Off-CPU samples tell of a part of it where threads waited.  In
 * recordings that do not know it, running time is what samples stand
 * for, and the rest is a row.  So all add up.
 *
 * Called by the compare command.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comparison.h"
#include "profile/waits.h"
#include "span_difference.h"

static int64_t
cell_of(const void *arg, uint32_t tid, uint64_t time_ns)
{
	const struct prof_span_difference *sd = arg;
	const struct prof_span *span = prof_spans_at(sd->sd_spans,
	    sd->sd_kind, tid, time_ns);

	return (span == NULL ? -1 : sd->sd_cell_of[span -
	    prof_span_difference_kind(sd)->sk_spans]);
}

static int
profile_make(struct prof_span_difference *sd, struct prof_reader *reader,
    struct prof_symbols *symbols, struct prof_err *error)
{
	static const char *const args[] = { "state" };
	const size_t waits = prof_wait_event(reader);
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_roots = waits != 0 ? PROF_ROOT_ARGS : 0,
		.pl_args = args,
		.pl_nargs = 1,
		.pl_inlines = 1,
		.pl_frames = sd->sd_options.sd_frames,
		.pl_bucket_of = cell_of,
		.pl_bucket_arg = sd,
	};

	sd->sd_profile = prof_profile_new(reader, symbols, &options, error);
	if (sd->sd_profile == NULL)
		return (-1);
	sd->sd_waits = waits;
	prof_profile_quality(sd->sd_profile, sd->sd_options.sd_event,
	    &sd->sd_quality);
	sd->sd_sides.sv_doubt = sd->sd_quality.pq_text;
	return (0);
}

enum prof_span_state
prof_span_part_state(const struct prof_span_difference *sd, size_t part)
{
	static const enum prof_span_state last[] = { PROF_SPAN_RUNNABLE,
	    PROF_SPAN_NOT_RUNNING, PROF_SPAN_REST };
	const size_t n = sd->sd_nlabels;

	return (part < n ? PROF_SPAN_RUNNING : part < 2 * n ?
	    PROF_SPAN_BLOCKED : last[part - 2 * n]);
}

/* For how much running time sampled time stands; all of it has functions. */
static void
scale_make(struct prof_span_difference *sd, const struct prof_bucket *bucket,
    size_t n)
{
	double sampled_ns[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		if (bucket[i].pc_event == sd->sd_options.sd_event)
			sampled_ns[bucket[i].pc_bucket & 1] +=
			    (double)bucket[i].pc_weight;
	for (int s = 0; s < 2; s++) {
		sd->sd_scale[s] = sd->sd_has_times && sampled_ns[s] > 0 ?
		    sd->sd_running_ns[s] / sampled_ns[s] : 1;
		sd->sd_running_ns[s] = sampled_ns[s] * sd->sd_scale[s];
	}
}

static void
parts_add(struct prof_span_difference *sd, const struct prof_bucket *bucket)
{
	const size_t part = prof_span_part_of(sd, bucket);
	const int side = bucket->pc_bucket & 1;
	struct span_cell *cell = &sd->sd_cell[bucket->pc_bucket];
	const double ns = prof_span_time_of(sd, bucket);

	if (part == SIZE_MAX)
		return;
	sd->sd_part[part].pt_ns[side] += ns;
	sd->sd_part[part].pt_samples += bucket->pc_samples;
	if (prof_span_part_state(sd, part) != PROF_SPAN_RUNNING) {
		cell->sc_waits_ns += ns;
		return;
	}
	cell->sc_running_ns += ns;
	sd->sd_sides.sv_samples[side] += bucket->pc_samples;
}

/*
 * Those without functions: not running is what waits leave of it, the rest what
 * all others leave.
 */
static void
parts_finish(struct prof_span_difference *sd)
{
	struct span_part *rest = &sd->sd_part[sd->sd_nparts - 1];
	struct span_part *off = rest - 1;
	const struct span_cell *cell = sd->sd_cell;
	double waits_ns[2] = { 0, 0 };

	for (size_t c = 0; c < 2 * sd->sd_nwindows; c++) {
		waits_ns[c & 1] += cell[c].sc_waits_ns;
		if (sd->sd_has_times)
			off->pt_ns[c & 1] += cell[c].sc_off_ns -
			    cell[c].sc_waits_ns;
	}
	for (int s = 0; s < 2; s++)
		rest->pt_ns[s] = sd->sd_ns[s] - sd->sd_running_ns[s] -
		    waits_ns[s] - off->pt_ns[s];
}

static int
parts_make(struct prof_span_difference *sd, struct prof_err *error)
{
	const size_t n = prof_profile_nlabels(sd->sd_profile);
	const struct prof_bucket *bucket;
	size_t nbuckets;

	sd->sd_nlabels = n;
	sd->sd_nparts = 2 * n + 3;
	sd->sd_part = calloc(sd->sd_nparts, sizeof(*sd->sd_part));
	if (sd->sd_part == NULL)
		return (prof_fail_nomem(error));
	for (uint32_t p = 0; p < n; p++)
		sd->sd_part[p].pt_label = sd->sd_part[n + p].pt_label = p;
	bucket = prof_profile_buckets(sd->sd_profile, &nbuckets);
	scale_make(sd, bucket, nbuckets);
	for (size_t i = 0; i < nbuckets; i++)
		parts_add(sd, &bucket[i]);
	parts_finish(sd);
	if (sd->sd_sides.sv_samples[0] + sd->sd_sides.sv_samples[1] > 0)
		return (0);
	prof_fail(error, PROF_E_USAGE, "no sample of event '%s' is in the "
	    "spans that match the filters",
	    prof_reader_event(sd->sd_profile->pf_reader,
	    sd->sd_options.sd_event)->pi_name);
	return (prof_cure(error, "record longer, or at a higher rate (-F)"));
}

/* ---------------------------------------------------------------- rows */

static void
row_fill(const struct prof_span_difference *sd, size_t n,
    struct prof_span_row *row)
{
	const struct span_part *part = &sd->sd_part[n];
	const enum prof_span_state state = prof_span_part_state(sd, n);
	const struct prof_label *label = n >= 2 * sd->sd_nlabels ? NULL :
	    prof_profile_label(sd->sd_profile, part->pt_label);

	row->sr_name = label == NULL ? "" : label->lb_name;
	row->sr_module = label == NULL ? "" : label->lb_module;
	row->sr_state = state;
	for (int s = 0; s < 2; s++) {
		const double of_ns = state == PROF_SPAN_RUNNING ?
		    sd->sd_running_ns[s] : sd->sd_ns[s];

		row->sr_mean_ns[s] = part->pt_ns[s] /
		    (double)sd->sd_sides.sv_spans[s];
		row->sr_share[s] = of_ns > 0 ? part->pt_ns[s] / of_ns : 0;
	}
	row->sr_change_ns = row->sr_mean_ns[1] - row->sr_mean_ns[0];
	row->sr_part = row->sr_change_ns / sd->sd_sides.sv_change_ns;
	row->sr_ci95_ns[0] = row->sr_ci95_ns[1] = NAN;
	row->sr_p = row->sr_p_adjusted = NAN;
}

static int
row_order(const void *a, const void *b)
{
	const struct prof_span_row *x = a, *y = b;
	const double u = fabs(x->sr_change_ns), v = fabs(y->sr_change_ns);
	int order;

	if (u != v)
		return (u < v ? 1 : -1);
	order = strcmp(x->sr_name, y->sr_name);
	return (order != 0 ? order : strcmp(x->sr_module, y->sr_module));
}

/*
 * Where it was recorded when threads ran, nothing is left, unless a switch was
 * not seen or a side has no samples; else all is that is not sampled.
 */
bool
prof_span_part_is_shown(const struct prof_span_difference *sd, size_t part)
{
	const struct span_part *pt = &sd->sd_part[part];

	switch (prof_span_part_state(sd, part)) {
	case PROF_SPAN_RUNNING:
	case PROF_SPAN_BLOCKED:
	case PROF_SPAN_RUNNABLE:
		return (pt->pt_samples > 0);
	case PROF_SPAN_NOT_RUNNING:
		return (sd->sd_has_times);
	default:
		return (!sd->sd_has_times || fabs(pt->pt_ns[0]) >= 1 ||
		    fabs(pt->pt_ns[1]) >= 1);
	}
}

/* Of all parts, and what is nothing on either side goes. */
static int
rows_make(struct prof_span_difference *sd, struct prof_err *error)
{
	struct prof_span_row *row = calloc(sd->sd_nparts, sizeof(*row));

	if (row == NULL)
		return (prof_fail_nomem(error));
	sd->sd_row = row;
	for (size_t p = 0; p < sd->sd_nparts; p++)
		row_fill(sd, p, &row[p]);
	prof_span_tests_pick(sd);
	if (prof_span_tests_run(sd, row) == -1)
		return (prof_fail_nomem(error));
	for (size_t p = 0; p < sd->sd_nparts; p++)
		if (prof_span_part_is_shown(sd, p))
			row[sd->sd_nrows++] = row[p];
	qsort(row, sd->sd_nrows, sizeof(*row), row_order);
	return (0);
}

struct prof_span_difference *
prof_span_difference_new(struct prof_reader *reader,
    struct prof_symbols *symbols,
    const struct prof_span_difference_options *options,
    struct prof_err *error)
{
	struct prof_span_difference *sd = calloc(1, sizeof(*sd));
	struct prof_err why = { 0 };

	if (sd == NULL)
		prof_fail_nomem(&why);
	else if (prof_options_take(&sd->sd_options, sizeof(sd->sd_options),
	    options, "prof_span_difference_options", &why) == 0 &&
	    prof_span_sides_choose(sd, reader, &why) == 0 &&
	    profile_make(sd, reader, symbols, &why) == 0 &&
	    parts_make(sd, &why) == 0 && rows_make(sd, &why) == 0)
		return (sd);
	if (error != NULL)
		*error = why;
	prof_span_difference_free(sd);
	return (NULL);
}

void
prof_span_difference_sides_sized(const struct prof_span_difference *sd,
    struct prof_span_sides *sides, size_t size)
{
	prof_struct_give(sides, size, &sd->sd_sides, sizeof(sd->sd_sides));
}

const struct prof_span_kind *
prof_span_difference_kind(const struct prof_span_difference *sd)
{
	return (prof_spans_kind(sd->sd_spans, sd->sd_kind));
}

size_t
prof_span_difference_nrows(const struct prof_span_difference *sd)
{
	return (sd->sd_nrows);
}

const struct prof_span_row *
prof_span_difference_row(const struct prof_span_difference *sd, size_t n)
{
	return (n < sd->sd_nrows ? &sd->sd_row[n] : NULL);
}

void
prof_span_difference_free(struct prof_span_difference *sd)
{
	if (sd == NULL)
		return;
	prof_profile_free(sd->sd_profile);
	prof_spans_free(sd->sd_spans);
	free(sd->sd_cell_of);
	free(sd->sd_time);
	free(sd->sd_cell);
	free(sd->sd_part);
	free(sd->sd_row);
	free(sd);
}
