/* SPDX-License-Identifier: ISC */
/*
 * What the files of a counting session share: counters.c (states and public
 * calls), event.c (from a name to what is opened), group.c
 * (what fits at the same time), open.c (descriptors of targets),
 * read.c (counts and estimates), split.c (counts of each
 * process or thread).
 */
#ifndef COUNTERS_IMPL_H
#define COUNTERS_IMPL_H

#include "events/names.h"
#include "session/session_impl.h"

#define COUNTING_EVENTS		256	/* in one session */
#define COUNTING_NO_GROUP	(-1)

/* An event, ready to be opened. */
struct counting_event {
	struct prof_counted_event ke_info;	/* names borrowed from ke_of */
	const struct prof_event *ke_of;		/* borrowed */
	struct perf_event_attr ke_attr;
	char		*ke_filter;	/* of a tracepoint, or NULL */
	char		*ke_unit;
	int		*ke_cpus;	/* NULL: any; a PMU shared by CPUs */
	size_t		 ke_ncpus;
	uint64_t	 ke_least;	/* estimates never fall below */
	bool		 ke_is_noted;	/* that others keep something back */
};

/* A descriptor: one event of one target. */
struct counting_fd {
	int		 kf_fd;		/* -1: none */
	uint64_t	 kf_now[3];	/* count, enabled, running */
	uint64_t	 kf_base[3];	/* up to here kf_estimate tells */
	uint64_t	 kf_estimate;
};

/* A thread on whatever CPU, or whoever runs on a CPU. */
struct counting_target {
	int		 kt_pid;	/* -1: all; a cgroup's descriptor */
	int		 kt_cpu;	/* -1: any */
};

/*
 *	open        arm          start            close
 *	----> INIT ----> ARMED ------> COUNTING -------->
 *	          ^               start |  ^
 *	          |                stop v  |
 *	          +-- arm again -- STOPPED +
 */
enum counting_state {
	COUNTING_INIT, COUNTING_ARMED, COUNTING_ON, COUNTING_STOPPED
};

struct counting_split;

struct prof_counting {
	struct prof_err	 kg_error;
	bool		 kg_kernel_only; /* what was refused has no user side */
	enum counting_state kg_state;
	struct prof_options kg_options;	/* deep copy of those that matter */
	enum prof_split	 kg_split_by;
	bool		 kg_is_direct;	/* read from the page, where possible */
	struct prof_names *kg_names;
	struct prof_events kg_events;	/* resolved */
	struct counting_event *kg_event;
	size_t		 kg_nevents;
	size_t		 kg_fitting;	/* of those on a PMU, at once */
	int		 kg_ngroups;
	struct counting_target *kg_target;
	size_t		 kg_ntargets;
	struct counting_fd *kg_fd;	/* [ntargets * nevents] */
	int		 kg_cgroup;	/* descriptor, or -1 */
	struct prof_command kg_command;
	bool		 kg_released;	/* the command runs */
	int		*kg_pidfd;	/* of -p targets */
	size_t		 kg_npidfds;
	struct counting_split *kg_split; /* NULL: counts are not kept apart */
	uint64_t	 kg_since_ns;	/* counting since */
	uint64_t	 kg_wall_ns;	/* counted before that */
	uint64_t	 kg_usage_ns[2]; /* user, system: before, then of */
	bool		 kg_is_told;	/* that programs took events away */
	char		**kg_notes;
	size_t		 kg_nnotes;
};

/* --------------------------------------------------------- counters.c */

int	prof_counting_say(struct prof_counting *counting, const char *fmt,
	    ...) PROF_PRINTF(2, 3);

/* ------------------------------------------------------------ event.c */

/* Fill in how an event is counted, or say why it cannot be. */
int	prof_counting_make(struct prof_counting *counting,
	    const struct prof_event *of, struct counting_event *event);
void	prof_counting_unmake(struct counting_event *event);

/* ------------------------------------------------------------ group.c */

/* Resolve one -e and try it on ourselves; appends, all or nothing. */
int	prof_counting_resolve(struct prof_counting *counting,
	    const char *spec);
/* Refused also when events would have to take turns. */
int	prof_counting_fit_all(struct prof_counting *counting);
/* Try how many events of a PMU fit at the same time. */
void	prof_counting_try_fitting(struct prof_counting *counting);
int	prof_counting_refuse_group(struct prof_counting *counting,
	    int group, size_t fitting);

/* ------------------------------------------------------------- open.c */

/* Descriptors for all events of all targets; nothing counts yet. */
int	prof_counting_open_all(struct prof_counting *counting);
void	prof_counting_close_all(struct prof_counting *counting);
bool	prof_counting_is_filtered(const struct prof_counting *counting,
	    size_t event);
/* Switch those that lead a group or stand alone; the others follow. */
void	prof_counting_switch(struct prof_counting *counting, bool on);
struct counting_fd *prof_counting_fd(const struct prof_counting *counting,
	    size_t target, size_t event);

/* ---------------------------------------------------------- targets.c */

int	prof_counting_find_targets(struct prof_counting *counting);
/* Has anybody come that was not there to be opened? */
bool	prof_counting_missed_any(struct prof_counting *counting);

/* ------------------------------------------------------------- read.c */

void	prof_counting_read_all(struct prof_counting *counting);

/* ------------------------------------------------------------ split.c */

/* Are CPUs counted, and of them only what a family of processes had? */
bool	prof_counting_splits_family(const struct prof_counting *counting);
/* Can it be done?  Before anything is opened. */
int	prof_counting_split_check(struct prof_counting *counting);
int	prof_counting_split_open(struct prof_counting *counting);
void	prof_counting_split_visit(const struct prof_counting *counting);
int	prof_counting_split_collect(struct prof_counting *counting);
uint64_t prof_counting_split_sum(const struct prof_counting *counting,
	    size_t event);
void	prof_counting_split_close(struct prof_counting *counting);

#endif /* COUNTERS_IMPL_H */
