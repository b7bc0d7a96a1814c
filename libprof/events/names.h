/* SPDX-License-Identifier: ISC */
/*
 * What the files that turn names into events share: the parsed form of one
 * -e (spec.c), the state behind struct prof_names (names.c), the list of
 * tracepoints (tracepoints.c), types (btf.c), and the table of providers.
 * Nobody outside libprof/events includes this.
 */
#ifndef PROF_NAMES_H
#define PROF_NAMES_H

#include "elf/sites.h"
#include "event.h"
#include "os/pmu_kinds.h"

#define PROF_SPEC_MAX		512	/* bytes of one -e, NUL included */
#define PROF_SPEC_TERMS		16
#define PROF_GLOB_EVENTS	256	/* events that one -e may become */
#define PROF_TIMER_FLOOR_NS	10000	/* the kernel's hrtimer floor */

struct btf;

/* ------------------------------------------------------------- spec.c */

/* "key=value", or a bare word (st_value NULL), between slashes. */
struct prof_term {
	const char	*st_key;
	const char	*st_value;
};

/*
 * One -e, taken apart.  The pointers point into sp_text.
 *
 *	cycles:u                  sp_name "cycles", sp_mods "u"
 *	sched:sched_switch        sp_name "sched:sched_switch"
 *	cpu/event=0x3c,umask=1/u  sp_name "cpu", two terms, sp_mods "u"
 *	pmc:::cycles-1000003      sp_is_probe, sp_provider "pmc", sp_name ...
 *	uprobe:libc:free+4        sp_is_probe, sp_provider "uprobe", sp_file
 *	                          "libc", sp_function "free", sp_offset 4
 *	usdt:postgres:pg:mark     sp_provider "usdt", sp_module "pg",
 *	                          sp_function "mark"
 *	NAME{pid == 1}            sp_filter "pid == 1"
 */
struct prof_spec {
	const char	*sp_whole;	/* all of it, borrowed */
	char		 sp_text[PROF_SPEC_MAX];
	bool		 sp_is_probe;	/* provider:module:function:name */
	bool		 sp_is_site;	/* of spec_site.c */
	const char	*sp_provider;
	const char	*sp_module;
	const char	*sp_function;
	const char	*sp_name;	/* the fourth part, or everything */
	const char	*sp_file;	/* of a probe of a program; else NULL */
	uint64_t	 sp_offset;	/* in its function */
	uint32_t	 sp_line;	/* of its source; 0: none */
	const char	*sp_mods;	/* u k h p after the last colon or / */
	bool		 sp_slashed;	/* had / / */
	struct prof_term sp_term[PROF_SPEC_TERMS]; /* but period and freq */
	size_t		 sp_nterms;
	uint64_t	 sp_period;	/* 0: not said */
	uint64_t	 sp_frequency;
	const char	*sp_filter;	/* what is in its braces; or NULL */
	/* Arguments that it names, in sp_used_text */
	const char	*sp_used[PROF_SPEC_TERMS];
	size_t		 sp_nused;
	char		 sp_used_text[2 * PROF_SPEC_MAX]; /* and NULs */
};

int	prof_spec_parse(struct prof_spec *spec, const char *text,
	    struct prof_err *error);
/* As prof_names_resolve, by who has looked at it before. */
int	prof_spec_resolve(struct prof_names *names,
	    const struct prof_spec *spec,
	    const struct prof_event_defaults *defaults,
	    struct prof_events *events, struct prof_err *error);
size_t	prof_spec_colons(const char *text);
/* spec_filter.c: cut "{...}" off the end. */
int	prof_spec_filter(struct prof_spec *spec, struct prof_err *error);
int	prof_spec_no_filter(const struct prof_spec *spec, const char *what,
	    struct prof_err *error);
/* spec_site.c: a probe of a program, taken apart; 0: it is none. */
int	prof_spec_site(struct prof_spec *spec, struct prof_err *error);

