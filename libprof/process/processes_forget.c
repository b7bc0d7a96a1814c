/* SPDX-License-Identifier: ISC */
/*
 * What the model of processes keeps: while recording, no more than anybody may
 * still ask for.  Of a process that ended, or became another program, nothing
 * stays; a child that is still the program of its parent gets a copy of what
 * it has of it, once the parent maps something else.
 *
 * Called by processes.c, and by the users at the end of a round.
 */
#include <stdlib.h>
#include <string.h>

#include "processes_impl.h"

void
prof_process_watch(struct prof_processes *ps, struct process *process)
{
	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0 || process->po_is_watched)
		return;
	process->po_is_watched = true;
	process->po_next_watched = ps->ps_watched;
	ps->ps_watched = process;
}

static void
memory_end(struct prof_processes *ps, struct memory *memory)
{
	prof_memory_free(ps, memory);
	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0)
		free(memory->me_epoch);
	if (memory->me_parent == NULL)
		return;
	if (--memory->me_parent->po_children == 0 &&
	    memory->me_parent->po_n == 0)
		prof_process_watch(ps, memory->me_parent);
}

static void
process_free(struct prof_processes *ps, struct process *process)
{
	while (process->po_n > 0)
		memory_end(ps, &process->po_memory[--process->po_n]);
	free(process->po_memory);
	free(process);
}

void
prof_processes_free(struct prof_processes *ps)
{
	struct process *process, *next;
	size_t n;

	if (ps == NULL)
		return;
	/* They refer to each other. */
	for (n = 0; n < ps->ps_nbuckets; n++)
		for (process = ps->ps_bucket[n]; process != NULL;
		    process = process->po_next)
			while (process->po_n > 0)
				memory_end(ps, &process->po_memory[
				    --process->po_n]);
	for (n = 0; n < ps->ps_nbuckets; n++)
		for (process = ps->ps_bucket[n]; process != NULL;
		    process = next) {
			next = process->po_next;
			process_free(ps, process);
		}
	free(ps->ps_bucket);
	free(ps->ps_space);
	free(ps);
}

/* A child gets a copy of what it has of its parent. */
void
prof_memory_copy(struct prof_processes *ps, struct memory *memory)
{
	uint64_t time_ns = memory->me_begin_ns, at = 0;
	const struct memory *parent = prof_memory_parent(memory, &time_ns);
	struct prof_mapping mapping;
	struct entry entry = { .en_again_ns = time_ns };

	while (prof_memory_next(ps, parent, time_ns, at, &mapping) &&
	    memory->me_over_ns == 0) {
		at = mapping.mp_end;
		entry.en_delta = mapping.mp_start - mapping.mp_offset;
		entry.en_since_ns = mapping.mp_since_ns;
		entry.en_image = mapping.mp_image;
		entry.en_unsure_ns = mapping.mp_is_certain ? 0 : UINT32_MAX;
		if (mapping.mp_since_ns <= time_ns)
			(void)prof_memory_insert(ps, memory,
			    mapping.mp_start, mapping.mp_end, &entry);
	}
	memory->me_depth = 0;
	memory->me_parent->po_children--;
	memory->me_parent = NULL;
}

/* What the parent had when it forked is not what it has now. */
static bool
is_outdated(const struct memory *memory)
{
	uint64_t time_ns = memory->me_begin_ns;
	const struct process *parent = memory->me_parent;
	const struct memory *from = prof_memory_parent(memory, &time_ns);

	return (from != NULL && (from->me_changed_ns > memory->me_begin_ns ||
	    from != &parent->po_memory[parent->po_n - 1] ||
	    from->me_exit_ns != NEVER));
}

/* So long it could share it; where that changed, its part is kept. */
static void
process_keep(struct prof_processes *ps, struct process *process)
{
	struct memory *memory;
	uint32_t n;

	for (n = 0; n < process->po_n; n++) {
		memory = &process->po_memory[n];
		if (memory->me_parent != NULL && is_outdated(memory))
			prof_memory_copy(ps, memory);
	}
}

