/* SPDX-License-Identifier: ISC */
/*
 * Private to the BPF back end: what its files share.
 *
 *	backend.c   the interface	drain.c    streams -> records by time
 *	load.c      programs, maps	decode.c   bytes -> record
 *	attach.c    links, stop		gaps.c     from when to when was lost
 *	sampling.c  counters, timers	account.c  rows of the accounting
 *	place.c     where they sample	calls.c    system calls
 *	values.c    counters in samples	publish/   mappings, unwind tables
 *	groups.c    aggregation		clocks.c   running time in spans
 *	waited.c    locks and files of waits
 *
 * Nothing here knows a session: a plan says what is recorded, and its host
 * takes the records.
 */
#ifndef BPF_IMPL_H
#define BPF_IMPL_H

#include "abi/dtp_object.h"
#include "backend/backend.h"
#include "backend/bpf/publish/publish.h"
#include "backend/groups.h"
#include "os/pidset.h"
#include "stacks/snapshot.h"

#define PROF_MAX_PROGS	8	/* of an event */

/* One loaded event: its program's links and, for counters, descriptors. */
struct prof_instance {
	void		*in_skel;
	void		(*in_destroy)(void *skel);
	struct bpf_object *in_obj;
	int		 in_prog[PROF_MAX_PROGS];
	int		 in_nprogs;
	int		*in_links;
	size_t		 in_nlinks;
	int		*in_perf;	/* perf descriptors ... */
	int		*in_perf_cpu;	/* ... and its CPU, -1: a task */
	size_t		 in_nperf;
	uint64_t	 in_slower;	/* times the period, 0 as 1 */
	uint64_t	 in_forks;	/* of targets, when it was opened */
	uint64_t	 in_joined_ns;	/* on the clock of timers */
	bool		 in_is_detached;
	/* While others take over: how many there were, and what they had. */
	size_t		 in_before;
	uint64_t	 in_slower_before;
	uint64_t	 in_forks_next;
};

/* The period, in multiples of the requested one. */
static inline uint64_t
prof_instance_slower(const struct prof_instance *in)
{
	return (in->in_slower > 1 ? in->in_slower : 1);
}

/* The kernel's own count of an event on a CPU: of instances that ended. */
struct prof_count {
	uint64_t	ct_value;
	uint64_t	ct_enabled_ns;
	uint64_t	ct_running_ns;
	uint32_t	ct_instances;
	uint64_t	ct_periods;	/* of the first; of all instances */
	uint64_t	ct_told_ns;	/* not counted, as TURNS say so far */
};

/*
 * Where counters and timers sample: on all CPUs, or on the target's tasks,
 * each with its own that those which it starts inherit.
 */
struct prof_place {
	bool		 pl_on_tasks;	/* now */
	bool		 pl_is_forced;	/* asked for */
	bool		 pl_is_stuck;	/* it cannot go elsewhere */
	double		 pl_hz;		/* that a CPU samples, all events */
	uint64_t	 pl_period_ns;	/* of the slowest */
	uint64_t	 pl_since_ns;	/* it is there */
	uint64_t	 pl_forks;	/* of targets, until then */
	uint64_t	 pl_clock_ns;	/* run when timers moved to CPUs */
	/* The target's tasks, as /proc told last. */
	uint64_t	 pl_looked_ns;
	struct prof_turns *pl_turns;
	size_t		 pl_nturns;
};

/* Of the back end: nothing, made, to be started, recording, ended. */
enum prof_bpf_phase {
	PROF_BPF_LOADED, PROF_BPF_READY, PROF_BPF_RECORDING, PROF_BPF_PAUSED,
	PROF_BPF_STOPPED
};

struct prof_gap;
struct prof_drain;
struct prof_bpf_calls;

