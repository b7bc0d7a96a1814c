/* SPDX-License-Identifier: ISC */
/*
 * Kinds of frames by name, for outputs and options.  Called by everybody who
 * shows a frame.
 */
#include "prof.h"

const char *
prof_frame_kind_name(unsigned kind)
{
	static const char *const names[PROF_FRAME_NKINDS] = {
		[PROF_FRAME_NATIVE] = "native",
		[PROF_FRAME_KERNEL] = "kernel",
	};

	return (kind < PROF_FRAME_NKINDS ? names[kind] : "unknown");
}
