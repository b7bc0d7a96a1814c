/* SPDX-License-Identifier: ISC */
/*
 * Which row of a comparison of spans a sample is of.  A sample of running time
 * is of its innermost function.  An off-CPU sample of a blocked thread is of
 * the function that waits (waiting.c).
 *
 * Called by span_difference.c and span_tests.c.
 */
#include <stdint.h>
#include <string.h>

#include "names.h"
#include "profile/profile_impl.h"
#include "span_difference.h"

/* Is it below this state, which is above all functions? */
static bool
has_state(const struct prof_profile *profile, uint32_t node, const char *state)
{
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	const struct prof_label *label;

	for (; node != 0; node = nodes[node].pt_parent) {
		label = prof_profile_label(profile, nodes[node].pt_label);
		if (label->lb_kind == PROF_LABEL_ARG)
			return (strcmp(label->lb_name, state) == 0);
	}
	return (false);
}

/* Samples without a stack are of the root, whatever is above it. */
size_t
prof_span_part_of(const struct prof_span_difference *sd,
    const struct prof_bucket *bucket)
{
	const struct prof_profile *profile = sd->sd_profile;
	const uint32_t label = prof_profile_nodes(profile)[
	    bucket->pc_node].pt_label;

	if (bucket->pc_event == sd->sd_options.sd_event)
		return (prof_profile_label(profile, label)->lb_kind ==
		    PROF_LABEL_ARG ? 0 : label);
	if (sd->sd_waits == 0 || bucket->pc_event != sd->sd_waits)
		return (SIZE_MAX);
	return (!has_state(profile, bucket->pc_node, "blocked") ?
	    2 * sd->sd_nlabels : sd->sd_nlabels + prof_waiting_label(profile,
	    bucket->pc_node));
}

double
prof_span_time_of(const struct prof_span_difference *sd,
    const struct prof_bucket *bucket)
{
	return ((double)bucket->pc_weight * (bucket->pc_event ==
	    sd->sd_options.sd_event ? sd->sd_scale[bucket->pc_bucket & 1] :
	    1));
}