/* The back end of one session: shared maps and all instances. */
struct prof_bpf {
	struct prof_plan *bp_plan;
	const struct prof_events *bp_events;	/* the plan's */
	struct prof_err	*bp_error;		/* the plan's */
	enum prof_bpf_phase bp_phase;
	uint32_t	 bp_ncpus;	/* possible: size of per-CPU maps */
	uint32_t	 bp_nevents;
	uint32_t	 bp_room;	/* for so many events */
	int64_t		 bp_preempt_at;	/* as in struct prof_btf_core */
	uint64_t	 bp_ring_bytes;
	size_t		 bp_ring_stride;
	int		 bp_map[21];	/* shared maps, see load.c */
	int		 bp_slab;	/* the first, of tables; -1: none */
	struct dtp_stream *bp_streams;	/* mapped: [ncpus] */
	uint8_t		*bp_rings;	/* mapped, read-only */
	struct dtp_counts *bp_counts; /* mapped: [ncpus * room] */
	struct dtp_control *bp_control;	/* mapped */
	struct dtp_targets *bp_targets;	/* mapped */
	const struct dtp_group *bp_groups; /* mapped; NULL: none */
	const struct dtp_bucket *bp_buckets; /* mapped */
	uint32_t	 bp_ngroups;	/* slots; 0: nothing is aggregated */
	uint32_t	 bp_nbuckets;
	size_t		 bp_rings_bytes;
	size_t		 bp_nrings;
	/* [2 * room]: behind all, the second of two on a tracepoint */
	struct prof_instance *bp_instance;
	void		*bp_wakeup;	/* struct ring_buffer of libbpf */
	int		 bp_fds[2];	/* of bp_wakeup; of bp_wall, or -1 */
	int		 bp_stats_fd;	/* keeps statistics on; or -1 */
	struct prof_drain *bp_drain;
	struct prof_gap	*bp_gaps;	/* [ncpus * room] */
	uint64_t	 bp_looked_ns;	/* for gaps, last */
	struct prof_place bp_place;
	struct prof_wall *bp_wall;	/* NULL: there are no passes */
	struct prof_waited *bp_waited; /* of waits */
	struct prof_bpf_calls *bp_calls; /* NULL: none are recorded */
	struct prof_unwind *bp_unwind;	/* NULL: frame pointers do */
	struct prof_count *bp_own;	/* (ncpus + 1) * room; task */
	uint64_t	*bp_missed;	/* [room] */
	uint64_t	 bp_turns_ns;	/* when they were last looked at */
	bool		 bp_watches_turns;
	struct prof_instance bp_clocks;	/* of no event; empty: no spans */
};

/* ------------------------------------------------------------- load.c */

int	prof_bpf_load(struct prof_bpf *bpf);
/*
 * Call if an event cannot be opened.  If the kernel refuses an event of a
 * pattern, the event is marked, and the session goes on without it (returns 0).
 */
int	prof_bpf_refused(struct prof_bpf *bpf, struct prof_event *event);
/* -1: some events are marked as refused. */
int	prof_bpf_check_refused(const struct prof_bpf *bpf);
/* Load one more event; nothing is left of one that fails. */
int	prof_bpf_load_one(struct prof_bpf *bpf, struct prof_event *event);
/* The second instance of an event; without an object where there is none. */
struct prof_instance *prof_bpf_second(const struct prof_bpf *bpf,
	    const struct prof_event *event);
/* Bytes of a ring for process events: with a limit, most is for samples. */
uint64_t prof_bpf_lives_most(const struct prof_bpf *bpf);
void	prof_bpf_wakeup_clear(struct prof_bpf *bpf);
int	prof_bpf_values_fd(const struct prof_bpf *bpf);
int	prof_bpf_clocks_fd(const struct prof_bpf *bpf);
/* What prof_unwind_new wants; the first slab is given away. */
void	prof_bpf_unwind_fds(struct prof_bpf *bpf, int fds[PROF_UNWIND_FDS]);
void	prof_bpf_fini(struct prof_bpf *bpf);
const struct dtp_counts *prof_bpf_counts(const struct prof_bpf *bpf,
	    uint32_t cpu, uint32_t event);

/* Threads whose counts can wait for a sample at once. */
#define DTP_VALUES_TASKS	65536

/* ------------------------------------------------------------ stall.c */

/* Samples are stored for the next --max-stall. */
void	prof_stall_begin(struct prof_bpf *bpf);
int	prof_stall_look(struct prof_bpf *bpf);

