/* SPDX-License-Identifier: ISC */
/*
 * A profile's insides, from samples to a tree, one step a file:
 *
 *	history.c	events -> when mappings and names of threads changed
 *	select.c	which samples
 *	calls.c		functions in the stack of a sample, for a filter
 *	gather.c	chunks of samples, on all CPUs -> struct prof_fold:
 *			each different sample once; nothing has names yet
 *	args.c		values of arguments -> numbers
 *	outside.c	who ended a wait: a recorded thread, or another
 *	waits.c		what a wait is, by its stack
 *	sampled.c	how many threads and processes were sampled
 *	label.c		a pc in a space -> its functions, each just once
 *	tree.c		folds -> nodes, each different stack walked once
 *	budget.c	how much memory of it all a file of its size may take
 *	buckets.c	nodes -> buckets of time, by another pass of gather.c
 *			where it is asked what was when
 *	order.c		nodes and buckets in the order that does not depend on
 *			how many threads there were
 *	latency.c	durations by time, a pass of its own
 *	throttling.c	what the kernel kept from us
 *	quality.c	how reliable it is
 *	times.c		when each sample was
 *	profile.c	the public calls
 *
 * Memory is bounded by what is different, not by how often it was seen, and
 * by a budget.
 *
 * Included by profile/, and by compare/, output/ and import/.
 */
#ifndef PROF_PROFILE_IMPL_H
#define PROF_PROFILE_IMPL_H

#include <string.h>

#include "base/record.h"
#include "base/grow.h"
#include "base/intern.h"
#include "latency.h"
#include "recording/decode.h"
#include "spans/held.h"

#define PROF_COMM_LEN	16

/* ----------------------------------------------------------- budget.c */

/*
 * Bytes of memory that may still be taken.  What a file claims grows faster
 * than the file: a stack that many threads have is many stacks.  Beyond the
 * budget what is new is not told apart any more, but stands together as
 * PROF_OVER_NAME; sums stay what they are.
 */
struct prof_budget {
	uint64_t	bu_left;
	uint64_t	bu_steps;	/* frames that may still be looked at */
	bool		bu_reached;
};

/* Half of what a profile of this recording may take. */
struct prof_budget prof_budget_of(const struct prof_reader *reader);
/* false: so much is not left; nothing is taken then.  NULL has no end. */
bool	prof_budget_take(struct prof_budget *budget, uint64_t bytes);
/* Look at one more frame. */
bool	prof_budget_step(struct prof_budget *budget);

/* ---------------------------------------------------------- history.c */

/* What is true of a thread, from mo_from_ns to before mo_to_ns. */
struct prof_moment {
	uint64_t	 mo_from_ns;
	uint64_t	 mo_to_ns;
	uint32_t	 mo_space;	/* gather.c's: what it has mapped */
	const char	*mo_comm;	/* "": not known */
};

struct prof_history;
/*
 * wanted: whether names at a time are; else only the last one of a thread is
 * known, at the cost of a search.  Owned by caller; the reader outlives it.
 */
struct prof_history *prof_history_new(const struct prof_reader *reader,
	    bool wanted, struct prof_err *error);
/* All but mo_space. */
void	prof_history_at(const struct prof_history *history, uint32_t tid,
	    uint64_t time_ns, struct prof_moment *moment);
/* The last name of a thread, for people; "": none. */
const char *prof_history_last_comm(const struct prof_history *history,
	    uint32_t tid);
void	prof_history_free(struct prof_history *history);

/* ----------------------------------------------------------- select.c */

struct prof_select {
	const struct prof_profile_options *se_options;
	/*
	 * For each kind of spans, of samples in one, and of those in none; in
	 * each by event.  NULL: there is none.
	 */
	struct prof_filter **se_filter;
	size_t		 se_nevents;
	struct prof_spans *se_spans;	/* NULL: it does not ask for them */
	size_t		 se_nkinds;
	struct prof_held *se_held;	/* NULL: it does not ask for them */
	struct prof_calls *se_calls;	/* the same; for one thread */
};

/* symbols: NULL where there are none.  Fini also after a failure. */
int	prof_select_init(struct prof_select *select,
	    struct prof_reader *reader, struct prof_symbols *symbols,
	    const struct prof_profile_options *options,
	    struct prof_err *error);
