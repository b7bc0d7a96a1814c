/* SPDX-License-Identifier: ISC */
/*
 * The child that speaks to servers (network.h).  It has no privileges and can
 * read, but not write files; what it loads and reads of the system, such as
 * libcurl, certificates and the names of hosts, everybody may read.  It makes
 * a request at a time, each on a connection of its own: on one that was used
 * before, libcurl sends what had no answer twice.  A server's answer goes into
 * a memory file, of which nothing is looked at here.
 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "confine/child.h"
#include "confine/confine.h"
#include "confine/wire.h"
#include "curl_abi.h"
#include "network_impl.h"

#define CONNECT_MS	10000
#define GZIP_BITS	(15 + 16)
#define GZIP_LEVEL	1
#define TEXT		100	/* of an answer, in messages */

struct net {
	struct net_begin ne_begin;
	struct curl_calls ne_call;
	void		*ne_easy;
	char		 ne_why[160];	/* it cannot work at all; "": it can */
};

/* A request, and what came of it. */
struct job {
	struct net	*jo_net;
	struct net_ask	 jo_ask;
	char		 jo_texts[NET_TEXTS_MAX];
	const char	*jo_type;
	char		 jo_url[NET_TEXTS_MAX + NET_URL_MAX];
	uint8_t		*jo_body;	/* mapped */
	uint8_t		*jo_packed;	/* compressed, or NULL */
	size_t		 jo_length;	/* of what is sent */
	int		 jo_fd;		/* of the answer */
	bool		 jo_is_long;	/* more than na_max_answer */
	bool		 jo_is_full;	/* no memory */
	struct net_answer jo_answer;
};

/* --------------------------------------------------------------- libcurl */

static bool
load_calls(struct net *net)
{
	static const struct {
		const char	*name;
		size_t		 at;
	} calls[] = {
#define CALL(name) { "curl_" #name, offsetof(struct curl_calls, cl_##name) }
		CALL(global_init), CALL(easy_init), CALL(easy_setopt),
		CALL(easy_perform), CALL(easy_getinfo), CALL(easy_reset),
		CALL(easy_strerror), CALL(slist_append), CALL(slist_free_all),
#undef CALL
	};
	void *library = dlopen("libcurl.so.4", RTLD_NOW), *call;

	if (library == NULL)
		library = dlopen("libcurl-gnutls.so.4", RTLD_NOW);
	if (library == NULL)
		return (false);
	for (size_t n = 0; n < sizeof(calls) / sizeof(calls[0]); n++) {
		call = dlsym(library, calls[n].name);
		if (call == NULL)
			return (false);
		memcpy((char *)&net->ne_call + calls[n].at, &call,
		    sizeof(call));
	}
	return (true);
}

/* Before the filter is on: loading takes more than it allows. */
static void
net_load(struct net *net)
{
	if (!load_calls(net))
		snprintf(net->ne_why, sizeof(net->ne_why),
		    "libcurl.so.4 cannot be loaded: install libcurl4");
	else if (net->ne_call.cl_global_init(CURL_GLOBAL_DEFAULT) !=
	    CURLE_OK ||
	    (net->ne_easy = net->ne_call.cl_easy_init()) == NULL)
		snprintf(net->ne_why, sizeof(net->ne_why),
		    "libcurl cannot be initialized");
}

/* --------------------------------------------------------------- request */

