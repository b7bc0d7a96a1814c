/* SPDX-License-Identifier: ISC */
/* What commands say of spans; see spans.c. */
#ifndef SPANS_H
#define SPANS_H

#include "prof.h"

/* Time in spans of which it is not known whether threads ran. */
uint64_t spans_difference(const struct prof_span_kind *kind);
/* Warn of what makes durations, or the time in them, uncertain. */
void	 spans_doubt(const char *command, const struct prof_span_kind *kind);

#endif /* SPANS_H */
