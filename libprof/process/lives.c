/* SPDX-License-Identifier: ISC */
/*
 * See lives.h.  A process has a list of epochs; an epoch begins where what it
 * had mapped before is no longer true:
 *
 *	process --> epoch (time, space) --> space --> version: mappings, sorted
 *	             | fork: the child's first is its parent's, shared
 *	             | exec: what was mapped since the exec's new name
 *	             | a mapping in the place of another: a changed copy
 *
 * A mapping where nothing was before begins no epoch: nothing can have been
 * executed there earlier, so it may as well have been there.  So 10,000
 * short processes cost one version each, or none when they do not exec.
 * There is no record of munmap; a mapping goes when another takes its place.
 * The number of mappings is limited, so that a forged recording, in which
 * everybody forks and maps, costs its processes their names and nothing else.
 * What has lost mappings so says it, and names nothing: a mapping that stayed
 * could have been covered by one that did not.
 */
#include <stdlib.h>
#include <string.h>

#include "lives_impl.h"

#define MAX_MAPPINGS	(4u << 20)	/* in all versions together ... */
#define MIN_MAPPINGS	(512u << 10)	/* ... of any recording ... */
#define BYTES_OF_ONE	10		/* ... and of the file, for one more */
#define MAX_OF_VERSION	32768u
#define MOVES_OF_ONE	128u	/* each in front of so many, on average */
#define NEVER		UINT64_MAX

size_t
prof_lives_most(uint64_t length)
{
	const uint64_t most = MIN_MAPPINGS + length / BYTES_OF_ONE;

	return (most < MAX_MAPPINGS ? (size_t)most : MAX_MAPPINGS);
}

struct prof_lives *
prof_lives_new(unsigned mode, size_t most)
{
	struct prof_lives *lives = calloc(1, sizeof(*lives));

	if (lives == NULL)
		return (NULL);
	lives->lv_mode = mode;
	lives->lv_most = most;
	lives->lv_moves = (mode & PROF_LIVES_NOW) != 0 ? UINT64_MAX :
	    (uint64_t)most * MOVES_OF_ONE;
	lives->lv_nbuckets = 1024;
	lives->lv_nspaces = 1;		/* 0 is PROF_SPACE_NONE */
	lives->lv_bucket = calloc(lives->lv_nbuckets,
	    sizeof(*lives->lv_bucket));
	lives->lv_cap = 64;
	lives->lv_space = calloc(lives->lv_cap, sizeof(*lives->lv_space));
	if (lives->lv_bucket == NULL || lives->lv_space == NULL) {
		prof_lives_free(lives);
		return (NULL);
	}
	return (lives);
}

/* ------------------------------------------------------- versions */

static void
version_release(struct prof_lives *lives, struct version *version)
{
	if (version == NULL || --version->ve_users > 0)
		return;
	lives->lv_nmappings -= version->ve_cap;
	free(version->ve_map);
	free(version);
}

/* Room for more mappings; false: no memory, or the limit is reached. */
static bool
version_reserve(struct prof_lives *lives, struct version *version,
    uint32_t more)
{
	uint32_t cap = version->ve_cap == 0 ? 2 : version->ve_cap;
	struct prof_mapping *grown;

	while (cap < version->ve_n + more)
		cap *= 2;
	if (cap == version->ve_cap)
		return (true);
	if (version->ve_n >= MAX_OF_VERSION ||
	    lives->lv_nmappings + (cap - version->ve_cap) > lives->lv_most)
		return (false);
	grown = reallocarray(version->ve_map, cap, sizeof(*grown));
	if (grown == NULL)
		return (false);
	lives->lv_nmappings += cap - version->ve_cap;
	version->ve_map = grown;
	version->ve_cap = cap;
	return (true);
}

/*
 * Over the limit nothing has a name: what is there may be covered.  lost:
 * mappings that have no room; those that are there go, too.
 */
