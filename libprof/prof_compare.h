/* SPDX-License-Identifier: ISC */
/*
 * What changed between runs: statistics, and comparisons of what runs had and
 * what their functions cost.  A part of prof.h, which includes it.
 */
#ifndef PROF_H
#error "include prof.h"
#endif

/* --------------------------------------------------------- comparison */

/*
 * Runs of base and new, side 0 and side 1, and what can be said of the
 * difference.  The run is the unit.  Runs of a block were made in an order
 * drawn at random; the test asks how many of the orders that could have been
 * drawn set the sides as far apart.  Runs without a place in time are taken
 * for runs in any order: that assumes no drift.
 *
 * What a comparison calls changed is wrong in at most 5 of 100 comparisons
 * of equals, over everything that it looks at: of these the first metric may
 * spend 1, other metrics 1, functions 3 (step-down maxT within each).
 */
#define PROF_MIN_RUNS	5	/* a side; fewer allow no verdict */

enum prof_verdict {
	PROF_VERDICT_FEW,	/* too few runs */
	PROF_VERDICT_OPEN,	/* inconclusive: see cg_runs_needed */
	PROF_VERDICT_SAME,	/* no change: the interval says so */
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
	/*
	 * Simultaneous: all intervals of a comparison hold the true changes
	 * in 95 of 100.  Without 0 just where the verdict is less or more.
	 */
	double		 cg_ci95[2];
	double		 cg_p;		/* of this alone */
	double		 cg_p_adjusted;	/* what verdicts go by */
	double		 cg_p_rank;	/* Mann-Whitney */
	double		 cg_p_welch;
	double		 cg_delta;	/* Cliff's, from -1 to 1 */
	int		 cg_is_exact;	/* all orders were looked at */
	enum prof_verdict cg_verdict;
	size_t		 cg_runs_needed; /* a side, about; 0: these do */
	double		 cg_smallest;	/* change that these runs can show */
	/* functions */
	double		 cg_share[2];	/* of its side's runs, mean */
	double		 cg_part;	/* of the change of the total */
	enum prof_presence cg_presence[2];
	/* "running", "runnable", "blocked"; "": costs have no states */
	const char	*cg_state;
};

struct prof_comparison_options {
	size_t		 cp_size;	/* as po_size */
	double		 cp_threshold;	/* 0: 0.01 */
	uint64_t	 cp_seed;
	size_t		 cp_family;	/* comparisons made at once; 0: 1 */
};

struct prof_comparison;

struct prof_comparison *prof_comparison_new(
    const struct prof_comparison_options *options, struct prof_err *error);
const struct prof_err *prof_comparison_error(
    const struct prof_comparison *comparison);
/*
 * A run; its number, or -1.  place: which run of all it was, in the order of
 * time, where that order was drawn at random; else -1, for all runs.
 */
long prof_comparison_run(struct prof_comparison *comparison, int side,
    uint32_t block, long place);
/*
 * What a run had of a metric.  The first metric named decides; where runs were
 * not interleaved, "cpu", if no fewer runs have it.
 */
int prof_comparison_value(struct prof_comparison *comparison, long run,
    const char *metric, const char *unit, double value);
/* What a function cost in a run; adds up.  Of side 0 it may be renamed. */
int prof_comparison_cost(struct prof_comparison *comparison, long run,
    const char *function, const char *module, int is_inlined, double cost);
struct prof_profile;
/*
 * The costs of a run by its profile: what each function itself had of an
 * event, and a warning where the profile's quality is bad.  Where the states of
 * threads are the roots of the profile (pl_args), by state; time off the CPU is
 * of the function that waits, not of those that waiting is made of.
 */
int prof_comparison_profile(struct prof_comparison *comparison, long run,
    const struct prof_profile *profile, size_t event);
/* A run's profile is to be read with care: a note of it, with why. */
int prof_comparison_warning(struct prof_comparison *comparison, long run,
    const char *why);
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
/* The largest changes first; functions of 0.1 % and more were tested. */
size_t prof_comparison_nfunctions(const struct prof_comparison *comparison);
size_t prof_comparison_ntested(const struct prof_comparison *comparison);
const struct prof_change *prof_comparison_function(
    const struct prof_comparison *comparison, size_t n);
/* True: the order of runs was not drawn, so what drifts may count. */
int prof_comparison_assumes_no_drift(
    const struct prof_comparison *comparison);
/* The values of a metric (or of the total: NULL) by run; how many runs. */
size_t prof_comparison_values(const struct prof_comparison *comparison,
    const char *metric, double *values, int *sides, size_t max);
/* What makes one doubt the runs, one a call; NULL: no more. */
const char *prof_comparison_note(const struct prof_comparison *comparison,
    size_t n);
void prof_comparison_free(struct prof_comparison *comparison);
/*
 * Geometric mean of the changes of the first metric, and its interval.  Of how
 * many comparisons, as some have no interval; -1: no memory.
 */
int prof_comparison_geomean(struct prof_comparison *const *comparisons,
    size_t n, double *change, double ci95[2]);

/* --------------------------------------------------------- difference */

