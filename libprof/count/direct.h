/* SPDX-License-Identifier: ISC */
/*
 * A counter read from the page that the kernel keeps of it, without a system
 * call.
 */
#ifndef PROF_COUNT_DIRECT_H
#define PROF_COUNT_DIRECT_H

#include <linux/perf_event.h>

#include <stdbool.h>
#include <stdint.h>

/* A hardware counter by its number, as index - 1 of the page has it. */
typedef uint64_t prof_pmc_fn(uint32_t number);

/* Of this processor; what it is called with comes from the page. */
prof_pmc_fn prof_pmc_read;

/*
 * True: what the event has counted, exactly.  False: it has no counter now,
 * has shared one, or may not be read so: ask the kernel.
 */
bool	prof_direct_read(const volatile struct perf_event_mmap_page *page,
	    prof_pmc_fn *read_pmc, uint64_t *count);

#endif /* PROF_COUNT_DIRECT_H */
