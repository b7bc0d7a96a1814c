/* SPDX-License-Identifier: ISC */
/*
 * What the files of a session share: session.c (states and public calls),
 * arm.c (all or nothing), host.c (takes what back ends hand over), targets.c
 * (who is recorded), command.c (the child we start), account.c.
 */
#ifndef SESSION_IMPL_H
#define SESSION_IMPL_H

#include <sys/resource.h>
#include <sys/types.h>

#include "backend/groups.h"
#include "backend/merge.h"
#include "base/error.h"
#include "base/record.h"
#include "broker/broker.h"
#include "events/event.h"
#include "control.h"
#include "filter/grouping.h"
#include "os/pidset.h"
#include "os/procfs.h"
#include "process/codes.h"
#include "process/kernel_names.h"
#include "process/symbolize.h"
#include "recording/sink.h"
#include "recording/write.h"
#include "spans/speculation.h"
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
	/* What it loads first, and its interval; NULL: nothing; borrowed */
	const char *cm_preload;
	uint64_t cm_interval;
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

/* ---------------------------------------------------------- targets.c */

/* Enter the targets, with all descendants when followed. */
int	prof_targets_seed(struct prof_session *session);
/* How many of the targets named are still there; -1: not known. */
int	prof_targets_left(struct prof_session *session);
int	prof_targets_check(struct prof_session *session);
/* A target that is awaited has not started yet. */
bool	prof_targets_await(const struct prof_session *session);
/*
 * While it is awaited: whose mappings may become its own, and has it started?
 * -1: the session's error says why.
 */
int	prof_targets_observe(struct prof_session *session,
	    const struct prof_record *record);

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
bool	prof_reread_is_due(struct prof_reread *reread,
	    const struct prof_record *sample);
/* After that: would the walk have come further with what is mapped? */
bool	prof_reread_is_unknown(struct prof_reread *reread,
	    const struct prof_record *sample);
int	prof_reread_now(struct prof_reread *reread, uint32_t pid,
	    uint64_t sample_ns);
/* How often a process was read, and how often something was lost. */
uint64_t prof_reread_times(const struct prof_reread *reread);
uint64_t prof_reread_losses(const struct prof_reread *reread);

/* -------------------------------------------------------------- gone.c */

struct prof_gone;
struct prof_gone *prof_gone_new(void);	/* NULL: no memory */
void	prof_gone_free(struct prof_gone *gone);
/* Once a round: forgets processes whose exit events were lost. */
int	prof_gone_look(struct prof_session *session);

/* ---------------------------------------------------------- dropped.c */

/* Samples of an event on a CPU that were read and then not passed on. */
struct prof_dropped {
	uint64_t	 dr_filtered;
	uint64_t	 dr_lost;
	uint64_t	 dr_kstack[DTP_S_NSTATUS];
	uint64_t	 dr_ustack[DTP_S_NSTATUS];
};

/* One more, by CPU; there are so many CPUs. */
void	prof_dropped_add(struct prof_dropped *dropped, size_t ncpus,
	    const struct prof_record *record, bool is_lost);
/* They are parts of a row as programs count it. */
void	prof_dropped_account(const struct prof_session *session, size_t event,
	    const struct prof_dropped *dropped, struct prof_accounting *row);

/* ----------------------------------------------------- stack_filter.c */

struct prof_filter;

/*
 * The part of an event's filter that compares stack, or NULL; taken over also
 * by a failure.  All others do nothing if no event has one.
 */
int	prof_stack_filter_set(struct prof_session *session,
	    const struct prof_event *event, struct prof_filter *of);
/* Do the samples have stacks? */
int	prof_stack_filter_check(struct prof_session *session);
/* mode: of processes. */
int	prof_stack_filter_open(struct prof_session *session, unsigned mode);
void	prof_stack_filter_ask(struct prof_session *session,
	    prof_noted_ask_fn *ask, void *arg);
void	prof_stack_filter_close(struct prof_session *session);
void	prof_stack_filter_free(struct prof_session *session);
/* Each record, before it is put; likewise mappings that were read anew. */
int	prof_stack_filter_know(struct prof_session *session,
	    const struct prof_record *record);
int	prof_stack_filter_renew(struct prof_session *session, uint32_t pid,
	    uint64_t time_ns);
