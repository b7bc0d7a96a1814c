/* SPDX-License-Identifier: ISC */
/*
 * How reliable the samples of an event are: how many there are, how
 * many of their stacks are complete, how many addresses are unresolved, and
 * what the kernel, its rings or the CPU's counters kept from us.  Stacks and
 * addresses are those of the samples in the profile, the rest is that of the
 * whole recording.
 *
 * quality_text.c says which of it is bad.  Called by profile.c when the tree is
 * ready.
 */
#include <stdlib.h>

#include "profile_impl.h"
#include "recording/accounting.h"
#include "recording/elapsed.h"

static double
share_of(double part, double all)
{
	return (all <= 0 || part <= 0 ? 0 : part >= all ? 1 : part / all);
}

/* ------------------------------------------------- how stacks ended */

/* A counter's values hang on the stacks of the samples that bring them. */
void
prof_ends_add(struct prof_ends *ends, const struct prof_record *record,
    uint64_t weight)
{
	if (record->pr_ustatus != PROF_STACK_NONE)
		ends->en_stacks++;
	if (record->pr_ustatus < PROF_STACK_NSTATUS)
		ends->en_status[record->pr_ustatus]++;
	if (record->pr_pid == 0)
		ends->en_idle += weight;
	ends->en_squares += (unsigned __int128)weight * weight;
	if (!record->pr_by_chance)
		return;
	ends->en_chance += weight;
	ends->en_chance_squares += (unsigned __int128)weight * weight;
	if (prof_record_is_unwalked(record))
		return;
	const unsigned __int128 others = prof_chance_others(
	    record->pr_by_chance, weight);

	ends->en_walked += weight;
	ends->en_others += others;
	ends->en_walked_squares[0] += (unsigned __int128)weight * weight;
	ends->en_walked_squares[1] += others * weight;
	ends->en_walked_squares[2] += others * others;
}

void
prof_ends_join(struct prof_ends *sum, const struct prof_ends *add)
{
	sum->en_stacks += add->en_stacks;
	for (unsigned n = 0; n < PROF_STACK_NSTATUS; n++)
		sum->en_status[n] += add->en_status[n];
	sum->en_idle += add->en_idle;
	sum->en_squares += add->en_squares;
	sum->en_chance += add->en_chance;
	sum->en_walked += add->en_walked;
	sum->en_chance_squares += add->en_chance_squares;
	sum->en_others += add->en_others;
	for (unsigned n = 0; n < 3; n++)
		sum->en_walked_squares[n] += add->en_walked_squares[n];
}

/* ---------------------------------------------------- what is counted */

/* Reversed, the innermost function of a path is the one next to the roots. */
const struct prof_label *
prof_quality_innermost(const struct prof_profile *profile, uint32_t node,
    bool is_reversed)
{
	const struct prof_tree_node *nodes = profile->pf_tree.tr_node;
	const struct prof_label *labels = profile->pf_labels.lb_label;
	const struct prof_label *innermost = &labels[nodes[node].pt_label];

	for (; is_reversed && node != 0; node = nodes[node].pt_parent)
		if (labels[nodes[node].pt_label].lb_function != NULL)
			innermost = &labels[nodes[node].pt_label];
	return (innermost);
}

/* Weight, samples, and the weight whose innermost function has no name. */
static void
count_buckets(struct prof_profile *profile, bool is_reversed,
    uint64_t *unnamed)
{
	const struct prof_tree *tree = &profile->pf_tree;
	const struct prof_label *label;
	const struct prof_bucket *bucket;
	struct prof_quality *quality;
	size_t i;

	for (i = 0; i < tree->tr_nbuckets; i++) {
		bucket = &tree->tr_bucket[i];
		quality = &profile->pf_quality[bucket->pc_event];
		quality->pq_samples += bucket->pc_samples;
		quality->pq_weight += bucket->pc_weight;
		label = &profile->pf_labels.lb_label[
		    tree->tr_node[bucket->pc_node].pt_label];
		if (label->lb_kind == PROF_LABEL_OVER)
			quality->pq_over += (double)bucket->pc_weight;
		label = prof_quality_innermost(profile, bucket->pc_node,
		    is_reversed);
		if (label->lb_function != NULL &&
		    label->lb_function->fu_unnamed != PROF_NAMED)
			unnamed[bucket->pc_event] += bucket->pc_weight;
	}
}

/* ------------------------------------------------------- accounting */

