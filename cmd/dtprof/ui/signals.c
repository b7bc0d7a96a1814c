/* SPDX-License-Identifier: ISC */
/*
 * The signals that end a recording or a count, as bytes in a pipe, so that
 * those who run it (ending.c, bench_run.c) meet them where they wait anyway and
 * no system call of libprof sees more of them than an EINTR.
 *
 * Handlers, not a blocked mask: a command that is started inherits a mask
 * through exec, but no handlers.
 *
 * SIGUSR2 asks for a dump, and just interrupts the wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "../cmd.h"

static void	 on_signal(int number, siginfo_t *info, void *context);

#define BY_PROCESS	0x80

static int pipe_fds[2] = { -1, -1 };
static volatile sig_atomic_t dump_asked;
#define NSIGNALS	5

static struct sigaction saved[NSIGNALS];
/* The last two would end a recording without an END. */
static const int numbers[NSIGNALS] = {
	SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2
};

/* A full pipe means that plenty of signals are waiting already. */
static void
on_signal(int number, siginfo_t *info, void *context)
{
	const int saved_errno = errno;
	unsigned char byte = (unsigned char)number;

	(void)context;
	if (number == SIGUSR2)
		dump_asked = 1;
	if (number == SIGUSR1 || number == SIGUSR2)
		return;
	/* Not by the kernel, which means not by the terminal. */
	if (info->si_code <= 0)
		byte |= BY_PROCESS;
	(void)!write(pipe_fds[1], &byte, 1);
	errno = saved_errno;
}

/*
 * SIGINT also when it was ignored, as it is for a script's background jobs:
 * kill -INT is how scripts end a recording.  SIGHUP not: that is nohup.
 */
int
signals_open(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) == -1)
		return (-1);
	sigemptyset(&action.sa_mask);
	for (size_t n = 0; n < NSIGNALS; n++) {
		sigaction(numbers[n], NULL, &saved[n]);
		if (numbers[n] == SIGHUP && saved[n].sa_handler == SIG_IGN)
			continue;
		sigaction(numbers[n], &action, NULL);
	}
	return (0);
}

int
signals_take(bool *by_process)
{
	unsigned char byte;

	if (read(pipe_fds[0], &byte, 1) != 1)
		return (0);
	*by_process = (byte & BY_PROCESS) != 0;
	return (byte & ~BY_PROCESS);
}

bool
signals_dump(void)
{
	const bool is_asked = dump_asked != 0;

	dump_asked = 0;
	return (is_asked);
}

void
signals_close(void)
{
	if (pipe_fds[0] == -1)
		return;
	for (size_t n = 0; n < NSIGNALS; n++)
		sigaction(numbers[n], &saved[n], NULL);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	pipe_fds[0] = pipe_fds[1] = -1;
}
