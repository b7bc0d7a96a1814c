/* SPDX-License-Identifier: ISC */
/*
 * What each process has mapped, followed as records come: so at any moment
 * it is what was mapped at the time of the last record.
 *
 * Called by snapshots.c with the lives and mappings of a session, in order of
 * time.  There is no record of munmap; a mapping goes when another takes its
 * place, at exec and at exit.  Only processes whose life was told of are
 * followed, since a mapping may be told of after the end of its process.
 */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

#define BUCKETS		4096
#define MAX_MAPS	65536	/* executable ones, of a process */

struct process {
	struct process	*po_next;
	uint32_t	 po_pid;
	uint64_t	 po_named_ns;	/* it took its last name */
	struct prof_space *po_space;	/* NULL: nothing is mapped */
};

struct prof_spaces {
	struct prof_objects *sp_objects;
	struct process	*sp_bucket[BUCKETS];
	uint64_t	 sp_version;
};

struct prof_spaces *
prof_spaces_new(struct prof_objects *objects)
{
	struct prof_spaces *spaces = calloc(1, sizeof(*spaces));

	if (spaces != NULL)
		spaces->sp_objects = objects;
	return (spaces);
}

static void
space_put(struct prof_space *space)
{
	if (space != NULL && --space->ss_refs == 0)
		free(space);
}

void
prof_spaces_free(struct prof_spaces *spaces)
{
	struct process *process;
	size_t n;

	for (n = 0; spaces != NULL && n < BUCKETS; n++)
		while ((process = spaces->sp_bucket[n]) != NULL) {
			spaces->sp_bucket[n] = process->po_next;
			space_put(process->po_space);
			free(process);
		}
	free(spaces);
}

static struct process **
place_of(struct prof_spaces *spaces, uint32_t pid)
{
	struct process **at = &spaces->sp_bucket[pid % BUCKETS];

	while (*at != NULL && (*at)->po_pid != pid)
		at = &(*at)->po_next;
	return (at);
}

static struct process *
process_get(struct prof_spaces *spaces, uint32_t pid)
{
	struct process **at = place_of(spaces, pid);

	if (*at == NULL && (*at = calloc(1, sizeof(**at))) != NULL)
		(*at)->po_pid = pid;
	return (*at);
}

/*
 * The process's own space, with room for so many more mappings and under a
 * new version, ready to be changed.  NULL: no memory, or too many.
 */
static struct prof_space *
space_change(struct prof_spaces *spaces, struct process *process,
    uint32_t more)
{
	struct prof_space *old = process->po_space, *space = old;
	uint32_t n = old == NULL ? 0 : old->ss_n, cap = 16;

	if (n + more > MAX_MAPS)
		return (NULL);
	while (cap < n + more)
		cap *= 2;
	if (old == NULL || old->ss_refs > 1 || old->ss_cap < cap) {
		space = malloc(sizeof(*space) + cap * sizeof(*space->ss_map));
		if (space == NULL)
			return (NULL);
		if (n > 0)
			memcpy(space->ss_map, old->ss_map,
			    n * sizeof(*space->ss_map));
		space->ss_refs = 1;
		space->ss_n = n;
		space->ss_cap = cap;
		space_put(old);
		process->po_space = space;
	}
	space->ss_version = ++spaces->sp_version;
	return (space);
}

/* Into its place; there must be room. */
static void
insert(struct prof_space *space, const struct prof_mapped *mapping)
{
	uint32_t n;

	for (n = space->ss_n; n > 0 &&
	    space->ss_map[n - 1].mp_start > mapping->mp_start; n--)
		space->ss_map[n] = space->ss_map[n - 1];
	space->ss_map[n] = *mapping;
	space->ss_n++;
}

/*
 * Make room for [start, end): what lies in its way is cut or goes.  At most
 * one mapping becomes two.
 */
static void
clear_range(struct prof_space *space, uint64_t start, uint64_t end)
{
	struct prof_mapped tail = { 0 };
	uint32_t n, kept = 0;

	for (n = 0; n < space->ss_n; n++) {
		const struct prof_mapped map = space->ss_map[n];

		if (map.mp_end <= start || map.mp_start >= end) {
			space->ss_map[kept++] = map;
			continue;
		}
		if (map.mp_end > end) {
			tail = map;
			tail.mp_start = end;
			tail.mp_offset += end - map.mp_start;
		}
		if (map.mp_start < start) {
			space->ss_map[kept] = map;
			space->ss_map[kept++].mp_end = start;
		}
	}
	space->ss_n = kept;
	if (tail.mp_end != 0)
		insert(space, &tail);
}

/* Nothing is better than what is wrong. */
static void
forget_space(struct process *process)
{
	space_put(process->po_space);
	process->po_space = NULL;
}

