/* SPDX-License-Identifier: ISC */
/*
 * libprof: record what the kernel samples, and read it back.
 *
 * The handles.  A prof_session records: say what (prof_session_add_event),
 * arm it, start it, let it run, stop it, close it.  A prof_counting counts
 * in the same manner and samples nothing.  A prof_reader reads a
 * recording, also one that was cut short.  A prof_catalog lists the probes
 * of this machine; a prof_comparison says what changed between two sets of
 * runs, a prof_difference where in the tree of calls.  libprof never prints
 * and never exits; a failed call returns -1 or NULL and leaves code, sentence
 * and cure in its handle.
 *
 * Whoever includes libprof includes this; what is asked of recordings is in
 * prof_recording.h, what is made of them in prof_profile.h, and what changed
 * between runs in prof_compare.h.
 *
 * A pointer handed out is borrowed from its handle until the call named at
 * the prototype; "owned" is said where the caller frees it.
 *
 * For ten years.  A struct of options begins with its size: members that a
 * caller does not know are 0, and a library refuses what it does not know.  A
 * struct that the library fills comes with its size: the name without _sized
 * is a macro that passes it.  A struct that the library hands out grows at its
 * end: use it where it is, and copy its members, not the struct.  A struct
 * that comes in arrays, and struct prof_err, never grow.
 */
#ifndef PROF_H
#define PROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define PROF_VERSION_MAJOR	0
#define PROF_VERSION_MINOR	1

/* ------------------------------------------------------------- errors */

enum prof_code {
	PROF_OK = 0,
#define PROF_ERROR(name, text, cure) PROF_E_##name,
#include "errors.def"
#undef PROF_ERROR
	PROF_NCODES
};

/* One failure: what and why in pe_text, the cure in pe_cure (may be ""). */
struct prof_err {
	int	pe_code;	/* enum prof_code */
	char	pe_text[512];
	char	pe_cure[512];
};

const char *prof_code_name(int code);	/* "E_EVENT_UNKNOWN"; static */
const char *prof_code_text(int code);	/* static */
const char *prof_code_cure(int code);	/* static */
const char *prof_version(void);		/* "0.1"; static */

/* What a log callback is told; levels may be added. */
enum prof_log_level {
	PROF_LOG_NOTE		/* as prof_session_note: missing, and why */
};

/* ------------------------------------------------------------ session */

enum prof_target {
	PROF_TARGET_ALL,	/* every process (-a) */
	PROF_TARGET_PIDS,	/* processes and their descendants (-p) */
	PROF_TARGET_TIDS,	/* just these threads (-t) */
	PROF_TARGET_CGROUP,	/* a cgroup and those below (--cgroup) */
	PROF_TARGET_COMMAND,	/* a child that we start (-- CMD) */
	PROF_TARGET_NAME	/* the next that executes po_wait_for */
};

enum prof_callgraph {
	PROF_CALLGRAPH_NONE,	/* the interrupted pc alone */
	PROF_CALLGRAPH_FP,	/* frame pointers */
	PROF_CALLGRAPH_AUTO,	/* the best there is for each sample */
	PROF_CALLGRAPH_DWARF	/* each stack copied, walked in user space */
};

enum prof_backend_choice {
	PROF_BACKEND_AUTO,	/* BPF, else perf rings */
	PROF_BACKEND_BPF,
	PROF_BACKEND_PERF		/* user space, no BPF */
};

/* Where counters and timers sample; all CPUs, where tasks cannot be. */
enum prof_attach {
	PROF_ATTACH_AUTO,	/* whichever costs the target less */
	PROF_ATTACH_TASKS,	/* the target's threads */
	PROF_ATTACH_CPUS
};

/*
 * What to record.  po_size is sizeof(struct prof_options): a library that
 * knows more members takes the missing ones as 0.  Strings and arrays are
 * copied by prof_session_open.
 */
