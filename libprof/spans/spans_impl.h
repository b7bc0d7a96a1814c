/* SPDX-License-Identifier: ISC */
/*
 * Spans: pairs of events, a begin and an end, that record --span defines.
 *
 *	spans.c		what the recording defines; its spans, their quantiles
 *	gaps.c		when events were lost
 *	live.c		spans of records as they come, summed
 *	pids.c		which process had a number then, until when a thread
 *	pair.c		from events in order of time to spans
 *	place.c		in which span a thread was, and how long it ran
 *
 * They are paired here, not in the kernel: begins and ends are samples like
 * any others, so each one is stored or counted as lost, and when something was
 * lost is known.  Nothing of it depends on memory in the kernel.  A pair around
 * which a begin or end may be missing is no span: which two belong together is
 * not known, so it has no duration.
 *
 * Included by spans/ alone.
 */
#ifndef PROF_SPANS_IMPL_H
#define PROF_SPANS_IMPL_H

#include <stdbool.h>

#include "base/intern.h"
#include "base/record.h"
#include "spans.h"

/* What an event is to a kind of spans. */
#define SPAN_BEGIN	1u
#define SPAN_END	2u

/* Who shares a key. */
enum span_scope { SPAN_THREAD, SPAN_PROCESS, SPAN_MACHINE };

/* A time in which events were lost, or not recorded. */
struct span_gap {
	uint64_t	ga_from_ns;
	uint64_t	ga_to_ns;
};

struct span_gaps {
	struct span_gap	*gs_gap;	/* in order, none touches another */
	size_t		 gs_n;
	size_t		 gs_cap;
};

/* How often numbers of processes were given up, of those that were. */
struct span_pids {
	struct prof_map	 sp_by_pid;
	uint32_t	*sp_ended;
	size_t		 sp_n;
	size_t		 sp_cap;
};

/* When threads gave their numbers up. */
struct span_exit {
	uint64_t	ex_time_ns;
	uint32_t	ex_tid;
};

struct span_exits {
	struct span_exit *se_exit;	/* by number and time */
	size_t		 se_n;
	size_t		 se_cap;
};

/* The spans of a key that have begun, the innermost first. */
struct span_key {
	uint32_t	ke_top;		/* of pa_open, + 1; 0: none */
};

/* One that has begun. */
struct span_open {
	struct prof_span so_span;
	uint32_t	 so_below;	/* as ke_top */
	uint32_t	 so_ended;	/* the key's generation */
	uint32_t	 so_watched;	/* its number of sw_begun */
};

/* A kind while its spans are paired. */
struct span_pairs {
	struct prof_dict pa_by_key;
	struct span_key	*pa_key;
	size_t		 pa_nkeys;
	size_t		 pa_cap_keys;
	struct span_open *pa_open;
	size_t		 pa_nopen;
	size_t		 pa_cap_open;
	uint32_t	 pa_free;	/* as ke_top: those that are free */
};

/* What becomes of a begin, of an end, of both. */
enum span_fate { SPAN_OPEN, SPAN_ORPHAN, SPAN_PAIRED };

struct span_tally;

#define SPAN_AMBIGUOUS	UINT32_MAX

/*
 * What a begin or end brings of its thread's time: how long it has run and has
 * not, since some time before.
 */
struct span_tick {
	uint64_t	ti_time_ns;
	uint64_t	ti_running_ns;
	uint64_t	ti_off_ns;
	uint32_t	ti_tid;
};

/* A thread is in a span of a kind, or in several. */
struct span_place {
	uint64_t	pl_from_ns;
	uint64_t	pl_to_ns;
	uint64_t	pl_running_ns;	/* of this time; 0: not known */
	uint64_t	pl_off_ns;
	uint32_t	pl_tid;
	uint32_t	pl_span;	/* its number, or SPAN_AMBIGUOUS */
	bool		pl_is_timed;	/* both its ends brought sums */
};

struct span_kind {
	struct prof_span_kind ks_kind;
	enum span_scope	 ks_scope;
	uint8_t		*ks_role;	/* by event: SPAN_* */
	int		*ks_argument;	/* by event: the key; -1 */
	struct span_gaps ks_gaps;
	uint64_t	 ks_pause_ns;	/* since when; 0: not paused */
	struct span_pairs ks_pairs;
	struct span_tally *ks_tally;	/* NULL: of a recording */
	struct prof_span *ks_span;
	size_t		 ks_nspans;
	size_t		 ks_cap_spans;
	/* What is no span: until it was closed, or its end may have been. */
	struct prof_span *ks_rest;
	size_t		 ks_nrest;
	size_t		 ks_cap_rest;
	struct span_tick *ks_tick;	/* until there are places */
	size_t		 ks_nticks;
	size_t		 ks_cap_ticks;
	struct span_place *ks_place;	/* by thread and time */
	size_t		 ks_nplaces;
	size_t		 ks_cap_places;
};

