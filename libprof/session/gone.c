/* SPDX-License-Identifier: ISC */
/*
 * Processes whose exit events were lost.  Without those, their mappings would
 * be kept until another process gets the same number.  After a loss, at most
 * every 10 s, each process that we know is looked for:
 *
 *	first round	which ones do not exist any more?
 *	   :		events from before that are still being read
 *	later round	forget them, as if they had exited in the first round
 *
 * These exits are not recorded, because no event told of them.
 *
 * Called by session.c in each round.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "session_impl.h"

#define LOOK_NS		10000000000ULL

struct prof_gone {
	uint32_t	*go_pid;
	size_t		 go_n;
	uint64_t	 go_seen_ns;	/* when they were looked for */
	uint64_t	 go_losses;	/* of which it was known then */
};

static bool
is_gone(uint32_t pid)
{
	return (pid != 0 && pid <= INT_MAX && kill((pid_t)pid, 0) == -1 &&
	    errno == ESRCH);
}

static int
pid_look(void *arg, uint32_t pid)
{
	struct prof_gone *gone = arg;
	uint32_t *place;

	if (!is_gone(pid))
		return (0);
	place = prof_append(&gone->go_pid, &gone->go_n, sizeof(*place));
	if (place == NULL)
		return (-1);
	*place = pid;
	return (0);
}

/* Asked again: another process may have the number by now. */
static int
gone_forget(struct prof_session *session, struct prof_gone *gone)
{
	for (size_t n = 0; n < gone->go_n; n++)
		if (is_gone(gone->go_pid[n]) && prof_session_ended(session,
		    gone->go_pid[n], gone->go_seen_ns) == -1)
			return (-1);
	free(gone->go_pid);
	gone->go_pid = NULL;
	gone->go_n = 0;
	return (0);
}

int
prof_gone_look(struct prof_session *session)
{
	const uint64_t now_ns = prof_now_ns(),
	    losses = prof_reread_losses(session->se_reread);
	struct prof_gone *gone = session->se_gone;

	if (gone->go_n > 0)
		return (session->se_taken_ns <= gone->go_seen_ns ? 0 :
		    gone_forget(session, gone));
	if (losses == gone->go_losses || now_ns - gone->go_seen_ns < LOOK_NS)
		return (0);
	gone->go_losses = losses;
	gone->go_seen_ns = now_ns;
	return (prof_processes_alive(prof_noted_processes(session->se_noted),
	    pid_look, gone) == -1 ? prof_fail_nomem(&session->se_error) : 0);
}

struct prof_gone *
prof_gone_new(void)
{
	return (calloc(1, sizeof(struct prof_gone)));
}

void
prof_gone_free(struct prof_gone *gone)
{
	if (gone != NULL)
		free(gone->go_pid);
	free(gone);
}