struct prof_options {
	size_t		 po_size;
	const char	*po_output;	/* file; NULL: "dtprof.dtp" */
	enum prof_target po_target;
	const int	*po_ids;	/* pids or tids */
	size_t		 po_nids;
	const char	*po_cgroup;
	const int	*po_cpus;	/* NULL: all that are online */
	size_t		 po_ncpus;
	/*
	 * The command, NULL-ended, or NULL.  With another target than
	 * PROF_TARGET_COMMAND the recording just lasts as long as it does.
	 */
	char *const	*po_argv;
	const char	*po_filter;	/* expression, or NULL */
	const char	*po_comm;	/* or NULL */
	uint64_t	 po_frequency_hz;  /* both 0: 999 Hz, or period 1 */
	uint64_t	 po_period;
	uint64_t	 po_buffer_bytes;  /* per CPU; 0: default */
	enum prof_callgraph po_callgraph;
	enum prof_backend_choice po_backend;
	int		 po_no_inherit;	/* one task, exactly */
	int		 po_include_self;
	int		 po_no_kernel;	/* user space only */
	int		 po_record_comm; /* comm in every sample */
	uint64_t	 po_stack_bytes; /* copied of a stack; 0: default */
	uint64_t	 po_unwind_bytes; /* of unwind tables; 0: default */
	int		 po_verify;	/* walk each stack both ways */
	const char	*po_note;	/* the first of the notes, or NULL */
	const char	*po_degraded;	/* the same in a few words */
	enum prof_attach po_attach;
	int		 po_start_paused; /* until prof_session_resume */
	/*
	 * Of the time of all CPUs, in thousandths of a percent: what recording
	 * may cost before the rate is lowered.  0: any.
	 */
	uint64_t	 po_max_overhead;
	/*
	 * Told of each note at once, by the thread that calls the library; or
	 * NULL.  The text is borrowed during the call.
	 */
	void		 (*po_log)(void *arg, enum prof_log_level level,
			    const char *text);
	void		*po_log_arg;
	/*
	 * Not 0: no file is written.  The newest samples are kept in so many
	 * bytes of memory, until prof_session_dump; none that is older than
	 * po_ring_ns, unless that is 0.
	 */
	uint64_t	 po_ring_bytes;
	uint64_t	 po_ring_ns;
	const char	*po_wait_for;	/* name of a file, without a path */
	uint64_t	 po_rotates;	/* 1: prof_session_rotate is called */
	/*
	 * Samples are held until their spans end, and only those of spans that
	 * match this expression are written.  NULL: all are.
	 */
	const char	*po_keep_if;
	/*
	 * With BPF: no samples are stored where nobody has called
	 * prof_session_run for so long, until it is called again.  0: they are.
	 */
	uint64_t	 po_max_stall_ns;
};

/*
 * What came of a prof_session_dump, or of a file that another follows; texts
 * are valid until the next one.
 */
struct prof_dumped {
	const char	*pd_path;
	const char	*pd_reason;
	struct prof_err	 pd_error;	/* PROF_OK: the file is on the disk */
	uint64_t	 pd_history_ns;	/* from its first sample to its end */
	uint64_t	 pd_samples;
	uint64_t	 pd_overwritten; /* since the start, older than those */
	uint64_t	 pd_bytes;
	uint64_t	 pd_unwritten;	/* samples: there was no room */
};

struct prof_status {
	double		 ps_elapsed_s;	/* without pauses */
	int		 ps_is_paused;
	uint64_t	 ps_samples;	/* read from the streams */
	uint64_t	 ps_written;	/* of these in the file; after stop */
	uint64_t	 ps_lost;	/* full + nested + error */
	uint64_t	 ps_side_stored; /* mapping and process events */
	uint64_t	 ps_side_lost;
	uint64_t	 ps_file_bytes;
	int		 ps_targets_left; /* -1: not known */
	int		 ps_command_pid;  /* 0: there is no command */
	int		 ps_command_done; /* the command has ended */
	int		 ps_command_status; /* as wait(2) reports it */
	/* With po_max_overhead, known after stop: CPU time, and the rate. */
	double		 ps_recorder_s;
	double		 ps_programs_s;	/* below 0: not known */
	int		 ps_cpus;
	uint64_t	 ps_slower;	/* lowest rate: 1/n of the first */
	/*
	 * Of PROF_TARGET_NAME, the process that is recorded; 0: it has not
	 * started yet.  If it never does, stop leaves no file.
	 */
	uint64_t	 ps_target_pid;
	/*
	 * With po_keep_if, samples of all events.  After stop, taken =
	 * committed + discarded + held_lost.
	 */
	uint64_t	 ps_taken;
	uint64_t	 ps_committed;
	uint64_t	 ps_discarded;
	uint64_t	 ps_held_lost;
	uint64_t	 ps_held_bytes;	/* in memory now */
	uint64_t	 ps_slower_now;	/* current rate: 1/n of the first */
};

