/* SPDX-License-Identifier: ISC */
/*
 * Private to backend/perf/: the layout of the rings, and what the four files
 * offer each other.
 */
#ifndef PROF_RINGS_IMPL_H
#define PROF_RINGS_IMPL_H

#include "base/error.h"
#include "base/record.h"
#include "elf/build_id.h"
#include "events/event.h"
#include "os/pidset.h"
#include "rings.h"
#include "stacks/snapshot.h"

/* Of a descriptor: it brings the sideband, not samples. */
#define RING_SIDE_BAND	UINT32_MAX

/*
 * One CPU's ring, mapped once; every event on that CPU writes into it.
 *
 *	+---------+------------------------------------------+
 *	| control |  ... read | unread .......... | free ...  |
 *	+---------+-----------^-------------------^-----------+
 *	                      tail (ours)         head (kernel's)
 *
 * Positions only grow; a byte's place is position & (bytes - 1).  Records
 * are multiples of 8 bytes, so a header never wraps, but a record may: then
 * it is put together in rs_scratch.  A record above the time limit of a drain
 * stays where it is and in rs_at; the tail waits for it, and those behind it
 * that were handed over are not looked at again, as seen says.
 */
struct ring {
	int		 rg_cpu;
	int		 rg_fd;		/* of the event that is mapped */
	struct perf_event_mmap_page *rg_control;
	uint8_t		*rg_data;
	size_t		 rg_bytes;	/* of data: a power of two */
	size_t		 rg_mapped;
	uint64_t	 rg_seen;	/* all below are in rs_at, or gone */
	uint64_t	 rg_tail;	/* as the kernel was told */
	uint64_t	 rg_before_ns;	/* of the last that was delivered */
	uint64_t	 rg_seen_ns;	/* of the last that was seen */
	/* The last sample, to know its double; only where there can be one. */
	struct ring_sample {
		uint64_t	la_time_ns;
		uint32_t	la_tid;
		uint32_t	la_event;
		bool		la_is_double;
	}		 rg_last;
};

/* One descriptor; the id is what records carry. */
struct ring_fd {
	int		 rf_fd;
	uint32_t	 rf_event;	/* of rs_event, or RING_SIDE_BAND */
	uint32_t	 rf_task;	/* of rs_task, or RING_NO_TASK */
	uint64_t	 rf_id;
};

#define RING_NO_TASK	UINT32_MAX

/* No fork takes longer between handing on its events and reporting it. */
#define RING_SURE_NS	100000000

/*
 * One task that we know; tid -1 stands for all.  Its owner is the task whose
 * descriptors count for it: itself, or who it has inherited from.
 */
struct ring_task {
	int		 rt_tid;
	uint32_t	 rt_owner;	/* of rs_task */
	uint64_t	 rt_done_ns;	/* who it starts from now on inherits */
};

/* The same by tid, for the drain; only where something can come twice. */
struct ring_owner {
	int		 ow_tid;	/* 0: free */
	uint32_t	 ow_owner;
	uint64_t	 ow_since_ns;
};

/* One sampling event and what the drain has seen of it. */
struct ring_event {
	struct prof_event *re_event;
	bool		 re_is_of_switches; /* it brings no samples */
	struct prof_ring_layout {
		uint32_t ly_event;	/* pr_event */
		bool	 ly_has_period;	/* by frequency: it is in the sample */
		bool	 ly_has_chain;
		uint32_t ly_stack_bytes; /* copied at most; 0: no copy */
		uint64_t ly_period;	/* else this */
		uint32_t ly_max_stack;
	}		 re_layout;
	size_t		 re_nfds;
	size_t		 re_nplaces;	/* CPUs on which each task has one */
	uint64_t	 re_stored;
	uint64_t	 re_weight;
	uint64_t	 re_max_period;
	uint64_t	 re_late;	/* with a later time */
	uint64_t	 re_twice;	/* dropped: another one has it */
	uint64_t	 re_twice_weight;
	uint64_t	 re_hw_lost;	/* LOST_SAMPLES: the PMU's own loss */
	uint64_t	 re_ring_lost;	/* by LOST, where fds do not tell */
	uint64_t	 re_stack[PROF_STACK_SLOTS];
};

