/* SPDX-License-Identifier: ISC */
/*
 * What lives.c keeps is asked here: which mappings a process had at a time,
 * and which of them holds an address.  Asking changes nothing, so many threads
 * may ask at once.
 */
#include "lives_impl.h"

struct process *
prof_lives_find(const struct prof_lives *lives, uint32_t pid)
{
	struct process *process = *prof_lives_bucket(lives, pid);

	while (process != NULL && process->po_pid != pid)
		process = process->po_next;
	return (process);
}

uint32_t
prof_version_search(const struct version *version, uint64_t address)
{
	uint32_t low = 0, high = version->ve_n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (version->ve_map[middle].mp_end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/* NULL: it has none yet; a process may be NULL, too. */
static const struct epoch *
epoch_at(const struct process *process, uint64_t time_ns)
{
	uint32_t low = 0, high, middle;

	if (process == NULL)
		return (NULL);
	high = process->po_n;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (process->po_epoch[middle].ep_time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (low == 0 ? NULL : &process->po_epoch[low - 1]);
}

uint32_t
prof_lives_space(const struct prof_lives *lives, uint32_t pid,
    uint64_t time_ns)
{
	const struct epoch *epoch = epoch_at(prof_lives_find(lives, pid),
	    time_ns);

	return (epoch == NULL ? PROF_SPACE_NONE : epoch->ep_space);
}

uint32_t
prof_lives_space_while(const struct prof_lives *lives, uint32_t pid,
    uint64_t time_ns, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct process *process = prof_lives_find(lives, pid);
	const struct epoch *epoch = epoch_at(process, time_ns), *next;

	if (process == NULL || process->po_n == 0)
		return (PROF_SPACE_NONE);
	next = epoch == NULL ? process->po_epoch : epoch + 1;
	if (next < process->po_epoch + process->po_n &&
	    next->ep_time_ns < *to_ns)
		*to_ns = next->ep_time_ns;
	if (epoch == NULL)
		return (PROF_SPACE_NONE);
	if (epoch->ep_time_ns > *from_ns)
		*from_ns = epoch->ep_time_ns;
	return (epoch->ep_space);
}

uint64_t
prof_lives_over(const struct prof_lives *lives)
{
	return (lives->lv_over);
}

bool
prof_lives_is_over(const struct prof_lives *lives, uint32_t space)
{
	return (space < lives->lv_nspaces &&
	    lives->lv_space[space].sp_version != NULL &&
	    lives->lv_space[space].sp_version->ve_over_ns != 0);
}

uint32_t
prof_lives_life_at(const struct prof_lives *lives, uint32_t pid,
    uint64_t time_ns)
{
	const struct epoch *epoch = epoch_at(prof_lives_find(lives, pid),
	    time_ns);

	return (epoch == NULL ? 0 : epoch->ep_life);
}

uint32_t
prof_lives_life(const struct prof_lives *lives, uint32_t space)
{
	return (space < lives->lv_nspaces ?
	    lives->lv_space[space].sp_life : 0);
}

static const struct prof_mapping *
mapping_at(const struct version *version, uint64_t pc)
{
	uint32_t n;

	if (version == NULL)
		return (NULL);
	n = prof_version_search(version, pc);
	if (n == version->ve_n || version->ve_map[n].mp_start > pc)
		return (NULL);
	return (&version->ve_map[n]);
}

const struct prof_mapping *
prof_lives_mapping(const struct prof_lives *lives, uint32_t space,
    uint64_t pc)
{
	return (space >= lives->lv_nspaces ? NULL :
	    mapping_at(lives->lv_space[space].sp_version, pc));
}

const struct prof_mapping *
prof_lives_now(const struct prof_lives *lives, uint32_t pid, uint64_t pc,
    uint64_t *life_since_ns)
{
	const struct process *process = prof_lives_find(lives, pid);

	if (process == NULL || process->po_n == 0)
		return (NULL);
	*life_since_ns = process->po_since_ns;
	return (mapping_at(prof_lives_last(process)->ep_version, pc));
}