/* spec_span.c: a parsed span; its members point into sn_copy. */
struct prof_spec_span {
	char		*sn_copy;
	const char	*sn_name;
	const char	*sn_begin;
	const char	*sn_end;	/* NULL: where sn_begin returns */
	const char	*sn_key;	/* NULL: paired by thread */
};

/* Fini also after a failure. */
int	prof_spec_span_parse(struct prof_spec_span *span, const char *text,
	    struct prof_err *error);
void	prof_spec_span_fini(struct prof_spec_span *span);
/*
 * The name of the return of a function or system call, owned by caller; NULL:
 * it has none.
 */
char	*prof_spec_span_return(const char *begin);
int	prof_spec_span_refuse(struct prof_err *error, const char *text,
	    const char *why);

/* "key,key=value", changed. */
int	prof_spec_terms(struct prof_spec *spec, char *body,
	    struct prof_err *error);
/* Does the provider part name this provider (or any)? */
bool	prof_spec_is_for(const struct prof_spec *spec, const char *provider);
/* A part of a probe: empty matches all, globs are tried. */
bool	prof_part_match(const char *part, const char *text);
/* "997hz", "10ms": as nanoseconds; 0 when it is neither. */
bool	prof_parse_interval(const char *text, uint64_t *ns, uint64_t *hz);
bool	prof_parse_u64(const char *text, uint64_t *value);
/* Settings that this kind of event does not have are refused here. */
int	prof_spec_no_terms(const struct prof_spec *spec, const char *what,
	    struct prof_err *error);
int	prof_spec_no_offset(const struct prof_spec *spec,
	    struct prof_err *error);
int	prof_spec_no_rate(const struct prof_spec *spec, const char *what,
	    struct prof_err *error);

/* ------------------------------------------------------------ names.c */

/* One tracepoint of the kernel. */
struct prof_tracepoint {
	char	*tp_group;	/* "sched"; "": not known */
	char	*tp_name;
	uint32_t tp_types;	/* BTF id of btf_trace_NAME, 0: none */
	uint32_t tp_names;	/* BTF id of __traceiter_NAME, 0: none */
};

/* As prof_sites_find, where files of others may be parsed. */
typedef int prof_names_sites_fn(void *arg, int fd, const char *name,
	    const struct prof_sites_want *want, struct prof_sites *sites);

typedef int prof_names_note_fn(void *arg, const char *text);

struct prof_names {
	/* Files: who parses them; whose they are, borrowed, or none */
	prof_names_sites_fn *nm_sites;
	void		*nm_sites_arg;
	/* What of a pattern is not probed, for people; NULL: nobody asks */
	prof_names_note_fn *nm_note;
	const int	*nm_pids;
	size_t		 nm_npids;
	bool		 nm_offline;	/* nothing is asked of the kernel */
	const char	*nm_wanted;	/* glob of the listing, NULL: all */
	struct prof_err	*nm_list_error;	/* why a provider cannot list */
	/* tracefs */
	bool		 nm_tracefs_tried;
	int		 nm_tracefs;	/* -1: none */
	struct prof_err	 nm_tracefs_error;
	char		*nm_traceable;	/* functions of the kernel; or NULL */
	bool		 nm_traceable_tried;
	/* types */
	bool		 nm_btf_tried;
	struct btf	*nm_btf;	/* NULL: none */
	/* tracepoints, sorted by name */
	bool		 nm_tps_tried;
	struct prof_tracepoint *nm_tps;
	size_t		 nm_ntps, nm_captps;
	/* kinds of CPUs */
	bool		 nm_kinds_tried;
	struct prof_pmu_kinds nm_kinds;
	/* libpfm4 */
	bool		 nm_pfm_tried;
	bool		 nm_pfm_ready;
};

/*
 * A handle that asks nothing of this machine: tracepoints come from a text
 * of "group:name" lines.  For tests and fuzzers.
 */
struct prof_names *prof_names_open_offline(const char *tracepoints,
	    struct prof_err *error);
