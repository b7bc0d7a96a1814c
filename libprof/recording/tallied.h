/* SPDX-License-Identifier: ISC */
/* How many samples of each event a file has.  Included by recording/ alone. */
#ifndef PROF_TALLIED_H
#define PROF_TALLIED_H

#include <pthread.h>

#include "batch.h"

/* Changed by the writer's thread, and read by others. */
struct prof_tallied {
	pthread_mutex_t	 tl_mutex;
	uint64_t	*tl_count;	/* per event */
	size_t		 tl_nevents;
	uint64_t	 tl_all;
};

void	prof_tallied_init(struct prof_tallied *tallied);
void	prof_tallied_fini(struct prof_tallied *tallied);
/* tallies: of struct prof_tally. */
void	prof_tallied_add(struct prof_tallied *tallied,
	    const struct prof_buf *tallies);
void	prof_tallied_remove(struct prof_tallied *tallied,
	    const struct prof_buf *tallies);
uint64_t prof_tallied_event(struct prof_tallied *tallied, size_t event);
uint64_t prof_tallied_all(struct prof_tallied *tallied);

#endif /* PROF_TALLIED_H */
