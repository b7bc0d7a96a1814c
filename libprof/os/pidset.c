/* SPDX-License-Identifier: ISC */
/*
 * A set of processes or threads by number.  Called by whoever keeps targets.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pidset.h"
#include "procfs.h"

static size_t
pidset_place(const struct prof_pidset *set, uint32_t pid)
{
	size_t at = (pid * 2654435761u) & (set->pt_cap - 1);

	while (set->pt_slot[at] != 0 && set->pt_slot[at] != pid)
		at = (at + 1) & (set->pt_cap - 1);
	return (at);
}

bool
prof_pidset_has(const struct prof_pidset *set, uint32_t pid)
{
	return (set->pt_cap != 0 &&
	    set->pt_slot[pidset_place(set, pid)] == pid);
}

int
prof_pidset_add(struct prof_pidset *set, uint32_t pid)
{
	struct prof_pidset grown = *set;
	size_t n;

	if (pid == 0 || prof_pidset_has(set, pid))
		return (0);
	if ((set->pt_n + 1) * 2 > set->pt_cap) {
		grown.pt_cap = set->pt_cap == 0 ? 64 : set->pt_cap * 2;
		grown.pt_slot = calloc(grown.pt_cap, sizeof(*grown.pt_slot));
		if (grown.pt_slot == NULL)
			return (-1);
		for (n = 0; n < set->pt_cap; n++)
			if (set->pt_slot[n] != 0)
				grown.pt_slot[pidset_place(&grown,
				    set->pt_slot[n])] = set->pt_slot[n];
		free(set->pt_slot);
		*set = grown;
	}
	set->pt_slot[pidset_place(set, pid)] = pid;
	set->pt_n++;
	return (0);
}

/* Those behind it in the table move up. */
void
prof_pidset_remove(struct prof_pidset *set, uint32_t pid)
{
	const size_t mask = set->pt_cap - 1;
	uint32_t moved;
	size_t at;

	if (pid == 0 || !prof_pidset_has(set, pid))
		return;
	at = pidset_place(set, pid);
	set->pt_slot[at] = 0;
	set->pt_n--;
	for (at = (at + 1) & mask; set->pt_slot[at] != 0;
	    at = (at + 1) & mask) {
		moved = set->pt_slot[at];
		set->pt_slot[at] = 0;
		set->pt_slot[pidset_place(set, moved)] = moved;
	}
}

void
prof_pidset_fini(struct prof_pidset *set)
{
	free(set->pt_slot);
	memset(set, 0, sizeof(*set));
}

uint32_t
prof_group_of(int tid)
{
	char path[64], line[128];
	unsigned tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if ((file = fopen(path, "re")) == NULL)
		return (0);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Tgid: %u", &tgid) == 1)
			break;
	fclose(file);
	return (tgid);
}

int
prof_pidset_add_threads(void *set, int pid)
{
	struct dirent *entry;
	char path[64];
	int rv = 0, tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if ((dir = opendir(path)) == NULL)
		return (0);
	while (rv == 0 && (entry = readdir(dir)) != NULL)
		if ((tid = prof_proc_pid(entry->d_name)) != -1)
			rv = prof_pidset_add(set, (uint32_t)tid);
	closedir(dir);
	return (rv);
}
