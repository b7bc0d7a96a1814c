/* SPDX-License-Identifier: ISC */
/* What groups of an aggregation come to: quantiles, ends of buckets. */
#ifndef PROF_COUNT_GROUPS_H
#define PROF_COUNT_GROUPS_H

#include <stdbool.h>

#include "backend/groups.h"
#include "events/event.h"

/* Both ends belong to it; signed as its measure is. */
struct prof_bucket_ends {
	uint64_t	 be_low;
	uint64_t	 be_high;
};

/* In order of event and keys, as groups are. */
int	prof_group_compare(const struct prof_group *x,
	    const struct prof_group *y);
struct prof_bucket_ends prof_bucket_ends(const struct dtp_measure *measure,
	    uint32_t bucket);
/*
 * The upper end of the bucket that has the value of rank share * n, but no
 * more than the maximum; false: there are no values, or some are in no bucket.
 */
bool	prof_group_quantile(const struct prof_groups *groups,
	    const struct prof_group *group, uint32_t n,
	    const struct dtp_measure *measure, double share, uint64_t *value);

/*
 * What has come since: groups of now, with counts of the difference, which may
 * be 0.  Minimum and maximum are ends of buckets.  -1: no memory.
 */
int	prof_groups_since(const struct prof_groups *now,
	    const struct prof_groups *before, struct prof_groups *since);
/* The same of the ends of a measure, where it has buckets. */
void	prof_group_ends(const struct prof_groups *groups,
	    const struct dtp_measure *measure, struct prof_measured *of);

/* What one of its keys is. */
struct prof_key_value {
	bool		 kv_is_text;
	bool		 kv_is_signed;
	uint64_t	 kv_number;
	char		 kv_text[DTP_STR_LEN + 1];
};

void	prof_group_key(const struct prof_event *event,
	    const struct prof_group *group, size_t n,
	    struct prof_key_value *value);

#endif /* PROF_COUNT_GROUPS_H */
