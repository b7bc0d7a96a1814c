/* SPDX-License-Identifier: ISC */
/*
 * Supplies the walk over user stacks in the kernel with what it needs to
 * know of processes and modules.
 */
#ifndef PROF_PUBLISH_H
#define PROF_PUBLISH_H

#include <stdbool.h>

#include "abi/dtp_unwind.h"
#include "base/record.h"

struct prof_broker;
struct prof_runtime;
struct prof_unwind;

/* What it took to supply the walk. */
struct prof_unwind_stats {
	uint64_t	us_modules;	/* files that were mapped */
	uint64_t	us_tables;	/* that have a table now ... */
	uint64_t	us_bytes;	/* ... of so much, mappings included */
	uint64_t	us_evicted;	/* tables that had to go */
	uint64_t	us_refused;	/* mappings: too many files at once */
	uint64_t	us_unchained;	/* times: too many interpreters */
	uint64_t	us_calls;	/* of bpf(2) since recording began */
};
#define PROF_UNWIND_FDS	9
/* An array of one slab; -1: errno. */
int	prof_unwind_slab(void);
/* Of which slabs are made. */
#define PROF_SLAB_BYTES	(DTP_UW_SLAB_WORDS * sizeof(uint32_t) + 64)
/*
 * Descriptors of uw_procs, uw_modules, uw_entries, uw_slabs, uw_cache,
 * uw_files, uw_chains, uw_numbers, and of the first slab, which is taken over.
 */
struct prof_unwind *prof_unwind_new(const int fds[PROF_UNWIND_FDS],
	    size_t ncpus, uint64_t max_bytes, struct prof_broker *broker,
	    struct prof_err *error);
/* -1, also of prof_unwind_renew: no memory. */
int	prof_unwind_observe(struct prof_unwind *unwind,
	    const struct prof_record *record);
/*
 * A list of mappings was read: what the process had mapped ends at that time,
 * and the mappings follow.  any_exec: an exec may have been missed, so what is
 * published holds for whatever it runs.
 */
int	prof_unwind_renew(struct prof_unwind *unwind, uint32_t pid,
	    uint64_t time_ns, bool any_exec);
/*
 * Once a round: tables and mappings that have come since.  true: more tables
 * are being made.
 */
bool	prof_unwind_publish(struct prof_unwind *unwind);
/* All that was observed can be walked. */
bool	prof_unwind_ready(struct prof_unwind *unwind);
/*
 * Count a sample of a process that has the given chain.  Returns true if its
 * native frames execute scripts but the walk found no script frame.
 */
bool	prof_unwind_fails(struct prof_unwind *unwind, uint32_t chain,
	    const struct prof_record *sample);
/* An interpreter that occurs in stacks.  Borrowed until the next round. */
struct prof_unwind_runtime {
	const struct prof_runtime *ur_runtime;
	const char	*ur_path;
	uint64_t	 ur_samples;	/* where it executed scripts */
	uint64_t	 ur_missing;	/* of these, without script frames */
};
/* The next interpreter; *n begins with 0.  Returns false after the last. */
bool	prof_unwind_runtime(const struct prof_unwind *unwind, uint32_t *n,
	    struct prof_unwind_runtime *next);
/* Recording begins: from now on calls count. */
void	prof_unwind_begin(struct prof_unwind *unwind);
void	prof_unwind_stats(struct prof_unwind *unwind,
	    struct prof_unwind_stats *stats);
void	prof_unwind_free(struct prof_unwind *unwind);

#endif /* PROF_PUBLISH_H */
