/* SPDX-License-Identifier: ISC */
/*
 * Keeps the walk in the kernel supplied: follows the lives of processes and
 * their executable mappings, and publishes for each an array of mappings
 * that points to modules.
 *
 * Called by session.c with every record of a life, and once a round to
 * publish.  Everything goes through mapped memory.  A process that is not
 * published yet is walked by frame pointers, and its samples say so.
 *
 * There is no record of munmap; a mapping goes when another takes its place,
 * at exec and at exit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "publish.h"
#include "publish_impl.h"

#define BUCKETS		4096

/* A mapping as it is published, and since when it is there. */
struct mapping {
	struct dtp_uw_map mp_map;
	uint64_t	 mp_since_ns;
};

/* One process. */
struct process {
	struct process	*po_next;
	uint32_t	 po_pid;
	uint64_t	 po_exec_id;	/* DTP_UW_ANY_EXEC: not known */
	uint64_t	 po_named_ns;	/* it took its last name */
	struct mapping	*po_map;	/* in order of address */
	uint32_t	 po_n;
	uint32_t	 po_cap;
	bool		 po_gone;	/* to be freed at the next publishing */
	bool		 po_dirty;
	struct process	*po_next_dirty;
	struct dtp_uw_proc *po_slot;	/* published here */
	struct prof_words po_words;
	uint32_t	 po_generation;	/* as what; 0: never */
};

struct prof_unwind {
	struct prof_unwind_memory uw_memory;
	struct prof_unwind_modules *uw_modules;
	struct process	*uw_bucket[BUCKETS];
	struct process	*uw_dirty;
	uint32_t	 uw_generation;
	bool		 uw_taken[DTP_UW_GENERATIONS];	/* in this round */
};

