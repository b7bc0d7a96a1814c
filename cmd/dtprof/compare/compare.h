/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof compare share.
 *
 *	cmd_compare.c		options; which runs against which; the verdict
 *	compare_input.c		what a file is, and what it holds: runs
 *	compare_runs.c		runs of two series to a comparison
 *	compare_hosts.c		recordings of many machines to a comparison
 *	compare_profile.c	what functions cost in a recording
 *	compare_lines.c		and which of their lines are the same
 *	compare_states.c	and whether by states of threads
 *	compare_text.c, compare_json.c	what came of it
 *	compare_words.c		names and values in it
 *	compare_spans.c		slow spans of a recording, and fast ones
 *	compare_holder.c	for which lock they wait, and who holds it
 *	compare_figures.c	numbers of pictures
 *	compare_plot.c		pictures by gnuplot
 *	compare_html.c, compare_draw.c	a page with pictures
 *	compare_verdict.c	what verdicts amount to: exit statuses
 *	compare_junit.c, compare_github.c	for continuous integration
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdio.h>

#include "../opt/choose.h"
#include "../ui/table.h"

/* What costs are of: the words of --by, in this order. */
#define COMPARE_BY	"function,module,line"
enum compare_by {
	COMPARE_BY_FUNCTION, COMPARE_BY_MODULE, COMPARE_BY_LINE
};
extern const char *const compare_by_words[];

struct compare_options {
	struct opt_strings co_renames;
	struct opt_strings co_events;
	struct opt_number co_threshold;
	struct opt_number co_limit;
	struct opt_number co_seed;
	struct opt_number co_window;
	struct choose_time co_time;
	const char	*co_filter;
	const char	*co_base_filter;
	const char	*co_secret_file;
	const char	*co_per;
	const char	*co_fail_on;
	const char	*co_against;
	const char	*co_junit;
	const char	*co_output;
	const char	*co_plot;
	unsigned	 co_by;		/* enum compare_by */
	unsigned	 co_frames;	/* PROF_FRAMES_* */
	bool		 co_anyway;
	bool		 co_github;
	bool		 co_json;
	bool		 co_markdown;
	bool		 co_strict;
	bool		 co_verbose;
	int		 co_color;
};

struct series_metric {
	char		*sm_name;
	char		*sm_unit;
};

struct series_run {
	uint32_t	 sr_block;
	long		 sr_place;	/* in time, of a bench; else -1 */
	double		*sr_value;	/* by metric; NaN: it has none */
	char		*sr_profile;	/* recording or folded file; or NULL */
	char		*sr_host;	/* of a recording; NULL: unknown */
	char		*sr_traits;	/* the same: lines of its machine */
};

/* The name of all files of a side that are one run each. */
#define COMPARE_PROFILES	"profile"

/* Runs of one command, or of one benchmark. */
struct series {
	char		*se_name;
	char		*se_machine;	/* trait by line; "": not known */
	char		*se_unlike;	/* in what its runs' differ; NULL */
	char		 se_build_id[41]; /* of the program; "": not known */
	/* Where and when a bench began (UTC, ISO 8601); "": not known. */
	char		 se_host[65];
	char		 se_time[24];
	struct series_metric *se_metric;
	size_t		 se_nmetrics;
	struct series_run *se_run;
	size_t		 se_nruns;
};

struct side {
	const char	*sd_command;	/* whose messages; NULL: compare's */
	const char	*sd_cure;	/* NULL: what compare can read */
	struct series	*sd_series;
	size_t		 sd_n;
};

/* One series against another. */
struct pair {
	const struct series *pr_series[2];
	struct prof_comparison *pr_comparison;
	char		*pr_note;	/* owned; NULL: none */
	const char	*pr_per;	/* NULL: costs are not per anything */
	/* of hosts */
	uint64_t	 pr_window_ns;
	size_t		 pr_lossy;	/* windows in which samples were lost */
};

struct compare {
	const struct compare_options *cm_options;
	struct side	 cm_side[2];
	struct pair	*cm_pair;
	size_t		 cm_npairs;
	int		 cm_ngeomean;	/* pairs that the mean is of */
	double		 cm_geomean;
	double		 cm_geomean_ci[2];
	double		 cm_threshold;	/* 0.01: 1 % */
};

/* ------------------------------------------------------ cmd_compare.c */

/* What bench shows at its end; the exit status. */
int	compare_directory(const char *path);
/*
 * The same of a new bench and a baseline, and what it says of a commit:
 * worse, if any command is surely slower by more than the limit (0.05: 5 %),
 * good, if all surely are not.
 */
