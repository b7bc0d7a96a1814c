/* SPDX-License-Identifier: ISC */
/*
 * Names code objects beside the drain, which must not wait for the memory of a
 * process: see namer.c.  Called by codes.c.
 */
#ifndef PROF_NAMER_H
#define PROF_NAMER_H

#include "broker/scripts.h"

struct prof_namer;

/* Code objects of one process. */
struct prof_naming_job {
	struct prof_naming_job *nj_next;
	struct prof_scripts nj_scripts;
};

/*
 * broker NULL: in this process and at once, which only tests may do, by the
 * languages that they have.  Owned by caller; NULL: no memory.
 */
struct prof_namer *prof_namer_new(struct prof_broker *broker,
	    prof_language_fn *language);
void	prof_namer_free(struct prof_namer *namer);
/* May another job be put? */
bool	prof_namer_has_room(const struct prof_namer *namer);
/* Takes over the job.  -1: no thread can be had. */
int	prof_namer_put(struct prof_namer *namer, struct prof_naming_job *job);
/*
 * The next job that is done, which is the caller's; NULL: there is none,
 * though it waited until then for the jobs that there are.
 */
struct prof_naming_job *prof_namer_get(struct prof_namer *namer,
	    uint64_t until_ns);

#endif /* PROF_NAMER_H */
