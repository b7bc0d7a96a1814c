/* SPDX-License-Identifier: ISC */
/*
 * See processes.h.  Takes events, and keeps for each process its memories by
 * time.  Every event may be late: a fork may follow what the child mapped, an
 * exit the next process of that number.
 *
 * In the kernel an exec first changes the name, then maps, then tells of the
 * exec: what was mapped since the name is the new program's, and what the
 * process did until now it did with what was mapped before.
 */
#include <stdlib.h>
#include <string.h>

#include "processes_impl.h"

#define MAX_MAPPINGS	(4u << 20)	/* all together ... */
#define MIN_MAPPINGS	(512u << 10)	/* ... of any recording ... */
#define BYTES_OF_ONE	10		/* ... and of the file, for one more */
#define MOVES_OF_ONE	128u	/* each in front of so many, on average */

size_t
prof_processes_most(uint64_t length)
{
	const uint64_t most = MIN_MAPPINGS + length / BYTES_OF_ONE;

	return (most < MAX_MAPPINGS ? (size_t)most : MAX_MAPPINGS);
}

struct prof_processes *
prof_processes_new(unsigned mode, size_t most)
{
	struct prof_processes *ps = calloc(1, sizeof(*ps));

	if (ps == NULL)
		return (NULL);
	ps->ps_mode = mode;
	ps->ps_most = most;
	ps->ps_moves = (mode & PROF_PROCESSES_NOW) != 0 ? UINT64_MAX :
	    (uint64_t)most * MOVES_OF_ONE;
	ps->ps_nbuckets = 1024;
	ps->ps_nspaces = 1;		/* 0 is PROF_SPACE_NONE */
	ps->ps_bucket = calloc(ps->ps_nbuckets, sizeof(*ps->ps_bucket));
	if (ps->ps_bucket == NULL) {
		free(ps);
		return (NULL);
	}
	return (ps);
}

/* ------------------------------------------------------------- processes */

/* Twice as many buckets; without memory the lists just become longer. */
static void
buckets_grow(struct prof_processes *ps)
{
	struct process **old = ps->ps_bucket, **at, *process, *next;
	size_t n, before = ps->ps_nbuckets;

	ps->ps_bucket = calloc(before * 2, sizeof(*ps->ps_bucket));
	if (ps->ps_bucket == NULL) {
		ps->ps_bucket = old;
		return;
	}
	ps->ps_nbuckets = before * 2;
	for (n = 0; n < before; n++)
		for (process = old[n]; process != NULL; process = next) {
			next = process->po_next;
			at = prof_processes_bucket(ps, process->po_pid);
			process->po_next = *at;
			*at = process;
		}
	free(old);
}

static struct process *
process_get(struct prof_processes *ps, uint32_t pid)
{
	struct process *process = prof_processes_find(ps, pid), **at;

	if (process != NULL)
		return (process);
	if (ps->ps_nprocesses >= 2 * ps->ps_nbuckets)
		buckets_grow(ps);
	process = calloc(1, sizeof(*process));
	if (process == NULL)
		return (NULL);
	at = prof_processes_bucket(ps, pid);
	process->po_pid = pid;
	process->po_next = *at;
	*at = process;
	ps->ps_nprocesses++;
	return (process);
}

/* It has something that ended, which is forgotten some time. */
static void
process_ended(struct prof_processes *ps, struct process *process)
{
	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0 || process->po_is_ended)
		return;
	process->po_is_ended = true;
	process->po_next_ended = ps->ps_ended;
	ps->ps_ended = process;
}

/* It has something of its parent. */
static void
process_forked(struct prof_processes *ps, struct process *process)
{
	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0 || process->po_is_forked)
		return;
	process->po_is_forked = true;
	process->po_next_forked = ps->ps_forked;
	ps->ps_forked = process;
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
		process_ended(ps, memory->me_parent);
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

/* ---------------------------------------------------- forget, while it runs */

/* A child gets a copy of what it has of its parent. */
static void
memory_copy(struct prof_processes *ps, struct memory *memory)
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