/* Only where there is one: it goes to the sink at once, later, or never. */
int	prof_stack_filter_put(struct prof_session *session,
	    const struct prof_record *record);
/* A table of symbols; the argument is the session. */
int	prof_stack_filter_symbols(void *session, const void *body,
	    size_t length);
/* After each round.  Are there records that wait? */
int	prof_stack_filter_round(struct prof_session *session);
bool	prof_stack_filter_waits(const struct prof_session *session);
/* At the end: a note, if samples could not wait. */
int	prof_stack_filter_describe(struct prof_session *session);
/* Rows of a CPU as programs count them become those after the filter. */
void	prof_stack_filter_account(const struct prof_session *session, int cpu,
	    struct prof_accounting *rows);

/* ---------------------------------------------------------- account.c */

/* Write the accounting so far into the recording. */
int	prof_account_write(struct prof_session *session);
/* The same for a dump: what was not read yet is left out. */
int	prof_account_dump(struct prof_session *session);
/* Of one event, all CPUs; -1: no memory. */
int	prof_account_event(const struct prof_session *session, size_t event,
	    struct prof_accounting *sum);
/* Samples that were lost so far. */
uint64_t prof_account_lost(const struct prof_session *session);
/* Mapping and process events, by whichever way they were to come. */
void	prof_account_side(const struct prof_session *session, bool is_last,
	    struct prof_side *side);

/* --------------------------------------------------------- overhead.c */

/* Work that has a part of what may be used, and none of what others have. */
enum prof_paced {
	PROF_PACED_FIRST,	/* a process is read, or read again */
	PROF_PACED_REREAD,
	PROF_PACED_PUBLISH,
	PROF_NPACED
};

/* CPU time that may be used, less than 0: in debt, and as of when that is. */
struct prof_room {
	int64_t		 rm_ns;
	uint64_t	 rm_at_ns;
};

#define PROF_SPENT_LOOKS	20
#define PROF_SPENT_EVENTS	2	/* part of what is allowed: theirs */

/* What recording had cost since it began. */
struct prof_spent {
	uint64_t	 sp_at_ns;
	uint64_t	 sp_cost_ns;
	double		 sp_rates_ns;	/* of that, what a rate changes */
};

/* What recording has cost since it began, and by how much it was slowed. */
struct prof_overhead {
	bool		 ov_is_measured; /* the programs, too */
	bool		 ov_was_measured; /* to the end */
	unsigned	 ov_above;	/* looks in a row that found too much */
	uint64_t	 ov_looked_ns;
	uint64_t	 ov_recorder_from_ns;
	uint64_t	 ov_programs_from_ns;
	uint64_t	 ov_recorder_ns;
	uint64_t	 ov_programs_ns;
	/* Of each event, at the last look; those that were detached. */
	uint64_t	*ov_event_ns;
	uint64_t	*ov_added_ns;	/* the same, since the look before */
	size_t		 ov_nevents;
	uint64_t	 ov_clocks_ns;	/* of spans, at the last look */
	char		*ov_detached;	/* NULL: none */
	/* As it was at the last looks: those of more than ten seconds. */
	struct prof_spent ov_spent[PROF_SPENT_LOOKS];
	size_t		 ov_nlooks;
	double		 ov_share_max;	/* of all CPUs, in ten seconds */
	uint64_t	 ov_lives_ns;	/* of process events, likewise */
	uint64_t	 ov_handed_ns;	/* mg_spent_ns, at the last look */
	uint64_t	 ov_samples;	/* se_samples, then */
	uint64_t	 ov_records;	/* se_records, then */
	double		 ov_each_ns;	/* to hand over a record */
	double		 ov_rates_ns;	/* what would change with rates */
	/* rates.c */
	uint64_t	 ov_slower;	/* times the first period */
	uint64_t	 ov_slowest;	/* that it ever was */
	bool		 ov_is_uneven;	/* not all events are as slow */
	bool		 ov_was_uneven;	/* likewise, when slowest */
	bool		 ov_at_limit;	/* nothing can be slowed further */
	bool		 ov_has_failed;	/* the last change */
	bool		 ov_was_raised;	/* by the last change */
	size_t		 ov_calm;	/* looks, before rates are raised */
	size_t		 ov_raise_at;	/* number of a look, or later */
	/* pace.c */
	struct prof_room ov_room;
	struct prof_room ov_work[PROF_NPACED];
	uint64_t	 ov_paid_ns;	/* of the recorder */
	bool		 ov_was_cut;	/* a round, since the last look */
	bool		 ov_is_wanting;	/* parsers do not get on */
	bool		 ov_is_held;	/* process events are */
	bool		 ov_is_behind;	/* the last mark says so */
	unsigned	 ov_changed;	/* looks that it was not so */
	uint64_t	 ov_behind_ns;	/* time of looks with such rounds */
};

