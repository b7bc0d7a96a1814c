/* SPDX-License-Identifier: ISC */
/*
 * Buckets of an aggregation (abi/dtp_group.h) the other way round: from their
 * numbers to their ends, and from their counts to quantiles.  Called by
 * dtprof stat.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "events/names.h"
#include "groups.h"

#define STEPS	32u	/* buckets of a power of 2 */

static struct prof_bucket_ends
ends_log(uint32_t bucket)
{
	const uint32_t shift = bucket < STEPS ? 0 : bucket / STEPS - 1;
	const uint64_t low = bucket < STEPS ? bucket :
	    (uint64_t)(STEPS + bucket % STEPS) << shift;

	return ((struct prof_bucket_ends){ low, low + (1ULL << shift) - 1 });
}

static struct prof_bucket_ends
ends_linear(const struct dtp_measure *measure, uint32_t bucket)
{
	const uint64_t least = measure->gm_signed ? (uint64_t)INT64_MIN : 0;
	const uint64_t most = measure->gm_signed ? INT64_MAX : UINT64_MAX;
	const uint64_t low = measure->gm_low +
	    (bucket - 1ULL) * measure->gm_step;

	if (bucket == 0)
		return ((struct prof_bucket_ends){ least,
		    measure->gm_low - 1 });
	return ((struct prof_bucket_ends){ low, bucket > measure->gm_nsteps ?
	    most : low + measure->gm_step - 1 });
}

struct prof_bucket_ends
prof_bucket_ends(const struct dtp_measure *measure, uint32_t bucket)
{
	struct prof_bucket_ends ends;

	if (measure->gm_histogram == DTP_HIST_LINEAR)
		return (ends_linear(measure, bucket));
	ends = ends_log(bucket & (DTP_BUCKET_NEGATIVE - 1));
	return ((bucket & DTP_BUCKET_NEGATIVE) == 0 ? ends :
	    (struct prof_bucket_ends){ -ends.be_high, -ends.be_low });
}

/* Bucket i in order of values: negative ones are behind, the least last. */
static const struct prof_group_bucket *
bucket_at(const struct prof_group_bucket *bucket, size_t n, size_t negative,
    size_t i)
{
	return (&bucket[i < negative ? n - 1 - i : i - negative]);
}

bool
prof_group_quantile(const struct prof_groups *groups,
    const struct prof_group *group, uint32_t n,
    const struct dtp_measure *measure, double share, uint64_t *value)
{
	const struct prof_measured *of = &group->gr_measured[n];
	const struct prof_group_bucket *first =
	    &groups->gs_bucket[of->me_first];
	uint64_t sum = 0, rank, below = 0;
	size_t negative = 0;

	for (size_t i = 0; i < of->me_nbuckets; i++) {
		sum += first[i].bu_count;
		negative += measure->gm_histogram == DTP_HIST_LOG &&
		    (first[i].bu_bucket & DTP_BUCKET_NEGATIVE) != 0;
	}
	if (sum == 0 || group->gr_unfiled != 0)
		return (false);
	rank = (uint64_t)ceil(share * (double)sum);
	for (size_t i = 0; i < of->me_nbuckets; i++) {
		const struct prof_group_bucket *at = bucket_at(first,
		    of->me_nbuckets, negative, i);

		below += at->bu_count;
		*value = prof_bucket_ends(measure, at->bu_bucket).be_high;
		if (below >= rank)
			break;
	}
	if (dtp_measure_order(measure, *value) >
	    dtp_measure_order(measure, of->me_max))
		*value = of->me_max;
	return (true);
}

static bool
argument_is_signed(const struct prof_event *event, unsigned field)
{
	return (field >= DTP_F_ARG0 && field - DTP_F_ARG0 < event->ev_nargs &&
	    event->ev_args[field - DTP_F_ARG0].ag_load.ar_signed);
}

void
prof_group_key(const struct prof_event *event, const struct prof_group *group,
    size_t n, struct prof_key_value *value)
{
	const struct dtp_key *key = &event->ev_grouping.gp_key[n];
	const char *name;

	memset(value, 0, sizeof(*value));
	value->kv_number = group->gr_key[key->gk_word];
	value->kv_is_signed = argument_is_signed(event, key->gk_field);
	value->kv_is_text = key->gk_is_name || key->gk_text !=
	    DTP_KEY_NUMBER || key->gk_field == DTP_F_COMM;
	if (key->gk_is_name) {
		name = prof_syscall_name((unsigned)value->kv_number);
		if (name != NULL)
			snprintf(value->kv_text, sizeof(value->kv_text), "%s",
			    name);
		else
			snprintf(value->kv_text, sizeof(value->kv_text),
			    "syscall_%llu",
			    (unsigned long long)value->kv_number);
	} else if (value->kv_is_text) {
		memcpy(value->kv_text, &group->gr_key[key->gk_word],
		    key->gk_field == DTP_F_COMM ? DTP_COMM_LEN : DTP_STR_LEN);
	}
}
