/* SPDX-License-Identifier: ISC */
/*
 * What the functions of a run cost, by the run's profile, and whether that is
 * to be read with care.  So the compare command and the pictures of differences
 * test the same costs under the same names.
 *
 * Called by the compare command and by difference.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "comparison.h"
#include "profile/profile_impl.h"

bool
prof_label_is_root(const struct prof_label *label)
{
	return (label->lb_kind == PROF_LABEL_ALL ||
	    (label->lb_kind >= PROF_LABEL_COMM &&
	    label->lb_kind <= PROF_LABEL_CPU));
}

static void
function_of(void *arg, const struct prof_label *label, struct prof_item *item)
{
	(void)arg;
	item->it_name = label->lb_name;
	item->it_module = label->lb_module;
	item->it_is_inlined = label->lb_function != NULL &&
	    label->lb_function->fu_is_inlined;
}

int
prof_comparison_items(struct prof_comparison *cp, long run,
    const struct prof_profile *profile, size_t event,
    void (*item_of)(void *, const struct prof_label *, struct prof_item *),
    void *arg)
{
	const char *unit;
	const double scale = (double)prof_unit_scale(prof_reader_event(
	    profile->pf_reader, event)->pi_unit, &unit);
	const struct prof_tree_node *node = prof_profile_nodes(profile);
	const size_t n = prof_profile_nlabels(profile);
	const uint64_t *self = prof_profile_self(profile, event);
	uint64_t *sum = calloc(n + 1, sizeof(*sum));
	struct prof_quality quality;
	struct prof_item item;
	int rv = sum == NULL ? prof_fail_nomem(&cp->cp_error) : 0;

	prof_profile_quality(profile, event, &quality);
	if (rv == 0 && quality.pq_is_bad)
		rv = prof_comparison_warning(cp, run, quality.pq_text);
	for (size_t i = 0; rv == 0 && self != NULL &&
	    i < prof_profile_nnodes(profile); i++)
		sum[node[i].pt_label] += self[i];
	for (uint32_t l = 0; l < n && rv == 0; l++) {
		const struct prof_label *label =
		    prof_profile_label(profile, l);

		if (sum[l] == 0)
			continue;
		/* Samples without a stack: there the root has them. */
		if (prof_label_is_root(label))
			label = prof_profile_label(profile, 0);
		item_of(arg, label, &item);
		rv = prof_comparison_cost(cp, run, item.it_name,
		    item.it_module, item.it_is_inlined, (double)sum[l] /
		    scale);
	}
	/* A run without samples cost nothing, and is one. */
	if (rv == 0)
		cp->cp_run[run].rn_has_costs = true;
	free(sum);
	return (rv);
}

int
prof_comparison_profile(struct prof_comparison *cp, long run,
    const struct prof_profile *profile, size_t event)
{
	return (prof_comparison_items(cp, run, profile, event, function_of,
	    NULL));
}
