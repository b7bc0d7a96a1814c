/* SPDX-License-Identifier: ISC */
/* The first line of report and annotate; see headline.c. */
#ifndef HEADLINE_H
#define HEADLINE_H

#include <stdio.h>

#include "../opt/choose.h"

struct headline {
	const struct prof_reader *he_reader;
	const struct prof_profile *he_profile;
	const char	*he_path;	/* of the file */
	const char	*he_filter;	/* NULL: there is none */
	bool		 he_is_held;	/* of allocations, those still held */
	struct choose_span he_span;	/* what was asked for */
	uint64_t	 he_ns;		/* how long; 0: not known */
	bool		 he_is_gross;	/* pauses are in it */
};

/* How long: from all that the caller has set. */
void	headline_init(struct headline *headline);

/* "make -j4 (212 processes sampled), 30.0 s"; hostile text. */
void	headline_begin(const struct headline *headline, FILE *stream);
/*
 * "14.2 s of CPU time", "3.21 G cycles"; hostile text.  Of CPU time what the
 * idle tasks have is left out.  How many CPUs that is; below 0: it is none,
 * or not known.
 */
double	headline_weight(const struct headline *headline, FILE *stream,
	    const struct prof_event_info *info, uint64_t weight,
	    uint64_t samples, uint64_t idle);

#endif /* HEADLINE_H */
