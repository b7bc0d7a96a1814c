/* SPDX-License-Identifier: ISC */
/*
 * As root, what a program names is looked at as its owner could: a program
 * may be anybody's, and its debug information names any file.  Called by
 * annotate for sources, and for objdump, which reads the program itself and
 * so runs with limits, too.
 */
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

#include "helper.h"
#include "owner.h"

#define NOBODY		65534
#define MAX_GROUPS	65536
#define MAX_MEMORY	(2UL << 30)
#define MAX_SECONDS	60

void
owner_of(struct owner *owner, const char *path)
{
	struct stat st;

	owner->ow_program = path;
	if (helper_is_there()) {
		owner->ow_is_other = helper_is_other(path == NULL ? "" :
		    path);
		return;
	}
	owner->ow_is_other = geteuid() == 0;
	owner->ow_uid = owner->ow_gid = NOBODY;
	if (path == NULL || stat(path, &st) == -1)
		return;
	owner->ow_uid = st.st_uid;
	owner->ow_gid = st.st_gid;
	owner->ow_is_other = owner->ow_is_other && st.st_uid != 0;
}

/* Of this thread alone: glibc's setgroups is of them all. */
static int
set_groups(size_t n, const gid_t *groups)
{
	return ((int)syscall(SYS_setgroups, n, groups));
}

int
owner_open(const struct owner *owner, const char *path)
{
	gid_t *groups;
	int n, fd = -1, error_number = EPERM;

	if (helper_is_there())
		return (helper_open_source(owner->ow_program == NULL ? "" :
		    owner->ow_program, path));
	if (!owner->ow_is_other)
		return (file_open_regular(path));
	groups = calloc(MAX_GROUPS, sizeof(*groups));
	n = groups == NULL ? -1 : getgroups(MAX_GROUPS, groups);
	if (n == -1 || set_groups(0, NULL) == -1)
		goto out;
	/* Neither says whether it worked, but what it was. */
	(void)setfsgid(owner->ow_gid);
	(void)setfsuid(owner->ow_uid);
	if (setfsuid((uid_t)-1) == (int)owner->ow_uid &&
	    setfsgid((gid_t)-1) == (int)owner->ow_gid) {
		fd = file_open_regular(path);
		error_number = errno;
	}
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	/* Without them root is root all the same. */
	(void)set_groups((size_t)n, groups);
out:
	free(groups);
	errno = error_number;
	return (fd);
}

int
owner_become(const struct owner *owner)
{
	const struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
	const struct rlimit seconds = { MAX_SECONDS, MAX_SECONDS };
	const struct rlimit nothing = { 0, 0 };

	if (setrlimit(RLIMIT_AS, &memory) == -1 ||
	    setrlimit(RLIMIT_CPU, &seconds) == -1 ||
	    setrlimit(RLIMIT_FSIZE, &nothing) == -1 ||
	    setrlimit(RLIMIT_CORE, &nothing) == -1)
		return (-1);
	if (!owner->ow_is_other)
		return (0);
	return (setgroups(0, NULL) == -1 || setgid(owner->ow_gid) == -1 ||
	    setuid(owner->ow_uid) == -1 ? -1 : 0);
}