static int
add_mapping(struct prof_spaces *spaces, const struct prof_record *record)
{
	struct process *process = *place_of(spaces, record->pr_pid);
	struct prof_mapped mapping = {
		.mp_start = record->pr_addr,
		.mp_end = record->pr_addr + record->pr_len,
		.mp_offset = record->pr_offset,
		.mp_since_ns = record->pr_time_ns,
	};
	struct prof_space *space;
	bool is_full;

	if (process == NULL || mapping.mp_end <= mapping.mp_start)
		return (0);
	space = space_change(spaces, process, 2);
	if (space == NULL) {
		is_full = process->po_space != NULL &&
		    process->po_space->ss_n + 2 > MAX_MAPS;
		forget_space(process);
		return (is_full ? 0 : -1);
	}
	mapping.mp_object = prof_objects_get(spaces->sp_objects, record);
	clear_range(space, mapping.mp_start, mapping.mp_end);
	insert(space, &mapping);
	return (0);
}

/* A child starts with what its parent has mapped. */
static int
share_mappings(struct prof_spaces *spaces, const struct prof_record *fork)
{
	struct process *parent, *child;

	if (fork->pr_ppid == fork->pr_pid)
		return (0);
	parent = *place_of(spaces, fork->pr_ppid);
	if ((child = process_get(spaces, fork->pr_pid)) == NULL)
		return (-1);
	space_put(child->po_space);
	child->po_space = NULL;
	if (parent != NULL && parent->po_space != NULL) {
		child->po_space = parent->po_space;
		child->po_space->ss_refs++;
	}
	return (0);
}

/*
 * A new program.  In the kernel an exec first changes the name, then maps,
 * then tells of the exec; so mappings since the name are the new ones.
 * Without BPF the record of the exec is the one of the name.
 */
static int
execute(struct prof_spaces *spaces, const struct prof_record *exec)
{
	struct process *process = process_get(spaces, exec->pr_pid);
	struct prof_space *space;
	uint32_t n, kept = 0;

	if (process == NULL)
		return (-1);
	if (exec->pr_exec_id == 0)
		process->po_named_ns = exec->pr_time_ns;
	if (process->po_space == NULL)
		return (0);
	space = space_change(spaces, process, 0);
	if (space == NULL) {
		forget_space(process);
		return (-1);
	}
	for (n = 0; n < space->ss_n; n++)
		if (space->ss_map[n].mp_since_ns >= process->po_named_ns)
			space->ss_map[kept++] = space->ss_map[n];
	space->ss_n = kept;
	return (0);
}

static void
end_process(struct prof_spaces *spaces, uint32_t pid)
{
	struct process **at = place_of(spaces, pid), *process = *at;

	if (process == NULL)
		return;
	*at = process->po_next;
	space_put(process->po_space);
	free(process);
}

int
prof_spaces_observe(struct prof_spaces *spaces,
    const struct prof_record *record)
{
	struct process *process;

	switch (record->pr_type) {
	case PROF_R_MMAP:
		return (add_mapping(spaces, record));
	case PROF_R_FORK:
		return (share_mappings(spaces, record));
	case PROF_R_TASK:
		return (process_get(spaces, record->pr_pid) == NULL ? -1 : 0);
	case PROF_R_COMM:
		if (record->pr_pid == record->pr_tid && (process =
		    *place_of(spaces, record->pr_pid)) != NULL)
			process->po_named_ns = record->pr_time_ns;
		return (0);
	case PROF_R_EXEC:
		return (execute(spaces, record));
	case PROF_R_EXIT:
		if (record->pr_group_dead)
			end_process(spaces, record->pr_pid);
		return (0);
	default:
		return (0);
	}
}

void
prof_spaces_mark(struct prof_spaces *spaces)
{
	const struct process *process;
	const struct prof_space *space;
	size_t b;
	uint32_t n;

	for (b = 0; b < BUCKETS; b++)
		for (process = spaces->sp_bucket[b]; process != NULL;
		    process = process->po_next)
			for (space = process->po_space, n = 0;
			    space != NULL && n < space->ss_n; n++)
				if (space->ss_map[n].mp_object != NULL)
					space->ss_map[n].mp_object->
					    ob_is_mapped = true;
}

int
prof_spaces_renew(struct prof_spaces *spaces, uint32_t pid)
{
	struct process *process = process_get(spaces, pid);

	if (process == NULL)
		return (-1);
	forget_space(process);
	return (0);
}

const struct prof_space *
prof_spaces_find(struct prof_spaces *spaces, uint32_t pid)
{
	const struct process *process = *place_of(spaces, pid);

	return (process == NULL ? NULL : process->po_space);
}

const struct prof_mapped *
prof_space_at(const struct prof_space *space, uint64_t address)
{
	uint32_t low = 0, high = space->ss_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (space->ss_map[middle].mp_start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low > 0 && address < space->ss_map[low - 1].mp_end ?
	    &space->ss_map[low - 1] : NULL);
}
