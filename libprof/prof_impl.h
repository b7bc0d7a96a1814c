/* SPDX-License-Identifier: ISC */
/*
 * What the files of libprof offer each other, grouped by file: a table of
 * contents.  Layouts that only one file needs stay in that file.
 */
#ifndef PROF_IMPL_H
#define PROF_IMPL_H

#include <sys/types.h>

#include <linux/perf_event.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/dtp_abi.h"
#include "prof.h"

#define PROF_PRINTF(f, a)	__attribute__((format(printf, f, a)))

/* ------------------------------------------------------------ error.c */

/*
 * Fill in an error and return -1, in one call.  The code's own cure is set;
 * prof_cure replaces it.  errno is not looked at: say it in the sentence.
 */
int	prof_fail(struct prof_err *error, enum prof_code code,
	    const char *fmt, ...) PROF_PRINTF(3, 4);
int	prof_cure(struct prof_err *error, const char *fmt, ...)
	    PROF_PRINTF(2, 3);	/* returns -1 */
int	prof_fail_nomem(struct prof_err *error);

/* ---------------------------------------------------------- options.c */

/*
 * Take over options of the size with which they begin; what their caller does
 * not know stays as it is in to, and from may be NULL.  -1: their size is
 * impossible, or something is set in what is not known here; to is as it was.
 */
int	prof_options_take(void *to, size_t known, const void *from,
	    const char *name, struct prof_err *error);
/* Fill a caller's struct, as much of it as both know. */
void	prof_struct_give(void *to, size_t given, const void *from,
	    size_t known);

/* --------------------------------------- events/event.c, events/provider/ */

/* State that names need: BTF, tracefs, libpfm4, tables; opened on demand. */
struct prof_names;
struct prof_pmu_kinds;

/* How an event is attached. */
enum prof_kind {
	PROF_KIND_PROC,		/* lives of processes; always event 0 */
	PROF_KIND_PERF,		/* perf_event_open, with or without BPF */
	PROF_KIND_TRACEPOINT,	/* raw tracepoint */
	PROF_KIND_SYSCALL,	/* sys_enter, sys_exit, or both: a call */
	PROF_KIND_COUNTER	/* counts; samples of others bring its value */
};

/* One argument that the event records. */
struct prof_arg {
	char		*ag_name;	/* "next->pid" */
	char		*ag_type;	/* "int", as C writes it */
	bool		 ag_is_text;	/* of a call: text behind ag_load */
	struct dtp_arg	 ag_load;	/* how BPF gets it */
};

/* One event, resolved: all that is needed to attach and to describe it. */
struct prof_event {
	char		*ev_name;	/* as the user wrote it */
	char		*ev_probe;	/* provider:module:function:name */
	char		*ev_unit;	/* of the weight */
	const struct prof_provider *ev_provider;
	enum prof_kind	 ev_kind;
	uint32_t	 ev_id;		/* index, given by the session */
	/* PERF: type, config, period or frequency, exclude_*, precise_ip */
	struct perf_event_attr ev_attr;
	int		 ev_cpu;	/* interval: the one CPU; else -1 */
	bool		 ev_is_timer;	/* count late periods */
	/* TRACEPOINT, SYSCALL */
	char		*ev_tracepoint;	/* "sched_switch" */
	bool		 ev_is_return;
	bool		 ev_is_call;	/* from the entry to the return */
	bool		 ev_has_texts;	/* some of its calls have */
	uint8_t		 ev_call[DTP_MAX_SYSCALL]; /* DTP_CALL_* */
	uint64_t	 ev_sysmask[DTP_MAX_SYSCALL / 64];
	uint32_t	 ev_nargs;
	struct prof_arg	 ev_args[DTP_MAX_ARGS];
	struct dtp_filter ev_filter;	/* compiled by the session */
};

/* A growing array of events; the events are owned. */
struct prof_events {
	struct prof_event **el_event;
	size_t		 el_n;
	size_t		 el_cap;
};

/* What events get whose name says nothing about it. */
struct prof_event_defaults {
	uint64_t	 ed_frequency_hz;
	uint64_t	 ed_period;
	bool		 ed_user_only;
};

/* Called for each probe that a provider lists; nonzero ends the listing. */
typedef int prof_list_fn(void *arg, const struct prof_probe *probe);

