/* SPDX-License-Identifier: ISC */
/* The clock of all records.  Called by whoever compares with their time. */
#include <time.h>

#include "clock.h"

#define SECOND_NS	1000000000ULL

uint64_t
prof_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec);
}