/* So long they could share it; where it changed, their part is kept. */
static void
forked_forget(struct prof_processes *ps)
{
	struct process *process = ps->ps_forked, *next;
	struct memory *memory;
	uint32_t n;

	ps->ps_forked = NULL;
	for (; process != NULL; process = next) {
		next = process->po_next_forked;
		process->po_is_forked = false;
		for (n = 0; n < process->po_n; n++) {
			memory = &process->po_memory[n];
			if (memory->me_parent == NULL)
				continue;
			if (is_outdated(memory))
				memory_copy(ps, memory);
			else
				process_forked(ps, process);
		}
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

void
prof_processes_forget(struct prof_processes *ps, uint64_t before_ns)
{
	struct process *process, *next;
	bool is_empty;

	if (before_ns < ps->ps_forget_ns)
		return;
	forked_forget(ps);
	ps->ps_forget_ns = before_ns;
	process = ps->ps_ended;
	ps->ps_ended = NULL;
	for (; process != NULL; process = next) {
		next = process->po_next_ended;
		process->po_is_ended = false;
		is_empty = process_forget(ps, process);
		if (is_empty && !process->po_is_forked)
			process_remove(ps, process);
		else if (process->po_n != 1 ||
		    process->po_memory[0].me_exit_ns != NEVER)
			process_ended(ps, process);
	}
}

/* -------------------------------------------------------------- memories */

/* The last one that began to map until a time, or -1. */
static int
memory_index(const struct process *process, uint64_t time_ns)
{
	int n = (int)process->po_n - 1;

	while (n >= 0 && process->po_memory[n].me_from_ns > time_ns)
		n--;
	return (n);
}

/* The last one that began to run until a time, or -1. */
static int
running_index(const struct process *process, uint64_t time_ns)
{
	const struct memory *memory = prof_process_at(process, time_ns);

	return (memory == NULL ? -1 : (int)(memory - process->po_memory));
}

static void
memory_changed(struct prof_processes *ps, struct process *process,
    struct memory *memory, uint64_t time_ns)
{
	if ((ps->ps_mode & PROF_PROCESSES_NOW) == 0)
		return;
	memory->me_version = ++ps->ps_version;
	if (memory->me_changed_ns < time_ns)
		memory->me_changed_ns = time_ns;
	/* Its children have it, too, and versions of their own. */
	if (process->po_children > 0 && time_ns <= process->po_forked_ns)
		ps->ps_era = ps->ps_version;
}

/*
 * A new one in its place; what its predecessor mapped since from_ns, and its
 * exit since then, are of the new one.  NULL: no memory.
 */
static struct memory *
memory_add(struct prof_processes *ps, struct process *process,
    uint64_t from_ns, uint64_t begin_ns)
{
	const int before = running_index(process, begin_ns);
	const uint32_t at = (uint32_t)(before + 1);
	struct memory *memory, *grown;
	uint32_t cap;

	if (process->po_n == process->po_cap) {
		cap = process->po_cap < 4 ? process->po_cap + 1 :
		    process->po_cap * 2;
		grown = reallocarray(process->po_memory, cap,
		    sizeof(*grown));
		if (grown == NULL)
			return (NULL);
		process->po_memory = grown;
		process->po_cap = cap;
	}
	memory = &process->po_memory[at];
	memmove(memory + 1, memory, (process->po_n - at) * sizeof(*memory));
	process->po_n++;
	*memory = (struct memory){ .me_cut_ns = NEVER, .me_from_ns = from_ns,
	    .me_begin_ns = begin_ns, .me_exit_ns = NEVER,
	    .me_number = ++ps->ps_nmemories };
	memory_changed(ps, process, memory, begin_ns);
	if (process->po_n > 1)
		process_ended(ps, process);
	if (before == -1)
		return (memory);
	if (memory[-1].me_exit_ns != NEVER &&
	    memory[-1].me_exit_ns >= begin_ns) {
		memory->me_exit_ns = memory[-1].me_exit_ns;
		memory[-1].me_exit_ns = NEVER;
	}
	if (memory[-1].me_over_ns >= from_ns)
		memory->me_over_ns = memory[-1].me_over_ns;
	prof_memory_move(ps, memory - 1, memory, from_ns, false);
	return (memory);
}

/* ---------------------------------------------------------------- events */

static int
take_fork(struct prof_processes *ps, const struct prof_record *fork)
{
	const uint64_t time_ns = fork->pr_time_ns;
	struct process *child, *parent;
	struct memory *memory, *from;
	int n;

	if (fork->pr_ppid == fork->pr_pid)
		return (0);	/* a thread */
	/* It may be heard of later. */
	if ((child = process_get(ps, fork->pr_pid)) == NULL ||
	    (parent = process_get(ps, fork->pr_ppid)) == NULL)
		return (-1);
	n = memory_index(child, time_ns) + 1;
	memory = n < (int)child->po_n ? &child->po_memory[n] : NULL;
	if (memory != NULL && memory->me_is_implicit) {
		memory->me_from_ns = memory->me_begin_ns = time_ns;
		memory->me_is_implicit = false;
	} else if ((memory = memory_add(ps, child, time_ns, time_ns)) ==
	    NULL) {
		return (-1);
	}
	memory->me_parent = parent;
	parent->po_children++;
	process_forked(ps, child);
	if (parent->po_forked_ns < time_ns)
		parent->po_forked_ns = time_ns;
	if ((from = prof_process_at(parent, time_ns)) == NULL)
		return (0);
	memory->me_depth = from->me_depth + 1;
	memory->me_has_anon |= from->me_has_anon;
	if ((ps->ps_mode & PROF_PROCESSES_NOW) != 0 &&
	    memory->me_n == 0 && from->me_changed_ns <= time_ns) {
		memory->me_version = from->me_version;
		memory->me_changed_ns = time_ns;
	}
	if (memory->me_depth > MAX_DEPTH)
		memory_copy(ps, memory);
	return (0);
}

/*
 * When an exec that ended at a time began to map: its name says so, which may
 * be the first that is heard of the process.  at: the memory before, or -1.
 */
static uint64_t
exec_from(const struct process *process, int at, uint64_t time_ns)
{
	uint64_t after_ns;
	unsigned n;

	if (at >= 0 && process->po_memory[at].me_is_implicit)
		at--;
	after_ns = at < 0 ? 0 : process->po_memory[at].me_begin_ns;

	for (n = 0; n < NAMES; n++)
		if (process->po_named_ns[n] <= time_ns &&
		    process->po_named_ns[n] > after_ns)
			return (process->po_named_ns[n]);
	return (time_ns);
}

static int
take_exec(struct prof_processes *ps, const struct prof_record *exec)
{
	const uint64_t time_ns = exec->pr_time_ns;
	struct process *process = process_get(ps, exec->pr_pid);
	struct memory *before, *memory;
	uint64_t from_ns;
	int n;

	if (process == NULL)
		return (-1);
	n = running_index(process, time_ns);
	before = n == -1 ? NULL : &process->po_memory[n];
	from_ns = exec_from(process, n, time_ns);
	memory = n + 1 < (int)process->po_n ? &process->po_memory[n + 1] :
	    NULL;
	if (memory != NULL && memory->me_is_implicit && (before == NULL ||
	    before->me_exit_ns < time_ns)) {
		memory->me_begin_ns = time_ns;
		if (from_ns < memory->me_from_ns)
			memory->me_from_ns = from_ns;
		memory->me_is_implicit = false;
	} else if (before != NULL && before->me_is_exec &&
	    before->me_begin_ns == time_ns) {
		return (0);
	} else if ((memory = memory_add(ps, process, from_ns, time_ns)) ==
	    NULL) {
		return (-1);
	}
	memory->me_is_exec = true;
	return (0);
}

/* A name, the latest of all that an exec's may be. */
static void
take_name(struct prof_processes *ps, struct process *process,
    uint64_t time_ns)
{
	uint64_t *named = process->po_named_ns;
	struct memory *exec;
	unsigned n = 0;
	int at;

	while (n < NAMES && named[n] > time_ns)
		n++;
	if (n < NAMES) {
		memmove(named + n + 1, named + n,
		    (NAMES - 1 - n) * sizeof(*named));
		named[n] = time_ns;
	}
	at = running_index(process, time_ns) + 1;
	if (at >= (int)process->po_n || !process->po_memory[at].me_is_exec)
		return;
	/* The exec is known already. */
	exec = &process->po_memory[at];
	if (exec->me_from_ns < exec->me_begin_ns &&
	    exec->me_from_ns >= time_ns)
		return;
	if (at > 0) {
		prof_memory_move(ps, exec, exec - 1, exec->me_from_ns,
		    false);
		prof_memory_move(ps, exec - 1, exec, time_ns, false);
	}
	exec->me_from_ns = time_ns;
	memory_changed(ps, process, exec, time_ns);
}

/* When something was mapped first after a time; NEVER: nothing was. */
static uint64_t
mapped_after(const struct memory *memory, uint64_t time_ns)
{
	uint64_t first_ns = NEVER, since_ns;
	const struct range *range;
	uint32_t n, i;

	for (n = 0; n < memory->me_n; n++) {
		range = &memory->me_range[n];
		for (i = 0; i <= range->ra_nolder; i++) {
			since_ns = i < range->ra_nolder ?
			    range->ra_older[i].en_since_ns :
			    range->ra_last.en_since_ns;
			if (since_ns > time_ns && since_ns < first_ns)
				first_ns = since_ns;
		}
	}
	return (first_ns);
}

static int
take_exit(struct prof_processes *ps, struct process *process,
    uint64_t time_ns)
{
	struct memory *memory = prof_process_at(process, time_ns);
	uint64_t after_ns;

	process_ended(ps, process);
	if (memory == NULL)
		return (0);
	memory->me_exit_ns = time_ns;
	if (time_ns == ps->ps_newest_ns ||
	    (after_ns = mapped_after(memory, time_ns)) == NEVER)
		return (0);
	/* What was mapped later is another process's. */
	memory = memory_add(ps, process, after_ns, after_ns);
	if (memory == NULL)
		return (-1);
	memory->me_is_implicit = true;
	return (0);
}

/* The memory that a mapping of this time is in; NULL: no memory for it. */
static struct memory *
memory_of(struct prof_processes *ps, struct process *process,
    uint64_t time_ns)
{
	const int n = memory_index(process, time_ns);
	struct memory *memory;

	if (n >= 0 && process->po_memory[n].me_exit_ns >= time_ns)
		return (&process->po_memory[n]);
	memory = n + 1 < (int)process->po_n ? &process->po_memory[n + 1] :
	    NULL;
	if (memory != NULL && memory->me_is_implicit) {
		memory->me_from_ns = memory->me_begin_ns = time_ns;
		return (memory);
	}
	memory = memory_add(ps, process, time_ns, time_ns);
	if (memory != NULL)
		memory->me_is_implicit = true;
	return (memory);
}

static int
take_mapping(struct prof_processes *ps, const struct prof_record *record,
    uint32_t image, uint64_t read_ns)
{
	const uint64_t time_ns = record->pr_time_ns;
	const struct entry entry = {
		.en_delta = record->pr_addr - record->pr_offset,
		.en_since_ns = time_ns,
		.en_image = image,
		.en_unsure_ns = read_ns - time_ns > UINT32_MAX ? UINT32_MAX :
		    (uint32_t)(read_ns - time_ns),
	};
	struct process *process = process_get(ps, record->pr_pid);
	struct memory *memory;

	if (process == NULL)
		return (-1);
	if (record->pr_addr + record->pr_len <= record->pr_addr)
		return (0);
	if ((memory = memory_of(ps, process, time_ns)) == NULL)
		return (-1);
	(void)prof_memory_insert(ps, memory, record->pr_addr,
	    record->pr_addr + record->pr_len, &entry);
	memory_changed(ps, process, memory, time_ns);
	return (0);
}

/* The first that is heard of a process, if it is. */
static int
take_task(struct prof_processes *ps, const struct prof_record *task)
{
	struct process *process;

	if (task->pr_pid != task->pr_tid)
		return (0);
	process = process_get(ps, task->pr_pid);
	return (process == NULL || (process->po_n == 0 &&
	    memory_of(ps, process, task->pr_time_ns) == NULL) ? -1 : 0);
}

static int
take_comm(struct prof_processes *ps, const struct prof_record *comm)
{
	struct process *process;

	if (comm->pr_pid != comm->pr_tid ||
	    (ps->ps_mode & PROF_PROCESSES_PERF) != 0)
		return (0);
	if ((process = process_get(ps, comm->pr_pid)) == NULL)
		return (-1);
	take_name(ps, process, comm->pr_time_ns);
	return (0);
}

int
prof_processes_take(struct prof_processes *ps,
    const struct prof_record *record, uint32_t image)
{
	struct process *process;

	if (record->pr_time_ns < ps->ps_forget_ns)
		return (0);
	if (record->pr_time_ns > ps->ps_newest_ns)
		ps->ps_newest_ns = record->pr_time_ns;
	switch (record->pr_type) {
	case PROF_R_FORK:
		return (take_fork(ps, record));
	case PROF_R_EXEC:
		return (take_exec(ps, record));
	case PROF_R_MMAP:
		return (record->pr_pid == UINT32_MAX ? 0 :
		    take_mapping(ps, record, image, record->pr_time_ns));
	case PROF_R_TASK:
		return (take_task(ps, record));
	case PROF_R_COMM:
		return (take_comm(ps, record));
	case PROF_R_EXIT:
		if (!record->pr_group_dead || ps->ps_mode ==
		    (PROF_PROCESSES_ALL | PROF_PROCESSES_PERF) || (process =
		    prof_processes_find(ps, record->pr_pid)) == NULL)
			return (0);
		return (take_exit(ps, process, record->pr_time_ns));
	case PROF_R_LOST:
		if (record->pr_event == 0 ||
		    (ps->ps_mode & PROF_PROCESSES_PERF) != 0)
			prof_processes_lost(ps, record->pr_addr,
			    record->pr_time_ns);
		return (0);
	default:
		return (0);
	}
}

int
prof_processes_read(struct prof_processes *ps,
    const struct prof_record *record, uint32_t image, uint64_t read_ns)
{
	return (take_mapping(ps, record, image, read_ns));
}

int
prof_processes_renew(struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns)
{
	struct process *process = process_get(ps, pid);
	struct memory *memory;

	if (process == NULL)
		return (-1);
	if ((memory = prof_process_at(process, time_ns)) == NULL)
		return (0);
	prof_memory_clear(ps, memory, time_ns);
	memory_changed(ps, process, memory, time_ns);
	return (0);
}

/* Of too many, neighbors are taken for one. */
void
prof_processes_lost(struct prof_processes *ps, uint64_t from_ns,
    uint64_t to_ns)
{
	struct loss *loss;

	if (ps->ps_nlosses < LOSSES) {
		ps->ps_loss[ps->ps_nlosses++] = (struct loss){ from_ns,
		    to_ns };
		return;
	}
	loss = &ps->ps_loss[LOSSES - 1];
	if (from_ns < loss->ls_from_ns)
		loss->ls_from_ns = from_ns;
	if (to_ns > loss->ls_to_ns)
		loss->ls_to_ns = to_ns;
}

uint64_t
prof_processes_over(const struct prof_processes *ps)
{
	return (ps->ps_over);
}

uint64_t
prof_processes_version(struct prof_processes *ps, uint32_t pid,
    uint64_t time_ns)
{
	const struct memory *memory = prof_process_at(prof_processes_find(ps,
	    pid), time_ns);

	if (memory == NULL)
		return (0);
	/* Of an earlier time, or one that a parent changed late. */
	if (time_ns < memory->me_changed_ns ||
	    memory->me_version < ps->ps_era)
		return (++ps->ps_version);
	return (memory->me_version);
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
			range = &memory->me_range[n];
			entry_image(&range->ra_last, number, is_new);
			for (i = 0; i < range->ra_nolder; i++)
				entry_image(&range->ra_older[i], number,
				    is_new);
		}
	}
}