void	prof_select_fini(struct prof_select *select);
bool	prof_select_time(const struct prof_select *select, uint64_t time_ns);
/*
 * Its bucket; below 0: it is not wanted.  Those of time count from first_ns,
 * when the first sample that is wanted was taken.
 */
int64_t	prof_select_bucket(const struct prof_select *select,
	    const struct prof_record *record, uint64_t first_ns);
/* comm: what its thread was called then, unless it says so itself. */
bool	prof_select_wants(const struct prof_select *select,
	    const struct prof_sample *sample, const char *comm);
/* Call after the last sample.  -1: a filter could not judge all samples. */
int	prof_select_check(const struct prof_select *select,
	    struct prof_err *error);

/* ------------------------------------------------------------ buckets.c */

/* A number of buckets that stays bounded. */
struct prof_buckets {
	struct prof_bucket *ce_bucket;
	size_t		 ce_n;
	size_t		 ce_cap;
	uint32_t	*ce_last;	/* bucket of a node; UINT32_MAX */
	size_t		 ce_nnodes;
	size_t		 ce_max;	/* 0: any number */
	size_t		 ce_fit_at;	/* so many are added up at once */
	unsigned	 ce_halved;	/* so often each became twice as long */
};

/* 0, or -1: no memory, of all of these; fini also after a failure. */
int prof_buckets_init(struct prof_buckets *buckets, size_t nnodes, size_t max);
/* pc_bucket: as long as it was in the beginning. */
int	prof_buckets_add(struct prof_buckets *buckets,
	    const struct prof_bucket *bucket);
/* Take over what another one has, and no more than are wanted. */
int	prof_buckets_join(struct prof_buckets *to, struct prof_buckets *from);
void	prof_buckets_fini(struct prof_buckets *buckets);
/* By time, node, event; what is the same is added up. */
int	prof_buckets_sum(struct prof_bucket **buckets, size_t *count);

/* ------------------------------------------------------------- args.c */

/* Values of arguments, of one sample each. */
struct prof_args {
	struct prof_dict ag_by_text;
	char		**ag_text;	/* values, each ended by 0 */
	size_t		*ag_length;	/* of all, with these */
	size_t		 ag_n;
	size_t		 ag_cap;
	size_t		 ag_cap_length;
	size_t		 ag_nlengths;
};

#define PROF_ARGS_OVER	(UINT32_MAX - 1) /* there is no room left */

/*
 * The number of what a sample has of the options' arguments; UINT32_MAX: no
 * memory.
 */
uint32_t prof_args_of(struct prof_args *args, struct prof_budget *budget,
	    const struct prof_profile_options *options,
	    const struct prof_event_info *info,
	    const struct prof_record *record);
/* The number here of what has a number there. */
uint32_t prof_args_join(struct prof_args *args,
	    const struct prof_args *from, uint32_t n);
void	prof_args_fini(struct prof_args *args);

/* ---------------------------------------------------------- sampled.c */

struct prof_task {
	uint32_t	ta_pid;
	uint32_t	ta_tid;
	uint64_t	ta_samples;
};

/* Threads that were sampled; one has a number by pid and tid. */
struct prof_tasks {
	struct prof_map	 tk_by_id;
	struct prof_task *tk_task;
	size_t		 tk_n;
	size_t		 tk_cap;
	bool		 tk_is_more;	/* some had no room */
};

/* Its number, or UINT32_MAX where it has no room; -1: no memory. */
int	prof_tasks_find(struct prof_tasks *tasks, struct prof_budget *budget,
	    uint32_t pid, uint32_t tid, uint32_t *number);
int	prof_tasks_join(struct prof_tasks *tasks,
	    const struct prof_tasks *from);
void	prof_tasks_fini(struct prof_tasks *tasks);
/* Tasks are put in another order. */
void	prof_tasks_count(struct prof_tasks *tasks,
	    const struct prof_history *history,
	    struct prof_sampled *sampled);

/* ----------------------------------------------------------- gather.c */

/*
 * Who was sampled, as far as it matters: the same mappings, and the same of
 * what the roots ask for (the rest is 0).  No padding: it is a key.
 */
