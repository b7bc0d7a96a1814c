/* SPDX-License-Identifier: ISC */
/*
 * The sending end of the control channel: finds the sockets of recorders,
 * sends one message to each, and waits for their answers.
 *
 *	places -> sockets that are listened to -> message -> answer
 *
 * Called by dtprof mark and dtprof ctl.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/grow.h"
#include "control_impl.h"

struct control_peer {
	int	pe_fd;
	int	pe_pid;
};

/* One sending: to whom, and how many did it. */
struct control_sending {
	const struct prof_recorders *sd_to;
	struct control_peer *sd_peer;
	size_t		 sd_n;
	struct prof_err	*sd_error;
	int		 sd_done;
	int		 sd_refused;	/* answered that it did not */
};

/* Takes over the descriptor; -1: there is no such peer. */
static int
peer_add(struct control_sending *sending, int fd)
{
	struct control_peer *peer;
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t length = sizeof(who);

	if (fd == -1)
		return (0);
	peer = prof_append(&sending->sd_peer, &sending->sd_n, sizeof(*peer));
	if (peer == NULL) {
		close(fd);
		return (prof_fail_nomem(sending->sd_error));
	}
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length);
	peer->pe_fd = fd;
	peer->pe_pid = who.pid;
	return (0);
}

/* ------------------------------------------------------------- finding */

/* PID.N.ctl */
static bool
is_wanted(const struct control_sending *sending, const char *name)
{
	const char *dot = strchr(name, '.');

	return (dot != NULL && dot != name &&
	    strcmp(dot + strcspn(dot + 1, ".") + 1, CONTROL_SUFFIX) == 0 &&
	    (sending->sd_to->rr_pid == 0 ||
	    atoi(name) == sending->sd_to->rr_pid));
}

static int
peers_in(struct control_sending *sending, int dir)
{
	const struct dirent *entry;
	DIR *stream;
	int fd, rv = 0;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = fd == -1 ? NULL : fdopendir(fd);
	if (stream == NULL)
		return (0);
	while (rv == 0 && (entry = readdir(stream)) != NULL)
		if (is_wanted(sending, entry->d_name))
			rv = peer_add(sending, prof_control_connect(dir,
			    entry->d_name, true));
	closedir(stream);
	return (rv);
}

/* Root asks the recorders of others when it names their process. */
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

static int
peers_find(struct control_sending *sending)
{
	const uid_t uid = owner_of(sending->sd_to->rr_pid);
	struct stat seen[CONTROL_PLACES] = { 0 }, st;
	unsigned nseen = 0, i;
	int dir, rv = 0;

	for (unsigned n = 0; rv == 0 && n < CONTROL_PLACES; n++) {
		dir = prof_control_place(n, uid, false);
		if (dir == -1)
			continue;
		/* Two names may mean one directory: send once. */
		i = fstat(dir, &st) == 0 ? 0 : nseen + 1;
		while (i < nseen && (seen[i].st_dev != st.st_dev ||
		    seen[i].st_ino != st.st_ino))
			i++;
		if (i == nseen) {
			seen[nseen++] = st;
			rv = peers_in(sending, dir);
		}
		close(dir);
	}
	return (rv);
}

static int
peer_named(struct control_sending *sending, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash == NULL ? strdup(".") :
	    strndup(path, (size_t)(slash - path) + 1);
	int dir, rv;

	if (directory == NULL)
		return (prof_fail_nomem(sending->sd_error));
	dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	/* Whatever it is, it stays: connecting to a file is refused, too. */
	rv = dir == -1 ? 0 : peer_add(sending, prof_control_connect(dir,
	    slash == NULL ? path : slash + 1, false));
	if (dir != -1)
		close(dir);
	return (rv);
}

