/* SPDX-License-Identifier: ISC */
/* See broker.h.  Called by tables.c and its like, from any thread. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "broker.h"
#include "confine/confine.h"
#include "confine/wire.h"
#include "elf/build_id.h"
#include "keeper.h"
#include "throttle.h"

#define MAX_PARSERS	16
#define MAX_NAMED	16	/* files */
#define MAX_LOST	1024	/* files that are known */
#define WALL_S		60	/* for one request, however busy we are */
#define CPU_S		20
#define MAX_ASKS	64	/* to open something, in one request */
#define TRIES		3	/* where a parser ended without a reason */
#define NS_PER_S	1000000000ULL

struct parser {
	pid_t		 ps_pid;	/* 0: none */
	int		 ps_sock;
	bool		 ps_busy;
};

/*
 * [m] under bk_mutex, but for a parser, which is its user's while it is busy
 * [I] immutable after new
 */
struct prof_broker {
	pthread_mutex_t	 bk_mutex;
	pthread_cond_t	 bk_idle;
	pthread_cond_t	 bk_turn;
	pid_t		 bk_keeper;	/* [I] */
	int		 bk_sock;	/* [m] the keeper's */
	struct parser	 bk_parser[MAX_PARSERS]; /* [m] */
	uint64_t	 bk_ended_ns;	/* [m] CPU time of those that ended */
	struct prof_broker_stats bk_stats; /* [m] */
	struct prof_throttle *bk_throttle; /* [I] */
	uint32_t	 bk_share;	/* [m] written: what can wait has */
	bool		 bk_in_debt;	/* [m] no work that can fail */
	uint32_t	 bk_nslow;	/* [m] such requests, being done */
	struct prof_file_key bk_lost[MAX_LOST]; /* [m] a ring */
	char		*bk_named[MAX_NAMED]; /* [m] */
};