/* ----------------------------------------------------------- values.c */

/* Can all counters count at the same time?  Before anything is started. */
int	prof_values_check(struct prof_bpf *bpf);
/* The first of the counters: of their groups it is the leader. */
bool	prof_values_is_first(const struct prof_bpf *bpf,
	    const struct prof_event *event);
/* Bit n: the kernel counts a switch in it after its tracepoint. */
uint32_t prof_values_ahead(const struct prof_bpf *bpf);
/* Groups on all CPUs, disabled, and known to the programs. */
int	prof_values_attach(struct prof_bpf *bpf);

/* ----------------------------------------------------------- clocks.c */

/* Threads that are in spans, for which there is room. */
#define PROF_BPF_CLOCKS	65536

/* Does a span begin or end at an event that is not detached? */
bool	prof_clocks_wanted(const struct prof_bpf *bpf);
/* Once the maps are there.  Nothing is done where no clocks are wanted. */
int	prof_clocks_load(struct prof_bpf *bpf);
int	prof_clocks_attach(struct prof_bpf *bpf);
/* Were there more threads than room? */
int	prof_clocks_note(struct prof_bpf *bpf);

/* ------------------------------------------------------------ waits.c */

/* Record unfinished waits when an event or the session ends. */
int	prof_waits_end_of(struct prof_bpf *bpf,
	    const struct prof_event *event);
int	prof_describe_waits(struct prof_bpf *bpf);
/* Of a back end: threads that are blocked now. */
int	prof_bpf_waiting(const void *state, prof_waiting_fn *fn, void *arg);
/* Of those that are recorded; after an awaited exec, or a pause, since then. */
uint64_t prof_bpf_begun_ns(const struct dtp_control *control);

/* -------------------------------------------------------- throttled.c */

int	prof_describe_throttled(struct prof_bpf *bpf);

/* ------------------------------------------------------------- wall.c */

/* Nothing is done where no event has passes. */
int	prof_wall_begin(struct prof_bpf *bpf);
void	prof_wall_free(struct prof_wall *wall);
/* Readable when a pass is due; -1: none ever is. */
int	prof_wall_fd(const struct prof_bpf *bpf);
/* A pass, if it is due. */
int	prof_wall_look(struct prof_bpf *bpf);
/* The record, or a copy of it, with its stacks; NULL: no memory. */
const struct dtp_rec *prof_wall_complete(struct prof_wall *wall,
	    const struct dtp_rec *rec);
int	prof_describe_wall(struct prof_bpf *bpf);

/* ----------------------------------------------------------- attach.c */

/* Add a descriptor to a list; -1: no memory. */
int	prof_fd_keep(int **fds, size_t *n, int fd);
/* Programs of everything but counters and timers. */
int	prof_bpf_attach(struct prof_bpf *bpf);
/* While it records: one more event that is loaded, and one no longer. */
int	prof_bpf_join(struct prof_bpf *bpf, const struct prof_event *event);
int	prof_bpf_part(struct prof_bpf *bpf, const struct prof_event *event);
int	prof_bpf_mapped(struct prof_bpf *bpf,
	    const struct prof_record *record);
void	prof_bpf_state(struct prof_bpf *bpf, enum dtp_state state);
void	prof_bpf_record(struct prof_bpf *bpf);
/* From here on, or no longer: who comes to a CPU, and when. */
int	prof_bpf_watch_turns(struct prof_bpf *bpf, bool on);
/* Timers begin on all CPUs; see co_clock_ns. */
void	prof_bpf_clock(struct prof_bpf *bpf);
/* Waits end here, and begin anew when it goes on. */
int	prof_bpf_pause(struct prof_bpf *bpf);
/* Disable, read the events' own counts, close, wait until all have left. */
int	prof_bpf_stop(struct prof_bpf *bpf);
void	prof_bpf_detach(struct prof_bpf *bpf);

/* --------------------------------------------------------- sampling.c */

/* Keep a counter's descriptor (closed on failure) until it is detached. */
int	prof_bpf_keep_perf(struct prof_bpf *bpf,
	    const struct prof_event *event, int fd, int cpu);
