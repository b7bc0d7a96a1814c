/* SPDX-License-Identifier: ISC */
/*
 * The registers and the copy of the stack that a sample of the perf path
 * brings, for the walk in user space.  They stand at its end:
 *
 *	... chain? | abi | registers | size | bytes ... | how many count |
 *
 * Called by drain.c with samples that prof_ring_parse has accepted,
 * and by the fuzzer; no length in them is believed.
 */
#include <string.h>

#include <asm/perf_regs.h>

#include "rings_impl.h"

#define SAMPLE_SIZE	48	/* up to the cpu */

#if defined(__x86_64__)
#define NREGS	17
/* In the order in which the kernel writes them: their DWARF numbers. */
static const uint8_t dwarf_number[NREGS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15
};

uint64_t
prof_ring_registers(void)
{
	return (((1ULL << (PERF_REG_X86_IP + 1)) - 1) |
	    0xffULL << PERF_REG_X86_R8);
}
#elif defined(__aarch64__)
#define NREGS	33
static const uint8_t dwarf_number[NREGS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
};

uint64_t
prof_ring_registers(void)
{
	return ((1ULL << NREGS) - 1);
}
#endif

/* A number at a place that moves on; false: the record ends before. */
static bool
value_take(const uint8_t *bytes, size_t size, size_t *at, uint64_t *value)
{
	if (size - *at < sizeof(*value))
		return (false);
	memcpy(value, bytes + *at, sizeof(*value));
	*at += sizeof(*value);
	return (true);
}

bool
prof_ring_snapshot(const void *record, size_t size,
    const struct prof_ring_layout *layout, struct prof_snapshot *snapshot)
{
	size_t n, at = SAMPLE_SIZE + (layout->ly_has_period ? 8 : 0);
	uint64_t value, copied, counting;
	const uint8_t *bytes = record;

	if (size < at)
		return (false);
	if (layout->ly_has_chain) {
		if (!value_take(bytes, size, &at, &value) ||
		    value > (size - at) / 8)
			return (false);
		at += value * 8;
	}
	if (!value_take(bytes, size, &at, &value) ||
	    value != PERF_SAMPLE_REGS_ABI_64)
		return (false);
	memset(snapshot, 0, sizeof(*snapshot));
	for (n = 0; n < NREGS; n++)
		if (!value_take(bytes, size, &at,
		    &snapshot->sn_reg[dwarf_number[n]]))
			return (false);
	snapshot->sn_known = PROF_ALL_REGS;
	snapshot->sn_base = snapshot->sn_reg[PROF_REG_SP];
	if (!value_take(bytes, size, &at, &copied) || copied > size - at)
		return (false);
	snapshot->sn_stack = bytes + at;
	at += copied;
	if (copied == 0)
		return (true);
	if (!value_take(bytes, size, &at, &counting) || counting > copied)
		return (false);
	snapshot->sn_bytes = counting;
	snapshot->sn_cut = counting == copied;
	return (true);
}
