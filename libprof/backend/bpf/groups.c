/* SPDX-License-Identifier: ISC */
/*
 * Reads the groups of an aggregation from mapped memory: while it records
 * those that are there, after stop all.  Those of several CPUs, and doubles,
 * are merged.  Called by backend.c; what is in memory is in abi/dtp_group.h.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/bpf/bpf_impl.h"
#include "base/error.h"

/* A slot that is in use, in order of what it is about. */
struct slot {
	uint32_t	 sl_at;
	uint32_t	 sl_event;
	const struct dtp_group *sl_group;
};

/* Programs add to it meanwhile. */
static uint64_t
word_load(const __u64 *word)
{
	return (__atomic_load_n(word, __ATOMIC_RELAXED));
}

static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->sl_event != y->sl_event)
		return (x->sl_event < y->sl_event ? -1 : 1);
	for (size_t n = 0; n < DTP_GROUP_WORDS; n++)
		if (x->sl_group->gr_key[n] != y->sl_group->gr_key[n])
			return (x->sl_group->gr_key[n] <
			    y->sl_group->gr_key[n] ? -1 : 1);
	return (0);
}

static int
compare_buckets(const void *a, const void *b)
{
	const struct prof_group_bucket *x = a, *y = b;

	if (x->bu_group != y->bu_group)
		return (x->bu_group < y->bu_group ? -1 : 1);
	if (x->bu_measure != y->bu_measure)
		return (x->bu_measure < y->bu_measure ? -1 : 1);
	return ((x->bu_bucket > y->bu_bucket) -
	    (x->bu_bucket < y->bu_bucket));
}

static void
measured_add(struct prof_measured *sum, const struct dtp_measured *one,
    const struct dtp_measure *measure)
{
	const uint64_t most = word_load(&one->gm_most);
	const uint64_t least = ~word_load(&one->gm_least);

	if (word_load(&one->gm_count) == 0)
		return;
	if (sum->me_count == 0 || dtp_measure_order(measure, sum->me_min) >
	    least)
		sum->me_min = dtp_measure_order(measure, least);
	if (sum->me_count == 0 || dtp_measure_order(measure, sum->me_max) <
	    most)
		sum->me_max = dtp_measure_order(measure, most);
	sum->me_count += word_load(&one->gm_count);
	sum->me_sum += word_load(&one->gm_sum);
}

static void
group_add(const struct prof_bpf *bpf, struct prof_group *sum,
    const struct slot *slot)
{
	const struct dtp_group *one = slot->sl_group;
	const struct dtp_grouping *gp =
	    &bpf->bp_events->el_event[slot->sl_event]->ev_grouping;

	sum->gr_event = slot->sl_event;
	memcpy(sum->gr_key, one->gr_key, sizeof(sum->gr_key));
	sum->gr_count += word_load(&one->gr_count);
	sum->gr_errors += word_load(&one->gr_errors);
	sum->gr_unfiled += word_load(&one->gr_unfiled);
	for (uint32_t n = 0; n < gp->gp_nmeasures; n++)
		measured_add(&sum->gr_measured[n], &one->gr_measured[n],
		    &gp->gp_measure[n]);
}

/* Slots in use; of which group each is goes to index, as its number + 1. */
static int
read_groups(const struct prof_bpf *bpf, struct prof_groups *groups,
    uint32_t *index)
{
	struct slot *slots = calloc(bpf->bp_ngroups + 1UL, sizeof(*slots));
	size_t n = 0;

	groups->gs_group = calloc(bpf->bp_ngroups + 1UL,
	    sizeof(*groups->gs_group));
	if (slots == NULL || groups->gs_group == NULL) {
		free(slots);
		return (-1);
	}
	for (uint32_t at = 0; at < bpf->bp_ngroups; at++) {
		const struct dtp_group *group = &bpf->bp_groups[at];

		/* Partner: the swap that makes it the hash. */
		if (__atomic_load_n(&group->gr_state, __ATOMIC_ACQUIRE) <=
		    DTP_GROUP_BUSY)
			continue;
		slots[n++] = (struct slot){ at,
		    (uint32_t)(group->gr_who >> 32), group };
	}
	qsort(slots, n, sizeof(*slots), compare_slots);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_slots(&slots[i - 1], &slots[i]) != 0)
			groups->gs_n++;
		group_add(bpf, &groups->gs_group[groups->gs_n - 1],
		    &slots[i]);
		index[slots[i].sl_at] = (uint32_t)groups->gs_n;
	}
	free(slots);
	return (0);
}

static int
read_buckets(const struct prof_bpf *bpf, struct prof_groups *groups,
    const uint32_t *index)
{
	struct prof_group_bucket *all;
	size_t n = 0;

	for (uint32_t at = 0; at < bpf->bp_nbuckets; at++)
		n += word_load(&bpf->bp_buckets[at].bk_key) != 0;
	if ((all = calloc(n + 1, sizeof(*all))) == NULL)
		return (-1);
	groups->gs_bucket = all;
	for (uint32_t at = 0; at < bpf->bp_nbuckets &&
	    groups->gs_nbuckets < n; at++) {
		const uint64_t key = word_load(&bpf->bp_buckets[at].bk_key);
		const uint64_t slot = (key >> 32) - 1;

		/* Of a group that came while we looked: next time. */
		if (key == 0 || slot >= bpf->bp_ngroups || index[slot] == 0)
			continue;
		all[groups->gs_nbuckets++] = (struct prof_group_bucket){
		    index[slot] - 1,
		    (uint32_t)key >> DTP_BUCKET_MEASURE,
		    (uint32_t)key & ((1U << DTP_BUCKET_MEASURE) - 1),
		    word_load(&bpf->bp_buckets[at].bk_count) };
	}
	qsort(all, groups->gs_nbuckets, sizeof(*all), compare_buckets);
	return (0);
}

/* Equal ones become one; each measure learns where its own are. */
static void
merge_buckets(struct prof_groups *groups)
{
	struct prof_group_bucket *all = groups->gs_bucket;
	size_t n = 0;

	for (size_t i = 0; i < groups->gs_nbuckets; i++) {
		struct prof_measured *of;

		if (n > 0 && compare_buckets(&all[n - 1], &all[i]) == 0) {
			all[n - 1].bu_count += all[i].bu_count;
			continue;
		}
		of = all[i].bu_measure == DTP_BUCKET_ERRORS ?
		    &groups->gs_group[all[i].bu_group].gr_errnos :
		    &groups->gs_group[all[i].bu_group].gr_measured[
		    all[i].bu_measure % DTP_GROUP_MEASURES];
		if (of->me_nbuckets++ == 0)
			of->me_first = n;
		all[n++] = all[i];
	}
	groups->gs_nbuckets = n;
}

int
prof_groups_read(const struct prof_bpf *bpf, struct prof_groups *groups)
{
	uint32_t *index = calloc(bpf->bp_ngroups + 1UL, sizeof(*index));
	int rv = -1;

	memset(groups, 0, sizeof(*groups));
	if (index != NULL && read_groups(bpf, groups, index) == 0 &&
	    read_buckets(bpf, groups, index) == 0) {
		merge_buckets(groups);
		rv = 0;
	}
	free(index);
	if (rv == -1) {
		prof_groups_fini(groups);
		return (prof_fail_nomem(bpf->bp_error));
	}
	return (0);
}

void
prof_groups_fini(struct prof_groups *groups)
{
	free(groups->gs_group);
	free(groups->gs_bucket);
	memset(groups, 0, sizeof(*groups));
}
