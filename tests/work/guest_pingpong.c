/* SPDX-License-Identifier: ISC */
/*
 * A workload for the guest: two processes pass a byte back and forth through
 * two pipes, the given number of times.  On one CPU each pass is a write, a
 * read and a switch to the other task, so all three have a known number: in
 * all 2 * TIMES writes and 2 * TIMES - 1 reads.
 *
 * With -f no other task runs meanwhile, such as one that empties a buffer.
 */
#include <sys/types.h>
#include <sys/wait.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pass the byte on; 0, or -1 when the other end has gone. */
static int
answer(int from, int to, long times)
{
	char byte;

	while (times-- > 0) {
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			return (-1);
	}
	return (0);
}

int
main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 1 };
	int ping[2], pong[2], status;
	long times;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "-f") == 0) {
		if (sched_setscheduler(0, SCHED_FIFO, &first) == -1)
			return (1);
		argv++;
		argc--;
	}
	times = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	if (times <= 0 || pipe(ping) == -1 || pipe(pong) == -1) {
		fprintf(stderr, "usage: guest_pingpong [-f] TIMES\n");
		return (2);
	}
	pid = fork();
	if (pid == -1)
		return (1);
	/* Each sees the other's end. */
	close(pid == 0 ? ping[1] : ping[0]);
	close(pid == 0 ? pong[0] : pong[1]);
	if (pid == 0)
		_exit(answer(ping[0], pong[1], times) == 0 ? 0 : 1);
	if (write(ping[1], "x", 1) != 1 ||
	    answer(pong[0], ping[1], times - 1) == -1 ||
	    waitpid(pid, &status, 0) != pid)
		return (1);
	return (status == 0 ? 0 : 1);
}