enum compare_outcome { COMPARE_GOOD, COMPARE_WORSE, COMPARE_OPEN };
enum compare_outcome compare_bisect(const char *base, const char *new,
	    double limit);
/* The change that a pair is judged by: its first metric, or the total. */
const struct prof_change *compare_headline(const struct pair *pair);

/* -------------------------------------------------- compare_verdict.c */

/* The limit of "slower" or "slower:2" (0.02); -1: it is neither. */
double	compare_fail_limit(const char *text);
/* As --fail-on and --strict have it; COMPARE_OPEN by --strict alone. */
enum compare_outcome compare_outcome(const struct compare *compare,
	    const struct pair *pair);
int	compare_status(const struct compare *compare);
/* What makes one doubt a comparison, one a call; NULL: no more. */
const char *compare_note(const struct pair *pair, size_t n);

/* ---------------------------------------------------- compare_input.c */

/* Add what a file or directory holds; -1: a message has been printed. */
int	compare_read(struct side *side, const char *path);
int	compare_read_answers(struct side sides[2]);
/* A series of a name, made when there is none; NULL: no memory. */
struct series *compare_series(struct side *side, const char *name);
struct series_run *compare_add_run(struct series *series);
/* The number of a metric of a series without runs; -1: no memory. */
int	compare_add_metric(struct series *series, const char *name,
	    const char *unit);
/* What a file says of the machine; -1: no memory. */
int	compare_add_machine(struct series *series, const char *machine);
/*
 * The first trait in which two machines differ, for a message, and where;
 * NULL: none, as what just one of them knows is not unlike.  -1: no memory.
 */
int	compare_unlike(const char *a, const char *b, const char *where,
	    char **what);
void	compare_side_free(struct side *side);

/* --------------------------------------------------- compare_files.c */

/* The same for a directory of bench alone: a series for each command. */
int	compare_read_bench(struct side *side, const char *path);
int	compare_read_json(struct side *side, const char *path, char *text,
	    size_t length);

/* -------------------------------------------------- compare_profile.c */

/* Where runs and their costs go, and how they are called. */
struct costs {
	const char	*ct_command;	/* whose messages */
	unsigned	 ct_by;		/* enum compare_by */
	const struct opt_strings *ct_events;
	const struct opt_strings *ct_renames;
	const struct choose_time *ct_time[2];	/* of a side; NULL: all */
	const char	*ct_filter[2];	/* the same */
	const char	*ct_per;	/* its count divides costs; NULL */
	unsigned	 ct_states;	/* of elapsed time; 0: not by state */
	struct choose_short ct_short;
	uint64_t	 ct_window_ns;	/* of hosts */
	bool		 ct_anyway;	/* hosts of all kinds are alike */
	size_t		 ct_lossy;	/* windows of hosts left out */
	size_t		 ct_without;	/* recordings without ct_event */
	struct prof_profile_options ct_profile;
	struct prof_comparison *ct_comparison;
	struct prof_difference *ct_difference;	/* NULL: trees are not kept */
	char		*ct_event;	/* of all runs: "cpu-clock in ns" */
	struct prof_symbols_shared ct_shared;	/* by all runs */
	void		*ct_beginnings;	/* compare_lines.c */
};

/* Is it one of ours?  Then what machine it is of, into run and series. */
int	compare_machine_of(struct series *series, struct series_run *run);
extern const char *const compare_traits[];	/* of machines; NULL-ended */
bool	compare_is_recording(const char *path);
/* What a run cost, to run number of the comparison. */
int	compare_costs(struct costs *costs, int side, long run,
	    const char *path);
void	compare_costs_free(struct costs *costs);
/* Is it what the runs before are of?  The first one decides. */
bool	compare_is_event(struct costs *costs,
	    const struct prof_event_info *info);
/*
 * Which events count units of work, by event, none without --per.  Owned by
 * caller; NULL: a message has been printed.
 */
bool	*compare_unit_events(const struct costs *costs,
	    const struct prof_reader *reader, const char *path);
double	compare_units(const struct prof_reader *reader,
	    const struct prof_profile *profile, const bool *is_unit);
/* After the costs: what the total is per. */
int	compare_name_total(const struct costs *costs);

/* --------------------------------------------------- compare_states.c */

/*
 * Compare elapsed time by state where no event is chosen and all recordings
 * have waits; a note says why not, where some of them have waits.
 */
void	compare_choose_states(struct costs *costs,
	    const struct series *const series[2]);
