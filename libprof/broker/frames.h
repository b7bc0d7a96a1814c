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

/* The answer begins so; behind it entries, and the section. */
struct prof_framed_head {
	uint32_t	fh_ready;	/* 1: it has entries */
	uint32_t	fh_ntext;
	uint32_t	fh_nouter;
	uint32_t	fh_pad;
	uint64_t	fh_nentries;
	uint64_t	fh_bytes;	/* of the section */
	Elf64_Phdr	fh_text[PROF_FRAMES_TEXTS];
	struct prof_outermost fh_outer[PROF_FRAMES_OUTERS];
};

/* Fill in what is read of an open file.  -1: it is not to be had now. */
int	prof_frames_ask(struct prof_broker *broker, int fd,
	    struct prof_object *object);

#endif /* PROF_FRAMES_H */
