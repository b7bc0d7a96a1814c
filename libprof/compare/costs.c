/* SPDX-License-Identifier: ISC */
/*
 * What the functions of a run cost, by the run's profile, and whether that is
 * to be read with care.  So the compare command and the pictures of differences
 * test the same costs under the same names.
 *
 * Called by the compare command and by difference.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "comparison.h"
#include "profile/profile_impl.h"

bool
prof_label_is_root(const struct prof_label *label)
{
	return (label->lb_kind == PROF_LABEL_ALL ||
	    label->lb_kind == PROF_LABEL_ARG ||
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

/* What a label itself costs in one state of threads, which is a label, too. */
struct owner {
	uint32_t	 ow_state;	/* 0: costs have no states */
	uint32_t	 ow_label;
	uint64_t	 ow_sum;
};

struct owners {
	const struct prof_profile *os_profile;
	uint32_t	*os_state;	/* by node */
	struct prof_map	 os_number;	/* of state and label */
	struct owner	*os_owner;
	size_t		 os_n;
	size_t		 os_cap;
};

/* Parents stand before their children. */
static uint32_t
state_find(const struct owners *os, size_t i)
{
	const struct prof_tree_node *node =
	    &prof_profile_nodes(os->os_profile)[i];

	if (os->os_state[node->pt_parent] != 0)
		return (os->os_state[node->pt_parent]);
	return (prof_profile_label(os->os_profile, node->pt_label)->lb_kind ==
	    PROF_LABEL_ARG ? node->pt_label : 0);
}

/* Samples without a stack: there the root has them. */
static uint32_t
label_find(const struct owners *os, size_t i)
{
	uint32_t label = prof_profile_nodes(os->os_profile)[i].pt_label;

	if (os->os_state[i] != 0 && strcmp(prof_profile_label(os->os_profile,
	    os->os_state[i])->lb_name, "running") != 0)
		label = prof_waiting_label(os->os_profile, (uint32_t)i);
	return (prof_label_is_root(prof_profile_label(os->os_profile,
	    label)) ? 0 : label);
}

static int
owner_add(struct owners *os, size_t i, uint64_t cost)
{
	const uint32_t label = label_find(os, i);
	struct owner *owner;
	uint32_t number;
	bool is_new;

	number = prof_map_find(&os->os_number, (uint64_t)os->os_state[i] <<
	    32 | label, &is_new);
	if (number == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		owner = prof_grow(&os->os_owner, &os->os_n, &os->os_cap,
		    sizeof(*owner));
		if (owner == NULL)
			return (-1);
		*owner = (struct owner){ os->os_state[i], label, 0 };
	}
	os->os_owner[number].ow_sum += cost;
	return (0);
}

static int
owners_find(struct owners *os, size_t event)
{
	const size_t n = prof_profile_nnodes(os->os_profile);
	const uint64_t *self = prof_profile_self(os->os_profile, event);

	os->os_state = calloc(n + 1, sizeof(*os->os_state));
	if (os->os_state == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++) {
		os->os_state[i] = state_find(os, i);
		if (self != NULL && self[i] > 0 &&
		    owner_add(os, i, self[i]) == -1)
			return (-1);
	}
	return (0);
}

static void
owners_free(struct owners *os)
{
	prof_map_free(&os->os_number);
	free(os->os_owner);
	free(os->os_state);
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
	struct owners owners = { .os_profile = profile };
	struct prof_quality quality;
	struct prof_item item;
	int rv = owners_find(&owners, event) == -1 ?
	    prof_fail_nomem(&cp->cp_error) : 0;

	prof_profile_quality(profile, event, &quality);
	if (rv == 0 && quality.pq_is_bad)
		rv = prof_comparison_warning(cp, run, quality.pq_text);
	for (size_t n = 0; n < owners.os_n && rv == 0; n++) {
		const struct owner *owner = &owners.os_owner[n];

		item.it_state = owner->ow_state == 0 ? "" :
		    prof_profile_label(profile, owner->ow_state)->lb_name;
		item_of(arg, prof_profile_label(profile, owner->ow_label),
		    &item);
		rv = prof_comparison_add(cp, run, &item,
		    (double)owner->ow_sum / scale);
	}
	/* A run without samples cost nothing, and is one. */
	if (rv == 0)
		cp->cp_run[run].rn_has_costs = true;
	owners_free(&owners);
	return (rv);
}

int
prof_comparison_profile(struct prof_comparison *cp, long run,
    const struct prof_profile *profile, size_t event)
{
	return (prof_comparison_items(cp, run, profile, event, function_of,
	    NULL));
}
