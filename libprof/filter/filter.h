/* SPDX-License-Identifier: ISC */
/* Compiles filters of samples. */
#ifndef PROF_FILTER_H
#define PROF_FILTER_H

#include "abi/dtp_abi.h"
#include "base/record.h"
#include "events/event.h"

/*
 * Compile an expression into tests.  Argument names are looked up in event
 * (may be NULL: only arg0..arg7).  On error the sentence shows the column.
 */
int	prof_filter_compile(const char *expression,
	    const struct prof_event *event, struct dtp_filter *filter,
	    struct prof_err *error);

/* As prof_filter_matches. */
int	prof_filter_holds(const struct prof_filter *filter,
	    const struct prof_record *record, const char *comm);

#endif /* PROF_FILTER_H */