struct prof_unwind *
prof_unwind_new(const int fds[PROF_UNWIND_FDS], size_t ncpus,
    uint64_t max_bytes, struct prof_broker *broker, struct prof_err *error)
{
	struct prof_unwind *unwind = calloc(1, sizeof(*unwind));

	if (unwind == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (prof_unwind_memory_init(&unwind->uw_memory, fds, ncpus,
	    max_bytes, error) == -1)
		goto fail;
	unwind->uw_modules = prof_unwind_modules_new(&unwind->uw_memory,
	    broker);
	if (unwind->uw_modules == NULL) {
		prof_fail_nomem(error);
		goto fail;
	}
	return (unwind);
fail:
	prof_unwind_free(unwind);
	return (NULL);
}

void
prof_unwind_free(struct prof_unwind *unwind)
{
	struct process *process, *next;
	size_t n;

	if (unwind == NULL)
		return;
	prof_unwind_modules_free(unwind->uw_modules);
	for (n = 0; n < BUCKETS; n++)
		for (process = unwind->uw_bucket[n]; process != NULL;
		    process = next) {
			next = process->po_next;
			free(process->po_map);
			free(process);
		}
	prof_unwind_memory_fini(&unwind->uw_memory);
	free(unwind);
}

static struct process **
place_of(struct prof_unwind *unwind, uint32_t pid)
{
	struct process **at = &unwind->uw_bucket[pid % BUCKETS];

	while (*at != NULL && (*at)->po_pid != pid)
		at = &(*at)->po_next;
	return (at);
}

static struct process *
process_get(struct prof_unwind *unwind, uint32_t pid)
{
	struct process **at = place_of(unwind, pid);

	if (*at == NULL && (*at = calloc(1, sizeof(**at))) != NULL) {
		(*at)->po_pid = pid;
		(*at)->po_exec_id = DTP_UW_ANY_EXEC;
	}
	return (*at);
}

static void
mark_dirty(struct prof_unwind *unwind, struct process *process)
{
	if (process->po_dirty)
		return;
	process->po_dirty = true;
	process->po_next_dirty = unwind->uw_dirty;
	unwind->uw_dirty = process;
}

/* Partner: the two loads of up_sequence in unwind.bpf.h. */
static void
slot_write(struct dtp_uw_proc *slot, const struct process *process,
    const struct prof_words *words, uint32_t generation)
{
	__atomic_store_n(&slot->up_sequence, slot->up_sequence + 1,
	    __ATOMIC_SEQ_CST);
	slot->up_slab = words->wd_slab;
	slot->up_at = words->wd_at;
	slot->up_nmaps = process->po_n;
	slot->up_generation = generation;
	slot->up_exec_id = process->po_exec_id;
	__atomic_store_n(&slot->up_tgid, generation == 0 ? 0 :
	    process->po_pid, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->up_sequence, slot->up_sequence + 1,
	    __ATOMIC_SEQ_CST);
}

static struct dtp_uw_proc *
slot_find(struct prof_unwind *unwind, uint32_t pid)
{
	uint32_t n, at = pid * 2654435761U;

	for (n = 0; n < DTP_UW_PROBES; n++) {
		struct dtp_uw_proc *slot = &unwind->uw_memory.um_procs[
		    (at + n) & (DTP_UW_PROCS - 1)];

		if (slot->up_tgid == 0)
			return (slot);
	}
	return (NULL);
}

/* Take back what was published. */
static void
withdraw(struct prof_unwind *unwind, struct process *process)
{
	static const struct prof_words none;

	if (process->po_slot != NULL)
		slot_write(process->po_slot, process, &none, 0);
	prof_words_put(&unwind->uw_memory, &process->po_words);
	process->po_slot = NULL;
	process->po_words = none;
}

/* Into its place; there must be room. */
static void
insert(struct process *process, const struct mapping *mapping)
{
	uint32_t n;

	for (n = process->po_n; n > 0 &&
	    process->po_map[n - 1].mp_map.um_start >
	    mapping->mp_map.um_start; n--)
		process->po_map[n] = process->po_map[n - 1];
	process->po_map[n] = *mapping;
	process->po_n++;
}

/*
 * Make room for [start, end): what lies in its way is cut or goes.  At most
 * one mapping becomes two, or loses its end where there is no room for that.
 */
static void
clear_range(struct process *process, uint64_t start, uint64_t end)
{
	struct mapping tail = { 0 };
	uint32_t n, kept = 0;

	for (n = 0; n < process->po_n; n++) {
		struct mapping *mapping = &process->po_map[n];
		struct dtp_uw_map *map = &mapping->mp_map;

		if (map->um_end <= start || map->um_start >= end) {
			process->po_map[kept++] = *mapping;
			continue;
		}
		if (map->um_end > end) {
			tail = *mapping;
			tail.mp_map.um_start = end;
		}
		if (map->um_start < start) {
			process->po_map[kept] = *mapping;
			process->po_map[kept++].mp_map.um_end = start;
		}
	}
	process->po_n = kept;
	if (tail.mp_map.um_end != 0 && kept < process->po_cap &&
	    kept < DTP_UW_MAX_MAPS)
		insert(process, &tail);
}

static int
reserve(struct process *process, uint32_t more)
{
	struct mapping *grown;
	uint32_t cap = process->po_cap == 0 ? 32 : process->po_cap;

	while (cap < process->po_n + more)
		cap *= 2;
	if (cap == process->po_cap)
		return (0);
	grown = reallocarray(process->po_map, cap, sizeof(*grown));
	if (grown == NULL)
		return (-1);
	process->po_map = grown;
	process->po_cap = cap;
	return (0);
}

/*
 * The page of old system calls lies in the kernel's half: no code runs there,
 * and the search in the kernel takes addresses as signed.
 */
static bool
is_walkable(const struct prof_record *mapping)
{
	const uint64_t last = mapping->pr_addr + mapping->pr_len;

	return (last > mapping->pr_addr && last >> DTP_UW_PC_BITS == 0);
}

static void	make_numbers(struct prof_unwind *);

static void
add_mapping(struct prof_unwind *unwind, const struct prof_record *record)
{
	struct mapping mapping = { .mp_since_ns = record->pr_time_ns };
	struct process *process;
	uint64_t bias;
	bool room;

	if (!is_walkable(record))
		return;
	process = process_get(unwind, record->pr_pid);
	/* Of a process that ended, mappings come after the news of its end. */
	if (process == NULL || process->po_gone)
		return;
	room = process->po_n < DTP_UW_MAX_MAPS - 2 &&
	    reserve(process, 2) == 0;
	mapping.mp_map.um_start = record->pr_addr;
	mapping.mp_map.um_end = record->pr_addr + record->pr_len;
	/* What it replaced is gone, also where there is no room for it. */
	clear_range(process, mapping.mp_map.um_start, mapping.mp_map.um_end);
	if (room) {
		mapping.mp_map.um_module = prof_unwind_modules_get(
		    unwind->uw_modules, record, &bias);
		mapping.mp_map.um_bias = bias;
		insert(process, &mapping);
	}
	mark_dirty(unwind, process);
	make_numbers(unwind);
}

/* A child starts with what its parent has mapped. */
static void
copy_mappings(struct prof_unwind *unwind, const struct prof_record *fork)
{
	struct process *parent = *place_of(unwind, fork->pr_ppid), *child;

	if (parent == NULL || fork->pr_ppid == fork->pr_pid ||
	    (child = process_get(unwind, fork->pr_pid)) == NULL)
		return;
	child->po_gone = false;
	child->po_n = 0;
	child->po_exec_id = fork->pr_exec_id;
	if (reserve(child, parent->po_n + 1) == -1)
		return;
	memcpy(child->po_map, parent->po_map, parent->po_n *
	    sizeof(*child->po_map));
	child->po_n = parent->po_n;
	mark_dirty(unwind, child);
}

/*
 * The end of a process.  Its mappings come by another way and may still be
 * on it, until this round's are read: so it is freed when those are.
 */
static void
end_process(struct prof_unwind *unwind, uint32_t pid)
{
	struct process *process = process_get(unwind, pid);

	if (process == NULL)
		return;
	withdraw(unwind, process);
	process->po_n = 0;
	process->po_gone = true;
	mark_dirty(unwind, process);
}

static void
free_process(struct prof_unwind *unwind, struct process *process)
{
	*place_of(unwind, process->po_pid) = process->po_next;
	free(process->po_map);
	free(process);
}

/*
 * A new program.  In the kernel an exec first changes the name, then maps,
 * then tells of the exec; mappings come to us by another way than names and
 * execs and may be here already: those since the name are the new ones.
 */
static void
execute(struct prof_unwind *unwind, struct process *process,
    uint64_t exec_id)
{
	uint32_t n, kept = 0;

	for (n = 0; n < process->po_n; n++)
		if (process->po_map[n].mp_since_ns >= process->po_named_ns)
			process->po_map[kept++] = process->po_map[n];
	withdraw(unwind, process);
	process->po_gone = false;
	process->po_n = kept;
	process->po_exec_id = exec_id;
	if (kept > 0)
		mark_dirty(unwind, process);
}

void
prof_unwind_observe(struct prof_unwind *unwind,
    const struct prof_record *record)
{
	struct process *process;

	switch (record->pr_type) {
	case PROF_R_MMAP:
		if (record->pr_pid != UINT32_MAX)
			add_mapping(unwind, record);
		break;
	case PROF_R_FORK:
		copy_mappings(unwind, record);
		break;
	case PROF_R_COMM:
		if (record->pr_pid == record->pr_tid && (process =
		    process_get(unwind, record->pr_pid)) != NULL)
			process->po_named_ns = record->pr_time_ns;
		break;
	case PROF_R_EXEC:
		if ((process = process_get(unwind, record->pr_pid)) != NULL)
			execute(unwind, process, record->pr_exec_id);
		break;
	case PROF_R_EXIT:
		if (record->pr_group_dead)
			end_process(unwind, record->pr_pid);
		break;
	default:
		break;
	}
}

void
prof_unwind_renew(struct prof_unwind *unwind, uint32_t pid, bool any_exec)
{
	struct process *process = process_get(unwind, pid);

	if (process == NULL || process->po_gone)
		return;
	process->po_n = 0;
	if (any_exec)
		process->po_exec_id = DTP_UW_ANY_EXEC;
	mark_dirty(unwind, process);
}

/*
 * Generations come round: then nothing remembered may count any more, and
 * those that processes still have are theirs: two that share one would take
 * each other's rules for their own.
 */
static void
come_round(struct prof_unwind *unwind)
{
	const struct process *process;
	size_t n, left = DTP_UW_GENERATIONS - 1;

	unwind->uw_generation = 1;
	memset(unwind->uw_taken, 0, sizeof(unwind->uw_taken));
	for (n = 0; n < BUCKETS; n++)
		for (process = unwind->uw_bucket[n]; process != NULL;
		    process = process->po_next)
			if (process->po_words.wd_n != 0 &&
			    !unwind->uw_taken[process->po_generation]) {
				unwind->uw_taken[process->po_generation] =
				    true;
				left--;
			}
	/* More processes than generations: some do share. */
	if (left == 0)
		memset(unwind->uw_taken, 0, sizeof(unwind->uw_taken));
	memset(unwind->uw_memory.um_cache, 0,
	    unwind->uw_memory.um_cache_bytes);
}

static uint32_t
next_generation(struct prof_unwind *unwind)
{
	do
		if (++unwind->uw_generation == DTP_UW_GENERATIONS)
			come_round(unwind);
	while (unwind->uw_taken[unwind->uw_generation]);
	return (unwind->uw_generation);
}

/* -1: there is no room now. */
static int
publish_process(struct prof_unwind *unwind, struct process *process)
{
	struct dtp_uw_proc *slot = process->po_slot;
	struct prof_words words;
	struct dtp_uw_map *to;
	uint32_t n;

	if (process->po_n == 0) {
		withdraw(unwind, process);
		return (0);
	}
	if (slot == NULL)
		slot = slot_find(unwind, process->po_pid);
	if (slot == NULL)
		return (0);	/* it stays unknown, and its samples say so */
	if (prof_words_get(&unwind->uw_memory, process->po_n * 8,
	    &words) == -1) {
		/* Unknown is better than what was replaced. */
		withdraw(unwind, process);
		return (-1);
	}
	/* Taken from here on; what was void there was somebody else's. */
	if (process->po_slot == NULL)
		slot->up_stale = 0;
	process->po_slot = slot;
	to = (struct dtp_uw_map *)prof_words_at(&unwind->uw_memory, &words);
	for (n = 0; n < process->po_n; n++)
		to[n] = process->po_map[n].mp_map;
	process->po_generation = next_generation(unwind);
	slot_write(slot, process, &words, process->po_generation);
	prof_words_put(&unwind->uw_memory, &process->po_words);
	process->po_words = words;
	return (0);
}

/* Mappings whose modules' numbers others need are such of unknown files. */
static void
give_up(struct prof_unwind *unwind, struct process *process)
{
	const bool *must_go = unwind->uw_modules->ms_must_go;
	uint32_t n;

	for (n = 0; n < process->po_n; n++) {
		struct dtp_uw_map *map = &process->po_map[n].mp_map;

		if (!must_go[map->um_module])
			continue;
		map->um_module = PROF_MODULE_LOST;
		mark_dirty(unwind, process);
	}
}

/*
 * Behind the publishing: what processes have published is what they map, or
 * nothing.  Numbers that nobody maps are taken back.
 */
static void
sweep(struct prof_unwind *unwind)
{
	struct prof_unwind_modules *modules = unwind->uw_modules;
	struct process *process;
	uint32_t b, n;

	if (!prof_modules_sweep_begin(modules))
		return;
	for (b = 0; b < BUCKETS; b++)
		for (process = unwind->uw_bucket[b]; process != NULL;
		    process = process->po_next)
			for (n = 0; n < process->po_n; n++)
				modules->ms_is_mapped[
				    process->po_map[n].mp_map.um_module] =
				    true;
	prof_modules_sweep_end(modules);
	for (b = 0; modules->ms_some_must_go && b < BUCKETS; b++)
		for (process = unwind->uw_bucket[b]; process != NULL;
		    process = process->po_next)
			give_up(unwind, process);
}

/* Those that ended stay until the round is over: see end_process. */
static void
publish(struct prof_unwind *unwind, bool is_round_over)
{
	struct process *process, *waiting = NULL;

	while ((process = unwind->uw_dirty) != NULL) {
		unwind->uw_dirty = process->po_next_dirty;
		process->po_dirty = false;
		if (process->po_gone && is_round_over)
			free_process(unwind, process);
		else if (process->po_gone ||
		    publish_process(unwind, process) == -1) {
			process->po_dirty = true;
			process->po_next_dirty = waiting;
			waiting = process;
		}
	}
	unwind->uw_dirty = waiting;
	sweep(unwind);
}

bool
prof_unwind_publish(struct prof_unwind *unwind)
{
	prof_unwind_modules_publish(unwind->uw_modules);
	publish(unwind, true);
	return (!prof_unwind_modules_idle(unwind->uw_modules));
}

/* A round may bring more files than there are numbers. */
static void
make_numbers(struct prof_unwind *unwind)
{
	if (!prof_modules_is_time(unwind->uw_modules))
		return;
	prof_unwind_modules_publish(unwind->uw_modules);
	publish(unwind, false);
}

bool
prof_unwind_ready(struct prof_unwind *unwind)
{
	return (unwind->uw_dirty == NULL &&
	    prof_unwind_modules_idle(unwind->uw_modules));
}

void
prof_unwind_begin(struct prof_unwind *unwind)
{
	unwind->uw_memory.um_calls = 0;
}

void
prof_unwind_stats(struct prof_unwind *unwind,
    struct prof_unwind_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	prof_unwind_modules_stats(unwind->uw_modules, stats);
	stats->us_bytes = unwind->uw_memory.um_used * sizeof(uint32_t);
	stats->us_calls = unwind->uw_memory.um_calls;
}
