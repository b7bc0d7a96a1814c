/* SPDX-License-Identifier: ISC */
/*
 * Marks: remarks that a user sends into running recordings.
 *
 * Each recording listens on a Unix socket in a directory that only its user
 * can enter; dtprof mark connects to all sockets there, sends the time and
 * the text, and waits for the answer that the recording has it.  The time is
 * the sender's, so waiting in the socket does not move a mark.
 *
 * The receiving end is drained by the session (prof_marks_take), never
 * blocks it, and takes marks from its own user and from root only.  Sockets
 * of recorders that died are removed by whoever finds them.
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/record.h"
#include "mark.h"

#define MARK_MAGIC	0x324b524dU	/* "MRK2" */
#define MARK_TEXT_MAX	1024
#define MARK_CLIENTS	8	/* connected and not yet heard out */
#define MARK_SLOTS	64	/* recordings of one process */
#define MARK_WAIT_S	2	/* for the answer of a recorder */
#define MARK_SUFFIX	".mark"
#define MARK_PLACES	4	/* see open_candidate */

/* What the sender says, and with mm_length 0 what it is answered. */
struct mark_message {
	uint32_t	 mm_magic;
	uint32_t	 mm_type;	/* MARK, PAUSE or RESUME */
	uint32_t	 mm_length;	/* of the text, which follows */
	uint64_t	 mm_time_ns;
	char		 mm_text[MARK_TEXT_MAX + 1];
};
#define MARK_HEAD	offsetof(struct mark_message, mm_text)

struct prof_marks {
	int		 mk_epoll;	/* all descriptors below */
	int		 mk_listen;
	int		 mk_dir;
	char		 mk_name[64];	/* in mk_dir */
	int		 mk_client[MARK_CLIENTS];	/* -1: free */
	size_t		 mk_oldest;	/* the slot to give up next */
};

/* One sending: who gets it, and what became of it. */
struct mark_sending {
	struct mark_message sd_message;
	int		 sd_pid;	/* 0: all recorders */
	int		 sd_taken;
	int		 sd_refused;	/* there, but did not take it */
};

static bool	 directory_is_private(int fd, uid_t uid);
static int	 open_directory(const char *path, uid_t uid, bool create);
static int	 open_candidate(unsigned n, uid_t uid, bool create);
static int	 connect_at(int dir, const char *name);
static void	 address_at(struct sockaddr_un *address, int dir,
		    const char *name);
static int	 listen_apart(struct prof_marks *marks, char *name,
		    size_t size);
static int	 take_name(const struct prof_marks *marks, const char *apart);
static int	 listen_at(struct prof_marks *marks, struct prof_err *error);
static int	 fd_watch(struct prof_marks *marks, int fd);
static bool	 may_be_sent(uint32_t type, size_t length);
static void	 drop_client(struct prof_marks *marks, size_t n);
static void	 accept_client(struct prof_marks *marks);
static int	 take_client(struct prof_marks *marks, size_t n,
		    prof_record_fn *fn, void *arg);
static int	 send_one(struct mark_sending *sending, int dir,
		    const char *name);
static void	 send_in(struct mark_sending *sending, int dir);
static int	 mark_failed(const struct mark_sending *sending,
		    struct prof_err *error);
static uid_t	 owner_of(int pid);

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
open_directory(const char *path, uid_t uid, bool create)
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

/*
 * Where sockets may lie, in order of preference.  The sender looks in all of
 * them: its TMPDIR need not be the recorder's.  -1 with errno ENOENT: no
 * such directory; with 0: no more candidates.
 */
static int
open_candidate(unsigned n, uid_t uid, bool create)
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
	return (open_directory(path, uid, create));
}

/* A socket's path has 107 bytes at most: go through the descriptor. */
static void
address_at(struct sockaddr_un *address, int dir, const char *name)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path),
	    "/proc/self/fd/%d/%s", dir, name);
}

