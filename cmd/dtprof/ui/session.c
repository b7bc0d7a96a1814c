/* SPDX-License-Identifier: ISC */
/*
 * What record, stat and trace do alike with a session of libprof.
 */
#include <sys/wait.h>

#include <signal.h>

#include "../cmd.h"

struct prof_session *
session_open(const char *command, const struct prof_options *po,
    const struct opt_strings *events)
{
	struct prof_err error = { 0 };
	struct prof_session *session = prof_session_open(po, &error);

	if (session == NULL) {
		msg_prof(command, &error);
		return (NULL);
	}
	for (size_t n = 0; n < events->os_n; n++)
		if (prof_session_add_event(session, events->os_text[n]) ==
		    -1) {
			msg_prof(command, prof_session_error(session));
			prof_session_close(session);
			return (NULL);
		}
	return (session);
}

int
session_arm_diverted(struct prof_session *session, bool diverts)
{
	const int saved = divert_begin(diverts);
	const int rv = prof_session_arm(session);

	divert_end(saved);
	return (rv);
}

int
session_status(const char *command, const struct prof_status *ps,
    const struct ending *ending)
{
	if (ps->ps_command_pid == 0)
		return (0);
	if (ps->ps_command_done)
		return (WIFEXITED(ps->ps_command_status) ?
		    WEXITSTATUS(ps->ps_command_status) :
		    128 + WTERMSIG(ps->ps_command_status));
	msg_note(command, "the command is still running, as process %d",
	    ps->ps_command_pid);
	return (128 + (ending->en_interrupts > 1 ? SIGINT : SIGTERM));
}