/* Before programs are loaded: -1 where an event has no counter here. */
int	prof_bpf_try(struct prof_bpf *bpf);
/* Counters and timers, made and not started, where place.c says. */
int	prof_sampling_attach(struct prof_bpf *bpf);
/* The same of one event while recording; and closed again. */
int	prof_sampling_join(struct prof_bpf *bpf,
	    const struct prof_event *event);
void	prof_sampling_part(struct prof_bpf *bpf,
	    const struct prof_event *event);
/* The capabilities that it needs while recording. */
uint64_t prof_sampling_caps(const struct prof_bpf *bpf);
int	prof_bpf_enable(struct prof_bpf *bpf);
int	prof_bpf_disable(struct prof_bpf *bpf);
/* What they have counted so far. */
void	prof_bpf_read(struct prof_bpf *bpf);
/* From now on an event's period is so many times the first, or as before. */
int	prof_bpf_change_rate(struct prof_bpf *bpf, uint32_t event,
	    uint64_t slower);
/* All go to where place.c says now.  1: they stay, the error says why. */
int	prof_bpf_move(struct prof_bpf *bpf);
/* Record which events had no counter of the PMU, since the look before. */
int	prof_bpf_turns(struct prof_bpf *bpf);

/* ----------------------------------------------------------- decode.c */

#define PROF_OBJECT_SIZE	256	/* a longer path ends in ... */

/* Takes records of the stream apart, one at a time. */
struct prof_stream {
	const struct prof_plan *sm_plan;
	uint32_t	*sm_parts;	/* DTP_P_* of each event */
	uint64_t	 sm_sums[DTP_MAX_VALUES];	/* of values read */
	struct prof_record sm_record;	/* the last one */
	char		 sm_strings[DTP_MAX_ARGS][DTP_STR_LEN + 1];
	char		 sm_object[DTP_OBJECT_ARGS][PROF_OBJECT_SIZE];
	char		 sm_comm[DTP_COMM_LEN + 1];
	char		 sm_path[DTP_PATH_LEN];
	uint64_t	 sm_user[DTP_MAX_UFRAMES + 1];	/* of a deep stack */
	uint64_t	 sm_turned[DTP_MAX_SCRIPT + 1];	/* of a deep one */
	uint64_t	 sm_script[DTP_MAX_SCRIPT];
};

/* 0, or -1: it is too short. */
int	prof_stream_decode(struct prof_stream *stream,
	    const struct dtp_rec *record);
/*
 * Its native frames are others than those before: script frames follow the
 * one that they stood for, or have no place.
 */
void	prof_stream_moved(struct prof_stream *stream, const uint64_t *before,
	    uint32_t nbefore);

/* ---------------------------------------------------------- waited.c */

struct prof_waited *prof_waited_new(void);
void	prof_waited_free(struct prof_waited *waited);
/* Each record, in order of time.  -1: no memory. */
int	prof_waited_observe(struct prof_waited *waited,
	    const struct prof_record *record);
/* Of a sample of a wait: make text of the arguments from this one on. */
void	prof_waited_take(const struct prof_waited *waited,
	    struct prof_stream *stream, uint32_t first);

/* ------------------------------------------------------------ drain.c */

struct prof_drain *prof_drain_new(struct prof_bpf *bpf);
/* One more event. */
void	prof_drain_add(struct prof_drain *drain,
	    const struct prof_event *event);
/*
 * See what has come to all CPUs: nothing older than *until_ns will.  Up to
 * handed_ns records were handed over: one that is older after all comes late.
 */
int	prof_drain_look(struct prof_drain *drain, uint64_t handed_ns,
	    uint64_t *until_ns);
/* See what has come, and only tell the host what samples there are. */
int	prof_drain_peek(struct prof_drain *drain);
/* Time of the oldest record that waits; UINT64_MAX: none. */
uint64_t prof_drain_next(const struct prof_drain *drain);
/* Hand over, in order of time, every record that is not younger. */
int	prof_drain_until(struct prof_drain *drain, uint64_t until_ns);
/* Largest share of a ring that was in use at the last look, in percent. */
unsigned prof_drain_fill(const struct prof_drain *drain);
/* Records taken of an event on a CPU. */
uint64_t prof_drain_read(const struct prof_drain *drain, uint32_t cpu,
	    uint32_t event);
