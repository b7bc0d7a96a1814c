/* SPDX-License-Identifier: ISC */
/*
 * What is asked of recordings: what is in them, names for it, and spans.
 * A part of prof.h, which includes it.
 */
#ifndef PROF_H
#error "include prof.h"
#endif

/* ------------------------------------------------------------- reader */

/* How unwinding a stack ended; the values of enum dtp_stack_status. */
enum prof_stack_status {
	PROF_STACK_NONE, PROF_STACK_OK, PROF_STACK_DEEP, PROF_STACK_FAULT,
	PROF_STACK_BUSY, PROF_STACK_NOPROC, PROF_STACK_NOMAP,
	PROF_STACK_NOMOD, PROF_STACK_NOROW, PROF_STACK_BADSP,
	PROF_STACK_SHORT, PROF_STACK_NOSCRIPT, PROF_STACK_NSTATUS
};

#define PROF_STACK_SLOTS	16	/* with room for more */
#define PROF_MAX_ARGS	8
#define PROF_MAX_VALUES	8

/*
 * What stands in a recording: an entry, whose type says which of the others it
 * has.  All are borrowed until the next prof_reader_next, and NULL where they
 * do not belong to the type.  Types are added: skip those that you do not know.
 */
struct prof_entry {
	enum prof_record_type en_type;
	uint32_t	 en_event;	/* SAMPLE, LOST, TURNS: its index */
	uint64_t	 en_time_ns;	/* CLOCK_MONOTONIC */
	uint32_t	 en_cpu;
	uint32_t	 en_pid;
	uint32_t	 en_tid;
	const struct prof_entry_sample *en_sample;	/* SAMPLE */
	const struct prof_entry_process *en_process;
					/* FORK, EXEC, EXIT, COMM, TASK */
	const struct prof_entry_mapping *en_mapping;	/* MMAP, KSYMBOL */
	const struct prof_entry_lost *en_lost;		/* LOST, TURNS */
	const char	*en_text;	/* MARK, PAUSE, RESUME */
};

struct prof_entry_sample {
	uint64_t	 es_weight;
	uint64_t	 es_ip;		/* innermost pc, 0: none recorded */
	int		 es_in_kernel;
	int		 es_nested;
	enum prof_stack_status es_kstatus;
	enum prof_stack_status es_ustatus;
	uint32_t	 es_nkernel;
	uint32_t	 es_nuser;
	const uint64_t	*es_kernel;	/* innermost first */
	const uint64_t	*es_user;
	/*
	 * Script frames beside those of es_user, innermost first, a word
	 * each (prof_frame_unpack); prof_symbols_stack merges both.
	 */
	uint32_t	 es_nscript;
	const uint64_t	*es_script;
	uint32_t	 es_nargs;
	const uint64_t	*es_args;
	const char	*const *es_strs; /* by argument; NULL: a number */
	const char	*es_comm;	/* "": not recorded here */
	/*
	 * What counters (pi_counter) had counted for the thread since its
	 * sample before.  0: none, or known with a later sample only.  Where
	 * running is less than the whole time, values are of that part alone.
	 */
	uint32_t	 es_nvalues;
	const uint64_t	*es_values;
	uint64_t	 es_values_ns;
	uint64_t	 es_values_running_ns;
};

struct prof_entry_process {
	uint32_t	 ep_ppid;	/* FORK: the parent */
	uint32_t	 ep_ptid;	/* and its thread; EXEC: the old tid */
	int		 ep_status;	/* EXIT: as of wait(2), -1: unknown */
	int		 ep_is_last;	/* EXIT: last thread of its process */
	const char	*ep_comm;	/* COMM, EXEC, TASK */
	const char	*ep_path;	/* EXEC */
};

struct prof_entry_mapping {
	uint64_t	 em_addr;
	uint64_t	 em_len;
	uint64_t	 em_offset;
	uint64_t	 em_dev;
	uint64_t	 em_ino;
	uint32_t	 em_prot;
	uint32_t	 em_build_id_len; /* 0: not known */
	const uint8_t	*em_build_id;
	const char	*em_path;	/* KSYMBOL: the name */
};

struct prof_entry_lost {
	uint64_t	 el_count;	/* LOST; TURNS: ns not counted */
	/* Since when; 0: mapping and process events were lost. */
	uint64_t	 el_since_ns;
};

#define PROF_CALL_ARGS	6

