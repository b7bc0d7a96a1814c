/* SPDX-License-Identifier: ISC */
/*
 * A descriptor on tracefs without leaving a trace on the system: where it
 * is mounted, that; else an own mount, detached, that goes away with the
 * descriptor.  Called by names.c when somebody asks about tracepoints.
 * Nothing is ever written there.
 */
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tracefs.h"

static int	tracefs_at(const char *path);
static int	tracefs_detached(void);

int
prof_tracefs_open(struct prof_err *error)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing"
	};
	int fd, saved;

	for (size_t n = 0; n < sizeof(paths) / sizeof(paths[0]); n++)
		if ((fd = tracefs_at(paths[n])) != -1)
			return (fd);
	if ((fd = tracefs_detached()) != -1)
		return (fd);
	saved = errno;
	if (saved == EPERM || saved == EACCES)
		prof_fail(error, PROF_E_PERMISSION, "tracefs (the list of "
		    "tracepoints) is readable only by root");
	else
		prof_fail(error, PROF_E_KERNEL, "cannot read tracefs: %s",
		    strerror(saved));
	return (prof_cure(error,
	    "run as root, or: mount -t tracefs tracefs /sys/kernel/tracing"));
}

/* An empty mount point looks like a directory too; ask what it is. */
static int
tracefs_at(const char *path)
{
	struct statfs fs;
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return (-1);
	if (fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC &&
	    faccessat(fd, "available_events", R_OK, 0) == 0)
		return (fd);
	close(fd);
	return (-1);
}

static int
tracefs_detached(void)
{
	int fs, mount = -1, saved;

	fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (fs == -1)
		return (-1);
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
		    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
		    MOUNT_ATTR_NOEXEC);
	saved = errno;
	close(fs);
	errno = saved;
	return (mount);
}