struct prof_session;

struct prof_session *prof_session_open(const struct prof_options *options,
    struct prof_err *error);
const struct prof_err *prof_session_error(const struct prof_session *session);
/* Add an event, or all that a glob means, by name; before arm. */
int prof_session_add_event(struct prof_session *session, const char *spec);
/*
 * Behind the last event: a counter.  Each sample brings what it has counted
 * for the thread since the thread's sample before.
 */
int prof_session_add_counter(struct prof_session *session, const char *spec);
/*
 * Before the counters: a span, NAME=BEGIN[,END][,key=ARGUMENT].  Its events
 * are recorded without stacks, unless they were added already.
 */
int prof_session_add_span(struct prof_session *session, const char *spec);
/*
 * Create everything, disabled, or nothing.  Functions of a pattern that the
 * kernel refuses to probe are left out, and a note says so.  Starts the
 * command, which waits before its exec.
 */
int prof_session_arm(struct prof_session *session);
int prof_session_start(struct prof_session *session);
/*
 * After start: give up, for good, what the session does not need any more of
 * the capabilities of the calling thread and those that it will start.  For
 * programs that do nothing else; doc/PRIVILEGES.md says what stays.
 */
void prof_session_confine(struct prof_session *session);
/*
 * Drain for at most timeout_ms.  1: go on, 0: targets or command have ended,
 * -1: failed (stop still works).  Call it in a loop.
 */
int prof_session_run(struct prof_session *session, int timeout_ms);
/* A descriptor that is readable when prof_session_run has work to do. */
int prof_session_fd(const struct prof_session *session);
int prof_session_status_sized(struct prof_session *session,
    struct prof_status *status, size_t size);
#define prof_session_status(session, status)				\
	prof_session_status_sized(session, status, sizeof(*(status)))
/* A remark in the recording, now. */
int prof_session_mark(struct prof_session *session, const char *text);
/*
 * No samples until resume; processes and mappings are still recorded.  A
 * firing under way in pause may yet be stored.  The text says why, or is "".
 */
int prof_session_pause(struct prof_session *session, const char *text);
int prof_session_resume(struct prof_session *session, const char *text);
/*
 * While it records: one more event, or all that a glob means, whose samples
 * begin now; and an event, by its name, no longer.  At most 8 can be added;
 * needs BPF.
 */
int prof_session_attach(struct prof_session *session, const char *spec);
int prof_session_detach(struct prof_session *session, const char *name);
/*
 * With po_ring_bytes: make a recording of what is kept, for a reason, in the
 * background.  Nothing that is kept is given up for it.
 */
int prof_session_dump(struct prof_session *session, const char *path,
    const char *reason, uint64_t requested_ns);
/*
 * With po_ring_bytes or po_keep_if: keep only so many bytes from now on, for a
 * reason, which the recording has.  1; 0: no more are kept already.
 */
int prof_session_shrink(struct prof_session *session, uint64_t bytes,
    const char *why);
/*
 * Of a limit that the caller keeps, by the name of its option: the most that
 * was used of it, and what was done to keep it, or "none".  The recording has
 * the last words of each limit, and of po_max_overhead.
 */
int prof_session_budget(struct prof_session *session, const char *name,
    double limit, double used_max, const char *action);
/* The n-th of these, "NAME LIMIT USED_MAX ACTION"; NULL: there is none. */
const char *prof_session_budget_text(struct prof_session *session, size_t n);
/*
 * With po_rotates, while it records: end the file and go on in another, in the
 * background.  Each file is a whole recording of its time, and nothing is lost
 * between two.  A file that cannot be made changes nothing.
 */
