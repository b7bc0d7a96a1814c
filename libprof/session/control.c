/* SPDX-License-Identifier: ISC */
/*
 * The receiving end of the control channel:
 *
 *	socket -> client -> marker: the session takes it -> answer
 *			 -> request: kept until the recorder answers it
 *
 * It is drained by the session (prof_control_take), never blocks it, and takes
 * messages from its own user and from root only.  The time of a message is the
 * sender's, so waiting in the socket does not move a marker.
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "control_impl.h"

#define CLIENTS		16	/* connected and not yet answered */
#define SLOTS		64	/* recordings of one process */

struct control_client {
	int		 cl_fd;		/* -1: free */
	struct prof_ask	*cl_ask;	/* what it waits for; NULL: silent */
	bool		 cl_is_asked;	/* the recorder has it */
};

struct prof_control {
	int		 co_epoll;	/* all descriptors below */
	int		 co_listen;
	int		 co_dir;
	char		 co_name[64];	/* in co_dir */
	bool		 co_serves;	/* requests, too */
	uint64_t	 co_asks;	/* so far: they number requests */
	struct control_client co_client[CLIENTS];
	size_t		 co_oldest;	/* the slot to give up next */
};

static int	 listen_apart(struct prof_control *control, char *name,
		    size_t size);
static int	 take_name(const struct prof_control *control,
		    const char *apart);
static int	 listen_at(struct prof_control *control,
		    struct prof_err *error);
static int	 fd_watch(struct prof_control *control, int fd);
static void	 client_drop(struct control_client *client);
static void	 client_accept(struct prof_control *control);
static int	 client_take(struct prof_control *control,
		    struct control_client *client, prof_record_fn *fn,
		    void *arg);

/* ---------------------------------------------------------- the socket */

/* Under a name of its own, which senders do not look for. */
static int
listen_apart(struct prof_control *control, char *name, size_t size)
{
	struct sockaddr_un address;

	snprintf(name, size, "%d.%p.new", (int)getpid(), (void *)control);
	(void)unlinkat(control->co_dir, name, 0); /* of a dead process */
	prof_control_address(&address, control->co_dir, name);
	if (bind(control->co_listen, (struct sockaddr *)&address,
	    sizeof(address)) == -1)
		return (-1);
	return (listen(control->co_listen, CLIENTS));
}

/* A name in use: of a dead process with our pid, or our other session's. */
static int
take_name(const struct prof_control *control, const char *apart)
{
	const int dir = control->co_dir;
	int fd;

	if (linkat(dir, apart, dir, control->co_name, 0) == 0)
		return (0);
	if (errno != EEXIST)
		return (-1);
	fd = prof_control_connect(dir, control->co_name, true);
	if (fd != -1) {
		close(fd);
		errno = EEXIST;
		return (-1);
	}
	return (linkat(dir, apart, dir, control->co_name, 0));
}

/* What senders find listens already, or they would take it for dead. */
static int
listen_at(struct prof_control *control, struct prof_err *error)
{
	char apart[sizeof(control->co_name)];
	int rv = listen_apart(control, apart, sizeof(apart));
	int why = errno;

	for (unsigned n = 0; rv == 0 && n < SLOTS; n++) {
		snprintf(control->co_name, sizeof(control->co_name),
		    "%d.%u" CONTROL_SUFFIX, (int)getpid(), n);
		if (take_name(control, apart) == 0)
			break;
		why = errno;
		control->co_name[0] = '\0';
		if (why != EEXIST)
			break;
	}
	(void)unlinkat(control->co_dir, apart, 0);
	return (control->co_name[0] != '\0' ? 0 : prof_fail(error, PROF_E_IO,
	    "cannot create the control socket: %s", strerror(why)));
}

static int
fd_watch(struct prof_control *control, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.fd = fd;
	return (epoll_ctl(control->co_epoll, EPOLL_CTL_ADD, fd, &event));
}

struct prof_control *
prof_control_open(struct prof_err *error)
{
	struct prof_control *control = calloc(1, sizeof(*control));

	if (control == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	control->co_dir = control->co_listen = -1;
	for (size_t n = 0; n < CLIENTS; n++)
		control->co_client[n].cl_fd = -1;
	control->co_epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned n = 0; control->co_dir == -1; n++) {
		control->co_dir = prof_control_place(n, geteuid(), true);
		if (control->co_dir == -1 && errno == 0)
			break;
	}
	if (control->co_dir == -1) {
		prof_fail(error, PROF_E_IO, "no private directory for the "
		    "control socket, neither below /run/user nor in the "
		    "temporary directory");
		goto fail;
	}
	control->co_listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (control->co_epoll == -1 || control->co_listen == -1) {
		prof_fail(error, PROF_E_IO, "cannot create the control "
		    "socket: %s", strerror(errno));
		goto fail;
	}
	if (listen_at(control, error) == -1)
		goto fail;
	if (fd_watch(control, control->co_listen) == 0)
		return (control);
	prof_fail(error, PROF_E_IO, "cannot watch the control socket: %s",
	    strerror(errno));
fail:
	prof_control_close(control);
	return (NULL);
}

int
prof_control_fd(const struct prof_control *control)
{
	return (control->co_epoll);
}

void
prof_control_serve(struct prof_control *control)
{
	control->co_serves = true;
}

