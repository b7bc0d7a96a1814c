/* SPDX-License-Identifier: ISC */
/*
 * What the files that feed the walk in the kernel share: unwind.c (processes
 * and their mappings), unwind_modules.c (tables, a thread that makes them),
 * unwind_memory.c (slabs and where things lie in them).
 */
#ifndef UNWIND_IMPL_H
#define UNWIND_IMPL_H

#include <pthread.h>

#include "dtp_unwind.h"
#include "prof_impl.h"
#include "model/unwind_table.h"

/* ---------------------------------------------------- unwind_memory.c */

/* A run of words in a slab. */
struct prof_words {
	uint32_t	wd_slab;
	uint32_t	wd_at;
	uint32_t	wd_n;
};

/*
 * The tables that programs read, mapped.  Words that are given back rest for
 * a second, since a walk may still be reading them.
 */
struct prof_unwind_memory {
	int		 um_slabs_fd;	/* array of maps */
	int		 um_slab_fd[DTP_UW_SLABS];
	uint32_t	*um_slab[DTP_UW_SLABS];
	uint32_t	 um_used[DTP_UW_SLABS];	/* words */
	uint32_t	 um_nslabs;
	uint32_t	 um_max_slabs;
	struct dtp_uw_proc *um_procs;
	struct dtp_uw_module *um_modules;
	struct dtp_uw_entry *um_entries;
	uint32_t	 um_nentries;
	uint64_t	*um_cache;
	size_t		 um_cache_bytes;
	struct rested	*um_rested[32];	/* by power of two */
};

/* Descriptors in the order procs, modules, entries, slabs, cache. */
int	prof_unwind_memory_init(struct prof_unwind_memory *memory,
	    const int fds[5], size_t ncpus, uint64_t max_bytes,
	    struct prof_err *error);
void	prof_unwind_memory_fini(struct prof_unwind_memory *memory);
/* -1: the limit is reached. */
int	prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
	    struct prof_words *words);
void	prof_words_put(struct prof_unwind_memory *memory,
	    const struct prof_words *words);
uint32_t *prof_words_at(const struct prof_unwind_memory *memory,
	    const struct prof_words *words);

/* --------------------------------------------------- unwind_modules.c */

struct prof_unwind_modules;
struct prof_unwind_modules *prof_unwind_modules_new(
	    struct prof_unwind_memory *memory);
void	prof_unwind_modules_free(struct prof_unwind_modules *modules);
/*
 * The module of a mapping, made and queued when it is new; 0: one without a
 * table.  The bias takes an address in memory to one in the file.
 */
uint32_t prof_unwind_modules_get(struct prof_unwind_modules *modules,
	    const struct prof_record *mapping, uint64_t *bias);
/* Hand tables that are ready to the programs. */
void	prof_unwind_modules_publish(struct prof_unwind_modules *modules);
/* Nothing is queued, nothing waits to be published. */
bool	prof_unwind_modules_idle(struct prof_unwind_modules *modules);

#endif /* UNWIND_IMPL_H */
