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

#endif /* PROF_SPANS_H */
