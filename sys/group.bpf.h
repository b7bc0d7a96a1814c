/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * From a firing to its group, in place of a record: see abi/dtp_group.h.
 * A firing that finds no room for a group of its own is counted as full, all
 * others as stored.
 *
 * Called by sample.bpf.h for events that are aggregated.
 */
#ifndef GROUP_BPF_H
#define GROUP_BPF_H

#include "filter.bpf.h"

#define GROUP_RAISE_TRIES	8

struct dtp_group_search {
	__u64	gs_hash;
	__u64	gs_found;	/* slot + 1; 0: none */
	__u64	gs_who;
	__u64	gs_key[DTP_GROUP_WORDS];
};

struct dtp_bucket_search {
	__u64	bs_hash;
	__u64	bs_key;
	__u64	bs_found;
};

DTP_INLINE __u64
dtp_group_hash(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return (hash ^ hash >> 29);
}

/* ------------------------------------------------------------- groups */

/* It is ours alone until its state is the hash: the second swap orders. */
DTP_INLINE void
dtp_group_claim(struct dtp_group *group, struct dtp_group_search *search)
{
	group->gr_who = search->gs_who;
	for (int i = 0; i < DTP_GROUP_WORDS; i++)
		group->gr_key[i] = search->gs_key[i];
	(void)DTP_CAS(&group->gr_state, DTP_GROUP_BUSY, search->gs_hash);
}

static long
dtp_group_try(__u64 n, void *arg)
{
	struct dtp_group_search *search = arg;
	__u32 at = (search->gs_hash + n) & (cfg.dc_grouping.gp_groups - 1);
	struct dtp_group *group = bpf_map_lookup_elem(&groups, &at);
	__u64 state, differs;

	if (group == NULL)
		return (1);
	state = DTP_LOAD(&group->gr_state);
	if (state == 0) {
		state = DTP_CAS(&group->gr_state, 0, DTP_GROUP_BUSY);
		if (state == 0) {
			dtp_group_claim(group, search);
			state = search->gs_hash;
		}
	}
	if (state != search->gs_hash)
		return (0);
	differs = group->gr_who ^ search->gs_who;
	for (int i = 0; i < DTP_GROUP_WORDS; i++)
		differs |= group->gr_key[i] ^ search->gs_key[i];
	if (differs != 0)
		return (0);
	search->gs_found = at + 1ULL;
	return (1);
}

DTP_INLINE __u64
dtp_group_number(const struct dtp_firing *firing, __u32 field)
{
	switch (field) {
	case DTP_F_PID:
		return (firing->fg_pid);
	case DTP_F_TID:
		return (firing->fg_tid);
	case DTP_F_CPU:
		return (firing->fg_cpu);
	case DTP_F_UID:
		return ((__u32)bpf_get_current_uid_gid());
	case DTP_F_GID:
		return (bpf_get_current_uid_gid() >> 32);
	case DTP_F_KERNEL:
		return (firing->fg_kernel);
	}
	if (firing->fg_args == NULL)
		return (0);
	if (field == DTP_F_DURATION)
		return (firing->fg_args->ag_duration_ns);
	return (firing->fg_args->ag_value[(field - DTP_F_ARG0) &
	    (DTP_MAX_ARGS - 1)]);
}

DTP_INLINE void
dtp_group_keys(struct dtp_firing *firing, struct dtp_group_search *search)
{
	for (__u32 i = 0; i < DTP_GROUP_KEYS; i++) {
		__u32 field = cfg.dc_grouping.gp_key[i].gk_field;
		__u32 text = cfg.dc_grouping.gp_key[i].gk_text;
		__u32 word = cfg.dc_grouping.gp_key[i].gk_word;

		if (i >= cfg.dc_grouping.gp_nkeys)
			break;
		if (text != DTP_KEY_NUMBER) {
			if (word <= DTP_GROUP_WORDS - DTP_STR_LEN / 8 &&
			    dtp_text_read(firing, field - DTP_F_ARG0, text,
			    &search->gs_key[word]) < 0)
				DTP_ADD(&firing->fg_counts->cn_arg_fault, 1);
		} else if (field == DTP_F_COMM) {
			if (word <= DTP_GROUP_WORDS - DTP_COMM_LEN / 8)
				bpf_get_current_comm(&search->gs_key[word],
				    DTP_COMM_LEN);
		} else if (word < DTP_GROUP_WORDS) {
			search->gs_key[word] = dtp_group_number(firing, field);
		}
	}
}

/* ------------------------------------------------------------- values */