/* Is there nothing left?  Its children may ask for what it had. */
static bool
process_forget(struct prof_processes *ps, struct process *process)
{
	uint32_t n, past = 0;

	if (process->po_children > 0)
		return (false);
	while (past + 1 < process->po_n &&
	    process->po_memory[past + 1].me_begin_ns <= ps->ps_forget_ns &&
	    process->po_memory[past + 1].me_from_ns <= ps->ps_forget_ns)
		past++;
	if (past + 1 == process->po_n &&
	    process->po_memory[past].me_exit_ns <= ps->ps_forget_ns)
		past++;
	for (n = 0; n < past; n++)
		memory_end(ps, &process->po_memory[n]);
	process->po_n -= past;
	if (process->po_n == 0)
		return (true);
	memmove(process->po_memory, process->po_memory + past,
	    process->po_n * sizeof(*process->po_memory));
	return (false);
}

static void
process_remove(struct prof_processes *ps, struct process *process)
{
	struct process **at = prof_processes_bucket(ps, process->po_pid);

	while (*at != process)
		at = &(*at)->po_next;
	*at = process->po_next;
	ps->ps_nprocesses--;
	process_free(ps, process);
}

/*
 * Losses that ended before anybody may ask for are one: who asks sees just the
 * last of them, and there is room for those to come.
 */
static void
losses_forget(struct prof_processes *ps)
{
	struct loss *loss = ps->ps_loss;
	uint32_t n, kept = 0;

	for (n = 0; n < ps->ps_nlosses; n++)
		if (kept > 0 && loss[n].ls_to_ns <= ps->ps_forget_ns &&
		    loss[kept - 1].ls_to_ns <= ps->ps_forget_ns)
			prof_loss_join(&loss[kept - 1], &loss[n]);
		else
			loss[kept++] = loss[n];
	ps->ps_nlosses = kept;
}

void
prof_processes_forget(struct prof_processes *ps, uint64_t before_ns)
{
	struct process *process, *next;

	if (before_ns < ps->ps_forget_ns)
		return;
	for (process = ps->ps_watched; process != NULL;
	    process = process->po_next_watched)
		process_keep(ps, process);
	ps->ps_forget_ns = before_ns;
	losses_forget(ps);
	process = ps->ps_watched;
	ps->ps_watched = NULL;
	for (; process != NULL; process = next) {
		next = process->po_next_watched;
		process->po_is_watched = false;
		if (process_forget(ps, process))
			process_remove(ps, process);
		else if (process->po_n != 1 ||
		    process->po_memory[0].me_parent != NULL ||
		    process->po_memory[0].me_exit_ns != NEVER)
			prof_process_watch(ps, process);
	}
}

static void
entry_image(struct entry *entry, uint32_t *number, bool is_new)
{
	if (entry->en_image == IMAGE_HOLE)
		return;
	if (is_new)
		entry->en_image = number[entry->en_image];
	else
		number[entry->en_image] = 1;
}

void
prof_processes_images(struct prof_processes *ps, uint32_t *number,
    bool is_new)
{
	struct process *process;
	struct range *range;
	uint32_t m, n, i;
	size_t b;

	for (b = 0; b < ps->ps_nbuckets; b++)
	for (process = ps->ps_bucket[b]; process != NULL;
	    process = process->po_next)
	for (m = 0; m < process->po_n; m++) {
		struct memory *memory = &process->po_memory[m];

		prof_memory_trim(ps, memory);
		for (n = 0; n < memory->me_n; n++) {
			range = prof_memory_range(memory, n);
			entry_image(&range->ra_last, number, is_new);
			for (i = 0; i < range->ra_nolder; i++)
				entry_image(&range->ra_older[i], number,
				    is_new);
		}
	}
}
