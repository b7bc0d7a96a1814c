/* SPDX-License-Identifier: ISC */
/*
 * Merges what back ends hand over into one sequence by time.
 */
#ifndef PROF_MERGE_H
#define PROF_MERGE_H

#include "backend/backend.h"

#define PROF_MAX_SOURCES	4

/* A back end of a session. */
struct prof_source {
	const struct prof_backend *so_backend;
	void		*so_state;
};

/* Of equal times the first source comes first. */
struct prof_merge {
	struct prof_source mg_source[PROF_MAX_SOURCES];
	size_t		 mg_n;
	const struct prof_source *mg_now;	/* that hands over */
	uint64_t	 mg_limit_ns;	/* of the last look */
	uint64_t	 mg_until_ns;	/* all of it has been handed over */
	uint64_t	 mg_last_ns;	/* time of the last record */
	uint64_t	 mg_spent_ns;	/* in rounds */
	unsigned	 mg_fill;	/* of the fullest, in percent */
	bool		 mg_is_cut;	/* the last round left some for later */
};

/*
 * From all of them, what no record yet to come can precede; but no more once
 * that has taken so much time, UINT64_MAX: all.
 */
int	prof_merge_round(struct prof_merge *merge, uint64_t most_ns);
bool	prof_merge_is_empty(const struct prof_merge *merge);
/* Some of those that share no buffer with samples are for the next round. */
bool	prof_merge_mappings_wait(const struct prof_merge *merge);
/* Is this record in its place?  -1: the error names the back end. */
int	prof_merge_check(struct prof_merge *merge,
	    const struct prof_record *record, struct prof_err *error);

/* ------------------------------------------------ all of them, in turn */

/* Load one more; -1: the plan's error says why. */
int	prof_merge_add(struct prof_merge *merge,
	    const struct prof_backend *backend, struct prof_plan *plan);
/* All do the step; -1: one has failed. */
int	prof_merge_step(struct prof_merge *merge, enum prof_step step);
void	prof_merge_enter(struct prof_merge *merge, uint32_t id,
	    bool waits_for_exec);
int	prof_merge_observe(struct prof_merge *merge,
	    const struct prof_record *record);
int	prof_merge_renew(struct prof_merge *merge, uint32_t pid,
	    uint64_t time_ns, bool any_exec);
/* True: not all that was observed could be published yet. */
bool	prof_merge_publish(struct prof_merge *merge);
uint64_t prof_merge_caps(const struct prof_merge *merge);
void	prof_merge_close(struct prof_merge *merge);

#endif /* PROF_MERGE_H */