int prof_session_rotate(struct prof_session *session, const char *path);
/*
 * With po_rotates: why the file takes no more, such as a full disk.  Samples
 * are then counted and dropped until there is another file.  NULL: it does.
 */
const struct prof_err *prof_session_output_error(
    struct prof_session *session);
/* A dump, or a file before another one, is done.  1; 0: none is. */
int prof_session_dumped_sized(struct prof_session *session,
    struct prof_dumped *dumped, size_t size);
#define prof_session_dumped(session, dumped)				\
	prof_session_dumped_sized(session, dumped, sizeof(*(dumped)))
int prof_session_stop(struct prof_session *session);
/* Frees it; stops first when needed. */
void prof_session_close(struct prof_session *session);
/* Notes for the user (what is missing and why), one a call; NULL: no more. */
const char *prof_session_note(const struct prof_session *session, size_t n);
/* The last one; valid until prof_session_rotate. */
const char *prof_session_output(const struct prof_session *session);

/* What stands in a recording. */
enum prof_record_type {
	PROF_R_SAMPLE = 1,
	PROF_R_FORK,
	PROF_R_EXEC,
	PROF_R_EXIT,
	PROF_R_COMM,
	PROF_R_TASK,		/* existed when the recording began */
	PROF_R_MMAP,
	PROF_R_MARK,
	PROF_R_START,
	PROF_R_STOP,
	PROF_R_THROTTLE,	/* the kernel stopped an event for a while */
	PROF_R_UNTHROTTLE,
	PROF_R_LOST,		/* pr_weight were lost, see pr_addr */
	PROF_R_KSYMBOL,
	PROF_R_PAUSE,		/* no samples from here */
	PROF_R_RESUME,		/* they go on */
	PROF_R_TURNS		/* since pr_addr, pr_weight ns not counted */
};

/*
 * Send a remark to the running recordings of this user; how many took it.
 * What: PROF_R_MARK, or PROF_R_PAUSE and PROF_R_RESUME, whose text may be "".
 */
int prof_mark_send(int recorder_pid, enum prof_record_type what,
    const char *text, struct prof_err *error);

/* ------------------------------------------------------------- doctor */

enum prof_check_state {
	PROF_CHECK_OK,
	PROF_CHECK_LESS,	/* something is lost without it */
	PROF_CHECK_NO		/* nothing goes without it */
};

/* One thing that this machine and process need, and whether it is there. */
struct prof_check {
	const char	*ck_name;	/* "bpf"; static */
	const char	*ck_loss;	/* what is lost without it; static */
	enum prof_check_state ck_state;
	struct prof_err	 ck_error;	/* pe_text: what was found */
};

/* Make the n-th check; 0: no more. */
int prof_check_run_sized(size_t n, struct prof_check *check, size_t size);
#define prof_check_run(n, check)					\
	prof_check_run_sized(n, check, sizeof(*(check)))

#include "prof_recording.h"
#include "prof_profile.h"
#include "prof_compare.h"

/* ----------------------------------------------------------- counting */

/* Whose counts are kept apart; of so many events at most. */
#define PROF_SPLIT_EVENTS	16
enum prof_split {
	PROF_SPLIT_NONE,
	PROF_SPLIT_PROCESS,
	PROF_SPLIT_THREAD
};

/* What to count; strings and arrays are copied by prof_counting_open. */
struct prof_counting_options {
	size_t		 co_size;	/* as po_size */
	enum prof_target co_target;
	const int	*co_ids;	/* pids or tids */
	size_t		 co_nids;
	const char	*co_cgroup;
	const int	*co_cpus;	/* NULL: all that are online */
	size_t		 co_ncpus;
	char *const	*co_argv;	/* as po_argv */
	int		 co_no_inherit;	/* the tasks, not their children */
	int		 co_no_kernel;	/* user space only */
	enum prof_split	 co_split;
	void		 (*co_log)(void *arg, enum prof_log_level level,
			    const char *text);	/* as po_log */
	void		*co_log_arg;
};

