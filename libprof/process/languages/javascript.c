/* SPDX-License-Identifier: ISC */
/*
 * JavaScript: functions that V8 compiles, as "node --perf-basic-prof" names
 * them in a perf map.
 */
#include <stddef.h>

#include "language.h"

static const char *const jit[] = { "JS:", "LazyCompile:", "Function:",
    "Script:", "Eval:", NULL };

const struct prof_language prof_language_javascript = {
	.la_name = "javascript",
	.la_kind = PROF_FRAME_JAVASCRIPT,
	.la_jit = jit,
};
