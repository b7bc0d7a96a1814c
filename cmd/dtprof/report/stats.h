/* SPDX-License-Identifier: ISC */
/* What the files of report --stats share: cmd_report.c, stats*.c. */
#ifndef STATS_H
#define STATS_H

#include "../cmd.h"
#include "../ui/budget.h"
#include "../ui/emit.h"

/* What one pass over the recording found. */
struct stats {
	struct prof_reader *st_reader;
	const char	*st_path;
	size_t		 st_nevents;
	uint64_t	*st_seen;	/* samples in the file, per event */
	uint64_t	 st_marks;
	uint64_t	 st_process_events;
	uint64_t	 st_maps;
	uint64_t	 st_stored;	/* samples, of all events */
	uint64_t	 st_lost;
	uint64_t	 st_side_stored; /* mapping and process events */
	uint64_t	 st_side_lost;
	uint64_t	 st_gaps;	/* stretches with refusals */
	uint64_t	 st_throttles;
	uint64_t	 st_throttled_ns; /* summed over events and CPUs */
	uint64_t	 st_start_ns;
	uint64_t	 st_end_ns;	/* of the last record */
	struct prof_ran	 st_ran;
	uint64_t	 st_ran_ns;	/* start to stop, without pauses */
};

/* What a counter of the accounting is, as in counters.def. */
enum stats_role {
	STATS_FIRED, STATS_STORED, STATS_LOST, STATS_FILTERED, STATS_BESIDE,
	STATS_AMOUNT, STATS_COUNT, STATS_SIDEBAND
};

struct stats_counter {
	const char	*sc_name;
	enum stats_role	 sc_role;
	size_t		 sc_offset;	/* in struct prof_accounting */
};

/* -------------------------------------------------------------- stats.c */

/* All of them, up to one without a name. */
extern const struct stats_counter stats_counters[];
uint64_t stats_counter_of(const struct stats_counter *counter,
	    const struct prof_accounting *pa);
/* "WHAT.EVENT.NAME" of each name; false: the recording has not all of them. */
bool	stats_counts_read(const struct prof_reader *reader, size_t event,
	    const char *what, const char *const *names, int nnames,
	    uint64_t *count);

/* Read everything; 0, or -1 with a message printed. */
int	stats_collect(struct stats *stats);
void	stats_free(struct stats *stats);

/*
 * Does an event's accounting balance?  NULL, or what does not, in a sentence
 * that is borrowed from buffer.  What the kernel never showed to us is no
 * imbalance; prof_accounting_unaccounted tells.
 */
const char *stats_imbalance(const struct stats *stats, size_t event,
	    const struct prof_accounting *pa, char *buffer, size_t size);

/* Shares from 0 to 1; below 0: not known. */
double	stats_complete_stacks(const struct stats *stats);
double	stats_throttled(const struct stats *stats);
double	stats_multiplexed(const struct stats *stats);

/* ------------------------------------------------------- stats_names.c */

/* Samples of one reason in one module. */
struct stats_row {
	unsigned	 ro_why;	/* enum prof_unnamed, or of a stack */
	const char	*ro_module;	/* "": none */
	uint64_t	 ro_samples;
};

struct stats_rows {
	struct stats_row *sr_row;	/* the worst first */
	size_t		 sr_n;
	uint64_t	 sr_sum;	/* of all, with the others */
	uint64_t	 sr_others;	/* of modules too many to tell apart */
};

struct stats_names {
	struct prof_symbols *sn_symbols;
	uint64_t	 sn_samples;
	uint64_t	 sn_resolved;	/* innermost frame has a name */
	uint64_t	 sn_without;	/* no pc was recorded */
	struct stats_rows sn_unresolved;
	uint64_t	 sn_stacks;	/* of user space, asked for */
	struct stats_rows sn_truncated;
};

/* Read everything again; 0, or -1 with a message printed. */
int	stats_names_collect(struct stats_names *names,
	    struct prof_reader *reader);
void	stats_names_free(struct stats_names *names);
void	stats_names_text(const struct stats_names *names, struct out *out);
/* A member "names" behind others. */
void	stats_names_json(const struct stats_names *names, struct emit *emit);

/* ------------------------------------------------------- stats_calls.c */

void	stats_calls_text(const struct stats *stats, struct out *out);
/* A member "calls" behind others, of an event of calls. */
void	stats_calls_json(const struct stats *stats, struct emit *emit,
	    size_t event);

/* ----------------------------------------------------- stats_keep_if.c */

/* Nothing without record --keep-if. */
void	stats_keep_if_text(const struct stats *stats, struct out *out);
/* A member "keep_if" behind others. */
void	stats_keep_if_json(const struct stats *stats, struct emit *emit,
	    size_t event);
/* Does its accounting not balance?  Then buffer says why. */
bool	stats_keep_if_wrong(const struct stats *stats, size_t event,
	    const struct prof_accounting *pa, char *buffer, size_t size);

/* ------------------------------------------------------- stats_waits.c */

/* Where the time of threads went; nothing for other events. */
void	stats_waits_line(const struct prof_reader *reader, size_t event,
	    struct out *out);
/* A member "identity": null without waits, or if the recording was cut. */
void	stats_waits_identity(const struct prof_reader *reader,
	    struct emit *emit);
void	stats_waits_text(const struct stats *stats, struct out *out);
/* A member "waits" behind others, of an event of waits. */
void	stats_waits_json(const struct stats *stats, struct emit *emit,
	    size_t event);

/* --------------------------------------------------- stats_throttled.c */

/* A line for each cgroup whose CPU quota threads waited for. */
void	stats_throttled_text(const struct prof_reader *reader, size_t event,
	    const char *indent, struct out *out);
/* A member "throttled" behind others, of an event of waits. */
void	stats_throttled_json(const struct stats *stats, struct emit *emit,
	    size_t event);

/* --------------------------------------------- stats_text.c, _json.c */

/* The line of the n-th limit; NULL: there is none. */
const char *stats_budget(const struct stats *stats, size_t n);
void	stats_text(const struct stats *stats,
	    const struct stats_names *names, struct out *out, bool per_cpu);
void	stats_json(const struct stats *stats,
	    const struct stats_names *names, struct out *out);
/* Its parts, for report_json.c: up to accounting, and quality. */
void	stats_json_begin(const struct stats *stats, struct emit *emit);
void	stats_json_quality(const struct stats *stats, struct emit *emit,
	    double unresolved);

#endif /* STATS_H */
