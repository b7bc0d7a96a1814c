/* SPDX-License-Identifier: ISC */
/*
 * Where control sockets lie, and the messages that go through them.
 *
 * Each recording listens on a Unix socket in a directory that only its user
 * can enter.  Sockets of recorders that died are removed by whoever finds
 * them.  Called by both ends, control.c and control_send.c.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control_impl.h"

/* ------------------------------------------------------ the directory */

/* Nobody but its owner may have a say in it. */
static bool
directory_is_private(int fd, uid_t uid)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == uid && (st.st_mode & 077) == 0);
}

static int
directory_open(const char *path, uid_t uid, bool create)
{
	int fd;

	if (create && mkdir(path, 0700) == -1 && errno != EEXIST)
		return (-1);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return (-1);
	if (!directory_is_private(fd, uid)) {
		close(fd);
		errno = EPERM;
		return (-1);
	}
	return (fd);
}

/* The sender looks in all of them: its TMPDIR need not be the recorder's. */
int
prof_control_place(unsigned n, uid_t uid, bool create)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096];

	if (n == 0)
		snprintf(path, sizeof(path), "/run/user/%u/dtprof", uid);
	else if (n == 1)
		snprintf(path, sizeof(path), "%.4000s/dtprof-%u",
		    tmp != NULL && *tmp == '/' ? tmp : "/tmp", uid);
	else if (n == 2)
		snprintf(path, sizeof(path), "/tmp/dtprof-%u", uid);
	else if (n == 3 && uid == 0)
		/* Where nobody else can have made one before. */
		snprintf(path, sizeof(path), "/run/dtprof");
	else {
		errno = 0;
		return (-1);
	}
	return (directory_open(path, uid, create));
}

void
prof_control_address(struct sockaddr_un *address, int dir, const char *name)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path),
	    "/proc/self/fd/%d/%s", dir, name);
}

int
prof_control_connect(int dir, const char *name, bool is_ours)
{
	const struct timeval wait = { .tv_sec = CONTROL_WAIT_S };
	struct sockaddr_un address;
	int fd;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (-1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	prof_control_address(&address, dir, name);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return (fd);
	if (is_ours && errno == ECONNREFUSED)
		unlinkat(dir, name, 0);
	close(fd);
	return (-1);
}

/* ------------------------------------------------------------ messages */

bool
prof_control_may_be(uint32_t type, size_t length)
{
	switch (type) {
	case PROF_R_MARK:
		return (length > 0 && length <= CONTROL_MARK);
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		return (length <= CONTROL_MARK);
	case PROF_ASK_DUMP:
	case PROF_ASK_SET:
	case PROF_ASK_STATUS:
	case PROF_ASK_STOP:
		return (length <= PROF_ASK_TEXT);
	default:
		return (false);
	}
}

bool
prof_control_is_message(struct control_message *message, ssize_t length)
{
	if (length < (ssize_t)CONTROL_HEAD ||
	    message->cm_magic != CONTROL_MAGIC ||
	    message->cm_length != (size_t)length - CONTROL_HEAD ||
	    message->cm_length > PROF_ASK_TEXT)
		return (false);
	message->cm_text[message->cm_length] = '\0';
	return (true);
}

int
prof_control_put(int fd, uint32_t type, uint64_t time_ns, const char *text)
{
	struct control_message message = {
		.cm_magic = CONTROL_MAGIC, .cm_type = type,
		.cm_time_ns = time_ns,
		.cm_length = (uint32_t)strnlen(text, PROF_ASK_TEXT),
	};

	memcpy(message.cm_text, text, message.cm_length);
	return (send(fd, &message, CONTROL_HEAD + message.cm_length,
	    MSG_DONTWAIT | MSG_NOSIGNAL) == -1 ? -1 : 0);
}
