/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the socket for marks is never made in, and marks are never sent
 * through, a directory that others can write or that is a link; and what a
 * dead recorder left behind is removed.  Easy to get wrong because making a
 * directory that is already there looks like success.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "session/control_impl.h"

static char base[] = "/tmp/dtprof-mark-test.XXXXXX";
static char path[128];

static void
strangers(void)
{
	char target[64];
	int fd;

	snprintf(target, sizeof(target), "%s/elsewhere", base);
	CHECK(mkdir(target, 0700) == 0, "mkdir");
	CHECK(symlink(target, path) == 0, "symlink");
	CHECK(prof_control_place(1, geteuid(), true) == -1,
	    "a link was followed");
	unlink(path);
	OK("a link is not followed");
	CHECK(mkdir(path, 0700) == 0 && chmod(path, 0770) == 0, "mkdir");
	CHECK(prof_control_place(1, geteuid(), true) == -1,
	    "mode 0770 was taken");
	CHECK(chmod(path, 0701) == 0, "chmod");
	CHECK(prof_control_place(1, geteuid(), true) == -1,
	    "mode 0701 was taken");
	OK("a directory that others enter is not used");
	CHECK(chmod(path, 0700) == 0, "chmod");
	CHECK(prof_control_place(1, geteuid() + 1, false) == -1,
	    "another's directory was taken");
	fd = prof_control_place(1, geteuid(), true);
	CHECK(fd != -1, "%s", strerror(errno));
	close(fd);
	rmdir(path);
	rmdir(target);
	OK("one's own private directory is");
}

static void
stale(void)
{
	struct sockaddr_un address;
	int fd, dir = prof_control_place(1, geteuid(), true);

	CHECK(dir != -1, "%s", strerror(errno));
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	prof_control_address(&address, dir, "4194305.0.ctl");
	CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0,
	    "bind: %s", strerror(errno));
	close(fd);
	CHECK(faccessat(dir, "4194305.0.ctl", F_OK, 0) == 0, "socket");
	CHECK(prof_control_connect(dir, "4194305.0.ctl", true) == -1,
	    "connected");
	CHECK(faccessat(dir, "4194305.0.ctl", F_OK, 0) == -1,
	    "the dead one's socket is still there");
	close(dir);
	rmdir(path);
	OK("a dead recorder's socket is removed");
}

int
main(void)
{
	CHECK(mkdtemp(base) != NULL, "temporary directory");
	setenv("TMPDIR", base, 1);
	snprintf(path, sizeof(path), "%s/dtprof-%u", base, geteuid());
	strangers();
	stale();
	rmdir(base);
	return (0);
}