struct prof_spans {
	struct prof_reader *ss_reader;	/* NULL: of records as they come */
	struct span_live *ss_live;	/* or NULL */
	struct span_kind *ss_kind;
	size_t		 ss_nkinds;
	size_t		 ss_nevents;
	struct span_pids ss_pids;
	struct span_exits ss_exits;
	/* What takes memory, of all kinds, and whether it was too much. */
	size_t		 ss_nitems;
	size_t		 ss_nticks;
	bool		 ss_is_full;
	/* Keys that are texts; there are at most as many as keys. */
	struct prof_dict ss_texts;
	uint64_t	 ss_last_ns;	/* of the last record */
};

/* ------------------------------------------------------------- gaps.c */

/* When events of the kind may be missing; -1: no memory. */
int	prof_span_gaps_find(const struct prof_reader *reader,
	    struct span_kind *kind);
/* Does one of them touch this time? */
bool	prof_span_gaps_touch(const struct span_gaps *gaps, uint64_t from_ns,
	    uint64_t to_ns);
/* The same, record by record. */
int	prof_span_gaps_take(struct span_kind *kind,
	    const struct prof_record *record);
/* From this time on all is one; -1: no memory. */
int	prof_span_gaps_end(struct span_gaps *gaps, uint64_t from_ns);

/* ------------------------------------------------------------ spans.c */

/* As record --span says it. */
struct span_definition {
	const char	*sd_name;
	const char	*sd_key;	/* NULL: the thread */
	const char	*sd_begin;	/* numbers of events: "3 4" */
	const char	*sd_end;
	const char	*sd_scope;
};

/* One more kind; NULL: error says why. */
struct span_kind *prof_span_kind_new(struct prof_spans *spans,
	    const struct span_definition *definition, struct prof_err *error);
/* Where an event of the kind has the key. */
void	prof_span_kind_event(struct span_kind *kind, size_t event,
	    const struct prof_event_info *info);
/* Adds an event's losses. */
void	prof_span_kind_account(struct span_kind *kind, size_t event,
	    const struct prof_accounting *pa);

/* ------------------------------------------------------------- live.c */

/* One has begun, as pa_open's at; -1: no memory. */
int	prof_span_live_begin(struct prof_spans *spans, struct span_kind *kind,
	    size_t at);
/* Whether something was lost is not known yet; likewise. */
int	prof_span_live_wait(struct prof_spans *spans, struct span_kind *kind,
	    enum span_fate fate, const struct prof_span *span);
void	prof_span_live_free(struct prof_spans *spans);

/* ------------------------------------------------------------- pair.c */

/* The next record, in order of time; -1: no memory. */
int	prof_span_record_take(struct prof_spans *spans,
	    const struct prof_record *record);
/* What has begun will not end; -1: no memory. */
int	prof_span_kind_close(struct prof_spans *spans, struct span_kind *kind);
/* Counts it.  Is it a span?  Not if an event was lost meanwhile. */
bool	prof_span_settle(struct span_kind *kind, enum span_fate fate,
	    const struct prof_span *span);
/* Forget keys of which nothing has begun; -1: no memory. */
int	prof_span_keys_trim(struct span_kind *kind);
/* Keys, what has begun, spans and rests. */
size_t	prof_span_items(const struct span_kind *kind);
/* All spans of all kinds, in the order in which they end. */
int	prof_spans_pair(struct prof_spans *spans, struct prof_err *error);
void	prof_span_pairs_fini(struct span_pairs *pairs);

/* ------------------------------------------------------------ place.c */

/* Once all spans are there, in their order; -1: no memory. */
int	prof_span_places_make(const struct span_exits *exits,
	    struct span_kind *kind);

/* ------------------------------------------------------------- pids.c */

/* How often a number was given up; once more: -1: no memory. */
uint32_t prof_span_pid_ended(const struct span_pids *pids, uint32_t pid);
int	prof_span_pid_end(struct span_pids *pids, uint32_t pid);
void	prof_span_pids_fini(struct span_pids *pids);
/* Of all threads; -1: no memory. */
int	prof_span_exits_find(const struct prof_reader *reader,
	    struct span_exits *exits);
/* When the thread of this time exited; UINT64_MAX: it did not. */
uint64_t prof_span_exit_after(const struct span_exits *exits, uint32_t tid,
	    uint64_t time_ns);

#endif /* PROF_SPANS_IMPL_H */
