/* SPDX-License-Identifier: ISC */
/*
 * Call frame information for walks in user space, by way of a parser: what
 * frames.c asks and checks, and parse_frames.c answers.
 */
#ifndef PROF_FRAMES_H
#define PROF_FRAMES_H

#include "broker.h"
#include "stacks/snapshot.h"

#define PROF_FRAMES_TEXTS	4
#define PROF_FRAMES_OUTERS	8

/* The answer begins so; behind it entries, and bytes with their programs. */
struct prof_framed_head {
	uint32_t	fh_all;		/* 1: there are no more entries */
	uint32_t	fh_ntext;
	uint32_t	fh_nouter;
	uint32_t	fh_pad;
	uint64_t	fh_nentries;
	uint64_t	fh_bytes;
	Elf64_Phdr	fh_text[PROF_FRAMES_TEXTS];
	struct prof_outermost fh_outer[PROF_FRAMES_OUTERS];
};

/*
 * The request: what is wanted of the file, whose offsets these are.  Without
 * any, or where the file has no table by which to find them, that is all.
 */
struct prof_frames_request {
	uint64_t	fr_looked;	/* 1: texts and outermosts are known */
	uint64_t	fr_offset[PROF_OBJECT_PLACES];
};

/* What was read of it becomes the object's.  -1: no memory. */
int	prof_frames_add(struct prof_object *object,
	    const struct prof_frames *frames, bool is_all);
/* Add what is read of an open file.  -1: it is not to be had now. */
int	prof_frames_ask(struct prof_broker *broker, int fd,
	    struct prof_object *object, const struct prof_places *places);

#endif /* PROF_FRAMES_H */
