/* SPDX-License-Identifier: ISC */
/*
 * Keeps the walk in the kernel supplied: publishes for each process an array
 * of its executable mappings, which point to modules.  What a process has
 * mapped is the model's to know (process/processes.h), in which the number of
 * an image is that of a module, and the offset of an address the one that its
 * table is searched for.
 *
 * Called by session.c with every process and mapping event, and once a round
 * to publish.  Everything goes through mapped memory.  A process that is not
 * published yet is walked by frame pointers, and its samples say so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "process/processes.h"
#include "publish.h"
#include "publish_impl.h"

#define BUCKETS		4096
#define KEEP_NS		1000000000ULL	/* events may be late by so much */
#define MAX_DEPTH	64	/* forks without an exec, to look back */

/* One process, as it is published. */
struct process {
	struct process	*po_next;
	uint32_t	 po_pid;
	uint64_t	 po_exec_id;	/* DTP_UW_ANY_EXEC: not known */
	uint64_t	 po_forked_ns;	/* a child of its, last */
	uint32_t	 po_parent;	/* whose program it still is, or 0 */
	bool		 po_is_late;	/* what its children have changed */
	bool		 po_dirty;
	struct process	*po_next_dirty;
	struct dtp_uw_proc *po_slot;	/* published here */
	struct prof_words po_words;
	uint32_t	 po_nmaps;	/* which are so many mappings */
	uint32_t	 po_generation;	/* as what; 0: never */
	uint32_t	 po_chain;	/* of its interpreter; 0: none */
};

