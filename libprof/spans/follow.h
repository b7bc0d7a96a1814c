/* SPDX-License-Identifier: ISC */
/*
 * The spans of records as they come that an expression selects, and which of
 * them each record belongs to; see follow.c.  Included by spans/ alone.
 */
#ifndef PROF_FOLLOW_H
#define PROF_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/* Of a span, and of what belongs to it. */
enum prof_fate {
	PROF_FATE_PENDING,
	PROF_FATE_WANTED,	/* it is selected */
	PROF_FATE_UNWANTED,
	PROF_FATE_UNSURE,	/* its begin or end may be another one's */
	PROF_FATE_UNENDED	/* the recording ended before it */
};

struct prof_follow;

struct prof_follow *prof_follow_new(const char *expression,
	    struct prof_err *error);
void	prof_follow_free(struct prof_follow *follow);
/* What a sink hears; 0, or -1: no memory. */
int	prof_follow_info(struct prof_follow *follow, const char *key,
	    const char *value);
int	prof_follow_event(struct prof_follow *follow,
	    const struct prof_event_info *info);
int	prof_follow_record(struct prof_follow *follow,
	    const struct prof_record *record);
/* Once spans and events were told; -1: the expression does not fit them. */
int	prof_follow_check(struct prof_follow *follow, struct prof_err *error);
/* As prof_spans_live_round; then fates are known, and stay if is_last. */
int	prof_follow_round(struct prof_follow *follow, bool is_last);

/* The spans of the last record, n of them, until the next one. */
const uint32_t *prof_follow_spans(const struct prof_follow *follow,
	    size_t *n);
enum prof_fate prof_follow_fate(const struct prof_follow *follow,
	    const uint32_t *spans, size_t n);
/* Keep them for a record that waits; that no longer does. */
void	prof_follow_hold(struct prof_follow *follow, const uint32_t *spans,
	    size_t n);
void	prof_follow_drop(struct prof_follow *follow, const uint32_t *spans,
	    size_t n);

#endif /* PROF_FOLLOW_H */
