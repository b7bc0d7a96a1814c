/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof report share: cmd_report.c (options, from file to
 * table), report_by.c (what rows are about), report_table.c (tree to rows),
 * report_calls.c (rows of callers and callees), report_tree.c (rows that are
 * a tree), report_plot.c, report_latency.c, report_rows.c, report_spans.c,
 * report_blocked.c, report_text.c, report_names.c and report_data.c.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "../ui/headline.h"
#include "stats.h"

struct terminal;

/* What a row is about: the words of --by, in this order. */
#define BY_WORDS	"function,module,line,pid,tid,comm,cpu,event,probe," \
    "syscall,address,span"
#define BY_FUNCTION	0x001u
#define BY_MODULE	0x002u
#define BY_LINE		0x004u
#define BY_PID		0x008u
#define BY_TID		0x010u
#define BY_COMM		0x020u
#define BY_CPU		0x040u
#define BY_EVENT	0x080u
#define BY_PROBE	0x100u
#define BY_SYSCALL	0x200u
#define BY_ADDRESS	0x400u
#define BY_SPAN		0x800u	/* alone: kinds of spans, not samples */
#define BY_NWORDS	12
#define BY_ARGS		0x1000u	/* arguments of events */
#define BY_CODE		(BY_FUNCTION | BY_MODULE | BY_LINE)

/* What --by asks for; see report_by.c. */
struct report_by {
	unsigned	 rb_set;	/* BY_* */
	/* In the order asked: a word's number, or an argument's + BY_NWORDS. */
	unsigned	 rb_key[BY_NWORDS + PROF_MAX_ARGS];
	size_t		 rb_nkeys;
	char		*rb_arg[PROF_MAX_ARGS];	/* names, owned */
	size_t		 rb_nargs;
};

/* What --plot shows, and how finely the profile keeps time for it. */
#define PLOT_WORDS	"heatmap,timeline,rates,latency"
#define PLOT_HEATMAP	0x1u
#define PLOT_TIMELINE	0x2u
#define PLOT_RATES	0x4u
#define PLOT_LATENCY	0x8u
#define PLOT_BUCKET_NS	20000000ULL
#define PLOT_LATENCY_NS	1000000ULL
#define PLOT_LATENCY_CELLS 200000	/* more: longer ones */
#define PLOT_STEPS	400	/* cells from left to right */

