/* SPDX-License-Identifier: ISC */
/*
 * See network.h: the side of whoever asks.  What comes from the child, which a
 * server may have taken over, is bounded and shown, never interpreted here.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "confine/wire.h"
#include "network_impl.h"

#define NS_PER_S	1000000000ULL
#define TIMEOUT_S	60
#define SLACK_S		10	/* of a child that should have given up */
#define MAX_ANSWER	(1u << 20)
#define FIRST_WAIT_NS	(NS_PER_S / 5)
#define LONGEST_WAIT_NS	(20 * NS_PER_S)

struct prof_network {
	pid_t		 nk_pid;
	int		 nk_sock;
};

/* ------------------------------------------------------------------ open */

/* USER@ goes apart.  A password would be in the list of processes. */
static int
url_split(const char *url, struct net_begin *begin, struct prof_err *error)
{
	const char *host = strstr(url, "://"), *at, *slash;
	size_t length;

	if (host == NULL || (strncmp(url, "http://", 7) != 0 &&
	    strncmp(url, "https://", 8) != 0) || strlen(url) >= NET_URL_MAX)
		return (prof_fail(error, PROF_E_USAGE, "invalid URL"));
	/* A path is put behind it.  What follows '?' is never the host. */
	if (strpbrk(url, "?#") != NULL) {
		prof_fail(error, PROF_E_USAGE, "the URL contains '?' or '#'");
		return (prof_cure(error, "leave out the query of the URL"));
	}
	host += 3;
	slash = strchr(host, '/');
	length = slash == NULL ? strlen(host) : (size_t)(slash - host);
	at = memrchr(host, '@', length);
	if (at == NULL) {
		strcpy(begin->nb_url, url);
		return (0);
	}
	length = (size_t)(at - host);
	if (memchr(host, ':', length) != NULL) {
		prof_fail(error, PROF_E_USAGE, "the URL contains a password");
		return (prof_cure(error, "write the password to a file and use "
		    "--secret-file FILE"));
	}
	if (length >= sizeof(begin->nb_user))
		return (prof_fail(error, PROF_E_USAGE, "the user name in the "
		    "URL is too long"));
	memcpy(begin->nb_user, host, length);
	snprintf(begin->nb_url, sizeof(begin->nb_url), "%.*s%s",
	    (int)(host - url), url, at + 1);
	return (0);
}

/* Without its line end. */
static int
secret_read(const char *path, struct net_begin *begin, struct prof_err *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd == -1)
		return (prof_fail(error, PROF_E_IO, "%s: %s", path,
		    strerror(errno)));
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) ||
	    S_ISFIFO(st.st_mode)))
		n = read(fd, begin->nb_secret, sizeof(begin->nb_secret));
	(void)close(fd);
	if (n < 0 || (size_t)n >= sizeof(begin->nb_secret))
		return (prof_fail(error, PROF_E_IO, "%s: the secret must be in "
		    "a regular file of at most %u bytes", path,
		    PROF_NETWORK_SECRET - 1));
	begin->nb_secret[n] = '\0';
	begin->nb_secret[strcspn(begin->nb_secret, "\r\n")] = '\0';
	return (begin->nb_secret[0] != '\0' ? 0 : prof_fail(error, PROF_E_IO,
	    "%s: the first line of the secret file is empty", path));
}

