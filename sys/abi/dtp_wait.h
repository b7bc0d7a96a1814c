/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Waits of threads: how many are recorded, and what is counted of them.
 * Included by dtp_abi.h.
 */
#ifndef DTP_WAIT_H
#define DTP_WAIT_H

#include <linux/types.h>

#define DTP_WAIT_THREADS 32768	/* recorded threads at once */
#define DTP_WAIT_STACKS	256	/* of these, waiting with a stack */

/*
 * With step n, the stack of one wait in 2^n is walked.  Paced, the step depends
 * on how often threads switched before.
 */
#define DTP_WALK_PACED	(~0U)
#define DTP_WALK_STEPS	16	/* the last one */

/*
 * Counts of threads whose waits are recorded, [c].  The time between two
 * switches of a thread is added to running, runnable or blocked when it ends;
 * elapsed is one difference of two times for each thread.  So after stop,
 * except for gaps:
 *
 *	elapsed = running + runnable + blocked
 */
struct dtp_wait_counts {
	__u64	wn_running_ns;
	__u64	wn_runnable_ns;
	__u64	wn_blocked_ns;
	__u64	wn_elapsed_ns;
	__u64	wn_threads;
	__u64	wn_turns;	/* switches to them, as the kernel counts */
	__u64	wn_short;	/* waits below dc_min_ns: no sample */
	__u64	wn_short_ns;
	__u64	wn_open;	/* waits that went on at the end or a pause */
	__u64	wn_open_ns;	/* of these, up to the end */
	__u64	wn_unwalked;	/* no stack, because all slots were in use */
	__u64	wn_unkept;	/* events of threads without an entry */
	__u64	wn_gaps;	/* switches that were not seen; that time ... */
	__u64	wn_gap_ns;	/* ... is in elapsed alone */
	__u64	wn_unwoken;	/* waits whose wakeup was not seen ... */
	__u64	wn_unwoken_ns;	/* ... so all of it counts as blocked */
	__u64	wn_eligible;	/* switches at which chance decided ... */
	__u64	wn_drawn;	/* ... that the stack was walked */
	__u64	wn_expected;	/* sum of the probabilities, in 2^-16 ... */
	__u64	wn_variance;	/* ... and the variance of wn_drawn, in 2^-32 */
	__u64	wn_chance_ns;	/* weight of the samples of wn_eligible ... */
	__u64	wn_drawn_ns;	/* ... and of wn_drawn */
};

_Static_assert(sizeof(struct dtp_wait_counts) == 176, "dtp_wait_counts");

#endif /* DTP_WAIT_H */
