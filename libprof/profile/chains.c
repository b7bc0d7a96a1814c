/* SPDX-License-Identifier: ISC */
/*
 * Who ended a wait, and who ended the wait of that one before:
 *
 *	client	[ blocked ................]
 *	server	     [ blocked ......]    ^ wakes client
 *	writer	          [ blocked ] ^ wakes server
 *	interrupt                   ^ wakes writer
 *
 *	client (futex) <- server (read) <- writer (fsync) <- hardirq
 *
 * Behind a wait comes the last wait of its waker that ended before the wakeup,
 * if it ended after the wait began: the waiter waited for it, too.  Each wait
 * narrows the time in which the next one must have ended.  So a wait is in a
 * chain twice only if a recording claims that two threads woke each other at
 * the same time, and PROF_CHAIN_LINKS ends such a chain.
 *
 * A waker is a thread by its ID.  A chain ends as unknown where a sample that
 * was lost may have been the last wait of the waker.
 *
 * Called by commands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/intern.h"
#include "chains.h"
#include "profile_impl.h"
#include "recording/elapsed.h"
#include "recording/query.h"
#include "waits.h"

/*
 * Time of a thread, blocked or runnable; names are in ch_name, and those of
 * blocked time alone are read.
 */
struct wait {
	struct prof_range wa_range;
	uint64_t	 wa_ran_ns;	/* when the thread ran again */
	uint32_t	 wa_tid;
	uint32_t	 wa_waker_tid;	/* 0: no thread */
	const char	*wa_comm;	/* "": it is not chosen */
	const char	*wa_reason;
	const char	*wa_waker;
	bool		 wa_is_runnable;
};

struct prof_chains {
	struct prof_reader *ch_reader;
	struct prof_profile_options ch_options;
	struct prof_select ch_select;
	struct prof_history *ch_history;
	struct prof_outside *ch_outside;
	struct prof_budget ch_budget;
	uint32_t	 ch_event;
	struct prof_range *ch_lost;	/* when samples of waits were lost */
	size_t		 ch_nlost;
	struct prof_dict ch_by_name;
	char		**ch_name;
	size_t		 ch_nnames;
	size_t		 ch_name_cap;
	struct wait	*ch_wait;
	size_t		 ch_nwaits;
	size_t		 ch_wait_cap;
	struct prof_dict ch_by_links;
	struct prof_chain *ch_chain;
	size_t		 ch_n;
	size_t		 ch_cap;
};

/* Arrays grow by half, and a key has a copy in its table. */
#define KEY_WORDS	(2 * PROF_CHAIN_LINKS + 1)
#define KEY_BYTES	64u
#define NAME_BYTES	(KEY_BYTES + 2 * sizeof(char *))
#define WAIT_BYTES	(sizeof(struct wait) * 3 / 2)
#define CHAIN_BYTES	(sizeof(struct prof_chain) * 3 / 2 + KEY_BYTES + \
			    KEY_WORDS * sizeof(uintptr_t))

/* ------------------------------------------------------------- waits */