int	prof_overhead_begin(struct prof_session *session);
/* From time to time, while recording. */
int	prof_overhead_look(struct prof_session *session);
/* What was used of --max-overhead up to now; -1: failed. */
int	prof_overhead_budget(struct prof_session *session);
/* After the programs have ended. */
void	prof_overhead_end(struct prof_session *session);

/* -------------------------------------------------------------- rates.c */

void	prof_rates_begin(struct prof_overhead *overhead);
/* share: the cost, as a part of all CPUs. */
int	prof_rates_lower(struct prof_session *session, double share);
/* Raises a lowered rate if the cost allows. */
int	prof_rates_raise(struct prof_session *session);
/* Writes the lowest rate as text. */
void	prof_rates_text(const struct prof_overhead *overhead, char *text,
	    size_t size);
/*
 * Writes as text why a rate is lowered or a probe detached.  The cost can be
 * below the limit, because pace.c puts work off.
 */
void	prof_rates_cost(const struct prof_session *session, double share,
	    char *text, size_t size);
/* The back end that samples. */
const struct prof_source *prof_overhead_source(
	    const struct prof_session *session);
/* CPU time of the recorder and its children, since they began. */
uint64_t prof_overhead_recorder_ns(const struct prof_session *session);
void	prof_overhead_free(struct prof_overhead *overhead);

/* ----------------------------------------------------------- budget.c */

#define PROF_BUDGETS	4	/* limits of a recording */

/* A limit, and the most that was used of it; in use from the first on. */
struct prof_budget {
	char		 bu_name[24];	/* of its option; "": free */
	char		 bu_text[320];	/* as in the recording */
};

int	prof_budgets_say(struct prof_session *session);

/* ------------------------------------------------------------- pace.c */

/* What may be used in so much time, in nanoseconds of CPU time. */
double	prof_pace_allowed_ns(const struct prof_session *session,
	    uint64_t elapsed_ns);
void	prof_pace_begin(struct prof_session *session);
void	prof_pace_end(struct prof_session *session);
/* What a round may hand over for; UINT64_MAX: as much as there is. */
uint64_t prof_pace_round_ns(struct prof_session *session);
/*
 * Has this work time left, or much time where it is not urgent?  It then pays
 * for what it has used, and is told for how long one cause of such work should
 * not ask again.
 */
bool	prof_pace_may(struct prof_session *session, enum prof_paced work,
	    bool is_urgent);
uint64_t prof_pace_paid(struct prof_session *session, enum prof_paced work,
	    uint64_t spent_ns);
/* Of how many mappings at most a list may be read now. */
unsigned prof_pace_mappings(const struct prof_session *session);
/* What has cost most is no longer recorded: its debt is nobody else's. */
void	prof_pace_forgive(struct prof_session *session);
/* Which part of what is allowed is for events as things are now: one in ... */
unsigned prof_pace_part(const struct prof_session *session);
/* For how long less was done than there was to do. */
void	prof_pace_text(const struct prof_overhead *overhead, char *text,
	    size_t size);
/*
 * At a look: what the programs have used since, and of it those of process
 * events.  1: less was done than there was to do.
 */
int	prof_pace_look(struct prof_session *session, uint64_t elapsed_ns,
	    uint64_t programs_ns, uint64_t lives_ns);

/* -------------------------------------------------------------- arm.c */

/* Compile the filter for the events from this one on. */
int	prof_session_filters(struct prof_session *session, size_t from);
/* An interval ticks on one of the CPUs that are recorded. */
void	prof_session_ticking(const struct prof_session *session);
/* Into the recording: what samples of an event hold. */
int	prof_session_tell_event(struct prof_session *session,
	    const struct prof_event *event);

