/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a mark reaches each recording of a process once, with the
 * sender's time and text, and the sender learns how many took it; a recorder
 * that refuses or has gone is not counted.  Easy to get wrong where two
 * names lead to one directory, where the answer is lost, and where a recorder
 * that is about to listen is taken for one that died.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli-check.h"
#include "session/control.h"

#define BEGINNINGS	600	/* a quarter where LOOPS asks for less */

struct seen {
	int		 se_n;
	int		 se_refuse;
	uint64_t	 se_time_ns;
	char		 se_text[2048];
};

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec);
}

static int
see(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	CHECK(record->pr_type == PROF_R_MARK, "type %d", record->pr_type);
	seen->se_n++;
	seen->se_time_ns = record->pr_time_ns;
	snprintf(seen->se_text, sizeof(seen->se_text), "%s", record->pr_path);
	return (seen->se_refuse ? -1 : 0);
}

/* A child sends; its exit status is how many took the mark, 100: failed. */
static int
send_and_take(const char *text, struct prof_control **marks,
    struct seen *seen, int n)
{
	const int recorder = (int)getpid();
	struct prof_err error;
	int status, taken;
	pid_t pid = fork();

	CHECK(pid != -1, "fork");
	if (pid == 0) {
		taken = prof_mark_send(recorder, PROF_R_MARK, text, &error);
		_exit(taken == -1 ? 100 : taken);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd fds[2];

		for (int i = 0; i < n; i++)
			fds[i] = (struct pollfd){ prof_control_fd(marks[i]),
			    POLLIN, 0 };
		poll(fds, (nfds_t)n, 10);
		for (int i = 0; i < n; i++)
			(void)prof_control_take(marks[i], see, &seen[i]);
	}
	CHECK(WIFEXITED(status), "the sender died");
	return (WEXITSTATUS(status));
}

static void
sending(struct prof_control **marks)
{
	struct seen seen[2] = { 0 };
	char longest[1026];
	uint64_t before = now_ns();

	CHECK(send_and_take("phase \033[1m2", marks, seen, 2) == 2,
	    "both take it");
	for (int i = 0; i < 2; i++) {
		CHECK(seen[i].se_n == 1, "recording %d: %d times", i,
		    seen[i].se_n);
		CHECK(strcmp(seen[i].se_text, "phase \033[1m2") == 0, "%s",
		    seen[i].se_text);
		CHECK(seen[i].se_time_ns >= before &&
		    seen[i].se_time_ns <= now_ns(), "the time is another");
	}
	OK("two recordings took the mark, once each");
	memset(longest, 'x', sizeof(longest));
	longest[1024] = '\0';
	CHECK(send_and_take(longest, marks, seen, 2) == 2, "1024 bytes");
	CHECK(strcmp(seen[1].se_text, longest) == 0, "the longest arrives");
	longest[1024] = 'x';
	longest[1025] = '\0';
	CHECK(send_and_take(longest, marks, seen, 2) == 100, "1025 bytes");
	CHECK(send_and_take("", marks, seen, 2) == 100, "an empty mark");
	OK("1 to 1024 bytes");
	seen[0].se_refuse = 1;
	CHECK(send_and_take("x", marks, seen, 2) == 1, "one refused");
	OK("a recording that failed to write it is not counted");
}

/* With TMPDIR=/tmp, two of the places to look in are one. */
static void
two_names(const char *tmpdir)
{
	struct prof_err error = { 0 };
	struct seen seen = { 0 };
	struct prof_control *marks;

	setenv("TMPDIR", "/tmp", 1);
	marks = prof_control_open(&error);
	CHECK(marks != NULL, "%s", error.pe_text);
	CHECK(send_and_take("x", &marks, &seen, 1) == 1 && seen.se_n == 1,
	    "taken %d times", seen.se_n);
	prof_control_close(marks);
	setenv("TMPDIR", tmpdir, 1);
	OK("two names of one directory: sent once");
}

/* Others send without pause while recorders begin. */
static void
beginning(void)
{
	struct prof_err error = { 0 };
	struct prof_control *marks;
	struct seen seen = { 0 };
	const int n = BEGINNINGS * (getenv("ACCEPT") != NULL ? 4 : 1) /
	    (getenv("LOOPS") != NULL ? 4 : 1);
	pid_t pid = fork();

	CHECK(pid != -1, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)prof_mark_send(0, PROF_R_MARK, "all", &error);
	}
	for (int i = 0; i < n; i++) {
		marks = prof_control_open(&error);
		CHECK(marks != NULL, "%s", error.pe_text);
		CHECK(send_and_take("x", &marks, &seen, 1) == 1,
		    "recorder %d is not found", i);
		prof_control_close(marks);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	OK("%d recorders are found from the beginning", n);
}

int
main(void)
{
	struct prof_control *marks[2];
	struct prof_err error = { 0 };
	struct seen seen = { 0 };
	char dir[] = "/tmp/dtprof-mark-test.XXXXXX", path[64];

	CHECK(mkdtemp(dir) != NULL, "temporary directory");
	setenv("TMPDIR", dir, 1);
	for (int i = 0; i < 2; i++) {
		marks[i] = prof_control_open(&error);
		CHECK(marks[i] != NULL, "%s", error.pe_text);
	}
	sending(marks);
	prof_control_close(marks[1]);
	CHECK(send_and_take("y", marks, &seen, 1) == 1, "one is left");
	prof_control_close(marks[0]);
	two_names(dir);
	beginning();
	CHECK(prof_mark_send((int)getpid(), PROF_R_MARK, "z", &error) == -1 &&
	    error.pe_code == PROF_E_TARGET, "%s", error.pe_text);
	OK("after its end a recording takes no marks");
	snprintf(path, sizeof(path), "%s/dtprof-%u", dir, geteuid());
	/* Unless /run/user was used, nothing may be left in it. */
	CHECK(rmdir(path) == 0 || access(path, F_OK) == -1,
	    "a socket was left behind");
	rmdir(dir);
	return (0);
}
