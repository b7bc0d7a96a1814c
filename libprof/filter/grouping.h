/* SPDX-License-Identifier: ISC */
/* What samples are aggregated by, and what is measured of them. */
#ifndef PROF_GROUPING_H
#define PROF_GROUPING_H

#include "events/event.h"

/* A field whose values are summed, and filed in buckets. */
struct prof_measure {
	const char	*me_field;	/* "duration", an argument */
	enum dtp_histogram me_histogram;
	int64_t		 me_low;	/* of a linear one */
	uint64_t	 me_step;
	uint64_t	 me_nsteps;
};

/* Strings are borrowed until the session is closed. */
struct prof_grouping {
	const char	*gp_by[DTP_GROUP_KEYS];
	size_t		 gp_nby;
	/* None: the duration of events that have one. */
	struct prof_measure gp_measure[DTP_GROUP_MEASURES];
	size_t		 gp_nmeasures;
};

/* For one event, into ev_grouping; tables have room for so many CPUs. */
int	prof_grouping_compile(const struct prof_grouping *what,
	    struct prof_event *event, uint32_t ncpus, struct prof_err *error);

#endif /* PROF_GROUPING_H */