/* A socket without a listener is a recorder's that died: remove it. */
static int
connect_at(int dir, const char *name)
{
	const struct timeval wait = { .tv_sec = MARK_WAIT_S };
	struct sockaddr_un address;
	int fd;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (-1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	address_at(&address, dir, name);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return (fd);
	if (errno == ECONNREFUSED)
		unlinkat(dir, name, 0);
	close(fd);
	return (-1);
}

/* ------------------------------------------------------- the receiver */

/* Under a name of its own, which senders do not look for. */
static int
listen_apart(struct prof_marks *marks, char *name, size_t size)
{
	struct sockaddr_un address;

	snprintf(name, size, "%d.%p.new", (int)getpid(), (void *)marks);
	(void)unlinkat(marks->mk_dir, name, 0);	/* of a dead process */
	address_at(&address, marks->mk_dir, name);
	if (bind(marks->mk_listen, (struct sockaddr *)&address,
	    sizeof(address)) == -1)
		return (-1);
	return (listen(marks->mk_listen, MARK_CLIENTS));
}

/* A name in use: of a dead process with our pid, or our other session's. */
static int
take_name(const struct prof_marks *marks, const char *apart)
{
	const int dir = marks->mk_dir;
	int fd;

	if (linkat(dir, apart, dir, marks->mk_name, 0) == 0)
		return (0);
	if (errno != EEXIST)
		return (-1);
	fd = connect_at(dir, marks->mk_name);
	if (fd != -1) {
		close(fd);
		errno = EEXIST;
		return (-1);
	}
	return (linkat(dir, apart, dir, marks->mk_name, 0));
}

/* What senders find listens already, or they would take it for dead. */
static int
listen_at(struct prof_marks *marks, struct prof_err *error)
{
	char apart[sizeof(marks->mk_name)];
	int rv = listen_apart(marks, apart, sizeof(apart));
	int why = errno;

	for (unsigned n = 0; rv == 0 && n < MARK_SLOTS; n++) {
		snprintf(marks->mk_name, sizeof(marks->mk_name),
		    "%d.%u" MARK_SUFFIX, (int)getpid(), n);
		if (take_name(marks, apart) == 0)
			break;
		why = errno;
		marks->mk_name[0] = '\0';
		if (why != EEXIST)
			break;
	}
	(void)unlinkat(marks->mk_dir, apart, 0);
	return (marks->mk_name[0] != '\0' ? 0 : prof_fail(error, PROF_E_IO,
	    "cannot create the socket for markers: %s", strerror(why)));
}

static int
fd_watch(struct prof_marks *marks, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.fd = fd;
	return (epoll_ctl(marks->mk_epoll, EPOLL_CTL_ADD, fd, &event));
}

struct prof_marks *
prof_marks_open(struct prof_err *error)
{
	struct prof_marks *marks = calloc(1, sizeof(*marks));

	if (marks == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	marks->mk_dir = marks->mk_listen = -1;
	for (size_t n = 0; n < MARK_CLIENTS; n++)
		marks->mk_client[n] = -1;
	marks->mk_epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned n = 0; marks->mk_dir == -1; n++) {
		marks->mk_dir = open_candidate(n, geteuid(), true);
		if (marks->mk_dir == -1 && errno == 0)
			break;
	}
	if (marks->mk_dir == -1) {
		prof_fail(error, PROF_E_IO, "no private directory for the "
		    "marker socket, neither below /run/user nor in the "
		    "temporary directory");
		goto fail;
	}
	marks->mk_listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (marks->mk_epoll == -1 || marks->mk_listen == -1) {
		prof_fail(error, PROF_E_IO, "cannot create the socket for "
		    "markers: %s", strerror(errno));
		goto fail;
	}
	if (listen_at(marks, error) == -1)
		goto fail;
	if (fd_watch(marks, marks->mk_listen) == 0)
		return (marks);
	prof_fail(error, PROF_E_IO, "cannot watch the socket for markers: %s",
	    strerror(errno));
fail:
	prof_marks_close(marks);
	return (NULL);
}

int
prof_marks_fd(const struct prof_marks *marks)
{
	return (marks->mk_epoll);
}

static void
drop_client(struct prof_marks *marks, size_t n)
{
	close(marks->mk_client[n]);
	marks->mk_client[n] = -1;
}

/* When all slots are taken, who has been silent for longest goes. */
static void
accept_client(struct prof_marks *marks)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t length = sizeof(peer);
	size_t n;
	int fd;

	fd = accept4(marks->mk_listen, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == -1 ||
	    (peer.uid != geteuid() && peer.uid != 0)) {
		close(fd);
		return;
	}
	for (n = 0; n < MARK_CLIENTS && marks->mk_client[n] != -1; n++)
		continue;
	if (n == MARK_CLIENTS) {
		n = marks->mk_oldest++ % MARK_CLIENTS;
		drop_client(marks, n);
	}
	marks->mk_client[n] = fd;
	if (fd_watch(marks, fd) == -1)
		drop_client(marks, n);
}