static long
dtp_bucket_try(__u64 n, void *arg)
{
	struct dtp_bucket_search *search = arg;
	__u32 at = (search->bs_hash + n) & (cfg.dc_grouping.gp_buckets - 1);
	struct dtp_bucket *bucket = bpf_map_lookup_elem(&buckets, &at);
	__u64 key;

	if (bucket == NULL)
		return (1);
	key = DTP_LOAD(&bucket->bk_key);
	if (key == 0)
		key = DTP_CAS(&bucket->bk_key, 0, search->bs_key);
	if (key != 0 && key != search->bs_key)
		return (0);
	DTP_ADD(&bucket->bk_count, 1);
	search->bs_found = 1;
	return (1);
}

static __attribute__((noinline)) int
dtp_bucket_add(__u64 key)
{
	struct dtp_bucket_search search = {
		.bs_hash = dtp_group_hash(0, key),
		.bs_key = key,
	};

	bpf_loop(DTP_GROUP_TRIES, dtp_bucket_try, &search, 0);
	return (search.bs_found != 0);
}

/*
 * Only what nests on this CPU comes in between, and each time the value there
 * has grown: so many tries are enough.
 */
static __attribute__((noinline)) int
dtp_group_raise(__u64 *most, __u64 value)
{
	__u64 now = DTP_LOAD(most), seen;

	for (int i = 0; i < GROUP_RAISE_TRIES && now < value; i++) {
		seen = DTP_CAS(most, now, value);
		if (seen == now)
			return (0);
		now = seen;
	}
	return (0);
}

DTP_INLINE void
dtp_group_measure(struct dtp_group *group, const struct dtp_firing *firing,
    __u32 slot, __u32 i)
{
	const volatile struct dtp_measure *measure =
	    &cfg.dc_grouping.gp_measure[i];
	__u64 value = dtp_group_number(firing, measure->gm_field), order;

	if (measure->gm_field == DTP_F_DURATION && value == 0)
		return;
	DTP_ADD(&group->gr_measured[i].gm_count, 1);
	DTP_ADD(&group->gr_measured[i].gm_sum, value);
	order = dtp_measure_order(measure, value);
	dtp_group_raise(&group->gr_measured[i].gm_most, order);
	dtp_group_raise(&group->gr_measured[i].gm_least, ~order);
	if (measure->gm_histogram != DTP_HIST_NONE && !dtp_bucket_add(
	    (slot + 1ULL) << 32 | (__u64)i << DTP_BUCKET_MEASURE |
	    dtp_bucket_of(measure, value)))
		DTP_ADD(&group->gr_unfiled, 1);
}

DTP_INLINE void
dtp_group_result(struct dtp_group *group, const struct dtp_firing *firing,
    __u32 slot)
{
	__u32 at = cfg.dc_grouping.gp_result - 1;
	__u64 error;

	if (cfg.dc_grouping.gp_result == 0 || firing->fg_args == NULL)
		return;
	error = -firing->fg_args->ag_value[at & (DTP_MAX_ARGS - 1)];
	if (error - 1 >= DTP_MAX_ERRNO)
		return;
	DTP_ADD(&group->gr_errors, 1);
	if (!dtp_bucket_add((slot + 1ULL) << 32 | (__u64)DTP_BUCKET_ERRORS <<
	    DTP_BUCKET_MEASURE | error))
		DTP_ADD(&group->gr_unfiled, 1);
}

/*
 * Two functions side by side, since what both need has no room in one frame
 * below that of a program: Linux 6.1 allows 512 bytes for all of them.
 */
static DTP_APART __u64
dtp_group_find(struct dtp_firing *firing)
{
	struct dtp_group_search search = {
		.gs_who = (__u64)cfg.dc_event << 32 | firing->fg_cpu,
	};

	dtp_group_keys(firing, &search);
	search.gs_hash = dtp_group_hash(0, search.gs_who);
	for (int i = 0; i < DTP_GROUP_WORDS; i++)
		search.gs_hash = dtp_group_hash(search.gs_hash,
		    search.gs_key[i]);
	search.gs_hash |= DTP_GROUP_BUSY + 1;
	bpf_loop(DTP_GROUP_TRIES, dtp_group_try, &search, 0);
	return (search.gs_found);
}

static DTP_APART int
dtp_group_add(struct dtp_firing *firing, __u64 found)
{
	__u32 slot = (__u32)found - 1;
	struct dtp_group *group = bpf_map_lookup_elem(&groups, &slot);

	if (found == 0 || group == NULL)
		return (dtp_count(&firing->fg_counts->cn_full));
	DTP_ADD(&group->gr_count, 1);
	dtp_group_result(group, firing, slot);
	for (__u32 i = 0; i < DTP_GROUP_MEASURES; i++) {
		if (i >= cfg.dc_grouping.gp_nmeasures)
			break;
		dtp_group_measure(group, firing, slot, i);
	}
	DTP_ADD(&firing->fg_counts->cn_stored, 1);
	return (0);
}

/* In place of dtp_store. */
DTP_INLINE int
dtp_group(struct dtp_firing *firing)
{
	return (dtp_group_add(firing, dtp_group_find(firing)));
}

#endif /* GROUP_BPF_H */
