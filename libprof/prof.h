/* SPDX-License-Identifier: ISC */
/*
 * libprof: record what the kernel samples, and read it back.
 *
 * Three handles.  A prof_session records: say what (prof_session_add_event),
 * arm it, start it, let it run, stop it, close it.  A prof_reader reads a
 * recording, also one that was cut short.  A prof_catalog lists the probes
 * of this machine.  libprof never prints and never exits; a failed call
 * returns -1 or NULL and leaves code, sentence and cure in its handle.
 *
 * A pointer handed out is borrowed from its handle until the call named at
 * the prototype; "owned" is said where the caller frees it.
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

/* ------------------------------------------------------------ session */

enum prof_target {
	PROF_TARGET_ALL,	/* every process (-a) */
	PROF_TARGET_PIDS,	/* processes and their descendants (-p) */
	PROF_TARGET_TIDS,	/* just these threads (-t) */
	PROF_TARGET_CGROUP,	/* a cgroup and those below (--cgroup) */
	PROF_TARGET_COMMAND	/* a child that we start (-- CMD) */
};

enum prof_callgraph {
	PROF_CALLGRAPH_NONE,	/* the interrupted pc alone */
	PROF_CALLGRAPH_FP,	/* frame pointers */
	PROF_CALLGRAPH_AUTO	/* the best that this build can do */
};

enum prof_path {
	PROF_PATH_AUTO,		/* BPF, else perf rings */
	PROF_PATH_BPF,
	PROF_PATH_PERF		/* own processes, user space, no BPF */
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
	enum prof_path	 po_path;
	int		 po_no_inherit;	/* one task, exactly */
	int		 po_include_self;
	int		 po_no_kernel;	/* user space only */
	int		 po_record_comm; /* comm in every sample */
};

struct prof_status {
	double		 ps_elapsed_s;
	uint64_t	 ps_samples;	/* read from the streams */
	uint64_t	 ps_lost;	/* full + nested + error */
	uint64_t	 ps_file_bytes;
	int		 ps_targets_left; /* -1: not known */
	int		 ps_command_pid;  /* 0: there is no command */
	int		 ps_command_done; /* the command has ended */
	int		 ps_command_status; /* as wait(2) reports it */
};

struct prof_session;

struct prof_session *prof_session_open(const struct prof_options *options,
    struct prof_err *error);
const struct prof_err *prof_session_error(const struct prof_session *session);
/* Add an event, or all that a glob means, by name; before arm. */
int prof_session_add_event(struct prof_session *session, const char *spec);
/* Create everything, disabled; all or nothing.  Starts the command, held. */
int prof_session_arm(struct prof_session *session);
int prof_session_start(struct prof_session *session);
/*
 * Drain for at most timeout_ms.  1: go on, 0: targets or command have ended,
 * -1: failed (stop still works).  Call it in a loop.
 */
int prof_session_run(struct prof_session *session, int timeout_ms);
/* A descriptor that is readable when prof_session_run has work to do. */
int prof_session_fd(const struct prof_session *session);
int prof_session_status(struct prof_session *session,
    struct prof_status *status);
/* A remark in the recording, now. */
int prof_session_mark(struct prof_session *session, const char *text);
int prof_session_stop(struct prof_session *session);
/* Frees it; stops first when needed. */
void prof_session_close(struct prof_session *session);
/* Notes for the user (what is missing and why), one a call; NULL: no more. */
const char *prof_session_note(const struct prof_session *session, size_t n);
const char *prof_session_output(const struct prof_session *session);

/* Send a remark to the running recordings of this user; how many took it. */
int prof_mark_send(int recorder_pid, const char *text,
    struct prof_err *error);

/* ------------------------------------------------------------- reader */

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
	PROF_R_KSYMBOL
};

/* What became of a stack; the values of enum dtp_stack_status. */
enum prof_stack_status {
	PROF_STACK_NONE, PROF_STACK_OK, PROF_STACK_DEEP, PROF_STACK_FAULT,
	PROF_STACK_BUSY, PROF_STACK_NOPROC, PROF_STACK_NOMAP,
	PROF_STACK_NOMOD, PROF_STACK_NOROW, PROF_STACK_BADSP,
	PROF_STACK_NSTATUS
};

#define PROF_MAX_ARGS	8

/* One record.  Pointers are borrowed until the next prof_reader_next. */
struct prof_record {
	enum prof_record_type pr_type;
	uint32_t	 pr_event;	/* index of struct prof_event_info */
	uint32_t	 pr_cpu;
	uint32_t	 pr_pid;
	uint32_t	 pr_tid;
	uint64_t	 pr_time_ns;	/* CLOCK_MONOTONIC */
	/* SAMPLE */
	int		 pr_in_kernel;
	int		 pr_nested;
	uint64_t	 pr_weight;
	uint64_t	 pr_ip;		/* innermost pc, 0: none recorded */
	uint32_t	 pr_nargs;
	uint64_t	 pr_args[PROF_MAX_ARGS];
	const char	*pr_strs[PROF_MAX_ARGS]; /* NULL: a number */
	uint32_t	 pr_nkernel;
	uint32_t	 pr_nuser;
	const uint64_t	*pr_kernel;	/* innermost first */
	const uint64_t	*pr_user;
	uint8_t		 pr_kstatus;	/* enum prof_stack_status */
	uint8_t		 pr_ustatus;
	const char	*pr_comm;	/* "": not recorded here */
	/* FORK: parent; EXEC: pr_ptid is the old tid */
	uint32_t	 pr_ppid;
	uint32_t	 pr_ptid;
	uint64_t	 pr_exec_id;	/* while recording only */
	/* EXIT: wait(2) status; last thread of its process */
	int		 pr_code;
	int		 pr_group_dead;
	/* EXEC: path.  MMAP: path.  MARK: text.  KSYMBOL: name */
	const char	*pr_path;
	/*
	 * LOST: firings of pr_event were refused on pr_cpu, from this time on
	 * until pr_time_ns; 0: it is records of the side band that were lost.
	 */
	uint64_t	 pr_addr;
	uint64_t	 pr_len;
	uint64_t	 pr_offset;
	uint32_t	 pr_prot;
	uint64_t	 pr_dev;
	uint64_t	 pr_ino;
	uint32_t	 pr_build_id_len;
	uint8_t		 pr_build_id[20];
};

