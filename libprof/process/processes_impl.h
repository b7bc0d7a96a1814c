/* SPDX-License-Identifier: ISC */
/*
 * How the model keeps processes: processes.c takes events, memory.c keeps the
 * mappings of one memory, processes_forget.c lets go of them, processes_ask.c
 * answers, spaces.c numbers what was mapped.
 *
 *	process --> memory --> memory --> ...		by time
 *	             | fork, exec or the first that is heard of it
 *	             v
 *	            range, range, ...			by address
 *	             |
 *	             v
 *	            entry, entry, ...			by time: what is there
 *
 * A memory of a child has only what the child mapped itself; for all else it
 * refers to its parent at the time of the fork.  So a fork costs nothing, and
 * what is heard of the parent later holds for the child.
 *
 * An entry holds until the next one of its range.  What is known is the set of
 * entries, and does not depend on the order in which they came: so late
 * events need nothing special.  A mapping that covers a part of a range splits
 * it, and both parts keep what was there before.
 */
#ifndef PROCESSES_IMPL_H
#define PROCESSES_IMPL_H

#include "processes.h"

#define IMAGE_HOLE	UINT32_MAX	/* nothing is mapped */
#define NEVER		UINT64_MAX
#define LOSSES		64
#define NAMES		4
/*
 * So many forks without an exec refer to each other; the next one copies, and
 * what comes late for its ancestors does not reach it.
 */
#define MAX_DEPTH	32

struct entry {
	uint64_t	 en_delta;	/* from offsets to addresses */
	uint64_t	 en_since_ns;
	uint64_t	 en_again_ns;	/* the same was mapped last */
	uint32_t	 en_image;
	uint32_t	 en_unsure_ns;	/* certain after so long; MAX: never */
};

struct range {
	uint64_t	 ra_start;
	uint64_t	 ra_end;
	struct entry	 ra_last;
	struct entry	*ra_older;	/* by time */
	uint32_t	 ra_nolder;
	uint32_t	 ra_cap;
};

/* Within a memory its mappings conflict with none before, from a time on. */
struct epoch {
	uint64_t	 ep_time_ns;
	uint32_t	 ep_space;
};

struct memory {
	struct process	*me_parent;	/* NULL: it began empty */
	uint64_t	 me_cut_ns;	/* nothing of the parent's since */
	uint64_t	 me_from_ns;	/* mappings of this time are its */
	uint64_t	 me_begin_ns;	/* it runs; after an exec's mappings */
	uint64_t	 me_exit_ns;	/* NEVER: not yet */
	uint64_t	 me_over_ns;	/* about when it lost mappings; 0 */
	/*
	 * A gap buffer, by address, without overlaps: the next range is
	 * mostly inserted next to the last one.
	 */
	struct range	*me_range;
	uint32_t	 me_n;
	uint32_t	 me_gap;	/* where the unused places begin */
	uint32_t	 me_cap;
	uint32_t	 me_number;
	uint16_t	 me_wait;	/* insertions until ranges may join */
	uint8_t		 me_depth;
	bool		 me_is_exec : 1;
	bool		 me_is_implicit : 1; /* begins with what came first */
	bool		 me_has_anon : 1;
	union {
		struct {	/* PROF_PROCESSES_ALL, sealed */
			struct epoch	*me_epoch;
			uint32_t	 me_nepochs;
			uint32_t	 me_space;	/* when it begins */
		};
		struct {	/* PROF_PROCESSES_NOW */
			uint64_t	 me_version;
			uint64_t	 me_changed_ns;
		};
	};
};

struct process {
	struct process	*po_next;
	struct process	*po_next_watched;
	struct memory	*po_memory;	/* by time */
	uint32_t	 po_n;
	uint32_t	 po_cap;
	uint32_t	 po_pid;
	uint32_t	 po_children;	/* memories that refer to it */
	bool		 po_is_watched;	/* in the list */
	uint64_t	 po_named_ns[NAMES];	/* latest first; 0: none */
};

struct space {
	const struct memory *sp_memory;
	uint64_t	 sp_time_ns;
};

struct loss {
	uint64_t	 ls_from_ns;
	uint64_t	 ls_to_ns;
};

