/* SPDX-License-Identifier: ISC */
/*
 * A make-believe machine for the programs of sys/: what host_shim.h declares
 * is implemented on this state.  Each test sets it up with machine_init,
 * sets what a program is to find, and calls the programs.
 *
 * Several threads may run programs at once if each has its own machine_me;
 * the rest is then only changed while none runs.
 */
#ifndef MACHINE_H
#define MACHINE_H

#define DTP_HOST	1
#include "maps.bpf.h"

#include <stdbool.h>

#define MACHINE_EVENTS	2

/* Known ways to get the stream wrong, each of which must be found out. */
enum machine_mutant {
	MUTANT_NONE,
	MUTANT_PLAIN_HEAD,	/* head is stored, not compared */
	MUTANT_LATE_POSITION,	/* counted out first, position read after */
	MUTANT_LOST_UPDATE,	/* writers is loaded, then stored */
	MUTANT_EARLY_LEAVE,	/* head is raised while others are inside */
	MUTANT_SHARED_SCRATCH	/* a slot is handed out twice */
};

/* Who runs: a task on a CPU. */
struct machine_task {
	struct task_struct	 mt_task;
	__u32			 mt_cpu;
	__u64			 mt_uid_gid;
	__u64			 mt_cgroup;
	__u64			 mt_seen;	/* hash of what it read */
	__u64			 mt_frames[2][DTP_MAX_UFRAMES];
	long			 mt_stack[2];	/* frames, or -errno */
};

struct machine {
	__u64			 ma_clock_ns;	/* 0: the real clock */
	unsigned		 ma_wakeups;
	unsigned		 ma_cas_to_lose;	/* of ss_state */
	enum machine_mutant	 ma_mutant;
	void			(*ma_yield)(void);	/* before each access */
	struct dtp_stream	*ma_streams;
	__u8			*ma_rings;
	struct dtp_counts	*ma_counts;
	struct dtp_scratch	*ma_scratch;
	struct dtp_control	 ma_control;
	__u32			 ma_ncpus;
	size_t			 ma_ring_bytes;
	struct dtp_targets	 ma_targets;
	/* As many as cfg.dc_grouping says. */
	struct dtp_group	*ma_groups;
	struct dtp_bucket	*ma_buckets;
};

extern struct machine machine;
extern _Thread_local struct machine_task *machine_me;

/* Everything from scratch; cfg is set to match.  Ends the test on failure. */
void	machine_init(__u32 ncpus, size_t ring_bytes);
void	machine_fini(void);
__u8	*machine_ring(__u32 cpu);
/* fired - stored - full - nested - filtered - error of event 1. */
long	machine_identity(__u32 cpu);
struct dtp_counts *machine_counts(__u32 cpu);

#endif /* MACHINE_H */