/* Descriptor of tracefs, borrowed; -1: none. */
int	prof_names_tracefs(struct prof_names *names);
struct btf *prof_names_btf(struct prof_names *names);	/* borrowed */
/* The kernel's list of functions that it traces, lines; NULL: it has none. */
const char *prof_names_traceable(struct prof_names *names);
/* A file below tracefs, as a string; owned by caller; NULL: cannot. */
char	*prof_names_tracefs_read(struct prof_names *names, const char *path);

extern const struct prof_provider *const prof_providers[];	/* NULL-ended */
#define PROF_PROVIDER(name) extern const struct prof_provider \
    prof_provider_##name;
#include "providers.def"
#undef PROF_PROVIDER

/* ------------------------------------------------------ tracepoints.c */

/* The sorted list; 0 tracepoints when the kernel shows none. */
const struct prof_tracepoint *prof_tracepoints(struct prof_names *names,
	    size_t *n);
const struct prof_tracepoint *prof_tracepoint_find(struct prof_names *names,
	    const char *name);		/* NULL: none */
void	prof_tracepoints_free(struct prof_names *names);
int	prof_tracepoints_parse(struct prof_names *names, char *text);

/* ------------------------------------------------------------- left.c */

#define PROF_LEFT_REASONS	12

/* Functions that a pattern means and that cannot be probed. */
struct prof_left {
	const char	*lf_why[PROF_LEFT_REASONS];
	size_t		 lf_n[PROF_LEFT_REASONS];
	size_t		 lf_sum;
};

/* One more; why is static. */
void	prof_left_out(struct prof_left *left, const char *why);
/* A note, beside so many that are probed; an error if these are none. */
int	prof_left_say(const struct prof_left *left, struct prof_names *names,
	    const struct prof_spec *spec, size_t probed,
	    struct prof_err *error);

/* ---------------------------------------------------------- suggest.c */

/* The nearest name of all that exist, or NULL; owned by caller. */
char	*prof_names_nearest(struct prof_names *names, const char *wanted);

/* -------------------------------------------------------------- btf.c */

/*
 * The arguments of a tracepoint, from its prototype.  Index 0 is the first
 * after the kernel's own "void *__data".
 */
struct prof_proto;
struct prof_proto *prof_proto_open(struct prof_names *names,
	    const char *tracepoint);	/* NULL: no types for it */
/*
 * Of a function of the kernel, from its first argument on; with "ret", what it
 * returns, and without the arguments where these are gone by then.  NULL: no
 * types for it, or some argument takes more than one word.
 */
struct prof_proto *prof_proto_of_function(struct prof_names *names,
	    const char *function, bool has_ret, bool has_args);
void	prof_proto_close(struct prof_proto *proto);
size_t	prof_proto_nargs(const struct prof_proto *proto);
const char *prof_proto_arg_name(const struct prof_proto *proto, size_t n);
/*
 * Compile a path ("prev", "next->pid", "skb.dev.name") to a load.  On
 * failure *why says it in a few words.
 */
int	prof_proto_path(const struct prof_proto *proto, const char *path,
	    struct prof_arg *arg, char *why, size_t whysize);
void	prof_arg_fini(struct prof_arg *arg);

/* --------------------------------------------------------- btf_type.c */

/* Through typedefs and qualifiers; 0 when there is nothing behind them. */
uint32_t prof_type_plain(const struct btf *btf, uint32_t id, bool *is_user);
bool	prof_type_is_char(const struct btf *btf, uint32_t id);
/* As C writes it, near enough: "const struct task_struct *". */
void	prof_type_print(const struct btf *btf, uint32_t id, char *out,
	    size_t size);

/* --------------------------------------------------------- btf_core.c */

/* A file with the few types of the kernel that programs are loaded by. */
struct prof_btf_core {
	int		 bc_fd;
	const char	*bc_path;	/* NULL: let libbpf read all types */
	char		 bc_name[32];
	/* x86: from a run queue to its preempt_count; 0: not known. */
	int64_t		 bc_preempt_at;
};

/* Of a file of types: PROF_BTF, or another one in tests. */
void	prof_btf_core_open(struct prof_btf_core *core, const char *path);
void	prof_btf_core_close(struct prof_btf_core *core);

