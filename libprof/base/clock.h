/* SPDX-License-Identifier: ISC */
/* The clock of all records. */
#ifndef PROF_CLOCK_H
#define PROF_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, as all records have it. */
uint64_t prof_now_ns(void);

#endif /* PROF_CLOCK_H */
