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

#define NOTED_OFFSET_BITS	44
#define NOTED_ADDRESS_BITS	48
#define NOTED_JIT		(1ULL << 63)
#define NOTED_MAX_IMAGES	(1u << 17)
#define NOTED_MANY_IMAGES	(1u << 16) /* then some are forgotten */
#define NOTED_MAX_JITS		1024u
#define NOTED_MAX_DUMPS		64u

/* Distinct numbers, in the order in which they came. */
struct noted_set {
	struct prof_map	 ns_map;
	uint64_t	*ns_key;
	uint32_t	 ns_n;
	size_t		 ns_cap;
};

/*
 * A process, from its exec or fork to its end or next exec, in which samples
 * met code that is in no file.
 */
struct noted_jit {
	uint32_t	 nj_pid;
	uint32_t	 nj_inner_pid;	/* as the process itself sees it */
	uint32_t	 nj_uid;
	uint64_t	 nj_since_ns;	/* when it began; tells pids apart */
	uint64_t	 nj_time_ns;	/* of a sample */
	uint64_t	 nj_born_ns;	/* CLOCK_REALTIME: no map is older */
	int		 nj_tmp;	/* what it has as /tmp, or -1: ended */
	int		 nj_map;	/* map or dump once it ended, or -1 */
	uint64_t	 nj_changed_ns;	/* that last, when it ended */
};

/* A file named jit-*.dump that a process maps. */
struct noted_dump {
	uint32_t	 nd_pid;
	int		 nd_fd;
	uint64_t	 nd_first_ns;	/* when it was told of, and last */
	uint64_t	 nd_last_ns;
};

struct prof_noted {
	unsigned	 nt_mode;
	struct prof_processes *nt_processes;
	struct prof_images nt_images;
	uint32_t	 nt_many_images; /* then those that can go */
	uint64_t	 nt_realtime_ns; /* CLOCK_REALTIME is ahead by this */
	uint64_t	 nt_newest_ns;	/* of all that is handed over */
	uint64_t	*nt_filter;	/* what was met, by hash; lossy */
	uint32_t	*nt_epoch;	/* by hash of a pid */
	struct change	*nt_change;	/* of this round */
	size_t		 nt_nchanges;
	size_t		 nt_change_cap;
	struct noted_entry *nt_entry;	/* of this round, by time */
	size_t		 nt_nentries;
	size_t		 nt_entry_cap;
	uint64_t	*nt_pc;		/* those of entries */
	size_t		 nt_npcs;
	size_t		 nt_pc_cap;
	struct noted_set nt_places;
	struct noted_set nt_kernel;
	uint64_t	 nt_dropped;
	prof_noted_ask_fn *nt_ask;	/* NULL: /proc/kallsyms is read */
	void		*nt_ask_arg;
	/* files that are kept open, by image: descriptor + 1, 0: none */
	int		*nt_held;
	bool		*nt_used;	/* since it was last looked at */
	uint32_t	 nt_held_cap;
	uint32_t	 nt_nheld;
	uint32_t	 nt_max_held;
	uint32_t	 nt_hand;	/* which to look at next */
	struct noted_jit *nt_jit;
	uint32_t	 nt_njits;
	uint32_t	 nt_nalive;	/* of those */
	struct noted_dump nt_dump[NOTED_MAX_DUMPS];
	uint32_t	 nt_ndumps;
	uint64_t	 nt_dumps_over;	/* there was no room for */
};

/* --------------------------------------------------- symbolize.c */
bool	prof_noted_set_add(struct noted_set *set, uint64_t key);
void	prof_noted_set_free(struct noted_set *set);

/* -------------------------------------------- symbolize_images.c */
/* Those that no sample met and nobody maps.  -1: no memory. */
int	prof_noted_forget_images(struct prof_noted *noted);

/* ----------------------------------------------- symbolize_jit.c */
/* The number of a process's change; UINT32_MAX: there are too many. */
uint32_t prof_noted_jit(struct prof_noted *noted, uint32_t pid,
	    uint64_t since_ns, uint64_t time_ns);
/* A process ends, or becomes another program. */
void	prof_noted_jit_end(struct prof_noted *noted, uint32_t pid,
	    uint64_t time_ns);
/* The map or dump of a JIT that may be believed, open; -1: there is none. */
int	prof_noted_jit_map(const struct prof_noted *noted,
	    const struct noted_jit *jit);
/* A mapping: keep the file if it is a dump. */
void	prof_noted_jit_dump(struct prof_noted *noted,
	    const struct prof_record *mapping);
void	prof_noted_jit_free(struct prof_noted *noted);

#endif /* PROF_SYMBOLIZE_IMPL_H */