/* A system call. */
struct prof_syscall {
	const char	*cl_name;	/* "openat" */
	int		 cl_args_known;
	uint32_t	 cl_nargs;
	const char	*cl_arg_names[PROF_CALL_ARGS];
	const char	*cl_arg_types[PROF_CALL_ARGS];
	uint8_t		 cl_arg_size[PROF_CALL_ARGS];	/* bytes */
	int		 cl_arg_is_signed[PROF_CALL_ARGS];
};

/* One event of a recording.  Index 0 is proc: process events. */
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
	/* A whole call: args are number, result, its own; weight 0: unknown */
	int		 pi_is_call;
	/* Of such events: calls that the recording describes, by number. */
	const struct prof_syscall *const *pi_calls;	/* NULL: not this one */
	uint32_t	 pi_ncalls;
	uint32_t	 pi_parts;	/* DTP_P_* */
	int		 pi_is_counter;	/* samples of others bring its value */
	int		 pi_is_of_span;	/* it only begins or ends spans */
	uint32_t	 pi_ncounters;	/* values that its samples bring ... */
	uint32_t	 pi_counter[PROF_MAX_VALUES]; /* ... of these events */
	int		 pi_is_derived; /* elapsed: samples in profiles alone */
};

/* As unaccounted_bound: none is known. */
#define PROF_BOUND_NONE	UINT64_MAX

/*
 * The accounting of an event, summed over CPUs, or of one CPU.  The members
 * are the rows of counters.def, which says what each counts.
 */
struct prof_accounting {
	int		 pa_has_count;	/* counters of role COUNT are known */
	uint64_t	 pa_kstack[PROF_STACK_SLOTS]; /* by status */
	uint64_t	 pa_ustack[PROF_STACK_SLOTS];
#define PROF_COUNTER(bit, name, type, role, source, text) type pa_##name;
#include "counters.def"
};

struct prof_reader;

struct prof_reader *prof_reader_open(const char *path,
    struct prof_err *error);
/* The bytes stay the caller's and must outlive the reader. */
struct prof_reader *prof_reader_open_memory(const void *bytes, size_t length,
    struct prof_err *error);
const struct prof_err *prof_reader_error(const struct prof_reader *reader);
/* Everything in order of time.  1: an entry, 0: the end, -1: failed. */
int prof_reader_next(struct prof_reader *reader,
    const struct prof_entry **entry);
/* Begin again. */
int prof_reader_rewind(struct prof_reader *reader);
size_t prof_reader_nevents(const struct prof_reader *reader);
const struct prof_event_info *prof_reader_event(
    const struct prof_reader *reader, size_t n);
/*
 * Add the event elapsed: waits and running time.  Profiles made later have its
 * samples in place of those of its parts.  The number of the event, or -1.
 */
int prof_reader_elapsed(struct prof_reader *reader);
/* "machine.kernel", "command", ... ; NULL: not there. */
const char *prof_reader_info(const struct prof_reader *reader,
    const char *key);
/* The n-th key and value; 0: no more. */
int prof_reader_info_at(const struct prof_reader *reader, size_t n,
    const char **key, const char **value);
/* Who number 0 is: the idle tasks, or all outside a PID namespace.  Static. */
const char *prof_reader_task_0(const struct prof_reader *reader);
/* The system call of a sample; NULL: it is none, or has no name. */
const struct prof_syscall *prof_event_call(const struct prof_event_info *info,
    const struct prof_entry *entry);
/* The argument of this name that a sample has; -1: it has none. */
int prof_event_argument(const struct prof_event_info *info,
    const struct prof_entry *entry, const char *name);
/* cpu -1: all.  0, or -1 when the recording has none. */
int prof_reader_accounting_sized(const struct prof_reader *reader,
    size_t event, int cpu, struct prof_accounting *accounting, size_t size);
#define prof_reader_accounting(reader, event, cpu, accounting)		\
	prof_reader_accounting_sized(reader, event, cpu, accounting,	\
	    sizeof(*(accounting)))
/*
 * Mapping and process events that were lost: addresses of processes that they
 * belonged to may have no names or wrong ones.
 */
uint64_t prof_reader_side_lost(const struct prof_reader *reader);
/* Those that were not. */
uint64_t prof_reader_side_stored(const struct prof_reader *reader);
/* Of samples that were wanted, those not stored: full, nested, error. */
uint64_t prof_accounting_lost(const struct prof_accounting *accounting);
/*
 * The one definition of a lost share: lost / (stored + lost).  What a filter
 * refused was not wanted, so it is in neither.
 */
double prof_lost_share(uint64_t stored, uint64_t lost);
/*
 * Of an event's own count, what neither open intervals nor late timers
 * explain: what the kernel skipped, in the event's unit.  0 where periods
 * vary (by frequency), and where no bound is known.
 */
