/* SPDX-License-Identifier: ISC */
/*
 * Runs N short processes, never more than a few at once.
 *
 *	spawn directory N [ms [at_once]]
 *
 * The directory holds names p0 to p99, links to this program.  Process i
 * executes p<i % 100> with arguments "child ms code", uses ms milliseconds
 * of CPU time and exits with code i % 7.  For each, when it has ended,
 * "pid name code" is printed; that is what a recording has to know too.
 */
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct born {
	pid_t	pid;
	long	number;
};

static int
child(long ms, int code)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
	return (code);
}

static pid_t
begin(const char *directory, long number, const char *ms)
{
	char path[4096], code[16];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/p%ld", directory, number % 100);
	snprintf(code, sizeof(code), "%ld", number % 7);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "child", ms, code, NULL);
		_exit(99);
	}
	return (pid);
}

static void
reap(struct born *born, int at_once)
{
	int status, i;
	pid_t pid = wait(&status);

	for (i = 0; i < at_once; i++)
		if (born[i].pid == pid)
			break;
	if (i == at_once || !WIFEXITED(status))
		abort();
	printf("%d p%ld %d\n", pid, born[i].number % 100,
	    WEXITSTATUS(status));
	born[i].pid = 0;
}

int
main(int argc, char **argv)
{
	struct born born[64] = { { 0, 0 } };
	int at_once, i, running = 0;
	long n;

	if (argc == 4 && strcmp(argv[1], "child") == 0)
		return (child(atol(argv[2]), atoi(argv[3])));
	if (argc < 3 || argc > 5)
		return (2);
	at_once = argc == 5 ? atoi(argv[4]) : 4;
	if (at_once < 1 || at_once > 64)
		return (2);
	for (n = 0; n < atol(argv[2]); n++) {
		if (running == at_once) {
			reap(born, at_once);
			running--;
		}
		for (i = 0; born[i].pid != 0; i++)
			continue;
		born[i].number = n;
		born[i].pid = begin(argv[1], n, argc > 3 ? argv[3] : "5");
		if (born[i].pid == -1)
			abort();
		running++;
	}
	while (running-- > 0)
		reap(born, at_once);
	return (0);
}
