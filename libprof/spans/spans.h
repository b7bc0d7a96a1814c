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
 * Of a span: how long its thread was in it and in no other, up to
 * sp_duration_ns, and for how much of this it is known that it ran, or did not.
 */
struct prof_span_time {
	uint64_t	st_alone_ns;
	uint64_t	st_running_ns;
	uint64_t	st_off_ns;
};

/* By span of a kind; time has room for all of sk_count. */
void	prof_spans_time(const struct prof_spans *spans, size_t kind,
	    struct prof_span_time *time);

#endif /* PROF_SPANS_H */
