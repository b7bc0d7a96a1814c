/* SPDX-License-Identifier: ISC */
/*
 * The mappings of one memory: ranges by address, and in each range entries by
 * time.  Called by processes.c.
 *
 * What is mapped again where it was becomes one entry with the one before,
 * but only some time later, since an event in between may be late.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "processes_impl.h"

#define MAX_RANGES	32768u
#define LATE_NS		1000000000ULL	/* events that are later are rare */

uint32_t
prof_memory_search(const struct memory *memory, uint64_t address)
{
	return ((uint32_t)PROF_BEFORE(i, memory->me_n,
	    prof_memory_range(memory, (uint32_t)i)->ra_end <= address));
}

/* How many of the older entries are not younger than a time. */
static uint32_t
older_until(const struct range *range, uint64_t time_ns)
{
	return ((uint32_t)PROF_BEFORE(i, range->ra_nolder,
	    range->ra_older[i].en_since_ns <= time_ns));
}

const struct entry *
prof_range_at(const struct range *range, uint64_t time_ns)
{
	uint32_t n;

	if (range->ra_last.en_since_ns <= time_ns)
		return (&range->ra_last);
	n = older_until(range, time_ns);
	return (n == 0 ? NULL : &range->ra_older[n - 1]);
}

/* ---------------------------------------------------------- memory of it */

static void
older_free(struct prof_processes *ps, struct range *range)
{
	ps->ps_nentries -= range->ra_cap;
	free(range->ra_older);
	range->ra_older = NULL;
	range->ra_nolder = range->ra_cap = 0;
}

void
prof_memory_free(struct prof_processes *ps, struct memory *memory)
{
	uint32_t n;

	for (n = 0; n < memory->me_n; n++)
		older_free(ps, prof_memory_range(memory, n));
	ps->ps_nentries -= memory->me_cap;
	free(memory->me_range);
	memory->me_range = NULL;
	memory->me_n = memory->me_gap = memory->me_cap = 0;
}

void
prof_memory_over(struct prof_processes *ps, struct memory *memory)
{
	uint32_t n;

	for (n = 0; n < memory->me_n; n++)
		ps->ps_over += 1 + prof_memory_range(memory, n)->ra_nolder;
	ps->ps_over++;
	prof_memory_free(ps, memory);
	memory->me_cut_ns = 0;
	memory->me_over_ns = ps->ps_newest_ns | 1;
}

/* false: so much moving is not worth it, and nobody does it in good faith. */
static bool
may_move(struct prof_processes *ps, uint32_t n)
{
	if (n > ps->ps_moves)
		return (false);
	ps->ps_moves -= n;
	return (true);
}

/* Move the gap in front of range n. */
static bool
gap_move(struct prof_processes *ps, struct memory *memory, uint32_t n)
{
	const uint32_t unused = memory->me_cap - memory->me_n;
	const uint32_t gap = memory->me_gap;
	struct range *range = memory->me_range;

	if (!may_move(ps, n < gap ? gap - n : n - gap))
		return (false);
	if (n < gap)
		memmove(range + n + unused, range + n, (gap - n) *
		    sizeof(*range));
	else if (n > gap)
		memmove(range + gap, range + gap + unused, (n - gap) *
		    sizeof(*range));
	memory->me_gap = n;
	return (true);
}

/* Only the first n are left; the gap is behind them. */
static void
ranges_kept(struct memory *memory, uint32_t n)
{
	memory->me_n = memory->me_gap = n;
}

/* Room for one more range; false: no memory, or a limit is reached. */
static bool
ranges_reserve(struct prof_processes *ps, struct memory *memory)
{
	const uint32_t cap = memory->me_cap == 0 ? 1 :
	    memory->me_cap < 16 ? memory->me_cap * 2 :
	    memory->me_cap + memory->me_cap / 2;
	struct range *grown;

	if (memory->me_n < memory->me_cap)
		return (true);
	if (memory->me_n >= MAX_RANGES ||
	    ps->ps_nentries + (cap - memory->me_cap) > ps->ps_most)
		return (false);
	if (!gap_move(ps, memory, memory->me_n))
		return (false);
	grown = reallocarray(memory->me_range, cap, sizeof(*grown));
	if (grown == NULL)
		return (false);
	ps->ps_nentries += cap - memory->me_cap;
	memory->me_range = grown;
	memory->me_cap = cap;
	return (true);
}

static bool
is_same(const struct entry *a, const struct entry *b)
{
	return (a->en_image == b->en_image &&
	    (a->en_image == PROF_IMAGE_ANON || a->en_image == IMAGE_HOLE ||
	    a->en_delta == b->en_delta));
}

