/* SPDX-License-Identifier: ISC */
/*
 * dtprof: find the command and run it.  Everything else is in cmd_*.c, one
 * command a file, and in libprof, which does the work.
 */
#include <signal.h>
#include <string.h>

#include "cmd.h"

static void	 ignore_signal(int number);
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

	sigaction(SIGPIPE, &ignore, NULL);
	if (argc < 2) {
		msg_error(NULL, "no command given", "see dtprof help");
		return (EXIT_USAGE);
	}
	cmd = cmd_find(command_name(argv[1]));
	if (cmd == NULL)
		return (EXIT_USAGE);
	return (cmd_run(cmd, argc - 1, argv + 1));
}