uint64_t prof_accounting_unaccounted(const struct prof_event_info *info,
    const struct prof_accounting *accounting);

/* How the kernel stopped an event that came too fast. */
struct prof_throttled {
	uint64_t	 to_times;
	uint64_t	 to_ns;		/* summed over CPUs */
};

/* How long was recorded, pauses not counted, and these. */
struct prof_ran {
	uint64_t	 rn_ns;
	int		 rn_is_known;	/* 0: without start, or cut short */
	uint64_t	 rn_pauses;
	uint64_t	 rn_paused_ns;
};

/* For each of prof_reader_nevents, and of all; -1: no memory. */
int prof_reader_throttled_sized(const struct prof_reader *reader,
    struct prof_throttled *by_event, struct prof_ran *ran, size_t size);
#define prof_reader_throttled(reader, by_event, ran)			\
	prof_reader_throttled_sized(reader, by_event, ran, sizeof(*(ran)))
/* CPUs with an accounting: the n-th id, or -1. */
int prof_reader_cpu(const struct prof_reader *reader, size_t n);
/*
 * Ended without END: why and where; NULL: the recording is whole.  Whether
 * samples are damaged may show when they are read: borrowed until then.
 */
const char *prof_reader_cut(const struct prof_reader *reader);
/* It has no END as its recorder still writes it. */
int prof_reader_in_progress(const struct prof_reader *reader);
/*
 * How many process and mapping events were left out, for want of memory that
 * belongs to a file of its size; all of a time on.  UINT64_MAX: none.
 */
uint64_t prof_reader_left_out(const struct prof_reader *reader,
    uint64_t *from_ns);
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
    const struct prof_entry *entry, const char *comm);
void prof_filter_free(struct prof_filter *filter);

/* ------------------------------------------------------------- frames */

/* What a frame is.  Recordings hold these: appended, never renumbered. */
enum prof_frame_kind {
	PROF_FRAME_NATIVE,
	PROF_FRAME_KERNEL,
	PROF_FRAME_PYTHON,	/* the first kind of script frames */
	PROF_FRAME_JAVASCRIPT,
	PROF_FRAME_JAVA,
	PROF_FRAME_SCRIPT,	/* any other language */
	PROF_FRAME_BOUNDARY,	/* no code: enum prof_boundary */
	PROF_FRAME_NKINDS
};

/* Why frames are missing where a boundary frame stands. */
enum prof_boundary {
	PROF_BOUNDARY_INTERPRETER, /* native code, it is not known which */
	PROF_BOUNDARY_TRUNCATED,   /* the walk did not get here */
	PROF_BOUNDARY_N
};

#define PROF_FRAME_RETURN	1u	/* the call lies before fr_id */

/*
 * A frame of a stack.  The id of a NATIVE or KERNEL frame is its pc, that of a
 * BOUNDARY says why; that of a script frame has the number of its code and,
 * in the lower 24 bits, the instruction.
 */
struct prof_frame {
	uint64_t	 fr_id;
	uint8_t		 fr_kind;	/* enum prof_frame_kind */
	uint8_t		 fr_flags;	/* PROF_FRAME_RETURN */
};

/*
 * Which frames of a stack are shown, as bits; 0: all but those of interpreters.
 * A frame of an interpreter is native code of the file that executes the
 * stack's script frames; what happened there counts for the script frame that
 * ran it.
 */
#define PROF_FRAMES_KERNEL	1u
#define PROF_FRAMES_NATIVE	2u
#define PROF_FRAMES_SCRIPT	4u
#define PROF_FRAMES_INTERPRETER	8u
#define PROF_FRAMES_ALL		16u

#define PROF_FRAME_INSTRUCTION_BITS	24
#define PROF_FRAME_INSTRUCTION		0xffffffu

/* "native", "kernel", "py", ...; static. */
const char *prof_frame_kind_name(unsigned kind);
/*
 * A frame out of a word of es_script: the kind in its upper 8 bits, then 8 of
 * flags, then the id.
 */
void prof_frame_unpack(uint64_t word, struct prof_frame *frame);

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
	PROF_UNNAMED_OVER,	/* mappings beyond a memory budget */
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
	enum prof_frame_kind fu_kind;
	int		 fu_is_inlined;	/* stands for an inlined copy */
	unsigned	 fu_line;	/* its first, of a script; or 0 */
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
	uint64_t	 so_only_recorded; /* look at no other file */
};

struct prof_symbols;

/* The reader must outlive it; records may be read meanwhile. */
struct prof_symbols *prof_symbols_open(struct prof_reader *reader,
    const struct prof_symbols_options *options, struct prof_err *error);
