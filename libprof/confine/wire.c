/* SPDX-License-Identifier: ISC */
/* See wire.h.  Called by broker.c, keeper.c and parser.c. */
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

#define LOOK_MS		100	/* how often limits are looked at */
#define SLOWER		16	/* times: who is made to sleep */
#define NS_PER_S	1000000000ULL

/* Room for one descriptor, aligned as its header must be. */
union passed {
	struct cmsghdr	pa_head;
	char		pa_room[CMSG_SPACE(sizeof(int))];
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec);
}

uint64_t
prof_wire_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return (clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0);
}

/* Most of the time between two looks does not count. */
static void
add_slept(const struct prof_wire_limit *limit)
{
	if (limit != NULL && limit->wl_slow != NULL &&
	    __atomic_load_n(limit->wl_slow, __ATOMIC_RELAXED) != 0)
		*limit->wl_slept_ns += LOOK_MS * (SLOWER - 1) * NS_PER_S /
		    (SLOWER * 1000);
}

static bool
is_over(const struct prof_wire_limit *limit)
{
	const uint64_t more_ns = limit->wl_slow == NULL ? 0 :
	    *limit->wl_slept_ns;

	return (clock_ns(CLOCK_MONOTONIC) >= limit->wl_until_ns + more_ns ||
	    prof_wire_cpu_ns(limit->wl_pid) >= limit->wl_cpu_until_ns);
}

/* Until the socket is ready.  false: no longer, errno is ETIME. */
static bool
wait_for(int sock, short what, const struct prof_wire_limit *limit)
{
	struct pollfd pollfd = { .fd = sock, .events = what };
	int n;

	do {
		n = poll(&pollfd, 1, limit == NULL ? -1 : LOOK_MS);
		if (n > 0)
			return (true);
		if (n == -1 && errno != EINTR)
			return (false);
		if (n == 0)
			add_slept(limit);
	} while (limit == NULL || !is_over(limit));
	errno = ETIME;
	return (false);
}

bool
prof_wire_send(int sock, const void *bytes, size_t size, int fd,
    const struct prof_wire_limit *limit)
{
	union passed passed;
	struct iovec iov;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	const char *at = bytes;
	ssize_t n;

	memset(&passed, 0, sizeof(passed));
	if (fd != -1) {
		msg.msg_control = &passed;
		msg.msg_controllen = sizeof(passed);
		passed.pa_head.cmsg_level = SOL_SOCKET;
		passed.pa_head.cmsg_type = SCM_RIGHTS;
		passed.pa_head.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&passed.pa_head), &fd, sizeof(fd));
	}
	while (size > 0) {
		iov.iov_base = (void *)(uintptr_t)at;
		iov.iov_len = size;
		n = sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			at += n;
			size -= (size_t)n;
			msg.msg_control = NULL;
			msg.msg_controllen = 0;
		} else if (errno != EINTR && (errno != EAGAIN ||
		    !wait_for(sock, POLLOUT, limit)))
			return (false);
	}
	return (true);
}

/* The one descriptor that may have come; more cannot, there is no room. */
static void
take_fd(struct msghdr *msg, int *fd)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(msg);
	int came;

	if (head == NULL || head->cmsg_level != SOL_SOCKET ||
	    head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(came)))
		return;
	memcpy(&came, CMSG_DATA(head), sizeof(came));
	if (*fd != -1)
		close(*fd);
	*fd = came;
}

bool
prof_wire_recv(int sock, void *bytes, size_t size, int *fd,
    const struct prof_wire_limit *limit)
{
	union passed passed;
	struct iovec iov;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	char *at = bytes;
	ssize_t n;

	if (fd != NULL)
		*fd = -1;
	while (size > 0) {
		iov.iov_base = at;
		iov.iov_len = size;
		msg.msg_control = fd == NULL ? NULL : &passed;
		msg.msg_controllen = fd == NULL ? 0 : sizeof(passed);
		n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n > 0) {
			at += n;
			size -= (size_t)n;
			if (fd != NULL)
				take_fd(&msg, fd);
			continue;
		}
		if (n == 0)
			errno = EPIPE;
		if (n == 0 || (errno != EINTR && (errno != EAGAIN ||
		    !wait_for(sock, POLLIN, limit)))) {
			if (fd != NULL && *fd != -1) {
				close(*fd);
				*fd = -1;
			}
			return (false);
		}
	}
	return (true);
}
