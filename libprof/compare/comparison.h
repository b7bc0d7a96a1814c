/* SPDX-License-Identifier: ISC */
/*
 * What the files of a comparison share.
 *
 *	comparison.c		runs, values and costs come in, answers go out
 *	costs.c			costs of functions by a run's profile
 *	names.c			which function of one build is which of another
 *	waiting.c		which function waits, of an off-CPU stack
 *	verdict.c		families of tests; changes and verdicts
 *	metrics.c		metrics, and the mean over comparisons
 *	functions.c		functions
 *	hosts.c			runs of many machines: the host is the unit
 *	notes.c			what makes one doubt the runs
 */
#ifndef PROF_COMPARISON_H
#define PROF_COMPARISON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/intern.h"
#include "hosts.h"
#include "names.h"
#include "prof.h"
#include "statistics.h"

/*
 * Everything that is called changed without being so: 5 in 100, shared out.
 */
#define ALPHA_HEADLINE	0.01	/* the first metric, or the total */
#define ALPHA_METRICS	0.01
#define ALPHA_FUNCTIONS	0.03
#define TESTED_SHARE	0.001	/* functions below are listed, not tested */

struct run {
	int		 rn_side;
	uint32_t	 rn_block;
	long		 rn_place;	/* in time; -1: not drawn */
	bool		 rn_has_costs;
	/* of hosts: see hosts.h */
	uint32_t	 rn_host;
	uint32_t	 rn_kind;
	uint32_t	 rn_window;
	double		 rn_units;
	char		*rn_warning;	/* why its profile is doubtful; NULL */
};

struct metric {
	char		*mt_name;
	char		*mt_unit;
	double		*mt_value;	/* by run; NaN: it has none */
	struct prof_change mt_change;
};

struct function {
	char		*fn_state;
	char		*fn_name;
	char		*fn_module;
	bool		 fn_is_tested;
	enum prof_presence fn_presence[2];
	struct prof_change fn_change;
};

/* One entry of the matrix of functions and runs, as it came. */
struct cost {
	uint32_t	 cs_function;
	uint32_t	 cs_run;
	double		 cs_cost;
};

struct rename {
	char		*re_old;
	char		*re_new;
};

/*
 * All runs in order of blocks, as the statistics want them.  dw_at[i]: which
 * of the comparison's runs stands at place i.
 */
struct drawing {
	struct prof_design dw_design;
	uint8_t		*dw_side;
	uint32_t	*dw_block;
	double		*dw_time;
	uint32_t	*dw_at;
	uint32_t	*dw_level;	/* of hosts */
	uint32_t	*dw_window;
	uint32_t	*dw_group;
	double		*dw_root;
};

struct prof_comparison {
	struct prof_err	 cp_error;
	struct prof_comparison_options cp_options;
	struct run	*cp_run;
	size_t		 cp_nruns;
	size_t		 cp_cap_runs;
	struct metric	*cp_metric;
	size_t		 cp_nmetrics;
	size_t		 cp_cap_metrics;
	struct function	*cp_function;
	size_t		 cp_nfunctions;
	size_t		 cp_cap_functions;
	size_t		 cp_ntested;
	bool		 cp_has_states;	/* of threads: costs are by state */
	struct prof_dict cp_by_name;
	struct cost	*cp_cost;
	size_t		 cp_ncosts;
	size_t		 cp_cap_costs;
	struct rename	*cp_rename;
	size_t		 cp_nrenames;
	size_t		 cp_cap_renames;
	struct metric	 cp_total;	/* over all functions */
	struct drawing	 cp_drawing;
	bool		 cp_is_hosts;	/* all runs have a host and a window */
	bool		 cp_has_units;	/* costs are per unit of work */
	struct prof_hosts cp_hosts;
	struct prof_dict cp_by_host;
	struct prof_dict cp_by_kind;
	struct prof_dict cp_by_window;	/* of host and side: its run */
	size_t		 cp_nhosts;
	size_t		 cp_nwindows;
	double		*cp_of_host;	/* scratch: two numbers of each */
	char		*cp_total_name;	/* NULL: "total" */
	char		*cp_total_unit;
	bool		 cp_is_drawn;	/* all runs have a place in time */
	double		 cp_floor;	/* the smallest p, of the first one */
	uint32_t	*cp_sorted;	/* functions, as they are shown */
	double		*cp_errors;	/* of the first metric; or NULL */
	char		**cp_note;
	size_t		 cp_nwarnings; /* the first ones: of doubtful runs */
	size_t		 cp_nnotes;
	size_t		 cp_cap_notes;
};

/* The name that a function or thread of the base goes by now. */
const char *prof_comparison_renamed(const struct prof_comparison *comparison,
	    int side, const char *name);
/* The function of a name as all builds have it; NULL: none. */
const struct function *prof_comparison_find(
	    const struct prof_comparison *comparison, const char *name,
	    const char *module);

/* ------------------------------------------------------------- costs.c */

/* Is it the whole, a process, a thread, a CPU or a state, and no code? */
bool	prof_label_is_root(const struct prof_label *label);

/* ------------------------------------------------------------- names.c */

/* Add what an item cost in a run; adds up.  0, or -1. */
int	prof_comparison_add(struct prof_comparison *comparison, long run,
	    const struct prof_item *item, double cost);

/* The key of a function: name and, of a library, which one.  Owned. */
char	*prof_function_key(const char *name, const char *module);

/* ----------------------------------------------------------- verdict.c */

/* A row of a family: a quantity by run, and what becomes of it. */
struct row {
	struct prof_change *ro_change;
	bool		 ro_is_log;	/* values are logarithms */
	double		 ro_factor;	/* from a shift to a change */
	double		 ro_least;	/* all of what it cost, as a change */
};

/* Tests that share out one rate of errors. */
struct family {
	struct prof_family fm_family;
	struct row	*fm_row;
	double		*fm_value;	/* row * runs + place */
	size_t		 fm_nrows;
	bool		 fm_is_linear;	/* never by logarithms */
};
int	prof_family_init(struct family *family,
	    const struct prof_comparison *comparison, double alpha,
	    size_t nrows);
void	prof_family_fini(struct family *family);
/* Add a row: values by run, and of what a change is a share. */
void	prof_family_add(struct family *family,
	    const struct prof_comparison *comparison,
	    struct prof_change *change, const double *values, double whole);
/* Test all rows: p, interval, verdict of each.  -1: no memory. */
int	prof_family_judge(struct family *family,
	    const struct prof_comparison *comparison);

/* The runs in order.  -1: no memory. */
int	prof_drawing_init(struct prof_comparison *comparison);
void	prof_drawing_fini(struct drawing *drawing);
void	prof_change_init(struct prof_change *change);

/* ------------------------------------------------------------- hosts.c */

/* Before all else: which runs count, the design, costs per unit of work. */
int	prof_hosts_prepare(struct prof_comparison *comparison);
/* Values of a side: of its runs, or means of its hosts; how many. */
size_t	prof_side_values(const struct prof_comparison *comparison, int side,
	    const double *values, double *to);

/* Of what changes of functions are shares; NaN: unknown.  -1: no memory. */
int	prof_hosts_whole(const struct prof_comparison *comparison,
	    double *whole);

/* ----------------------------------------------------------- metrics.c */

int	prof_comparison_judge_metrics(struct prof_comparison *comparison);

/* --------------------------------------------------------- functions.c */

int	prof_comparison_judge_functions(struct prof_comparison *comparison);

/* ------------------------------------------------------------- notes.c */

int	prof_comparison_doubt(struct prof_comparison *comparison);

#endif /* PROF_COMPARISON_H */
