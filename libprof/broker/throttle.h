/* SPDX-License-Identifier: ISC */
/*
 * How fast parsers do work that can wait, where the cost of recording is
 * limited.  A file can take a parser more CPU time than may be used in all, and
 * cannot be cut into pieces: so the parser sleeps now and then.
 *
 *	recorder	sets a share of a CPU, in memory of both
 *	parser		each few ms of its CPU time a signal: it sleeps until
 *			it has used no more than this share of the time
 */
#ifndef PROF_THROTTLE_H
#define PROF_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_THROTTLE_CPU	1000000	/* the share of one that is not used */

/* The recorder writes here, and reads nothing: a parser may lie. */
struct prof_throttle {
	uint32_t	th_share;	/* for what can wait; 0: no limit */
};

/* NULL: no memory. */
struct prof_throttle *prof_throttle_new(void);
void	prof_throttle_free(struct prof_throttle *throttle);
void	prof_throttle_set(struct prof_throttle *throttle, uint32_t share);

/* In the keeper, for those that it forks.  false: errno. */
bool	prof_throttle_obey(struct prof_throttle *throttle);
/* In a parser: signals begin.  false: errno. */
bool	prof_throttle_tick(void);
/* In a parser: a request begins.  Can it wait? */
void	prof_throttle_begin(bool can_wait);

#endif /* PROF_THROTTLE_H */
