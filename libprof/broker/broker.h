/* SPDX-License-Identifier: ISC */
/*
 * The recorder's side of its children that read other people's files:
 *
 *	recorder --+-- keeper (fork only, no rights)
 *	           |      +-- parser --- one file at a time, passed as a
 *	           +-- socket --'  `-- parser        descriptor
 *
 *	confine.c	what keeper and parsers give up
 *	keeper.c	forks parsers, ends them, says what they died of
 *	parser.c	a parser's life; parse_*.c does the work in there
 *	throttle.c	how fast they do what can wait
 *	wire.c		messages, with deadlines
 *	broker.c	a parser for whoever asks, and whom to blame
 *	tables.c	one file for each request: asks, and checks what comes
 *
 * The recorder opens a file, a parser reads it.  One that crashes, or takes
 * longer than is sensible, is ended; the file that it had is named, counted
 * and not tried again.  Any thread may ask; each has a parser of its own
 * while it does.  Knows nothing of what is asked for.
 */
#ifndef PROF_BROKER_H
#define PROF_BROKER_H

#include "parser.h"
#include "prof.h"

struct prof_broker;

/* Forks: before there are threads and secrets.  Owned by caller. */
struct prof_broker *prof_broker_new(struct prof_err *error);
void	prof_broker_free(struct prof_broker *broker);

/* One request.  What is not set is 0, but the descriptor -1. */
struct prof_call {
	enum prof_parse	 ca_what;
	int		 ca_fd;		/* the caller's; -1: none */
	const char	*ca_name;	/* of the file, for people */
	const void	*ca_bytes;
	size_t		 ca_size;
	size_t		 ca_most;	/* bytes that an answer may have */
	bool		 ca_can_wait;	/* it may be done slowly, ... */
	bool		 ca_can_fail;	/* ... or later, if asked again */
	unsigned	 ca_cpu_s;	/* that it may take; 0: as is usual */
	unsigned	 ca_wall_s;	/* the same, however busy we are */
	/*
	 * Opens what the parser asks for, in its own words, which may be
	 * answered, too; -1: it gets nothing.  NULL: it may not ask.
	 */
	int		 (*ca_open)(const struct prof_call *call, void *want);
	const void	*ca_open_arg;
	size_t		 ca_want;	/* bytes of such words, at most ... */
	/*
	 * Looks at the answer, and takes what is wanted of it, or all of it,
	 * and sets it to NULL.  false: it makes no sense, so whoever sent it
	 * is not asked again.
	 */
	bool		 (*ca_take)(struct prof_call *call);
	void		*ca_take_arg;
	/* Borrowed while it is looked at. */
	void		*ca_answer;
	size_t		 ca_answered;	/* bytes of it */
	uint64_t	 ca_cpu_ns;	/* of the parser, for this */
};

#define PROF_MOST_WANT	512	/* ... this */

enum prof_called {
	PROF_CALLED,		/* there was an answer, and it was taken */
	PROF_CALLED_LOST,	/* the file cost a parser, now or before */
	PROF_CALLED_NOBODY	/* no parser, or no memory: later, maybe */
};

enum prof_called prof_broker_call(struct prof_broker *broker,
	    struct prof_call *call);

/*
 * Requests that can wait have so much of a CPU (throttle.h); 0: no limit.
 * Those that can fail do where in_debt is set.  Do some wait?
 */
bool	prof_broker_throttle(struct prof_broker *broker, uint32_t share,
	    bool in_debt);

/* What became of it, for people and for the accounting. */
struct prof_broker_stats {
	unsigned	bs_lacks;	/* PROF_LACKS_*, of all of them */
	uint64_t	bs_started;	/* parsers */
	uint64_t	bs_lost;	/* files that cost one */
	uint64_t	bs_cpu_ns;	/* of the children, so far */
};

void	prof_broker_stats(struct prof_broker *broker,
	    struct prof_broker_stats *stats);
#define PROF_BROKER_HOW	80	/* bytes, of this: */
/* How they are kept in, in words. */
void	prof_broker_how(const struct prof_broker_stats *stats, char *text,
	    size_t size);
/* "FILE: ended by signal 11" of the n-th file lost; NULL: no more are named. */
const char *prof_broker_lost(const struct prof_broker *broker, size_t n);

#endif /* PROF_BROKER_H */