void
prof_control_close(struct prof_control *control)
{
	if (control == NULL)
		return;
	if (control->co_name[0] != '\0')
		unlinkat(control->co_dir, control->co_name, 0);
	for (size_t n = 0; n < CLIENTS; n++)
		client_drop(&control->co_client[n]);
	if (control->co_listen != -1)
		close(control->co_listen);
	if (control->co_dir != -1)
		close(control->co_dir);
	if (control->co_epoll != -1)
		close(control->co_epoll);
	free(control);
}

/* ------------------------------------------------------------- clients */

static void
client_drop(struct control_client *client)
{
	if (client->cl_fd != -1)
		close(client->cl_fd);
	free(client->cl_ask);
	*client = (struct control_client){ .cl_fd = -1 };
}

/* NULL: all wait for answers.  Else who has been silent for longest goes. */
static struct control_client *
client_free(struct prof_control *control)
{
	struct control_client *client;

	for (size_t n = 0; n < CLIENTS; n++)
		if (control->co_client[n].cl_fd == -1)
			return (&control->co_client[n]);
	for (size_t n = 0; n < CLIENTS; n++) {
		client = &control->co_client[control->co_oldest++ % CLIENTS];
		if (client->cl_ask != NULL)
			continue;
		client_drop(client);
		return (client);
	}
	return (NULL);
}

static void
client_accept(struct prof_control *control)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t length = sizeof(peer);
	struct control_client *client;
	int fd;

	fd = accept4(control->co_listen, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == -1 ||
	    (peer.uid != geteuid() && peer.uid != 0) ||
	    (client = client_free(control)) == NULL) {
		close(fd);
		return;
	}
	client->cl_fd = fd;
	if (fd_watch(control, fd) == -1)
		client_drop(client);
}

static int
marker_take(struct control_client *client,
    const struct control_message *message, prof_record_fn *fn, void *arg)
{
	struct prof_record record = { .pr_comm = "" };
	struct ucred peer = { 0 };
	socklen_t length = sizeof(peer);
	int rv;

	getsockopt(client->cl_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
	record.pr_type = message->cm_type;
	record.pr_time_ns = message->cm_time_ns;
	record.pr_pid = record.pr_tid = (uint32_t)peer.pid;
	record.pr_path = message->cm_text;
	rv = fn(arg, &record);
	if (rv == 0)
		(void)prof_control_put(client->cl_fd, CONTROL_DONE,
		    prof_now_ns(), "");
	client_drop(client);
	return (rv);
}

static void
ask_take(struct prof_control *control, struct control_client *client,
    const struct control_message *message)
{
	struct prof_ask *ask = control->co_serves ?
	    calloc(1, sizeof(*ask)) : NULL;

	if (ask == NULL) {
		(void)prof_control_put(client->cl_fd, CONTROL_REFUSED, 0,
		    control->co_serves ? "out of memory" :
		    "only dtprof record takes requests");
		client_drop(client);
		return;
	}
	ask->ak_type = message->cm_type;
	ask->ak_id = ++control->co_asks;
	ask->ak_time_ns = message->cm_time_ns;
	memcpy(ask->ak_text, message->cm_text, message->cm_length + 1);
	client->cl_ask = ask;
}

/* One message, one answer; after it there is only the end. */
static int
client_take(struct prof_control *control, struct control_client *client,
    prof_record_fn *fn, void *arg)
{
	struct control_message message;
	const ssize_t got = recv(client->cl_fd, &message, sizeof(message),
	    MSG_DONTWAIT);
	const uint64_t now_ns = prof_now_ns();

	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (client->cl_ask != NULL ||
	    !prof_control_is_message(&message, got) ||
	    !prof_control_may_be(message.cm_type, message.cm_length)) {
		client_drop(client);
		return (0);
	}
	if (message.cm_time_ns > now_ns)
		message.cm_time_ns = now_ns;
	if (message.cm_type < PROF_ASK_DUMP)
		return (marker_take(client, &message, fn, arg));
	ask_take(control, client, &message);
	return (0);
}

int
prof_control_take(struct prof_control *control, prof_record_fn *fn, void *arg)
{
	struct epoll_event events[CLIENTS + 1];
	int n, rv;

	n = epoll_wait(control->co_epoll, events, CLIENTS + 1, 0);
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == control->co_listen) {
			client_accept(control);
			continue;
		}
		for (size_t c = 0; c < CLIENTS; c++) {
			struct control_client *client =
			    &control->co_client[c];

			if (client->cl_fd != events[i].data.fd)
				continue;
			rv = client_take(control, client, fn, arg);
			if (rv != 0)
				return (rv);
			break;
		}
	}
	return (0);
}

/* ------------------------------------------------------------ requests */

bool
prof_control_ask(struct prof_control *control, struct prof_ask *ask)
{
	for (size_t n = 0; n < CLIENTS; n++) {
		struct control_client *client = &control->co_client[n];

		if (client->cl_ask == NULL || client->cl_is_asked)
			continue;
		client->cl_is_asked = true;
		*ask = *client->cl_ask;
		return (true);
	}
	return (false);
}

void
prof_control_answer(struct prof_control *control, uint64_t id, bool is_done,
    const char *text)
{
	for (size_t n = 0; n < CLIENTS; n++) {
		struct control_client *client = &control->co_client[n];

		if (client->cl_ask == NULL || client->cl_ask->ak_id != id)
			continue;
		(void)prof_control_put(client->cl_fd, is_done ? CONTROL_DONE :
		    CONTROL_REFUSED, prof_now_ns(), text);
		client_drop(client);
	}
}
