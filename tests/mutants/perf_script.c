/* SPDX-License-Identifier: ISC */
/* What perf script prints: fields of a header line, frames, lines between. */
#include "mutants.h"

static void
perf_script_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	prof_buf_bytes(out, seed->bf_data, seed->bf_len);
	text_mutate(chance, out, " \t:+()[]/\n");
}

const struct format format_perf_script = { "perf_script",
    perf_script_mutate, reading_import };
