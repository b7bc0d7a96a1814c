/* SPDX-License-Identifier: ISC */
/*
 * What changed when: the mappings of each process and of the kernel, and the
 * names of threads, out of the lives of a recording.  gather.c asks it about
 * samples, from several threads at once; so it is sorted once and then only
 * read.  What is mapped is not known here, that is the model's: just from
 * when to when it stays the same.
 */
#include <stdlib.h>

#include "analysis.h"

/* Something about an id changed. */
struct change {
	uint64_t	 ch_time_ns;
	uint32_t	 ch_id;
	uint32_t	 ch_number;	/* of the life, for equal times */
	uint32_t	 ch_parent;	/* names only: the tid that forked it */
	const char	*ch_comm;	/* names only; the reader's */
};

struct changes {
	struct change	*cs_change;
	size_t		 cs_count;
	size_t		 cs_cap;
};

struct prof_history {
	struct changes	 hi_maps;	/* by pid */
	struct changes	 hi_kernel;	/* id 0 */
	struct changes	 hi_names;	/* by tid */
	const char	*hi_task_0;	/* nobody forks it */
};

#define KERNEL_PID	UINT32_MAX
#define NAME_STEPS	64	/* up a chain of forks, at once */

static int
changes_add(struct changes *changes, uint32_t id, uint32_t number,
    const struct prof_record *record)
{
	struct change *change;

	change = prof_grow((void **)&changes->cs_change, &changes->cs_count,
	    &changes->cs_cap, sizeof(*change));
	if (change == NULL)
		return (-1);
	change->ch_time_ns = record->pr_time_ns;
	change->ch_id = id;
	change->ch_number = number;
	change->ch_comm = record->pr_comm;
	change->ch_parent = record->pr_type == PROF_R_FORK ?
	    record->pr_ptid : 0;
	return (0);
}

/* Threads that come and go change no mapping. */
static bool
changes_maps(const struct prof_record *record)
{
	switch (record->pr_type) {
	case PROF_R_MMAP:
	case PROF_R_EXEC:
		return (true);
	case PROF_R_FORK:
	case PROF_R_TASK:
		return (record->pr_tid == record->pr_pid);
	case PROF_R_EXIT:
		return (record->pr_group_dead != 0);
	default:
		return (false);
	}
}

static bool
changes_name(const struct prof_record *record)
{
	return (record->pr_type == PROF_R_FORK ||
	    (record->pr_comm[0] != '\0' &&
	    (record->pr_type == PROF_R_EXEC ||
	    record->pr_type == PROF_R_COMM ||
	    record->pr_type == PROF_R_TASK)));
}

static int
history_add(struct prof_history *history, uint32_t number,
    const struct prof_record *record)
{
	if (record->pr_type == PROF_R_KSYMBOL ||
	    (record->pr_type == PROF_R_MMAP && record->pr_pid == KERNEL_PID))
		return (changes_add(&history->hi_kernel, 0, number, record));
	if (changes_maps(record) && changes_add(&history->hi_maps,
	    record->pr_pid, number, record) == -1)
		return (-1);
	if (changes_name(record) && changes_add(&history->hi_names,
	    record->pr_tid, number, record) == -1)
		return (-1);
	return (0);
}

static int
change_compare(const void *a, const void *b)
{
	const struct change *ca = a, *cb = b;

	if (ca->ch_id != cb->ch_id)
		return (ca->ch_id < cb->ch_id ? -1 : 1);
	if (ca->ch_time_ns != cb->ch_time_ns)
		return (ca->ch_time_ns < cb->ch_time_ns ? -1 : 1);
	return (ca->ch_number < cb->ch_number ? -1 : 1);
}

static void
changes_sort(struct changes *changes)
{
	if (changes->cs_count > 1)
		qsort(changes->cs_change, changes->cs_count,
		    sizeof(*changes->cs_change), change_compare);
}

/* How many changes come no later than this time of this id. */
static size_t
changes_upto(const struct changes *changes, uint32_t id, uint64_t time_ns)
{
	size_t low = 0, high = changes->cs_count, middle;
	const struct change *change;

	while (low < high) {
		middle = low + (high - low) / 2;
		change = &changes->cs_change[middle];
		if (change->ch_id < id || (change->ch_id == id &&
		    change->ch_time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/*
 * perf's records of forks have no name: a task begins with that of the one
 * that forked it, which may have its own from a fork in turn.
 */
static void
names_inherit(struct changes *names)
{
	for (size_t n = 0; n < names->cs_count; n++) {
		const struct change *from = &names->cs_change[n];
		size_t at;

		for (int step = 0; step < NAME_STEPS &&
		    from->ch_comm[0] == '\0'; step++) {
			at = changes_upto(names, from->ch_parent,
			    from->ch_time_ns);
			if (at == 0 ||
			    names->cs_change[at - 1].ch_id != from->ch_parent)
				break;
			from = &names->cs_change[at - 1];
		}
		names->cs_change[n].ch_comm = from->ch_comm;
	}
}

struct prof_history *
prof_history_new(const struct prof_reader *reader, struct prof_err *error)
{
	struct prof_history *history = calloc(1, sizeof(*history));
	size_t n = prof_reader_nlives(reader), i;
	struct prof_record record;

	for (i = 0; history != NULL && i < n; i++) {
		prof_reader_life(reader, i, &record);
		if (history_add(history, (uint32_t)i, &record) == -1) {
			prof_history_free(history);
			history = NULL;
		}
	}
	if (history == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	history->hi_task_0 = prof_reader_task_0(reader);
	changes_sort(&history->hi_maps);
	changes_sort(&history->hi_kernel);
	changes_sort(&history->hi_names);
	names_inherit(&history->hi_names);
	return (history);
}

void
prof_history_free(struct prof_history *history)
{
	if (history == NULL)
		return;
	free(history->hi_maps.cs_change);
	free(history->hi_kernel.cs_change);
	free(history->hi_names.cs_change);
	free(history);
}

/* The last change before a time narrows the moment; NULL: there is none. */
static const struct change *
changes_narrow(const struct changes *changes, uint32_t id, uint64_t time_ns,
    struct prof_moment *moment)
{
	size_t n = changes_upto(changes, id, time_ns);
	const struct change *change;

	if (changes->cs_count == 0)
		return (NULL);
	change = changes->cs_change + n;
	if (n < changes->cs_count && change->ch_id == id &&
	    change->ch_time_ns < moment->mo_to_ns)
		moment->mo_to_ns = change->ch_time_ns;
	if (n == 0 || change[-1].ch_id != id)
		return (NULL);
	if (change[-1].ch_time_ns > moment->mo_from_ns)
		moment->mo_from_ns = change[-1].ch_time_ns;
	return (&change[-1]);
}

void
prof_history_at(const struct prof_history *history, uint32_t pid,
    uint32_t tid, uint64_t time_ns, struct prof_moment *moment)
{
	const struct change *name;

	moment->mo_from_ns = 0;
	moment->mo_to_ns = UINT64_MAX;
	(void)changes_narrow(&history->hi_maps, pid, time_ns, moment);
	(void)changes_narrow(&history->hi_kernel, 0, time_ns, moment);
	moment->mo_maps_ns = moment->mo_from_ns;
	name = changes_narrow(&history->hi_names, tid, time_ns, moment);
	moment->mo_comm = tid == 0 ? history->hi_task_0 :
	    name != NULL ? name->ch_comm : "";
}

const char *
prof_history_last_comm(const struct prof_history *history, uint32_t tid)
{
	struct prof_moment moment;

	prof_history_at(history, tid, tid, UINT64_MAX - 1, &moment);
	return (moment.mo_comm);
}
