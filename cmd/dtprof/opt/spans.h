/* SPDX-License-Identifier: ISC */
/* What commands say of spans; see spans.c. */
#ifndef SPANS_H
#define SPANS_H

#include "prof.h"

/* Warn of what makes durations uncertain. */
void	 spans_doubt(const char *command, const struct prof_span_kind *kind);

#endif /* SPANS_H */