struct prof_unwind {
	struct prof_unwind_memory uw_memory;
	struct prof_unwind_modules *uw_modules;
	struct prof_processes *uw_processes;
	struct prof_chains uw_chains;
	uint64_t	 uw_newest_ns;	/* of all events */
	uint64_t	 uw_kept_ns;	/* nothing is forgotten from then on */
	bool		 uw_some_are_late;
	struct process	*uw_bucket[BUCKETS];
	struct process	*uw_dirty;
	uint32_t	 uw_generation;
	bool		 uw_taken[DTP_UW_GENERATIONS];	/* in this round */
	uint32_t	 uw_number[DTP_UW_MODULES];
	struct dtp_uw_map uw_map[DTP_UW_MAX_MAPS];	/* being made */
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
	unwind->uw_processes = prof_processes_new(PROF_PROCESSES_NOW,
	    PROF_PROCESSES_MOST_NOW);
	if (unwind->uw_modules == NULL || unwind->uw_processes == NULL) {
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
			free(process);
		}
	prof_processes_free(unwind->uw_processes);
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

/*
 * Something has changed at a time; children that it had then have it, too.  Of
 * one that ended it is not kept when that was.
 */
static void
mark_changed(struct prof_unwind *unwind, struct process *process,
    uint64_t time_ns)
{
	mark_dirty(unwind, process);
	if (time_ns <= process->po_forked_ns ||
	    !prof_processes_is_alive(unwind->uw_processes, process->po_pid))
		process->po_is_late = unwind->uw_some_are_late = true;
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
	slot->up_nmaps = process->po_nmaps;
	slot->up_generation = generation;
	slot->up_exec_id = process->po_exec_id;
	slot->up_chain = process->po_chain;
	__atomic_store_n(&slot->up_tgid, generation == 0 ? DTP_UW_FREED :
	    process->po_pid, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->up_sequence, slot->up_sequence + 1,
	    __ATOMIC_SEQ_CST);
}

static struct dtp_uw_proc *
slot_at(const struct prof_unwind *unwind, uint32_t n)
{
	return (&unwind->uw_memory.um_procs[n & (DTP_UW_PROCS - 1)]);
}

static struct dtp_uw_proc *
slot_find(const struct prof_unwind *unwind, uint32_t pid)
{
	uint32_t n, at = pid * 2654435761U;

	for (n = 0; n < DTP_UW_PROBES; n++) {
		struct dtp_uw_proc *slot = slot_at(unwind, at + n);

		if (slot->up_tgid == 0 || slot->up_tgid == DTP_UW_FREED)
			return (slot);
	}
	return (NULL);
}

/*
 * A search ends at a slot that is free: most processes, which end soon, are in
 * no slot at all, and their exits must not look at many.
 */
static void
slots_tidy(const struct prof_unwind *unwind, const struct dtp_uw_proc *freed)
{
	uint32_t n = (uint32_t)(freed - unwind->uw_memory.um_procs);

	for (; slot_at(unwind, n + 1)->up_tgid == 0 &&
	    slot_at(unwind, n)->up_tgid == DTP_UW_FREED; n--)
		__atomic_store_n(&slot_at(unwind, n)->up_tgid, 0,
		    __ATOMIC_SEQ_CST);
}

static void
published_add(const struct prof_unwind *unwind, uint32_t pid, int n)
{
	__atomic_add_fetch(&unwind->uw_memory.um_numbers[
	    pid & (DTP_UW_NUMBERS - 1)].un_published, n, __ATOMIC_SEQ_CST);
}

/* Take back what was published. */
static void
process_withdraw(struct prof_unwind *unwind, struct process *process)
{
	static const struct prof_words none;
	const uint32_t chain = process->po_chain;

	process->po_chain = 0;
	if (process->po_slot != NULL) {
		slot_write(process->po_slot, process, &none, 0);
		slots_tidy(unwind, process->po_slot);
		published_add(unwind, process->po_pid, -1);
	}
	prof_words_put(&unwind->uw_memory, &process->po_words);
	prof_chain_put(&unwind->uw_chains, chain);
	process->po_slot = NULL;
	process->po_words = none;
	process->po_nmaps = 0;
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

/* Into the model, which forgets what nobody asks for any more. */
static int
record_take(struct prof_unwind *unwind, const struct prof_record *record,
    uint32_t image)
{
	const uint64_t time_ns = record->pr_time_ns;

	if (time_ns > unwind->uw_newest_ns)
		unwind->uw_newest_ns = time_ns;
	if (unwind->uw_newest_ns - unwind->uw_kept_ns >= 2 * KEEP_NS) {
		unwind->uw_kept_ns = unwind->uw_newest_ns - KEEP_NS;
		prof_processes_forget(unwind->uw_processes,
		    unwind->uw_kept_ns);
	}
	return (prof_processes_take(unwind->uw_processes, record, image));
}

static void	make_numbers(struct prof_unwind *);

static int
add_mapping(struct prof_unwind *unwind, const struct prof_record *record)
{
	struct prof_record mapping = *record;
	struct process *process;
	uint32_t module;
	uint64_t bias;

	if (!is_walkable(record))
		return (0);
	if ((process = process_get(unwind, record->pr_pid)) == NULL)
		return (-1);
	module = prof_unwind_modules_get(unwind->uw_modules, record, &bias);
	mapping.pr_offset = mapping.pr_addr - bias;
	if (record_take(unwind, &mapping, module) == -1)
		return (-1);
	mark_changed(unwind, process, record->pr_time_ns);
	make_numbers(unwind);
	return (0);
}

static int
child_begin(struct prof_unwind *unwind, const struct prof_record *fork)
{
	struct process *child, *parent;

	if (fork->pr_ppid == fork->pr_pid)
		return (0);
	if ((child = process_get(unwind, fork->pr_pid)) == NULL ||
	    (parent = process_get(unwind, fork->pr_ppid)) == NULL)
		return (-1);
	child->po_exec_id = fork->pr_exec_id;
	child->po_parent = fork->pr_ppid;
	if (fork->pr_time_ns > parent->po_forked_ns)
		parent->po_forked_ns = fork->pr_time_ns;
	mark_changed(unwind, child, fork->pr_time_ns);
	return (record_take(unwind, fork, 0));
}

/* It is freed when the round is over: there may be news of it still. */
static int
process_end(struct prof_unwind *unwind, const struct prof_record *exit)
{
	struct process *process = process_get(unwind, exit->pr_pid);

	if (process == NULL)
		return (-1);
	process_withdraw(unwind, process);
	mark_changed(unwind, process, exit->pr_time_ns);
	return (record_take(unwind, exit, 0));
}

static void
process_free(struct prof_unwind *unwind, struct process *process)
{
	process_withdraw(unwind, process);
	*place_of(unwind, process->po_pid) = process->po_next;
	free(process);
}

static int
process_exec(struct prof_unwind *unwind, const struct prof_record *exec)
{
	struct process *process = process_get(unwind, exec->pr_pid);

	if (process == NULL)
		return (-1);
	process_withdraw(unwind, process);
	process->po_parent = 0;
	process->po_exec_id = exec->pr_exec_id;
	mark_changed(unwind, process, exec->pr_time_ns);
	return (record_take(unwind, exec, 0));
}

/* It may be of an exec that is known already: what was mapped since is its. */
static int
name_take(struct prof_unwind *unwind, const struct prof_record *comm)
{
	struct process *process = *place_of(unwind, comm->pr_pid);

	if (process != NULL && comm->pr_pid == comm->pr_tid)
		mark_changed(unwind, process, comm->pr_time_ns);
	return (record_take(unwind, comm, 0));
}

int
prof_unwind_observe(struct prof_unwind *unwind,
    const struct prof_record *record)
{
	switch (record->pr_type) {
	case PROF_R_MMAP:
		return (record->pr_pid == UINT32_MAX ? 0 :
		    add_mapping(unwind, record));
	case PROF_R_FORK:
		return (child_begin(unwind, record));
	case PROF_R_COMM:
		return (name_take(unwind, record));
	case PROF_R_EXEC:
		return (process_exec(unwind, record));
	case PROF_R_EXIT:
		return (record->pr_group_dead ? process_end(unwind, record) :
		    0);
	default:
		return (record_take(unwind, record, 0));
	}
}

int
prof_unwind_renew(struct prof_unwind *unwind, uint32_t pid, uint64_t time_ns,
    bool any_exec)
{
	struct process *process = process_get(unwind, pid);

	if (process == NULL)
		return (-1);
	if (any_exec)
		process->po_exec_id = DTP_UW_ANY_EXEC;
	mark_changed(unwind, process, time_ns);
	return (prof_processes_renew(unwind->uw_processes, pid, time_ns));
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

/*
 * What a process has mapped now, as programs read it; is_short: without what
 * has no table.  How much that is, or DTP_UW_MAX_MAPS + 1: too much.
 */
static uint32_t
mappings_of(struct prof_unwind *unwind, uint32_t pid, bool is_short)
{
	struct dtp_uw_map *map = NULL;
	struct prof_mapping mapping;
	uint64_t at = 0, bias;
	uint32_t n = 0;

	for (; prof_processes_next(unwind->uw_processes, pid, UINT64_MAX, at,
	    &mapping); at = mapping.mp_end) {
		bias = mapping.mp_start - mapping.mp_offset;
		if (is_short && mapping.mp_image == 0)
			continue;
		if (map != NULL && map->um_end == mapping.mp_start &&
		    map->um_module == mapping.mp_image &&
		    map->um_bias == bias) {
			map->um_end = mapping.mp_end;
			continue;
		}
		if (n == DTP_UW_MAX_MAPS)
			return (n + 1);
		map = &unwind->uw_map[n++];
		*map = (struct dtp_uw_map){ .um_start = mapping.mp_start,
		    .um_end = mapping.mp_end, .um_bias = bias,
		    .um_module = mapping.mp_image };
	}
	return (n);
}

/* -1: there is no room now. */
static int
publish_process(struct prof_unwind *unwind, struct process *process)
{
	struct dtp_uw_proc *slot = process->po_slot;
	const uint32_t chain = process->po_chain;
	struct prof_words words;
	uint32_t n = mappings_of(unwind, process->po_pid, false);

	if (n > DTP_UW_MAX_MAPS)
		n = mappings_of(unwind, process->po_pid, true);
	if (n > DTP_UW_MAX_MAPS)
		n = DTP_UW_MAX_MAPS;	/* what lies highest is unknown */
	if (n == 0) {
		process_withdraw(unwind, process);
		return (0);
	}
	if (slot == NULL)
		slot = slot_find(unwind, process->po_pid);
	if (slot == NULL)
		return (0);	/* it stays unknown, and its samples say so */
	if (prof_words_get(&unwind->uw_memory, n * 8, &words) == -1) {
		/* Unknown is better than what was replaced. */
		process_withdraw(unwind, process);
		return (-1);
	}
	/* Taken from here on; what was void there was somebody else's. */
	if (process->po_slot == NULL) {
		slot->up_stale = 0;
		published_add(unwind, process->po_pid, 1);
	}
	process->po_slot = slot;
	process->po_nmaps = n;
	memcpy(prof_words_at(&unwind->uw_memory, &words), unwind->uw_map,
	    n * sizeof(*unwind->uw_map));
	process->po_generation = next_generation(unwind);
	process->po_chain = prof_chain_get(&unwind->uw_chains,
	    unwind->uw_modules, unwind->uw_map, n, chain);
	slot_write(slot, process, &words, process->po_generation);
	prof_words_put(&unwind->uw_memory, &process->po_words);
	process->po_words = words;
	if (chain != process->po_chain)
		prof_chain_put(&unwind->uw_chains, chain);
	return (0);
}

/* Has it something of one whose mappings changed for its children, too? */
static bool
is_heir(struct prof_unwind *unwind, const struct process *process)
{
	unsigned depth;

	for (depth = 0; depth < MAX_DEPTH && process != NULL &&
	    process->po_parent != 0; depth++) {
		process = *place_of(unwind, process->po_parent);
		if (process != NULL && process->po_is_late)
			return (true);
	}
	return (false);
}

static void
mark_heirs(struct prof_unwind *unwind)
{
	struct process *process;
	uint32_t b;

	if (!unwind->uw_some_are_late)
		return;
	unwind->uw_some_are_late = false;
	for (b = 0; b < BUCKETS; b++)
		for (process = unwind->uw_bucket[b]; process != NULL;
		    process = process->po_next)
			if (is_heir(unwind, process))
				mark_dirty(unwind, process);
}

/* Are there mappings whose modules' numbers others need? */
static bool
must_give_up(const struct prof_unwind *unwind, const struct process *process)
{
	const struct dtp_uw_map *map = (const void *)prof_words_at(
	    &unwind->uw_memory, &process->po_words);
	uint32_t n;

	for (n = 0; n < process->po_nmaps; n++)
		if (unwind->uw_modules->ms_must_go[map[n].um_module])
			return (true);
	return (false);
}

/* They become such of unknown files. */
static void
give_up(struct prof_unwind *unwind)
{
	struct process *process;
	uint32_t b, n;

	for (n = 0; n < DTP_UW_MODULES; n++)
		unwind->uw_number[n] = unwind->uw_modules->ms_must_go[n] ?
		    PROF_MODULE_LOST : n;
	prof_processes_images(unwind->uw_processes, unwind->uw_number, true);
	for (b = 0; b < BUCKETS; b++)
		for (process = unwind->uw_bucket[b]; process != NULL;
		    process = process->po_next)
			if (must_give_up(unwind, process))
				mark_dirty(unwind, process);
}

/*
 * Behind the publishing: what processes have published is what they map, or
 * nothing.  Numbers that nobody maps are taken back.
 */
static void
modules_sweep(struct prof_unwind *unwind)
{
	struct prof_unwind_modules *modules = unwind->uw_modules;
	uint32_t n;

	if (!prof_modules_sweep_begin(modules))
		return;
	memset(unwind->uw_number, 0, sizeof(unwind->uw_number));
	prof_processes_images(unwind->uw_processes, unwind->uw_number,
	    false);
	for (n = 0; n < DTP_UW_MODULES; n++)
		modules->ms_is_mapped[n] = unwind->uw_number[n] != 0;
	prof_modules_sweep_end(modules);
	if (modules->ms_some_must_go)
		give_up(unwind);
}

/* Those that ended stay until the round is over: see process_end. */
static void
dirty_publish(struct prof_unwind *unwind, bool is_round_over)
{
	const struct prof_processes *ps = unwind->uw_processes;
	struct process *process, *waiting = NULL;

	mark_heirs(unwind);
	while ((process = unwind->uw_dirty) != NULL) {
		unwind->uw_dirty = process->po_next_dirty;
		process->po_dirty = process->po_is_late = false;
		if (!prof_processes_is_alive(ps, process->po_pid)) {
			if (is_round_over) {
				process_free(unwind, process);
				continue;
			}
		} else if (publish_process(unwind, process) == 0)
			continue;
		process->po_dirty = true;
		process->po_next_dirty = waiting;
		waiting = process;
	}
	unwind->uw_dirty = waiting;
	modules_sweep(unwind);
}

/* Files turned out to be interpreters, perhaps after processes mapped them. */
static void
mark_runtimes(struct prof_unwind *unwind)
{
	struct process *process;
	uint32_t b;

	if (!unwind->uw_modules->ms_has_runtime)
		return;
	unwind->uw_modules->ms_has_runtime = false;
	for (b = 0; b < BUCKETS; b++)
		for (process = unwind->uw_bucket[b]; process != NULL;
		    process = process->po_next)
			if (process->po_chain == 0)
				mark_dirty(unwind, process);
}

bool
prof_unwind_publish(struct prof_unwind *unwind)
{
	prof_unwind_modules_publish(unwind->uw_modules);
	mark_runtimes(unwind);
	dirty_publish(unwind, true);
	return (!prof_unwind_modules_idle(unwind->uw_modules));
}

/* A round may bring more files than there are numbers. */
static void
make_numbers(struct prof_unwind *unwind)
{
	if (!prof_modules_is_time(unwind->uw_modules))
		return;
	prof_unwind_modules_publish(unwind->uw_modules);
	dirty_publish(unwind, false);
}

bool
prof_unwind_ready(struct prof_unwind *unwind)
{
	return (unwind->uw_dirty == NULL &&
	    prof_unwind_modules_idle(unwind->uw_modules));
}

bool
prof_unwind_fails(struct prof_unwind *unwind, uint32_t chain,
    const struct prof_record *sample)
{
	return (prof_chain_fails(&unwind->uw_chains, unwind->uw_modules,
	    chain, sample));
}

bool
prof_unwind_runtime(const struct prof_unwind *unwind, uint32_t *n,
    struct prof_unwind_runtime *next)
{
	const struct prof_unwind_modules *modules = unwind->uw_modules;
	const struct prof_module *module;

	while (++*n < modules->ms_n) {
		module = modules->ms_module[*n];
		if (module == NULL || module->mo_runtime.rt_language == 0 ||
		    (!module->mo_was_used &&
		    !modules->ms_memory->um_modules[*n].uo_used))
			continue;
		*next = (struct prof_unwind_runtime){ &module->mo_runtime,
		    module->mo_path, module->mo_samples, module->mo_missing };
		return (true);
	}
	return (false);
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
	stats->us_unchained = unwind->uw_chains.cs_refused;
}