struct prof_processes {
	unsigned	 ps_mode;
	struct process	**ps_bucket;
	size_t		 ps_nbuckets;	/* a power of two */
	size_t		 ps_nprocesses;
	struct process	*ps_watched;	/* have something to be forgotten */
	uint64_t	 ps_forked_ns;	/* the last fork */
	size_t		 ps_nentries;	/* room for them ... */
	size_t		 ps_most;	/* ... and how much it may be */
	uint64_t	 ps_over;	/* mappings that had no room */
	uint64_t	 ps_moves;	/* of ranges and entries, allowed */
	uint64_t	 ps_newest_ns;	/* of all events */
	uint64_t	 ps_forget_ns;
	uint64_t	 ps_version;
	uint64_t	 ps_era;	/* versions before it count no more */
	uint32_t	 ps_nmemories;
	uint32_t	 ps_nspaces;
	uint32_t	 ps_nlosses;
	struct space	*ps_space;	/* 0 is PROF_SPACE_NONE */
	struct loss	 ps_loss[LOSSES];
};

static inline struct process **
prof_processes_bucket(const struct prof_processes *ps, uint32_t pid)
{
	return (&ps->ps_bucket[(pid * 2654435769u >> 8) &
	    (ps->ps_nbuckets - 1)]);
}

/* One loss instead of both, with the time in between. */
static inline void
prof_loss_join(struct loss *loss, const struct loss *other)
{
	if (other->ls_from_ns < loss->ls_from_ns)
		loss->ls_from_ns = other->ls_from_ns;
	if (other->ls_to_ns > loss->ls_to_ns)
		loss->ls_to_ns = other->ls_to_ns;
}

static inline struct entry *
prof_range_oldest(struct range *range)
{
	return (range->ra_nolder == 0 ? &range->ra_last : range->ra_older);
}

static inline struct range *
prof_memory_range(const struct memory *memory, uint32_t n)
{
	return (&memory->me_range[n < memory->me_gap ? n :
	    n + memory->me_cap - memory->me_n]);
}

/* -------------------------------------------------------------- memory.c */
/* The first range that ends behind an address. */
uint32_t prof_memory_search(const struct memory *memory, uint64_t address);
/* What is there at a time; NULL: no entry is that old. */
const struct entry *prof_range_at(const struct range *range,
	    uint64_t time_ns);
/* -1: no room; the memory has lost its mappings, and says so. */
int	prof_memory_insert(struct prof_processes *ps, struct memory *memory,
	    uint64_t start, uint64_t end, const struct entry *entry);
/* Nothing is mapped from a time on. */
void	prof_memory_clear(struct prof_processes *ps, struct memory *memory,
	    uint64_t time_ns);
/* What was mapped since a time passes from one to the other, or is of both. */
void	prof_memory_move(struct prof_processes *ps, struct memory *from,
	    struct memory *to, uint64_t since_ns, bool is_copy);
/* Over the limit nothing has a name: what is there may be covered. */
void	prof_memory_over(struct prof_processes *ps, struct memory *memory);
void	prof_memory_free(struct prof_processes *ps, struct memory *memory);
/* Drop what ended before anybody may ask for. */
void	prof_memory_trim(struct prof_processes *ps, struct memory *memory);

/* --------------------------------------------------- processes_forget.c */
/* It has something that ended, or something of its parent. */
void	prof_process_watch(struct prof_processes *ps, struct process *process);
/* A child gets a copy of what it has of its parent. */
void	prof_memory_copy(struct prof_processes *ps, struct memory *memory);

/* ------------------------------------------------------ processes_ask.c */
struct process *prof_processes_find(const struct prof_processes *ps,
	    uint32_t pid);
/* Were events lost that may have changed what is known of a time? */
bool	prof_processes_lost_in(const struct prof_processes *ps,
	    uint64_t since_ns, uint64_t time_ns);
/* The memory at a time; NULL: none is that old, or no process. */
struct memory *prof_process_at(const struct process *process,
	    uint64_t time_ns);
/* Of whom it has what it did not map itself; time_ns becomes the fork's. */
struct memory *prof_memory_parent(const struct memory *memory,
	    uint64_t *time_ns);
bool	prof_memory_find(const struct prof_processes *ps,
	    const struct memory *memory, uint64_t time_ns, uint64_t pc,
	    struct prof_mapping *mapping);
bool	prof_memory_next(const struct prof_processes *ps,
	    const struct memory *memory, uint64_t time_ns, uint64_t address,
	    struct prof_mapping *mapping);

#endif /* PROCESSES_IMPL_H */
