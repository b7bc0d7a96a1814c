/* SPDX-License-Identifier: ISC */
/*
 * How processes and their mappings are kept: lives.c fills them, lives_ask.c
 * answers.  See lives.c for how they hang together.
 */
#ifndef LIVES_IMPL_H
#define LIVES_IMPL_H

#include "lives.h"

struct version {
	struct prof_mapping *ve_map;	/* by address; they do not overlap */
	uint32_t	 ve_n;
	uint32_t	 ve_cap;
	uint32_t	 ve_users;	/* more than one: never changed again */
	bool		 ve_has_anon;
	uint32_t	 ve_numbering;	/* of images: lv_numbering */
	uint64_t	 ve_over_ns;	/* about when it last lost mappings */
};

struct space {
	struct version	*sp_version;
	uint32_t	 sp_life;
};

struct epoch {
	uint64_t	 ep_time_ns;
	struct version	*ep_version;
	uint32_t	 ep_space;	/* PROF_LIVES_NOW: none */
	uint32_t	 ep_life;
};

struct process {
	struct process	*po_next;
	uint32_t	 po_pid;
	bool		 po_dead;
	uint64_t	 po_named_ns;	/* its name; UINT64_MAX: none since */
					/* the exec */
	uint64_t	 po_since_ns;	/* of this life */
	struct epoch	*po_epoch;
	uint32_t	 po_n;
	uint32_t	 po_cap;
};

struct prof_lives {
	unsigned	 lv_mode;
	struct process	**lv_bucket;
	size_t		 lv_nbuckets;	/* a power of two */
	size_t		 lv_nprocesses;
	struct space	*lv_space;
	uint32_t	 lv_nspaces;
	uint32_t	 lv_cap;
	uint32_t	 lv_nlives;
	size_t		 lv_nmappings;
	uint32_t	 lv_numbering;	/* so often images got new numbers */
	size_t		 lv_most;	/* of them */
	uint64_t	 lv_over;	/* that had no room */
	uint64_t	 lv_moves;	/* of mappings, still allowed */
	uint64_t	 lv_now_ns;	/* of the record that is taken */
};

static inline struct process **
prof_lives_bucket(const struct prof_lives *lives, uint32_t pid)
{
	return (&lives->lv_bucket[(pid * 2654435769u >> 8) &
	    (lives->lv_nbuckets - 1)]);
}

static inline struct epoch *
prof_lives_last(const struct process *process)
{
	return (process->po_n == 0 ? NULL :
	    &process->po_epoch[process->po_n - 1]);
}

/* ---------------------------------------------------------- lives_ask.c */
struct process *prof_lives_find(const struct prof_lives *lives, uint32_t pid);
/* The first mapping of a version that ends behind an address. */
uint32_t prof_version_search(const struct version *version, uint64_t address);

#endif /* LIVES_IMPL_H */
