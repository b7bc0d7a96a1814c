/* SPDX-License-Identifier: ISC */
/*
 * How a reader begins (confine/reading.h): it is forked from the helper, which
 * goes on as long as it.  Called by commands, through prof_command.h.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "confine/confine.h"
#include "confine/privilege.h"
#include "confine/reading.h"
#include "parser.h"
#include "reading_helper.h"

/* The helper's end is ours: with the same status, or by the same signal. */
static void __attribute__((noreturn))
end_as(pid_t reader)
{
	int status = 0;

	while (waitpid(reader, &status, 0) == -1 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status)) {
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

static int
begin_reader(int sock, pid_t parent)
{
	(void)prof_confine_rights(PROF_CONFINED_READER);
	/* After the change of user, which forgets it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    getppid() != parent)
		_exit(PROF_PARSER_LOST);
	(void)prctl(PR_SET_NAME, "dtprof-reader", 0, 0, 0);
	(void)prof_confine_calls(PROF_CONFINED_READER);
	prof_reading_by(sock);
	return (0);
}

int
prof_reading_confine(const struct prof_reading *reading,
    struct prof_err *error)
{
	struct prof_reading own = { 0 };
	const pid_t parent = getpid();
	int pair[2];
	pid_t pid;

	if (prof_options_take(&own, sizeof(own), reading, "prof_reading",
	    error) == -1)
		return (-1);

	/* A file's capabilities are given up; his own files are the user's. */
	if (geteuid() != 0) {
		(void)prof_privileges_drop();
		return (0);
	}
	if (prof_confine_is_instrumented())
		return (0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
		pid = fork();
		if (pid == 0) {
			(void)close(pair[0]);
			return (begin_reader(pair[1], parent));
		}
		(void)close(pair[1]);
		if (pid != -1) {
			(void)prof_privileges_limit(PROF_CAPS_HELPER);
			prof_reading_serve(&own, pair[0]);
			(void)close(pair[0]);
			end_as(pid);
		}
		(void)close(pair[0]);
	}
	prof_fail(error, PROF_E_LIMIT, "cannot start the reader process: "
	    "%s", strerror(errno));
	return (-1);
}
