/* SPDX-License-Identifier: ISC */
/*
 * The model of processes and their executable mappings in time.
 *
 * Fed with process and mapping events, which may come late and in any order:
 * what is known depends on their times alone.  It is read in three ways:
 *
 *	unwinding	a mapping at a time		prof_processes_at
 *	publishing	what a process has mapped last	prof_processes_next
 *	symbols		spaces: same number, same mappings
 *							prof_processes_space
 *
 * There is no event of munmap: a mapping goes when another takes its place,
 * when the list is read again, and with its process.  Where nothing else was
 * mapped, a mapping holds for earlier times, too: nothing can have been
 * executed there.
 *
 * A mapping is certain, unless events were lost since it became known, or it
 * was read from /proc and the time lies before the end of that reading: then
 * it is the likeliest one.
 *
 * Images are numbers here: the users know what they stand for.  0 is
 * PROF_IMAGE_ANON, the last one is the model's own.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "image/images.h"

#define PROF_SPACE_NONE	0	/* nothing is known of the process */
#define PROF_SPACE_OVER	UINT32_MAX /* beyond a memory budget: not known */

struct prof_mapping {
	uint64_t	mp_start;
	uint64_t	mp_end;
	uint64_t	mp_offset;	/* in its file, of mp_start */
	uint64_t	mp_since_ns;
	uint32_t	mp_image;
	bool		mp_is_certain;
};

enum prof_processes_mode {
	PROF_PROCESSES_ALL = 0,
	PROF_PROCESSES_NOW = 1,	/* may forget, see prof_processes_forget */
	PROF_PROCESSES_PERF = 2	/* in perf's order: EXEC before its mappings */
};

/* Mappings of what is recorded now, and of a recording of so many bytes. */
#define PROF_PROCESSES_MOST_NOW	(1u << 20)
size_t	prof_processes_most(uint64_t length);

struct prof_processes;

/* mode: enum prof_processes_mode, ored; most: mappings.  Owned by caller. */
struct prof_processes *prof_processes_new(unsigned mode, size_t most);
void	prof_processes_free(struct prof_processes *processes);
/*
 * An event; image: of an MMAP.  Records that do not concern mappings are
 * ignored.  -1: no memory.
 */
int	prof_processes_take(struct prof_processes *processes,
	    const struct prof_record *record, uint32_t image);
/*
 * A list of mappings was read: what the process had mapped ends at that time.
 * The mappings follow, each with this time and the one when it had been read,
 * from which on it is certain.
 */
int	prof_processes_renew(struct prof_processes *processes, uint32_t pid,
	    uint64_t time_ns);
int	prof_processes_read(struct prof_processes *processes,
	    const struct prof_record *record, uint32_t image,
	    uint64_t read_ns);
/* Events of any process were lost between two times. */
void	prof_processes_lost(struct prof_processes *processes,
	    uint64_t from_ns, uint64_t to_ns);
/*
 * Only PROF_PROCESSES_NOW: nobody asks for earlier times any more, and events
 * of earlier times are ignored.
 */
void	prof_processes_forget(struct prof_processes *processes,
	    uint64_t before_ns);
/*
 * Only PROF_PROCESSES_NOW: set the number of each image that somebody has
 * mapped, or (is_new) give them these numbers.
 */
void	prof_processes_images(struct prof_processes *processes,
	    uint32_t *number, bool is_new);
/* Mappings of processes that were left out for want of room. */
uint64_t prof_processes_over(const struct prof_processes *processes);

/* ---------------------------------------------------- what is mapped */

/* false: nothing is. */
bool	prof_processes_at(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns, uint64_t pc,
	    struct prof_mapping *mapping);
/*
 * The first mapping that ends behind an address; false: there is none.  Where
 * the time is UINT64_MAX: of what is mapped last.
 */
bool	prof_processes_next(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns, uint64_t address,
	    struct prof_mapping *mapping);
/* Is something known of it, but not its end? */
bool	prof_processes_is_alive(const struct prof_processes *processes,
	    uint32_t pid);
/* Calls each for every such process, while it returns 0; what it returned. */
int	prof_processes_alive(const struct prof_processes *processes,
	    int (*each)(void *arg, uint32_t pid), void *arg);
/* When the process began, by fork or exec; 0: it is not known. */
uint64_t prof_processes_since(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns);
/*
 * Only PROF_PROCESSES_NOW: same version, same mappings, also of another
 * process.  0: nothing is known of the process.
 */
uint64_t prof_processes_version(struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns);

/* ------------------------------------------------------------ spaces */

/*
 * Only PROF_PROCESSES_ALL, when nothing more is taken: from now on there are
 * spaces, and asking changes nothing.  -1: no memory.
 */
int	prof_processes_seal(struct prof_processes *processes);
uint32_t prof_processes_space(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns);
/* The same; what is from and to narrows to while it stays that. */
uint32_t prof_processes_space_while(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns, uint64_t *from_ns,
	    uint64_t *to_ns);
bool	prof_processes_mapping(const struct prof_processes *processes,
	    uint32_t space, uint64_t pc, struct prof_mapping *mapping);
/*
 * The last mapping of a file that begins at or below an address, which need
 * not be in it.
 */
bool	prof_processes_below(const struct prof_processes *processes,
	    uint32_t space, uint64_t address, struct prof_mapping *mapping);
/* Is it a space that lost mappings for want of room? */
bool	prof_processes_is_over(const struct prof_processes *processes,
	    uint32_t space);
/*
 * The memory of a process that a space belongs to: from fork or exec to the
 * next, numbered from 1.  Spaces without anonymous mappings may be shared by
 * parent and child, and have the parent's.
 */
uint32_t prof_processes_memory(const struct prof_processes *processes,
	    uint32_t space);
/* 0: nothing is known of the process at that time. */
uint32_t prof_processes_memory_at(const struct prof_processes *processes,
	    uint32_t pid, uint64_t time_ns);

#endif /* PROCESSES_H */
