/* SPDX-License-Identifier: ISC */
/* Waits for programs, also for those of a counting session. */
#ifndef PROF_WAIT_H
#define PROF_WAIT_H

#include "prof.h"

/* Until all programs have ended that ran when this was called. */
int	prof_bpf_wait(struct prof_err *error);

#endif /* PROF_WAIT_H */
