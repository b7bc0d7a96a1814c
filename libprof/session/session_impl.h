/* SPDX-License-Identifier: ISC */
/*
 * What the files of a session share: session.c (states and public calls),
 * backend/bpf/load.c (programs, maps, links), drain.c (streams to records),
 * targets.c (who is recorded), command.c (the child we start), account.c.
 */
#ifndef SESSION_IMPL_H
#define SESSION_IMPL_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/record.h"
#include "backend/bpf/publish/publish.h"
#include "backend/perf/rings.h"
#include "base/error.h"
#include "broker/broker.h"
#include "events/event.h"
#include "mark.h"
#include "os/procfs.h"
#include "process/codes.h"
#include "process/kernel_names.h"
#include "process/symbolize.h"
#include "recording/sink.h"
#include "recording/write.h"
#include "stacks/snapshot.h"

/* ---------------------------------------------------------- command.c */

/* A child that waits, before exec, until it is released. */
struct prof_command {
	pid_t	cm_pid;		/* 0: none */
	int	cm_pidfd;
	int	cm_go;		/* write end: released when written to */
	int	cm_failed;	/* read end: errno of a failed exec */
	int	cm_done;
	int	cm_status;	/* as wait(2) reports it */
};

void	prof_command_init(struct prof_command *command);
/* With this limit of open files; NULL: ours. */
int	prof_command_spawn(struct prof_command *command, char *const *argv,
	    const struct rlimit *open_files, struct prof_err *error);
/* Let it exec; -1 when the exec failed. */
int	prof_command_release(struct prof_command *command, const char *name,
	    struct prof_err *error);
/* Has it ended?  Reaps it. */
bool	prof_command_poll(struct prof_command *command);
/* A command that never began is killed; one that runs is left alone. */
void	prof_command_fini(struct prof_command *command);

/* ------------------------------------------------- backend/bpf/load.c */

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
	/* While others take over: how many there were, and what they had. */
	size_t		 in_before;
	uint64_t	 in_slower_before;
	uint64_t	 in_forks_next;
};

/* The kernel component of one session: shared maps and all instances. */
struct prof_bpf {
	uint32_t	 bp_ncpus;	/* possible: size of per-CPU maps */
	uint32_t	 bp_nevents;
	uint64_t	 bp_ring_bytes;
	size_t		 bp_ring_stride;
	int		 bp_map[16];	/* shared maps, see load.c */
	int		 bp_slab;	/* the first, of tables; -1: none */
	struct dtp_stream *bp_streams;	/* mapped: [ncpus] */
	uint8_t		*bp_rings;	/* mapped, read-only */
	const struct dtp_counts *bp_counts; /* mapped: [ncpus * nevents] */
	struct dtp_control *bp_control;	/* mapped */
	struct dtp_targets *bp_targets;	/* mapped */
	size_t		 bp_rings_bytes;
	size_t		 bp_nrings;
	/* [2 * nevents]: behind all, the second of two on a tracepoint */
	struct prof_instance *bp_instance;
	void		*bp_bell;	/* struct ring_buffer of libbpf */
};

/*
 * Bytes of stack in a snapshot.  With each sample: as perf's users expect;
 * where a walk needs help, which is seldom, and where walks are compared,
 * enough for deep stacks.
 */
static inline uint64_t
prof_stack_bytes(const struct prof_options *po, bool use_bpf)
{
	if (po->po_stack_bytes != 0)
		return (po->po_stack_bytes);
	if (po->po_verify)
		return (64512);
	return (use_bpf && po->po_callgraph == PROF_CALLGRAPH_AUTO ? 32768 :
	    16384);
}

struct prof_session;

int	prof_bpf_load(struct prof_session *session);
/* The second instance of an event; without an object where there is none. */
struct prof_instance *prof_bpf_second(const struct prof_bpf *bpf,
	    const struct prof_event *event);
int	prof_bpf_bell_fd(const struct prof_bpf *bpf);
void	prof_bpf_bell_clear(struct prof_bpf *bpf);
int	prof_bpf_values_fd(const struct prof_bpf *bpf);
/* What prof_unwind_new wants; the first slab is given away. */
void	prof_bpf_unwind_fds(struct prof_bpf *bpf, int fds[PROF_UNWIND_FDS]);
void	prof_bpf_fini(struct prof_bpf *bpf);
const struct dtp_counts *prof_bpf_counts(const struct prof_bpf *bpf,
	    uint32_t cpu, uint32_t event);

