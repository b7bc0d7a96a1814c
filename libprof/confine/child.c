/* SPDX-License-Identifier: ISC */
/* See child.h.  Called by broker/keeper.c and network/child.c. */
#include <sys/syscall.h>

#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "child.h"

#define MOST_FILES	65536

bool
prof_child_let_go(int sock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	for (fd = 0; fd <= 2; fd++)
		if (null == -1 ? close(fd) == -1 && errno != EBADF :
		    dup2(null, fd) == -1)
			return (false);
	if (sock != PROF_CHILD_SOCK && dup2(sock, PROF_CHILD_SOCK) == -1)
		return (false);
	if (syscall(SYS_close_range, PROF_CHILD_SOCK + 1, ~0U, 0) == 0)
		return (true);
	for (fd = PROF_CHILD_SOCK + 1; fd < MOST_FILES; fd++)
		(void)close(fd);
	return (true);
}

void
prof_child_forget_signals(void)
{
	sigset_t none;
	int n;

	for (n = 1; n < NSIG; n++)
		(void)signal(n, n == SIGPIPE ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
}