static uint64_t
last_ns(const struct entry *entry)
{
	return (entry->en_again_ns > entry->en_since_ns ?
	    entry->en_again_ns : entry->en_since_ns);
}

/* May b be a part of a, which is before it? */
static bool
is_repeated(const struct prof_processes *ps, const struct entry *a,
    const struct entry *b)
{
	return (is_same(a, b) && a->en_unsure_ns == 0 &&
	    b->en_unsure_ns == 0 && a->en_image != IMAGE_HOLE &&
	    b->en_since_ns + LATE_NS < ps->ps_newest_ns &&
	    !prof_processes_lost_in(ps, last_ns(a), b->en_since_ns));
}

/* How many of the older entries ended before anybody may ask for. */
static uint32_t
older_past(const struct prof_processes *ps, const struct range *range)
{
	uint32_t n;

	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0)
		return (0);
	if (range->ra_last.en_since_ns <= ps->ps_forget_ns)
		return (range->ra_nolder);
	n = older_until(range, ps->ps_forget_ns);
	return (n == 0 ? 0 : n - 1);
}

/* Entries of the past go, and those that say the same join. */
static void
range_trim(const struct prof_processes *ps, struct range *range)
{
	struct entry *older = range->ra_older;
	uint32_t n, kept = 0;

	for (n = older_past(ps, range); n < range->ra_nolder; n++)
		if (kept > 0 && is_repeated(ps, &older[kept - 1], &older[n]))
			older[kept - 1].en_again_ns = last_ns(&older[n]);
		else
			older[kept++] = older[n];
	range->ra_nolder = kept;
}

/* Room for two more. */
static bool
older_reserve(struct prof_processes *ps, struct range *range)
{
	const uint32_t before = range->ra_cap;
	const uint32_t cap = before == 0 ? 2 : before * 2;
	struct entry *grown;

	if (range->ra_nolder + 2 <= before)
		return (true);
	range_trim(ps, range);
	/* A trim must be worth its while. */
	if (range->ra_nolder + 2 <= before - before / 4)
		return (true);
	if (ps->ps_nentries + (cap - before) > ps->ps_most)
		return (false);
	grown = reallocarray(range->ra_older, cap, sizeof(*grown));
	if (grown == NULL)
		return (false);
	ps->ps_nentries += cap - before;
	range->ra_older = grown;
	range->ra_cap = cap;
	return (true);
}

/* ------------------------------------------------------------- one range */

/* As number n by time; there must be room. */
static bool
entry_put(struct prof_processes *ps, struct range *range, uint32_t n,
    const struct entry *entry)
{
	if (n > range->ra_nolder) {
		range->ra_older[range->ra_nolder++] = range->ra_last;
		range->ra_last = *entry;
		return (true);
	}
	if (!may_move(ps, range->ra_nolder - n))
		return (false);
	memmove(range->ra_older + n + 1, range->ra_older + n,
	    (range->ra_nolder - n) * sizeof(*entry));
	range->ra_older[n] = *entry;
	range->ra_nolder++;
	return (true);
}

/*
 * Into its place by time; what is of the same time is replaced.  Between two
 * that were joined, it is too late to know when the second one began: so it is
 * unsure until the last of them.
 */
static bool
range_add(struct prof_processes *ps, struct range *range,
    const struct entry *entry)
{
	struct entry new = *entry, again, *before = NULL;
	uint64_t unsure_ns;
	uint32_t n;

	if (!older_reserve(ps, range))
		return (false);
	n = range->ra_last.en_since_ns <= new.en_since_ns ?
	    range->ra_nolder + 1 : older_until(range, new.en_since_ns);
	if (n > 0)
		before = n > range->ra_nolder ? &range->ra_last :
		    &range->ra_older[n - 1];
	if (before != NULL && is_same(before, &new) &&
	    last_ns(before) >= new.en_since_ns)
		return (true);
	if (before != NULL && before->en_again_ns > new.en_since_ns) {
		unsure_ns = before->en_again_ns - new.en_since_ns;
		new.en_unsure_ns = unsure_ns > UINT32_MAX ? UINT32_MAX :
		    (uint32_t)unsure_ns;
		again = *before;
		again.en_since_ns = before->en_again_ns;
		again.en_again_ns = before->en_again_ns = 0;
		if (!entry_put(ps, range, n, &again))
			return (false);
		/* It has moved, where it was the last one. */
		before = &range->ra_older[n - 1];
	}
	if (before != NULL && before->en_since_ns == new.en_since_ns) {
		*before = new;
		return (true);
	}
	return (entry_put(ps, range, n, &new));
}

