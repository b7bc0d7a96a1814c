/* SPDX-License-Identifier: ISC */
/*
 * --push: another dtprof sends the recording while this one writes it, as a
 * process of its own that reads the file.  So nothing that a server or the
 * network does slows the recorder or makes it fail.  Called by record.c.
 */
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define LOOK_NS		50000000

static int
spawn_push(char *const *argv, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int rv;

	/* A group of its own: Ctrl-C ends the recording, then comes the end. */
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
	    POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
	    0, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
	    "/dev/null", 1, 0);
	rv = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, argv,
	    environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return (rv);
}

pid_t
record_push_begin(const struct record_options *ro, const char *path)
{
	const size_t room = 8 + 2 * ro->ro_labels.os_n;
	const char **argv = calloc(room, sizeof(*argv));
	pid_t pid = -1;
	size_t n = 0;
	int rv = ENOMEM;

	if (argv != NULL) {
		argv[n++] = "dtprof";
		argv[n++] = "push";
		argv[n++] = "--follow";
		if (ro->ro_secret_file != NULL) {
			argv[n++] = "--secret-file";
			argv[n++] = ro->ro_secret_file;
		}
		for (size_t i = 0; i < ro->ro_labels.os_n; i++) {
			argv[n++] = "--label";
			argv[n++] = ro->ro_labels.os_text[i];
		}
		argv[n++] = ro->ro_push;
		argv[n++] = path;
		rv = spawn_push((char *const *)argv, &pid);
	}
	free(argv);
	if (rv == 0)
		return (pid);
	msg_warning("record", "--push: cannot start dtprof push: %s; send the "
	    "recording with it afterwards", strerror(rv));
	return (-1);
}

void
record_push_end(pid_t pid, const char *path)
{
	const struct timespec look = { 0, LOOK_NS };
	int status = 0;
	pid_t ended;
	bool by_process;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		if (signals_take(&by_process) != 0)
			(void)kill(pid, SIGTERM);
		(void)nanosleep(&look, NULL);
	}
	if (ended != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		msg_warning("record", "--push: the store has not all of it; "
		    "send %s with dtprof push", path);
}
