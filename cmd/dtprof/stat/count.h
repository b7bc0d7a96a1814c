/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof stat share: cmd_stat.c (options), count.c (all of
 * it), count_run.c (one run), count_metrics.c (ratios), and those that show
 * what was counted: count_text.c, count_data.c.
 */
#ifndef COUNT_H
#define COUNT_H

#include "../cmd.h"

struct count_options {
	struct opt_strings co_events;
	struct opt_strings co_spans;
	struct opt_strings co_with;
	struct opt_number co_runs;
	struct opt_number co_warmups;
	struct opt_number co_interval_ms;
	struct opt_number co_duration;
	struct opt_ids	 co_pids;
	struct opt_ids	 co_tids;
	struct opt_ids	 co_cpus;
	const char	*co_cgroup;
	const char	*co_output;
	bool		 co_all;
	bool		 co_json;
	bool		 co_csv;
	bool		 co_no_inherit;
	bool		 co_user_only;
	bool		 co_per_process;
	bool		 co_per_thread;
	bool		 co_quiet;
	/* Of aggregations. */
	const char	*co_by;
	struct opt_strings co_hists;
	struct opt_strings co_sums;
	struct opt_strings co_avgs;
	struct opt_strings co_mins;
	struct opt_strings co_maxs;
	const char	*co_sort;
	struct opt_number co_limit;
};

/* Times are quantities like counts; they come after the events. */
enum count_time { COUNT_WALL, COUNT_USER, COUNT_SYSTEM, COUNT_NTIMES };

/* A quantity that was measured once a run. */
struct count_series {
	const char	*cs_name;
	const char	*cs_unit;
	double		*cs_values;	/* by run; NAN: not known */
	struct prof_summary cs_summary;	/* of those that are known */
};

/* A ratio of an event to another, or to a time. */
struct count_metric {
	struct count_series cm_series;
	size_t		 cm_event;	/* beside which it is shown */
	int		 cm_digits;	/* behind the point */
};

/* What one interval added. */
struct count_interval {
	double		 ci_from_s;
	double		 ci_until_s;	/* since the start */
	struct prof_counted *ci_added;	/* by event */
};

#define COUNT_METRICS	32

/* All that a stat has found out. */
struct count {
	const struct count_options *co_options;
	const struct prof_counting_options *co_what;
	struct prof_counting *co_counting;
	size_t		 co_nevents;
	uint64_t	 co_wanted;	/* runs */
	size_t		 co_nruns;	/* done */
	struct prof_counted *co_counted; /* [runs * nevents] */
	double		*co_times;	/* [runs * COUNT_NTIMES], seconds */
	int		*co_statuses;	/* [runs], of the command */
	int		 co_dropped_status; /* of the run that is not kept */
	struct count_series *co_event;	/* [nevents] */
	struct count_series co_time[COUNT_NTIMES];
	struct count_metric co_metric[COUNT_METRICS];
	size_t		 co_nmetrics;
	struct count_interval *co_interval;
	size_t		 co_nintervals;
	struct prof_counted *co_last;	/* [nevents], at the last interval */
	double		 co_last_s;
	size_t		 co_fitting;	/* events on the PMU that fit */
	size_t		 co_nhardware;	/* of these */
	bool		 co_interrupted;
	int		 co_last_signal; /* to a command that goes on */
	bool		 co_made;	/* the file of co_out is new */
	bool		 co_has_begun;	/* co_out is written to */
	struct out	 co_out;	/* where it is shown */
};

/* ------------------------------------------------------------ count.c */

/* Count; the exit status. */
int	count_run(const struct count_options *co,
	    const struct prof_counting_options *what,
	    const struct opt_strings *events);
/* A run that counts is on: what the output held before may go. */
void	count_output_begin(struct count *count);
/* Of all runs, thousandths of a percent; -1: it was never to count. */
int	count_share(const struct count *count, size_t event);
/* Of one value. */
int	count_share_of(const struct prof_counted *value);
/* Counted for part of the time, or not at all. */
bool	count_is_partial(const struct count *count, size_t event);

/* -------------------------------------------------------- count_run.c */

/* 0, or the exit status of a failure, which has been told. */
int	count_one_run(struct count *count, bool is_warmup);

/* ---------------------------------------------------- count_metrics.c */

/* Fill in co_metric from what was counted; 0, or -1 without memory. */
int	count_metrics(struct count *count);

/* ------------------------------- count_text.c, count_data.c */

/* The head and intervals are shown while counting, the rest after it. */
void	count_text_interval(struct count *count,
	    const struct count_interval *interval);
void	count_text(struct count *count);
void	count_json(struct count *count);
/* As JSON has it. */
const char *count_target_name(enum prof_target target);
void	count_csv_head(struct count *count);
void	count_csv_interval(struct count *count,
	    const struct count_interval *interval);
void	count_csv(struct count *count);

#endif /* COUNT_H */
