/* SPDX-License-Identifier: ISC */
/*
 * The clock of all records, and that of the CPU time we use.  Called by whoever
 * compares with their time.
 */
#include <time.h>

#include "clock.h"

#define SECOND_NS	1000000000ULL

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec);
}

uint64_t
prof_now_ns(void)
{
	return (clock_ns(CLOCK_MONOTONIC));
}

uint64_t
prof_cpu_ns(void)
{
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

uint64_t
prof_process_cpu_ns(void)
{
	return (clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}