/* ----------------------------------- events/provider/static/fields.c */

/* How a field of a tracefs format is found from the prototype. */
struct prof_field {
	const char	*fd_field;
	const char	*fd_path;	/* NULL: cannot be expressed ... */
	const char	*fd_why;	/* ... because; with path: no field */
};

/* The n-th field of an event in the table; NULL: no more. */
const struct prof_field *prof_field_at(const char *event, size_t n);
const char *prof_field_event(size_t n);	/* the n-th; NULL: no more */

/* ------------------------------------- events/provider/static/args.c */

/*
 * Fills up to DTP_MAX_ARGS arguments; how many.  missing (or NULL) gets the
 * sentence about the fields that cannot be had.
 */
uint32_t prof_static_args(struct prof_names *names,
	    const struct prof_tracepoint *tp, struct prof_arg *args,
	    char *missing, size_t size);
int	prof_static_list(struct prof_names *names, prof_list_fn *fn,
	    void *arg, const char **why);

/* ------------------------------------------------ provider/pmc/, rate.c */

/* A counter's code, before rate and modes. */
struct prof_pmc {
	uint32_t	 pc_type;
	uint64_t	 pc_config, pc_config1, pc_config2;
	char		 pc_name[PROF_SPEC_MAX + 8]; /* canonical */
	/* From libpfm4 */
	bool		 pc_exclude_user, pc_exclude_kernel, pc_exclude_hv;
	uint8_t		 pc_precise;
};

/* 1: found, 0: not a name of ours, -1: ours but wrong. */
int	prof_counter_pfm(struct prof_names *names, const char *name,
	    struct prof_pmc *counter, struct prof_err *error);
int	prof_counter_software(const char *name, struct prof_pmc *counter);
int	prof_counter_perf(const char *name, struct prof_pmc *counter);
int	prof_counter_sysfs(struct prof_names *names,
	    const struct prof_spec *spec, struct prof_pmc *counter,
	    struct prof_err *error);
/* The n-th of perf's names, into the caller's buffer; false: no more. */
bool	prof_counter_name_at(size_t n, char *buffer, size_t size);
bool	prof_pfm_ready(struct prof_names *names);

/* An event with one of its unit masks, as libpfm4 knows it. */
struct prof_pfm_pmu {
	const char	*pu_name;
	const char	*pu_desc;
	bool		 pu_is_present;
	bool		 pu_is_core;
};
struct prof_pfm_event {
	const struct prof_pfm_pmu *pe_pmu;
	const char	*pe_name;	/* "skx::L2_RQSTS:MISS" */
	const char	*pe_desc;
	bool		 pe_is_precise;
};
typedef int prof_pfm_fn(void *arg, const struct prof_pfm_event *event);
/* Of the PMUs present (glob NULL), or of all that match; nonzero ends it. */
int	prof_pfm_each(struct prof_names *names, const char *glob,
	    prof_pfm_fn *fn, void *arg);
const char *prof_pfm_pmu_at(struct prof_names *names, size_t n);
/* What one of perf's names means; borrowed, or made in the buffer. */
const char *prof_counter_desc(const char *name, char *buffer, size_t size);
/* Put a value where a format file says; -1: it does not fit. */
int	prof_sysfs_spread(const char *format, uint64_t value,
	    struct prof_pmc *counter);
/* Calls fn for each sysfs event, "PMU/event/". */
int	prof_sysfs_list(int (*fn)(void *arg, const char *name), void *arg);

int	prof_pmc_list(struct prof_names *names, prof_list_fn *fn, void *arg,
	    const char **why);

/* Why an event cannot be counted on ourselves; NULL: it can.  Static. */
const char *prof_pmc_why_not(uint32_t type, uint64_t config);

/* --------------------------------------- events/provider/pmc/match.c */

/* A question taken apart: its words, in their other forms too. */
struct prof_question;
struct prof_question *prof_question_new(const char *words);
/* How well name and description answer it; 0: they do not. */
unsigned prof_question_score(const struct prof_question *question,
	    const char *name, const char *desc, size_t may_miss);
