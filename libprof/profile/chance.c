/* SPDX-License-Identifier: ISC */
/*
 * Waits without a stack, because chance decided not to walk it.  Of waits like
 * one that was walked, one in 2^step was: so beside itself, it stands for
 * 2^step - 1 others of its group.  A group is who a fold is: of a thread, with
 * a reason, and so on, as the caller asked for.  A group is also of one state,
 * and of waits that no recorded thread ended, or of others: no idle wait stands
 * for one that is known not to be idle.
 *
 *	f 2 ms	g 1 ms	no stack 21 ms	->	f 16 ms	g 8 ms
 *
 * So the time of a group is what was measured, and how it is divided among
 * functions is an estimate.  If none of a group was walked, nothing changes.
 * Called by gather.c, and by quality.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile_impl.h"

#define GROUP_BITS	(PROF_FOLD_BLOCKED | PROF_FOLD_OUTSIDE)

/* Some of a group: what they weigh, and how many they are. */
struct part {
	unsigned __int128 pt_weight;
	unsigned __int128 pt_samples;
};

unsigned __int128
prof_chance_others(uint32_t step, uint64_t walked)
{
	return (((unsigned __int128)1 << step) - 1) * walked;
}

static bool
is_walked(const struct prof_fold *fold)
{
	return ((fold->fo_bits & PROF_FOLD_UNWALKED) == 0);
}

static int
group_compare(const struct prof_fold *a, const struct prof_fold *b)
{
	if (a->fo_event != b->fo_event)
		return (a->fo_event < b->fo_event ? -1 : 1);
	if (a->fo_who != b->fo_who)
		return (a->fo_who < b->fo_who ? -1 : 1);
	return ((int)(a->fo_bits & GROUP_BITS) -
	    (int)(b->fo_bits & GROUP_BITS));
}

/* Threads found them in any order, and the result does not depend on it. */
static int
fold_compare(const void *a, const void *b)
{
	const struct prof_fold *const *fa = a, *const *fb = b;
	const int order = group_compare(*fa, *fb);

	return (order != 0 ? order : memcmp(*fa, *fb, PROF_FOLD_KEY));
}

static void
part_add(struct part *part, const struct prof_fold *fold)
{
	const uint32_t step = (fold->fo_bits & PROF_FOLD_STEP) >>
	    PROF_FOLD_STEP_SHIFT;

	part->pt_weight += prof_chance_others(step, fold->fo_weight);
	part->pt_samples += prof_chance_others(step, fold->fo_samples);
}

/* Of what was not walked, the share that so much of all stands for. */
static uint64_t
share_of(uint64_t unwalked, unsigned __int128 so_much, unsigned __int128 all)
{
	return ((uint64_t)(unwalked * so_much / all));
}

/* Sums are rounded, not each fold, so nothing is lost. */
static void
group_share(struct prof_fold **fold, size_t n)
{
	struct part all = { 0 }, before = { 0 }, after;
	uint64_t weight = 0, samples = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (is_walked(fold[i])) {
			part_add(&all, fold[i]);
		} else {
			weight += fold[i]->fo_weight;
			samples += fold[i]->fo_samples;
		}
	for (i = 0; all.pt_weight != 0 && i < n; i++) {
		if (!is_walked(fold[i])) {
			fold[i]->fo_weight = fold[i]->fo_samples = 0;
			continue;
		}
		after = before;
		part_add(&after, fold[i]);
		fold[i]->fo_weight += share_of(weight, after.pt_weight,
		    all.pt_weight) - share_of(weight, before.pt_weight,
		    all.pt_weight);
		fold[i]->fo_samples += share_of(samples, after.pt_samples,
		    all.pt_samples) - share_of(samples, before.pt_samples,
		    all.pt_samples);
		before = after;
	}
}

static void
folds_share(struct prof_fold **fold, size_t n)
{
	size_t from, to;

	qsort(fold, n, sizeof(*fold), fold_compare);
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n &&
		    group_compare(fold[from], fold[to]) == 0; to++)
			continue;
		group_share(&fold[from], to - from);
	}
}

int
prof_chance_share(struct prof_gathered *got,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct prof_fold **fold;
	size_t n = 0, kept = 0, i;

	/* What was when is as it was measured. */
	if (options->pl_bucket_ns != 0 || options->pl_bucket_of != NULL)
		return (0);
	fold = calloc(got->ga_nfolds + 1, sizeof(*fold));
	if (fold == NULL)
		return (prof_fail_nomem(error));
	for (i = 0; i < got->ga_nfolds; i++)
		if (got->ga_fold[i].fo_bits & PROF_FOLD_CHANCE)
			fold[n++] = &got->ga_fold[i];
	if (n > 0)
		folds_share(fold, n);
	free(fold);
	for (i = 0; i < got->ga_nfolds; i++)
		if (got->ga_fold[i].fo_samples != 0)
			got->ga_fold[kept++] = got->ga_fold[i];
	got->ga_nfolds = kept;
	return (0);
}
