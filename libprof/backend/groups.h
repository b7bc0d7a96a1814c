/* SPDX-License-Identifier: ISC */
/*
 * Groups of an aggregation, as back ends hand them out: CPUs merged, in order
 * of event and keys.  What the words of a key mean says the event's
 * ev_grouping.
 */
#ifndef PROF_GROUPS_H
#define PROF_GROUPS_H

#include "abi/dtp_abi.h"

#include <stddef.h>
#include <stdint.h>

/* Count of a bucket, in order of group, measure and bucket. */
struct prof_group_bucket {
	uint32_t	 bu_group;
	uint32_t	 bu_measure;	/* or DTP_BUCKET_ERRORS */
	uint32_t	 bu_bucket;
	uint64_t	 bu_count;
};

/* Signed or not as the measure is; sum wraps. */
struct prof_measured {
	uint64_t	 me_count;
	uint64_t	 me_sum;
	uint64_t	 me_min;
	uint64_t	 me_max;
	size_t		 me_first;	/* of gs_bucket */
	size_t		 me_nbuckets;
};

struct prof_group {
	uint32_t	 gr_event;
	uint64_t	 gr_key[DTP_GROUP_WORDS];
	uint64_t	 gr_count;
	uint64_t	 gr_errors;
	uint64_t	 gr_unfiled;	/* values in no bucket: no room */
	struct prof_measured gr_measured[DTP_GROUP_MEASURES];
	struct prof_measured gr_errnos;	/* buckets alone */
};

struct prof_groups {
	struct prof_group *gs_group;
	size_t		 gs_n;
	struct prof_group_bucket *gs_bucket;
	size_t		 gs_nbuckets;
};

void	prof_groups_fini(struct prof_groups *groups);

#endif /* PROF_GROUPS_H */