static void
version_over(struct prof_lives *lives, struct version *version, uint32_t lost)
{
	lives->lv_over += lost + version->ve_n;
	version->ve_n = 0;
	version->ve_over_ns = lives->lv_now_ns | 1;
}

/*
 * A copy of the mappings since a time; NULL: no memory.  Over the limit it
 * is empty.  Of a parent's many an exec keeps few, so there is room for these
 * alone: what is reserved counts as long as the version lives.
 */
static struct version *
version_copy(struct prof_lives *lives, const struct version *from,
    uint64_t since_ns)
{
	struct version *version = calloc(1, sizeof(*version));
	uint32_t n, kept = 0;

	if (version == NULL)
		return (NULL);
	version->ve_users = 1;
	version->ve_numbering = lives->lv_numbering;
	for (n = 0; from != NULL && n < from->ve_n; n++)
		kept += from->ve_map[n].mp_since_ns >= since_ns;
	if (from != NULL && from->ve_over_ns >= since_ns)
		version->ve_over_ns = from->ve_over_ns;
	if (kept == 0)
		return (version);
	if (!version_reserve(lives, version, kept + 2)) {
		version_over(lives, version, kept);
		return (version);
	}
	for (n = 0; n < from->ve_n; n++)
		if (from->ve_map[n].mp_since_ns >= since_ns)
			version->ve_map[version->ve_n++] = from->ve_map[n];
	version->ve_has_anon = from->ve_has_anon;
	return (version);
}

static bool
is_same(const struct prof_mapping *a, const struct prof_mapping *b)
{
	return (a->mp_image == b->mp_image &&
	    (a->mp_image == PROF_IMAGE_ANON ||
	    a->mp_offset - a->mp_start == b->mp_offset - b->mp_start));
}

/* Is there nothing to be learnt from it? */
static bool
is_covered(const struct version *version, const struct prof_mapping *mapping)
{
	const struct prof_mapping *there;
	uint32_t n = prof_version_search(version, mapping->mp_start);

	if (n >= version->ve_n || mapping->mp_image != PROF_IMAGE_ANON)
		return (false);
	there = &version->ve_map[n];
	return (there->mp_image == PROF_IMAGE_ANON &&
	    there->mp_start <= mapping->mp_start &&
	    there->mp_end >= mapping->mp_end);
}

/* Would it take the place of something else? */
static bool
conflicts(const struct version *version, const struct prof_mapping *mapping)
{
	uint32_t n;

	for (n = prof_version_search(version, mapping->mp_start);
	    n < version->ve_n &&
	    version->ve_map[n].mp_start < mapping->mp_end; n++)
		if (!is_same(&version->ve_map[n], mapping))
			return (true);
	return (false);
}

/* What begins at "from", as part of a mapping. */
static struct prof_mapping
cut_front(struct prof_mapping mapping, uint64_t from)
{
	mapping.mp_offset += from - mapping.mp_start;
	mapping.mp_start = from;
	return (mapping);
}

/*
 * Insert; what lies in its way is cut or goes.  At most one mapping becomes
 * two, so there is room for two more.
 */
static bool
version_insert(struct prof_lives *lives, struct version *version,
    const struct prof_mapping *mapping)
{
	struct prof_mapping pieces[3];
	uint32_t first, last, n = 0;

	if (!version_reserve(lives, version, 2))
		return (false);
	first = last = prof_version_search(version, mapping->mp_start);
	while (last < version->ve_n &&
	    version->ve_map[last].mp_start < mapping->mp_end)
		last++;
	if (first < last &&
	    version->ve_map[first].mp_start < mapping->mp_start) {
		pieces[n] = version->ve_map[first];
		pieces[n++].mp_end = mapping->mp_start;
	}
	pieces[n++] = *mapping;
	if (first < last && version->ve_map[last - 1].mp_end >
	    mapping->mp_end)
		pieces[n++] = cut_front(version->ve_map[last - 1],
		    mapping->mp_end);
	if (version->ve_n - last > lives->lv_moves)
		return (false);
	lives->lv_moves -= version->ve_n - last;
	if (mapping->mp_image == PROF_IMAGE_ANON)
		version->ve_has_anon = true;
	memmove(version->ve_map + first + n, version->ve_map + last,
	    (version->ve_n - last) * sizeof(*version->ve_map));
	memcpy(version->ve_map + first, pieces, n * sizeof(*pieces));
	version->ve_n += n - (last - first);
	return (true);
}