/* A mark that says nothing is none; a pause need not say why. */
static bool
may_be_sent(uint32_t type, size_t length)
{
	return (length <= MARK_TEXT_MAX && (type == PROF_R_PAUSE ||
	    type == PROF_R_RESUME || (type == PROF_R_MARK && length > 0)));
}

/* One message, one answer, and that was it.  What fn returned. */
static int
take_client(struct prof_marks *marks, size_t n, prof_record_fn *fn, void *arg)
{
	struct mark_message answer = { .mm_magic = MARK_MAGIC };
	struct mark_message message = { 0 };
	struct prof_record record = { .pr_comm = "" };
	struct ucred peer = { 0 };
	socklen_t length = sizeof(peer);
	const int fd = marks->mk_client[n];
	const uint64_t now = prof_now_ns();
	ssize_t got;
	int rv = 0;

	got = recv(fd, &message, sizeof(message), MSG_DONTWAIT);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (got >= (ssize_t)MARK_HEAD && message.mm_magic == MARK_MAGIC &&
	    message.mm_length == (size_t)got - MARK_HEAD &&
	    may_be_sent(message.mm_type, message.mm_length)) {
		message.mm_text[message.mm_length] = '\0';
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
		record.pr_type = message.mm_type;
		record.pr_time_ns = message.mm_time_ns < now ?
		    message.mm_time_ns : now;
		record.pr_pid = record.pr_tid = (uint32_t)peer.pid;
		record.pr_path = message.mm_text;
		rv = fn(arg, &record);
		if (rv == 0)
			(void)!send(fd, &answer, MARK_HEAD, MSG_DONTWAIT |
			    MSG_NOSIGNAL);
	}
	drop_client(marks, n);
	return (rv);
}

int
prof_marks_take(struct prof_marks *marks, prof_record_fn *fn, void *arg)
{
	struct epoll_event events[MARK_CLIENTS + 1];
	int n, rv;

	n = epoll_wait(marks->mk_epoll, events, MARK_CLIENTS + 1, 0);
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == marks->mk_listen) {
			accept_client(marks);
			continue;
		}
		for (size_t c = 0; c < MARK_CLIENTS; c++) {
			if (marks->mk_client[c] != events[i].data.fd)
				continue;
			rv = take_client(marks, c, fn, arg);
			if (rv != 0)
				return (rv);
		}
	}
	return (0);
}

void
prof_marks_close(struct prof_marks *marks)
{
	if (marks == NULL)
		return;
	if (marks->mk_name[0] != '\0')
		unlinkat(marks->mk_dir, marks->mk_name, 0);
	for (size_t n = 0; n < MARK_CLIENTS; n++) {
		if (marks->mk_client[n] != -1)
			close(marks->mk_client[n]);
	}
	if (marks->mk_listen != -1)
		close(marks->mk_listen);
	if (marks->mk_dir != -1)
		close(marks->mk_dir);
	if (marks->mk_epoll != -1)
		close(marks->mk_epoll);
	free(marks);
}

/* --------------------------------------------------------- the sender */

