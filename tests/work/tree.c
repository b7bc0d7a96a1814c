/* SPDX-License-Identifier: ISC */
/*
 * A tree of processes, each of which makes a known number of system calls.
 *
 *	tree [-w] [-e] depth width calls
 *
 * A process of depth d > 0 has width children of depth d - 1.  Each makes
 * its calls, close(0x40000000 + i) as in calls.c, and prints "pid ppid
 * depth" on a line.  -w: the whole tree is born first, the root says "born",
 * and all wait until standard input ends before they call.  -e: every child
 * executes this program anew.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tree {
	int		 depth;
	int		 width;
	unsigned long	 calls;
	int		 waits;
	int		 execs;
};

static void	grow(const struct tree *, int);

static void
become(const struct tree *tree, int born)
{
	char depth[16], width[16], calls[32], pipe_end[16];

	snprintf(depth, sizeof(depth), "%d", tree->depth);
	snprintf(width, sizeof(width), "%d", tree->width);
	snprintf(calls, sizeof(calls), "%lu", tree->calls);
	snprintf(pipe_end, sizeof(pipe_end), "%d", born);
	execl("/proc/self/exe", "tree", tree->waits ? "-we" : "-e", "-b",
	    pipe_end, depth, width, calls, NULL);
	_exit(1);
}

/* born: where each of the tree writes a byte once it is there. */
static void
grow(const struct tree *tree, int born)
{
	struct tree below = *tree;
	char byte;
	int i;

	below.depth--;
	for (i = 0; tree->depth > 0 && i < tree->width; i++) {
		pid_t pid = fork();

		if (pid == -1)
			abort();
		if (pid == 0) {
			if (tree->execs)
				become(&below, born);
			grow(&below, born);
			_exit(0);
		}
	}
	if (tree->waits) {
		if (write(born, "", 1) != 1)
			abort();
		while (read(0, &byte, 1) == 1)
			continue;
	}
	for (unsigned long n = 0; n < tree->calls; n++)
		syscall(SYS_close, 0x40000000UL + n);
	dprintf(1, "%d %d %d\n", getpid(), getppid(), tree->depth);
	while (wait(NULL) > 0)
		continue;
}

/* The root waits for all to be born before it says so. */
static void
announce(const struct tree *tree, int from)
{
	long all = 1, level = 1;
	char byte;

	for (int d = 0; d < tree->depth; d++) {
		level *= tree->width;
		all += level;
	}
	while (all-- > 0)
		if (read(from, &byte, 1) != 1)
			abort();
	dprintf(1, "born\n");
}

int
main(int argc, char **argv)
{
	struct tree tree = { 0 };
	int option, born[2] = { -1, -1 }, inherited = -1;

	while ((option = getopt(argc, argv, "web:")) != -1)
		if (option == 'w')
			tree.waits = 1;
		else if (option == 'e')
			tree.execs = 1;
		else if (option == 'b')
			inherited = atoi(optarg);
		else
			return (2);
	if (optind + 3 != argc)
		return (2);
	tree.depth = atoi(argv[optind]);
	tree.width = atoi(argv[optind + 1]);
	tree.calls = strtoul(argv[optind + 2], NULL, 0);
	if (inherited == -1 && tree.waits) {
		if (pipe(born) == -1)
			return (1);
		if (fork() == 0) {
			announce(&tree, born[0]);
			_exit(0);
		}
	}
	grow(&tree, inherited != -1 ? inherited : born[1]);
	return (0);
}