/* Threads whose counts can wait for a sample at once. */
#define DTP_VALUES_TASKS	65536

/* ----------------------------------------------------------- values.c */

/* From an event as it is sampled to one that is counted, or say why not. */
int	prof_values_make(struct prof_event *event, struct prof_err *error);
/* Can all counters count at the same time?  Before anything is started. */
int	prof_values_check(struct prof_session *session);
/* The first of the counters: of their groups it is the leader. */
bool	prof_values_is_first(const struct prof_session *session,
	    const struct prof_event *event);
/* Bit n: the kernel counts a switch in it after its tracepoint. */
uint32_t prof_values_ahead(const struct prof_session *session);
/* Groups on all CPUs, disabled, and known to the programs. */
int	prof_values_attach(struct prof_session *session);

/* ----------------------------------------------------------- attach.c */

/* Add a descriptor to a list; -1: no memory. */
int	prof_fd_keep(int **fds, size_t *n, int fd);
/* Programs of everything but counters and timers. */
int	prof_bpf_attach(struct prof_session *session);
void	prof_bpf_state(struct prof_bpf *bpf, enum dtp_state state);
void	prof_bpf_record(struct prof_session *session);
/* From here on, or no longer: who comes to a CPU, and when. */
int	prof_bpf_watch_turns(struct prof_session *session, bool on);
/* Timers begin on all CPUs; see co_clock_ns. */
void	prof_bpf_clock(struct prof_session *session);
int	prof_bpf_pause(struct prof_session *session);
/* Disable, read the events' own counts, close, wait until all have left. */
int	prof_bpf_stop(struct prof_session *session);
void	prof_bpf_detach(struct prof_bpf *bpf);

/* --------------------------------------------------------- sampling.c */

/* Keep a counter's descriptor (closed on failure) until it is detached. */
int	prof_bpf_keep_perf(struct prof_session *session,
	    const struct prof_event *event, int fd, int cpu);

/* Before programs are loaded: -1 where an event has no counter here. */
int	prof_bpf_try(struct prof_session *session);
/* Counters and timers, made and not started, where place.c says. */
int	prof_sampling_attach(struct prof_session *session);
/* The capabilities that it needs while recording. */
uint64_t prof_sampling_caps(const struct prof_session *session);
int	prof_bpf_enable(struct prof_session *session);
int	prof_bpf_disable(struct prof_session *session);
/* What they have counted so far. */
void	prof_bpf_read(struct prof_session *session);
/* From now on an event's period is so many times the first, or as before. */
int	prof_bpf_slow_down(struct prof_session *session, uint32_t event,
	    uint64_t slower);
/* All go to where place.c says now.  1: they stay, the error says why. */
int	prof_bpf_move(struct prof_session *session);
/* Record which events had no counter of the PMU, since the look before. */
int	prof_bpf_turns(struct prof_session *session);

/* ------------------------------------------------------------- wait.c */

/* Until all programs have ended that ran when this was called. */
int	prof_bpf_wait(struct prof_err *error);

/* ----------------------------------------------------------- decode.c */

/* Takes records of the stream apart, one at a time. */
struct prof_stream {
	struct prof_session *sm_session;
	uint32_t	*sm_parts;	/* DTP_P_* of each event */
	uint64_t	 sm_sums[DTP_MAX_VALUES];	/* of values read */
	struct prof_record sm_record;	/* the last one */
	char		 sm_strings[DTP_MAX_ARGS][DTP_STR_LEN + 1];
	char		 sm_comm[DTP_COMM_LEN + 1];
	char		 sm_path[DTP_PATH_LEN];
	uint64_t	 sm_user[DTP_MAX_UFRAMES + 1];	/* of a deep stack */
	uint64_t	 sm_script[DTP_MAX_SCRIPT];
};

/* 0, or -1: it is too short. */
int	prof_stream_decode(struct prof_stream *stream,
	    const struct dtp_rec *record);

/* ------------------------------------------------------------ drain.c */

struct prof_drain;
struct prof_drain *prof_drain_new(struct prof_session *session);
/*
 * One round over all CPUs: hands over, in order of time, every record that
 * no record yet to come can precede.  Returns how many, or -1.
 */