/* One unread record, for the merge. */
struct ring_at {
	uint64_t	 ra_time_ns;
	uint64_t	 ra_position;
	uint32_t	 ra_ring;
	uint32_t	 ra_size;
};

struct ring_switches;		/* switches.c */

struct prof_rings {
	struct ring	*rs_ring;
	size_t		 rs_nrings;
	size_t		 rs_nshared;	/* the first: a CPU's, of all events */
	struct ring_fd	*rs_fd;
	size_t		 rs_nfds;
	size_t		 rs_fds_cap;
	int		*rs_poll;
	struct ring_event *rs_event;
	size_t		 rs_nevents;
	struct ring_task *rs_task;
	size_t		 rs_ntasks;
	size_t		 rs_tasks_cap;
	bool		 rs_samples;
	bool		 rs_inherit;
	bool		 rs_enable_on_exec;
	bool		 rs_has_lost;	/* PERF_FORMAT_LOST */
	bool		 rs_has_build_id;
	bool		 rs_callchain;
	uint32_t	 rs_stack_bytes; /* of stack in each sample, or 0 */
	size_t		 rs_enough_bytes; /* of a ring: nothing is said */
	bool		 rs_all;	/* every process, not tasks */
	bool		 rs_has_cgroup;	/* the one task is a cgroup */
	bool		 rs_quiet;	/* records do not wake us */
	size_t		 rs_max_fds;	/* 0: any number */
	bool		 rs_doubles;	/* a task may fire two of our events */
	struct ring_owner *rs_owner;	/* open addressing */
	size_t		 rs_nowners;
	size_t		 rs_owners_cap;	/* a power of two, or 0 */
	uint64_t	 rs_forks;	/* tasks that inherited */
	struct prof_pidset rs_execs;	/* that have mapped nothing yet */
	uint64_t	 rs_taken_away;	/* by their exec */
	uint64_t	 rs_side_read;	/* that are neither sample nor LOST */
	uint64_t	 rs_lost;	/* sum of LOST */
	uint64_t	 rs_damaged;	/* records that could not be read */
	struct prof_build_ids *rs_ids;
	struct ring_at	*rs_at;		/* grows to the fullest backlog */
	size_t		 rs_first;	/* of rs_at; those before are done */
	size_t		 rs_nat;
	uint64_t	 rs_handed_ns;	/* of the last, or of all others */
	size_t		 rs_at_cap;
	uint64_t	*rs_scratch;	/* 64 KiB: the largest record */
	struct prof_snapshots *rs_snapshots; /* borrowed; NULL: no copies */
	prof_record_fn	*rs_before;	/* a stack is walked, or NULL */
	struct ring_switches *rs_switches; /* NULL: no event of waits */
	/* Between these some ring, perhaps others meanwhile, lost records. */
	uint64_t	 rs_lost_from_ns;
	uint64_t	 rs_lost_until_ns; /* 0: none */
	prof_record_fn	*rs_fn;		/* of this drain */
	void		*rs_arg;
	bool		 rs_was_full;	/* a ring, nearly, since asked last */
	const struct prof_pmu_kinds *rs_kinds;	/* borrowed; for samples */
	char		*rs_note[8];
	size_t		 rs_nnotes;
};

/* ---------------------------------------------------------- parse.c */

/* What the trailer and header say of any record. */
struct ring_head {
	uint32_t	rh_type;	/* PERF_RECORD_* */
	uint32_t	rh_size;
	uint32_t	rh_end;		/* of what is before the trailer */
	uint64_t	rh_id;		/* of the event that wrote it */
	uint64_t	rh_time_ns;
	uint32_t	rh_tid;
	uint64_t	rh_subject;	/* THROTTLE, LOST: the event meant */
};

/* false: not a record of ours.  bytes are 8-byte aligned. */
bool	prof_ring_head(const void *bytes, size_t len, struct ring_head *head);
/*
 * One record; pointers in it go into bytes.  1: a record, 0: nothing of
 * interest, -1: damaged.  layout is that of the event of a SAMPLE, else
 * NULL.
 */