enum report_sort { SORT_SELF, SORT_TOTAL };
enum report_form { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* Of a row and an event: weight, and the samples behind it. */
struct report_sum {
	uint64_t	su_self;
	uint64_t	su_total;
	uint64_t	su_self_samples;
	uint64_t	su_total_samples;
};

/* The parts of a row's name; those that --by does not ask for are NULL. */
struct report_row {
	const char	*rw_comm;
	const char	*rw_pid;	/* "1234 name" */
	const char	*rw_tid;
	const char	*rw_cpu;
	const char	*rw_call;	/* system call */
	const char	*rw_arg[PROF_MAX_ARGS];	/* values, as rb_arg */
	const char	*rw_name;	/* function, line, "[self]" ... */
	const char	*rw_module;
	const struct prof_function *rw_function; /* or NULL */
	size_t		 rw_first;	/* of its sums */
	size_t		 rw_column;	/* by event: its only one */
	uint32_t	 rw_depth;	/* of a tree: rows around it */
	uint32_t	 rw_parent;	/* its number; UINT32_MAX: none */
	bool		 rw_is_root;	/* of a tree: it is no code */
	bool		 rw_is_asked;	/* shown without samples, too */
};

/* A column: an event, and what its shares are shares of. */
struct report_column {
	const struct prof_event_info *co_info;
	size_t		 co_event;
	uint64_t	 co_weight;
	uint64_t	 co_idle;	/* of it, that of the idle tasks */
	uint64_t	 co_samples;
	double		 co_effective;	/* see prof_quality */
	/* Of a counter: the column whose samples bring it; else NULL. */
	const struct report_column *co_base;
};

struct report_table {
	unsigned	 ta_by;
	const struct report_by *ta_keys;
	bool		 ta_is_flow;	/* only totals: callers, pids, ... */
	bool		 ta_is_tree;
	bool		 ta_has_kinds;	/* of code: native, kernel */
	struct report_column *ta_column;
	size_t		 ta_ncolumns;
	struct report_row *ta_row;
	size_t		 ta_nrows;
	struct report_sum *ta_sum;
	size_t		 ta_per_row;	/* sums: columns, or 1 by event */
	size_t		 ta_hidden;	/* rows beyond --limit */
	double		 ta_least;	/* share that hid them; 0: --limit */
};

struct report {
	const char	*re_path;
	struct prof_reader *re_reader;
	struct prof_symbols *re_symbols;
	struct prof_profile *re_profile;
	bool		*re_wanted;	/* by event */
	char		*re_filter;	/* with --state; NULL: as given */
	struct report_by re_by;
	struct headline	 re_headline;
	bool		 re_is_verbose;
	struct report_table re_table;
};

/* A share and where it lies, from 0 to 1. */
struct report_share {
	double		sh_value;
	double		sh_low;
	double		sh_high;
};

/* ----------------------------------------------------- report_table.c */

/* 0, or -1 with a message printed. */
int	report_columns(struct report *report);
int	report_table(struct report *report);
/* The largest rows first; those without samples are left out. */
void	report_sort(struct report_table *table, enum report_sort sort,
	    uint64_t limit);
void	report_table_free(struct report_table *table);
/* Time of the row of waits for work. */
uint64_t report_idle_ns(const struct report *report);
/* The column of a row's n-th sum. */
const struct report_column *report_column(const struct report_table *table,
	    const struct report_row *row, size_t n);
struct report_share report_share(const struct report_column *column,
	    uint64_t part);
/* How much of a counter there is for one of the base: 0 where that is 0. */
double	report_ratio(uint64_t value, uint64_t base);

/* A row is about code below a node's roots, which name the rest of it. */
bool	report_is_root(enum prof_label_kind kind);
void	report_name_roots(const struct report *report,
	    struct report_row *row, uint32_t node);
void	report_name_code(const struct report *report, struct report_row *row,
	    const struct prof_label *label);

/* -------------------------------------------------------- report_by.c */

/* Words of --by; free also after -1: a message was printed. */
int	report_by_parse(struct report_by *by, const char *text);
/* Addresses are of functions, and so are the rows of a tree. */
void	report_by_complete(struct report_by *by, bool is_tree);
/* Are its arguments in the recording?  0, or -1 with a message printed. */
int	report_by_check(const struct report *report);
void	report_by_free(struct report_by *by);
/* "comm", "prev_comm" */
const char *report_by_word(const struct report_by *by, size_t n);

/* ------------------------------------------------------ report_tree.c */

/*
 * The tree of calls as rows, heaviest first: limit of them, or (UINT64_MAX)
 * all that have a share worth a line; -1 as above.
 */
int	report_tree(struct report *report, uint64_t limit);

/* ----------------------------------------------------- report_calls.c */

/* Who calls a function, or (callees) what it calls; -1 as above. */
int	report_calls(struct report *report, const char *function,
	    bool callees);

/* ------------------------------------------------------ report_plot.c */

/* One of PLOT_*, as path; -1 with a message printed. */
int	report_plot(const struct report *report, unsigned plot,
	    const char *path);
/* A time in seconds, with no point that depends on the locale. */
void	report_put_seconds(FILE *file, uint64_t ns);

/* --------------------------------------------------- report_latency.c */

struct report_latency {
	const struct prof_profile_options *rl_options;
	const struct opt_strings *rl_names;	/* of -e; none: all */
	const char	*rl_output;	/* "-": text */
	int		 rl_color;
};

/* Likewise. */
int	report_latency(const struct report *report,
	    const struct report_latency *latency);

/* ----------------------------------------------------- report_rows.c */

/* Rows of another kind than functions. */
struct report_rows {
	const char	*rr_name;	/* their key in JSON */
	const char	*const *rr_columns; /* of CSV, ends with NULL */
	const void	*rr_arg;
	void		 (*rr_text)(const void *arg, struct out *out,
			    const struct terminal *terminal);
	void		 (*rr_emit)(const void *arg, struct emit *em);
};

/* Show them; the exit status. */
int	report_rows(const struct report *report,
	    const struct report_rows *rows, enum report_form form, int color);

/* ---------------------------------------------------- report_spans.c */

/* The table of --by span; exit status. */
int	report_spans(const struct report *report, enum report_form form,
	    int color);

/* ----------------------------- report_blocked.c, report_chains.c */

struct report_waits {
	const struct prof_profile_options *rw_options;
	size_t		 rw_limit;
	enum report_form rw_form;
	int		 rw_color;
};

/* Is it --by lock,holder, or --by waker-chain? */
bool	report_is_blocked(const struct report_by *by);
bool	report_is_chains(const struct report_by *by);
/* An exit status; messages are printed. */
int	report_blocked(struct report *report, const struct report_waits *rw);
int	report_chains(struct report *report, const struct report_waits *rw);

/* ----------------------------------------------------- report_names.c */

/* The columns that say what a row is about. */
struct report_names {
	const struct report_table *na_table;
	size_t		 na_width[BY_NWORDS + PROF_MAX_ARGS]; /* of each key */
	size_t		 na_where;	/* of the module; 0: no column */
	size_t		 na_indent;	/* of a level of a tree */
	size_t		 na_levels;	/* that are indented at most */
	bool		 na_is_wide;	/* nothing is cut: no terminal */
	size_t		 na_kind;	/* width of the kinds; 0: none */
};

/* "native", "kernel", ...; "": nobody knows. */
const char *report_kind(const struct report_row *row);
/* Room: columns of the terminal that are left; 0: no end. */
void	report_names_fit(struct report_names *names,
	    const struct report_table *table, size_t room);
void	report_names_head(const struct report_names *names, struct out *out);
void	report_names_row(const struct report_names *names, struct out *out,
	    const struct terminal *terminal, const struct report_row *row);

/* ------------------------------------ report_text.c, report_data.c */

void	report_text(const struct report *report, struct out *out,
	    const struct terminal *terminal);
void	report_json(const struct report *report, const struct stats *stats,
	    struct out *out);
void	report_csv(const struct report *report, struct out *out);

#endif /* REPORT_H */
