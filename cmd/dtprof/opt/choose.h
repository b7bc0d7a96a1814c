/* SPDX-License-Identifier: ISC */
/* Which part of a recording is asked for; see choose.c. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "../cmd.h"

/* The options --from, --to and --between of a command. */
struct choose_time {
	struct opt_number ct_from;
	struct opt_number ct_to;
	const char	*ct_between;
};

/* What they mean, on the recording's clock. */
struct choose_span {
	bool		 cs_is_set;	/* one of them is given */
	uint64_t	 cs_start_ns;	/* when the recording began */
	uint64_t	 cs_from_ns;
	uint64_t	 cs_to_ns;	/* 0: to the end */
};

/*
 * Rows of those commands' tables.  at: offset of the option, for times that
 * of their struct choose_time.
 */
#define CHOOSE_BETWEEN(at) { 0, "between", "MARKER,MARKER", OPT_STRING, 0, 0, \
	    NULL, "only samples between two markers", \
	    (at) + offsetof(struct choose_time, ct_between), NULL }
#define CHOOSE_FROM(at) { 0, "from", "TIME", OPT_TIME, 0, INT64_MAX, NULL, \
	    "only samples at or after TIME (relative to the start; -TIME: to " \
	    "the end)", \
	    (at) + offsetof(struct choose_time, ct_from), "-" }
#define CHOOSE_TO(at) { 0, "to", "TIME", OPT_TIME, 0, INT64_MAX, NULL, \
	    "only samples before TIME (relative to the start; -TIME: to the " \
	    "end)", (at) + offsetof(struct choose_time, ct_to), "-" }
#define CHOOSE_SECRET(at) { 0, "secret-file", "FILE", OPT_STRING, 0, 0, \
	    NULL, "file with the password of the store's user, or a bearer " \
	    "token", (at), NULL }
#define CHOOSE_BASE_BETWEEN(at) { 0, "base-between", "MARKER,MARKER", \
	    OPT_STRING, 0, 0, NULL, \
	    "only samples of the base between two markers", \
	    (at) + offsetof(struct choose_time, ct_between), NULL }
#define CHOOSE_BASE_FROM(at) { 0, "base-from", "TIME", OPT_TIME, 0, \
	    INT64_MAX, NULL, "only samples of the base at or after TIME", \
	    (at) + offsetof(struct choose_time, ct_from), NULL }
#define CHOOSE_BASE_TO(at) { 0, "base-to", "TIME", OPT_TIME, 0, INT64_MAX, \
	    NULL, "only samples of the base before TIME", \
	    (at) + offsetof(struct choose_time, ct_to), NULL }
#define CHOOSE_BASE_FILTER(at) { 0, "base-filter", "EXPR", OPT_STRING, 0, 0, \
	    NULL, "only samples of the base that match EXPR", (at), NULL }
#define CHOOSE_EVENT(at) { 'e', "event", "EVENT", OPT_STRINGS, 0, 0, NULL, \
	    "only events that match EVENT; may be repeated", \
	    (at), NULL }
#define CHOOSE_FILTER(at) { 0, "filter", "EXPR", OPT_STRING, 0, 0, NULL, \
	    "only samples that match EXPR, e.g. 'pid==1'", (at), NULL }
/* unsigned: bits of these, in this order */
#define CHOOSE_STATES	"running,runnable,blocked"
#define CHOOSE_ALL_STATES 7u
/* unsigned: bits of PROF_FRAMES_* */
#define CHOOSE_FRAMES(at) { 0, "frames", "KIND,..", OPT_SET, 0, 0, \
	    "kernel,native,script", \
	    "frames to show", \
	    (at), "kernel,native,script,interpreter,all" }
#define CHOOSE_HELD(at) { 0, "held", NULL, OPT_FLAG, 0, 0, NULL, \
	    "only allocations not freed when the recording ended", \
	    (at), NULL }
#define CHOOSE_IDLE(at) { 0, "idle", NULL, OPT_FLAG, 0, 0, NULL, \
	    "show the functions of idle waits (default: one row)", \
	    (at), NULL }
#define CHOOSE_STATE(at) { 0, "state", "STATE,..", OPT_SET, 0, 0, NULL, \
	    "show time in states: " CHOOSE_STATES, \
	    (at), CHOOSE_STATES }
#define CHOOSE_INPUT(at) { 'i', "input", "FILE", OPT_STRING, 0, 0, NULL, \
	    "read FILE (default dtprof.dtp)", (at), NULL }

/* Is any of them given? */
bool	 choose_has_time(const struct choose_time *time);

/* May they stand together?  0, or -1 with a message printed. */
int	 choose_check(const char *command, const struct choose_time *time);
/* Is there a = in each --rename?  0, or -1 with a message printed. */
int	 choose_check_renames(const char *command,
	    const struct opt_strings *renames);

/*
 * Which events the names (or globs) mean, by event; none: all but process
 * events and those that only begin or end spans.  Owned by caller; NULL: a
 * message was printed.
 */
bool	*choose_events(const char *command, const struct prof_reader *reader,
	    const struct opt_strings *names);
/* Does it have the event off-cpu? */
bool	 choose_has_waits(const struct prof_reader *reader);
/* A note if its waits are only those of a filter: WHAT only the waits ... */
void	 choose_say_part(const char *command, const struct prof_reader *reader,
	    const char *what);
/* Waits that have no sample, of all recordings that are added. */
struct choose_short {
	uint64_t	 cs_waits;
	uint64_t	 cs_ns;
};
void	 choose_add_short(struct choose_short *waits,
	    const struct prof_reader *reader);
/* A note of them, if there are any. */
void	 choose_say_short(const char *command,
	    const struct choose_short *waits);
/*
 * For --state: add the event elapsed to the reader, and choose it alone, as
 * choose_events.  If only some states are wanted, the filter selects them, too,
 * and its text is in joined, owned by caller.
 */
bool	*choose_elapsed(const char *command, struct prof_reader *reader,
	    unsigned wanted, const char **filter, char **joined);
/*
 * Is the event a column of a folded file with two counts a line?  Then it is
 * one of the two sides, base 0 and new 1: is it that one?
 */
bool	 choose_is_column(const struct prof_event_info *info);
bool	 choose_is_side(const struct prof_event_info *info, int side);
/* Is it such a file?  path: NULL, it is none. */
bool	 choose_has_columns(const char *path);
/*
 * The times of the options, 0 or -1 with a message printed.  The reader stands
 * at its begin then.
 */
int	 choose_range(const char *command, struct prof_reader *reader,
	    const struct choose_time *time,
	    struct prof_profile_options *options);
/* The same, as choose_range left it in the options. */
void	 choose_span(struct prof_reader *reader,
	    const struct choose_time *time,
	    const struct prof_profile_options *options,
	    struct choose_span *span);
/* Both owned by caller, symbols also then; NULL: a message was printed. */
struct prof_profile *choose_profile(const char *command,
	    struct prof_reader *reader,
	    const struct prof_profile_options *options,
	    struct prof_symbols **symbols);

#endif /* CHOOSE_H */
