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
	if (process->po_children > 0 && time_ns <= ps->ps_forked_ns)
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
		prof_process_watch(ps, process);
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
	if ((ps->ps_mode & PROF_PROCESSES_NOW) != 0 &&
	    memory->me_changed_ns < memory[-1].me_changed_ns)
		memory->me_changed_ns = memory[-1].me_changed_ns;
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

	/* A thread; or what the parent had then is forgotten. */
	if (fork->pr_ppid == fork->pr_pid || time_ns < ps->ps_forget_ns)
		return (0);
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
	prof_process_watch(ps, child);
	if (ps->ps_forked_ns < time_ns)
		ps->ps_forked_ns = time_ns;
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
		prof_memory_copy(ps, memory);
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
	/* What was heard of first may be what the exec mapped. */
	at = running_index(process, time_ns) + 1;
	if (at < (int)process->po_n && process->po_memory[at].me_is_implicit)
		at++;
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
		range = prof_memory_range(memory, n);
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

	prof_process_watch(ps, process);
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

/* Is it of a process that ended, and is forgotten? */
static bool
is_too_late(const struct prof_processes *ps, uint32_t pid, uint64_t time_ns)
{
	const struct process *process;
	const struct memory *memory;

	if (time_ns >= ps->ps_forget_ns)
		return (false);
	process = prof_processes_find(ps, pid);
	memory = process == NULL || process->po_n == 0 ? NULL :
	    &process->po_memory[0];
	return (memory == NULL || memory->me_from_ns > time_ns ||
	    process->po_memory[process->po_n - 1].me_exit_ns < time_ns);
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
	struct process *process;
	struct memory *memory;

	if (record->pr_addr + record->pr_len <= record->pr_addr ||
	    is_too_late(ps, record->pr_pid, time_ns))
		return (0);
	if ((process = process_get(ps, record->pr_pid)) == NULL)
		return (-1);
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
	const struct loss loss = { from_ns, to_ns };

	if (ps->ps_nlosses < LOSSES)
		ps->ps_loss[ps->ps_nlosses++] = loss;
	else
		prof_loss_join(&ps->ps_loss[LOSSES - 1], &loss);
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