struct prof_who {
	uint32_t	wh_space;	/* prof_symbols_space */
	uint32_t	wh_pid;
	uint32_t	wh_tid;
	uint32_t	wh_cpu;
	uint32_t	wh_call;	/* its number + 1, 0: none */
	uint32_t	wh_is_0;	/* number 0: its name is not wh_comm */
	uint32_t	wh_args;	/* their number + 1, 0: none */
	uint32_t	wh_roots;	/* PROF_ROOT_* that are set here */
	char		wh_comm[PROF_COMM_LEN];
};

#define PROF_FOLD_KERNEL	0x01	/* has kernel frames */
#define PROF_FOLD_USER		0x02
#define PROF_FOLD_KERNEL_CUT	0x04	/* and they end too early */
#define PROF_FOLD_USER_CUT	0x08
#define PROF_FOLD_KERNEL_PC	0x10	/* no frames: the pc, in fo_kleaf */
#define PROF_FOLD_USER_PC	0x20	/* the same, in fo_uleaf */
#define PROF_FOLD_OVER		0x40	/* what has no room */
#define PROF_FOLD_BLOCKED	0x80	/* a wait whose stack tells more */
#define PROF_FOLD_OUTSIDE	0x100	/* no recorded thread ended it */
#define PROF_FOLD_CHANCE	0x200	/* its stacks were walked by chance */
#define PROF_FOLD_UNWALKED	0x400	/* and it has none */
#define PROF_FOLD_STEP		0xf800	/* pr_by_chance, shifted */
#define PROF_FOLD_STEP_SHIFT	11
#define PROF_FOLD_CALL_SHIFT	32	/* above: the system call + 1, or 0 */

/*
 * Samples that are one to us; what another thread met too is there twice.
 * The key comes first, without padding.
 */
struct prof_fold {
	uint64_t	fo_kleaf;
	uint64_t	fo_uleaf;
	uint32_t	fo_kstack;
	uint32_t	fo_ustack;
	uint32_t	fo_who;
	uint32_t	fo_event;
	uint32_t	fo_script;	/* script frames; 0: none */
	uint32_t	fo_instruction;	/* of the innermost of these */
	uint64_t	fo_bits;
	uint64_t	fo_weight;
	uint64_t	fo_samples;
};
#define PROF_FOLD_KEY	offsetof(struct prof_fold, fo_weight)

/* fold.c: of a sample, all but who it was and what it weighs. */
void	prof_fold_key(struct prof_fold *fold,
	    const struct prof_sample *sample);
/* Chance decided not to walk its stacks. */
bool	prof_record_is_unwalked(const struct prof_record *record);
/* Without the callers of the innermost frame, known or not. */
void	prof_fold_leaf(struct prof_fold *fold);

/* How samples of a recording are folded. */
struct prof_outside;
struct prof_folding {
	const struct prof_reader *fg_reader;
	struct prof_outside *fg_outside;	/* NULL: there are no waits */
	bool		 fg_leaves;
};

/* Fini also after a failure. */
int	prof_folding_init(struct prof_folding *folding,
	    const struct prof_reader *reader,
	    const struct prof_profile_options *options,
	    struct prof_err *error);
void	prof_folding_fini(struct prof_folding *folding);
/* As prof_fold_key, with the bits that need the recording. */
void	prof_fold_make(struct prof_fold *fold,
	    const struct prof_folding *folding,
	    const struct prof_sample *sample);
/*
 * The system call of a sample, plus 1; 0: none.  Recordings without names of
 * system calls have kernel frames instead.
 */
uint32_t prof_fold_call(const struct prof_reader *reader,
	    const struct prof_record *record);

/* Of an event: how its user stacks ended, and how its weights vary. */
struct prof_ends {
	uint64_t	en_stacks;
	uint64_t	en_status[PROF_STACK_NSTATUS];
	uint64_t	en_idle;	/* weight of process 0 */
	unsigned __int128 en_squares;	/* of weights; modulo 2^128 */
	/* Of those for which chance decided, and of those walked then. */
	uint64_t	en_chance;	/* weight */
	uint64_t	en_walked;
	unsigned __int128 en_others;	/* for which those walked stand */
	/* Of weights walked: w * w, w * others of w, others of w squared. */
	unsigned __int128 en_walked_squares[3];
	unsigned __int128 en_chance_squares;
};

