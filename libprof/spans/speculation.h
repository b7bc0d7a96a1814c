/* SPDX-License-Identifier: ISC */
/*
 * Speculation: samples are held until the spans that they are in have ended,
 * and only those of selected spans are passed on; see speculation.c.
 */
#ifndef PROF_SPECULATION_H
#define PROF_SPECULATION_H

#include <stdbool.h>

#include "recording/sink.h"

/* Samples of an event, each counted where it happens. */
struct prof_speculated {
	uint64_t	sd_taken;
	uint64_t	sd_committed;	/* passed on */
	uint64_t	sd_discarded;	/* of no selected span */
	uint64_t	sd_lost;	/* perhaps of a selected one */
};

/* Why samples of all events were lost. */
struct prof_unkept {
	uint64_t	uk_memory;	/* too many were held */
	uint64_t	uk_unsure;	/* a begin or end may be missing */
	uint64_t	uk_unended;	/* the span was open at the end */
};

struct prof_speculation;

/*
 * For spans that an expression selects, holding so many bytes at most.  What
 * is passed on goes to a sink.  NULL: error says why.
 */
struct prof_speculation *prof_speculation_new(const char *expression,
	    size_t most, const struct prof_sink *to, struct prof_err *error);
void	prof_speculation_free(struct prof_speculation *speculation);
/* What it takes; its argument is the speculation. */
struct prof_sink prof_speculation_sink(struct prof_speculation *speculation);
/* Told each sample that is not passed on: discarded, or lost. */
typedef void prof_speculation_fn(void *arg, const struct prof_record *record,
	    bool is_lost);
void	prof_speculation_left(struct prof_speculation *speculation,
	    prof_speculation_fn *fn, void *arg);
/* Once spans and events were told; -1: the expression does not fit them. */
int	prof_speculation_check(struct prof_speculation *speculation,
	    struct prof_err *error);
/*
 * All that was lost before the last record was told.  is_last: nothing comes,
 * so all samples are decided.  -1: the sink failed, or there is no memory.
 */
int	prof_speculation_round(struct prof_speculation *speculation,
	    bool is_last);
/* Hold fewer bytes from now on.  -1: the sink failed. */
int	prof_speculation_shrink(struct prof_speculation *speculation,
	    size_t most);
/* The limit, and the bytes that are held. */
size_t	prof_speculation_most(const struct prof_speculation *speculation);
size_t	prof_speculation_bytes(const struct prof_speculation *speculation);
/* Of an event; held samples are taken, and nothing else yet. */
struct prof_speculated prof_speculation_of(
	    const struct prof_speculation *speculation, size_t event);
struct prof_unkept prof_speculation_unkept(
	    const struct prof_speculation *speculation);

#endif /* PROF_SPECULATION_H */