static bool
body_pack(struct job *job)
{
	const size_t room = compressBound(job->jo_length) + 32;
	z_stream stream = { .next_in = job->jo_body,
	    .avail_in = (uInt)job->jo_length, .avail_out = (uInt)room };
	int rv;

	if (room > UINT32_MAX)
		return (false);
	job->jo_packed = malloc(room);
	if (job->jo_packed == NULL || deflateInit2(&stream, GZIP_LEVEL,
	    Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return (false);
	stream.next_out = job->jo_packed;
	rv = deflate(&stream, Z_FINISH);
	job->jo_length = stream.total_out;
	(void)deflateEnd(&stream);
	return (rv == Z_STREAM_END);
}

static size_t
answer_take(char *bytes, size_t size, size_t n, void *arg)
{
	struct job *job = arg;
	size_t left = size * n;
	ssize_t done;

	if (job->jo_answer.nr_length + left > job->jo_ask.na_max_answer) {
		job->jo_is_long = true;
		return (0);
	}
	for (; left > 0; left -= (size_t)done, bytes += done) {
		done = write(job->jo_fd, bytes, left);
		if (done == -1) {
			job->jo_is_full = true;
			return (0);
		}
		job->jo_answer.nr_length += (uint64_t)done;
	}
	return (size * n);
}

static struct curl_slist *
headers_make(const struct job *job)
{
	const struct net_begin *begin = &job->jo_net->ne_begin;
	const struct curl_calls *call = &job->jo_net->ne_call;
	char type[256], bearer[PROF_NETWORK_SECRET + 32];
	struct curl_slist *list = call->cl_slist_append(NULL, "Expect:");

	if (job->jo_type[0] != '\0') {
		snprintf(type, sizeof(type), "Content-Type: %s",
		    job->jo_type);
		list = call->cl_slist_append(list, type);
	}
	if (job->jo_packed != NULL)
		list = call->cl_slist_append(list, "Content-Encoding: gzip");
	if (begin->nb_user[0] == '\0' && begin->nb_secret[0] != '\0') {
		snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s",
		    begin->nb_secret);
		list = call->cl_slist_append(list, bearer);
		explicit_bzero(bearer, sizeof(bearer));
	}
	return (list);
}

static int
options_set(struct job *job, struct curl_slist *headers, char *why)
{
	const struct net *net = job->jo_net;
	void *easy = net->ne_easy;
	int bad = 0;

#define SET(option, value)						\
	(bad |= net->ne_call.cl_easy_setopt(easy, option, value))
	SET(CURLOPT_ERRORBUFFER, why);
	SET(CURLOPT_NOSIGNAL, 1L);
	/* What fails on a connection that was used before is sent again. */
	SET(CURLOPT_FORBID_REUSE, 1L);
	/* Also of a proxy: nothing else is ever spoken. */
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_USERAGENT, "dtprof/" DTPROF_VERSION);
	SET(CURLOPT_URL, job->jo_url);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_POSTFIELDS,
	    job->jo_packed != NULL ? job->jo_packed : job->jo_body);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (int64_t)job->jo_length);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_WRITEFUNCTION, answer_take);
	SET(CURLOPT_WRITEDATA, job);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	SET(CURLOPT_TIMEOUT_MS, (long)job->jo_ask.na_timeout_s * 1000);
	/* Half of the time without a byte either way: given up. */
	SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
	SET(CURLOPT_LOW_SPEED_TIME, (long)job->jo_ask.na_timeout_s / 2);
	if (net->ne_begin.nb_user[0] != '\0') {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, net->ne_begin.nb_user);
		SET(CURLOPT_PASSWORD, net->ne_begin.nb_secret);
	}
#undef SET
	return (bad);
}

static void
answer_put(struct job *job, const char *text)
{
	snprintf(job->jo_answer.nr_text, sizeof(job->jo_answer.nr_text), "%s",
	    text);
}

static void
job_perform(struct job *job)
{
	const struct net *net = job->jo_net;
	struct net_answer *answer = &job->jo_answer;
	struct curl_slist *headers = headers_make(job);
	char why[CURL_ERROR_SIZE] = "";
	int64_t after = 0;
	long status = 0;
	int rv;

	net->ne_call.cl_easy_reset(net->ne_easy);
	rv = options_set(job, headers, why);
	if (rv != 0) {
		answer_put(job, "libcurl is too old: 7.85 or later is "
		    "needed");
	} else if ((rv = net->ne_call.cl_easy_perform(net->ne_easy)) ==
	    CURLE_OK) {
		(void)net->ne_call.cl_easy_getinfo(net->ne_easy,
		    CURLINFO_RESPONSE_CODE, &status);
		(void)net->ne_call.cl_easy_getinfo(net->ne_easy,
		    CURLINFO_RETRY_AFTER, &after);
		answer->nr_status = (uint32_t)status;
		answer->nr_retry_after_s = after < 0 ? 0 :
		    after > UINT32_MAX ? UINT32_MAX : (uint32_t)after;
		answer->nr_sent = job->jo_length;
	} else {
		answer_put(job, job->jo_is_long ? "the answer of the server is "
		    "too long" :
		    job->jo_is_full ? "there is no memory for the answer of "
		    "the server" :
		    why[0] != '\0' ? why :
		    net->ne_call.cl_easy_strerror(rv));
	}
	net->ne_call.cl_slist_free_all(headers);
}