struct prof_gathered {
	struct prof_fold *ga_fold;
	size_t		 ga_nfolds;
	struct prof_who	*ga_who;
	size_t		 ga_nwho;
	struct prof_args ga_args;	/* of those */
	struct prof_tasks ga_tasks;
	struct prof_sampled ga_sampled;
	struct prof_ends *ga_ends;	/* by event */
	uint64_t	 ga_first_ns;	/* 0 and 0: there is no sample */
	uint64_t	 ga_last_ns;
	struct prof_held_rest ga_rest;
	bool		 ga_is_alone;	/* one thread: in order of samples */
};

struct prof_gather;
struct prof_gather *prof_gather_new(struct prof_reader *reader,
	    struct prof_symbols *symbols, const struct prof_history *history,
	    const struct prof_profile_options *options,
	    struct prof_err *error);	/* owned by caller */
const struct prof_gathered *prof_gather_folds(const struct prof_gather *gather);
/* chance.c: for how much not walked, on average, what was walked stands. */
unsigned __int128 prof_chance_others(uint32_t step, uint64_t walked);
/* Divides the time of waits that were not walked. */
int	prof_chance_share(struct prof_gathered *got,
	    const struct prof_profile_options *options,
	    struct prof_err *error);
/* What was found is forgotten; one thread does it all. */
int	prof_gather_alone(struct prof_gather *gather, struct prof_err *error);
/* All samples again: each is of its fold's node, and of a bucket of time. */
int prof_gather_buckets(struct prof_gather *gather, const uint32_t *nodes,
	    size_t nnodes, struct prof_buckets *buckets,
	    struct prof_err *error);
void	prof_gather_free(struct prof_gather *gather);

/* ------------------------------------------------------------ times.c */

enum { PROF_STATE_NONE, PROF_STATE_BLOCKED, PROF_STATE_RUNNABLE };

/* A thread at a time: all its samples of that time are one bucket. */
struct prof_instant {
	uint64_t	it_time_ns;
	uint32_t	it_tid;
	uint32_t	it_pid;
	uint8_t		it_state;	/* of the off-CPU sample */
};

struct prof_times;
struct prof_profile;
/*
 * Of all samples in the options' range of time; owned by caller, NULL where
 * there are more than pl_times.
 */
int	prof_times_new(const struct prof_reader *reader,
	    const struct prof_profile_options *options,
	    struct prof_times **made, struct prof_err *error);
/* As pl_bucket_of, with the times. */
int64_t	prof_times_bucket(const void *arg, uint32_t tid, uint64_t time_ns);
/* Of a bucket of a profile that has times. */
const struct prof_instant *prof_times_at(const struct prof_profile *profile,
	    uint32_t n);
void	prof_times_free(struct prof_times *times);

/* ------------------------------------------------------------ label.c */

/* The labels of a frame, the outermost first. */
struct prof_label_chain {
	uint32_t	ch_first;	/* in lb_chain */
	uint32_t	ch_count;
};

struct prof_labels {
	struct prof_symbols *lb_symbols;
	struct prof_budget *lb_budget;
	uint32_t	 lb_over;	/* UINT32_MAX: nothing is */
	struct prof_label_chain lb_over_chain;
	const struct prof_profile_options *lb_options;
	struct prof_label *lb_label;
	size_t		 lb_nlabels;
	size_t		 lb_cap;
	struct prof_dict lb_by_text;	/* kind, name, module, address */
	struct prof_map	 lb_by_function;
	uint32_t	*lb_of_function;
	size_t		 lb_nfunctions;
	size_t		 lb_cap_functions;
	struct prof_dict lb_by_spot;
	struct prof_label_chain *lb_of_spot;	/* of each spot */
	size_t		 lb_nspots;
	size_t		 lb_cap_spots;
	uint32_t	*lb_chain;	/* labels of frames that are inlined */
	size_t		 lb_nchain;
	size_t		 lb_cap_chain;
	char		**lb_text;	/* owned */
	size_t		 lb_ntexts;
	size_t		 lb_cap_texts;
};