long	prof_drain_round(struct prof_drain *drain);
/* Everything up to this time has been handed over. */
uint64_t prof_drain_until(const struct prof_drain *drain);
/* Largest share of a ring that was in use at the last round, in percent. */
unsigned prof_drain_fill(const struct prof_drain *drain);
/* Records taken of an event on a CPU. */
uint64_t prof_drain_read(const struct prof_drain *drain, uint32_t cpu,
	    uint32_t event);
/* Of all values of a counter that samples brought. */
uint64_t prof_drain_sum(const struct prof_drain *drain, uint32_t value);
/* How many user stacks ended otherwise after all; their sum is 0. */
int64_t	prof_drain_finished(const struct prof_drain *drain, uint32_t cpu,
	    uint32_t event, unsigned status);
/* After stop: nothing reserved is left. */
bool	prof_drain_empty(const struct prof_drain *drain);
void	prof_drain_free(struct prof_drain *drain);

/* ---------------------------------------------------------- targets.c */

/* The thread groups we know to be recorded, for the sideband's sake. */
struct prof_pidset {
	uint32_t	*pt_slot;
	size_t		 pt_n;
	size_t		 pt_cap;	/* power of two */
};

bool	prof_pidset_has(const struct prof_pidset *set, uint32_t pid);
int	prof_pidset_add(struct prof_pidset *set, uint32_t pid);
void	prof_pidset_remove(struct prof_pidset *set, uint32_t pid);
void	prof_pidset_fini(struct prof_pidset *set);
/* The thread group of a thread, from /proc; 0: it has gone. */
uint32_t prof_group_of(int tid);
/* Enter the targets, with all descendants when followed. */
int	prof_targets_seed(struct prof_session *session);
/* How many of the targets named are still there; -1: not known. */
int	prof_targets_left(struct prof_session *session);
int	prof_targets_check(struct prof_session *session);

/* -------------------------------------------------------- side_band.c */

/* The perf rings of a session with BPF. */
int	prof_side_band_open(struct prof_session *session);

/* ------------------------------------------------------------ reread.c */

struct prof_reread;
struct prof_reread *prof_reread_new(struct prof_session *session);
void	prof_reread_free(struct prof_reread *reread);
/* All that a session takes but samples; -1: the error says why. */
int	prof_reread_observe(struct prof_reread *reread,
	    const struct prof_record *record);
/* Once a round: was something lost that no record tells of yet? */
void	prof_reread_look(struct prof_reread *reread);
/* Before the stack of a sample is walked: are its mappings to be read? */
bool	prof_reread_is_due(const struct prof_reread *reread,
	    const struct prof_record *sample);
/* After that: would the walk have come further with what is mapped? */
bool	prof_reread_is_unknown(const struct prof_reread *reread,
	    const struct prof_record *sample);
int	prof_reread_now(struct prof_reread *reread, uint32_t pid,
	    uint64_t sample_ns);
/* How often a process was read. */
uint64_t prof_reread_times(const struct prof_reread *reread);

/* ---------------------------------------------------------- account.c */

/* Write the accounting so far into the recording. */
int	prof_account_write(struct prof_session *session);
/* Samples that were lost so far. */
uint64_t prof_account_lost(const struct prof_session *session);
/* Mapping and process events, by whichever way they were to come. */
void	prof_account_side(const struct prof_session *session,
	    uint64_t *stored, uint64_t *lost);

/* ------------------------------------------------------------- gaps.c */

struct prof_gap;
int	prof_gaps_init(struct prof_session *session);
/* LOST records for what was refused since the last look; after stop, all. */
int	prof_gaps_look(struct prof_session *session);

/* ------------------------------------------------------------ calls.c */

/* System calls of the recording, by number, and those it knows already. */
struct prof_session_calls {
	struct prof_syscall *sc_call[DTP_MAX_SYSCALL];
	uint64_t	 sc_told[DTP_MAX_SYSCALL / 64];
};

/* Before recording: what samples of calls will mean. */
int	prof_calls_init(struct prof_session *session);
void	prof_calls_fini(struct prof_session *session);
/* Of a sample of a call: its arguments; a new call is described. */
int	prof_calls_take(struct prof_session *session,
	    const struct prof_event *event, struct prof_record *record);
/* At stop, while programs are attached, and after they have left. */
int	prof_calls_count_running(struct prof_session *session);
int	prof_describe_calls(struct prof_session *session);

/* ------------------------------------------------------------ place.c */

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

