/* SPDX-License-Identifier: ISC */
/*
 * While recording: numbers for the code objects of script frames, and their
 * names into the recording, see codes.c.  One thread at a time.
 */
#ifndef PROF_CODES_H
#define PROF_CODES_H

#include "base/record.h"
#include "languages/language.h"

struct prof_codes;

/* Takes the body of a SYMBOL chunk; nonzero ends it. */
typedef int	prof_codes_put_fn(void *arg, const void *body, size_t len);

struct prof_codes_stats {
	uint64_t	cs_named;
	uint64_t	cs_unnamed;	/* gone, changed, or over a budget */
	uint64_t	cs_over;	/* frames whose code has no number */
};

struct prof_broker;

/*
 * broker NULL: names are read in this process, which only tests may do.  Owned
 * by caller; NULL: no memory.
 */
struct prof_codes *prof_codes_new(prof_language_fn *language,
	    struct prof_broker *broker);
void	prof_codes_free(struct prof_codes *codes);
/* A process event: what a process had may be gone.  -1: no memory. */
int	prof_codes_life(struct prof_codes *codes,
	    const struct prof_record *record);
/*
 * Script frames as the stream has them (sys/dtp_abi.h) to words of a record;
 * room for as many.  How many there are; -1: malformed, or no memory.
 */
long	prof_codes_words(struct prof_codes *codes, uint32_t pid,
	    const uint64_t *from, size_t n, uint64_t *to);
/*
 * Have named what is new, and take names that came; the last time also those
 * that come soon.  0, or as put.
 */
int	prof_codes_round(struct prof_codes *codes, bool is_last,
	    prof_codes_put_fn *put, void *arg);
/* Is code new, or being named? */
bool	prof_codes_is_busy(const struct prof_codes *codes);
void	prof_codes_stats(const struct prof_codes *codes,
	    struct prof_codes_stats *stats);

#endif /* PROF_CODES_H */
