/* SPDX-License-Identifier: ISC */
/*
 * What the files of a comparison of slow spans with fast ones share.
 *
 *	span_difference.c	the time of spans by function; answers
 *	span_sides.c		which spans are on which side, in which window
 *	span_waits.c		which row a sample is of: functions of waits
 *	span_tests.c		which functions take more than their share
 */
#ifndef PROF_SPAN_DIFFERENCE_H
#define PROF_SPAN_DIFFERENCE_H

#include <stdbool.h>

#include "prof.h"
#include "spans/spans.h"

/*
 * Spans of a side that begin in a window of time.  Its number is twice that
 * of the window, + 1 of side 1; it is the profile's bucket.
 */
struct span_cell {
	size_t		 sc_spans;
	double		 sc_ns;		/* their durations */
	double		 sc_off_ns;	/* of it, what threads did not run */
	double		 sc_known_ns;	/* of it, what they did */
	double		 sc_running_ns;	/* what functions have */
	double		 sc_waits_ns;	/* off-CPU samples */
};

/* The time of a function, or of a row that has none. */
struct span_part {
	double		 pt_ns[2];	/* by side */
	uint64_t	 pt_samples;
	uint32_t	 pt_label;
	uint32_t	 pt_tested;	/* its row in the family; UINT32_MAX */
};

struct prof_span_difference {
	struct prof_span_difference_options sd_options;
	struct prof_spans *sd_spans;
	size_t		 sd_kind;
	int64_t		*sd_cell_of;	/* by span; -1: not looked at */
	struct prof_span_time *sd_time;	/* by span */
	struct span_cell *sd_cell;
	size_t		 sd_nwindows;
	struct prof_profile *sd_profile;
	size_t		 sd_waits;	/* the event off-cpu; 0: none */
	/*
	 * Running, by label; blocked, by label; runnable, not running, and
	 * the rest.
	 */
	struct span_part *sd_part;
	size_t		 sd_nlabels;
	size_t		 sd_nparts;
	size_t		 sd_ntested;
	double		 sd_ns[2];	/* sums over all cells */
	double		 sd_running_ns[2];
	double		 sd_scale[2];	/* running time by sampled time */
	bool		 sd_has_times;	/* as sk_has_times */
	struct prof_span_sides sd_sides;
	struct prof_span_row *sd_row;
	size_t		 sd_nrows;
	struct prof_quality sd_quality;
};

/* What a part is, by its number. */
enum prof_span_state prof_span_part_state(
	    const struct prof_span_difference *difference, size_t part);
bool	prof_span_part_is_shown(
	    const struct prof_span_difference *difference, size_t part);

/* -------------------------------------------------------- span_sides.c */

/* Fills in sd_spans to sd_nwindows, and sides. */
int	prof_span_sides_choose(struct prof_span_difference *difference,
	    struct prof_reader *reader, struct prof_err *error);

/* -------------------------------------------------------- span_waits.c */

/* The part that samples are of; SIZE_MAX: they are of another event. */
size_t	prof_span_part_of(const struct prof_span_difference *difference,
	    const struct prof_bucket *bucket);
/* The time that samples stand for. */
double	prof_span_time_of(const struct prof_span_difference *difference,
	    const struct prof_bucket *bucket);

/* -------------------------------------------------------- span_tests.c */

/* Which parts are tested: pt_tested, sd_ntested. */
void	prof_span_tests_pick(struct prof_span_difference *difference);
/* What rows say of chance, by part; -1: no memory. */
int	prof_span_tests_run(struct prof_span_difference *difference,
	    struct prof_span_row *rows);

#endif /* PROF_SPAN_DIFFERENCE_H */
