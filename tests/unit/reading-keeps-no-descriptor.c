/*
 * ASSERTION: a descriptor that comes with an answer is the caller's or closed:
 * a helper that ends in the middle of an answer, at any byte of it, leaves
 * none open, and the request fails with EPIPE.
 *
 * Easy to get wrong: the descriptor comes with the first byte of the answer,
 * and what it belongs to with the last.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/socket.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "confine/reading.h"
#include "confine/wire.h"

#define NAME	"/a/file"

static int
open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir != NULL, "/proc/self/fd");
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return (n);
}

/* The helper's answer up to a length, with a descriptor; then it is gone. */
static int
ask_of(size_t length)
{
	const struct prof_reading_answer answer = { 0, 0 };
	char bytes[sizeof(answer) + sizeof(NAME)] = { 0 };
	const int give = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int pair[2], fd, error_number;

	memcpy(bytes, &answer, sizeof(answer));
	CHECK(give != -1 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    pair) == 0, "a socket");
	CHECK(prof_wire_send(pair[1], bytes, length, give, NULL), "answered");
	CHECK(shutdown(pair[1], SHUT_WR) == 0, "ended");
	close(give);
	prof_reading_by(pair[0]);
	fd = prof_reading_image(NAME);
	error_number = errno;
	prof_reading_by(-1);
	close(pair[0]);
	close(pair[1]);
	errno = error_number;
	return (fd);
}

int
main(void)
{
	const size_t all = sizeof(struct prof_reading_answer) + sizeof(NAME);
	const int before = open_descriptors();
	int fd;

	for (size_t length = 0; length < all; length++) {
		fd = ask_of(length);
		CHECK(fd == -1 && errno == EPIPE, "%zu bytes: %d, %s", length,
		    fd, strerror(errno));
		CHECK(open_descriptors() == before, "%zu bytes: one is left",
		    length);
	}
	fd = ask_of(all);
	CHECK(fd != -1 && open_descriptors() == before + 1, "a whole answer");
	close(fd);
	OK("%zu helpers that ended in an answer left no descriptor", all);
	return (0);
}
