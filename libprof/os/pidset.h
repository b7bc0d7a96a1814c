/* SPDX-License-Identifier: ISC */
/*
 * Sets of processes or threads, and the process of a thread.
 */
#ifndef PROF_PIDSET_H
#define PROF_PIDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_pidset {
	uint32_t	*pt_slot;
	size_t		 pt_n;
	size_t		 pt_cap;	/* power of two */
};

bool	prof_pidset_has(const struct prof_pidset *set, uint32_t pid);
int	prof_pidset_add(struct prof_pidset *set, uint32_t pid);
/* All threads that a process has now, as a visit of prof_procfs_family. */
int	prof_pidset_add_threads(void *set, int pid);
void	prof_pidset_remove(struct prof_pidset *set, uint32_t pid);
void	prof_pidset_fini(struct prof_pidset *set);
/* The thread group of a thread, from /proc; 0: it has gone. */
uint32_t prof_group_of(int tid);

#endif /* PROF_PIDSET_H */