/* ------------------------------------------------------ processes */

/* Twice as many buckets; without memory the lists just become longer. */
static void
buckets_grow(struct prof_lives *lives)
{
	struct process **old = lives->lv_bucket, **at, *process, *next;
	size_t n, before = lives->lv_nbuckets;

	lives->lv_bucket = calloc(before * 2, sizeof(*lives->lv_bucket));
	if (lives->lv_bucket == NULL) {
		lives->lv_bucket = old;
		return;
	}
	lives->lv_nbuckets = before * 2;
	for (n = 0; n < before; n++)
		for (process = old[n]; process != NULL; process = next) {
			next = process->po_next;
			at = prof_lives_bucket(lives, process->po_pid);
			process->po_next = *at;
			*at = process;
		}
	free(old);
}

static struct process *
process_get(struct prof_lives *lives, uint32_t pid)
{
	struct process *process = prof_lives_find(lives, pid), **at;

	if (process != NULL)
		return (process);
	if (lives->lv_nprocesses >= 2 * lives->lv_nbuckets)
		buckets_grow(lives);
	process = calloc(1, sizeof(*process));
	if (process == NULL)
		return (NULL);
	at = prof_lives_bucket(lives, pid);
	process->po_pid = pid;
	process->po_named_ns = NEVER;
	process->po_next = *at;
	*at = process;
	lives->lv_nprocesses++;
	return (process);
}

static void
process_free(struct prof_lives *lives, struct process *process)
{
	while (process->po_n > 0)
		version_release(lives,
		    process->po_epoch[--process->po_n].ep_version);
	free(process->po_epoch);
	free(process);
}

static void
process_remove(struct prof_lives *lives, uint32_t pid)
{
	struct process **at = prof_lives_bucket(lives, pid), *process;

	while (*at != NULL && (*at)->po_pid != pid)
		at = &(*at)->po_next;
	if ((process = *at) == NULL)
		return;
	*at = process->po_next;
	lives->lv_nprocesses--;
	process_free(lives, process);
}

void
prof_lives_free(struct prof_lives *lives)
{
	struct process *process, *next;
	size_t n;

	if (lives == NULL)
		return;
	for (n = 0; lives->lv_bucket != NULL && n < lives->lv_nbuckets; n++)
		for (process = lives->lv_bucket[n]; process != NULL;
		    process = next) {
			next = process->po_next;
			process_free(lives, process);
		}
	free(lives->lv_bucket);
	free(lives->lv_space);
	free(lives);
}

/* --------------------------------------------------------- epochs */

/* The number of a space with these mappings; PROF_SPACE_NONE: no memory. */
static uint32_t
space_new(struct prof_lives *lives, struct version *version, uint32_t life)
{
	struct space *grown;
	uint32_t cap = lives->lv_cap;

	if (lives->lv_nspaces == cap) {
		if (cap > UINT32_MAX / 2)
			return (PROF_SPACE_NONE);
		grown = reallocarray(lives->lv_space, (size_t)cap * 2,
		    sizeof(*grown));
		if (grown == NULL)
			return (PROF_SPACE_NONE);
		lives->lv_space = grown;
		lives->lv_cap = cap * 2;
	}
	lives->lv_space[lives->lv_nspaces].sp_version = version;
	lives->lv_space[lives->lv_nspaces].sp_life = life;
	return (lives->lv_nspaces++);
}

/*
 * From a time on a process has these mappings, whose use passes to it.
 * space: of whom it has them, or PROF_SPACE_NONE for one of its own.
 */
