/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof stat --by share: by_options.c (what is wanted), by.c
 * (all of it), by_rows.c (columns, order), by_text.c, by_hist.c, by_data.c
 * and by_spans.c (what is shown).
 */
#ifndef BY_H
#define BY_H

#include "../ui/emit.h"
#include "count.h"

#define BY_COLUMNS	(2 + 4 * DTP_GROUP_MEASURES + 3)
#define BY_FIELDS	DTP_GROUP_MEASURES

enum by_figure {
	BY_COUNT, BY_ERRORS, BY_TOTAL, BY_AVG, BY_P50, BY_P90, BY_P99, BY_MIN,
	BY_MAX
};

/* Beside 1U << enum by_figure. */
#define BY_WANTS_HISTOGRAM	0x1000u

struct by_column {
	enum by_figure	 bc_figure;
	uint32_t	 bc_measure;
	char		*bc_title;	/* also what --sort takes */
};

/* System calls that the groups lack, or have without a duration. */
enum by_call {
	BY_CALL_RUNNING, BY_CALL_ENDED, BY_CALL_UNBEGUN, BY_CALL_COMPAT,
	BY_CALL_N
};

struct by_event {
	const struct prof_event *be_event;
	struct prof_accounting be_account;
	uint64_t	 be_call[BY_CALL_N];
	struct by_column be_column[BY_COLUMNS];
	size_t		 be_ncolumns;
	/* Its groups, sorted. */
	const struct prof_group **be_row;
	size_t		 be_nrows;
};

struct by {
	const struct count_options *by_options;
	const struct prof_counting_options *by_what;
	struct prof_grouping by_grouping;
	unsigned	 by_wanted[DTP_GROUP_MEASURES];
	char		*by_keys;	/* what by_grouping borrows */
	char		*by_fields[BY_FIELDS];
	size_t		 by_nfields;
	struct prof_session *by_session;
	struct prof_status by_status;
	struct ending	 by_ending;
	struct prof_groups by_groups;	/* of all, or of an interval */
	struct prof_groups by_before;	/* all, at the last interval */
	uint64_t	 by_next_ns;	/* end of the interval; 0: none */
	struct prof_spans *by_spans;	/* NULL: without --span */
	uint64_t	 by_unread;	/* times that counters of --with were */
	double		 by_from_s;
	bool		 by_is_interval;
	struct by_event	*by_event;
	size_t		 by_nevents;
	size_t		 by_notes;	/* printed so far */
	struct out	 by_out;
	bool		 by_made;	/* the file of by_out is new */
	bool		 by_is_shown;
	bool		 by_is_plain;	/* counts alone: a row for each event */
};

/* ----------------------------------------------------------------- by.c */

/* Aggregate; the exit status. */
int	by_run(const struct count_options *co,
	    const struct prof_counting_options *what,
	    const struct opt_strings *events);

/* --------------------------------------------------------- by_options.c */

bool	by_is_wanted(const struct count_options *co,
	    const struct opt_strings *events);
/* 0, or -1 with a message printed. */
int	by_check(const struct count_options *co,
	    const struct opt_strings *events);
/* Keys and measures by the options; likewise. */
int	by_options(struct by *by);
void	by_options_free(struct by *by);

/* ------------------------------------------------------------ by_rows.c */

/* Columns of each event, when armed; -1 with a message printed. */
int	by_columns_make(struct by *by);
/* Rows of each event, sorted; likewise. */
int	by_rows_make(struct by *by);
/* The figure of a row; false: it is not known. */
bool	by_figure(const struct by *by, const struct by_event *event,
	    const struct prof_group *group, const struct by_column *column,
	    double *value);
/* The same as an exact integer; of a mean its sum. */
bool	by_exact(const struct by *by, const struct by_event *event,
	    const struct prof_group *group, const struct by_column *column,
	    uint64_t *raw);
bool	by_is_signed(const struct by_event *event,
	    const struct by_column *column);
/* Is the column's figure a time? */
bool	by_is_time(const struct by_event *event,
	    const struct by_column *column);

/* ------------------------------------------------- by_text.c, by_data.c */

void	by_text(struct by *by);
/* Whose events, of which time. */
void	by_when(const struct by *by, struct out *out);
/* Warn of events that the groups lack. */
void	by_warn(const struct by *by);
/* A histogram for each row that is shown. */
void	by_histograms(const struct by *by, const struct by_event *event,
	    struct out *out);
size_t	by_rows_shown(const struct by *by, const struct by_event *event);
void	by_key(const struct by_event *event, const struct prof_group *group,
	    size_t k, struct out *out);
void	by_json(struct by *by);
void	by_csv_head(struct by *by);
void	by_csv(struct by *by);

/* ----------------------------------------------------------- by_spans.c */

/* Losses so far; -1 with a message printed. */
int	by_spans_account(struct by *by);
void	by_spans_text(const struct by *by, struct out *out);
void	by_spans_json(const struct by *by, struct emit *em);
void	by_spans_csv_head(struct by *by);
void	by_spans_csv(struct by *by);
/* Warn of what makes durations uncertain. */
void	by_spans_warn(const struct by *by);

#endif /* BY_H */
