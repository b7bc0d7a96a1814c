/*
 * ASSERTION: A request reaches Python's server whole, compressed and with its
 * secret, and an answer comes back whole; a server that refuses, is slow, ends,
 * sends without end or sends what is no HTTP costs that request only, and what
 * had no answer is not sent again; one that is gone is tried for as long as
 * was asked.  The child that speaks to it has no
 * capability and a filter of system calls, and the secret is in no arguments or
 * environment.
 *
 * Easy to get wrong: a filter that lets libcurl connect but not look up a
 * name; an answer that is shown as it came.
 */
/* SPDX-License-Identifier: ISC */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli-check.h"
#include "network/network.h"

#define SECRET	"s3cr3t-of-the-test"
#define BODY	(3u << 20)

static int port;
static const char *secret_file;

static pid_t
server_start(void)
{
	const char *src = getenv("SRC");
	char path[4096], line[32] = "";
	int out[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/tests/work/http_server.py",
	    src == NULL ? "." : src);
	CHECK(pipe(out) == 0, "pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		dup2(out[1], STDOUT_FILENO);
		execlp("python3", "python3", path, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	CHECK(read(out[0], line, sizeof(line) - 1) > 0, "no server");
	port = atoi(line);
	return (pid);
}

static struct prof_network *
network_to(const char *user, const char *host)
{
	char url[256];
	const struct prof_network_options options = {
		.no_url = url, .no_secret_file = secret_file,
	};
	struct prof_err error = { 0 };
	struct prof_network *network;

	snprintf(url, sizeof(url), "http://%s%s:%d", user, host, port);
	network = prof_network_open(&options, &error);
	CHECK(network != NULL, "%s", error.pe_text);
	return (network);
}

static struct prof_answer
post(struct prof_network *network, const struct prof_request *request)
{
	struct prof_answer answer;
	struct prof_err error = { 0 };

	CHECK(prof_network_post(network, request, &answer, &error) == 0,
	    "%s: %s", request->rq_path, error.pe_text);
	return (answer);
}

static void
check_echo(struct prof_network *network)
{
	static char body[BODY], back[BODY];
	const struct prof_request request = {
		.rq_path = "/echo?x=1", .rq_type = "text/plain",
		.rq_body = body, .rq_length = BODY, .rq_gzip = true,
		.rq_max_answer = BODY,
	};
	struct prof_answer answer;

	for (size_t n = 0; n < BODY; n++)
		body[n] = (char)('a' + n * n % 23);
	answer = post(network, &request);
	CHECK(prof_answer_is_good(&answer) && answer.an_length == BODY &&
	    pread(answer.an_fd, back, BODY, 0) == BODY &&
	    memcmp(body, back, BODY) == 0, "status %u, %zu bytes: %s",
	    answer.an_status, (size_t)answer.an_length, answer.an_text);
	CHECK(answer.an_sent < BODY / 2, "not compressed");
	prof_answer_free(&answer);
	OK("%u bytes came back, sent as %zu", BODY, (size_t)answer.an_sent);
}

static void
check_refused(struct prof_network *network)
{
	static const struct {
		const char	*path;
		unsigned	 status;
		bool		 may_pass;
	} cases[] = {
		{ "/status/400", 400, false }, { "/status/401", 401, false },
		{ "/status/429", 429, true }, { "/status/503", 503, true },
		{ "/status/302", 302, false }, { "/drop", 0, true },
		{ "/garbage", 0, true }, { "/huge", 0, true },
		{ "/slow", 0, true },
	};

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const struct prof_request request = {
			.rq_path = cases[n].path, .rq_body = "x",
			.rq_length = 1, .rq_timeout_s = 2,
		};
		struct prof_answer answer = post(network, &request);

		CHECK(answer.an_status == cases[n].status &&
		    prof_answer_may_pass(&answer) == cases[n].may_pass,
		    "%s: %u %s", cases[n].path, answer.an_status,
		    answer.an_text);
		CHECK(answer.an_text[0] != '\0' &&
		    strchr(answer.an_text, 27) == NULL &&
		    strstr(answer.an_text, SECRET) == NULL, "%s: '%s'",
		    cases[n].path, answer.an_text);
		prof_answer_free(&answer);
		OK("%s: %u, %s", cases[n].path, answer.an_status,
		    answer.an_text);
	}
}

/* It is not known whether it was done: whoever asked decides. */
static void
check_once(struct prof_network *network)
{
	const struct prof_request seen = { .rq_path = "/seen/drop" };
	struct prof_answer answer = post(network, &seen);

	CHECK(strcmp(answer.an_text, "1") == 0, "sent %s times",
	    answer.an_text);
	prof_answer_free(&answer);
	OK("a request without an answer is sent once");
}

static void
check_retries(struct prof_network *network)
{
	const struct prof_request request = { .rq_path = "/after/2/0" };
	struct prof_backoff backoff = prof_backoff_begin(60000000000ULL);
	struct prof_answer answer;

	while (answer = post(network, &request),
	    !prof_answer_is_good(&answer)) {
		CHECK(prof_backoff_wait(&backoff, &answer), "gave up");
		prof_answer_free(&answer);
	}
	CHECK(strcmp(answer.an_text, "3") == 0, "%s", answer.an_text);
	prof_answer_free(&answer);
	answer.an_retry_after_s = 3600;
	CHECK(!prof_backoff_wait(&backoff, &answer), "waited for an hour");
	OK("the third try was accepted");
}

/* The last try is not before the time that was asked for. */
static void
check_gone(struct prof_network *network)
{
	const uint64_t until_ns = prof_now_ns() + 400000000;
	struct prof_backoff backoff = prof_backoff_begin(400000000);
	const struct prof_request request = { .rq_path = "/takes" };
	struct prof_answer answer;
	bool again;

	do {
		answer = post(network, &request);
		CHECK(answer.an_status == 0, "who is there?");
		prof_answer_free(&answer);
		again = prof_backoff_wait(&backoff, &answer);
	} while (again);
	CHECK(prof_now_ns() >= until_ns, "gave up before the time");
	OK("a server that is gone is tried for as long as was asked");
}

static size_t
slurp(const char *path, char *to, size_t size)
{
	FILE *file = fopen(path, "r");
	const size_t n = file == NULL ? 0 : fread(to, 1, size - 1, file);

	to[n] = '\0';
	if (file != NULL)
		fclose(file);
	return (n);
}

static void
check_child(pid_t server)
{
	static char text[1 << 16];
	char path[64], *at, *end;
	pid_t child = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	CHECK(slurp(path, text, sizeof(text)) > 0, "no children");
	for (at = text; (pid_t)strtol(at, &end, 10) > 0 && end > at; at = end)
		if ((pid_t)strtol(at, NULL, 10) != server)
			child = (pid_t)strtol(at, NULL, 10);
	CHECK(child > 0, "no child");
	snprintf(path, sizeof(path), "/proc/%d/status", child);
	CHECK(slurp(path, text, sizeof(text)) > 0 &&
	    strstr(text, "CapEff:\t0000000000000000") != NULL &&
	    strstr(text, "NoNewPrivs:\t1") != NULL, "%s", text);
	CHECK(getenv("SAN") != NULL && getenv("SAN")[0] != '\0' ? true :
	    strstr(text, "Seccomp:\t2") != NULL, "%s", text);
	for (const char *const *name = (const char *const []){ "cmdline",
	    "environ", NULL }; *name != NULL; name++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", child, *name);
		const size_t n = slurp(path, text, sizeof(text));

		CHECK(memmem(text, n, SECRET, strlen(SECRET)) == NULL, "%s",
		    path);
	}
	OK("the child has no privileges");
}

/* What is refused names no other host, and repeats no password. */
static void
check_urls(void)
{
	static const char *const bad[] = {
		"http://127.0.0.1:1?x@127.0.0.1", "http://127.0.0.1:1#x@y",
		"http://127.0.0.1/a?b=" SECRET, "http://u:" SECRET "@h",
		"ftp://u:" SECRET "@h", "127.0.0.1"
	};

	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		const struct prof_network_options options = {
			.no_url = bad[n],
		};
		struct prof_err error = { 0 };

		CHECK(prof_network_open(&options, &error) == NULL &&
		    error.pe_code == PROF_E_USAGE &&
		    strstr(error.pe_text, SECRET) == NULL, "%s: %s", bad[n],
		    error.pe_text);
	}
	OK("invalid URLs are refused and not repeated");
}

