/* SPDX-License-Identifier: ISC */
/*
 * Buckets of an aggregation (abi/dtp_group.h) the other way round: from their
 * numbers to their ends, and from their counts to quantiles.  Called by
 * dtprof stat.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/names.h"
#include "groups.h"

static struct prof_bucket_ends
ends_log(uint32_t bucket)
{
	return ((struct prof_bucket_ends){ dtp_bucket_low(bucket),
	    dtp_bucket_low(bucket + 1) - 1 });
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

/* ---------------------------------------------------------- intervals */

int
prof_group_compare(const struct prof_group *x, const struct prof_group *y)
{
	if (x->gr_event != y->gr_event)
		return (x->gr_event < y->gr_event ? -1 : 1);
	for (size_t n = 0; n < DTP_GROUP_WORDS; n++)
		if (x->gr_key[n] != y->gr_key[n])
			return (x->gr_key[n] < y->gr_key[n] ? -1 : 1);
	return (0);
}

/* Each bucket that was there before still is, and has no less. */
static void
measured_subtract(struct prof_groups *since, struct prof_measured *of,
    const struct prof_groups *before, const struct prof_measured *then)
{
	size_t n = 0;

	of->me_count -= then->me_count;
	of->me_sum -= then->me_sum;
	for (size_t i = 0; i < of->me_nbuckets; i++) {
		struct prof_group_bucket *bucket =
		    &since->gs_bucket[of->me_first + i];
		const struct prof_group_bucket *old =
		    &before->gs_bucket[then->me_first + n];

		if (n < then->me_nbuckets &&
		    old->bu_bucket == bucket->bu_bucket) {
			bucket->bu_count -= old->bu_count;
			n++;
		}
	}
}

static void
group_subtract(struct prof_groups *since, struct prof_group *group,
    const struct prof_groups *before, const struct prof_group *then)
{
	group->gr_count -= then->gr_count;
	group->gr_errors -= then->gr_errors;
	group->gr_unfiled -= then->gr_unfiled;
	for (size_t n = 0; n < DTP_GROUP_MEASURES; n++)
		measured_subtract(since, &group->gr_measured[n], before,
		    &then->gr_measured[n]);
	measured_subtract(since, &group->gr_errnos, before,
	    &then->gr_errnos);
}

int
prof_groups_since(const struct prof_groups *now,
    const struct prof_groups *before, struct prof_groups *since)
{
	size_t n = 0;

	*since = *now;
	since->gs_group = calloc(now->gs_n + 1, sizeof(*since->gs_group));
	since->gs_bucket = calloc(now->gs_nbuckets + 1,
	    sizeof(*since->gs_bucket));
	if (since->gs_group == NULL || since->gs_bucket == NULL) {
		prof_groups_fini(since);
		return (-1);
	}
	if (now->gs_n > 0)
		memcpy(since->gs_group, now->gs_group,
		    now->gs_n * sizeof(*now->gs_group));
	if (now->gs_nbuckets > 0)
		memcpy(since->gs_bucket, now->gs_bucket,
		    now->gs_nbuckets * sizeof(*now->gs_bucket));
	for (size_t i = 0; i < since->gs_n && n < before->gs_n; i++)
		if (prof_group_compare(&since->gs_group[i],
		    &before->gs_group[n]) == 0)
			group_subtract(since, &since->gs_group[i], before,
			    &before->gs_group[n++]);
	return (0);
}

void
prof_group_ends(const struct prof_groups *groups,
    const struct dtp_measure *measure, struct prof_measured *of)
{
	const uint64_t least = dtp_measure_order(measure, of->me_min);
	const uint64_t most = dtp_measure_order(measure, of->me_max);
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < of->me_nbuckets; i++) {
		const struct prof_group_bucket *bucket =
		    &groups->gs_bucket[of->me_first + i];
		const struct prof_bucket_ends ends = prof_bucket_ends(measure,
		    bucket->bu_bucket);
		const uint64_t from = dtp_measure_order(measure, ends.be_low);
		const uint64_t to = dtp_measure_order(measure, ends.be_high);

		if (bucket->bu_count == 0)
			continue;
		low = from < low ? from : low;
		high = to > high ? to : high;
	}
	if (low > high)
		return;
	of->me_min = dtp_measure_order(measure, low > least ? low : least);
	of->me_max = dtp_measure_order(measure, high < most ? high : most);
}
