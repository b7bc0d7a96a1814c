/* SPDX-License-Identifier: ISC */
/*
 * What the files of a difference share.
 *
 *	difference.c		runs come in, and become one tree
 *	difference_tests.c	which frames differ by more than chance
 *	difference_text.c	what is said of both sides
 *
 * Read by the writers of the pictures (output/flame_difference.c,
 * output/svg_difference.c).
 */
#ifndef PROF_DIFFERENCE_H
#define PROF_DIFFERENCE_H

#include "profile/profile_impl.h"

/* What a frame's two sides are compared by. */
enum prof_measure {
	PROF_BY_COST,		/* weight of a run */
	PROF_BY_SHARE,		/* share of its run's weight */
	PROF_NMEASURES
};

enum prof_part { PROF_TOTAL, PROF_SELF, PROF_NPARTS };

/*
 * Of the errors of a comparison (comparison.h) the page has no metrics but
 * the total; their 1 in 100 is that of the frames.
 */
#define PROF_ALPHA_FRAMES	0.01
/* Few runs, no claim: what sampling explains, of each measure. */
#define PROF_SAMPLING_Q		0.025

/* What is known of a frame or function; pc_p is NaN: it was not tested. */
struct prof_chance {
	double		 pc_p;		/* adjusted */
	bool		 pc_differs;
};
#define PROF_NFACTS		7
#define PROF_SENTENCE		sizeof(((struct prof_quality *)0)->pq_text)

struct prof_difference_run {
	long		 dr_run;	/* of the comparison */
	int		 dr_side;	/* 0: base, 1: new */
	double		 dr_weight;
	uint64_t	 dr_samples;
	double		 dr_effective;	/* see pq_effective */
};

/*
 * The union of the trees of all runs is a profile like others, whose buckets
 * of time are the runs until they have been tested, and whose events are the
 * sides.
 */
struct prof_difference {
	struct prof_err	 df_error;
	struct prof_comparison *df_comparison;	/* borrowed */
	struct prof_profile df_profile;
	struct prof_function **df_function;	/* owned */
	size_t		 df_nfunctions;
	size_t		 df_cap_functions;
	struct prof_dict df_by_key;	/* kind and name -> label */
	struct prof_map	 df_child;	/* parent, label -> node - 1 */
	struct prof_difference_run *df_run;	/* in order of adding */
	size_t		 df_nruns;
	size_t		 df_cap_runs;
	size_t		 df_nside[2];
	struct prof_event_info df_info;	/* strings owned */
	uint64_t	 df_scale;	/* of its unit, see prof_unit_scale */
	uint64_t	 df_rate_hz[2];
	uint64_t	 df_period[2];
	char		*df_fact[2][PROF_NFACTS];	/* NULL: not known */
	/* made by finish; by node, and chances also by label */
	bool		 df_claims;	/* there are runs enough for verdicts */
	size_t		 df_ntested;
	double		 df_least;	/* share below which none was */
	double		 df_sum[2];	/* of a run, mean */
	double		*df_mean[2][PROF_NPARTS];	/* side; of a run */
	struct prof_chance *df_chance[PROF_NMEASURES][PROF_NPARTS];
	struct prof_chance *df_label_chance[PROF_NMEASURES][PROF_NPARTS];
	char		 df_headline[PROF_SENTENCE];
	char		**df_note;
	size_t		 df_nnotes;
	size_t		 df_cap_notes;
};

/* Names of the facts, as of prof_reader_info, and as people read them. */
extern const char *const prof_facts[PROF_NFACTS][2];

/* Fills in what is tested; 0, or -1: no memory. */
int	prof_difference_test(struct prof_difference *difference);
/* "1.20 s" or "12.0 events": a weight in a unit. */
void	prof_difference_amount(char *text, size_t size, double value,
	    const char *unit);
/* Headline and notes; 0, or -1: no memory. */
int	prof_difference_say(struct prof_difference *difference);

#endif /* PROF_DIFFERENCE_H */
