/* SPDX-License-Identifier: ISC */
/*
 * A frame in one word, as records, the dictionary of stacks and the file hold
 * it:
 *
 *	 63   56 55    48 47          24 23            0
 *	+-------+--------+--------------+---------------+
 *	|   0   |                  pc                   |  native
 *	+-------+--------+--------------+---------------+
 *	| kind  | flags  |     code     |  instruction  |  script
 *	+-------+--------+--------------+---------------+
 *	| kind  |   0    |     why      |     place     |  boundary
 *	+-------+--------+--------------+---------------+
 *
 * Native frames and script frames are lists of their own, which are merged
 * when they are read; so nothing that a process puts on its stack makes a
 * script frame.  The innermost script frame has no instruction in the
 * dictionary: it is in the sample, as the innermost pc is.
 *
 * A boundary follows the script frames that one run of an interpreter has.
 * Its place is the number of the interpreter's own frame among the native
 * ones + 1, or 0: whoever reads finds it by its function.  In a list of pcs
 * PROF_WORD_GAP stands for frames that were left out, as walks end at a pc
 * whose upper byte is not 0 (0xff is the vsyscall page's).
 *
 * Included by recording/, process/, profile/ and backend/bpf/.
 */
#ifndef PROF_FRAME_H
#define PROF_FRAME_H

#include <stdbool.h>

#include "prof.h"

#define PROF_WORD_KIND_SHIFT	56
#define PROF_WORD_FLAGS_SHIFT	48
#define PROF_WORD_ID		(((uint64_t)1 << PROF_WORD_FLAGS_SHIFT) - 1)

#define PROF_WORD_BOUNDARY(why, place)					\
	((uint64_t)PROF_FRAME_BOUNDARY << PROF_WORD_KIND_SHIFT |	\
	(uint64_t)(why) << PROF_FRAME_INSTRUCTION_BITS | (place))
#define PROF_WORD_GAP							\
	PROF_WORD_BOUNDARY(PROF_BOUNDARY_TRUNCATED, PROF_FRAME_INSTRUCTION)

/* Of a script frame or a boundary, as prof_frame_unpack made it. */
static inline uint32_t
prof_frame_code(const struct prof_frame *frame)
{
	return ((uint32_t)(frame->fr_id >> PROF_FRAME_INSTRUCTION_BITS));
}

static inline uint32_t
prof_frame_instruction(const struct prof_frame *frame)
{
	return ((uint32_t)frame->fr_id & PROF_FRAME_INSTRUCTION);
}

static inline bool
prof_frame_is_script(const struct prof_frame *frame)
{
	return (frame->fr_kind >= PROF_FRAME_PYTHON &&
	    frame->fr_kind < PROF_FRAME_BOUNDARY);
}

uint64_t prof_frame_pack(const struct prof_frame *frame);

/* How a walk of a stack ended, as every output names it. */
const char *prof_stack_status_name(unsigned status);
/* Why a frame has no symbol, of enum prof_unnamed; "": it has one. */
const char *prof_unnamed_name(unsigned why);

/* A frame out of a word of a list of pcs. */
static inline void
prof_frame_of_pc(uint64_t word, unsigned kind, bool is_caller,
    struct prof_frame *frame)
{
	*frame = (struct prof_frame){ word, (uint8_t)kind,
	    is_caller ? PROF_FRAME_RETURN : 0 };
	if (word == PROF_WORD_GAP)
		*frame = (struct prof_frame){ PROF_BOUNDARY_TRUNCATED,
		    PROF_FRAME_BOUNDARY, 0 };
}

#endif /* PROF_FRAME_H */