/* 1: taken, 0: not, -1: nobody there. */
static int
send_one(struct mark_sending *sending, int dir, const char *name)
{
	struct mark_message answer = { 0 };
	const struct mark_message *message = &sending->sd_message;
	int fd, taken = 0;

	fd = connect_at(dir, name);
	if (fd == -1)
		return (-1);
	if (send(fd, message, MARK_HEAD + message->mm_length,
	    MSG_NOSIGNAL) != -1 &&
	    recv(fd, &answer, sizeof(answer), 0) == (ssize_t)MARK_HEAD &&
	    answer.mm_magic == MARK_MAGIC)
		taken = 1;
	close(fd);
	return (taken);
}

static void
send_in(struct mark_sending *sending, int dir)
{
	const struct dirent *entry;
	const char *dot;
	DIR *stream;
	int fd, taken;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = fd == -1 ? NULL : fdopendir(fd);
	if (stream == NULL)
		return;
	while ((entry = readdir(stream)) != NULL) {
		dot = strchr(entry->d_name, '.');
		if (dot == NULL || dot == entry->d_name ||
		    strcmp(dot + strcspn(dot + 1, ".") + 1, MARK_SUFFIX) != 0)
			continue;
		if (sending->sd_pid != 0 &&
		    atoi(entry->d_name) != sending->sd_pid)
			continue;
		taken = send_one(sending, dir, entry->d_name);
		sending->sd_taken += taken == 1;
		sending->sd_refused += taken == 0;
	}
	closedir(stream);
}

static int
mark_failed(const struct mark_sending *sending, struct prof_err *error)
{
	if (sending->sd_refused != 0) {
		prof_fail(error, PROF_E_BUSY, "the recorder did not answer "
		    "within %d s", MARK_WAIT_S);
		return (prof_cure(error, "check whether the recorder is "
		    "stopped or exiting"));
	}
	if (sending->sd_pid != 0)
		prof_fail(error, PROF_E_TARGET, "process %d is not a recorder "
		    "of this user", sending->sd_pid);
	else
		prof_fail(error, PROF_E_TARGET, "no recorder of this user is "
		    "running");
	return (prof_cure(error, "start dtprof record first; a recorder of "
	    "root accepts markers only from root"));
}

/* Root marks the recordings of others when it names their recorder. */
static uid_t
owner_of(int pid)
{
	struct stat st;
	char path[32];

	if (pid == 0 || geteuid() != 0)
		return (geteuid());
	snprintf(path, sizeof(path), "/proc/%d", pid);
	return (stat(path, &st) == 0 ? st.st_uid : geteuid());
}

int
prof_mark_send(int recorder_pid, enum prof_record_type what, const char *text,
    struct prof_err *error)
{
	struct mark_sending sending = { .sd_pid = recorder_pid };
	struct stat seen[MARK_PLACES], st;
	unsigned nseen = 0, i;
	int dir;

	if (!may_be_sent(what, strlen(text)))
		return (prof_fail(error, PROF_E_LIMIT, "the marker has %zu "
		    "bytes: use 1 to %d bytes", strlen(text), MARK_TEXT_MAX));
	sending.sd_message.mm_magic = MARK_MAGIC;
	sending.sd_message.mm_type = what;
	sending.sd_message.mm_time_ns = prof_now_ns();
	sending.sd_message.mm_length = (uint32_t)strlen(text);
	memcpy(sending.sd_message.mm_text, text, strlen(text));
	for (unsigned n = 0; n < MARK_PLACES; n++) {
		dir = open_candidate(n, owner_of(recorder_pid), false);
		if (dir == -1)
			continue;
		/* Two names may mean one directory: send once. */
		for (i = 0; fstat(dir, &st) == 0 && i < nseen; i++) {
			if (seen[i].st_dev == st.st_dev &&
			    seen[i].st_ino == st.st_ino)
				break;
		}
		if (i == nseen) {
			seen[nseen++] = st;
			send_in(&sending, dir);
		}
		close(dir);
	}
	if (sending.sd_taken == 0)
		return (mark_failed(&sending, error));
	return (sending.sd_taken);
}