/*
 * What a process had mapped at a time.  Same number, same mappings; so what
 * was said of a frame in it stays true.
 */
uint32_t prof_symbols_space(struct prof_symbols *symbols, uint32_t pid,
    uint64_t time_ns);
/* The number of the function there; never fails (see fu_unnamed). */
uint32_t prof_symbols_find(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame);
size_t prof_symbols_nfunctions(const struct prof_symbols *symbols);
const struct prof_function *prof_symbols_function(
    const struct prof_symbols *symbols, uint32_t n);
/* The same place as its file counts: 0, or -1 when no file is behind it. */
int prof_symbols_place(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, const char **module, uint64_t *address);
/* The very file that was mapped there; NULL: gone, another build, none. */
const char *prof_symbols_file(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame);
/*
 * Lines, the innermost inlined function first, the function of the symbol
 * table last: how many, 0 when the file has none.  Each has a function.
 * Borrowed as functions are.
 */
size_t prof_symbols_lines(struct prof_symbols *symbols, uint32_t space,
    const struct prof_frame *frame, struct prof_line *lines, size_t max);
/* A function's number that stands for an inlined function of a module. */
uint32_t prof_symbols_inlined(struct prof_symbols *symbols, uint32_t in,
    const char *name);
/*
 * The user stack of a sample, innermost first, script frames in the place of
 * the native frames that executed them: how many; the first max are kept.
 */
size_t prof_symbols_stack(struct prof_symbols *symbols,
    const struct prof_entry *entry, struct prof_frame *frames, size_t max);
/* Notes for the user (what has no names, why, the cure); NULL: no more. */
const char *prof_symbols_note(struct prof_symbols *symbols, size_t n);
void prof_symbols_close(struct prof_symbols *symbols);

/* -------------------------------------------------------------- spans */

/* One span that began and ended. */
struct prof_span {
	uint64_t	 sp_begin_ns;	/* CLOCK_MONOTONIC */
	uint64_t	 sp_duration_ns;
	uint64_t	 sp_key;	/* argument's value, or the thread */
	uint32_t	 sp_pid;	/* where it began */
	uint32_t	 sp_tid;
	uint32_t	 sp_end_tid;	/* where it ended */
	uint32_t	 sp_depth;	/* spans of the same key around it */
};

/* The spans of one name, as record --span defines them. */
struct prof_span_kind {
	const char	*sk_name;
	const char	*sk_key;	/* an argument; NULL: the thread */
	/*
	 * Begins that were stored = count + open + unpaired_begins, ends =
	 * count + orphan + unpaired_ends.  An event was lost near those that
	 * are unpaired, so it is not known what belongs to them.
	 */
	uint64_t	 sk_count;
	uint64_t	 sk_open;	/* no end until the recording's */
	uint64_t	 sk_orphan;	/* ends without a begin */
	uint64_t	 sk_unpaired_begins;
	uint64_t	 sk_unpaired_ends;
	uint64_t	 sk_lost_begins;
	uint64_t	 sk_lost_ends;
	/* Begins and ends that the kernel skipped, it is not known when ... */
	uint64_t	 sk_missed;
	uint64_t	 sk_late;	/* ... or stored with a later time */
	/* Of durations; exact. */
	uint64_t	 sk_p50_ns, sk_p90_ns, sk_p99_ns, sk_max_ns;
	uint64_t	 sk_total_ns;
	/* By prof_spans_count: samples in one span, and in several. */
	uint64_t	 sk_samples;
	uint64_t	 sk_ambiguous;
	/* Time of threads in spans, and of this, as the kernel summed it: */
	int		 sk_has_times;	/* 0: not recorded */
	uint64_t	 sk_inside_ns, sk_running_ns, sk_not_running_ns;
	uint64_t	 sk_ambiguous_ns;
	uint64_t	 sk_gaps, sk_clockless;	/* why inside may be more */
	/* All of sk_count, by begin. */
	const struct prof_span *sk_spans;
};

struct prof_spans;

/*
 * Pairs begins and ends: reads the whole recording, and leaves the reader at
 * its begin.  Owned by caller; the reader must outlive it.
 */
struct prof_spans *prof_spans_new(struct prof_reader *reader,
    struct prof_err *error);
size_t prof_spans_nkinds(const struct prof_spans *spans);
/* Borrowed until prof_spans_free. */
const struct prof_span_kind *prof_spans_kind(const struct prof_spans *spans,
    size_t n);
/* Reads the whole recording again; -1: the reader's error. */
int prof_spans_count(struct prof_spans *spans);
void prof_spans_free(struct prof_spans *spans);
