/* SPDX-License-Identifier: ISC */
/*
 * Where data of ours goes to standard output, what a command writes there goes
 * to standard error: it inherits what is there while it is made.  Called by
 * session.c, and by stat/ where it counts.
 */
#include <fcntl.h>
#include <unistd.h>

#include "../cmd.h"

int
divert_begin(bool is_wanted)
{
	const int saved = is_wanted ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC,
	    3) : -1;

	if (saved != -1)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return (saved);
}

void
divert_end(int saved)
{
	if (saved == -1)
		return;
	dup2(saved, STDOUT_FILENO);
	close(saved);
}