static int
child_start(struct prof_network *network, struct prof_err *error)
{
	sigset_t all, before;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return (prof_fail(error, PROF_E_LIMIT, "cannot start the "
		    "network process: %s", strerror(errno)));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	network->nk_pid = fork();
	if (network->nk_pid == 0)
		prof_network_child(pair[1]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(pair[1]);
	network->nk_sock = pair[0];
	if (network->nk_pid != -1)
		return (0);
	return (prof_fail(error, PROF_E_LIMIT, "cannot start the network "
	    "process: %s", strerror(errno)));
}

/* The child is forked before the secret is read: it comes by the socket. */
struct prof_network *
prof_network_open(const struct prof_network_options *options,
    struct prof_err *error)
{
	struct prof_network *network = calloc(1, sizeof(*network));
	struct net_begin *begin = calloc(1, sizeof(*begin));
	int rv = -1;

	if (network == NULL || begin == NULL) {
		prof_fail_nomem(error);
		goto out;
	}
	network->nk_sock = network->nk_pid = -1;
	if (url_split(options->no_url, begin, error) == -1 ||
	    child_start(network, error) == -1 ||
	    (options->no_secret_file != NULL && secret_read(
	    options->no_secret_file, begin, error) == -1))
		goto out;
	if (!prof_wire_send(network->nk_sock, begin, sizeof(*begin), -1,
	    NULL)) {
		prof_fail(error, PROF_E_LIMIT, "the network process has "
		    "ended");
		goto out;
	}
	rv = 0;
out:
	if (begin != NULL)
		explicit_bzero(begin, sizeof(*begin));
	free(begin);
	if (rv == 0)
		return (network);
	prof_network_close(network);
	return (NULL);
}

static void
child_end(struct prof_network *network)
{
	if (network->nk_sock != -1)
		(void)close(network->nk_sock);
	if (network->nk_pid > 0) {
		(void)kill(network->nk_pid, SIGKILL);
		while (waitpid(network->nk_pid, NULL, 0) == -1 &&
		    errno == EINTR)
			continue;
	}
	network->nk_sock = network->nk_pid = -1;
}

void
prof_network_close(struct prof_network *network)
{
	if (network == NULL)
		return;
	child_end(network);
	free(network);
}

/* --------------------------------------------------------------- request */

/* The body as a memory file; -1: no memory. */
static int
body_file(const struct prof_request *request)
{
	const int fd = memfd_create("body", MFD_CLOEXEC);
	const char *at = request->rq_body;
	size_t left = request->rq_length;
	ssize_t n;

	for (; fd != -1 && left > 0; left -= (size_t)n, at += n) {
		n = write(fd, at, left);
		if (n <= 0) {
			(void)close(fd);
			return (-1);
		}
	}
	return (fd);
}

static bool
ask_send(const struct prof_network *network,
    const struct prof_request *request, struct net_ask *ask, int body,
    const struct prof_wire_limit *limit)
{
	const char *const parts[] = { request->rq_path, request->rq_type };
	char texts[NET_TEXTS_MAX];
	size_t at = 0, size;

	for (size_t n = 0; n < 2; n++) {
		const char *text = parts[n] == NULL ? "" : parts[n];

		size = strlen(text) + 1;
		if (sizeof(texts) - at < size) {
			errno = ENAMETOOLONG;
			return (false);
		}
		memcpy(texts + at, text, size);
		at += size;
	}
	ask->na_texts = (uint32_t)at;
	return (prof_wire_send(network->nk_sock, ask, sizeof(*ask), body,
	    limit) && prof_wire_send(network->nk_sock, texts, at, -1, limit));
}

/* Printable, of one line: a server's words are shown on a terminal. */
static void
text_clean(char *to, size_t size, const char *from, size_t length)
{
	size_t n = 0, used;
	uint32_t code;
	int is_plain;

	for (size_t at = 0; at < length && from[at] != '\0'; at += used) {
		char piece[8];

		snprintf(piece, sizeof(piece), "%.*s", (int)(length - at < 4 ?
		    length - at : 4), from + at);
		used = prof_text_take(piece, &code, &is_plain);
		if (used == 0 || !is_plain) {
			used = used == 0 ? 1 : used;
			piece[0] = ' ';
			piece[1] = '\0';
		} else {
			piece[used] = '\0';
		}
		if (n + strlen(piece) >= size)
			break;
		n = (size_t)(stpcpy(to + n, piece) - to);
	}
	while (n > 0 && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}

static void
answer_say(struct prof_answer *answer, const struct net_answer *came)
{
	char begin[sizeof(answer->an_text)];
	ssize_t n = -1;

	if (came->nr_status == 0) {
		text_clean(answer->an_text, sizeof(answer->an_text),
		    came->nr_text, sizeof(came->nr_text));
		return;
	}
	if (answer->an_fd != -1)
		n = pread(answer->an_fd, begin, sizeof(begin) - 1, 0);
	text_clean(answer->an_text, sizeof(answer->an_text), begin,
	    n < 0 ? 0 : (size_t)n);
}

/* What it answers later must not be taken for the answer to another request. */
static int
child_lost(struct prof_network *network, struct prof_answer *answer,
    struct prof_err *error)
{
	prof_fail(error, PROF_E_LIMIT, errno == ENOMEM ?
	    "there is no memory for a request" : errno == ETIME ?
	    "the network process does not answer" :
	    errno == ENAMETOOLONG ? "the URL of the request is too long" :
	    errno == EMSGSIZE ? "the answer of the server is too long" :
	    "the network process has ended");
	prof_answer_free(answer);
	child_end(network);
	return (-1);
}

/* The child has counted, but may no longer be what it was. */
static bool
is_too_long(int fd, uint64_t most)
{
	const off_t length = fd == -1 ? 0 : lseek(fd, 0, SEEK_END);

	if (length <= 0 || (uint64_t)length <= most)
		return (false);
	errno = EMSGSIZE;
	return (true);
}

int
prof_network_post(struct prof_network *network,
    const struct prof_request *request, struct prof_answer *answer,
    struct prof_err *error)
{
	struct net_ask ask = {
		.na_length = request->rq_length,
		.na_timeout_s = request->rq_timeout_s != 0 ?
		    request->rq_timeout_s : TIMEOUT_S,
		.na_max_answer = request->rq_max_answer != 0 ?
		    request->rq_max_answer : MAX_ANSWER,
		.na_gzip = request->rq_gzip && request->rq_length > 0,
	};
	const struct prof_wire_limit limit = {
		.wl_until_ns = prof_now_ns() + (ask.na_timeout_s + SLACK_S) *
		    NS_PER_S,
		.wl_pid = network->nk_pid, .wl_cpu_until_ns = UINT64_MAX,
	};
	const int body = body_file(request);
	struct net_answer came;
	bool is_sent;

	*answer = (struct prof_answer){ .an_fd = -1 };
	if (body == -1) {
		errno = ENOMEM;
		return (child_lost(network, answer, error));
	}
	is_sent = ask_send(network, request, &ask, body, &limit);
	(void)close(body);
	if (!is_sent || !prof_wire_recv(network->nk_sock, &came,
	    sizeof(came), &answer->an_fd, &limit) ||
	    is_too_long(answer->an_fd, ask.na_max_answer))
		return (child_lost(network, answer, error));
	came.nr_text[sizeof(came.nr_text) - 1] = '\0';
	answer->an_status = came.nr_status;
	answer->an_retry_after_s = came.nr_retry_after_s;
	answer->an_length = came.nr_length;
	answer->an_sent = came.nr_sent;
	answer_say(answer, &came);
	return (0);
}

void
prof_answer_free(struct prof_answer *answer)
{
	if (answer->an_fd != -1)
		(void)close(answer->an_fd);
	answer->an_fd = -1;
}

bool
prof_answer_is_good(const struct prof_answer *answer)
{
	return (answer->an_status >= 200 && answer->an_status < 300);
}

bool
prof_answer_may_pass(const struct prof_answer *answer)
{
	static const unsigned passing[] = { 0, 408, 425, 429, 502, 503, 504 };

	for (size_t n = 0; n < sizeof(passing) / sizeof(passing[0]); n++)
		if (answer->an_status == passing[n])
			return (true);
	return (false);
}

/* --------------------------------------------------------------- waiting */

struct prof_backoff
prof_backoff_begin(uint64_t for_ns)
{
	return ((struct prof_backoff){ .bo_until_ns = prof_now_ns() +
	    for_ns });
}

bool
prof_backoff_wait(struct prof_backoff *backoff,
    const struct prof_answer *answer)
{
	const uint64_t now_ns = prof_now_ns(), asked_ns =
	    answer->an_retry_after_s * NS_PER_S;
	uint64_t wait_ns = FIRST_WAIT_NS << (backoff->bo_tries < 7 ?
	    backoff->bo_tries : 7);
	struct timespec ts;

	backoff->bo_tries++;
	if (wait_ns > LONGEST_WAIT_NS)
		wait_ns = LONGEST_WAIT_NS;
	/* Hosts that failed together do not come back together. */
	wait_ns = wait_ns / 2 + (now_ns / 997) % wait_ns;
	if (wait_ns < asked_ns)
		wait_ns = asked_ns;
	if (now_ns + asked_ns >= backoff->bo_until_ns)
		return (false);
	/* Once more at the end: somebody wants it to be tried until then. */
	if (wait_ns > backoff->bo_until_ns - now_ns)
		wait_ns = backoff->bo_until_ns - now_ns;
	ts.tv_sec = (time_t)(wait_ns / NS_PER_S);
	ts.tv_nsec = (long)(wait_ns % NS_PER_S);
	while (nanosleep(&ts, &ts) == -1 && errno == EINTR)
		continue;
	return (true);
}