size_t	prof_question_nwords(const struct prof_question *question);
void	prof_question_free(struct prof_question *question);

/* What an event's rate means, and which it has when nobody says. */
enum prof_pace {
	PROF_PACE_CLOCK,	/* counts nanoseconds: 999 Hz */
	PROF_PACE_OFTEN,	/* hardware: 999 Hz, adjusted by the kernel */
	PROF_PACE_RARE		/* software: every one */
};
/* Check a rate or period against the kernel's limits and put it into attr. */
int	prof_rate_set(struct prof_event *event, uint64_t period, uint64_t hz,
	    bool is_clock, struct prof_err *error);
int	prof_rate_choose(struct prof_event *event,
	    const struct prof_spec *spec,
	    const struct prof_event_defaults *defaults, enum prof_pace pace,
	    struct prof_err *error);
/* Exclusions and precision from "ukhp" and from the defaults. */
int	prof_mods_set(struct prof_event *event, const struct prof_spec *spec,
	    const struct prof_event_defaults *defaults,
	    struct prof_err *error);
uint64_t prof_max_sample_rate(void);

/* ---------------------------------- events/provider/profile/profile.c */

int	prof_timer_resolve(const struct prof_provider *provider,
	    const struct prof_spec *spec,
	    const struct prof_event_defaults *defaults,
	    struct prof_events *events, struct prof_err *error);

/* ---------------------------------- events/provider/syscall/syscall.c */

const char *prof_syscall_name(unsigned nr);	/* static; NULL: none */
/* DTP_MAX_SYSCALL: there is none of that name. */
unsigned prof_syscall_number(const char *name);
/* tracefs calls a few differently: fstat is "newfstat". */
const char *prof_syscall_to_tracefs(const char *name);

/* ------------------------------------- events/provider/syscall/args.c */

/* All slots of an event; name NULL: several syscalls.  0: no memory. */
uint32_t prof_syscall_args(struct prof_names *names, const char *name,
	    int is_return, struct prof_arg *args);
/* The same of a whole call. */
uint32_t prof_syscall_call_args(struct prof_names *names, const char *name,
	    struct prof_arg *args);
/* A call in words, see events/call.h; owned by caller; NULL: no memory. */
char	*prof_syscall_describe(struct prof_names *names, const char *name);
uint8_t	prof_syscall_about(struct prof_names *names, const char *name);
int	prof_syscall_list(struct prof_names *names, prof_list_fn *fn,
	    void *arg, const char **why);

/* ------------------------------- events/provider/function/instrument.c */

/* Why this kernel has no such probes; NULL: it has.  Static. */
const char *prof_function_why_not(const struct prof_provider *provider);

/* ----------------------------------- events/provider/uprobe/binary.c */

/* A program or library, open. */
struct prof_binary {
	int		 bi_fd;
	char		*bi_path;
};

struct prof_binaries {
	struct prof_binary *bs_binary;
	size_t		 bs_n;
};

/*
 * What a name means: a path, else a library, else a program in PATH; with
 * processes (nm_pids) those that they have mapped, also where others have
 * that name now.
 */
int	prof_binaries_find(const struct prof_names *names, const char *name,
	    struct prof_binaries *binaries, struct prof_err *error);
void	prof_binaries_free(struct prof_binaries *binaries);
/* The places of one; an error says why not. */
int	prof_binary_sites(struct prof_names *names,
	    const struct prof_binary *binary,
	    const struct prof_sites_want *want, struct prof_sites *sites,
	    struct prof_err *error);

/* --------------------------------------------------------- catalog.c */

/* Is it worth telling the listing about this probe? */
bool	prof_listing_wants(const struct prof_names *names, const char *probe,
	    const char *alias);
/* As prof_catalog_new, by names that have what they need. */
struct prof_catalog *prof_catalog_of(struct prof_names *names,
	    const char *glob, struct prof_err *error);

#endif /* PROF_NAMES_H */
