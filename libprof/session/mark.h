/* SPDX-License-Identifier: ISC */
/* Markers that dtprof mark sends to recordings. */
#ifndef PROF_MARK_H
#define PROF_MARK_H

#include "base/record.h"
#include "prof.h"

/*
 * The receiving end of prof_mark_send: a socket of this recording.  Never
 * blocks.  The descriptor is readable when there is something to take.
 */
struct prof_marks;
struct prof_marks *prof_marks_open(struct prof_err *error);
int	prof_marks_fd(const struct prof_marks *marks);
/*
 * One PROF_R_MARK, _PAUSE or _RESUME each; answered once fn returned 0; else
 * what fn returned.
 */
int	prof_marks_take(struct prof_marks *marks, prof_record_fn *fn,
	    void *arg);
void	prof_marks_close(struct prof_marks *marks);

#endif /* PROF_MARK_H */