/* A task is counted exactly, and others do not inherit: -t, --no-inherit. */
bool	prof_place_is_exact(const struct prof_session *session);
/* How many tasks targets have started so far. */
uint64_t prof_place_forks(const struct prof_session *session);
/* The threads of all targets; after they were entered. */
int	prof_place_list(const struct prof_session *session,
	    struct prof_pidset *tasks);
/* Begin to look at the target; later on, choose. */
int	prof_place_begin(struct prof_session *session);
int	prof_place_choose(struct prof_session *session);
/* Opening on tasks failed, or (1) never ends: may CPUs be tried? */
bool	prof_place_give_up(struct prof_session *session, int rv);
/* While recording, from tasks to CPUs. */
bool	prof_place_may_move(const struct prof_session *session);
/* While recording: is it still cheaper so? */
int	prof_place_look(struct prof_session *session);
/* To all CPUs, for this reason. */
int	prof_place_move(struct prof_session *session, const char *why);
void	prof_place_fini(struct prof_place *place);

/* --------------------------------------------------------- overhead.c */

/* What recording has cost since it began, and by how much it was slowed. */
struct prof_overhead {
	int		 ov_stats_fd;	/* keeps statistics on; or -1 */
	bool		 ov_was_measured; /* the programs, too */
	bool		 ov_at_limit;	/* nothing can be slowed further */
	bool		 ov_is_uneven;	/* not all events are as slow */
	unsigned	 ov_above;	/* looks in a row that found too much */
	uint64_t	 ov_slower;	/* times the first period, or 0 */
	uint64_t	 ov_looked_ns;
	uint64_t	 ov_recorder_from_ns;
	uint64_t	 ov_programs_from_ns;
	uint64_t	 ov_recorder_ns;
	uint64_t	 ov_programs_ns;
};

int	prof_overhead_begin(struct prof_session *session);
/* In words, how far the rate was lowered. */
void	prof_overhead_text(const struct prof_overhead *overhead, char *text,
	    size_t size);
/* From time to time, while recording. */
int	prof_overhead_look(struct prof_session *session);
/* After the programs have ended. */
void	prof_overhead_end(struct prof_session *session);
void	prof_overhead_fini(struct prof_overhead *overhead);

/* -------------------------------------------------------------- arm.c */

/* In place of the descriptor, where a target's end wakes us. */
#define PROF_WOKEN_BY_TARGET	(-1)


/* Give back everything that arm made; the file too, unless it was closed. */
void	prof_session_undo(struct prof_session *session);

/* --------------------------------------------------------- describe.c */

int	prof_options_copy(struct prof_options *to,
	    const struct prof_options *from, struct prof_err *error);
void	prof_options_free(struct prof_options *po);
/* The INFO of the recording. */
int	prof_describe(struct prof_session *session);
/* After stop: what it took to walk stacks by tables. */
int	prof_describe_unwind(struct prof_session *session);
/* At the end: names of what was hit. */
int	prof_describe_names(struct prof_session *session);
/* Names of script frames that are new; is_last: and what became of all. */
int	prof_describe_codes(struct prof_session *session, bool is_last);
int	prof_describe_files(struct prof_session *session);
/* At the end: what it cost, and the notes that came meanwhile. */
int	prof_describe_overhead(struct prof_session *session);
/* For the INFO of the recording. */
int	prof_describe_say(struct prof_session *session, const char *key,
	    const char *value);
/* At the end: what became of snapshots. */
int	prof_describe_snapshots(struct prof_session *session);

/* ---------------------------------------------------------- session.c */

/*
 *	open        arm         start            stop          close
 *	----> INIT ----> ARMED ------> RECORDING -----> STOPPED ----->
 *				 pause ^ v resume  stop ^
 *					PAUSED ---------'
 *
 * One way only, but for pauses; an error in arm goes back to INIT with
 * everything undone.
 */
enum prof_state {
	PROF_INIT, PROF_ARMED, PROF_RECORDING, PROF_PAUSED, PROF_STOPPED
};

/* The kernel's own count of an event on a CPU: of instances that ended. */
struct prof_count {
	uint64_t	ct_value;
	uint64_t	ct_enabled_ns;
	uint64_t	ct_running_ns;
	uint32_t	ct_instances;
	uint64_t	ct_periods;	/* of the first; of all instances */
	uint64_t	ct_told_ns;	/* not counted, as TURNS say so far */
};

