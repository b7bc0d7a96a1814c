/* SPDX-License-Identifier: ISC */
/*
 * See direct.h.  The kernel changes the page in interrupts and context switches
 * of the thread that reads it, on the same CPU, and counts each change twice
 * in lock, as a sequence lock has it:
 *
 *	kernel	lock++, offset = counted so far, index = counter + 1, lock++
 *	here	lock, offset, index, the counter, lock: if it is the same, the
 *		sum of offset and counter is of one moment
 *
 * So a migration, an overflow or the loss of the counter between two of these
 * loads is seen, and the page is read again.  An event that has had a counter
 * all the time has been enabled for as long as it ran; any other one is for the
 * kernel to read, which knows both times.
 *
 * Called by counter.c, and by a test with pages of its own.
 */
#include "count/direct.h"

#define TRIES		64	/* each costs a change meanwhile */
#define WIDEST		64

/* The thread itself is interrupted: only the compiler may reorder. */
#define BARRIER()	__asm__ volatile ("" ::: "memory")

#if defined(__aarch64__)
#define ARM_CYCLES	31	/* its number among the counters */
#define ARM_COUNTER(n)							\
	case n:								\
		__asm__ volatile ("mrs %0, s3_3_c14_c%c1_%c2"		\
		    : "=r" (count) : "i" (8 + (n) / 8), "i" ((n) % 8));	\
		break

/* The number is part of the instruction. */
uint64_t
prof_pmc_read(uint32_t number)
{
	uint64_t count = 0;

	switch (number) {
	ARM_COUNTER(0); ARM_COUNTER(1); ARM_COUNTER(2); ARM_COUNTER(3);
	ARM_COUNTER(4); ARM_COUNTER(5); ARM_COUNTER(6); ARM_COUNTER(7);
	ARM_COUNTER(8); ARM_COUNTER(9); ARM_COUNTER(10); ARM_COUNTER(11);
	ARM_COUNTER(12); ARM_COUNTER(13); ARM_COUNTER(14); ARM_COUNTER(15);
	ARM_COUNTER(16); ARM_COUNTER(17); ARM_COUNTER(18); ARM_COUNTER(19);
	ARM_COUNTER(20); ARM_COUNTER(21); ARM_COUNTER(22); ARM_COUNTER(23);
	ARM_COUNTER(24); ARM_COUNTER(25); ARM_COUNTER(26); ARM_COUNTER(27);
	ARM_COUNTER(28); ARM_COUNTER(29); ARM_COUNTER(30);
	case ARM_CYCLES:
		__asm__ volatile ("mrs %0, pmccntr_el0" : "=r" (count));
		break;
	}
	return (count);
}
#else
uint64_t
prof_pmc_read(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile ("rdpmc" : "=a" (low), "=d" (high) : "c" (number));
	return ((uint64_t)high << 32 | low);
}
#endif

/* A counter has fewer bits than a count, and offset is to make up for it. */
static int64_t
sign_extend(uint64_t counted, unsigned width)
{
	return ((int64_t)(counted << (WIDEST - width)) >> (WIDEST - width));
}

bool
prof_direct_read(const volatile struct perf_event_mmap_page *page,
    prof_pmc_fn *read_pmc, uint64_t *count)
{
	uint32_t lock, number;
	unsigned width;
	bool is_exact;

	for (int tries = 0; tries < TRIES; tries++) {
		lock = page->lock;
		BARRIER();
		number = page->index;
		width = page->pmc_width;
		is_exact = page->cap_user_rdpmc && number != 0 &&
		    width > 0 && width <= WIDEST &&
		    page->time_enabled == page->time_running;
		if (is_exact)
			*count = (uint64_t)page->offset +
			    (uint64_t)sign_extend(read_pmc(number - 1), width);
		BARRIER();
		if (page->lock == lock)
			return (is_exact);
	}
	return (false);
}