/* An event that is counted.  Borrowed until prof_counting_close. */
struct prof_counted_event {
	const char	*ce_name;	/* as the user wrote it */
	const char	*ce_probe;	/* provider:module:function:name */
	const char	*ce_unit;	/* "ns", "events", "Joules" */
	double		 ce_scale;	/* of the unit, in one count */
	int		 ce_group;	/* those of one group count together */
	int		 ce_is_hardware; /* takes a counter of a PMU */
};

/*
 * What an event counted since arm.  A PMU has few counters; events that do
 * not fit take turns, and then the count is an estimate for all the time.
 */
struct prof_counted {
	uint64_t	 cd_count;	/* while it had a counter */
	uint64_t	 cd_estimate;	/* cd_count when it always had one */
	uint64_t	 cd_enabled_ns;	/* the time in which it was to count */
	uint64_t	 cd_running_ns;	/* and in which it did */
	int		 cd_is_known;	/* 0: there is nothing to go by */
};

/* What a process or thread had of each event.  Borrowed until arm. */
struct prof_counted_task {
	uint32_t	 ck_pid;	/* 0: idle */
	uint32_t	 ck_tid;	/* 0: the whole process */
	const char	*ck_comm;
	const uint64_t	*ck_counts;	/* by event, unscaled */
	int		 ck_has_ended;
};

struct prof_counting_status {
	uint64_t	 ks_wall_ns;	/* while counting */
	uint64_t	 ks_user_ns;	/* of a command that has ended */
	uint64_t	 ks_system_ns;
	int		 ks_command_pid; /* 0: there is no command */
	int		 ks_command_done;
	int		 ks_command_status; /* as wait(2) reports it */
};

struct prof_counting;

struct prof_counting *prof_counting_open(
    const struct prof_counting_options *options, struct prof_err *error);
const struct prof_err *prof_counting_error(
    const struct prof_counting *counting);
/*
 * Add an event, or a group {a,b,c} whose events count at the same time or
 * not at all; tried on the spot, all or nothing; before arm.  Where the
 * kernel's side may not be counted, it is user space alone, and the name says
 * so: it ends in ":u".
 */
int prof_counting_add(struct prof_counting *counting, const char *spec);
/*
 * Create everything at 0, not counting; starts the command, held.  May be
 * called again, after stop, for another run of the same.
 */
int prof_counting_arm(struct prof_counting *counting);
/* Count.  After a stop: go on from there (without co_split). */
int prof_counting_start(struct prof_counting *counting);
/*
 * After start: give up, for good, the capabilities that reading and stopping
 * do not need; it cannot be armed again.  See prof_session_confine.
 */
void prof_counting_confine(const struct prof_counting *counting);
/* Targets or command: 1: go on, 0: they have ended, -1: failed. */
int prof_counting_wait(struct prof_counting *counting, int timeout_ms);
int prof_counting_stop(struct prof_counting *counting);
/* Look at all counters, counting or not. */
int prof_counting_read(struct prof_counting *counting);
size_t prof_counting_nevents(const struct prof_counting *counting);
const struct prof_counted_event *prof_counting_event(
    const struct prof_counting *counting, size_t event);
/* As of the last read or stop. */
void prof_counting_value_sized(const struct prof_counting *counting,
    size_t event, struct prof_counted *value, size_t size);
#define prof_counting_value(counting, event, value)			\
	prof_counting_value_sized(counting, event, value, sizeof(*(value)))
/* How many events on a PMU, in the order added, fit at once: when armed. */
size_t prof_counting_fitting(struct prof_counting *counting);
/* With co_split, after stop. */
size_t prof_counting_ntasks(const struct prof_counting *counting);
const struct prof_counted_task *prof_counting_task(
    const struct prof_counting *counting, size_t n);
void prof_counting_status_sized(struct prof_counting *counting,
    struct prof_counting_status *status, size_t size);
#define prof_counting_status(counting, status)				\
	prof_counting_status_sized(counting, status, sizeof(*(status)))