struct prof_broker *
prof_broker_new(struct prof_err *error)
{
	struct prof_broker *broker = calloc(1, sizeof(*broker));

	if (broker == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	broker->bk_throttle = prof_throttle_new();
	broker->bk_keeper = broker->bk_throttle == NULL ? -1 :
	    prof_keeper_start(broker->bk_throttle, &broker->bk_sock);
	if (broker->bk_keeper == -1) {
		prof_fail(error, PROF_E_LIMIT, "cannot start the file reader "
		    "process: %s", strerror(errno));
		prof_throttle_free(broker->bk_throttle);
		free(broker);
		return (NULL);
	}
	pthread_mutex_init(&broker->bk_mutex, NULL);
	pthread_cond_init(&broker->bk_idle, NULL);
	pthread_cond_init(&broker->bk_turn, NULL);
	return (broker);
}

/* ------------------------------------------------------------ parsers */

/* Ask the keeper; false: it is gone. */
static bool
keeper_asked(struct prof_broker *broker, enum prof_keeper_what what,
    pid_t pid, int fd, struct prof_keeper_answer *answer)
{
	const struct prof_keeper_ask ask = { (uint32_t)what, pid };

	if (!prof_wire_send(broker->bk_sock, &ask, sizeof(ask), fd, NULL) ||
	    !prof_wire_recv(broker->bk_sock, answer, sizeof(*answer), NULL,
	    NULL))
		return (false);
	broker->bk_stats.bs_lacks |= answer->kr_lacks;
	return (true);
}

static bool
parser_start(struct prof_broker *broker, struct parser *parser)
{
	struct prof_keeper_answer answer;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return (false);
	if (!keeper_asked(broker, PROF_KEEPER_FORK, 0, pair[1], &answer))
		answer.kr_pid = -1;
	(void)close(pair[1]);
	if (answer.kr_pid <= 0) {
		(void)close(pair[0]);
		return (false);
	}
	parser->ps_pid = answer.kr_pid;
	parser->ps_sock = pair[0];
	broker->bk_stats.bs_started++;
	return (true);
}

/* One that waits, else a new one; NULL: there can be none. */
static struct parser *
parser_get(struct prof_broker *broker)
{
	struct parser *parser, *found = NULL;
	size_t n;

	pthread_mutex_lock(&broker->bk_mutex);
	for (;;) {
		for (n = 0; n < MAX_PARSERS; n++) {
			parser = &broker->bk_parser[n];
			if (!parser->ps_busy && (found == NULL ||
			    (parser->ps_pid != 0 && found->ps_pid == 0)))
				found = parser;
		}
		if (found != NULL)
			break;
		pthread_cond_wait(&broker->bk_idle, &broker->bk_mutex);
	}
	if (found->ps_pid == 0 && !parser_start(broker, found))
		found = NULL;
	if (found != NULL)
		found->ps_busy = true;
	pthread_mutex_unlock(&broker->bk_mutex);
	return (found);
}

static void
parser_put(struct prof_broker *broker, struct parser *parser)
{
	pthread_mutex_lock(&broker->bk_mutex);
	parser->ps_busy = false;
	pthread_cond_signal(&broker->bk_idle);
	pthread_mutex_unlock(&broker->bk_mutex);
}

/* It has ended, or has to.  What wait says; -1: not known. */
static int
parser_end(struct prof_broker *broker, struct parser *parser)
{
	struct prof_keeper_answer answer;
	int status = -1;

	pthread_mutex_lock(&broker->bk_mutex);
	(void)close(parser->ps_sock);
	if (keeper_asked(broker, PROF_KEEPER_END, parser->ps_pid, -1,
	    &answer) && answer.kr_pid == parser->ps_pid) {
		status = answer.kr_status;
		broker->bk_ended_ns += answer.kr_cpu_ns;
	}
	parser->ps_pid = 0;
	parser->ps_busy = false;
	pthread_cond_signal(&broker->bk_idle);
	pthread_mutex_unlock(&broker->bk_mutex);
	return (status);
}

/*
 * The keeper waits for each of its parsers, so that their CPU time counts as
 * that of our children.
 */
void
prof_broker_free(struct prof_broker *broker)
{
	size_t n;

	if (broker == NULL)
		return;
	for (n = 0; n < MAX_PARSERS; n++)
		if (broker->bk_parser[n].ps_pid != 0)
			(void)parser_end(broker, &broker->bk_parser[n]);
	/* A child that our caller forked may have it open, too. */
	(void)shutdown(broker->bk_sock, SHUT_RDWR);
	(void)close(broker->bk_sock);
	while (waitpid(broker->bk_keeper, NULL, 0) == -1 && errno == EINTR)
		continue;
	for (n = 0; n < MAX_NAMED; n++)
		free(broker->bk_named[n]);
	prof_throttle_free(broker->bk_throttle);
	pthread_mutex_destroy(&broker->bk_mutex);
	pthread_cond_destroy(&broker->bk_idle);
	pthread_cond_destroy(&broker->bk_turn);
	free(broker);
}

/* ------------------------------------------------------- whom to blame */

static bool
key_of(int fd, struct prof_file_key *key)
{
	struct stat st;

	memset(key, 0, sizeof(*key));
	if (fd == -1 || fstat(fd, &st) == -1)
		return (false);
	key->fk_dev = st.st_dev;
	key->fk_ino = st.st_ino;
	key->fk_mtime_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S +
	    (uint64_t)st.st_mtim.tv_nsec;
	return (true);
}

/* Under the mutex.  Most recordings lose none, and look at none. */
static bool
is_known(const struct prof_broker *broker, int fd)
{
	struct prof_file_key key;
	size_t n;

	if (broker->bk_stats.bs_lost == 0 || !key_of(fd, &key))
		return (false);
	for (n = 0; n < MAX_LOST; n++)
		if (memcmp(&broker->bk_lost[n], &key, sizeof(key)) == 0)
			return (true);
	return (false);
}

static bool
is_lost(struct prof_broker *broker, int fd)
{
	bool found;

	pthread_mutex_lock(&broker->bk_mutex);
	found = is_known(broker, fd);
	pthread_mutex_unlock(&broker->bk_mutex);
	return (found);
}

static char *
error_sentence(const char *name, int status, int error_number)
{
	char *text;
	int n;

	if (error_number == ETIME)
		n = asprintf(&text, "%s: reading this file takes too long",
		    name);
	else if (error_number == EMSGSIZE)
		n = asprintf(&text, "%s: invalid answer of the file "
		    "reader process",
		    name);
	else if (WIFSIGNALED(status))
		n = asprintf(&text, "%s: the file reader process was killed by "
		    "signal %d", name,
		    WTERMSIG(status));
	else
		n = asprintf(&text, "%s: the file reader process exited with "
		    "status %d",
		    name,
		    WEXITSTATUS(status));
	return (n == -1 ? NULL : text);
}

static void
file_blame(struct prof_broker *broker, const struct prof_call *call, int status,
    int error_number)
{
	struct prof_file_key key;
	uint64_t n;

	pthread_mutex_lock(&broker->bk_mutex);
	/* Another thread may have had it read at the same time. */
	if (is_known(broker, call->ca_fd)) {
		pthread_mutex_unlock(&broker->bk_mutex);
		return;
	}
	n = broker->bk_stats.bs_lost++;
	if (key_of(call->ca_fd, &key))
		broker->bk_lost[n % MAX_LOST] = key;
	if (n < MAX_NAMED)
		broker->bk_named[n] = error_sentence(call->ca_name == NULL ?
		    "?" : call->ca_name, status, error_number);
	pthread_mutex_unlock(&broker->bk_mutex);
}

const char *
prof_broker_lost(const struct prof_broker *broker, size_t n)
{
	return (n < MAX_NAMED ? broker->bk_named[n] : NULL);
}

/* --------------------------------------------------------- requests */

/* The parser wants something opened. */
static bool
open_for(int sock, const struct prof_call *call,
    const struct prof_wire_limit *limit)
{
	struct prof_wire head = { PROF_WIRE_ASK, 0, call->ca_want };
	char want[PROF_MOST_WANT];
	int fd, error_number;
	bool rv;

	if (!prof_wire_recv(sock, want, call->ca_want, NULL, limit))
		return (false);
	fd = call->ca_open(call, want);
	rv = prof_wire_send(sock, &head, sizeof(head), fd, limit) &&
	    prof_wire_send(sock, want, call->ca_want, -1, limit);
	error_number = errno;
	if (fd != -1)
		(void)close(fd);
	errno = error_number;
	return (rv);
}

/* The head of the answer, when all is opened that it takes. */
static bool
answer_begins(int sock, const struct prof_call *call,
    const struct prof_wire_limit *limit, struct prof_wire *head)
{
	int asks;

	for (asks = 0; asks <= MAX_ASKS; asks++) {
		if (!prof_wire_recv(sock, head, sizeof(*head), NULL, limit))
			return (false);
		if (head->wi_kind == PROF_WIRE_DONE &&
		    head->wi_bytes <= call->ca_most)
			return (true);
		if (head->wi_kind != PROF_WIRE_ASK || call->ca_open == NULL ||
		    head->wi_bytes != call->ca_want)
			break;
		if (!open_for(sock, call, limit))
			return (false);
	}
	errno = EMSGSIZE;
	return (false);
}

bool
prof_broker_throttle(struct prof_broker *broker, uint32_t share, bool in_debt)
{
	bool some_wait;

	pthread_mutex_lock(&broker->bk_mutex);
	prof_throttle_set(broker->bk_throttle, share);
	if (share == 0 && broker->bk_share != 0)
		pthread_cond_broadcast(&broker->bk_turn);
	__atomic_store_n(&broker->bk_share, share, __ATOMIC_RELAXED);
	broker->bk_in_debt = in_debt;
	some_wait = broker->bk_nslow > 0;
	pthread_mutex_unlock(&broker->bk_mutex);
	return (some_wait);
}

static bool
is_refused(struct prof_broker *broker, const struct prof_call *call)
{
	bool in_debt;

	if (!call->ca_can_fail)
		return (false);
	pthread_mutex_lock(&broker->bk_mutex);
	in_debt = broker->bk_in_debt;
	pthread_mutex_unlock(&broker->bk_mutex);
	return (in_debt);
}

/* What is done slowly is done one at a time: half of two files is no use. */
static void
turn_take(struct prof_broker *broker, const struct prof_call *call)
{
	if (!call->ca_can_wait)
		return;
	pthread_mutex_lock(&broker->bk_mutex);
	while (broker->bk_share != 0 && broker->bk_nslow > 0)
		pthread_cond_wait(&broker->bk_turn, &broker->bk_mutex);
	broker->bk_nslow++;
	pthread_mutex_unlock(&broker->bk_mutex);
}

static void
turn_give(struct prof_broker *broker, const struct prof_call *call)
{
	if (!call->ca_can_wait)
		return;
	pthread_mutex_lock(&broker->bk_mutex);
	broker->bk_nslow--;
	pthread_cond_signal(&broker->bk_turn);
	pthread_mutex_unlock(&broker->bk_mutex);
}

/* Ask, and wait for the answer.  false: errno says why there is none. */
static bool
parser_converse(const struct prof_broker *broker, const struct parser *parser,
    struct prof_call *call)
{
	const struct prof_wire ask = { (uint32_t)call->ca_what,
	    call->ca_can_wait, call->ca_size };
	uint64_t slept_ns = 0;
	const struct prof_wire_limit limit = {
		.wl_until_ns = prof_now_ns() + (call->ca_wall_s == 0 ?
		    WALL_S : call->ca_wall_s) * NS_PER_S,
		.wl_pid = parser->ps_pid,
		.wl_slow = call->ca_can_wait ? &broker->bk_share : NULL,
		.wl_slept_ns = &slept_ns,
		.wl_cpu_until_ns = prof_wire_cpu_ns(parser->ps_pid) +
		    (call->ca_cpu_s == 0 ? CPU_S : call->ca_cpu_s) *
		    NS_PER_S,
	};
	struct prof_wire head;

	if (!prof_wire_send(parser->ps_sock, &ask, sizeof(ask), call->ca_fd,
	    &limit) || !prof_wire_send(parser->ps_sock, call->ca_bytes,
	    call->ca_size, -1, &limit) ||
	    !answer_begins(parser->ps_sock, call, &limit, &head))
		return (false);
	call->ca_answer = malloc(head.wi_bytes + 1);
	if (call->ca_answer == NULL)
		return (false);
	call->ca_answered = head.wi_bytes;
	if (!prof_wire_recv(parser->ps_sock, call->ca_answer,
	    head.wi_bytes, NULL, &limit))
		return (false);
	if (call->ca_take == NULL || call->ca_take(call))
		return (true);
	errno = EMSGSIZE;
	return (false);
}

/* converse, and what it leaves. */
static bool
converse_once(const struct prof_broker *broker, const struct parser *parser,
    struct prof_call *call)
{
	const uint64_t before_ns = prof_wire_cpu_ns(parser->ps_pid);
	const bool rv = parser_converse(broker, parser, call);
	const int error_number = errno;

	call->ca_cpu_ns = prof_wire_cpu_ns(parser->ps_pid) - before_ns;
	free(call->ca_answer);
	call->ca_answer = NULL;
	call->ca_answered = 0;
	errno = error_number;
	return (rv);
}

static enum prof_called
call_try(struct prof_broker *broker, struct prof_call *call)
{
	int error_number, status, tries;
	struct parser *parser;

	for (tries = 0; tries < TRIES; tries++) {
		if ((parser = parser_get(broker)) == NULL)
			break;
		if (converse_once(broker, parser, call)) {
			parser_put(broker, parser);
			return (PROF_CALLED);
		}
		error_number = errno;
		status = parser_end(broker, parser);
		/*
		 * An old one makes room; one without memory says so.  One
		 * that lied ends like that, too, where it had more to say.
		 */
		if (error_number != EMSGSIZE && (error_number == ENOMEM ||
		    (WIFEXITED(status) &&
		    WEXITSTATUS(status) == PROF_PARSER_LOST)))
			break;
		if (status != 0 || error_number == EMSGSIZE) {
			file_blame(broker, call, status, error_number);
			return (PROF_CALLED_LOST);
		}
	}
	return (PROF_CALLED_NOBODY);
}

enum prof_called
prof_broker_call(struct prof_broker *broker, struct prof_call *call)
{
	enum prof_called called;

	call->ca_cpu_ns = 0;
	if (is_lost(broker, call->ca_fd))
		return (PROF_CALLED_LOST);
	if (is_refused(broker, call))
		return (PROF_CALLED_NOBODY);
	turn_take(broker, call);
	called = call_try(broker, call);
	turn_give(broker, call);
	return (called);
}

void
prof_broker_how(const struct prof_broker_stats *stats, char *text,
    size_t size)
{
	const unsigned lacks = stats->bs_lacks;

	snprintf(text, size, "%s, %s, %s", lacks & PROF_LACKS_CAPS ?
	    "capabilities" : "no capabilities", lacks &
	    PROF_LACKS_SECCOMP ? "unfiltered system calls" :
	    "filtered system calls", geteuid() != 0 ||
	    lacks & PROF_LACKS_USER ? "the same user as dtprof" :
	    "user nobody");
}

void
prof_broker_stats(struct prof_broker *broker,
    struct prof_broker_stats *stats)
{
	size_t n;

	pthread_mutex_lock(&broker->bk_mutex);
	*stats = broker->bk_stats;
	stats->bs_cpu_ns = broker->bk_ended_ns +
	    prof_wire_cpu_ns(broker->bk_keeper);
	for (n = 0; n < MAX_PARSERS; n++)
		if (broker->bk_parser[n].ps_pid != 0)
			stats->bs_cpu_ns += prof_wire_cpu_ns(
			    broker->bk_parser[n].ps_pid);
	pthread_mutex_unlock(&broker->bk_mutex);
}
