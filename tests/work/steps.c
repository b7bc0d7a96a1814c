/* SPDX-License-Identifier: ISC */
/*
 * Runs a command, and step by step what it does between two signals SIGUSR1
 * that it sends to itself: it stops, a task switch, before each instruction.
 * At the first one it is held until standard input has a line, or its end.
 *
 *	steps command [argument ...]
 *
 * Prints how many steps that were.
 */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Let it run in this way up to its next stop; the signal, -1: it has ended. */
static int
next_stop(int pid, int request)
{
	int status;

	if (ptrace(request, pid, 0, 0) == -1 ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return (-1);
	return (WSTOPSIG(status));
}

int
main(int argc, char *argv[])
{
	unsigned long steps = 0;
	int pid, sig = 0, status, byte;

	if (argc < 2) {
		fprintf(stderr, "usage: steps command [argument ...]\n");
		return (2);
	}
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
			execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(1);
	}
	/* The first stop is that of its exec. */
	if (pid == -1 || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status))
		return (1);
	while (sig != SIGUSR1)
		if ((sig = next_stop(pid, PTRACE_CONT)) == -1)
			return (1);
	puts("held");
	fflush(stdout);
	for (byte = getchar(); byte != '\n' && byte != EOF;)
		byte = getchar();
	while ((sig = next_stop(pid, PTRACE_SINGLESTEP)) == SIGTRAP)
		steps++;
	if (sig != SIGUSR1)
		return (1);
	printf("%lu\n", steps);
	ptrace(PTRACE_CONT, pid, 0, 0);
	return (waitpid(pid, &status, 0) != pid || status != 0);
}
