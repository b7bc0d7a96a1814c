/* SPDX-License-Identifier: ISC */
/*
 * What the files of the filter share: parse.c makes a tree of an expression,
 * join.c joins and splits trees, compile.c compiles a tree, evaluate.c
 * evaluates it on a record, calls.c compares functions with the names in it.
 * Included by nobody else.
 */
#ifndef PROF_FILTER_IMPL_H
#define PROF_FILTER_IMPL_H

#include <stdbool.h>

#include "abi/dtp_abi.h"
#include "events/event.h"
#include "filter.h"

/* The duration of the span that a sample is in: recordings have no gid. */
#define FILTER_F_SPAN_DURATION	DTP_F_GID
/* Bit n: a function of the stack has name n of struct filter_calls. */
#define FILTER_F_CALLS		DTP_F_UID

#define FILTER_COLUMN	"filter column "	/* begins each error */
#define FILTER_NODES	128	/* comparisons, and what joins them */
#define FILTER_DEPTH	64	/* parentheses and ! in each other */
#define FILTER_NAME	256	/* of a function */

/* What can be compared: the fields of every firing, and arguments. */
struct filter_arg {
	const char	*fa_name;
	bool		 fa_is_signed;
	enum dtp_key_text fa_text;
};

struct filter_scope {
	const char	*fs_event;	/* its name, or NULL: any event */
	bool		 fs_recorded;	/* a recording: it has no uid, gid */
	bool		 fs_is_syscall;	/* slot 0 is the number ... */
	bool		 fs_is_call;	/* ... and slot 1 the return value */
	bool		 fs_is_site;	/* argN is a name, not a position */
	bool		 fs_has_calls;	/* filters by stack are allowed */
	/* Names of calls that the recording has; NULL: those of this machine */
	const struct prof_syscall *const *fs_calls;
	uint32_t	 fs_ncalls;
	const struct prof_filter_spans *fs_spans;	/* NULL: none */
	uint32_t	 fs_nargs;
	struct filter_arg fs_arg[DTP_MAX_ARGS];
};

/* What stands on the right side of a comparison. */
enum filter_value {
	FILTER_NUMBER, FILTER_TEXT, FILTER_COMM, FILTER_SYSCALL,
	FILTER_DURATION, FILTER_SPAN, FILTER_SPAN_DURATION, FILTER_CALLS
};

enum filter_kind { FILTER_TEST, FILTER_AND, FILTER_OR, FILTER_NOT };

/* Children are indices of the tree's nodes. */
struct filter_node {
	enum filter_kind fn_kind;
	uint16_t	 fn_left, fn_right;
	uint16_t	 fn_ntests;	/* at and below this node */
	bool		 fn_has_calls;	/* stack is compared there */
	struct dtp_test	 fn_test;	/* of a FILTER_TEST, without jumps */
};

/* The names of functions that the filter looks for in stacks. */
struct filter_calls {
	uint32_t	 fc_n;
	struct {
		bool	 fn_is_glob;
		char	 fn_text[FILTER_NAME];
	} fc_name[DTP_MAX_TESTS];
};

struct prof_filter {
	struct dtp_filter	pf_filter;
	struct filter_calls	pf_calls;
	bool			pf_is_call;	/* the weight is a duration */
};

struct filter_tree {
	struct filter_node ft_node[FILTER_NODES];
	uint16_t	 ft_n;
	struct dtp_filter_text ft_text[DTP_MAX_TEXTS];
	uint16_t	 ft_ntexts;
	struct filter_calls ft_calls;
};

/* What an event has; NULL: only arg0..arg7. */
void	prof_filter_scope(const struct prof_event *event,
	    struct filter_scope *scope);
/* One more expression into the tree; its node, or -1. */
int	prof_filter_parse(const char *expression,
	    const struct filter_scope *scope, struct filter_tree *tree,
	    struct prof_err *error);
/* -1: the tree is full. */
int	prof_filter_node(struct filter_tree *tree, enum filter_kind kind,
	    int left, int right);
/* A node of the tree to a list of comparisons. */
int	prof_filter_flatten(const struct filter_tree *tree, int at,
	    struct dtp_filter *filter, struct prof_err *error);
/* calls: names of functions; NULL if the scope has no stacks. */
int	prof_filter_translate(const char *expression,
	    const struct filter_scope *scope, struct dtp_filter *filter,
	    struct filter_calls *calls, struct prof_err *error);
/*
 * A name to its field, and what it is compared to.  -1: there is none, or it
 * cannot be had here, and why says so in a few words.
 */
int	prof_filter_field(const struct filter_scope *scope, const char *name,
	    enum filter_value *value, bool *is_signed, char *why,
	    size_t whysize);
/* The number of a system call; -1: there is none of that name. */
int64_t	prof_filter_syscall(const struct filter_scope *scope,
	    const char *name);
/*
 * One more name, its number; -1: it is too long or one too many, and why says
 * so.
 */
int	prof_filter_calls_add(struct filter_calls *calls, bool is_glob,
	    const char *text, size_t length, const char **why);
/* As prof_filter_calls. */
int	prof_filter_calls_find(const struct filter_calls *calls,
	    const struct prof_function *function, uint64_t *found);

#endif /* PROF_FILTER_IMPL_H */
