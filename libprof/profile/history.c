/* SPDX-License-Identifier: ISC */
/*
 * The names of threads in time, out of the process events of a recording.
 * gather.c asks it about samples, from several threads at once; so it is
 * sorted once and then only read.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/search.h"
#include "profile_impl.h"
#include "recording/query.h"

/* A thread takes a name. */
struct change {
	uint64_t	 ch_time_ns;
	uint32_t	 ch_tid;
	uint32_t	 ch_number;	/* of the life, for equal times */
	uint32_t	 ch_parent;	/* the tid that forked it, or 0 */
	const char	*ch_comm;	/* the reader's */
};

struct prof_history {
	struct change	*hi_change;
	size_t		 hi_count;
	size_t		 hi_cap;
	uint64_t	 hi_until_ns;	/* from then on no names are known */
	const char	*hi_task_0;	/* nobody forks it */
	const struct prof_reader *hi_reader; /* if names are not wanted */
};

#define NAME_STEPS	64	/* up a chain of forks, at once ... */
#define NAME_STEPS_ALL	(4u << 20) /* ... and of nobody with a name */
#define NAME_SEARCHES	8	/* the same, where each is a search */

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
	struct change *change;

	if (!changes_name(record))
		return (0);
	change = prof_grow((void **)&history->hi_change, &history->hi_count,
	    &history->hi_cap, sizeof(*change));
	if (change == NULL)
		return (-1);
	change->ch_time_ns = record->pr_time_ns;
	change->ch_tid = record->pr_tid;
	change->ch_number = number;
	change->ch_comm = record->pr_comm;
	change->ch_parent = record->pr_type == PROF_R_FORK ?
	    record->pr_ptid : 0;
	return (0);
}

static int
change_compare(const void *a, const void *b)
{
	const struct change *ca = a, *cb = b;

	if (ca->ch_tid != cb->ch_tid)
		return (ca->ch_tid < cb->ch_tid ? -1 : 1);
	if (ca->ch_time_ns != cb->ch_time_ns)
		return (ca->ch_time_ns < cb->ch_time_ns ? -1 : 1);
	return (ca->ch_number < cb->ch_number ? -1 : 1);
}

/* How many changes come no later than this time of this thread. */
static size_t
changes_upto(const struct prof_history *history, uint32_t tid,
    uint64_t time_ns)
{
	const struct change *change = history->hi_change;

	return (PROF_BEFORE(i, history->hi_count, change[i].ch_tid < tid ||
	    (change[i].ch_tid == tid && change[i].ch_time_ns <= time_ns)));
}

/*
 * perf's records of forks have no name: a task begins with that of the one
 * that forked it, which may have its own from a fork in turn.
 */
static void
names_inherit(struct prof_history *history)
{
	size_t left = NAME_STEPS_ALL + history->hi_count;

	for (size_t n = 0; n < history->hi_count; n++) {
		const struct change *from = &history->hi_change[n];
		size_t at;

		for (int step = 0; step < NAME_STEPS && left > 0 &&
		    from->ch_comm[0] == '\0'; step++, left--) {
			at = changes_upto(history, from->ch_parent,
			    from->ch_time_ns);
			if (at == 0 || history->hi_change[at - 1].ch_tid !=
			    from->ch_parent)
				break;
			from = &history->hi_change[at - 1];
		}
		history->hi_change[n].ch_comm = from->ch_comm;
	}
}

struct prof_history *
prof_history_new(const struct prof_reader *reader, bool wanted,
    struct prof_err *error)
{
	struct prof_history *history = calloc(1, sizeof(*history));
	size_t n = wanted ? prof_reader_nlife(reader) : 0, i;
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
	history->hi_reader = wanted ? NULL : reader;
	history->hi_task_0 = prof_reader_task_0(reader);
	(void)prof_reader_left_out(reader, &history->hi_until_ns);
	if (history->hi_count > 1)
		qsort(history->hi_change, history->hi_count,
		    sizeof(*history->hi_change), change_compare);
	names_inherit(history);
	return (history);
}

void
prof_history_free(struct prof_history *history)
{
	if (history == NULL)
		return;
	free(history->hi_change);
	free(history);
}

/* The last change before a time narrows the moment; NULL: there is none. */
static const struct change *
history_narrow(const struct prof_history *history, uint32_t tid,
    uint64_t time_ns, struct prof_moment *moment)
{
	size_t n = changes_upto(history, tid, time_ns);
	const struct change *change;

	if (history->hi_count == 0)
		return (NULL);
	change = history->hi_change + n;
	if (n < history->hi_count && change->ch_tid == tid &&
	    change->ch_time_ns < moment->mo_to_ns)
		moment->mo_to_ns = change->ch_time_ns;
	if (n == 0 || change[-1].ch_tid != tid)
		return (NULL);
	if (change[-1].ch_time_ns > moment->mo_from_ns)
		moment->mo_from_ns = change[-1].ch_time_ns;
	return (&change[-1]);
}

void
prof_history_at(const struct prof_history *history, uint32_t tid,
    uint64_t time_ns, struct prof_moment *moment)
{
	const bool is_known = time_ns < history->hi_until_ns;
	const struct change *name;

	moment->mo_from_ns = is_known ? 0 : history->hi_until_ns;
	moment->mo_to_ns = is_known ? history->hi_until_ns : UINT64_MAX;
	name = is_known ? history_narrow(history, tid, time_ns, moment) :
	    NULL;
	moment->mo_comm = tid == 0 ? history->hi_task_0 :
	    name != NULL ? name->ch_comm : "";
}

/* The last change of a thread before a time; pr_comm NULL: there is none. */
static struct prof_record
last_change(const struct prof_history *history, uint32_t tid,
    uint64_t before_ns)
{
	struct prof_record record;

	for (size_t n = prof_reader_nlife(history->hi_reader); n-- > 0;) {
		prof_reader_life(history->hi_reader, n, &record);
		if (record.pr_tid == tid && changes_name(&record) &&
		    record.pr_time_ns < before_ns)
			return (record);
	}
	return ((struct prof_record){ .pr_comm = NULL });
}

/*
 * One name is looked for where they lie, without making a table of all; that
 * of a fork without one is its parent's, as names_inherit has it.
 */
static const char *
last_comm_of(const struct prof_history *history, uint32_t tid)
{
	uint64_t before_ns = history->hi_until_ns;
	struct prof_record last;

	for (int step = 0; step < NAME_SEARCHES; step++) {
		last = last_change(history, tid, before_ns);
		if (last.pr_comm == NULL)
			break;
		if (last.pr_comm[0] != '\0')
			return (last.pr_comm);
		tid = last.pr_ptid;
		before_ns = last.pr_time_ns + 1;
	}
	return ("");
}

const char *
prof_history_last_comm(const struct prof_history *history, uint32_t tid)
{
	struct prof_moment moment;

	if (history->hi_reader != NULL && tid != 0)
		return (last_comm_of(history, tid));
	prof_history_at(history, tid, history->hi_until_ns - 1, &moment);
	return (moment.mo_comm);
}
