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

struct prof_bucket_ends prof_bucket_ends(const struct dtp_measure *measure,
	    uint32_t bucket);
/*
 * The upper end of the bucket that has the value of rank share * n, but no
 * more than the maximum; false: there are no values, or some are in no bucket.
 */
bool	prof_group_quantile(const struct prof_groups *groups,
	    const struct prof_group *group, uint32_t n,
	    const struct dtp_measure *measure, double share, uint64_t *value);

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
