/* SPDX-License-Identifier: ISC */
/*
 * Sessions that look at threads as they are, for the command stacks: each
 * look is a sample of every thread of the targets, on a CPU or not.
 */
#ifndef PROF_THREADS_H
#define PROF_THREADS_H

#include "prof.h"

/* Before arm: the event of the looks; needs BPF. */
int	prof_session_add_threads(struct prof_session *session);
/* Look now.  -1: the session's error says why. */
int	prof_session_look(struct prof_session *session);

#endif /* PROF_THREADS_H */
