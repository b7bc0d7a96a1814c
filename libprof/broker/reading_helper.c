/* SPDX-License-Identifier: ISC */
/*
 * The helper of reading.h: opens, for a reader that is not trusted, and looks
 * at nothing but the first bytes of a program.
 */
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/reading.h"
#include "confine/wire.h"
#include "elf/debug_file.h"
#include "reading_helper.h"
#include "recording/place.h"

#define MAX_REQUEST	(4 * PATH_MAX)
#define COPY		(1 << 20)

/* One request.  Its bytes end with a NUL that is not counted. */
struct request {
	const struct prof_reading *rq_reading;
	unsigned	 rq_what;
	char		*rq_bytes;
	size_t		 rq_size;
	int		 rq_fd;		/* that came along; -1: none */
	int		 rq_give;	/* to go back; -1: none */
};

/* ------------------------------------------------------------- programs */

/* Not a core, which is somebody's memory; /proc/kcore is one. */
static bool
is_program(int fd)
{
	unsigned char bytes[EI_NIDENT];
	uint16_t type;

	return (pread(fd, bytes, sizeof(bytes), 0) ==
	    (ssize_t)sizeof(bytes) &&
	    memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
	    pread(fd, &type, sizeof(type), EI_NIDENT) ==
	    (ssize_t)sizeof(type) &&
	    (type == ET_REL || type == ET_EXEC || type == ET_DYN));
}

/*
 * A program as it is.  Of any other file only that it is there, and which: a
 * descriptor by which nothing can be read.
 */
static int
descriptor_narrow(int fd)
{
	char same[32];
	int at;

	if (fd == -1 || is_program(fd))
		return (fd);
	snprintf(same, sizeof(same), "/proc/self/fd/%d", fd);
	at = open(same, O_PATH | O_CLOEXEC);
	(void)close(fd);
	return (at);
}

static int
serve_image(struct request *rq)
{
	rq->rq_give = descriptor_narrow(prof_image_open(rq->rq_bytes));
	return (0);
}

/* As the recorder does for a parser. */
static int
serve_debug(struct request *rq)
{
	struct prof_debug_want want;
	const char *dirs = rq->rq_bytes + sizeof(want);

	if (rq->rq_size <= sizeof(want) || rq->rq_fd == -1)
		return (-1);
	memcpy(&want, rq->rq_bytes, sizeof(want));
	rq->rq_give = descriptor_narrow(prof_debug_candidate(&want, rq->rq_fd,
	    dirs[0] == '\0' ? NULL : dirs));
	memcpy(rq->rq_bytes, &want, sizeof(want));
	return (0);
}

static int
serve_beside(struct request *rq)
{
	if (rq->rq_fd == -1)
		return (-1);
	rq->rq_give =
	    descriptor_narrow(prof_debug_beside(rq->rq_bytes, rq->rq_fd));
	return (0);
}

/* -------------------------------------------------------- all the others */

