/* SPDX-License-Identifier: ISC */
/* The reader's side of reading.h: how one begins, and what it asks for. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "broker/parser.h"
#include "broker/reading_helper.h"
#include "confine.h"
#include "privilege.h"
#include "reading.h"
#include "wire.h"

/* A process is one reader, or none: threads ask one after the other. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static int helper = -1;

int
prof_reading_is_confined(void)
{
	return (helper != -1);
}

int
prof_reading_ask(unsigned what, void *bytes, size_t size, int fd, int *came)
{
	const struct prof_wire head = { what, 0, size };
	struct prof_reading_answer answer;
	int got = -1;
	bool ok;

	pthread_mutex_lock(&asking);
	ok = prof_wire_send(helper, &head, sizeof(head), fd, NULL) &&
	    prof_wire_send(helper, bytes, size, -1, NULL) &&
	    prof_wire_recv(helper, &answer, sizeof(answer), &got, NULL) &&
	    prof_wire_recv(helper, bytes, size, NULL, NULL);
	pthread_mutex_unlock(&asking);
	if (came != NULL)
		*came = ok ? got : -1;
	else if (got != -1)
		(void)close(got);
	if (!ok) {
		errno = EPIPE;
		return (-1);
	}
	errno = answer.ra_errno;
	return (answer.ra_value);
}

/* ------------------------------------------------------------ requests */

/* A name, and one descriptor back. */
static int
ask_open(unsigned what, const char *name, int file)
{
	const size_t size = strlen(name) + 1;
	char *copy = strdup(name);
	int fd = -1, error_number;

	if (copy == NULL)
		return (-1);
	if (prof_reading_ask(what, copy, size, file, &fd) == -1 && fd != -1) {
		(void)close(fd);
		fd = -1;
	}
	error_number = errno;
	free(copy);
	errno = error_number;
	return (fd);
}

int
prof_reading_open(const char *path, int flags)
{
	if (helper == -1)
		return (open(path, O_RDONLY | O_CLOEXEC | flags));
	return (ask_open(PROF_READING_INPUT, path, -1));
}

int
prof_reading_image(const char *path)
{
	return (ask_open(PROF_READING_IMAGE, path, -1));
}

int
prof_reading_beside(const char *name, int file)
{
	return (ask_open(PROF_READING_BESIDE, name, file));
}

int
prof_reading_kernel(const char *path)
{
	return (helper == -1 ? open(path, O_RDONLY | O_CLOEXEC) :
	    ask_open(PROF_READING_KERNEL, path, -1));
}

int
prof_reading_debug(struct prof_debug_want *want, int file,
    const char *debug_dirs)
{
	const char *dirs = debug_dirs == NULL ? "" : debug_dirs;
	const size_t size = sizeof(*want) + strlen(dirs) + 1;
	char *bytes = malloc(size);
	int fd = -1;

	if (bytes == NULL)
		return (-1);
	memcpy(bytes, want, sizeof(*want));
	memcpy(bytes + sizeof(*want), dirs, strlen(dirs) + 1);
	(void)prof_reading_ask(PROF_READING_DEBUG, bytes, size, file, &fd);
	memcpy(want, bytes, sizeof(*want));
	free(bytes);
	return (fd);
}

int
prof_reading_recording(const char *path, int memory, struct prof_err *error)
{
	const size_t size = sizeof(*error) + strlen(path) + 1;
	char *bytes = calloc(1, size);
	int rv;

	if (bytes == NULL)
		return (prof_fail_nomem(error));
	memcpy(bytes + sizeof(*error), path, strlen(path) + 1);
	rv = prof_reading_ask(PROF_READING_RECORDING, bytes, size, memory,
	    NULL);
	if (rv == -1)
		memcpy(error, bytes, sizeof(*error));
	free(bytes);
	return (rv);
}

/* ------------------------------------------------------------ beginning */

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
	helper = sock;
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