/* May they be one, for they say the same of two neighbors? */
static bool
is_joined(const struct prof_processes *ps, const struct entry *a,
    const struct entry *b)
{
	return (a->en_image == PROF_IMAGE_ANON && is_same(a, b) &&
	    a->en_unsure_ns == 0 && b->en_unsure_ns == 0 &&
	    last_ns(a) + LATE_NS < ps->ps_newest_ns &&
	    last_ns(b) + LATE_NS < ps->ps_newest_ns);
}

/* What is known of both. */
static void
entry_join(struct entry *a, const struct entry *b)
{
	const uint64_t again_ns = last_ns(a) < last_ns(b) ? last_ns(a) :
	    last_ns(b);

	if (b->en_since_ns > a->en_since_ns)
		a->en_since_ns = b->en_since_ns;
	a->en_again_ns = again_ns > a->en_since_ns ? again_ns : 0;
}

/* ---------------------------------------------------------- many of them */

/* A new range, as number n. */
static bool
range_put(struct prof_processes *ps, struct memory *memory, uint32_t n,
    const struct range *range)
{
	if (!ranges_reserve(ps, memory) || !gap_move(ps, memory, n))
		return (false);
	memory->me_range[memory->me_gap++] = *range;
	memory->me_n++;
	return (true);
}

/* Two, that meet at an address, with the same history. */
static bool
range_split(struct prof_processes *ps, struct memory *memory, uint32_t n,
    uint64_t at)
{
	struct range tail = *prof_memory_range(memory, n);

	tail.ra_start = at;
	tail.ra_older = NULL;
	tail.ra_cap = 0;
	if (tail.ra_nolder > 0) {
		if (ps->ps_nentries + tail.ra_nolder > ps->ps_most ||
		    !may_move(ps, tail.ra_nolder) || (tail.ra_older =
		    calloc(tail.ra_nolder, sizeof(*tail.ra_older))) == NULL)
			return (false);
		tail.ra_cap = tail.ra_nolder;
		ps->ps_nentries += tail.ra_cap;
		memcpy(tail.ra_older, prof_memory_range(memory, n)->ra_older,
		    tail.ra_nolder * sizeof(*tail.ra_older));
	}
	if (!range_put(ps, memory, n + 1, &tail)) {
		older_free(ps, &tail);
		return (false);
	}
	prof_memory_range(memory, n)->ra_end = at;
	return (true);
}

/*
 * A JIT makes its memory executable page by page.  Neighbors that never were
 * anything else join, some time later; in the memory of a child they might have
 * been its parent's before.
 */
static void
ranges_join(struct prof_processes *ps, struct memory *memory)
{
	struct range *range, *before;
	uint32_t n, kept = 0, looks = 0;

	prof_memory_trim(ps, memory);
	for (n = 0; n < memory->me_n; n++) {
		range = prof_memory_range(memory, n);
		before = kept == 0 ? NULL : &memory->me_range[kept - 1];
		range_trim(ps, range);
		looks += 1 + range->ra_nolder;
		if (before == NULL || memory->me_parent != NULL ||
		    before->ra_end != range->ra_start ||
		    before->ra_nolder + range->ra_nolder > 0 ||
		    !is_joined(ps, &before->ra_last, &range->ra_last)) {
			memory->me_range[kept++] = *range;
			continue;
		}
		before->ra_end = range->ra_end;
		entry_join(&before->ra_last, &range->ra_last);
		older_free(ps, range);
	}
	ranges_kept(memory, kept);
	memory->me_wait = looks < UINT16_MAX ? (uint16_t)looks : UINT16_MAX;
}

/* What lies at an address becomes a range that begins there, if any does. */
static bool
insert_at(struct prof_processes *ps, struct memory *memory, uint32_t n,
    uint64_t at, uint64_t end, const struct entry *entry)
{
	struct range *range = n < memory->me_n ?
	    prof_memory_range(memory, n) : NULL;
	const struct range gap = { .ra_start = at, .ra_last = *entry,
	    .ra_end = range == NULL || range->ra_start >= end ? end :
	    range->ra_start };

	if (range == NULL || range->ra_start > at)
		return (range_put(ps, memory, n, &gap));
	if (range->ra_end > end && !range_split(ps, memory, n, end))
		return (false);
	return (range_add(ps, prof_memory_range(memory, n), entry));
}

