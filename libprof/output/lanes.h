/* SPDX-License-Identifier: ISC */
/*
 * A profile by thread and time, of samples that are kept one by one
 * (pl_times): a lane for each thread.  See lanes.c.
 *
 * Included by output/ alone.
 */
#ifndef PROF_LANES_H
#define PROF_LANES_H

#include "flame.h"
#include "profile/profile_impl.h"

/* A thread. */
struct prof_lane {
	uint32_t	 la_pid;
	uint32_t	 la_tid;
	const char	*la_name;	/* what it was last called */
	const char	*la_process;	/* of its first thread */
	size_t		 la_first;	/* in ls_bucket */
	size_t		 la_n;
};

struct prof_lanes {
	struct prof_lane *ls_lane;	/* by process, then thread */
	size_t		 ls_n;
	size_t		 ls_cap;
	/* Of the profile, of events that are shown: by lane, then time. */
	uint32_t	*ls_bucket;
	uint64_t	*ls_end_ns;	/* of the same: its wait ended */
};

/* 0, or -1: no memory; fini also after a failure. */
int	prof_lanes_init(struct prof_lanes *lanes,
	    const struct prof_flame *flame);
void	prof_lanes_fini(struct prof_lanes *lanes);
/* Is a node what stands above functions: all, or a thread's name? */
bool	prof_lanes_is_root(const struct prof_flame *flame, uint32_t node);

#endif /* PROF_LANES_H */
