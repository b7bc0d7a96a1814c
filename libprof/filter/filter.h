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
 * the name of its thread.  Programs do not know the functions in a stack, so
 * terms with stack are for the session; joined by && with all others.
 */
struct prof_filter_joined {
	bool		 fj_has_calls;	/* in: stack is a field */
	struct dtp_filter fj_program;
	struct prof_filter *fj_session;	/* NULL: none; freed by the caller */
};

/* expression and comm may be NULL. */
int	prof_filter_join(const struct prof_event *event,
	    const char *expression, const char *comm,
	    struct prof_filter_joined *joined, struct prof_err *error);

/*
 * For samples in a span of one kind, or in no span.  Expressions can test the
 * name and duration of the span; p50, p90 and p99 are those of the kind.
 */
struct prof_filter_spans {
	const struct prof_span_kind *const *fp_kinds;
	size_t		 fp_n;
	size_t		 fp_in;		/* fp_n: in none */
	bool		 fp_is_chosen;	/* chooses spans, not samples */
	bool		 fp_is_live;	/* while recording: no quantiles yet */
};

/* As prof_filter_new; spans may be NULL.  has_calls: stack is a field. */
struct prof_filter *prof_filter_new_in(const char *expression,
	    const struct prof_event_info *event,
	    const struct prof_filter_spans *spans, bool has_calls,
	    struct prof_err *error);
/* duration_ns: of the span; calls: bits of prof_filter_calls of the stack. */
int	prof_filter_holds_in(const struct prof_filter *filter,
	    const struct prof_record *record, const char *comm,
	    uint64_t duration_ns, uint64_t calls);
/*
 * Of a span that has taken so long and goes on: does it hold however long the
 * span will take, never, or is that not known yet?
 */
enum prof_filter_fate {
	PROF_FILTER_NEVER, PROF_FILTER_ALWAYS, PROF_FILTER_OPEN
};
enum prof_filter_fate prof_filter_from(const struct prof_filter *filter,
	    const struct prof_record *record, uint64_t duration_ns);
/* As prof_filter_matches. */
int	prof_filter_holds(const struct prof_filter *filter,
	    const struct prof_record *record, const char *comm);

/*
 * Keep the better of two errors of an expression that every event refuses: the
 * one further on in its text; the other is about a field that an event lacks.
 */
void	prof_filter_blame(struct prof_err *kept, const struct prof_err *why);

/*
 * The first filter that tests functions in stacks, or NULL.  For an event with
 * an argument named stack, the same expression tests the argument.
 */
const struct prof_filter *prof_filter_of_calls(
	    struct prof_filter *const *filters, size_t n);
/*
 * The bits of the names that match a function, the same for all filters of one
 * expression.  Returns 0, or -1 if memory ran out.
 */
int	prof_filter_calls(const struct prof_filter *filter,
	    const struct prof_function *function, uint64_t *calls);

#endif /* PROF_FILTER_H */
