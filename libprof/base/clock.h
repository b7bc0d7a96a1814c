/* SPDX-License-Identifier: ISC */
/* The clock of all records, and that of the CPU time we use. */
#ifndef PROF_CLOCK_H
#define PROF_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, as all records have it. */
uint64_t prof_now_ns(void);

/* CPU time of the calling thread, and of all threads of the process. */
uint64_t prof_cpu_ns(void);
uint64_t prof_process_cpu_ns(void);

#endif /* PROF_CLOCK_H */