struct prof_session {
	struct prof_err	 se_error;
	enum prof_state	 se_state;
	struct prof_options se_options;	/* deep copy */
	bool		 se_use_bpf;
	bool		 se_in_namespace; /* pid 0 is all who are outside */
	struct prof_names *se_names;
	struct prof_events se_events;	/* [0]: proc; counters last */
	size_t		 se_nvalues;	/* counters among them */
	int		*se_online;	/* CPUs that are online: lives */
	size_t		 se_nonline;
	int		*se_cpus;	/* those of them that take samples */
	size_t		 se_ncpus;
	struct prof_bpf	 se_bpf;
	struct prof_drain *se_drain;
	struct prof_gap	*se_gaps;	/* [ncpus * nevents] */
	uint64_t	 se_looked_ns;	/* for gaps, last */
	struct prof_unwind *se_unwind;	/* NULL: frame pointers do */
	struct prof_snapshots *se_snapshots; /* NULL: none are taken */
	struct prof_hits *se_hits;	/* what names will be needed */
	struct prof_codes *se_codes;	/* of script frames */
	struct prof_broker *se_broker;	/* who reads files for us */
	struct prof_kernel_names *se_kernel_names; /* NULL: read kallsyms */
	struct prof_session_calls *se_calls; /* NULL: none are recorded */
	struct prof_overhead se_overhead;
	struct prof_place se_place;
	struct prof_rings *se_rings;
	struct prof_reread *se_reread;
	struct prof_writer *se_writer;
	struct prof_sink se_sink;	/* where records go: se_writer */
	struct prof_marks *se_marks;
	struct prof_command se_command;
	struct prof_pidset se_pids;
	struct prof_count *se_counts;	/* (ncpus + 1) * nevents; task */
	uint64_t	*se_missed;	/* [nevents] */
	uint64_t	 se_turns_ns;	/* when they were last looked at */
	int		 se_epoll;
	int		 se_alarm;	/* timer: the next round is due */
	int		*se_target_fds;	/* pidfds of -p targets */
	size_t		 se_ntarget_fds;
	uint64_t	 se_cgroup_id;
	uint32_t	 se_cgroup_level;
	uint64_t	 se_start_ns;
	uint64_t	 se_begun;	/* at the start, after each pause */
	uint64_t	 se_stop_ns;
	uint64_t	 se_pause_ns;	/* since when; 0: it records */
	uint64_t	 se_paused_ns;	/* in earlier pauses */
	uint64_t	 se_flushed_ns;	/* last accounting written */
	uint64_t	 se_checked_ns;	/* targets last looked at */
	uint64_t	 se_round_ns;	/* the last round began */
	uint64_t	 se_samples;
	uint64_t	 se_written;	/* known after stop */
	uint64_t	 se_last_ns;	/* of the last of them */
	uint64_t	 se_lost;	/* known after stop */
	uint64_t	 se_side_lost;	/* known after stop */
	bool		 se_side_is_wide; /* it hears more than the targets */
	uint64_t	 se_file_bytes;	/* known after stop */
	int		 se_wait_ms;	/* until the next round, adapted */
	uint64_t	 se_woken_ns;	/* last, by more than the alarm */
	char		**se_notes;
	size_t		 se_nnotes;
	size_t		 se_nstamped;	/* of them in the recording */
};

/* How long it recorded, without pauses. */
uint64_t prof_session_ran_ns(const struct prof_session *session);
/* Everything that the sideband tells of, up to this time. */
int	prof_session_catch_up(struct prof_session *session,
	    uint64_t until_ns);
/* For the user, and into the recording. */
int	prof_session_add_note(struct prof_session *session, const char *fmt,
	    ...) PROF_PRINTF(2, 3);
/*
 * The mappings of a process are read anew for a sample: forget those that are
 * known, then take each.  any_exec: an exec of it may have been missed.
 */
int	prof_session_renew(struct prof_session *session, uint32_t pid,
	    uint64_t sample_ns, bool any_exec);
int	prof_session_take_read(struct prof_session *session,
	    const struct prof_record *record, uint64_t sample_ns);
/* Sink of every record of a session; counts samples, learns of forks. */
int	prof_session_take(void *session, const struct prof_record *record);
/* Is it recorded for its first argument's task, not for the current one? */
bool	prof_event_is_about(const struct prof_session *session,
	    const struct prof_event *event);
uint32_t prof_event_parts(const struct prof_session *session,
	    const struct prof_event *event);
/* At most so many samples a second on a CPU, without copies; 0: not known. */
uint64_t prof_events_rate(const struct prof_session *session);

#endif /* SESSION_IMPL_H */