/* Of them, those that came late. */
uint64_t prof_drain_late(const struct prof_drain *drain, uint32_t cpu,
	    uint32_t event);
/* Of all values of a counter that samples brought. */
uint64_t prof_drain_sum(const struct prof_drain *drain, uint32_t value);
/* How many user stacks ended otherwise after all; their sum is 0. */
int64_t	prof_drain_finished(const struct prof_drain *drain, uint32_t cpu,
	    uint32_t event, unsigned status);
/* After stop: nothing reserved is left. */
bool	prof_drain_empty(const struct prof_drain *drain);
void	prof_drain_free(struct prof_drain *drain);

/* ------------------------------------------------------------- gaps.c */

int	prof_gaps_init(struct prof_bpf *bpf);
/* LOST records for what was refused since the last look; after stop, all. */
int	prof_gaps_look(struct prof_bpf *bpf);

/* ---------------------------------------------------------- account.c */

int	prof_bpf_account(void *bpf, int cpu, struct prof_accounting *rows);
uint64_t prof_bpf_lost(const void *bpf);
void	prof_bpf_side(void *bpf, bool is_last, struct prof_side *side);

/* ----------------------------------------------------------- groups.c */

/* What was aggregated so far; -1: no memory. */
int	prof_groups_read(const struct prof_bpf *bpf,
	    struct prof_groups *groups);

/* ------------------------------------------------------------ calls.c */

/* System calls of the recording, by number, and those it knows already. */
struct prof_bpf_calls {
	struct prof_syscall *sc_call[DTP_MAX_SYSCALL];
	uint64_t	 sc_told[DTP_MAX_SYSCALL / 64];
};

/* Before recording: what samples of calls will mean. */
int	prof_calls_init(struct prof_bpf *bpf);
void	prof_calls_fini(struct prof_bpf *bpf);
/* Of a sample of a call: its arguments; a new call is described. */
int	prof_calls_take(struct prof_bpf *bpf,
	    const struct prof_event *event, struct prof_record *record);
/* At stop, while programs are attached, and after they have left. */
/*
 * Run a program of the event that looks at each thread, of a process or (0) of
 * all.  -1: errno.
 */
int	prof_bpf_iterate(const struct prof_bpf *bpf,
	    const struct prof_event *event, const char *name, uint32_t pid);
/* The same, of one thread.  One that is gone is no error. */
int	prof_bpf_iterate_thread(const struct prof_bpf *bpf,
	    const struct prof_event *event, const char *name, uint32_t tid);
/* Run those that are asked for, on the targets. */
int	prof_bpf_look(const struct prof_bpf *bpf);

int	prof_calls_count_of(struct prof_bpf *bpf,
	    const struct prof_event *event);
int	prof_describe_calls(struct prof_bpf *bpf);

/* ------------------------------------------------------------ place.c */

/* How many tasks targets have started so far. */
uint64_t prof_place_forks(const struct prof_bpf *bpf);
/* The threads of all targets; after they were entered. */
int	prof_place_list(const struct prof_bpf *bpf,
	    struct prof_pidset *tasks);
/* What a CPU samples, as events are now. */
void	prof_place_rates(struct prof_bpf *bpf);
/* Begin to look at the target; later on, choose. */
int	prof_place_begin(struct prof_bpf *bpf);
int	prof_place_choose(struct prof_bpf *bpf);
/* Opening on tasks failed, or (1) never ends: may CPUs be tried? */
bool	prof_place_give_up(struct prof_bpf *bpf, int rv);
/* While recording, from tasks to CPUs. */
bool	prof_place_may_move(const struct prof_bpf *bpf);
/* While recording: is it still cheaper so? */
int	prof_place_look(struct prof_bpf *bpf);
/* To all CPUs, for this reason. */
int	prof_place_move(struct prof_bpf *bpf, const char *why);
void	prof_place_fini(struct prof_place *place);

#endif /* BPF_IMPL_H */