/* --------------------------------------------------------------- a round */

/* The texts behind a request; false: they are not what they should be. */
static bool
texts_take(struct job *job)
{
	const char *at = job->jo_texts, *end = at + job->jo_ask.na_texts;
	const struct net_begin *begin = &job->jo_net->ne_begin;

	snprintf(job->jo_url, sizeof(job->jo_url), "%s%s", begin->nb_url, at);
	job->jo_type = at + strlen(at) + 1;
	return (job->jo_type < end);
}

static bool
job_take(struct job *job)
{
	struct net_ask *ask = &job->jo_ask;
	int body = -1;

	if (!prof_wire_recv(PROF_CHILD_SOCK, ask, sizeof(*ask), &body,
	    NULL) || ask->na_texts == 0 || ask->na_texts > NET_TEXTS_MAX ||
	    !prof_wire_recv(PROF_CHILD_SOCK, job->jo_texts, ask->na_texts,
	    NULL, NULL) || job->jo_texts[ask->na_texts - 1] != '\0' ||
	    !texts_take(job) || body == -1)
		return (false);
	job->jo_length = ask->na_length;
	job->jo_body = ask->na_length == 0 ? NULL : mmap(NULL,
	    ask->na_length, PROT_READ, MAP_PRIVATE, body, 0);
	(void)close(body);
	return (true);
}

static void
job_do(struct job *job)
{
	const struct net *net = job->jo_net;

	job->jo_fd = memfd_create("answer", MFD_CLOEXEC);
	if (net->ne_why[0] != '\0')
		answer_put(job, net->ne_why);
	else if (job->jo_fd == -1 || job->jo_body == MAP_FAILED ||
	    (job->jo_ask.na_gzip != 0 && !body_pack(job)))
		answer_put(job, "there is no memory for the request");
	else
		job_perform(job);
}

static bool
job_answer(struct job *job)
{
	const bool is_sent = prof_wire_send(PROF_CHILD_SOCK,
	    &job->jo_answer, sizeof(job->jo_answer), job->jo_fd, NULL);

	if (job->jo_fd != -1)
		(void)close(job->jo_fd);
	if (job->jo_body != NULL && job->jo_body != MAP_FAILED)
		(void)munmap(job->jo_body, job->jo_ask.na_length);
	free(job->jo_packed);
	return (is_sent);
}

/* It will have a secret; a debugger's core leaves out the same. */
static void
core_empty(void)
{
	const int fd = open("/proc/self/coredump_filter",
	    O_WRONLY | O_CLOEXEC);

	if (fd == -1)
		return;
	(void)!write(fd, "0", 1);
	(void)close(fd);
}

void
prof_network_child(int sock)
{
	static struct net net;
	struct job *job;

	prof_child_forget_signals();
	(void)prctl(PR_SET_NAME, "dtprof-network", 0, 0, 0);
	if (!prof_child_let_go(sock))
		_exit(1);
	core_empty();
	(void)prof_confine_rights(PROF_CONFINED_NETWORK);
	/* After the change of user, which forgets it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	net_load(&net);
	(void)prof_confine_calls(PROF_CONFINED_NETWORK);
	if (!prof_wire_recv(PROF_CHILD_SOCK, &net.ne_begin,
	    sizeof(net.ne_begin), NULL, NULL))
		_exit(0);
	while ((job = calloc(1, sizeof(*job))) != NULL) {
		job->jo_net = &net;
		if (!job_take(job))
			break;
		job_do(job);
		if (!job_answer(job))
			break;
		free(job);
	}
	_exit(0);
}