/* ----------------------------------------------------------- events.c */

/* Names of events may need a parser, and mean what targets have mapped. */
void	prof_session_names(struct prof_session *session);
/* There is a broker from here on; -1: none can be had. */
int	prof_session_broker(struct prof_session *session);
/* Resolve one more -e; all or nothing. */
int	prof_session_resolve(struct prof_session *session, const char *spec);
/* Back to so many events; -1. */
int	prof_session_forget(struct prof_session *session, size_t before);
/*
 * Drop the events of patterns that the back end has marked as refused, with a
 * note.  Returns false if there are none, or if a pattern has no event left.
 */
bool	prof_session_leave_out(struct prof_session *session);

/* -------------------------------------------------------------- arm.c */

/* In place of the descriptor, where a target's end wakes us. */
#define PROF_WOKEN_BY_TARGET	(-1)

/* Be woken when this process ends (pidfd, or -1). */
int	prof_session_watch_target(struct prof_session *session, int fd);
/* Give back everything that arm made; the file too, unless it was closed. */
void	prof_session_undo(struct prof_session *session);

/* ---------------------------------------------------------- attach.c */

/* Detach an event that records; when that was stands in the recording. */
int	prof_session_drop(struct prof_session *session,
	    const struct prof_source *source, struct prof_event *event);

/* --------------------------------------------------------- describe.c */

int	prof_options_copy(struct prof_options *to,
	    const struct prof_options *from, struct prof_err *error);
void	prof_options_free(struct prof_options *po);
/* The INFO of the recording. */
int	prof_describe(struct prof_session *session);
/* At the end: symbols of the noted addresses. */
int	prof_describe_names(struct prof_session *session);
/* While it records: of what was noted since the last time. */
int	prof_describe_symbols(struct prof_session *session);
/* Names of what was met in this round, where no recording will have them. */
bool	prof_session_names_now(const struct prof_session *session);
int	prof_describe_now(struct prof_session *session);
/* Names of script frames that are new; is_last: and what became of all. */
int	prof_describe_codes(struct prof_session *session, bool is_last);
int	prof_describe_files(struct prof_session *session);
/* At the end: what it cost, and the notes that came meanwhile. */
int	prof_describe_arguments(struct prof_session *session);
int	prof_describe_overhead(struct prof_session *session);
/* For the INFO of the recording. */
int	prof_describe_say(struct prof_session *session, const char *key,
	    const char *value);
/* At the end: what became of snapshots. */
int	prof_describe_snapshots(struct prof_session *session);

/* ------------------------------------------------------------ spans.c */

/* A span that the events of this session make; texts are owned. */
struct prof_session_span {
	char		*ss_name;
	char		*ss_begin;	/* numbers of events */
	char		*ss_end;
	char		*ss_key;	/* an argument; NULL: the thread */
	bool		 ss_is_shared;	/* by processes: the key is */
};

/* The INFO of the recording about them. */
int	prof_spans_describe(struct prof_session *session);
void	prof_span_free(struct prof_session_span *span);
void	prof_spans_fini(struct prof_session *session);

/* -------------------------------------------------------- speculate.c */

/* All do nothing without po_keep_if.  Can it be had with the rest? */
int	prof_speculate_check(struct prof_session *session);
/* Between the session and its sink. */
int	prof_speculate_open(struct prof_session *session);
/* After each round; after the last record. */
int	prof_speculate_round(struct prof_session *session);
int	prof_speculate_end(struct prof_session *session);
void	prof_speculate_status(const struct prof_session *session,
	    struct prof_status *status);
/* Bytes of samples that are held at most; 0: none are held. */
uint64_t prof_speculate_limit(const struct prof_session *session);
int	prof_speculate_shrink(struct prof_session *session, uint64_t bytes);
/* As prof_stack_filter_account. */
void	prof_speculate_account(const struct prof_session *session, int cpu,
	    struct prof_accounting *rows);
void	prof_speculate_close(struct prof_session *session);

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