/*
 * A provider: a source of probes, one file each (prov_NAME.c).  A provider
 * that this kernel lacks offers no probes and a reason.
 */
struct prof_provider {
	const char	*pv_name;
	/*
	 * Called when an event is added whose provider part is this one's, or
	 * is empty.  1: added to the list, 0: the name is not one of ours,
	 * -1: it is, but it cannot be had (error says why).
	 */
	int	(*pv_resolve)(struct prof_names *names, const char *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
	/* Called by the catalog; none: "why" (borrowed, static) is set. */
	int	(*pv_list)(struct prof_names *names, prof_list_fn *fn,
		    void *arg, const char **why);
};

struct prof_names *prof_names_open(struct prof_err *error);
void	prof_names_close(struct prof_names *names);
/* Resolve one -e; appends; all or nothing; suggests the nearest name. */
int	prof_names_resolve(struct prof_names *names, const char *spec,
	    const struct prof_event_defaults *defaults,
	    struct prof_events *events, struct prof_err *error);

struct prof_event *prof_event_new(const char *name, const char *probe,
	    const char *unit, const struct prof_provider *provider,
	    enum prof_kind kind);	/* owned by caller; NULL: no memory */
void	prof_event_free(struct prof_event *event);
int	prof_events_add(struct prof_events *events, struct prof_event *event);
void	prof_events_free(struct prof_events *events);

/* ------------------------------------------------------- os/tracefs.c */

/*
 * A directory descriptor on tracefs, mounted or not (an own detached mount
 * when it is not; the system is left as it was).  -1: none, error says why.
 */
int	prof_tracefs_open(struct prof_err *error);

/* ------------------------------------------------------- base/glob.c */

/* Bounded glob match: * ? [..], at most 8 stars, no recursion without end. */
bool	prof_glob_match(const char *glob, const char *text);
bool	prof_glob_is(const char *text);	/* has any of * ? [ */
/* Edit distance, for "did you mean". */
unsigned prof_name_distance(const char *a, const char *b);

/* -------------------------------------------------- filter/compile.c */

/*
 * Compile an expression into tests.  Argument names are looked up in event
 * (may be NULL: only arg0..arg7).  On error the sentence shows the column.
 */
int	prof_filter_compile(const char *expression,
	    const struct prof_event *event, struct dtp_filter *filter,
	    struct prof_err *error);

/* ------------------------------------------- recording/accounting.c */

void	prof_accounting_add(struct prof_accounting *sum,
	    const struct prof_accounting *row);

/* -------------------------------------------------- recording/query.c */

/* A system call by number; NULL: the recording does not describe it. */
const struct prof_syscall *prof_reader_call(const struct prof_reader *reader,
	    uint64_t number);

/* ------------------------------------------------------- os/procfs.c */

/* Called for each record of a snapshot; nonzero ends it. */
typedef int prof_record_fn(void *arg, const struct prof_record *record);

/* One process: PROF_R_TASK per thread, PROF_R_MMAP per executable mapping. */
/* The executable mappings of a process alone. */
int	prof_procfs_maps(int pid, uint64_t time_ns, bool build_ids,
	    prof_record_fn *fn, void *arg);
int	prof_procfs_snapshot_pid(int pid, uint64_t time_ns,
	    prof_record_fn *fn, void *arg);	/* 0 also when it has gone */
/* The same without mappings. */
int	prof_procfs_snapshot_tasks(int pid, uint64_t time_ns,
	    prof_record_fn *fn, void *arg);
int	prof_procfs_snapshot_all(uint64_t time_ns, prof_record_fn *fn,
	    void *arg);
/* Are the addresses of the kernel's functions shown to us? */
bool	prof_kernel_names_shown(struct prof_err *why);
/*
 * The bytes of a PERF_RECORD_KSYMBOL up to its trailer, or more than it has.
 * The trailer is right behind the name: the kernel (seen up to 6.18) makes such
 * a record larger for each further event that wants it, another recorder's
 * too, and what is then behind the trailer is whatever was in the ring.
 */
size_t	prof_ksymbol_body(const void *bytes, size_t size);
/* The kernel's, from _stext to _etext. */
struct prof_text {
	uint64_t	tx_start;
	uint64_t	tx_end;
};
/*
 * Kernel text and modules as PROF_R_MMAP of pid 0xffffffff.  text: where it
 * lies; NULL: /proc/kallsyms is read for it.
 */
int	prof_procfs_snapshot_kernel(const struct prof_text *text,
	    uint64_t time_ns, prof_record_fn *fn, void *arg);
/* Children of a process, appended to a caller-owned array. */
int	prof_procfs_children(int pid, int **pids, size_t *n, size_t *cap);
bool	prof_procfs_exists(int id);
/* A line of /proc/PID/maps, changed; pr_path points into it. */
bool	prof_maps_parse(char *line, struct prof_record *record);
/* The file behind a mapping, as its process sees it; -1: it has gone. */
int	prof_mapped_file_open(const struct prof_record *record);
struct prof_build_ids;
/* Fill in the build-id of a mapping from the file that is mapped. */
void	prof_mapping_build_id(struct prof_build_ids *ids,
	    struct prof_record *record);
/* A small file whole, NUL-ended: its length, or -1. */
ssize_t	prof_proc_read(const char *path, char *out, size_t size);
int	prof_proc_pid(const char *name);	/* -1: not a number */

/* -------------------------------------------------------- os/cpus.c */

/* Online CPUs; owned by caller. */
int	prof_cpus_online(int **cpus, size_t *n, struct prof_err *error);
int	prof_cpus_possible(void);	/* largest id + 1 */
/* "0-1,4"; owned by caller.  -1: not a list, or no memory (errno). */
int	prof_cpu_list_parse(const char *text, int **cpus, size_t *n);
long	prof_proc_number(const char *path, long otherwise);

/* ---------------------------------------------------- elf/build_id.c */

/* Read a build-id note; length, or 0. */
uint32_t prof_build_id_of_file(int fd, uint8_t out[20]);
uint32_t prof_build_id_of_memory(const void *elf, size_t len,
	    uint8_t out[20]);
uint32_t prof_build_id_of_notes(const void *notes, size_t len, size_t align,
	    uint8_t out[20]);
uint32_t prof_build_id_of_vdso(uint64_t addr, uint64_t len, uint8_t out[20]);

/* Build-ids already read, by file.  Not for two threads at once. */
struct prof_file_key {
	uint64_t	fk_dev;
	uint64_t	fk_ino;
	uint64_t	fk_mtime_ns;	/* or 0, where a moment is looked at */
};
struct prof_build_ids *prof_build_ids_new(void);	/* owned by caller */
void	prof_build_ids_free(struct prof_build_ids *ids);
bool	prof_build_ids_find(const struct prof_build_ids *ids,
	    const struct prof_file_key *key, uint8_t out[20], uint32_t *len);
void	prof_build_ids_add(struct prof_build_ids *ids,
	    const struct prof_file_key *key, const uint8_t id[20],
	    uint32_t len);
/* Of an open file; 0 also when its inode is not ino (0: any). */
uint32_t prof_build_ids_of_file(struct prof_build_ids *ids, int fd,
	    uint64_t ino, uint8_t out[20]);

/* ------------------------------------------------- session/session.c */

/* CLOCK_MONOTONIC, as all records have it. */
uint64_t prof_now_ns(void);

/* ---------------------------------------------- backend/perf/rings.c */

/*
 * The perf rings of a session: side band (mappings with build-ids, ksymbols,
 * throttling) for every path, and the samples themselves where BPF may not
 * be used.  One ring per CPU, shared by all events on it.
 */
struct prof_rings;
#define PROF_RING_BYTES	524288	/* of a CPU, when nothing else is asked for */
struct prof_rings_options {
	const int	*ro_cpus;
	size_t		 ro_ncpus;
	/*
	 * NULL: all processes.  With ro_inherit a pid stands for all its
	 * threads and descendants; without, for that one thread, or with
	 * ro_threads for those that the process has.  Both: for its threads,
	 * and what they start from now on.
	 */
	const int	*ro_pids;
	size_t		 ro_npids;
	bool		 ro_inherit;
	bool		 ro_threads;
	bool		 ro_has_cgroup;	/* instead of pids; side band alone */
	int		 ro_cgroup;	/* directory's descriptor */
	size_t		 ro_max_fds;	/* 0: any number; more: PROF_E_LIMIT */
	/* What has come is looked at now and then: no record wakes anybody. */
	bool		 ro_quiet;
	bool		 ro_enable_on_exec;
	/*
	 * The events sample into the rings, and fork, exec, comm and exit come
	 * from here as well (exec path "", exit code -1: not known).  Events
	 * that are not PROF_KIND_PERF are passed over.
	 */
	bool		 ro_samples;
	bool		 ro_callchain;
	/*
	 * Instead of the callchain: a copy of so many bytes of stack in each
	 * sample, walked here.  Records must be shown to the snapshots first.
	 */
	uint32_t	 ro_stack_bytes;
	struct prof_snapshots *ro_snapshots;
	/* Before a stack is walked, with the drain's argument; or NULL. */
	prof_record_fn	*ro_before;
	const struct prof_pmu_kinds *ro_kinds;	/* of CPUs; for samples */
	struct prof_event *const *ro_events;
	size_t		 ro_nevents;
	size_t		 ro_ring_bytes;	/* per CPU; 0: default */
};
/* The side band runs at once. */
struct prof_rings *prof_rings_open(const struct prof_rings_options *options,
	    struct prof_err *error);
/* Switch the sampling events; of a command, exec switches them on. */
int	prof_rings_enable(struct prof_rings *rings);
int	prof_rings_disable(struct prof_rings *rings);
/*
 * Hand over what is there, in order of time, up to until_ns; what the kernel
 * publishes late comes with the next call.  Returns what fn returned, or 0.
 */
int	prof_rings_drain(struct prof_rings *rings, uint64_t until_ns,
	    prof_record_fn *fn, void *arg);
/* Descriptors to poll. */
size_t	prof_rings_fds(const struct prof_rings *rings, const int **fds);
/*
 * By ev_id, summed over CPUs; see backend/perf/account.c for what it can know.
 */
int	prof_rings_accounting(struct prof_rings *rings, size_t event,
	    struct prof_accounting *accounting, struct prof_err *error);
/* Samples that found a ring full. */
uint64_t prof_rings_lost(const struct prof_rings *rings);
/*
 * Records of the side band: those that were handed over, and those that found
 * a ring full (until the last look, as far as LOST records told).
 */
bool	prof_rings_was_full(struct prof_rings *rings);	/* nearly */
uint64_t prof_rings_side_read(const struct prof_rings *rings);
uint64_t prof_rings_side_lost(const struct prof_rings *rings, bool is_last);
/* Of those lost, LOST records have told so far. */
uint64_t prof_rings_side_said(const struct prof_rings *rings);
const char *prof_rings_note(const struct prof_rings *rings, size_t n);
void	prof_rings_close(struct prof_rings *rings);

/* -------------------------------------------------------- os/facts.c */

bool	prof_in_user_namespace(void);
bool	prof_in_pid_namespace(void);
/* CAP_*, effective and of the machine's own user namespace. */
bool	prof_is_capable(int capability);
/* A seccomp filter keeps SYS_bpf or SYS_perf_event_open from the kernel. */
bool	prof_is_filtered(long call);
/* /proc and /sys are there, and of our PID namespace. */
bool	prof_proc_usable(struct prof_err *why);
bool	prof_is_locked_down(void);	/* as far as confidentiality */

/* --------------------------------------------------- os/permission.c */

/* Raises the soft limit of open files when it is reached; sets errno. */
int	prof_perf_open(const struct perf_event_attr *attr, int pid, int cpu,
	    int group, unsigned long flags);
/*
 * For each event CAP_SYS_ADMIN may be needed: kernels of Debian and Ubuntu,
 * with perf_event_paranoid above 2.  CAP_PERFMON does for all others.
 */
bool	prof_perf_wants_admin(void);
/* It happens in the kernel, and user space alone is asked for. */
bool	prof_perf_always_zero(const struct perf_event_attr *attr);
/*
 * Turn errno of a failed perf_event_open into sentence and cure; -1.  event
 * NULL: the side band.
 */
int	prof_perf_explain(struct prof_err *error,
	    const struct prof_event *event, int error_number, int pid, int cpu);
/* Sentences and cures of single causes; -1. */
int	prof_seccomp_explain(struct prof_err *error, const char *calls);
int	prof_lockdown_explain(struct prof_err *error, const char *what);
int	prof_user_namespace_explain(struct prof_err *error);
int	prof_pid_namespace_explain(struct prof_err *error);
int	prof_open_files_explain(struct prof_err *error, const char *what);
int	prof_locked_memory_cure(struct prof_err *error);

/* ------------------------------------------------------------- os/fit.c */

/* Would n events, tried on ourselves as a group, count at the same time? */
bool	prof_perf_group_fits(const struct perf_event_attr *attrs, size_t n);

/* ----------------------------------------------- os/permission_bpf.c */

/* As prof_perf_explain, of bpf(2). */
int	prof_bpf_explain(struct prof_err *error, int error_number);
/* Tries with the smallest map and program; why says what is in the way. */
bool	prof_bpf_allowed(struct prof_err *why);
/* The kernel's types, without which no program of ours can be loaded. */
#define PROF_BTF	"/sys/kernel/btf/vmlinux"
bool	prof_btf_there(struct prof_err *why);
/* All of that, and it would record what it should. */
bool	prof_bpf_usable(struct prof_err *why);

/* ---------------------------------------------------- session/mark.c */

/*
 * The receiving end of prof_mark_send: a socket of this recording.  Never
 * blocks.  The descriptor is readable when there is something to take.
 */
struct prof_marks;
struct prof_marks *prof_marks_open(struct prof_err *error);
int	prof_marks_fd(const struct prof_marks *marks);
/*
 * One PROF_R_MARK, _PAUSE or _RESUME each; answered once fn returned 0; else
 * what fn returned.
 */
int	prof_marks_take(struct prof_marks *marks, prof_record_fn *fn,
	    void *arg);
void	prof_marks_close(struct prof_marks *marks);

/* ------------------------------------------------ recording/write.c */

/*
 * Appends a recording.  prof_writer_add may be called for every record, in
 * order of time for samples; it copies what it needs.  Compression and
 * write(2) happen in a thread of the writer.
 */
struct prof_writer;
struct prof_writer *prof_writer_open(const char *path,
	    struct prof_err *error);
/* Into a file of memory, which stays the caller's. */
struct prof_writer *prof_writer_open_memory(int fd, struct prof_err *error);
/* Mostly before the first record; the last value of a key counts. */
int	prof_writer_info(struct prof_writer *writer, const char *key,
	    const char *value);
int	prof_writer_event(struct prof_writer *writer,
	    const struct prof_event_info *info);
int	prof_writer_add(struct prof_writer *writer,
	    const struct prof_record *record);
/* A sample like the one before but for its time; for stacks of user space. */
int	prof_writer_again(struct prof_writer *writer,
	    const struct prof_record *record);
/* The accounting so far, of all events on one CPU (cpu -1: of no CPU). */
int	prof_writer_accounting(struct prof_writer *writer, int cpu,
	    const struct prof_accounting *accounting, size_t nevents);
/* The functions of a module, see recording/table.h; at the end. */
int	prof_writer_symbols(struct prof_writer *writer, const void *body,
	    size_t len);
/*
 * The numbers of the stacks of the last sample, 0: none.  The innermost
 * frame is not part of a stack.
 */
void	prof_writer_stacks(const struct prof_writer *writer,
	    uint32_t *kernel, uint32_t *user);
/* Write out what is buffered (each second, and before a long pause). */
int	prof_writer_flush(struct prof_writer *writer);
uint64_t prof_writer_bytes(const struct prof_writer *writer);
uint64_t prof_writer_written(const struct prof_writer *writer, size_t event);
const struct prof_err *prof_writer_error(const struct prof_writer *writer);
/* Samples in the file so far; known for good after the end. */
uint64_t prof_writer_samples(const struct prof_writer *writer);
/* Index and END; 0 when the file is whole, and on the disk. */
int	prof_writer_end(struct prof_writer *writer, struct prof_err *error);
/* The same where it has not come to its end.  Frees the writer. */
int	prof_writer_close(struct prof_writer *writer, struct prof_err *error);
/* Give up: close, remove the file, and put the previous ones back. */
void	prof_writer_discard(struct prof_writer *writer);
/* It will not be discarded: what that would put back may go, before a kill. */
void	prof_writer_keep(struct prof_writer *writer);
/* Store chunks as they are, for tests; right after open. */
void	prof_writer_raw(struct prof_writer *writer);

/* ------------------------------------------------- recording/query.c */

/* As prof_reader_open, of what it takes over; of path only messages speak. */
struct prof_source;
struct prof_reader *prof_reader_open_source(struct prof_source *source,
	    const char *path, struct prof_err *error);
/*
 * The process in whose memory all code lies that an import of perf script has
 * names of; no process has such a number.
 */
#define PROF_PLACES_PID	((1u << 22) + 1)

/* Bytes of the file. */
uint64_t prof_reader_length(const struct prof_reader *reader);
/* Everything but samples, by time: n below prof_reader_nlives. */
size_t	prof_reader_nlives(const struct prof_reader *reader);
void	prof_reader_life(const struct prof_reader *reader, size_t n,
	    struct prof_record *record);
/* Body n of those that prof_writer_symbols was given; NULL: no more. */
const void *prof_reader_symbols(const struct prof_reader *reader, size_t n,
	    size_t *len);

/* When START was; false: it is missing. */
bool	prof_reader_start(const struct prof_reader *reader,
	    uint64_t *start_ns);

/* Those that there was no room for. */
uint64_t prof_reader_symbols_left_out(const struct prof_reader *reader);

/* What is over a memory budget, in every output. */
#define PROF_OVER_NAME	"[over the memory budget]"

/* -------------------------------------------- process/symbols_note.c */

/* Why there is no name, and a cure that can work; "": none. */
const char *prof_unnamed_reason(enum prof_unnamed why, const char *module);
const char *prof_unnamed_cure(enum prof_unnamed why, const char *module);

/* ------------------------------------------------- process/symbols.c */

/* prof_symbols_space, and narrows from and to: so long it stays that one. */
uint32_t prof_symbols_space_while(struct prof_symbols *symbols, uint32_t pid,
	    uint64_t time_ns, uint64_t *from_ns, uint64_t *to_ns);
/*
 * A place in the code, whoever has it mapped and wherever: in the same spot
 * there is the same function, the same line.  No padding: it is a key.
 */
struct prof_spot {
	uint64_t	so_at;		/* in the file, or the pc */
	uint32_t	so_owner;	/* image, or life */
	uint32_t	so_flags;	/* kind, flags, and what so_owner is */
};

void	prof_symbols_spot(const struct prof_symbols *symbols, uint32_t space,
	    const struct prof_frame *frame, struct prof_spot *spot);

/* ------------------------------------- recording/decode.c, expand.c */

/*
 * The chunks of samples, each on its own: what analysis reads, from several
 * threads.  A stack is a number here, the same for the same callers.
 */
struct prof_stack {
	uint64_t	sk_leaf;	/* the innermost pc */
	uint32_t	sk_number;	/* its callers; 0: there are none */
	bool		sk_there;
};

struct prof_sample {
	struct prof_record sm_record;	/* all of it but the frames */
	struct prof_stack sm_kernel;
	struct prof_stack sm_user;
	struct prof_stack sm_script;	/* leaf: its instruction */
};

/* One a thread; reader and error must outlive it.  Owned by caller. */
struct prof_decoder;
struct prof_decoder *prof_decoder_new(const struct prof_reader *reader,
	    struct prof_err *error);
void	prof_decoder_free(struct prof_decoder *decoder);
size_t	prof_decoder_nchunks(const struct prof_reader *reader);
/* Begin chunk n.  0 (without samples when it is damaged), or -1. */
int	prof_decoder_open(struct prof_decoder *decoder, size_t n);
/* Borrowed until the next call; NULL: no more in this chunk. */
const struct prof_sample *prof_decoder_next(struct prof_decoder *decoder);
/*
 * Count those of n chunks from first that did not decode; prof_reader_cut
 * says so from then on.  When no thread decodes them any more.
 */
int	prof_decoder_damage(struct prof_reader *reader, size_t first,
	    size_t n);

/*
 * Stacks are paths in a tree: the node of a stack's innermost frame (which
 * calls the leaf), or 0 when its chunk was lost.
 */
uint32_t prof_stack_node(const struct prof_reader *reader, uint32_t number);
/* The node that called this one, 0: none; and this one's pc. */
uint32_t prof_stack_caller(const struct prof_reader *reader, uint32_t node,
	    uint64_t *pc);
size_t	prof_stack_nnodes(const struct prof_reader *reader);

#endif /* PROF_IMPL_H */
