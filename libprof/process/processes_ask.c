/* SPDX-License-Identifier: ISC */
/*
 * Answers of the model: what a process has mapped at a time.  Asking changes
 * nothing, so many threads may ask at once.
 */
#include "base/search.h"
#include "processes_impl.h"

struct process *
prof_processes_find(const struct prof_processes *ps, uint32_t pid)
{
	struct process *process = *prof_processes_bucket(ps, pid);

	while (process != NULL && process->po_pid != pid)
		process = process->po_next;
	return (process);
}

bool
prof_processes_lost_in(const struct prof_processes *ps, uint64_t since_ns,
    uint64_t time_ns)
{
	uint32_t n;

	for (n = 0; n < ps->ps_nlosses; n++)
		if (ps->ps_loss[n].ls_to_ns > since_ns &&
		    ps->ps_loss[n].ls_from_ns <= time_ns)
			return (true);
	return (false);
}

struct memory *
prof_process_at(const struct process *process, uint64_t time_ns)
{
	size_t n;

	if (process == NULL)
		return (NULL);
	n = PROF_BEFORE(i, process->po_n,
	    process->po_memory[i].me_begin_ns <= time_ns);
	return (n == 0 ? NULL : &process->po_memory[n - 1]);
}

struct memory *
prof_memory_parent(const struct memory *memory, uint64_t *time_ns)
{
	if (memory->me_parent == NULL || (memory->me_cut_ns != NEVER &&
	    *time_ns >= memory->me_cut_ns))
		return (NULL);
	*time_ns = memory->me_begin_ns;
	return (prof_process_at(memory->me_parent, *time_ns));
}

/* Of an entry that holds at a time, for a process that has it since then. */
static bool
is_certain(const struct prof_processes *ps, const struct entry *entry,
    uint64_t time_ns, uint64_t asked_ns)
{
	uint64_t since_ns = entry->en_since_ns;

	if (entry->en_unsure_ns == UINT32_MAX ||
	    time_ns - since_ns < entry->en_unsure_ns)
		return (false);
	if (entry->en_again_ns > since_ns && entry->en_again_ns <= time_ns)
		since_ns = entry->en_again_ns;
	return (!prof_processes_lost_in(ps, since_ns, asked_ns));
}

static bool
mapping_fill(const struct range *range, const struct entry *entry,
    struct prof_mapping *mapping)
{
	if (entry->en_image == IMAGE_HOLE)
		return (false);
	mapping->mp_start = range->ra_start;
	mapping->mp_end = range->ra_end;
	mapping->mp_offset = range->ra_start - entry->en_delta;
	mapping->mp_since_ns = entry->en_since_ns;
	mapping->mp_image = entry->en_image;
	return (true);
}

static struct range *
range_at(const struct memory *memory, uint64_t pc)
{
	const uint32_t n = prof_memory_search(memory, pc);
	struct range *range = n == memory->me_n ? NULL :
	    prof_memory_range(memory, n);

	return (range == NULL || range->ra_start > pc ? NULL : range);
}

bool
prof_memory_find(const struct prof_processes *ps,
    const struct memory *memory, uint64_t time_ns, uint64_t pc,
    struct prof_mapping *mapping)
{
	const uint64_t asked_ns = time_ns;
	/* An exec's is empty first, if it is known when that was. */
	const uint64_t begin_ns = memory != NULL && memory->me_is_exec &&
	    memory->me_from_ns < memory->me_begin_ns ?
	    memory->me_from_ns : 0;
	const struct entry *entry;
	struct range *range, *later = NULL;
	bool is_cut = false;
	unsigned depth;

	for (depth = 0; memory != NULL && depth < 2 * MAX_DEPTH; depth++) {
		range = range_at(memory, pc);
		entry = range == NULL ? NULL : prof_range_at(range, time_ns);
		if (entry != NULL && entry->en_image == IMAGE_HOLE &&
		    depth > 0) {
			is_cut = true;
			break;
		}
		if (entry != NULL) {
			mapping->mp_is_certain = is_certain(ps, entry,
			    time_ns, asked_ns);
			return (mapping_fill(range, entry, mapping));
		}
		if (depth == 0)
			later = range;
		is_cut |= memory->me_cut_ns <= time_ns;
		memory = prof_memory_parent(memory, &time_ns);
	}
	if (later == NULL)
		return (false);
	entry = prof_range_oldest(later);
	/* If nothing was there before, lost or in the list that was read. */
	mapping->mp_is_certain = entry->en_unsure_ns == 0 && !is_cut &&
	    !prof_processes_lost_in(ps, begin_ns, entry->en_since_ns);
	return (mapping_fill(later, entry, mapping));
}

bool
prof_processes_at(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns, uint64_t pc, struct prof_mapping *mapping)
{
	return (prof_memory_find(ps, prof_process_at(prof_processes_find(ps,
	    pid), time_ns), time_ns, pc, mapping));
}

/*
 * Where a range ends or begins next, in the memory or in those that it has
 * the rest of; NEVER: nowhere.
 */
static uint64_t
next_edge(const struct memory *memory, uint64_t time_ns, uint64_t address)
{
	uint64_t edge = NEVER;
	unsigned depth;
	uint32_t n;

	for (depth = 0; memory != NULL && depth < 2 * MAX_DEPTH; depth++) {
		n = prof_memory_search(memory, address);
		if (n < memory->me_n) {
			const struct range *range =
			    prof_memory_range(memory, n);
			const uint64_t here = range->ra_start > address ?
			    range->ra_start : range->ra_end;

			edge = here < edge ? here : edge;
		}
		memory = prof_memory_parent(memory, &time_ns);
	}
	return (edge);
}

bool
prof_memory_next(const struct prof_processes *ps,
    const struct memory *memory, uint64_t time_ns, uint64_t address,
    struct prof_mapping *mapping)
{
	uint64_t edge;

	if (memory == NULL)
		return (false);
	while (!prof_memory_find(ps, memory, time_ns, address, mapping))
		if ((address = next_edge(memory, time_ns, address)) == NEVER)
			return (false);
	/* A part of it may be another's. */
	edge = next_edge(memory, time_ns, address);
	if (mapping->mp_start < address) {
		mapping->mp_offset += address - mapping->mp_start;
		mapping->mp_start = address;
	}
	if (mapping->mp_end > edge)
		mapping->mp_end = edge;
	return (true);
}

bool
prof_processes_next(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns, uint64_t address, struct prof_mapping *mapping)
{
	return (prof_memory_next(ps, prof_process_at(prof_processes_find(ps,
	    pid), time_ns), time_ns, address, mapping));
}

bool
prof_processes_is_alive(const struct prof_processes *ps, uint32_t pid)
{
	const struct memory *memory = prof_process_at(prof_processes_find(ps,
	    pid), UINT64_MAX);

	return (memory != NULL && memory->me_exit_ns == NEVER);
}

int
prof_processes_alive(const struct prof_processes *ps,
    int (*each)(void *arg, uint32_t pid), void *arg)
{
	const struct process *process;
	int rv = 0;

	for (size_t n = 0; n < ps->ps_nbuckets; n++)
		for (process = ps->ps_bucket[n]; process != NULL && rv == 0;
		    process = process->po_next)
			if (prof_processes_is_alive(ps, process->po_pid))
				rv = each(arg, process->po_pid);
	return (rv);
}

uint64_t
prof_processes_since(const struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns)
{
	const struct memory *memory = prof_process_at(prof_processes_find(ps,
	    pid), time_ns);

	return (memory == NULL ? 0 : memory->me_begin_ns);
}