static int
epoch_add(struct prof_lives *lives, struct process *process,
    uint64_t time_ns, struct version *version, uint32_t space, uint32_t life)
{
	struct epoch *epoch, *grown;
	uint32_t cap;

	if (version == NULL)
		return (-1);
	if ((lives->lv_mode & PROF_LIVES_NOW) != 0) {
		while (process->po_n > 0)
			version_release(lives,
			    process->po_epoch[--process->po_n].ep_version);
	} else if (space == PROF_SPACE_NONE) {
		space = space_new(lives, version, life);
	}
	if (process->po_n == process->po_cap) {
		cap = process->po_cap == 0 ? 1 : process->po_cap * 2;
		grown = reallocarray(process->po_epoch, cap, sizeof(*grown));
		if (grown == NULL) {
			version_release(lives, version);
			return (-1);
		}
		process->po_epoch = grown;
		process->po_cap = cap;
	}
	epoch = &process->po_epoch[process->po_n++];
	epoch->ep_time_ns = time_ns;
	epoch->ep_version = version;
	epoch->ep_space = space;
	epoch->ep_life = life;
	return (0);
}

/* A life begins, with nothing mapped. */
static int
begin_empty(struct prof_lives *lives, struct process *process,
    uint64_t time_ns)
{
	process->po_dead = false;
	process->po_since_ns = time_ns;
	process->po_named_ns = NEVER;
	return (epoch_add(lives, process, time_ns,
	    version_copy(lives, NULL, 0), PROF_SPACE_NONE,
	    ++lives->lv_nlives));
}

static int
take_fork(struct prof_lives *lives, const struct prof_record *fork)
{
	struct process *child, *parent;
	struct epoch *from;

	if (fork->pr_ppid == fork->pr_pid)
		return (0);	/* a thread */
	child = process_get(lives, fork->pr_pid);
	if (child == NULL)
		return (-1);
	parent = prof_lives_find(lives, fork->pr_ppid);
	from = parent == NULL ? NULL : prof_lives_last(parent);
	if (from == NULL)
		return (begin_empty(lives, child, fork->pr_time_ns));
	child->po_dead = false;
	child->po_since_ns = fork->pr_time_ns;
	child->po_named_ns = NEVER;
	from->ep_version->ve_users++;
	/* Code that was made in memory may differ from now on. */
	return (epoch_add(lives, child, fork->pr_time_ns, from->ep_version,
	    from->ep_version->ve_has_anon ? PROF_SPACE_NONE : from->ep_space,
	    ++lives->lv_nlives));
}

/*
 * A new program.  In the kernel an exec first changes the name, then maps,
 * then tells of the exec: what was mapped since the name is the new program's,
 * and what the process did until now it did with what was mapped before.
 */
static int
take_exec(struct prof_lives *lives, const struct prof_record *exec)
{
	struct process *process = process_get(lives, exec->pr_pid);
	struct epoch *last;
	struct version *version;

	if (process == NULL)
		return (-1);
	last = prof_lives_last(process);
	version = version_copy(lives, last == NULL ? NULL : last->ep_version,
	    process->po_named_ns);
	while ((lives->lv_mode & PROF_LIVES_NOW) == 0 && process->po_n > 1 &&
	    prof_lives_last(process)->ep_time_ns > process->po_named_ns)
		version_release(lives,
		    process->po_epoch[--process->po_n].ep_version);
	process->po_dead = false;
	process->po_since_ns = exec->pr_time_ns;
	process->po_named_ns = NEVER;
	return (epoch_add(lives, process, exec->pr_time_ns, version,
	    PROF_SPACE_NONE, ++lives->lv_nlives));
}