static void
fill_from_accounting(struct prof_profile *profile, size_t event,
    uint64_t throttled_ns, uint64_t span_ns)
{
	struct prof_quality *quality = &profile->pf_quality[event];
	const struct prof_event_info *info =
	    prof_reader_event(profile->pf_reader, event);
	const struct prof_quality *of_running;
	struct prof_accounting pa;

	quality->pq_side_lost = prof_lost_share(
	    prof_reader_side_stored(profile->pf_reader),
	    prof_reader_side_lost(profile->pf_reader));
	if (prof_reader_accounting(profile->pf_reader, event, -1, &pa) == -1)
		return;
	quality->pq_lost = prof_lost_share(pa.pa_stored,
	    prof_accounting_lost(&pa));
	if (info->pi_is_derived) {
		of_running = &profile->pf_quality[
		    prof_elapsed_of(profile->pf_reader)->el_running];
		quality->pq_unaccounted = of_running->pq_unaccounted;
		quality->pq_throttled = of_running->pq_throttled;
		quality->pq_multiplexed = of_running->pq_multiplexed;
		return;
	}
	quality->pq_unaccounted =
	    share_of((double)prof_accounting_unaccounted(info, &pa),
	    (double)pa.pa_count);
	quality->pq_throttled = share_of((double)throttled_ns,
	    prof_accounting_open_ns(&pa, span_ns));
	if (pa.pa_has_count)
		quality->pq_multiplexed = share_of((double)pa.pa_enabled_ns -
		    (double)pa.pa_running_ns, (double)pa.pa_enabled_ns);
}

/* Those that were walked by chance stand for those that were not. */
static double
squares_of(const struct prof_ends *ends)
{
	double scale;

	if (ends->en_walked == 0)
		return ((double)ends->en_squares);
	scale = (double)(ends->en_chance - ends->en_walked) /
	    (double)ends->en_others;
	return ((double)(ends->en_squares - ends->en_chance_squares) +
	    (double)ends->en_walked_squares[0] +
	    2 * scale * (double)ends->en_walked_squares[1] +
	    scale * scale * (double)ends->en_walked_squares[2]);
}

/*
 * After Kish: (sum of w)^2 / (sum of w^2).  One sample of weight 10 among ten
 * of weight 1 makes (20)^2 / (110) = 3.6 of eleven.
 */
static double
samples_effective(const struct prof_quality *quality,
    const struct prof_ends *ends)
{
	double weight = (double)quality->pq_weight;
	double samples = (double)quality->pq_samples;
	double n = ends->en_squares == 0 ? samples :
	    weight * weight / squares_of(ends);

	return (n > samples ? samples : n);
}

static void
fill_event(struct prof_profile *profile, size_t event,
    const struct prof_ends *ends, uint64_t unnamed)
{
	struct prof_quality *quality = &profile->pf_quality[event];

	quality->pq_complete = ends->en_stacks == 0 ? 1 :
	    share_of((double)ends->en_status[PROF_STACK_OK],
	    (double)ends->en_stacks);
	quality->pq_unresolved = share_of((double)unnamed,
	    (double)quality->pq_weight);
	quality->pq_folded = share_of(
	    (double)profile->pf_tree.tr_folded[event],
	    (double)quality->pq_weight);
	quality->pq_idle_waits = profile->pf_tree.tr_idle[event];
	quality->pq_over = share_of(quality->pq_over,
	    (double)quality->pq_weight);
	quality->pq_effective = samples_effective(quality, ends);
	/* In a PID namespace number 0 is everybody outside. */
	if (prof_reader_info(profile->pf_reader, "pid.namespace") == NULL)
		quality->pq_idle = ends->en_idle;
}

int
prof_quality_fill(struct prof_profile *profile, const struct prof_ends *ends,
    bool is_reversed)
{
	size_t n = profile->pf_nevents, e;
	uint64_t *unnamed = calloc(n + 1, sizeof(*unnamed));
	struct prof_throttled *throttled = calloc(n + 1, sizeof(*throttled));
	struct prof_ran ran;
	int rv = -1;

	if (unnamed != NULL && throttled != NULL && prof_reader_throttled(
	    profile->pf_reader, throttled, &ran) == 0) {
		count_buckets(profile, is_reversed, unnamed);
		for (e = 0; e < n; e++) {
			fill_from_accounting(profile, e, throttled[e].to_ns,
			    ran.rn_ns);
			fill_event(profile, e, &ends[e], unnamed[e]);
		}
		rv = prof_quality_describe(profile, ends, is_reversed);
	}
	free(unnamed);
	free(throttled);
	return (rv);
}
