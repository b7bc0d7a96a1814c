/* SPDX-License-Identifier: ISC */
/*
 * Processes and their executable mappings in time.
 *
 * Fed with the records of lives and mappings in order of time; says which
 * mappings a process had at a time, as the number of a "space": same number,
 * same mappings.  The reader's side keeps everything that ever was; the
 * recorder's side only what is.  Images are numbers here, see images.h.
 */
#ifndef LIVES_H
#define LIVES_H

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
};

enum prof_lives_mode {
	PROF_LIVES_ALL = 0,
	PROF_LIVES_NOW = 1,	/* forget what has passed */
	PROF_LIVES_PERF = 2	/* in perf's order: EXEC before its mappings */
};

/* Mappings of what is recorded now, and of a recording of so many bytes. */
#define PROF_LIVES_MOST_NOW	(1u << 20)
size_t	prof_lives_most(uint64_t length);

struct prof_lives;

/* mode: enum prof_lives_mode, ored; most: mappings.  Owned by caller. */
struct prof_lives *prof_lives_new(unsigned mode, size_t most);
void	prof_lives_free(struct prof_lives *lives);
/*
 * In order of time; image: of an MMAP.  Records that do not concern mappings
 * are passed over.  -1: no memory.
 */
int	prof_lives_take(struct prof_lives *lives,
	    const struct prof_record *record, uint32_t image);
uint32_t prof_lives_space(const struct prof_lives *lives, uint32_t pid,
	    uint64_t time_ns);
/* The same; what is from and to narrows to while it stays that. */
uint32_t prof_lives_space_while(const struct prof_lives *lives,
	    uint32_t pid, uint64_t time_ns, uint64_t *from_ns,
	    uint64_t *to_ns);
/* Mappings of processes that were left out for want of room. */
uint64_t prof_lives_over(const struct prof_lives *lives);
/* Is it a space that lost mappings so? */
bool	prof_lives_is_over(const struct prof_lives *lives, uint32_t space);
/* Borrowed until the next take; NULL: nothing is mapped there. */
const struct prof_mapping *prof_lives_mapping(const struct prof_lives *lives,
	    uint32_t space, uint64_t pc);
/*
 * The life of a process that a space belongs to: from fork or exec to the
 * next, numbered from 1.  Spaces without anonymous memory may be shared by
 * parent and child, and have the parent's.
 */
uint32_t prof_lives_life(const struct prof_lives *lives, uint32_t space);
/* 0: nothing is known of the process at that time. */
uint32_t prof_lives_life_at(const struct prof_lives *lives, uint32_t pid,
	    uint64_t time_ns);

/*
 * Only PROF_LIVES_NOW: set the number of each image that somebody has mapped,
 * or (is_new) give them these numbers.
 */
void	prof_lives_images(struct prof_lives *lives, uint32_t *number,
	    bool is_new);
/* Only PROF_LIVES_NOW: what a process has mapped is told of anew. */
int	prof_lives_renew(struct prof_lives *lives, uint32_t pid);
/* Only PROF_LIVES_NOW: the mapping of a process, and since when it lives. */
const struct prof_mapping *prof_lives_now(const struct prof_lives *lives,
	    uint32_t pid, uint64_t pc, uint64_t *life_since_ns);

#endif /* LIVES_H */
