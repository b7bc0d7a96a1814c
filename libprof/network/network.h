/* SPDX-License-Identifier: ISC */
/*
 * HTTP to a server that the user named: a store, or a receiver of profiles.
 * Requests are made by a child without privileges (child.c), which loads
 * libcurl; so neither libcurl nor what a server answers is ever in a process
 * with privileges.  TLS, and proxies from the environment, are libcurl's.
 *
 * Called by commands, through prof_command.h.  One request at a time; none
 * of it may be called from two threads.
 */
#ifndef PROF_NETWORK_H
#define PROF_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof.h"

#define PROF_NETWORK_SECRET	4096	/* the longest, with its NUL */

struct prof_network;

struct prof_network_options {
	const char	*no_url;	/* http://[USER@]HOST[:PORT]/PATH */
	/*
	 * A file with the password of USER, or without one with a bearer
	 * token; NULL: none.  The secret is in no argument or environment,
	 * and of all processes only the child keeps it.
	 */
	const char	*no_secret_file;
};

struct prof_request {
	const char	*rq_path;	/* behind the URL, or "" */
	const char	*rq_type;	/* Content-Type, or NULL */
	const void	*rq_body;
	size_t		 rq_length;
	bool		 rq_gzip;	/* the child compresses the body */
	unsigned	 rq_timeout_s;	/* for all of it; 0: 60 */
	uint64_t	 rq_max_answer;	/* bytes; 0: 1 MiB */
};

struct prof_answer {
	unsigned	 an_status;	/* of HTTP; 0: there was no answer */
	unsigned	 an_retry_after_s; /* what the server asked for, or 0 */
	int		 an_fd;		/* a memory file, the body; or -1 */
	uint64_t	 an_length;
	uint64_t	 an_sent;	/* bytes of the body, compressed */
	/* Why there is none, or how the body begins: to be shown, cleaned. */
	char		 an_text[300];
};

/* Owned by caller; NULL: error says why.  Starts the child. */
struct prof_network *prof_network_open(
	    const struct prof_network_options *options,
	    struct prof_err *error);
/*
 * A POST.  0: see answer, whose descriptor is then owned by the caller; -1:
 * the child is gone or no memory is left, and error says so.
 */
int	prof_network_post(struct prof_network *network,
	    const struct prof_request *request, struct prof_answer *answer,
	    struct prof_err *error);
void	prof_network_close(struct prof_network *network);

/* Close an answer's descriptor, if it has one. */
void	prof_answer_free(struct prof_answer *answer);
/* Has it been accepted? */
bool	prof_answer_is_good(const struct prof_answer *answer);
/* Not for good: no answer, 408, 425, 429, 502, 503, 504. */
bool	prof_answer_may_pass(const struct prof_answer *answer);

/* How long trying goes on, and how long to wait before the next time. */
struct prof_backoff {
	uint64_t	 bo_until_ns;	/* CLOCK_MONOTONIC */
	unsigned	 bo_tries;
};

struct prof_backoff prof_backoff_begin(uint64_t for_ns);
/*
 * Sleep: twice as long each time, by chance a half more or less, and no less
 * than the server asked for.  false: there is no time for that, and it has
 * not slept.
 */
bool	prof_backoff_wait(struct prof_backoff *backoff,
	    const struct prof_answer *answer);

#endif /* PROF_NETWORK_H */