static void
check_secret(struct prof_network *network, const char *begin)
{
	const struct prof_request request = { .rq_path = "/auth" };
	struct prof_answer answer = post(network, &request);

	CHECK(strncmp(answer.an_text, begin, strlen(begin)) == 0, "'%s'",
	    answer.an_text);
	prof_answer_free(&answer);
	OK("Authorization: %s", begin);
}

int
main(void)
{
	char path[] = "/tmp/network-secret.XXXXXX";
	const int fd = mkstemp(path);
	const pid_t server = server_start();
	struct prof_network *network;

	CHECK(fd != -1 && write(fd, SECRET "\n", sizeof(SECRET)) > 0,
	    "no file");
	secret_file = path;
	check_urls();
	network = network_to("someone@", "127.0.0.1");
	/* someone:s3cr3t-of-the-test */
	check_secret(network, "Basic c29tZW9uZTpzM2NyM3Qtb2YtdGhlLXRlc3Q=");
	check_child(server);
	check_echo(network);
	check_refused(network);
	check_once(network);
	check_retries(network);
	prof_network_close(network);
	network = network_to("", "localhost");
	check_secret(network, "Bearer " SECRET);
	kill(server, SIGKILL);
	CHECK(waitpid(server, NULL, 0) == server, "no end of the server");
	check_gone(network);
	prof_network_close(network);
	unlink(path);
	return (0);
}
