/* SPDX-License-Identifier: ISC */
/* Spans within the library, beyond prof_recording.h. */
#ifndef PROF_SPANS_H
#define PROF_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "prof.h"

/*
 * The span of a kind in which a thread was at a time; NULL: in none, or in
 * several, or in one that is not complete.
 */
const struct prof_span *prof_spans_at(const struct prof_spans *spans,
	    size_t kind, uint32_t tid, uint64_t time_ns);
/*
 * By span of a kind: how long its thread was in it and in no other, up to
 * sp_duration_ns.  ns has room for all of sk_count.
 */
void	prof_spans_alone(const struct prof_spans *spans, size_t kind,
	    uint64_t *ns);

#endif /* PROF_SPANS_H */
