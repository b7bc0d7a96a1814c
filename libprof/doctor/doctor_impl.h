/* SPDX-License-Identifier: ISC */
/* A check that has a file of its own; of this folder alone. */
#ifndef PROF_DOCTOR_IMPL_H
#define PROF_DOCTOR_IMPL_H

#include "prof.h"

/* Which interpreters run, and whether functions of scripts are shown. */
void	prof_check_runtimes(struct prof_check *check);

#endif /* PROF_DOCTOR_IMPL_H */