static int
serve_input(struct request *rq)
{
	if (!rq->rq_reading->rg_may_read(rq->rq_reading->rg_arg,
	    rq->rq_bytes)) {
		errno = EPERM;
		return (-1);
	}
	rq->rq_give = open(rq->rq_bytes, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return (rq->rq_give == -1 ? -1 : 0);
}

static int
serve_kernel(struct request *rq)
{
	static const char *const names[] = { "/proc/kallsyms",
	    "/proc/modules", "/sys/kernel/notes",
	    "/proc/sys/kernel/random/boot_id" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(rq->rq_bytes, names[i]) == 0)
			rq->rq_give = open(names[i], O_RDONLY | O_CLOEXEC);
	return (0);
}

static int
file_copy(int from, int to)
{
	char *bytes = malloc(COPY);
	off_t at = 0;
	ssize_t n, done, part;

	if (bytes == NULL)
		return (-1);
	while ((n = pread(from, bytes, COPY, at)) > 0) {
		for (done = 0; done < n; done += part) {
			part = write(to, bytes + done, (size_t)(n - done));
			if (part == -1)
				break;
		}
		if (done < n)
			break;
		at += n;
	}
	free(bytes);
	return (n == 0 ? 0 : -1);
}

/* As the writer of a recording would, where the user wants it. */
static int
serve_recording(struct request *rq)
{
	const char *path = rq->rq_bytes + sizeof(struct prof_err);
	struct prof_err error = { 0 };
	struct prof_place place;
	int rv = -1;

	if (rq->rq_size <= sizeof(error) || rq->rq_fd == -1)
		return (-1);
	if (!rq->rq_reading->rg_may_write(rq->rq_reading->rg_arg, path))
		prof_place_fail(&error, path, EPERM);
	else if (prof_place_open(&place, path, &error) == 0) {
		if (file_copy(rq->rq_fd, place.pl_fd) == 0 &&
		    prof_place_finish(&place) == 0) {
			prof_place_keep(&place);
			rv = 0;
		} else {
			prof_place_fail(&error, path, errno);
			prof_place_undo(&place);
		}
		prof_place_close(&place);
	}
	memcpy(rq->rq_bytes, &error, sizeof(error));
	return (rv);
}

static int
serve_own(struct request *rq)
{
	const struct prof_reading *reading = rq->rq_reading;

	if (reading->rg_serve == NULL || rq->rq_what < PROF_READING_OWN) {
		errno = EPERM;
		return (-1);
	}
	return (reading->rg_serve(reading->rg_arg, rq->rq_what,
	    rq->rq_bytes, rq->rq_size, rq->rq_fd, &rq->rq_give));
}

/* ------------------------------------------------------------- requests */

static int
request_serve(struct request *rq)
{
	static int (*const serves[])(struct request *) = {
		[PROF_READING_INPUT] = serve_input,
		[PROF_READING_IMAGE] = serve_image,
		[PROF_READING_DEBUG] = serve_debug,
		[PROF_READING_BESIDE] = serve_beside,
		[PROF_READING_KERNEL] = serve_kernel,
		[PROF_READING_RECORDING] = serve_recording,
	};

	errno = 0;
	if (rq->rq_what < sizeof(serves) / sizeof(serves[0]) &&
	    serves[rq->rq_what] != NULL)
		return (serves[rq->rq_what](rq));
	return (serve_own(rq));
}

/* Read, serve, answer.  false: the reader has ended, or makes no sense. */
static bool
serve_one(struct request *rq, int sock)
{
	struct prof_reading_answer answer;
	struct prof_wire head;
	bool ok;

	rq->rq_give = -1;
	if (!prof_wire_recv(sock, &head, sizeof(head), &rq->rq_fd, NULL))
		return (false);
	ok = head.wi_bytes <= MAX_REQUEST && prof_wire_recv(sock,
	    rq->rq_bytes, head.wi_bytes, NULL, NULL);
	if (ok) {
		rq->rq_what = head.wi_kind;
		rq->rq_size = head.wi_bytes;
		rq->rq_bytes[rq->rq_size] = '\0';
		answer.ra_value = request_serve(rq);
		answer.ra_errno = errno;
		ok = prof_wire_send(sock, &answer, sizeof(answer),
		    rq->rq_give, NULL) && prof_wire_send(sock, rq->rq_bytes,
		    rq->rq_size, -1, NULL);
	}
	if (rq->rq_fd != -1)
		(void)close(rq->rq_fd);
	if (rq->rq_give != -1)
		(void)close(rq->rq_give);
	return (ok);
}

void
prof_reading_serve(const struct prof_reading *reading, int sock)
{
	struct request rq = { .rq_reading = reading,
	    .rq_bytes = malloc(MAX_REQUEST + 1) };

	while (rq.rq_bytes != NULL && serve_one(&rq, sock))
		continue;
	free(rq.rq_bytes);
}
