/* SPDX-License-Identifier: ISC */
/*
 * What is made of recordings: profiles, pictures, and files of other tools.
 * A part of prof.h, which includes it.
 */
#ifndef PROF_H
#error "include prof.h"
#endif

/* ------------------------------------------------------------ profile */

/* What stands above the outermost function of a stack; may be combined. */
#define PROF_ROOT_COMM	1u
#define PROF_ROOT_PID	2u
#define PROF_ROOT_TID	4u
#define PROF_ROOT_CPU	8u
#define PROF_ROOT_CALL	16u	/* the system call */
#define PROF_ROOT_ARGS	32u	/* values of arguments, see pl_args */

struct prof_profile_options {
	size_t		 pl_size;	/* as po_size */
	uint64_t	 pl_from_ns;	/* CLOCK_MONOTONIC, from here */
	uint64_t	 pl_to_ns;	/* to before here; 0: to the end */
	const char	*pl_filter;	/* as of prof_filter_new, or NULL */
	unsigned	 pl_roots;	/* PROF_ROOT_* */
	int		 pl_reverse;	/* the innermost function at the root */
	int		 pl_inlines;	/* inlined functions as frames */
	int		 pl_lines;	/* lines as frames, inlined too */
	uint64_t	 pl_bucket_ns;	/* keep what was when; or 0 */
	/* Called now and then with the share done; nonzero gives up. */
	int		 (*pl_progress)(void *arg, double done);
	void		*pl_arg;
	int		 pl_places;	/* tell places in functions apart */
	size_t		 pl_max_buckets;	/* more: longer ones; or 0 */
	int		 pl_leaves;	/* innermost frames alone */
	int		 pl_addresses;	/* functions are called "f 0x1234" */
	const char	*const *pl_args; /* of events, by name */
	size_t		 pl_nargs;	/* up to PROF_MAX_ARGS */
	uint64_t	 pl_frames;	/* PROF_FRAMES_*, of user and kernel */
	uint64_t	 pl_held;	/* allocations that nobody freed */
	/* Of a sample, for that of time; < 0: not wanted.  Threads ask it. */
	int64_t	 (*pl_bucket_of)(const void *, uint32_t tid, uint64_t ns);
	const void	*pl_bucket_arg;
	uint64_t	 pl_times;	/* most samples with a time; 0: none */
	uint64_t	 pl_fold_idle;	/* waits for work are one row, "idle" */
	uint64_t	 pl_values;	/* no root for arguments without one */
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
	PROF_LABEL_PLACE,	/* function+0x12, lb_function is around it */
	PROF_LABEL_CALL,	/* a root: the system call, or "-" */
	PROF_LABEL_OVER,	/* stacks beyond the memory budget */
	PROF_LABEL_ARG		/* a root: an argument's value, or "-" */
};

struct prof_label {
	enum prof_label_kind lb_kind;
	/* LINE: the function whose line it is; NULL: lb_function */
	const struct prof_function *lb_inner;
	const char	*lb_name;	/* never NULL */
	const char	*lb_module;	/* "" where there is none */
	const struct prof_function *lb_function; /* NULL: not a function */
	/* Of a place (pl_places): as fu_address, and prof_symbols_lines. */
	uint64_t	 lb_address;
	struct prof_frame lb_frame;
	uint32_t	 lb_space;
};

/*
 * Samples of a node in a bucket of time, see pl_bucket_ns (0: one is all);
 * by time, then node, then event.  A bucket may be 2, 4, 8, ... times as long,
 * see pl_max_buckets; prof_profile_bucket_ns says how long.
 */
struct prof_bucket {
	uint32_t	pc_bucket;	/* from the first sample on */
	uint32_t	pc_node;
	uint32_t	pc_event;
	uint64_t	pc_samples;
	uint64_t	pc_weight;
};

/* How reliable an event's samples are: shares from 0 to 1. */
struct prof_quality {
	uint64_t	pq_samples;
	uint64_t	pq_weight;
	uint64_t	pq_idle;	/* weight of the idle tasks */
	/*
	 * As many samples of one weight would tell as much: what an interval
	 * of a share of the weight is made of.  No more than pq_samples.
	 */
	double		pq_effective;
	double		pq_complete;	/* of user stacks: to the entry */
	double		pq_unresolved;	/* of weight: innermost without name */
	double		pq_lost;	/* of samples: prof_lost_share */
	double		pq_side_lost;	/* of mapping and process events */
	double		pq_unaccounted;	/* of the count: unaccounted */
	double		pq_throttled;	/* of the time */
	double		pq_multiplexed;	/* of the time: not running */
	double		pq_over;	/* of weight: PROF_LABEL_OVER */
	int		pq_is_bad;	/* something is in pq_text */
	/*
	 * What is bad, a line each, the worst first: the number, what it does
	 * to the result, and a cure.  "": nothing is.
	 */
	char		pq_text[1024];
	/* Of weight: in code of interpreters, counted to what called it. */
	double		pq_folded;
	uint64_t	pq_idle_waits;	/* weight, with pl_fold_idle */
};

/* Whose samples a profile is made of; idle tasks are not counted. */
struct prof_sampled {
	uint64_t	sa_threads;
	uint64_t	sa_processes;
	int		sa_is_more;	/* too many to be counted: at least */
	/* The process of most samples, as it was last called; "": unknown. */
	char		sa_comm[16];
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
const struct prof_bucket *prof_profile_buckets(
    const struct prof_profile *profile, size_t *n);
uint64_t prof_profile_bucket_ns(const struct prof_profile *profile);
uint64_t prof_profile_time(const struct prof_profile *profile, uint32_t n);
void prof_profile_quality_sized(const struct prof_profile *profile,
    size_t event, struct prof_quality *quality, size_t size);
#define prof_profile_quality(profile, event, quality)			\
	prof_profile_quality_sized(profile, event, quality,		\
	    sizeof(*(quality)))
void prof_profile_sampled_sized(const struct prof_profile *profile,
    struct prof_sampled *sampled, size_t size);
#define prof_profile_sampled(profile, sampled)				\
	prof_profile_sampled_sized(profile, sampled, sizeof(*(sampled)))
/*
 * Whose threads waited, which run parts that wait without a thread, such as
 * "goroutines" (*part); NULL: there is no number n.  Of waits with a stack.
 */
const char *prof_profile_scheduler(const struct prof_profile *profile,
    size_t n, const char **part);
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
	uint64_t	 fl_samples;	/* export: count samples, not weight */
	/*
	 * otlp: attributes of the resource, as { key, value, key, value, ...,
	 * NULL }; they replace attributes with the same key.
	 */
	const char	*const *fl_labels;
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
/*
 * A recording, or one made in memory of what import reads, whichever the file
 * (or "-", standard input) is.  import: what was made of it, with its notes,
 * owned by caller; NULL: it was a recording.
 */
struct prof_reader *prof_reader_open_any(const char *path,
    struct prof_import **import, struct prof_err *error);
uint64_t prof_import_samples(const struct prof_import *import);
/* What was not in the file, or could not be taken over; NULL: no more. */
const char *prof_import_note(const struct prof_import *import, size_t n);
void prof_import_free(struct prof_import *import);