struct prof_session {
	struct prof_err	 se_error;
	enum prof_state	 se_state;
	struct prof_options se_options;	/* deep copy */
	bool		 se_in_namespace; /* pid 0 is all who are outside */
	struct prof_names *se_names;
	struct prof_events se_events;	/* [0]: proc */
	struct prof_session_span *se_spans;
	size_t		 se_nspans;
	struct prof_plan se_plan;
	const struct prof_backend *se_backend; /* that brings samples */
	struct prof_merge se_merge;
	struct prof_noted *se_noted;	/* what names will be needed */
	struct prof_kernel_names *se_kernel_names; /* NULL: read kallsyms */
	struct prof_stack_filter *se_stack_filter; /* NULL: none */
	struct prof_speculation *se_speculation; /* NULL: keep all */
	struct prof_dropped *se_dropped;	/* of it, by event and CPU */
	size_t		 se_ndropped_cpus;
	struct prof_overhead se_overhead;
	struct prof_reread *se_reread;
	struct prof_gone *se_gone;
	struct prof_writer *se_writer;	/* NULL: there is no file */
	struct prof_dump *se_dumped;	/* the last that is done, or NULL */
	char		*se_next;	/* file to go on in; NULL: none */
	struct prof_err	 se_cut;	/* of prof_session_output_error */
	uint64_t	 se_file_from_ns; /* this file began; 0: with all */
	struct prof_sink se_sink;	/* where records go: se_writer's */
	bool		 se_has_sink;	/* or the caller's, and no file */
	struct prof_sink se_listener;	/* hears the same; or empty */
	const struct prof_grouping *se_grouping; /* NULL: samples */
	struct prof_control *se_control;
	struct prof_command se_command;
	struct prof_pidset se_pids;
	int		 se_epoll;
	int		 se_alarm;	/* timer: the next round is due */
	int		*se_target_fds;	/* pidfds of -p targets */
	size_t		 se_ntarget_fds;
	uint32_t	 se_target_pid;	/* it was awaited; 0: not there yet */
	uint64_t	 se_waited_ns;	/* from the start until it came */
	uint64_t	 se_flushed_ns;	/* last accounting written */
	uint64_t	 se_checked_ns;	/* targets last looked at */
	uint64_t	 se_round_ns;	/* the last round began */
	uint64_t	 se_samples;
	uint64_t	 se_records;	/* with them */
	uint64_t	 se_written;	/* known after stop */
	uint64_t	 se_last_ns;	/* of the last of them */
	uint64_t	 se_taken_ns;	/* of the last record but marks */
	uint64_t	 se_lost;	/* known after stop */
	uint64_t	 se_file_bytes;	/* known after stop */
	int		 se_wait_ms;	/* until the next round, adapted */
	uint64_t	 se_woken_ns;	/* last, by more than the alarm */
	struct prof_budget se_budget[PROF_BUDGETS];
	char		**se_notes;
	size_t		 se_nnotes;
	size_t		 se_nstamped;	/* of them in the recording */
};

/* Take what there is. */
int	prof_session_round(struct prof_session *session);
/* The recording begins here; -1 with the session's error. */
int	prof_session_begins(struct prof_session *session, uint64_t time_ns);
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
/* By this time it had exited, though no event told of it. */
int	prof_session_ended(struct prof_session *session, uint32_t pid,
	    uint64_t time_ns);
/* Sink of every record of a session; counts samples, learns of forks. */
int	prof_session_take(void *session, const struct prof_record *record);

/* ------------------------------------------------------------- dump.c */

/* Into what is written, of the session itself. */
int	prof_dump_mark(struct prof_session *session,
	    enum prof_record_type type, uint64_t time_ns);

/* ----------------------------------------------------------- rotate.c */

/* After a round: go on in the file that was asked for, if it is open. */
int	prof_rotation_look(struct prof_session *session);
void	prof_rotation_fini(struct prof_session *session);

/* ------------------------------------------------------------- host.c */

/* To the sink. */
int	prof_session_deliver(struct prof_session *session,
	    const struct prof_record *record);
/* A number for frames that no dictionary keeps; 0: there are none. */
uint64_t prof_frames_number(const uint64_t *frames, uint32_t n);
/* The sink refused something: why. */
int	prof_session_sink_failed(struct prof_session *session);
/* What back ends see of a session; their argument is the session. */
extern const struct prof_host prof_session_host;

#endif /* SESSION_IMPL_H */
