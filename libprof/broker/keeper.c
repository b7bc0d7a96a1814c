/* SPDX-License-Identifier: ISC */
/* See keeper.h.  Started by broker.c; a parser's life is parser.c. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "confine/child.h"
#include "confine/confine.h"
#include "confine/wire.h"
#include "keeper.h"
#include "parser.h"
#include "throttle.h"

#define CONTROL		PROF_CHILD_SOCK

static pid_t
fork_parser(int sock, unsigned lacks)
{
	const pid_t keeper = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return (pid);
	/* It dies with the keeper, which dies with the recorder. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    getppid() != keeper)
		_exit(PROF_PARSER_LOST);
	(void)prctl(PR_SET_NAME, "dtprof-parser", 0, 0, 0);
	(void)close(CONTROL);
	if (!prof_throttle_tick())
		_exit(PROF_PARSER_LOST);
	/* What the keeper could have, a parser must. */
	if ((prof_confine_calls(PROF_CONFINED_PARSER) & ~lacks) != 0)
		_exit(PROF_PARSER_LOST);
	prof_parser_main(sock);
}

/* Only one of ours, which its number is as long as we did not wait. */
static void
end_parser(struct prof_keeper_answer *answer)
{
	const pid_t pid = answer->kr_pid;
	struct rusage usage;
	pid_t ended;

	memset(&usage, 0, sizeof(usage));
	ended = wait4(pid, &answer->kr_status, WNOHANG, &usage);
	if (ended == 0) {
		(void)kill(pid, SIGKILL);
		do
			ended = wait4(pid, &answer->kr_status, 0, &usage);
		while (ended == -1 && errno == EINTR);
	}
	if (ended != pid)
		answer->kr_pid = -1;
	answer->kr_cpu_ns = ((uint64_t)usage.ru_utime.tv_sec +
	    (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	    ((uint64_t)usage.ru_utime.tv_usec +
	    (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

static void __attribute__((noreturn))
keeper_main(struct prof_throttle *throttle, int sock)
{
	struct prof_keeper_answer answer;
	struct prof_keeper_ask ask;
	unsigned lacks;
	int fd;

	prof_child_forget_signals();
	(void)prctl(PR_SET_NAME, "dtprof-keeper", 0, 0, 0);
	if (!prof_child_let_go(sock) || !prof_throttle_obey(throttle))
		_exit(PROF_PARSER_LOST);
	lacks = prof_confine_rights(PROF_CONFINED_KEEPER);
	lacks |= prof_confine_calls(PROF_CONFINED_KEEPER);
	while (prof_wire_recv(CONTROL, &ask, sizeof(ask), &fd, NULL)) {
		memset(&answer, 0, sizeof(answer));
		answer.kr_lacks = lacks;
		answer.kr_pid = ask.ka_pid;
		if (ask.ka_what == PROF_KEEPER_FORK)
			answer.kr_pid = fork_parser(fd, lacks);
		else
			end_parser(&answer);
		if (fd != -1)
			(void)close(fd);
		if (!prof_wire_send(CONTROL, &answer, sizeof(answer), -1,
		    NULL))
			break;
	}
	_exit(0);
}

pid_t
prof_keeper_start(struct prof_throttle *throttle, int *sock)
{
	sigset_t all, before;
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return (-1);
	/* What comes at this moment waits until whoever it is for knows. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		keeper_main(throttle, pair[1]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(pair[1]);
	if (pid == -1) {
		(void)close(pair[0]);
		return (-1);
	}
	*sock = pair[0];
	return (pid);
}
