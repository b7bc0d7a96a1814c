/* SPDX-License-Identifier: ISC */
/* What commands say of spans; see spans.c. */
#ifndef SPANS_H
#define SPANS_H

#include "../ui/emit.h"
#include "prof.h"

/* Spans whose end is not known, as an event was lost. */
uint64_t spans_lost(const struct prof_span_kind *kind);
/* A row of JSON or CSV; has_samples: those in spans were counted. */
void	 spans_emit(const struct prof_span_kind *kind, bool has_samples,
	    struct emit *em);
/* Time in spans of which it is not known whether threads ran. */
uint64_t spans_difference(const struct prof_span_kind *kind);
/* Warn of what makes durations, or the time in them, uncertain. */
void	 spans_doubt(const char *command, const struct prof_span_kind *kind);

#endif /* SPANS_H */
