/* SPDX-License-Identifier: ISC */
/* Records, as everybody hands them on. */
#ifndef PROF_RECORD_H
#define PROF_RECORD_H

#include "prof.h"

/* Called for each record; nonzero ends it. */
typedef int prof_record_fn(void *arg, const struct prof_record *record);

#endif /* PROF_RECORD_H */