static int
peers_missing(const struct control_sending *sending)
{
	const struct prof_recorders *to = sending->sd_to;
	struct prof_err *error = sending->sd_error;

	if (to->rr_socket != NULL)
		prof_fail(error, PROF_E_TARGET, "%s: no recorder listens on "
		    "this socket", to->rr_socket);
	else if (to->rr_pid != 0)
		prof_fail(error, PROF_E_TARGET, "process %d is not a recorder "
		    "of this user", to->rr_pid);
	else
		prof_fail(error, PROF_E_TARGET, "no recorder of this user is "
		    "running");
	return (prof_cure(error, "start dtprof record first; a recorder of "
	    "root listens only to root"));
}

/* ------------------------------------------------------------- sending */

/* Who has sent a dump or a stop waits until it is written. */
static void
wait_set(int fd, unsigned type)
{
	static const struct timeval forever;

	if (type == PROF_ASK_DUMP || type == PROF_ASK_STOP)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever,
		    sizeof(forever));
}

static void
peer_ask(struct control_sending *sending, const struct control_peer *peer,
    unsigned type, const char *text, prof_answer_fn *fn, void *arg)
{
	struct control_message answer;
	ssize_t got;

	wait_set(peer->pe_fd, type);
	if (prof_control_put(peer->pe_fd, type, prof_now_ns(), text) == -1)
		return;
	do
		got = recv(peer->pe_fd, &answer, sizeof(answer), 0);
	while (got == -1 && errno == EINTR);
	if (!prof_control_is_message(&answer, got))
		return;
	sending->sd_done += answer.cm_type == CONTROL_DONE;
	sending->sd_refused += answer.cm_type != CONTROL_DONE;
	if (fn != NULL)
		fn(arg, peer->pe_pid, answer.cm_type == CONTROL_DONE,
		    answer.cm_text);
}

static int
peers_silent(struct prof_err *error)
{
	prof_fail(error, PROF_E_BUSY, "the recorder did not answer "
	    "within %d s", CONTROL_WAIT_S);
	return (prof_cure(error, "check whether the recorder is stopped or "
	    "exiting"));
}

static int
peers_many(const struct control_sending *sending)
{
	prof_fail(sending->sd_error, PROF_E_TARGET, "%zu recorders of this "
	    "user are running", sending->sd_n);
	return (prof_cure(sending->sd_error, "choose one with --recorder PID; "
	    "dtprof ctl status lists them"));
}

int
prof_control_send(const struct prof_recorders *recorders, unsigned type,
    const char *text, prof_answer_fn *fn, void *arg, struct prof_err *error)
{
	struct control_sending sending = { .sd_to = recorders,
	    .sd_error = error };
	int rv;

	if (!prof_control_may_be(type, strlen(text)))
		return (type < PROF_ASK_DUMP ? prof_fail(error, PROF_E_LIMIT,
		    "the marker has %zu bytes: use 1 to %d bytes",
		    strlen(text), CONTROL_MARK) : prof_fail(error,
		    PROF_E_LIMIT, "the text is too long"));
	rv = recorders->rr_socket != NULL ? peer_named(&sending,
	    recorders->rr_socket) : peers_find(&sending);
	if (rv == 0 && sending.sd_n == 0)
		rv = peers_missing(&sending);
	else if (rv == 0 && recorders->rr_is_one && sending.sd_n > 1)
		rv = peers_many(&sending);
	for (size_t n = 0; n < sending.sd_n; n++) {
		if (rv == 0)
			peer_ask(&sending, &sending.sd_peer[n], type, text, fn,
			    arg);
		close(sending.sd_peer[n].pe_fd);
	}
	free(sending.sd_peer);
	if (rv == 0 && sending.sd_done + sending.sd_refused == 0)
		rv = peers_silent(error);
	return (rv == -1 ? -1 : sending.sd_done);
}

int
prof_mark_send(int recorder_pid, enum prof_record_type what, const char *text,
    struct prof_err *error)
{
	const struct prof_recorders recorders = { .rr_pid = recorder_pid };

	if (what != PROF_R_MARK && what != PROF_R_PAUSE &&
	    what != PROF_R_RESUME)
		return (prof_fail(error, PROF_E_USAGE, "only markers, pauses "
		    "and resumes can be sent"));
	return (prof_control_send(&recorders, what, text, NULL, NULL, error));
}
