/* SPDX-License-Identifier: ISC */
/*
 * Waits without a stack, because chance decided not to walk it.  Each was as
 * likely to be walked as any other for which chance decided, so those that were
 * walked stand for all of their group, which is who a fold is: of a thread,
 * with a reason, and so on, as the caller asked for.  A group is also of one
 * state, and of waits that no recorded thread ended, or of others: no idle wait
 * stands for one that is known not to be idle.
 *
 *	f 2 ms	g 1 ms	no stack 21 ms	->	f 16 ms	g 8 ms
 *
 * So the time of a group is what was measured, and how it is divided among
 * functions is an estimate.  If none of a group was walked, nothing changes.
 * Called by gather.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile_impl.h"

#define GROUP_BITS	(PROF_FOLD_BLOCKED | PROF_FOLD_OUTSIDE)

/* Some of a group: what they weigh, and how many they are. */
struct part {
	uint64_t	pt_weight;
	uint64_t	pt_samples;
};

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
	part->pt_weight += fold->fo_weight;
	part->pt_samples += fold->fo_samples;
}

/* Of all, the share that so much of what was walked stands for. */
static uint64_t
share_of(uint64_t all, uint64_t so_much, uint64_t walked)
{
	return (walked == 0 ? 0 :
	    (uint64_t)((unsigned __int128)all * so_much / walked));
}

/* Sums are rounded, not each fold, so nothing is lost. */
static void
group_share(struct prof_fold **fold, size_t n)
{
	struct part all = { 0 }, walked = { 0 }, before = { 0 }, after;
	size_t i;

	for (i = 0; i < n; i++) {
		part_add(&all, fold[i]);
		if (is_walked(fold[i]))
			part_add(&walked, fold[i]);
	}
	if (walked.pt_weight == 0)
		return;
	for (i = 0; i < n; i++) {
		after = before;
		if (is_walked(fold[i]))
			part_add(&after, fold[i]);
		fold[i]->fo_weight = share_of(all.pt_weight, after.pt_weight,
		    walked.pt_weight) - share_of(all.pt_weight,
		    before.pt_weight, walked.pt_weight);
		fold[i]->fo_samples = share_of(all.pt_samples,
		    after.pt_samples, walked.pt_samples) -
		    share_of(all.pt_samples, before.pt_samples,
		    walked.pt_samples);
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