/* "blocked in refresh_cache", or "refresh_cache", in the buffer. */
#define COMPARE_NAME	1100
const char *compare_name(char *buffer, size_t size,
	    const struct prof_change *change);

/* ----------------------------------------------------- compare_runs.c */

/* All of both sides, tested; -1: a message has been printed. */
int	compare_runs(struct costs *costs, const struct series *const series[2],
	    bool is_interleaved);
int	compare_give_renames(const struct costs *costs);

/* ---------------------------------------------------- compare_hosts.c */

#define COMPARE_WINDOWS	10000	/* that a recording may have */

/* Are all runs recordings, and not of one host alone? */
bool	compare_are_hosts(const struct series *const series[2]);
/* As compare_runs; also -1: base and new are confounded. */
int	compare_hosts(struct costs *costs,
	    const struct series *const series[2]);

/* ---------------------------------------------------- compare_lines.c */

/* The name of a place by line; true: it is inlined elsewhere. */
bool	compare_line_name(struct costs *costs, int side,
	    struct prof_symbols *symbols, const struct prof_label *label,
	    char *name, size_t size);
void	compare_lines_free(struct costs *costs);

/* ----------------------------------------------------- compare_text.c */

/* terminal: of TABLE_TEXT, else NULL. */
void	compare_text(const struct compare *compare, enum table_style style,
	    struct out *out, const struct terminal *terminal);
/* Its verdict in a line, hostile text; owned; NULL: no memory. */
char	*compare_sentence(const struct pair *pair, double threshold);
/* "slower", "same", ...: as the unit wants it. */
const char *compare_word(const struct prof_change *change);
/* The same of what a pair is judged by. */
const char *compare_verdict(const struct pair *pair);

/* ---------------------------------------------------- compare_words.c */

const char *compare_title(const char *metric);
/* "1.20 s", "3.4 MB"; buffer of at least 32 bytes. */
void	compare_quantity(char *buffer, size_t size, double value,
	    const char *unit);

/* ----------------------------------------------------- compare_json.c */

void	compare_json(const struct compare *compare, struct out *out);

/* --------------------------------------------------- compare_holder.c */

struct emit;

/* Of slow spans in a function; NULL: not known.  Owned by caller. */
struct prof_blocked *compare_holder(struct prof_reader *reader,
	    struct prof_symbols *symbols, const char *filter,
	    const char *function);
/* Nothing, and null, of NULL. */
void	compare_holder_say(const struct prof_blocked *blocked, FILE *stream);
void	compare_holder_emit(const struct prof_blocked *blocked,
	    struct emit *em);

/* ---------------------------------------------------- compare_spans.c */

/* Is any option given that is about spans? */
bool	compare_spans_wanted(const struct compare_options *options);
/* 0, or -1 with a message printed. */
int	compare_spans_check(const struct compare_options *options, int n,
	    char *const *operands);
/* The exit status. */
int	compare_spans(const struct compare_options *options,
	    const char *path);

/* ------------------------------------ compare_junit.c, compare_github.c */

/* -1: a message has been printed. */
int	compare_junit(const struct compare *compare, const char *path);
int	compare_github(const struct compare *compare, struct out *out);
/* Where GitHub Actions wants the summary; borrowed; NULL: nowhere. */
const char *compare_summary(void);

/* -------------------------------------------------- compare_figures.c */

#define FIGURES_FUNCTIONS	12
#define FIGURES_RANKS	19	/* 5 %, 10 %, ... 95 % */

struct figures_shift {
	double	fs_share;	/* of the runs, % */
	double	fs_change;	/* % */
};

struct figures {
	char		 fg_label[128];	/* what it is, and its unit */
	double		*fg_value[2];	/* by side, in order of runs */
	double		*fg_sorted[2];
	size_t		 fg_n[2];
	struct figures_shift fg_shift[FIGURES_RANKS];
	size_t		 fg_nshifts;
};

/* -1: a message has been printed. */
int	compare_figures(const struct pair *pair, struct figures *figures);
void	compare_figures_free(struct figures *figures);

/* ------------------------------------ compare_plot.c, compare_html.c */

/* -1: a message has been printed. */
int	compare_plot(const struct pair *pair, const char *path);
int	compare_html(const struct compare *compare, const char *path);

/* ----------------------------------------------------- compare_draw.c */

/* The pictures of a pair, as elements of a page. */
void	compare_draw(const struct pair *pair, struct out *out);

#endif /* COMPARE_H */