/* The one copy of a name; NULL: no memory, or the budget is reached. */
static const char *
name_of(struct prof_chains *chains, const char *name)
{
	bool is_new;
	char **copy;
	uint32_t n;

	n = prof_dict_find(&chains->ch_by_name, name, strlen(name), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (!is_new)
		return (chains->ch_name[n]);
	if (!prof_budget_take(&chains->ch_budget, NAME_BYTES +
	    2 * strlen(name)))
		return (NULL);
	copy = prof_grow(&chains->ch_name, &chains->ch_nnames,
	    &chains->ch_name_cap, sizeof(*copy));
	if (copy != NULL)
		*copy = strdup(name);
	return (copy == NULL ? NULL : *copy);
}

static const char *
text_of(struct prof_chains *chains, const struct prof_record *record,
    const char *argument)
{
	const char *text = prof_wait_text(chains->ch_reader, record, argument);

	return (name_of(chains, text == NULL ? "-" : text));
}

/* The name of a thread whose wait is chosen; "": it is not; NULL: no name. */
static const char *
comm_of(struct prof_chains *chains, const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;
	struct prof_moment moment;

	prof_history_at(chains->ch_history, record->pr_tid,
	    record->pr_time_ns, &moment);
	if (!prof_select_time(&chains->ch_select, record->pr_time_ns) ||
	    !prof_select_wants(&chains->ch_select, sample, moment.mo_comm))
		return ("");
	return (name_of(chains, moment.mo_comm[0] == '\0' ? "-" :
	    moment.mo_comm));
}

static int
wait_add(void *arg, const struct prof_sample *sample)
{
	struct prof_chains *chains = arg;
	const struct prof_record *record = &sample->sm_record;
	const struct prof_event_info *info = prof_reader_event(
	    chains->ch_reader, record->pr_event);
	struct wait *wait;
	int tid;

	if (record->pr_event != chains->ch_event)
		return (0);
	if (!prof_budget_take(&chains->ch_budget, WAIT_BYTES))
		return (-1);
	wait = prof_grow(&chains->ch_wait, &chains->ch_nwaits,
	    &chains->ch_wait_cap, sizeof(*wait));
	if (wait == NULL)
		return (-1);
	wait->wa_range = prof_range_of(record);
	wait->wa_ran_ns = record->pr_time_ns;
	wait->wa_tid = record->pr_tid;
	wait->wa_is_runnable = prof_wait_is_runnable(chains->ch_reader,
	    record);
	if (wait->wa_is_runnable)
		return (0);
	tid = prof_record_argument(info, record, "waker_tid");
	wait->wa_waker_tid = tid < 0 ? 0 : (uint32_t)record->pr_args[tid];
	wait->wa_waker = text_of(chains, record, "waker");
	wait->wa_reason = text_of(chains, record, PROF_REASON);
	wait->wa_comm = comm_of(chains, sample);
	return (wait->wa_waker == NULL || wait->wa_reason == NULL ||
	    wait->wa_comm == NULL ? -1 : 0);
}

/* By thread, then by time. */
static int
wait_compare(const void *a, const void *b)
{
	const struct wait *one = a, *two = b;

	if (one->wa_tid != two->wa_tid)
		return (one->wa_tid < two->wa_tid ? -1 : 1);
	if (one->wa_ran_ns != two->wa_ran_ns)
		return (one->wa_ran_ns < two->wa_ran_ns ? -1 : 1);
	return (one->wa_is_runnable - two->wa_is_runnable);
}

/* Leave blocked time alone, which ends where runnable time begins. */
static void
waits_end(struct prof_chains *chains)
{
	struct wait *wait = chains->ch_wait;
	size_t n = 0;

	if (chains->ch_nwaits > 1)
		qsort(wait, chains->ch_nwaits, sizeof(*wait), wait_compare);
	for (size_t i = 0; i < chains->ch_nwaits; i++) {
		if (!wait[i].wa_is_runnable)
			wait[n++] = wait[i];
		else if (n > 0 && wait[n - 1].wa_tid == wait[i].wa_tid)
			prof_range_end(&wait[n - 1].wa_range,
			    &wait[i].wa_range);
	}
	chains->ch_nwaits = n;
}

static int
lost_read(struct prof_chains *chains)
{
	const size_t n = prof_reader_nlife(chains->ch_reader);
	struct prof_range *lost;
	struct prof_record record;

	for (size_t i = 0; i < n; i++) {
		prof_reader_life(chains->ch_reader, i, &record);
		if (record.pr_type != PROF_R_LOST ||
		    record.pr_event != chains->ch_event)
			continue;
		lost = prof_append(&chains->ch_lost, &chains->ch_nlost,
		    sizeof(*lost));
		if (lost == NULL)
			return (-1);
		*lost = (struct prof_range){ record.pr_addr,
		    record.pr_time_ns };
	}
	chains->ch_nlost = prof_ranges_join(chains->ch_lost,
	    chains->ch_nlost);
	return (0);
}

/* ------------------------------------------------------------ chains */

/* The last wait of a thread that ended by a time; NULL: there is none. */
static const struct wait *
wait_before(const struct prof_chains *chains, uint32_t tid, uint64_t time_ns)
{
	size_t low = 0, high = chains->ch_nwaits, middle;
	const struct wait *wait;

	while (low < high) {
		middle = low + (high - low) / 2;
		wait = &chains->ch_wait[middle];
		if (wait->wa_tid < tid ||
		    (wait->wa_tid == tid && wait->wa_ran_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	wait = low == 0 ? NULL : &chains->ch_wait[low - 1];
	return (wait == NULL || wait->wa_tid != tid ? NULL : wait);
}

static bool
is_lost(const struct prof_chains *chains, uint64_t from_ns, uint64_t to_ns)
{
	const size_t n = prof_ranges_first(chains->ch_lost, chains->ch_nlost,
	    from_ns);

	return (n < chains->ch_nlost &&
	    chains->ch_lost[n].ra_from_ns < to_ns);
}

/* What ended a wait that no thread ended. */
static enum prof_chain_end
end_of(const struct wait *wait)
{
	if (strcmp(wait->wa_waker, "hardirq") == 0)
		return (PROF_CHAIN_HARDIRQ);
	if (strcmp(wait->wa_waker, "softirq") == 0)
		return (PROF_CHAIN_SOFTIRQ);
	return (strcmp(wait->wa_waker, "idle") == 0 ? PROF_CHAIN_IDLE :
	    PROF_CHAIN_UNKNOWN);
}

/*
 * The last wait of a waker in the range of all waits before it in the chain;
 * NULL: there is none, for the reason in end.
 */
static const struct wait *
wait_of(const struct prof_chains *chains, uint32_t tid,
    const struct prof_range *range, enum prof_chain_end *end)
{
	const enum prof_thread_is is = prof_outside_thread(chains->ch_outside,
	    tid);
	const struct wait *wait = wait_before(chains, tid, range->ra_to_ns);

	if (wait != NULL && wait->wa_range.ra_to_ns <= range->ra_from_ns)
		wait = NULL;
	*end = is == PROF_THREAD_OUTSIDE ? PROF_CHAIN_NOT_RECORDED :
	    is == PROF_THREAD_UNKNOWN || is_lost(chains, wait == NULL ?
	    range->ra_from_ns : wait->wa_ran_ns, range->ra_to_ns) ?
	    PROF_CHAIN_UNKNOWN : PROF_CHAIN_NO_WAIT;
	return (*end == PROF_CHAIN_NO_WAIT ? wait : NULL);
}

/* A wait of a chain, all others of which are in a range. */
static void
link_add(struct prof_chain *chain, const char *thread,
    const struct wait *wait, struct prof_range *range)
{
	struct prof_chain_link *link = &chain->ca_link[chain->ca_nlinks++];

	link->cl_thread = thread;
	if (wait == NULL)
		return;
	if (wait->wa_range.ra_from_ns > range->ra_from_ns)
		range->ra_from_ns = wait->wa_range.ra_from_ns;
	range->ra_to_ns = wait->wa_range.ra_to_ns;
	link->cl_reason = wait->wa_reason;
	link->cl_ns = range->ra_to_ns - range->ra_from_ns;
}

static void
chain_follow(const struct prof_chains *chains, const struct wait *wait,
    struct prof_chain *chain)
{
	struct prof_range range = wait->wa_range;
	const char *thread = wait->wa_comm;
	uint32_t tid;

	for (;;) {
		link_add(chain, thread, wait, &range);
		if (wait == NULL)
			return;
		tid = wait->wa_waker_tid;
		thread = wait->wa_waker;
		chain->ca_end = tid == 0 ? end_of(wait) : PROF_CHAIN_LIMIT;
		if (tid == 0 || chain->ca_nlinks == PROF_CHAIN_LINKS)
			return;
		wait = wait_of(chains, tid, &range, &chain->ca_end);
	}
}

/* Names of the same text have the same address. */
static struct prof_chain *
chain_find(struct prof_chains *chains, const struct prof_chain *like)
{
	uintptr_t key[KEY_WORDS] = { 0 };
	struct prof_chain *chain;
	bool is_new;
	uint32_t n;

	for (size_t i = 0; i < like->ca_nlinks; i++) {
		key[2 * i] = (uintptr_t)like->ca_link[i].cl_thread;
		key[2 * i + 1] = (uintptr_t)like->ca_link[i].cl_reason;
	}
	key[KEY_WORDS - 1] = (uintptr_t)like->ca_end;
	n = prof_dict_find(&chains->ch_by_links, key, sizeof(key), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (!is_new)
		return (&chains->ch_chain[n]);
	if (!prof_budget_take(&chains->ch_budget, CHAIN_BYTES))
		return (NULL);
	chain = prof_grow(&chains->ch_chain, &chains->ch_n, &chains->ch_cap,
	    sizeof(*chain));
	if (chain == NULL)
		return (NULL);
	*chain = *like;
	for (size_t i = 0; i < chain->ca_nlinks; i++)
		chain->ca_link[i].cl_ns = 0;
	return (chain);
}

static int
chain_add(struct prof_chains *chains, const struct wait *wait)
{
	struct prof_chain one = { 0 }, *chain;
	const uint64_t ns = wait->wa_range.ra_to_ns -
	    wait->wa_range.ra_from_ns;

	chain_follow(chains, wait, &one);
	chain = chain_find(chains, &one);
	if (chain == NULL)
		return (-1);
	for (size_t n = 0; n < one.ca_nlinks; n++)
		chain->ca_link[n].cl_ns += one.ca_link[n].cl_ns;
	chain->ca_ns += ns;
	chain->ca_waits++;
	if (ns > chain->ca_longest_ns)
		chain->ca_longest_ns = ns;
	return (0);
}

/* --------------------------------------------------------------- all */

static int
text_compare(const char *one, const char *two)
{
	return (strcmp(one == NULL ? "" : one, two == NULL ? "" : two));
}

static int
chain_compare(const void *a, const void *b)
{
	const struct prof_chain *one = a, *two = b;
	int order = 0;

	if (one->ca_ns != two->ca_ns)
		return (one->ca_ns > two->ca_ns ? -1 : 1);
	for (size_t n = 0; order == 0 && n < PROF_CHAIN_LINKS; n++) {
		order = text_compare(one->ca_link[n].cl_thread,
		    two->ca_link[n].cl_thread);
		if (order == 0)
			order = text_compare(one->ca_link[n].cl_reason,
			    two->ca_link[n].cl_reason);
	}
	return (order != 0 ? order : (int)one->ca_end - (int)two->ca_end);
}

/* Why waits or chains could not be added. */
static int
chains_fail(const struct prof_chains *chains, struct prof_err *error)
{
	if (!chains->ch_budget.bu_reached)
		return (prof_fail_nomem(error));
	prof_fail(error, PROF_E_LIMIT, "the recording has too many waits for "
	    "chains of wakers");
	return (prof_cure(error, "use --by reason,waker"));
}

static int
chains_fill(struct prof_chains *chains, struct prof_symbols *symbols,
    struct prof_err *error)
{
	struct prof_reader *reader = chains->ch_reader;

	chains->ch_budget = prof_budget_of(reader);
	chains->ch_event = prof_wait_event(reader);
	chains->ch_history = prof_history_new(reader, true, error);
	if (chains->ch_history == NULL ||
	    prof_wait_arguments(reader, chains->ch_event, error) == -1 ||
	    prof_select_init(&chains->ch_select, reader, symbols,
	    &chains->ch_options, error) == -1)
		return (-1);
	chains->ch_outside = prof_outside_new(reader);
	if (chains->ch_outside == NULL || lost_read(chains) == -1)
		return (prof_fail_nomem(error));
	if (prof_samples_each(reader, wait_add, chains, error) != 0)
		return (chains_fail(chains, error));
	if (prof_select_check(&chains->ch_select, error) == -1)
		return (-1);
	waits_end(chains);
	for (size_t n = 0; n < chains->ch_nwaits; n++)
		if (chains->ch_wait[n].wa_comm[0] != '\0' &&
		    chain_add(chains, &chains->ch_wait[n]) == -1)
			return (chains_fail(chains, error));
	if (chains->ch_n > 1)
		qsort(chains->ch_chain, chains->ch_n,
		    sizeof(*chains->ch_chain), chain_compare);
	return (0);
}

struct prof_chains *
prof_chains_new(struct prof_reader *reader, struct prof_symbols *symbols,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct prof_chains *chains = calloc(1, sizeof(*chains));

	if (chains == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	chains->ch_reader = reader;
	if (prof_options_take(&chains->ch_options,
	    sizeof(chains->ch_options), options, "prof_profile_options",
	    error) == 0 && chains_fill(chains, symbols, error) == 0)
		return (chains);
	prof_chains_free(chains);
	return (NULL);
}

const struct prof_chain *
prof_chains_at(const struct prof_chains *chains, size_t n)
{
	return (n < chains->ch_n ? &chains->ch_chain[n] : NULL);
}

size_t
prof_chains_n(const struct prof_chains *chains)
{
	return (chains->ch_n);
}

void
prof_chains_free(struct prof_chains *chains)
{
	if (chains == NULL)
		return;
	for (size_t n = 0; n < chains->ch_nnames; n++)
		free(chains->ch_name[n]);
	free(chains->ch_name);
	free(chains->ch_lost);
	free(chains->ch_wait);
	free(chains->ch_chain);
	prof_dict_free(&chains->ch_by_name);
	prof_dict_free(&chains->ch_by_links);
	prof_select_fini(&chains->ch_select);
	prof_history_free(chains->ch_history);
	prof_outside_free(chains->ch_outside);
	free(chains);
}
