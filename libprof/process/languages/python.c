/* SPDX-License-Identifier: ISC */
/*
 * Python: CPython's interpreter loop, and the trampolines that "python -X
 * perf" puts around each function and names in a perf map.
 */
#include <stddef.h>

#include "language.h"

static const char *const runs[] = { "_PyEval_EvalFrameDefault", NULL };
static const char *const jit[] = { "py::", NULL };

const struct prof_language prof_language_python = {
	.la_name = "python",
	.la_kind = PROF_FRAME_PYTHON,
	.la_runs = runs,
	.la_jit = jit,
};