/* Notes for the user, one a call; NULL: no more. */
const char *prof_counting_note(const struct prof_counting *counting,
    size_t n);
void prof_counting_close(struct prof_counting *counting);

/* ------------------------------------------------------------ catalog */

/* One probe of this machine.  Borrowed until prof_catalog_free. */
struct prof_probe {
	const char	*pp_probe;	/* provider:module:function:name */
	const char	*pp_alias;	/* perf's name, or "" */
	const char	*pp_desc;	/* or "" */
	const char	*pp_why_not;	/* NULL: usable, else the reason */
	uint32_t	 pp_nargs;
	const char	*pp_arg_names[PROF_MAX_ARGS];
	const char	*pp_arg_types[PROF_MAX_ARGS];
	/*
	 * Of a probe in a program: "cheap", less than 1 us each time that it
	 * fires, or "trap", more, often much; NULL: not of this kind.
	 */
	const char	*pp_price;
};

struct prof_catalog;

struct prof_catalog *prof_catalog_new(const char *glob,
    struct prof_err *error);
/* The same; "uprobe:FILE:GLOB" means files that these processes have mapped. */
struct prof_catalog *prof_catalog_of_processes(const char *glob,
    const int *pids, size_t npids, struct prof_err *error);
size_t prof_catalog_nprobes(const struct prof_catalog *catalog);
const struct prof_probe *prof_catalog_probe(
    const struct prof_catalog *catalog, size_t n);
/* Providers without probes here: the n-th name and reason; 0: no more. */
int prof_catalog_missing(const struct prof_catalog *catalog, size_t n,
    const char **provider, const char **reason);
void prof_catalog_free(struct prof_catalog *catalog);

/* --------------------------------------- counters, read from inside */

/*
 * Counts one event in the thread that opens it, from then on.  That thread
 * reads it without a system call where processor and kernel allow that (on
 * arm64 by the sysctl kernel.perf_user_access); otherwise, and in other
 * threads and after fork, by a system call, with the same result.
 */
struct prof_counter;

struct prof_counter_value {
	uint64_t	 cr_count;	/* while it had a counter of the PMU */
	double		 cr_running;	/* share of the time in which it had */
	int		 cr_is_exact;	/* it always had: cr_running is 1 */
	int		 cr_is_direct;	/* read without a system call */
};

/* As prof_counting_add; a group or pattern is refused. */
struct prof_counter *prof_counter_open(const char *spec,
    struct prof_err *error);
/* -1: the kernel did not give the value, errno says why. */
int prof_counter_read_sized(struct prof_counter *counter,
    struct prof_counter_value *value, size_t size);
#define prof_counter_read(counter, value)				\
	prof_counter_read_sized(counter, value, sizeof(*(value)))
void prof_counter_close(struct prof_counter *counter);

/* ----------------------------------------------------------- counters */

/* A counter found by what it means.  Borrowed until prof_counters_free. */
struct prof_counter_info {
	const char	*pt_name;	/* what -e takes */
	const char	*pt_pmu;	/* "perf", "skx", "power" */
	const char	*pt_desc;
	const char	*pt_code;	/* "r20d1", or "" */
	const char	*pt_why_not;	/* NULL: usable here */
	int		 pt_can_sample;
	int		 pt_precise;	/* largest :p, 0: none */
};

struct prof_counters;

/*
 * Counters whose names and descriptions have all the words, the best first;
 * words NULL or "": all there are.  pmu NULL: of the PMUs of this machine,
 * else of those that libpfm4 knows by this name or glob.  Codes of PMUs that
 * are not here need LIBPFM_ENCODE_INACTIVE=1 in the environment.
 */
struct prof_counters *prof_counters_new(const char *words, const char *pmu,
    struct prof_err *error);
size_t prof_counters_n(const struct prof_counters *counters);
const struct prof_counter_info *prof_counters_at(
    const struct prof_counters *counters, size_t n);
/* Notes for the user, one a call; NULL: no more. */
const char *prof_counters_note(const struct prof_counters *counters,
    size_t n);
void prof_counters_free(struct prof_counters *counters);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* PROF_H */