/* The innermost frame of a system call: its name. */
uint32_t prof_labels_call(struct prof_labels *labels,
	    const struct prof_reader *reader, uint64_t number);
/* The budget must outlive what is asked; NULL: there is none. */
int	prof_labels_init(struct prof_labels *labels,
	    struct prof_symbols *symbols,
	    const struct prof_profile_options *options,
	    struct prof_budget *budget);
/* UINT32_MAX: no memory. */
uint32_t prof_labels_add(struct prof_labels *labels,
	    enum prof_label_kind kind, const char *name,
	    const struct prof_function *function);
/* Of what the budget has no room for; made when first needed. */
uint32_t prof_labels_over(struct prof_labels *labels);
/* A copy that lives as long as the labels; NULL: no memory. */
const char *prof_labels_text(struct prof_labels *labels, const char *text);
/* NULL: no memory.  Borrowed until the next call. */
const struct prof_label_chain *prof_labels_frame(struct prof_labels *labels,
	    uint32_t space, const struct prof_frame *frame);
/* No frame will be asked for any more; the labels stay. */
void	prof_labels_forget(struct prof_labels *labels);
void	prof_labels_fini(struct prof_labels *labels);

/* ------------------------------------------------------------- tree.c */

struct prof_tree {
	struct prof_tree_node *tr_node;
	size_t		 tr_nnodes;
	size_t		 tr_cap;
	struct prof_bucket *tr_bucket;
	size_t		 tr_nbuckets;
	size_t		 tr_cap_buckets;
	uint64_t	*tr_folded;	/* by event: weight in folded frames */
	uint64_t	*tr_idle;	/* by event: weight of waits for work */
	uint64_t	 tr_waits;	/* as of prof_waits_found */
};

/*
 * The node below a node that has this label, made when there is none; the map
 * knows them (parent, label -> node - 1).  UINT32_MAX: no memory.
 */
uint32_t prof_tree_child(struct prof_tree *tree, struct prof_map *children,
	    uint32_t parent, uint32_t label);
/* The node of each fold. */
int	prof_tree_build(struct prof_tree *tree, struct prof_labels *labels,
	    const struct prof_reader *reader,
	    const struct prof_history *history,
	    const struct prof_gathered *gathered, uint32_t *nodes);

/* ------------------------------------------------------------ order.c */

/* Renumber nodes and labels, sum up buckets; 0, or -1: no memory. */
int	prof_order(struct prof_tree *tree, struct prof_labels *labels);

/* ---------------------------------------------------------- profile.c */

/* By node, made when first asked for. */
struct prof_dense {
	uint64_t	*dn_self;
	uint64_t	*dn_samples;
};

struct prof_profile {
	const struct prof_reader *pf_reader;
	size_t		 pf_nevents;
	struct prof_labels pf_labels;
	struct prof_tree pf_tree;
	struct prof_dense *pf_dense;	/* by event */
	size_t		 pf_ndense;	/* of them made */
	struct prof_quality *pf_quality; /* by event */
	struct prof_sampled pf_sampled;
	struct prof_held_rest pf_rest;
	const struct prof_latencies *pf_latencies; /* NULL: none */
	struct prof_times *pf_times;	/* NULL: without pl_times */
	uint64_t	 pf_bucket_ns;
	uint64_t	 pf_from_ns;
	uint64_t	 pf_to_ns;
};

/* ---------------------------------------------------------- quality.c */

/* Add a sample, which hung on the record's stack. */
void	prof_ends_add(struct prof_ends *ends,
	    const struct prof_record *record, uint64_t weight);
void	prof_ends_join(struct prof_ends *sum, const struct prof_ends *add);
/* Fill in pf_quality; 0, or -1: no memory. */
int	prof_quality_fill(struct prof_profile *profile,
	    const struct prof_ends *ends, bool is_reversed);
/* The label of the innermost function on the way to a node. */
const struct prof_label *prof_quality_innermost(
	    const struct prof_profile *profile, uint32_t node,
	    bool is_reversed);

/* ----------------------------------------------------- quality_text.c */

/* From the figures, what is bad in words; 0, or -1: no memory. */
int	prof_quality_describe(struct prof_profile *profile,
	    const struct prof_ends *ends, bool is_reversed);

#endif /* PROF_PROFILE_IMPL_H */
