/* SPDX-License-Identifier: ISC */
/*
 * While recording: which places in which files samples met, so that at the
 * end the recording can hold the names of these and needs no file later.
 *
 * Samples come before the mappings of the same time, so both wait until a
 * round of the drain is over.  Costs a look at a small table for a sample
 * like those before it.  One thread at a time.
 */
#ifndef PROF_SYMBOLIZE_H
#define PROF_SYMBOLIZE_H

#include "base/record.h"
#include "elf/symtab.h"
#include "processes.h"

struct prof_broker;
struct prof_noted;

/* What was put into the recording at the end. */
struct prof_noted_stats {
	uint64_t	ns_places;	/* distinct, of files and the kernel */
	uint64_t	ns_modules;	/* tables */
	uint64_t	ns_functions;
	uint64_t	ns_late;	/* modules there was no time for */
	uint64_t	ns_dropped;	/* addresses there was no room for */
	uint64_t	ns_over;	/* mappings, too */
	uint64_t	ns_maps_over;	/* perf maps, too */
	uint64_t	ns_dumps_over;	/* and dumps of JITs */
};

/* Takes one table, see recording/table.h.  Nonzero ends it. */
typedef int	prof_noted_put_fn(void *arg, const void *body, size_t len);

/* Nothing is recorded, names are wanted at once: see prof_noted_now. */
#define PROF_NOTED_LIVE	0x100u

/* mode: enum prof_processes_mode, and that; owned by caller; NULL: no memory */
struct prof_noted *prof_noted_new(unsigned mode);
void	prof_noted_free(struct prof_noted *noted);
/*
 * The stacks' numbers are those of the frames without the innermost; same
 * number, same frames; 0: there are none.
 */
void	prof_noted_sample(struct prof_noted *noted,
	    const struct prof_record *sample, uint64_t kernel, uint64_t user);
/* Anything else.  -1: no memory. */
int	prof_noted_event(struct prof_noted *noted,
	    const struct prof_record *record);
/* As prof_processes_renew; -1: no memory. */
int	prof_noted_renew(struct prof_noted *noted, uint32_t pid,
	    uint64_t time_ns);
/* What came so far is complete up to its time.  -1: no memory. */
int	prof_noted_round(struct prof_noted *noted);
struct prof_processes;
const struct prof_processes *prof_noted_processes(
	    const struct prof_noted *noted);
/*
 * Functions of the kernel at n places, in order, borrowed until the next
 * question; sy_name is NULL where none is.  How many of them it looked at.
 */
typedef size_t	prof_noted_ask_fn(void *arg, const uint64_t *place, size_t n,
	    struct prof_symbol *symbol);
/* Ask this instead of reading /proc/kallsyms. */
void	prof_noted_ask_kernel(struct prof_noted *noted, prof_noted_ask_fn *ask,
	    void *arg);
/*
 * At the end: work out names, in several threads, for a limited time.  What
 * put returned, or -1.
 */
int	prof_noted_tables(struct prof_noted *noted, struct prof_broker *broker,
	    prof_noted_put_fn *put, void *arg, struct prof_noted_stats *stats);
/*
 * Likewise with PROF_NOTED_LIVE after a round, for a short time: what there was
 * time for is forgotten, the rest stays for the next time.
 */
int	prof_noted_now(struct prof_noted *noted, struct prof_broker *broker,
	    prof_noted_put_fn *put, void *arg);
/* Has anything been noted that has no name yet? */
bool	prof_noted_any(const struct prof_noted *noted);

#endif /* PROF_SYMBOLIZE_H */
