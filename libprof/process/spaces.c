/* SPDX-License-Identifier: ISC */
/*
 * Numbers what processes had mapped: a space is a memory from one epoch to the
 * next.  An epoch begins where something was mapped in the place of something
 * else: as long as mappings only come, what is there last was always there.
 *
 * A child begins with its parent's space, so that many short processes of one
 * program have one; unless there is anonymous memory, which a JIT may fill
 * otherwise in each.
 *
 * Called when a recording was read, once; then by many threads.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "base/search.h"
#include "processes_impl.h"

/* Times at which epochs begin, as they are found. */
struct times {
	uint64_t	*ti_time_ns;
	size_t		 ti_n;
	size_t		 ti_cap;
	bool		 ti_failed;	/* no memory */
};

static void
times_add(struct times *times, uint64_t time_ns)
{
	uint64_t *new = prof_grow(&times->ti_time_ns, &times->ti_n,
	    &times->ti_cap, sizeof(*new));

	if (new == NULL)
		times->ti_failed = true;
	else
		*new = time_ns;
}

static int
times_compare(const void *a, const void *b)
{
	const uint64_t ta = *(const uint64_t *)a, tb = *(const uint64_t *)b;

	return (ta < tb ? -1 : ta > tb);
}

/* Does the parent have something else in a range? */
static bool
is_conflict(const struct prof_processes *ps, const struct memory *memory,
    const struct range *range, const struct entry *entry)
{
	uint64_t time_ns = entry->en_since_ns, at = range->ra_start;
	const struct memory *parent = prof_memory_parent(memory, &time_ns);
	struct prof_mapping there;

	while (at < range->ra_end && prof_memory_next(ps, parent, time_ns,
	    at, &there) && there.mp_start < range->ra_end) {
		if (there.mp_since_ns <= time_ns &&
		    (there.mp_image != entry->en_image ||
		    (there.mp_image != PROF_IMAGE_ANON &&
		    there.mp_start - there.mp_offset != entry->en_delta)))
			return (true);
		at = there.mp_end;
	}
	return (false);
}

static bool
is_other(const struct entry *a, const struct entry *b)
{
	return (a->en_image != b->en_image ||
	    (a->en_image != PROF_IMAGE_ANON && a->en_delta != b->en_delta));
}

/*
 * What a memory maps begins an epoch where it takes something's place; and,
 * if it begins with its parent's space, where it first maps anything.
 */
static void
memory_times(const struct prof_processes *ps, const struct memory *memory,
    bool is_shared, struct times *times)
{
	uint64_t first_ns = NEVER;
	struct range *range;
	const struct entry *entry, *next;
	uint32_t n, i;

	for (n = 0; n < memory->me_n; n++) {
		range = prof_memory_range(memory, n);
		entry = prof_range_oldest(range);
		if (entry->en_since_ns < first_ns)
			first_ns = entry->en_since_ns;
		if (memory->me_parent != NULL &&
		    is_conflict(ps, memory, range, entry))
			times_add(times, entry->en_since_ns);
		for (i = 1; i <= range->ra_nolder; i++, entry = next) {
			next = i < range->ra_nolder ? &range->ra_older[i] :
			    &range->ra_last;
			if (is_other(entry, next))
				times_add(times, next->en_since_ns);
		}
	}
	if (is_shared && first_ns != NEVER)
		times_add(times, first_ns);
	if (memory->me_parent != NULL && memory->me_cut_ns != NEVER)
		times_add(times, memory->me_cut_ns);
}

/* PROF_SPACE_NONE: there are too many. */
static uint32_t
space_add(struct prof_processes *ps, const struct memory *memory,
    uint64_t time_ns)
{
	const uint32_t n = ps->ps_nspaces;
	struct space *grown;

	/* Full exactly when it is a power of two. */
	if (n == 1 || (n & (n - 1)) == 0) {
		if (n > UINT32_MAX / 4)
			return (PROF_SPACE_NONE);
		grown = reallocarray(ps->ps_space, (size_t)n * 2,
		    sizeof(*grown));
		if (grown == NULL)
			return (PROF_SPACE_NONE);
		ps->ps_space = grown;
	}
	ps->ps_space[n] = (struct space){ memory, time_ns };
	return (ps->ps_nspaces++);
}

