/* SPDX-License-Identifier: ISC */
/* Compiles filters of samples. */
#ifndef PROF_FILTER_H
#define PROF_FILTER_H

#include <stdbool.h>

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

/*
 * All that an event has to pass: its own filter, an expression for all events,
 * the name of its thread; each may be NULL.
 */
int	prof_filter_join(const struct prof_event *event,
	    const char *expression, const char *comm,
	    struct dtp_filter *filter, struct prof_err *error);

/*
 * Of samples in a span of one kind, or in none: expressions can ask for its
 * name and duration, and quantiles are of that kind.
 */
struct prof_filter_spans {
	const struct prof_span_kind *const *fp_kinds;
	size_t		 fp_n;
	size_t		 fp_in;		/* fp_n: in none */
	bool		 fp_is_chosen;	/* spans are, not samples in them */
};

/* As prof_filter_new; spans may be NULL. */
struct prof_filter *prof_filter_new_in(const char *expression,
	    const struct prof_event_info *event,
	    const struct prof_filter_spans *spans, struct prof_err *error);
/* In a span that takes so long. */
int	prof_filter_holds_in(const struct prof_filter *filter,
	    const struct prof_record *record, const char *comm,
	    uint64_t duration_ns);
/* As prof_filter_matches. */
int	prof_filter_holds(const struct prof_filter *filter,
	    const struct prof_record *record, const char *comm);

#endif /* PROF_FILTER_H */
