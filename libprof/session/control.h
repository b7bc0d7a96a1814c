/* SPDX-License-Identifier: ISC */
/*
 * The control channel of recorders: dtprof mark and dtprof ctl send markers
 * and requests, recorders take and answer them.
 */
#ifndef PROF_CONTROL_H
#define PROF_CONTROL_H

#include <stdbool.h>

#include "base/record.h"
#include "prof.h"

/* What is not a record; the values are none of enum prof_record_type. */
enum prof_ask_type {
	PROF_ASK_DUMP = 64,	/* text: NS FILE, how much (0: all), to where */
	PROF_ASK_SET,		/* text: KEY=VALUE */
	PROF_ASK_STATUS,
	PROF_ASK_STOP
};

#define PROF_ASK_TEXT	8192	/* bytes of a request or answer at most */

/* A request that a recorder has to answer. */
struct prof_ask {
	enum prof_ask_type ak_type;
	uint64_t	 ak_id;
	uint64_t	 ak_time_ns;	/* when it was sent */
	char		 ak_text[PROF_ASK_TEXT + 1];
};

/* ------------------------------------------------------- the receiver */

/*
 * The receiving end: a socket of this recording.  Never blocks.  The
 * descriptor is readable when there is something to take.
 */
struct prof_control;
struct prof_control *prof_control_open(struct prof_err *error);
int	prof_control_fd(const struct prof_control *control);
/* From now on requests are kept for prof_control_ask; before, refused. */
void	prof_control_serve(struct prof_control *control);
/*
 * One PROF_R_MARK, _PAUSE or _RESUME each; answered once fn returned 0; else
 * what fn returned.
 */
int	prof_control_take(struct prof_control *control, prof_record_fn *fn,
	    void *arg);
/* The next request that was not handed over yet; false: there is none. */
bool	prof_control_ask(struct prof_control *control, struct prof_ask *ask);
/* Whoever asked may have gone; then nothing happens. */
void	prof_control_answer(struct prof_control *control, uint64_t id,
	    bool is_done, const char *text);
void	prof_control_close(struct prof_control *control);

/* --------------------------------------------------------- the sender */

/* Which recorders: PID, else by their socket, else all of this user. */
struct prof_recorders {
	int		 rr_pid;
	const char	*rr_socket;
	bool		 rr_is_one;	/* several are an error */
};

/* An answer of a recorder: it did what it was asked, or says why not. */
typedef void prof_answer_fn(void *arg, int pid, bool is_done,
	    const char *text);

/*
 * Send a request or a marker (enum prof_record_type), and wait for answers.
 * How many recorders did it; -1: none could be asked.
 */
int	prof_control_send(const struct prof_recorders *recorders, unsigned type,
	    const char *text, prof_answer_fn *fn, void *arg,
	    struct prof_err *error);

#endif /* PROF_CONTROL_H */