/* One event of a recording.  Index 0 is proc: the lives of processes. */
struct prof_event_info {
	const char	*pi_name;	/* as the user wrote it */
	const char	*pi_probe;	/* provider:module:function:name */
	const char	*pi_provider;
	const char	*pi_unit;	/* of the weight: "ns", "events", ... */
	uint64_t	 pi_period;	/* 0: by frequency */
	uint64_t	 pi_frequency_hz;
	uint32_t	 pi_nargs;
	const char	*pi_arg_names[PROF_MAX_ARGS];
	const char	*pi_arg_types[PROF_MAX_ARGS];
	int		 pi_arg_is_str[PROF_MAX_ARGS];
	int		 pi_arg_is_signed[PROF_MAX_ARGS];
	int		 pi_is_syscall;	/* arg 0 is its number */
	uint32_t	 pi_parts;	/* DTP_P_* */
};

/*
 * The accounting of an event, summed over CPUs, or of one CPU.
 * fired = stored + full + nested + filtered + error, exactly.
 */
struct prof_accounting {
	uint64_t	 pa_fired, pa_stored, pa_full, pa_nested;
	uint64_t	 pa_filtered, pa_error;
	uint64_t	 pa_nested_stored, pa_self, pa_outside, pa_late;
	uint64_t	 pa_arg_fault;
	uint64_t	 pa_weight, pa_outside_weight;
	uint64_t	 pa_kstack[PROF_STACK_NSTATUS];
	uint64_t	 pa_ustack[PROF_STACK_NSTATUS];
	uint64_t	 pa_read;	/* records taken from the stream */
	uint64_t	 pa_written;	/* samples in the file */
	uint64_t	 pa_missed;	/* the kernel skipped the program */
	int		 pa_has_count;	/* the next four are known */
	uint64_t	 pa_count;	/* the event's own count */
	uint64_t	 pa_enabled_ns;
	uint64_t	 pa_running_ns;
	int64_t		 pa_unaccounted; /* count - weights that fired */
	uint64_t	 pa_bound;	/* |unaccounted| may reach it */
	uint64_t	 pa_instances;	/* kernel events behind it */
	uint64_t	 pa_lost_ring;	/* perf path: refused by a full ring */
};

struct prof_reader;

struct prof_reader *prof_reader_open(const char *path,
    struct prof_err *error);
/* The bytes stay the caller's and must outlive the reader. */
struct prof_reader *prof_reader_open_memory(const void *bytes, size_t length,
    struct prof_err *error);
const struct prof_err *prof_reader_error(const struct prof_reader *reader);
/* Everything in order of time.  1: a record, 0: the end, -1: failed. */
int prof_reader_next(struct prof_reader *reader, struct prof_record *record);
/* Begin again. */
int prof_reader_rewind(struct prof_reader *reader);
size_t prof_reader_nevents(const struct prof_reader *reader);
const struct prof_event_info *prof_reader_event(
    const struct prof_reader *reader, size_t n);
/* "machine.kernel", "command", ... ; NULL: not there. */
const char *prof_reader_info(const struct prof_reader *reader,
    const char *key);
/* The n-th key and value; 0: no more. */
int prof_reader_info_at(const struct prof_reader *reader, size_t n,
    const char **key, const char **value);
/* cpu -1: all.  0, or -1 when the recording has none. */
int prof_reader_accounting(const struct prof_reader *reader, size_t event,
    int cpu, struct prof_accounting *accounting);
/* CPUs with an accounting: the n-th id, or -1. */
int prof_reader_cpu(const struct prof_reader *reader, size_t n);
/* Ended without END: why and where; NULL: the recording is whole. */
const char *prof_reader_cut(const struct prof_reader *reader);
/* Samples that chunks in this file hold (those of damaged chunks not). */
uint64_t prof_reader_nsamples(const struct prof_reader *reader);
void prof_reader_close(struct prof_reader *reader);

/* ------------------------------------------------------------ filters */

struct prof_filter;

/* Compile for an event of a recording; error points at the column. */
struct prof_filter *prof_filter_new(const char *expression,
    const struct prof_event_info *event, struct prof_err *error);
/* comm: the thread's name at that time, or "" */
int prof_filter_matches(const struct prof_filter *filter,
    const struct prof_record *record, const char *comm);
void prof_filter_free(struct prof_filter *filter);

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
};

struct prof_catalog;

struct prof_catalog *prof_catalog_new(const char *glob,
    struct prof_err *error);
size_t prof_catalog_nprobes(const struct prof_catalog *catalog);
const struct prof_probe *prof_catalog_probe(
    const struct prof_catalog *catalog, size_t n);
/* Providers without probes here: the n-th name and reason; 0: no more. */
int prof_catalog_missing(const struct prof_catalog *catalog, size_t n,
    const char **provider, const char **reason);
void prof_catalog_free(struct prof_catalog *catalog);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* PROF_H */
