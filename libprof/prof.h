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
 * lint: long file, because whoever includes libprof includes one header.
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
	PROF_CALLGRAPH_AUTO,	/* the best there is for each sample */
	PROF_CALLGRAPH_DWARF	/* each stack copied, walked in user space */
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
	uint64_t	 po_stack_bytes; /* copied of a stack; 0: default */
	uint64_t	 po_unwind_bytes; /* of unwind tables; 0: default */
	int		 po_verify;	/* walk each stack both ways */
	const char	*po_note;	/* the first of the notes, or NULL */
	const char	*po_less;	/* the same in a few words */
	/*
	 * Of the time of all CPUs, in thousandths of a percent: what recording
	 * may cost before the rate is lowered.  0: any.
	 */
	uint64_t	 po_max_overhead;
};

struct prof_status {
	double		 ps_elapsed_s;	/* without pauses */
	int		 ps_is_paused;
	uint64_t	 ps_samples;	/* read from the streams */
	uint64_t	 ps_lost;	/* full + nested + error */
	uint64_t	 ps_file_bytes;
	int		 ps_targets_left; /* -1: not known */
	int		 ps_command_pid;  /* 0: there is no command */
	int		 ps_command_done; /* the command has ended */
	int		 ps_command_status; /* as wait(2) reports it */
	/* With po_max_overhead, known after stop: CPU time, and the rate. */
	double		 ps_recorder_s;
	double		 ps_programs_s;	/* below 0: not known */
	int		 ps_cpus;
	uint64_t	 ps_slower;	/* the rate was lowered to 1/n */
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
/*
 * No samples until resume; processes and mappings are still recorded.  A
 * firing under way in pause may yet be stored.  The text says why, or is "".
 */
int prof_session_pause(struct prof_session *session, const char *text);
int prof_session_resume(struct prof_session *session, const char *text);
int prof_session_stop(struct prof_session *session);
/* Frees it; stops first when needed. */
void prof_session_close(struct prof_session *session);
/* Notes for the user (what is missing and why), one a call; NULL: no more. */
const char *prof_session_note(const struct prof_session *session, size_t n);
const char *prof_session_output(const struct prof_session *session);

/* How the stack of a sample fared that was walked both ways (po_verify). */
enum prof_verify_kind {
	PROF_VERIFY_SAME,	/* every frame, to the same end */
	PROF_VERIFY_SHORT,	/* alike, as far as the copy goes */
	PROF_VERIFY_DOUBT,	/* the kernel's said that it guesses */
	PROF_VERIFY_EARLIER,	/* alike; libunwind ended earlier */
	PROF_VERIFY_FURTHER,	/* alike; the kernel's walk ended earlier */
	PROF_VERIFY_DIFFER	/* they went different ways */
};

/* What happened at one place; the frame is the last that both have. */
struct prof_verify_row {
	enum prof_verify_kind vr_kind;
	uint8_t		 vr_status;	/* of who ended, else the kernel's */
	const char	*vr_module;	/* file of that frame, or "" */
	uint64_t	 vr_address;	/* in that file */
	uint64_t	 vr_samples;
};

/* The n-th row, best kinds first; 0: no more.  Borrowed until close. */
int prof_session_verified(struct prof_session *session, size_t n,
    struct prof_verify_row *row);

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
int prof_check_run(size_t n, struct prof_check *check);

/* ------------------------------------------------------------- reader */

/* What became of a stack; the values of enum dtp_stack_status. */
enum prof_stack_status {
	PROF_STACK_NONE, PROF_STACK_OK, PROF_STACK_DEEP, PROF_STACK_FAULT,
	PROF_STACK_BUSY, PROF_STACK_NOPROC, PROF_STACK_NOMAP,
	PROF_STACK_NOMOD, PROF_STACK_NOROW, PROF_STACK_BADSP,
	PROF_STACK_SHORT, PROF_STACK_NSTATUS
};

#define PROF_MAX_ARGS	8
#define PROF_MAX_VALUES	8

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
	/*
	 * What counters (pi_counter) had counted for the thread since its
	 * sample before.  0: none, or known with a later sample
	 * only.  Where running is less than the whole time, values are of that
	 * part alone.
	 */
	uint32_t	 pr_nvalues;
	uint64_t	 pr_values[PROF_MAX_VALUES];
	uint64_t	 pr_values_ns;
	uint64_t	 pr_values_running_ns;
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
	int		 pi_is_counter;	/* samples of others bring its value */
	uint32_t	 pi_ncounters;	/* values that its samples bring ... */
	uint32_t	 pi_counter[PROF_MAX_VALUES]; /* ... of these events */
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
/*
 * Of an event's own count, what neither open intervals nor late timers
 * explain: what the kernel skipped, in the event's unit.  0 where periods
 * vary (by frequency), since the bound is not known then.
 */
uint64_t prof_accounting_hidden(const struct prof_event_info *info,
    const struct prof_accounting *accounting);

/* How the kernel stopped an event that came too fast. */
struct prof_throttled {
	uint64_t	 to_times;
	uint64_t	 to_ns;		/* summed over CPUs */
};

/* How long was recorded, pauses not counted, and these. */
struct prof_ran {
	uint64_t	 rn_ns;
	uint64_t	 rn_pauses;
	uint64_t	 rn_paused_ns;
};

void prof_reader_ran(const struct prof_reader *reader, struct prof_ran *ran);
/* For each of prof_reader_nevents, and how long was recorded; -1: no memory. */
int prof_reader_throttled(const struct prof_reader *reader,
    struct prof_throttled *by_event, uint64_t *span_ns);
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

/* ------------------------------------------------------------ symbols */

/* Why a place in the code has no name. */
enum prof_unnamed {
	PROF_NAMED,
	PROF_UNNAMED_NOPROC,	/* nothing is known about the process */
	PROF_UNNAMED_NOMAP,	/* outside of all mappings */
	PROF_UNNAMED_ANON,	/* no file behind it, and no map of a JIT */
	PROF_UNNAMED_NOFILE,	/* the file is gone, or it is another build */
	PROF_UNNAMED_NOSYM,	/* the file names no function there */
	PROF_UNNAMED_HIDDEN,	/* the kernel hid its addresses */
	PROF_UNNAMED_N
};

/*
 * A function.  Same number, same function of the same module; everything
 * that a module does not name is one function of its own.  Borrowed until
 * prof_symbols_close.
 */
struct prof_function {
	const char	*fu_name;	/* for people; never NULL */
	const char	*fu_raw;	/* as in the symbol table, or "" */
	const char	*fu_module;	/* path, or "[kernel]", "[vdso]", ... */
	uint64_t	 fu_address;	/* in the module, as its file counts */
	uint64_t	 fu_size;
	enum prof_unnamed fu_unnamed;
	int		 fu_is_kernel;
	int		 fu_is_inlined;	/* stands for an inlined copy */
};

/* A place in the code, as one line of source sees it. */
struct prof_line {
	const char	*ln_function;	/* for people */
	const char	*ln_file;	/* NULL: not known */
	unsigned	 ln_number;
};

struct prof_symbols_options {
	size_t		 so_size;	/* as po_size */
	const char	*so_debug_dirs;	/* a:b; NULL: where they usually are */
	int		 so_only_recorded; /* look at no other file */
};

#define PROF_PC_RETURN	1u	/* a return address: the call lies before */
#define PROF_PC_KERNEL	2u

struct prof_symbols;

/* The reader must outlive it; records may be read meanwhile. */
struct prof_symbols *prof_symbols_open(struct prof_reader *reader,
    const struct prof_symbols_options *options, struct prof_err *error);
/*
 * What a process had mapped at a time.  Same number, same mappings; so what
 * was said of a pc in it stays true.
 */
uint32_t prof_symbols_space(struct prof_symbols *symbols, uint32_t pid,
    uint64_t time_ns);
/* The number of the function there; never fails (see fu_unnamed). */
uint32_t prof_symbols_find(struct prof_symbols *symbols, uint32_t space,
    uint64_t pc, unsigned flags);
size_t prof_symbols_nfunctions(const struct prof_symbols *symbols);
const struct prof_function *prof_symbols_function(
    const struct prof_symbols *symbols, uint32_t n);
/* The same place as its file counts: 0, or -1 when no file is behind it. */
int prof_symbols_place(struct prof_symbols *symbols, uint32_t space,
    uint64_t pc, unsigned flags, const char **module, uint64_t *address);
/* The very file that was mapped there; NULL: gone, another build, none. */
const char *prof_symbols_file(struct prof_symbols *symbols, uint32_t space,
    uint64_t pc, unsigned flags);
/*
 * Lines, the innermost inlined function first, the function of the symbol
 * table last: how many, 0 when the file has none.  Borrowed as functions are.
 */
size_t prof_symbols_lines(struct prof_symbols *symbols, uint32_t space,
    uint64_t pc, unsigned flags, struct prof_line *lines, size_t max);
/* A function's number that stands for an inlined function of a module. */
uint32_t prof_symbols_inlined(struct prof_symbols *symbols, uint32_t in,
    const char *name);
/* Notes for the user (what has no names, why, the cure); NULL: no more. */
const char *prof_symbols_note(struct prof_symbols *symbols, size_t n);
void prof_symbols_close(struct prof_symbols *symbols);

/* ------------------------------------------------------------ profile */

/* What stands above the outermost function of a stack; may be combined. */
#define PROF_ROOT_COMM	1u
#define PROF_ROOT_PID	2u
#define PROF_ROOT_TID	4u
#define PROF_ROOT_CPU	8u

struct prof_profile_options {
	size_t		 pl_size;	/* as po_size */
	uint64_t	 pl_from_ns;	/* CLOCK_MONOTONIC, from here */
	uint64_t	 pl_to_ns;	/* to before here; 0: to the end */
	const char	*pl_filter;	/* as of prof_filter_new, or NULL */
	unsigned	 pl_roots;	/* PROF_ROOT_* */
	int		 pl_reverse;	/* the innermost function at the root */
	int		 pl_inlines;	/* inlined functions as frames */
	int		 pl_lines;	/* lines as frames, inlined too */
	uint64_t	 pl_cell_ns;	/* keep what was when; or 0 */
	/* Called now and then with the share done; nonzero gives up. */
	int		 (*pl_progress)(void *arg, double done);
	void		*pl_arg;
	int		 pl_places;	/* places in functions as frames */
};

/*
 * A node of the tree: a function called from the node pt_parent.  Node 0 is
 * the root; parents stand before their children, siblings in order of name.
 */
struct prof_tree_node {
	uint32_t	pt_parent;
	uint32_t	pt_label;	/* prof_profile_label */
};

/* What a node's name means. */
enum prof_label_kind {
	PROF_LABEL_ALL,		/* the root */
	PROF_LABEL_FUNCTION,
	PROF_LABEL_COMM, PROF_LABEL_PID, PROF_LABEL_TID, PROF_LABEL_CPU,
	PROF_LABEL_CUT,		/* callers beyond here are not known */
	PROF_LABEL_LINE,	/* file:line, lb_function is around it */
	PROF_LABEL_PLACE	/* function+0x12, lb_function is around it */
};

struct prof_label {
	enum prof_label_kind lb_kind;
	/* LINE: the function whose line it is; NULL: lb_function */
	const struct prof_function *lb_inner;
	const char	*lb_name;	/* never NULL */
	const char	*lb_module;	/* "" where there is none */
	const struct prof_function *lb_function; /* NULL: not a function */
	/* Of a place: as fu_address, and what prof_symbols_lines takes. */
	uint64_t	 lb_address;
	uint64_t	 lb_pc;
	uint32_t	 lb_space;
	unsigned	 lb_flags;
};

/*
 * Samples of a node in a cell of time, see pl_cell_ns (0: one cell is all);
 * by time, then node, then event.
 */
struct prof_cell {
	uint32_t	pc_cell;	/* from the first sample on */
	uint32_t	pc_node;
	uint32_t	pc_event;
	uint64_t	pc_samples;
	uint64_t	pc_weight;
};

/* How far an event's samples can be believed: shares from 0 to 1. */
struct prof_quality {
	uint64_t	pq_samples;
	uint64_t	pq_weight;
	/*
	 * As many samples of one weight would tell as much: what an interval
	 * of a share of the weight is made of.  No more than pq_samples.
	 */
	double		pq_effective;
	double		pq_complete;	/* of user stacks: to the entry */
	double		pq_unresolved;	/* of weight: innermost without name */
	double		pq_lost;	/* of fired: full, nested, error */
	double		pq_hidden;	/* of the count: unaccounted */
	double		pq_throttled;	/* of the time */
	double		pq_multiplexed;	/* of the time: not running */
	int		pq_is_bad;	/* believe with care */
	char		pq_text[512];	/* the same as one sentence */
};

struct prof_profile;

struct prof_profile *prof_profile_new(struct prof_reader *reader,
    struct prof_symbols *symbols, const struct prof_profile_options *options,
    struct prof_err *error);
size_t prof_profile_nnodes(const struct prof_profile *profile);
const struct prof_tree_node *prof_profile_nodes(
    const struct prof_profile *profile);
size_t prof_profile_nlabels(const struct prof_profile *profile);
const struct prof_label *prof_profile_label(
    const struct prof_profile *profile, uint32_t n);
/* By node: weight and samples that ended there; NULL: event has none. */
const uint64_t *prof_profile_self(const struct prof_profile *profile,
    size_t event);
const uint64_t *prof_profile_samples(const struct prof_profile *profile,
    size_t event);
/* Sums over the tree. */
uint64_t prof_profile_weight(const struct prof_profile *profile,
    size_t event);
uint64_t prof_profile_count(const struct prof_profile *profile,
    size_t event);
/* First sample, and the one past the last. */
void prof_profile_span(const struct prof_profile *profile,
    uint64_t *from_ns, uint64_t *to_ns);
const struct prof_cell *prof_profile_cells(
    const struct prof_profile *profile, size_t *n);
void prof_profile_quality(const struct prof_profile *profile, size_t event,
    struct prof_quality *quality);
void prof_profile_free(struct prof_profile *profile);

/* ----------------------------------------------------------- pictures */

/* What a flame graph shows of a profile. */
struct prof_flame_options {
	size_t		 fl_size;	/* as po_size */
	const char	*fl_title;	/* NULL: the recorded command */
	const size_t	*fl_events;	/* in this order; the first is shown */
	size_t		 fl_nevents;	/* 0: all that have samples */
	int		 fl_ratio;	/* colour by first over second */
	int		 fl_reverse;	/* it was made with pl_reverse */
	uint64_t	 fl_cell_ns;	/* pl_cell_ns of the profile */
	int		 fl_samples;	/* export: count samples, not weight */
};

/*
 * A page that needs nothing else, and a drawing: bytes, owned by the caller
 * (free), the same for the same recording.  NULL: error says why.
 */
char *prof_flame_html(const struct prof_profile *profile,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error);
char *prof_flame_svg(const struct prof_profile *profile,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error);

/* --------------------------------------------------------- difference */

/*
 * What was and what is, side 0 and side 1, as one tree of all frames of
 * both, from profiles of one run each.  With PROF_MIN_RUNS a side it says
 * which frames differ by more than chance; with fewer it claims nothing.
 */
struct prof_difference_options {
	size_t		 dp_size;	/* as po_size */
	uint64_t	 dp_seed;	/* of the permutations */
};

struct prof_difference;

struct prof_difference *prof_difference_new(
    const struct prof_difference_options *options, struct prof_err *error);
const struct prof_err *prof_difference_error(
    const struct prof_difference *difference);
/* The base's function or thread of this name is that one of the new side. */
int prof_difference_rename(struct prof_difference *difference,
    const char *old_name, const char *new_name);
/*
 * A run: the profile's samples of an event, which has the same name and unit
 * in all of them.  Things are called as in the run that has them first.  The
 * profile may be freed then.
 */
int prof_difference_add(struct prof_difference *difference, int side,
    uint32_t block, const struct prof_profile *profile, size_t event);
/* All is worked out here.  0, or -1. */
int prof_difference_finish(struct prof_difference *difference);
/* How the sides differ on the whole, as a sentence. */
const char *prof_difference_headline(
    const struct prof_difference *difference);
/* What makes one doubt it, one a call; NULL: no more. */
const char *prof_difference_note(const struct prof_difference *difference,
    size_t n);
/* As prof_flame_html and prof_flame_svg; title and reversal of options. */
char *prof_difference_html(const struct prof_difference *difference,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error);
char *prof_difference_svg(const struct prof_difference *difference,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error);
void prof_difference_free(struct prof_difference *difference);

/* ------------------------------------------------- other tools' files */

enum prof_export {
#define PROF_FORMAT(NAME, name) PROF_EXPORT_##NAME,
#include "formats.def"
#undef PROF_FORMAT
	PROF_EXPORT_NFORMATS
};

/* Bytes, as of prof_flame_html; of options what is said there of export. */
char *prof_export(const struct prof_profile *profile,
    enum prof_export format, const struct prof_flame_options *options,
    size_t *length, struct prof_err *error);

/* What to make a recording of, and where. */
struct prof_import_options {
	size_t		 im_size;	/* as po_size */
	const char	*im_input;	/* a file, or "-" */
	const char	*im_output;
};

struct prof_import;

/*
 * A recording made of another tool's file: perf.data, or folded stacks.  All
 * of it is done here; NULL: error says why, and there is no recording.
 */
struct prof_import *prof_import_new(
    const struct prof_import_options *options, struct prof_err *error);
uint64_t prof_import_samples(const struct prof_import *import);
/* What was not in the file, or could not be taken over; NULL: no more. */
const char *prof_import_note(const struct prof_import *import, size_t n);
void prof_import_free(struct prof_import *import);

/* --------------------------------------------------------------- text */

/*
 * The first character of a text that others chose: how many bytes, or 0 when
 * it is not well-formed UTF-8 (or not there).  is_plain: it may be shown as
 * it is; else it is malformed, or would act on what shows it.
 */
size_t prof_text_take(const char *text, uint32_t *code, int *is_plain);

/* ----------------------------------------------------------- counting */

/* Whose counts are kept apart. */
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
/* Targets or command: 1: go on, 0: they have ended, -1: failed. */
int prof_counting_wait(struct prof_counting *counting, int timeout_ms);
int prof_counting_stop(struct prof_counting *counting);
/* Look at all counters, counting or not. */
int prof_counting_read(struct prof_counting *counting);
size_t prof_counting_nevents(const struct prof_counting *counting);
const struct prof_counted_event *prof_counting_event(
    const struct prof_counting *counting, size_t event);
/* As of the last read or stop. */
void prof_counting_value(const struct prof_counting *counting, size_t event,
    struct prof_counted *value);
/* The events on a PMU, in the order added: how many fit at the same time. */
size_t prof_counting_fitting(struct prof_counting *counting);
/* With co_split, after stop. */
size_t prof_counting_ntasks(const struct prof_counting *counting);
const struct prof_counted_task *prof_counting_task(
    const struct prof_counting *counting, size_t n);
void prof_counting_status(struct prof_counting *counting,
    struct prof_counting_status *status);
/* Notes for the user, one a call; NULL: no more. */
const char *prof_counting_note(const struct prof_counting *counting,
    size_t n);
void prof_counting_close(struct prof_counting *counting);

/* --------------------------------------------------------- statistics */

/* What is known of a quantity after some measurements of it. */
struct prof_summary {
	size_t		 sm_n;
	double		 sm_mean;
	double		 sm_stddev;	/* of the sample; n < 2: 0 */
	double		 sm_median;
	int		 sm_has_ci;	/* n >= 2 */
	double		 sm_ci95[2];	/* where the mean lies, at 95 % */
};

/* 0, or -1 without memory. */
int prof_summarize(const double *values, size_t n,
    struct prof_summary *summary);

/* --------------------------------------------------------- comparison */

/*
 * Runs of what was and of what is, side 0 and side 1, and what can be said
 * of the difference.  The run is the unit; runs of a block were made next to
 * each other in an order drawn by chance, so what drifts meets both sides.
 *
 * What a comparison calls changed is wrong in at most 5 of 100 comparisons
 * of equals, over everything that it looks at: of these the first metric may
 * spend 1, other metrics 1, functions 3 (Holm's correction within each).
 */
#define PROF_MIN_RUNS	5	/* a side; fewer allow no verdict */

enum prof_verdict {
	PROF_VERDICT_FEW,	/* too few runs */
	PROF_VERDICT_OPEN,	/* inconclusive: see cg_runs_needed */
	PROF_VERDICT_SAME,	/* no change beyond the threshold */
	PROF_VERDICT_LESS,
	PROF_VERDICT_MORE
};

/* What a side has of a function. */
enum prof_presence {
	PROF_PRESENCE_NONE,
	PROF_PRESENCE_INLINED,	/* only inlined into others */
	PROF_PRESENCE_WHOLE
};

/*
 * A metric, with the change as a share of the base's median; or a function's
 * own cost, with the change as a share of the base's total cost.  NaN where
 * there is nothing to say.  Borrowed until prof_comparison_free.
 */
struct prof_change {
	const char	*cg_name;
	const char	*cg_module;	/* "": a metric */
	const char	*cg_unit;
	size_t		 cg_n[2];	/* runs */
	double		 cg_median[2];
	double		 cg_mean[2];
	double		 cg_change;	/* 0.03: 3 % more */
	double		 cg_ci95[2];	/* where the change lies, at 95 % */
	double		 cg_p;		/* permutations */
	double		 cg_p_holm;	/* corrected: what verdicts go by */
	double		 cg_q;		/* Benjamini-Hochberg: functions */
	double		 cg_p_rank;	/* Mann-Whitney */
	double		 cg_p_welch;
	double		 cg_delta;	/* Cliff's, from -1 to 1 */
	int		 cg_is_exact;	/* all permutations were looked at */
	enum prof_verdict cg_verdict;
	size_t		 cg_runs_needed; /* a side, about; 0: these do */
	double		 cg_smallest;	/* change that these runs can show */
	/* functions */
	double		 cg_share[2];	/* of its side's runs, mean */
	double		 cg_p_share;
	double		 cg_part;	/* of the change of the total */
	enum prof_presence cg_presence[2];
};

struct prof_comparison_options {
	size_t		 cp_size;	/* as po_size */
	double		 cp_threshold;	/* 0: 0.01 */
	uint64_t	 cp_seed;
	size_t		 cp_family;	/* comparisons made at once; 0: 1 */
	/* Called now and then with the share done; nonzero gives up. */
	int		 (*cp_progress)(void *arg, double done);
	void		*cp_arg;
};

struct prof_comparison;

struct prof_comparison *prof_comparison_new(
    const struct prof_comparison_options *options, struct prof_err *error);
const struct prof_err *prof_comparison_error(
    const struct prof_comparison *comparison);
/* A run, in the order of time within its side; its number, or -1. */
long prof_comparison_run(struct prof_comparison *comparison, int side,
    uint32_t block);
/* What a run had of a metric; the first metric named decides. */
int prof_comparison_value(struct prof_comparison *comparison, long run,
    const char *metric, const char *unit, double value);
/* What a function cost in a run; adds up.  Of side 0 it may be renamed. */
int prof_comparison_cost(struct prof_comparison *comparison, long run,
    const char *function, const char *module, int is_inlined, double cost);
/* Side 0's functions of this name are those of that name on side 1. */
int prof_comparison_rename(struct prof_comparison *comparison,
    const char *old_name, const char *new_name);
/* All that can be said is worked out here.  0, or -1. */
int prof_comparison_finish(struct prof_comparison *comparison);
size_t prof_comparison_nmetrics(const struct prof_comparison *comparison);
const struct prof_change *prof_comparison_metric(
    const struct prof_comparison *comparison, size_t n);
/* The sum over all functions; NULL: no run has functions. */
const struct prof_change *prof_comparison_total(
    const struct prof_comparison *comparison);
/* By how much they changed; those of 0.1 % and more were tested. */
size_t prof_comparison_nfunctions(const struct prof_comparison *comparison);
size_t prof_comparison_ntested(const struct prof_comparison *comparison);
const struct prof_change *prof_comparison_function(
    const struct prof_comparison *comparison, size_t n);
/* The values of a metric (or of the total: NULL) by run; how many runs. */
size_t prof_comparison_values(const struct prof_comparison *comparison,
    const char *metric, double *values, int *sides, size_t max);
/* What makes one doubt the runs, one a call; NULL: no more. */
const char *prof_comparison_note(const struct prof_comparison *comparison,
    size_t n);
void prof_comparison_free(struct prof_comparison *comparison);
/* Geometric mean of the changes of the first metric, and its interval. */
int prof_comparison_geomean(struct prof_comparison *const *comparisons,
    size_t n, double *change, double ci95[2]);
/* Numbers 0 to n - 1 in an order that the seed decides. */
void prof_shuffle(uint64_t seed, uint32_t *order, size_t n);
/* The build-id of a file in hexadecimal; "": it has none. */
void prof_build_id(const char *path, char *text, size_t size);
/* A name without what compilers add: .isra, .constprop, .part, .cold ... */
void prof_function_base_name(const char *name, char *base, size_t size);
/* "libc.so" of all libcs; of a program the last part of its path. */
void prof_module_base_name(const char *module, char *name, size_t size);

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