static uint32_t
space_at(const struct memory *memory, uint64_t time_ns, uint64_t *from_ns,
    uint64_t *to_ns)
{
	const size_t low = PROF_BEFORE(i, memory->me_nepochs,
	    memory->me_epoch[i].ep_time_ns <= time_ns);

	*from_ns = low == 0 ? memory->me_begin_ns :
	    memory->me_epoch[low - 1].ep_time_ns;
	*to_ns = low == memory->me_nepochs ? NEVER :
	    memory->me_epoch[low].ep_time_ns;
	return (low == 0 ? memory->me_space :
	    memory->me_epoch[low - 1].ep_space);
}

/* The space that a child begins with, if it is its parent's. */
static uint32_t
space_shared(const struct memory *memory)
{
	uint64_t time_ns = memory->me_begin_ns, from_ns, to_ns;
	const struct memory *parent = prof_memory_parent(memory, &time_ns);

	return (parent == NULL || parent->me_has_anon ||
	    parent->me_over_ns != 0 ? PROF_SPACE_NONE :
	    space_at(parent, time_ns, &from_ns, &to_ns));
}

static int
memory_seal(struct prof_processes *ps, struct memory *memory)
{
	struct times times = { .ti_n = 0 };
	const uint32_t shared = space_shared(memory);
	uint32_t n, kept = 0;
	int rv = -1;

	memory->me_space = shared != PROF_SPACE_NONE ? shared :
	    space_add(ps, memory, memory->me_begin_ns);
	memory_times(ps, memory, shared != PROF_SPACE_NONE, &times);
	if (memory->me_space == PROF_SPACE_NONE || times.ti_failed)
		goto out;
	if (times.ti_n > 0) {
		qsort(times.ti_time_ns, times.ti_n,
		    sizeof(*times.ti_time_ns), times_compare);
		memory->me_epoch = calloc(times.ti_n,
		    sizeof(*memory->me_epoch));
		if (memory->me_epoch == NULL)
			goto out;
	}
	for (n = 0; n < times.ti_n; n++) {
		/* Before it runs, it has what it has when it does. */
		if (times.ti_time_ns[n] <= memory->me_begin_ns ||
		    (kept > 0 && times.ti_time_ns[n] ==
		    memory->me_epoch[kept - 1].ep_time_ns))
			continue;
		memory->me_epoch[kept].ep_time_ns = times.ti_time_ns[n];
		memory->me_epoch[kept].ep_space = space_add(ps, memory,
		    times.ti_time_ns[n]);
		if (memory->me_epoch[kept++].ep_space == PROF_SPACE_NONE)
			goto out;
	}
	rv = 0;
out:
	memory->me_nepochs = kept;
	free(times.ti_time_ns);
	return (rv);
}

/*
 * Where a newer name may be among what was lost, what an exec mapped may have
 * been there before it.
 */
static void
process_seal(struct prof_processes *ps, struct process *process)
{
	struct memory *memory;
	uint32_t n;

	for (n = 1; n < process->po_n; n++) {
		memory = &process->po_memory[n];
		if (memory->me_is_exec && prof_processes_lost_in(ps,
		    memory->me_from_ns, memory->me_begin_ns))
			prof_memory_move(ps, memory, memory - 1,
			    memory->me_from_ns, true);
	}
}

