/* SPDX-License-Identifier: ISC */
/*
 * --push: another dtprof sends the recording while this one writes it, as a
 * process of its own that reads the file.  So nothing that a server or the
 * network does slows the recorder or makes it fail.  Called by record.c.
 */
#include <sys/mman.h>
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
spawn_push(char *const *argv, struct record_push *push)
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
	push->rp_counts = memfd_create("counts", MFD_CLOEXEC);
	posix_spawn_file_actions_adddup2(&actions, push->rp_counts,
	    STDOUT_FILENO);
	rv = push->rp_counts == -1 ? errno : posix_spawn(&push->rp_pid,
	    "/proc/self/exe", &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return (rv);
}

void
record_push_begin(struct record_push *push, const struct record_options *ro,
    const char *path)
{
	const size_t room = 8 + 2 * ro->ro_labels.os_n;
	const char **argv = calloc(room, sizeof(*argv));
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
		rv = spawn_push((char *const *)argv, push);
	}
	free(argv);
	if (rv == 0)
		return;
	push->rp_pid = 0;
	msg_warning("record", "--push: cannot start dtprof push: %s; push the "
	    "recording after it has ended", strerror(rv));
}

/* "0 rows in 0 batches sent, 2997 rows not sent", if it has counted. */
static void
not_sent_say(const struct record_push *push, const char *path)
{
	char counts[256], *text;
	const ssize_t n = pread(push->rp_counts, counts, sizeof(counts) - 1,
	    0);

	counts[n > 0 ? n : 0] = '\0';
	counts[strcspn(counts, "\n")] = '\0';
	text = strstr(counts, ": ");
	msg_warning("record", "--push: %s; send %s with dtprof push",
	    text == NULL ? "the store does not have the whole "
	    "recording" : text + 2, path);
}

void
record_push_end(struct record_push *push, const char *path)
{
	const struct timespec look = { 0, LOOK_NS };
	int status = 0;
	pid_t ended = 0;
	bool by_process;

	while (push->rp_pid != 0 &&
	    (ended = waitpid(push->rp_pid, &status, WNOHANG)) == 0) {
		if (signals_take(&by_process) != 0)
			(void)kill(push->rp_pid, SIGTERM);
		(void)nanosleep(&look, NULL);
	}
	if (ended != push->rp_pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 0)
		not_sent_say(push, path);
	if (push->rp_counts != -1)
		(void)close(push->rp_counts);
}
