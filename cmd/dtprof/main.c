/* SPDX-License-Identifier: ISC */
/*
 * dtprof: find the command and run it.  Everything else is in cmd_*.c, one
 * command a file, and in libprof, which does the work.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static void	 ignore_signal(int number);
static int	 open_standard(void);
static const char *command_name(const char *word);

/*
 * A reader that goes away shows as a failed write.  A handler, unlike
 * SIG_IGN, is not inherited by the commands that record starts.
 */
static void
ignore_signal(int number)
{
	(void)number;
}

/*
 * Standard input, output and error are open, before anything else is: what is
 * opened in the place of one of them would be read from or written over.
 */
static int
open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_NOCTTY);
	while (fd != -1 && fd <= STDERR_FILENO);
	return (fd == -1 ? -1 : close(fd));
}

/* perf's habit: options in the command's place. */
static const char *
command_name(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return ("help");
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return ("version");
	return (word);
}

int
main(int argc, char **argv)
{
	const struct sigaction ignore = { .sa_handler = ignore_signal };
	const struct prof_cmd *cmd;

	if (open_standard() == -1)
		return (EXIT_DTPROF);
	sigaction(SIGPIPE, &ignore, NULL);
	if (argc < 2) {
		msg_error(NULL, "no command given", "list the commands with "
		    "dtprof help");
		return (EXIT_USAGE);
	}
	cmd = cmd_find(command_name(argv[1]), argv[2]);
	if (cmd == NULL)
		return (EXIT_USAGE);
	return (cmd_run(cmd, argc - 1, argv + 1));
}
