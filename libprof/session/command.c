/* SPDX-License-Identifier: ISC */
/*
 * The command that a session records: a child that waits before its exec
 * until everything is armed, so that its first instruction counts.
 *
 * Called by session.c.  Two pipes: one holds the child, the other, closed by
 * the exec itself, brings errno back when there is no exec.  Under sudo the
 * command runs as the user who called, not as root.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/permission.h"
#include "session_impl.h"

void
prof_command_init(struct prof_command *command)
{
	memset(command, 0, sizeof(*command));
	command->cm_pidfd = command->cm_go = command->cm_failed = -1;
}

static int
number_of(const char *text, unsigned *value)
{
	char *end;
	unsigned long number;

	if (text == NULL || *text < '0' || *text > '9')
		return (-1);
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || number > 0xfffffffeUL)
		return (-1);
	*value = (unsigned)number;
	return (0);
}

/* Who called sudo: 1, or 0: nobody did, or root; -1: that is not known. */
static int
caller_of(unsigned *uid, unsigned *gid)
{
	const char *uid_text = getenv("SUDO_UID");
	const char *gid_text = getenv("SUDO_GID");

	if (geteuid() != 0 || (uid_text == NULL && gid_text == NULL))
		return (0);
	if (number_of(uid_text, uid) == -1 || number_of(gid_text, gid) == -1)
		return (-1);
	return (*uid != 0);
}

/* Under sudo: be the caller again, for good, before the exec. */
static int
become_caller(void)
{
	unsigned uid, gid;
	const struct passwd *user;

	if (caller_of(&uid, &gid) != 1)
		return (0);
	user = getpwuid((uid_t)uid);
	if ((user != NULL ? initgroups(user->pw_name, (gid_t)gid) :
	    setgroups(0, NULL)) == -1 || setgid((gid_t)gid) == -1 ||
	    setuid((uid_t)uid) == -1)
		return (-1);
	return (0);
}

/* Before exec does: a signal for the child is not the recorder's. */
static void
forget_handlers(void)
{
	struct sigaction now;
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		if (sigaction(n, NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL)
			signal(n, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* For it and its children, before what is there to be loaded already. */
static int
preload_set(const struct prof_command *command)
{
	const char *others = getenv("LD_PRELOAD");
	char *list = NULL, interval[32];
	int rv = -1;

	snprintf(interval, sizeof(interval), "%llu",
	    (unsigned long long)command->cm_interval);
	if (asprintf(&list, "%s%s%s", command->cm_preload, others == NULL ?
	    "" : ":", others == NULL ? "" : others) != -1)
		rv = setenv("LD_PRELOAD", list, 1) == -1 ||
		    setenv("DTPROF_ALLOC_INTERVAL", interval, 1) == -1 ? -1 :
		    0;
	free(list);
	return (rv);
}

static void __attribute__((noreturn))
child_run(const struct prof_command *command, char *const *argv, int go,
    int failed, const struct rlimit *open_files)
{
	char byte;
	int why;

	forget_handlers();
	/* Nothing to read: the recorder has gone, so do not run. */
	if (read(go, &byte, 1) != 1)
		_exit(125);
	/* How many files the recorder needs is no limit of the command's. */
	if (open_files != NULL)
		(void)setrlimit(RLIMIT_NOFILE, open_files);
	if (become_caller() == 0 && (command->cm_preload == NULL ||
	    preload_set(command) == 0))
		execvp(argv[0], argv);
	why = errno;
	if (write(failed, &why, sizeof(why)) != (ssize_t)sizeof(why))
		_exit(125);
	_exit(why == ENOENT ? 127 : 126);
}

int
prof_command_spawn(struct prof_command *command, char *const *argv,
    const struct rlimit *open_files, struct prof_err *error)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 };
	sigset_t all, before;
	unsigned uid, gid;

	/* A command is never root's by mistake. */
	if (caller_of(&uid, &gid) == -1) {
		prof_fail(error, PROF_E_COMMAND, "%s: SUDO_UID and SUDO_GID do "
		    "not name a user", argv[0]);
		return (prof_cure(error, "unset SUDO_UID and SUDO_GID to run "
		    "the command as root"));
	}
	sigfillset(&all);
	if (pipe2(go, O_CLOEXEC) == -1 || pipe2(failed, O_CLOEXEC) == -1)
		goto fail;
	/* What comes at this moment waits until whoever it is for knows. */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	command->cm_pid = fork();
	if (command->cm_pid != 0)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (command->cm_pid == -1)
		goto fail;
	if (command->cm_pid == 0) {
		close(go[1]);
		close(failed[0]);
		child_run(command, argv, go[0], failed[1], open_files);
	}
	close(go[0]);
	close(failed[1]);
	command->cm_go = go[1];
	command->cm_failed = failed[0];
	command->cm_pidfd = (int)syscall(SYS_pidfd_open, command->cm_pid, 0);
	return (0);
fail:
	if (errno == EMFILE)
		prof_open_files_explain(error, argv[0]);
	else
		prof_fail(error, PROF_E_COMMAND, "cannot start a process: "
		    "%s", strerror(errno));
	command->cm_pid = 0;
	if (go[0] != -1) {
		close(go[0]);
		close(go[1]);
	}
	if (failed[0] != -1) {
		close(failed[0]);
		close(failed[1]);
	}
	return (-1);
}

int
prof_command_release(struct prof_command *command, const char *name,
    struct prof_err *error)
{
	ssize_t got;
	int why;

	if (write(command->cm_go, "", 1) != 1)
		return (prof_fail(error, PROF_E_COMMAND,
		    "%s: the process exited before it executed the command",
		    name));
	close(command->cm_go);
	command->cm_go = -1;
	do
		got = read(command->cm_failed, &why, sizeof(why));
	while (got == -1 && errno == EINTR);
	close(command->cm_failed);
	command->cm_failed = -1;
	if (got != (ssize_t)sizeof(why))
		return (0);
	if (why == ENOENT)
		return (prof_fail(error, PROF_E_COMMAND_NOT_FOUND,
		    "%s: command not found", name));
	return (prof_fail(error, PROF_E_COMMAND, "cannot execute '%s': %s",
	    name, strerror(why)));
}

bool
prof_command_poll(struct prof_command *command)
{
	int status;

	if (command->cm_pid == 0 || command->cm_done)
		return (command->cm_done);
	if (waitpid(command->cm_pid, &status, WNOHANG) == command->cm_pid) {
		command->cm_done = 1;
		command->cm_status = status;
	}
	return (command->cm_done);
}

void
prof_command_fini(struct prof_command *command)
{
	if (command->cm_pid != 0 && !command->cm_done &&
	    command->cm_go != -1) {
		kill(command->cm_pid, SIGKILL);
		waitpid(command->cm_pid, NULL, 0);
	}
	if (command->cm_go != -1)
		close(command->cm_go);
	if (command->cm_failed != -1)
		close(command->cm_failed);
	if (command->cm_pidfd != -1)
		close(command->cm_pidfd);
	prof_command_init(command);
}