static int
take_mapping(struct prof_lives *lives, const struct prof_record *record,
    uint32_t image)
{
	struct process *process = process_get(lives, record->pr_pid);
	struct prof_mapping mapping = {
		.mp_start = record->pr_addr,
		.mp_end = record->pr_addr + record->pr_len,
		.mp_offset = record->pr_offset,
		.mp_since_ns = record->pr_time_ns,
		.mp_image = image,
	};
	struct version *version;
	struct epoch *last;

	if (process == NULL)
		return (-1);
	if (mapping.mp_end <= mapping.mp_start)
		return (0);
	if ((process->po_n == 0 || process->po_dead) &&
	    begin_empty(lives, process, record->pr_time_ns) == -1)
		return (-1);
	last = prof_lives_last(process);
	version = last->ep_version;
	if (is_covered(version, &mapping))
		return (0);
	if (version->ve_users > 1 || (conflicts(version, &mapping) &&
	    (lives->lv_mode & PROF_LIVES_NOW) == 0 &&
	    last->ep_time_ns != record->pr_time_ns)) {
		version = version_copy(lives, version, 0);
		if (epoch_add(lives, process, record->pr_time_ns, version,
		    PROF_SPACE_NONE, last->ep_life) == -1)
			return (-1);
	}
	if (!version_insert(lives, version, &mapping))
		version_over(lives, version, 1);
	return (0);
}

int
prof_lives_take(struct prof_lives *lives, const struct prof_record *record,
    uint32_t image)
{
	struct process *process;

	lives->lv_now_ns = record->pr_time_ns;
	switch (record->pr_type) {
	case PROF_R_FORK:
		return (take_fork(lives, record));
	case PROF_R_EXEC:
		return (take_exec(lives, record));
	case PROF_R_MMAP:
		return (record->pr_pid == UINT32_MAX ? 0 :
		    take_mapping(lives, record, image));
	case PROF_R_TASK:
		if (record->pr_pid == record->pr_tid &&
		    prof_lives_find(lives, record->pr_pid) == NULL &&
		    (process = process_get(lives, record->pr_pid)) != NULL)
			return (begin_empty(lives, process,
			    record->pr_time_ns));
		return (0);
	case PROF_R_COMM:
		process = prof_lives_find(lives, record->pr_pid);
		if (process != NULL && record->pr_pid == record->pr_tid &&
		    (lives->lv_mode & PROF_LIVES_PERF) == 0)
			process->po_named_ns = record->pr_time_ns;
		return (0);
	case PROF_R_EXIT:
		if (!record->pr_group_dead)
			return (0);
		if ((lives->lv_mode & PROF_LIVES_NOW) != 0)
			process_remove(lives, record->pr_pid);
		else if ((lives->lv_mode & PROF_LIVES_PERF) == 0 && (process =
		    prof_lives_find(lives, record->pr_pid)) != NULL)
			process->po_dead = true;
		return (0);
	default:
		return (0);
	}
}

int
prof_lives_renew(struct prof_lives *lives, uint32_t pid)
{
	struct process *process = prof_lives_find(lives, pid);
	const struct epoch *last = process == NULL ? NULL :
	    prof_lives_last(process);

	if (last == NULL)
		return (0);
	return (epoch_add(lives, process, last->ep_time_ns,
	    version_copy(lives, NULL, 0), PROF_SPACE_NONE, last->ep_life));
}

void
prof_lives_images(struct prof_lives *lives, uint32_t *number, bool is_new)
{
	struct version *version;
	struct process *process;
	uint32_t e, n;
	size_t b;

	lives->lv_numbering += is_new;
	for (b = 0; b < lives->lv_nbuckets; b++)
	for (process = lives->lv_bucket[b]; process != NULL;
	    process = process->po_next)
	for (e = 0; e < process->po_n; e++) {
		version = process->po_epoch[e].ep_version;
		/* It may be shared. */
		if (is_new && version->ve_numbering == lives->lv_numbering)
			continue;
		version->ve_numbering = lives->lv_numbering;
		for (n = 0; n < version->ve_n; n++) {
			uint32_t *image = &version->ve_map[n].mp_image;

			if (is_new)
				*image = number[*image];
			else
				number[*image] = 1;
		}
	}
}