/*
 * The runs of a comparison as one tree of all frames of both sides, from a
 * profile of each.  What it says of the total and of functions is what the
 * comparison says, and frames are tested by the same orders of runs.  With
 * PROF_MIN_RUNS a side it says which frames differ by more than chance; with
 * fewer it claims nothing.
 */
struct prof_difference;
struct prof_flame_options;

/* The comparison is borrowed until prof_difference_free. */
struct prof_difference *prof_difference_new(
    struct prof_comparison *comparison, struct prof_err *error);
const struct prof_err *prof_difference_error(
    const struct prof_difference *difference);
/*
 * Also prof_comparison_profile.  The event has the same name and unit in all
 * profiles.  Things are called as in the run that has them first; names of
 * threads, too, may be renamed.  The profile may be freed then.
 */
int prof_difference_add(struct prof_difference *difference, long run,
    const struct prof_profile *profile, size_t event);
/* All is worked out here, after prof_comparison_finish.  0, or -1. */
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

/* -------------------------------------------------- slow spans, fast ones */

/*
 * Where the spans of side 1 of a recording take longer than those of side 0:
 * the time of a span by function.  The unit is the span, and parts add up to
 * the difference.  Spans are chosen by how long they take, so whatever varies
 * differs, what varies most, most.  Parts that vary independently and alike,
 * log-normal, exponential, gamma or Pareto, have up to 2.3 times their share of
 * short spans in long ones, where one is most of both; so a function takes more
 * only where its share of the running time of side 1 exceeds PROF_SPAN_VARIES
 * times its share of side 0.  That is tested in windows of time, in
 * which spans of both sides began, by the orders of the sides in them.
 */
#define PROF_MIN_WINDOWS	10	/* fewer allow no test */
#define PROF_SPAN_VARIES	3	/* times its share */

enum prof_span_state {
	PROF_SPAN_RUNNING,	/* of a function, as samples tell */
	PROF_SPAN_REST,		/* what is neither, or not known: one row */
	PROF_SPAN_NOT_RUNNING,	/* as the kernel summed it: one row */
	/* Off-CPU samples, which are not in the row NOT_RUNNING then. */
	PROF_SPAN_BLOCKED,	/* in a function */
	PROF_SPAN_RUNNABLE	/* one row */
};

struct prof_span_difference_options {
	size_t		 sd_size;	/* as po_size */
	const char	*sd_filter[2];	/* of spans, base and new */
	size_t		 sd_event;	/* that counts running time */
	uint64_t	 sd_window_ns;	/* 0: so that there are 20 */
	uint64_t	 sd_seed;
	uint64_t	 sd_frames;	/* as pl_frames */
};

/* NaN where there is nothing to say.  Borrowed until free. */
struct prof_span_row {
	const char	*sr_name;	/* of a function; "": of none */
	const char	*sr_module;
	enum prof_span_state sr_state;
	int		 sr_is_tested;
	int		 sr_is_more;	/* than times its share of side 0 */
	double		 sr_mean_ns[2];	/* of a span */
	double		 sr_change_ns;
	double		 sr_ci95_ns[2];	/* simultaneous, of all tested rows */
	double		 sr_part;	/* of the difference; adds up to 1 */
	double		 sr_share[2];	/* of running time; others: of all */
	double		 sr_p;		/* of what exceeds times the share */
	double		 sr_p_adjusted;	/* for all tested rows */
};

struct prof_span_sides {
	const char	*sv_name;	/* of the kind of spans */
	size_t		 sv_spans[2];
	double		 sv_mean_ns[2];
	uint64_t	 sv_least_ns[2];
	uint64_t	 sv_most_ns[2];
	uint64_t	 sv_samples[2];
	double		 sv_change_ns;
	uint64_t	 sv_window_ns;
	size_t		 sv_windows;
	size_t		 sv_both;	/* with spans of both sides */
	int		 sv_is_tested;
	int		 sv_has_times;	/* there is NOT_RUNNING */
	/* Chosen, but not looked at: */
	size_t		 sv_mixed;	/* in others, or ended elsewhere */
	size_t		 sv_alone;	/* in windows without the other side */
	const char	*sv_doubt;	/* as pq_text; "": none */
};

struct prof_span_difference;

/* All is worked out here.  NULL: error says why. */
struct prof_span_difference *prof_span_difference_new(
    struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_span_difference_options *options,
    struct prof_err *error);
void prof_span_difference_sides_sized(
    const struct prof_span_difference *difference,
    struct prof_span_sides *sides, size_t size);
#define prof_span_difference_sides(difference, sides)			\
	prof_span_difference_sides_sized(difference, sides,		\
	    sizeof(*(sides)))
/* The kind of spans; borrowed until free. */
const struct prof_span_kind *prof_span_difference_kind(
    const struct prof_span_difference *difference);
/* The largest changes first. */
size_t prof_span_difference_nrows(
    const struct prof_span_difference *difference);
const struct prof_span_row *prof_span_difference_row(
    const struct prof_span_difference *difference, size_t n);
void prof_span_difference_free(struct prof_span_difference *difference);
