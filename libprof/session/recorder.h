/* SPDX-License-Identifier: ISC */
/*
 * What dtprof record asks of a session beside the public interface: requests
 * that came over the control channel, what a ring holds now, and records for a
 * second listener, which looks for triggers in them.
 */
#ifndef PROF_RECORDER_H
#define PROF_RECORDER_H

#include "backend/backend.h"
#include "recording/sink.h"
#include "session/control.h"

/*
 * Before arm.  The listener hears what the sink of the session hears, symbols
 * and the end excepted, after the sink; it is copied.
 */
int	prof_session_watch(struct prof_session *session,
	    const struct prof_sink *listener);

/* After arm: take requests as well as markers. */
void	prof_session_serve(struct prof_session *session);
/* The next request; false: there is none. */
bool	prof_session_ask(struct prof_session *session, struct prof_ask *ask);
void	prof_session_answer(struct prof_session *session, uint64_t id,
	    bool is_done, const char *text);

/* As prof_session_dump, without chunks that end before this time. */
int	prof_session_dump_from(struct prof_session *session, uint64_t from_ns,
	    const char *path, const char *reason, uint64_t requested_ns);

/* With po_ring_bytes: what is kept now. */
struct prof_kept {
	uint64_t	kp_history_ns;	/* since its oldest sample */
	uint64_t	kp_bytes;
};
struct prof_kept prof_session_kept(const struct prof_session *session);

/*
 * Tell of each blocked thread whose wait began while recording: since when.
 * -1: they are not known, as there is no off-cpu event, it has a filter, or it
 * is recorded without BPF.
 */
int	prof_session_waiting(struct prof_session *session,
	    prof_waiting_fn *fn, void *arg);

#endif /* PROF_RECORDER_H */