int	prof_ring_parse(const void *bytes, size_t len,
	    const struct prof_ring_layout *layout,
	    struct prof_record *record);
/*
 * The registers and the copy of the stack in a SAMPLE that was parsed; false:
 * it has none.
 */
bool	prof_ring_snapshot(const void *bytes, size_t len,
	    const struct prof_ring_layout *layout,
	    struct prof_snapshot *snapshot);
/* One context switch: from the thread, or to it. */
struct ring_switch {
	uint64_t	rw_time_ns;
	uint32_t	rw_pid;
	uint32_t	rw_tid;
	uint32_t	rw_cpu;
	bool		rw_is_out;
	bool		rw_is_preempted;
};

/* false: the record, with this head, is no switch. */
bool	prof_ring_switch(const void *bytes, const struct ring_head *head,
	    struct ring_switch *to);
/* The registers to ask for, PERF_REG_*. */
uint64_t prof_ring_registers(void);

/* Every event asks for these, so that all other records end alike. */
#define RING_TRAILER	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | \
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* ------------------------------------------------------ rings.c */

/* After open: which descriptor an id means; NULL: none of ours. */
const struct ring_fd *prof_ring_fd_of(const struct prof_rings *rings,
	    uint64_t id);
void	prof_rings_say(struct prof_rings *rings, const char *fmt, ...)
	    PROF_PRINTF(2, 3);

/* -------------------------------------------------------- map.c */

/* Map rings from the first on; smaller ones when locked memory is short. */
int	prof_ring_map_all(struct prof_rings *rings, size_t first, size_t bytes,
	    struct prof_err *error);
void	prof_ring_unmap(struct ring *ring);
/* The record at a position, in one piece; borrowed until the next call. */
const void *prof_ring_at(const struct prof_rings *rings,
	    const struct ring *ring, uint64_t position, size_t left);
uint64_t prof_ring_head_of(const struct ring *ring);
/* Hand the space below a position back to the kernel. */
void	prof_ring_release(const struct ring *ring, uint64_t position);

/* ----------------------------------------------------- tasks.c */

/* Open the events of every task asked for, and of all their threads. */
int	prof_rings_add_tasks(struct prof_rings *rings,
	    const struct prof_rings_options *options,
	    struct prof_err *error);

/* ----------------------------------------------------- owner.c */

/* After all tasks are known. */
int	prof_ring_owners_init(struct prof_rings *rings);
/* A task was started: its owner is its parent's. */
void	prof_ring_owner_fork(struct prof_rings *rings,
	    const struct prof_record *record);
/* Does another event of ours bring the same?  In order of time. */
bool	prof_ring_is_double(const struct prof_rings *rings,
	    struct ring *ring, const struct ring_head *head);

/* ---------------------------------------------------- switches.c */

/* NULL: no memory. */
struct ring_switches *prof_ring_switches_new(struct ring_event *event,
	    bool waits_for_exec);
void	prof_ring_switches_free(struct ring_switches *switches);
/* In order of time; a sample is stored where a wait ends. */
int	prof_ring_switch_take(struct prof_rings *rings,
	    const struct ring_switch *to);
/* When recording next goes on or pauses; UINT64_MAX: not yet. */
uint64_t prof_ring_turn_next(const struct prof_rings *rings);
int	prof_ring_turn(struct prof_rings *rings);

/* ------------------------------------------------------- drain.c */

/* A sample that was made here is handed over. */
int	prof_ring_store(struct prof_rings *rings, struct ring_event *event,
	    struct prof_record *record);

/* -------------------------------------------------------- open.c */

/* The event behind a CPU's ring.  1: open, 0: CPU offline, -1: failed. */
int	prof_ring_open(struct prof_rings *rings, struct ring *ring, int cpu,
	    struct prof_err *error);
int	prof_ring_open_code(struct prof_rings *rings, struct ring *ring,
	    int cpu, struct prof_err *error);
/* Open the events of one task on all CPUs. */
int	prof_rings_open_task(struct prof_rings *rings, uint32_t task,
	    bool side_band, struct prof_err *error);

#endif /* PROF_RINGS_IMPL_H */