int
prof_memory_insert(struct prof_processes *ps, struct memory *memory,
    uint64_t start, uint64_t end, const struct entry *entry)
{
	uint64_t at = start;
	uint32_t n;

	if (end <= start)
		return (0);
	/* As many insertions pay for a look at all as it looks at. */
	if (memory->me_wait > 0)
		memory->me_wait--;
	if (memory->me_n + 3 > memory->me_cap &&
	    (memory->me_wait == 0 || memory->me_n + 3 > MAX_RANGES))
		ranges_join(ps, memory);
	if (entry->en_image == PROF_IMAGE_ANON)
		memory->me_has_anon = true;
	n = prof_memory_search(memory, start);
	if (n < memory->me_n &&
	    prof_memory_range(memory, n)->ra_start < start) {
		if (!range_split(ps, memory, n, start))
			goto over;
		n++;
	}
	while (at < end) {
		if (!insert_at(ps, memory, n, at, end, entry))
			goto over;
		at = prof_memory_range(memory, n++)->ra_end;
	}
	return (0);
over:
	prof_memory_over(ps, memory);
	return (-1);
}

void
prof_memory_clear(struct prof_processes *ps, struct memory *memory,
    uint64_t time_ns)
{
	const struct entry hole = { .en_since_ns = time_ns,
	    .en_image = IMAGE_HOLE };
	uint32_t n;

	if (memory->me_cut_ns > time_ns)
		memory->me_cut_ns = time_ns;
	prof_memory_trim(ps, memory);
	for (n = 0; n < memory->me_n; n++)
		if (!range_add(ps, prof_memory_range(memory, n), &hole)) {
			prof_memory_over(ps, memory);
			return;
		}
}

/* How many of a range's entries are younger than a time, or as old. */
static uint32_t
entries_since(const struct range *range, uint64_t since_ns)
{
	if (range->ra_last.en_since_ns < since_ns)
		return (0);
	return (1 + range->ra_nolder - (since_ns == 0 ? 0 :
	    older_until(range, since_ns - 1)));
}

/*
 * What a range of one memory had since a time, to another memory.  How many
 * of its entries that are.
 */
static uint32_t
range_copy(struct prof_processes *ps, struct range *range,
    struct memory *to, uint64_t since_ns)
{
	const uint32_t all = 1 + range->ra_nolder;
	const uint32_t young = entries_since(range, since_ns);
	struct entry *entry, again;
	uint32_t n;

	for (n = young == all ? 0 : all - young - 1; n < all; n++) {
		entry = n == range->ra_nolder ? &range->ra_last :
		    &range->ra_older[n];
		again = *entry;
		if (entry->en_since_ns < since_ns) {
			/* The last one before that, if it came again. */
			if (entry->en_again_ns < since_ns)
				continue;
			again.en_since_ns = entry->en_again_ns;
			again.en_again_ns = 0;
		}
		(void)prof_memory_insert(ps, to, range->ra_start,
		    range->ra_end, &again);
	}
	return (young);
}

/* What is younger goes.  false: all does. */
static bool
range_cut(struct range *range, uint32_t young, uint64_t since_ns)
{
	if (young > range->ra_nolder)
		return (false);
	if (young > 0) {
		range->ra_nolder -= young;
		range->ra_last = range->ra_older[range->ra_nolder];
	}
	if (range->ra_last.en_again_ns >= since_ns)
		range->ra_last.en_again_ns = 0;
	return (true);
}

void
prof_memory_move(struct prof_processes *ps, struct memory *from,
    struct memory *to, uint64_t since_ns, bool is_copy)
{
	uint32_t n, young, kept = 0;
	struct range *range;

	for (n = 0; n < from->me_n; n++) {
		range = prof_memory_range(from, n);
		young = range_copy(ps, range, to, since_ns);
		if (is_copy || range_cut(range, young, since_ns))
			from->me_range[kept++] = *range;
		else
			older_free(ps, range);
	}
	ranges_kept(from, kept);
}

void
prof_memory_trim(struct prof_processes *ps, struct memory *memory)
{
	struct range *range;
	uint32_t n, kept = 0;

	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0)
		return;
	for (n = 0; n < memory->me_n; n++) {
		range = prof_memory_range(memory, n);
		range_trim(ps, range);
		if (range->ra_last.en_image == IMAGE_HOLE &&
		    range->ra_last.en_since_ns <= ps->ps_forget_ns)
			older_free(ps, range);
		else
			memory->me_range[kept++] = *range;
	}
	ranges_kept(memory, kept);
}
