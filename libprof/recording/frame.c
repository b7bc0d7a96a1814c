/* SPDX-License-Identifier: ISC */
/*
 * Frames as words, which is how records and recordings hold them, and
 * kinds, ends of walks and missing symbols by name.  Called by everybody who
 * writes, reads or shows a frame.
 */
#include "frame.h"

const char *
prof_frame_kind_name(unsigned kind)
{
	static const char *const names[PROF_FRAME_NKINDS] = {
		[PROF_FRAME_NATIVE] = "native",
		[PROF_FRAME_KERNEL] = "kernel",
		[PROF_FRAME_PYTHON] = "py",
		[PROF_FRAME_JAVASCRIPT] = "js",
		[PROF_FRAME_JAVA] = "java",
		[PROF_FRAME_SCRIPT] = "script",
		[PROF_FRAME_BOUNDARY] = "boundary",
	};

	return (kind < PROF_FRAME_NKINDS ? names[kind] : "unknown");
}

const char *
prof_stack_status_name(unsigned status)
{
	static const char *const names[PROF_STACK_NSTATUS] = {
		"none", "ok", "deep", "fault", "busy",
		"noproc", "nomap", "nomod", "norow", "badsp", "short",
		"noscript"
	};

	return (status < PROF_STACK_NSTATUS ? names[status] : "unknown");
}

const char *
prof_unnamed_name(unsigned why)
{
	static const char *const names[PROF_UNNAMED_N] = {
		"", "noproc", "nomap", "anon", "nofile", "nosym", "hidden",
		"over"
	};

	return (why < PROF_UNNAMED_N ? names[why] : "unknown");
}

uint64_t
prof_frame_pack(const struct prof_frame *frame)
{
	return ((uint64_t)frame->fr_kind << PROF_WORD_KIND_SHIFT |
	    (uint64_t)frame->fr_flags << PROF_WORD_FLAGS_SHIFT |
	    (frame->fr_id & PROF_WORD_ID));
}

/* Kinds of later versions are scripts to us. */
void
prof_frame_unpack(uint64_t word, struct prof_frame *frame)
{
	const unsigned kind = (unsigned)(word >> PROF_WORD_KIND_SHIFT);

	*frame = (struct prof_frame){
		.fr_id = word & PROF_WORD_ID,
		.fr_kind = (uint8_t)(kind >= PROF_FRAME_PYTHON &&
		    kind < PROF_FRAME_NKINDS ? kind : PROF_FRAME_SCRIPT),
		.fr_flags = (uint8_t)(word >> PROF_WORD_FLAGS_SHIFT),
	};
}
