/* SPDX-License-Identifier: ISC */
/*
 * What symbolize.c (collects), symbolize_jit.c (maps that JITs leave) and
 * symbolize_tables.c (names, at the end) share.
 *
 * A place is one number, so that a table of numbers keeps them apart and
 * sorting brings together what belongs together:
 *
 *	 63   62           44 43                                        0
 *	+---+----------------+------------------------------------------+
 *	| 0 | image          | offset in its file                       |
 *	+---+----------------+---+--------------------------------------+
 *	| 1 | number of the JIT  | address                              |
 *	+---+--------------------+--------------------------------------+
 *	 63   62               48 47                                    0
 */
#ifndef PROF_SYMBOLIZE_IMPL_H
#define PROF_SYMBOLIZE_IMPL_H

#include "image/images.h"
#include "symbolize.h"

#define HITS_OFFSET_BITS	44
#define HITS_ADDRESS_BITS	48
#define HITS_JIT		(1ULL << 63)
#define HITS_MAX_IMAGES		(1u << 17)
#define HITS_MANY_IMAGES	(1u << 16) /* then some are forgotten */
#define HITS_MAX_JITS		1024u

/* Distinct numbers, in the order in which they came. */
struct hits_set {
	struct prof_map	 hs_map;
	uint64_t	*hs_key;
	uint32_t	 hs_n;
	uint32_t	 hs_cap;
};

/* A life of a process in which code was met that no file is behind. */
struct hits_jit {
	uint32_t	 hj_pid;
	uint32_t	 hj_inner_pid;	/* as the process itself sees it */
	uint32_t	 hj_uid;
	uint64_t	 hj_since_ns;	/* of the life; tells lives apart */
	uint64_t	 hj_time_ns;	/* of a hit */
	uint64_t	 hj_born_ns;	/* CLOCK_REALTIME: no map is older */
	int		 hj_tmp;	/* what it has as /tmp, or -1: ended */
	int		 hj_map;	/* the map, once it has ended, or -1 */
	uint64_t	 hj_changed_ns;	/* the map last, when it ended */
};

struct prof_hits {
	unsigned	 ht_mode;
	struct prof_processes *ht_processes;
	struct prof_images ht_images;
	uint32_t	 ht_many_images; /* then those that can go */
	uint64_t	 ht_realtime_ns; /* CLOCK_REALTIME is ahead by this */
	uint64_t	*ht_filter;	/* what was met, by hash; lossy */
	uint32_t	*ht_epoch;	/* by hash of a pid */
	struct life	*ht_life;	/* of this round */
	size_t		 ht_nlives;
	size_t		 ht_life_cap;
	struct hit	*ht_hit;	/* of this round, by time */
	size_t		 ht_nhits;
	size_t		 ht_hit_cap;
	uint64_t	*ht_pc;		/* those of hits */
	size_t		 ht_npcs;
	size_t		 ht_pc_cap;
	struct hits_set	 ht_places;
	struct hits_set	 ht_kernel;
	uint64_t	 ht_dropped;
	prof_hits_ask_fn *ht_ask;	/* NULL: /proc/kallsyms is read */
	void		*ht_ask_arg;
	/* files that are kept open, by image: descriptor + 1, 0: none */
	int		*ht_held;
	bool		*ht_used;	/* since it was last looked at */
	uint32_t	 ht_held_cap;
	uint32_t	 ht_nheld;
	uint32_t	 ht_max_held;
	uint32_t	 ht_hand;	/* which to look at next */
	struct hits_jit	*ht_jit;
	uint32_t	 ht_njits;
	uint32_t	 ht_nalive;	/* of those */
};

/* --------------------------------------------------- symbolize.c */
bool	prof_hits_set_add(struct hits_set *set, uint64_t key);

/* -------------------------------------------- symbolize_images.c */
/* Those that no sample met and nobody maps.  -1: no memory. */
int	prof_hits_forget_images(struct prof_hits *hits);

/* ----------------------------------------------- symbolize_jit.c */
/* The number of a process's life; UINT32_MAX: there are too many. */
uint32_t prof_hits_jit(struct prof_hits *hits, uint32_t pid,
	    uint64_t since_ns, uint64_t time_ns);
/* A process ends, or becomes another program. */
void	prof_hits_jit_end(struct prof_hits *hits, uint32_t pid);
/* The map of a JIT that may be believed, open; -1: there is none. */
int	prof_hits_jit_map(const struct hits_jit *jit);
void	prof_hits_jit_free(struct prof_hits *hits);

#endif /* PROF_SYMBOLIZE_IMPL_H */
