/* SPDX-License-Identifier: ISC */
/* What the files of report --stats share: cmd_report.c, stats*.c. */
#ifndef STATS_H
#define STATS_H

#include "cmd.h"

/* What one pass over the recording found. */
struct stats {
	struct prof_reader *st_reader;
	const char	*st_path;
	size_t		 st_nevents;
	uint64_t	*st_seen;	/* samples in the file, per event */
	uint64_t	 st_marks;
	uint64_t	 st_lives;
	uint64_t	 st_maps;
	uint64_t	 st_side_lost;	/* of the side band */
	uint64_t	 st_gaps;	/* stretches with refusals */
	uint64_t	 st_throttles;
	uint64_t	 st_throttled_ns; /* summed over events and CPUs */
	uint64_t	 st_start_ns;
	uint64_t	 st_end_ns;
	struct stats_throttle *st_throttle;
	size_t		 st_nthrottle;
};

/* -------------------------------------------------------------- stats.c */

/* Read everything; 0, or -1 with a message printed. */
int	stats_collect(struct stats *stats);
void	stats_free(struct stats *stats);

/*
 * Does an event's accounting balance?  NULL, or what does not, in a sentence
 * that is borrowed from buffer.  What the kernel never showed to us is no
 * imbalance; stats_hidden tells.
 */
const char *stats_imbalance(const struct stats *stats, size_t event,
	    const struct prof_accounting *pa, char *buffer, size_t size);

/*
 * Of unaccounted, what neither open intervals nor late timers explain: what
 * the kernel skipped.  In the event's unit.
 */
uint64_t stats_hidden(const struct stats *stats, size_t event,
	    const struct prof_accounting *pa);

/* Shares from 0 to 1; below 0: not known. */
double	stats_complete_stacks(const struct stats *stats);
double	stats_throttled(const struct stats *stats);
double	stats_multiplexed(const struct stats *stats);

/* --------------------------------------------- stats_text.c, _json.c */

void	stats_text(const struct stats *stats, struct out *out, bool per_cpu);
void	stats_json(const struct stats *stats, struct out *out);

#endif /* STATS_H */
