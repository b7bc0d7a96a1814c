/* SPDX-License-Identifier: ISC */
/* tracefs, mounted or not. */
#ifndef PROF_TRACEFS_H
#define PROF_TRACEFS_H

#include "prof.h"

/*
 * A directory descriptor on tracefs, mounted or not (an own detached mount
 * when it is not; the system is left as it was).  -1: none, error says why.
 */
int	prof_tracefs_open(struct prof_err *error);

#endif /* PROF_TRACEFS_H */
