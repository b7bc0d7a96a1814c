/* SPDX-License-Identifier: ISC */
/*
 * What the files of a comparison of slow spans with fast ones share.
 *
 *	span_difference.c	the time of spans by function; answers
 *	span_sides.c		which spans are on which side, in which window
 *	span_tests.c		which functions take more than their share
 */
#ifndef PROF_SPAN_DIFFERENCE_H
#define PROF_SPAN_DIFFERENCE_H

#include <stdbool.h>

#include "prof.h"

/*
 * Spans of a side that begin in a window of time.  Its number is twice that
 * of the window, + 1 of side 1; it is the profile's bucket.
 */
struct span_cell {
	size_t		 sc_spans;
	double		 sc_ns;		/* their durations */
	double		 sc_sampled_ns;	/* of it, what samples stand for */
};

/* The time of a function, or what no sample stands for. */
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
	struct span_cell *sd_cell;
	size_t		 sd_nwindows;
	struct prof_profile *sd_profile;
	struct span_part *sd_part;	/* by label; then the rest */
	size_t		 sd_nparts;
	size_t		 sd_ntested;
	double		 sd_ns[2];	/* sums over all cells */
	struct prof_span_sides sd_sides;
	struct prof_span_row *sd_row;
	size_t		 sd_nrows;
	struct prof_quality sd_quality;
};

/* -------------------------------------------------------- span_sides.c */

/* Fills in sd_spans to sd_nwindows, and sides. */
int	prof_span_sides_choose(struct prof_span_difference *difference,
	    struct prof_reader *reader, struct prof_err *error);

/* -------------------------------------------------------- span_tests.c */

/* Which parts are tested: pt_tested, sd_ntested. */
void	prof_span_tests_pick(struct prof_span_difference *difference);
/* What rows say of chance, by part; -1: no memory. */
int	prof_span_tests_run(struct prof_span_difference *difference,
	    struct prof_span_row *rows);

#endif /* PROF_SPAN_DIFFERENCE_H */
