/* SPDX-License-Identifier: ISC */
/* Which part of a recording is asked for; see choose.c. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "cmd.h"

/* The options --from, --to and --between of a command. */
struct choose_time {
	struct opt_number ct_from;
	struct opt_number ct_to;
	const char	*ct_between;
};

/* Is any of them given? */
bool	 choose_has_time(const struct choose_time *time);

/*
 * Which events the names (or globs) mean, by event; none: all but the lives
 * of processes.  Owned by caller; NULL: a message was printed.
 */
bool	*choose_events(const char *command, const struct prof_reader *reader,
	    const struct opt_strings *names);
/*
 * The times of the options, 0 or -1 with a message printed.  The reader stands
 * at its begin then.
 */
int	 choose_range(const char *command, struct prof_reader *reader,
	    const struct choose_time *time,
	    struct prof_profile_options *options);
/* Both owned by caller, symbols also then; NULL: a message was printed. */
struct prof_profile *choose_profile(const char *command,
	    struct prof_reader *reader,
	    const struct prof_profile_options *options,
	    struct prof_symbols **symbols);

#endif /* CHOOSE_H */