int
prof_processes_seal(struct prof_processes *ps)
{
	struct memory **memory = calloc((size_t)ps->ps_nmemories + 1,
	    sizeof(*memory));
	struct process *process;
	uint32_t n;
	size_t b;
	int rv = memory == NULL ? -1 : 0;

	for (b = 0; rv == 0 && b < ps->ps_nbuckets; b++)
		for (process = ps->ps_bucket[b]; process != NULL;
		    process = process->po_next) {
			process_seal(ps, process);
			for (n = 0; n < process->po_n; n++)
				memory[process->po_memory[n].me_number] =
				    &process->po_memory[n];
		}
	for (n = 1; rv == 0 && n <= ps->ps_nmemories; n++)
		if (memory[n] != NULL)
			rv = memory_seal(ps, memory[n]);
	free(memory);
	return (rv);
}

uint32_t
prof_processes_space_while(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct process *process = prof_processes_find(ps, pid);
	const struct memory *memory = prof_process_at(process, time_ns), *next;
	uint64_t since_ns, until_ns;
	uint32_t space;

	if (process == NULL || process->po_n == 0)
		return (PROF_SPACE_NONE);
	next = memory == NULL ? process->po_memory : memory + 1;
	if (next < process->po_memory + process->po_n &&
	    next->me_begin_ns < *to_ns)
		*to_ns = next->me_begin_ns;
	if (memory == NULL)
		return (PROF_SPACE_NONE);
	space = space_at(memory, time_ns, &since_ns, &until_ns);
	if (since_ns > *from_ns)
		*from_ns = since_ns;
	if (until_ns < *to_ns)
		*to_ns = until_ns;
	return (space);
}

uint32_t
prof_processes_space(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns)
{
	uint64_t from_ns = 0, to_ns = NEVER;

	return (prof_processes_space_while(ps, pid, time_ns, &from_ns,
	    &to_ns));
}

static const struct space *
space_of(const struct prof_processes *ps, uint32_t space)
{
	return (space == PROF_SPACE_NONE || space >= ps->ps_nspaces ? NULL :
	    &ps->ps_space[space]);
}

bool
prof_processes_mapping(const struct prof_processes *ps, uint32_t space,
    uint64_t pc, struct prof_mapping *mapping)
{
	const struct space *of = space_of(ps, space);

	return (of != NULL && prof_memory_find(ps, of->sp_memory,
	    of->sp_time_ns, pc, mapping));
}

bool
prof_processes_below(const struct prof_processes *ps, uint32_t space,
    uint64_t address, struct prof_mapping *mapping)
{
	const struct space *of = space_of(ps, space);
	struct prof_mapping next;
	bool is_found = false;
	uint64_t at = 0;

	while (of != NULL && prof_memory_next(ps, of->sp_memory,
	    of->sp_time_ns, at, &next) && next.mp_start <= address) {
		at = next.mp_end;
		if (next.mp_image == PROF_IMAGE_ANON ||
		    next.mp_image == PROF_IMAGE_OVER)
			continue;
		*mapping = next;
		is_found = true;
	}
	return (is_found);
}

bool
prof_processes_is_over(const struct prof_processes *ps, uint32_t space)
{
	const struct space *of = space_of(ps, space);
	const struct memory *memory = of == NULL ? NULL : of->sp_memory;
	uint64_t time_ns = of == NULL ? 0 : of->sp_time_ns;
	unsigned depth;

	for (depth = 0; memory != NULL && depth < 2 * MAX_DEPTH; depth++) {
		if (memory->me_over_ns != 0)
			return (true);
		memory = prof_memory_parent(memory, &time_ns);
	}
	return (false);
}

uint32_t
prof_processes_memory(const struct prof_processes *ps, uint32_t space)
{
	const struct space *of = space_of(ps, space);

	return (of == NULL ? 0 : of->sp_memory->me_number);
}

uint32_t
prof_processes_memory_at(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns)
{
	const struct memory *memory = prof_process_at(prof_processes_find(ps,
	    pid), time_ns);

	return (memory == NULL ? 0 : memory->me_number);
}
