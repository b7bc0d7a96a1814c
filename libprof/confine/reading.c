/* SPDX-License-Identifier: ISC */
/* The reader's side of reading.h: what it asks for. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "reading.h"
#include "wire.h"

/* A process is one reader, or none: threads ask one after the other. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static int helper = -1;

void
prof_reading_by(int sock)
{
	helper = sock;
}

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
	/* It ended between the descriptor and what belongs to it. */
	if (got != -1 && (!ok || came == NULL)) {
		(void)close(got);
		got = -1;
	}
	if (came != NULL)
		*came = got;
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

int
prof_image_open(const char *path)
{
	char same[32];
	struct stat st;
	int at, fd = -1;

	if (prof_reading_is_confined())
		return (prof_reading_image(path));
	at = path[0] == '/' ? open(path, O_PATH | O_CLOEXEC) : -1;
	if (at == -1)
		return (-1);
	/* What was looked at is what is opened: the name may change hands. */
	snprintf(same, sizeof(same), "/proc/self/fd/%d", at);
	if (fstat(at, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(same, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	(void)close(at);
	return (fd);
}
