/* SPDX-License-Identifier: ISC */
/*
 * Cgroups by their id: the kernel takes it as a file handle in each mount of
 * the hierarchy.  Called by the back end for what BPF programs saw.  The mount
 * of version 2 is for triggers of dtprof record, too.
 */
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/cgroup.h"

#define HANDLE_KERNFS	0xfe	/* FILEID_KERNFS of the kernel */

/* Its path below the mount; the kernel's answer is a path with the mount. */
static void
path_in_mount(const char *mount, uint64_t id, char *path, size_t size)
{
	union {
		struct file_handle head;
		char	bytes[sizeof(struct file_handle) + sizeof(id)];
	} handle = { .head = { .handle_bytes = sizeof(id),
	    .handle_type = HANDLE_KERNFS } };
	const size_t skip = strlen(mount);
	const int at = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[64], whole[4096];
	ssize_t len;
	int fd;

	if (at == -1)
		return;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(at, &handle.head, O_PATH | O_CLOEXEC);
	close(at);
	if (fd == -1)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, whole, sizeof(whole) - 1);
	close(fd);
	if (len <= 0)
		return;
	whole[len] = '\0';
	if (strncmp(whole, mount, skip) == 0)
		snprintf(path, size, "%s", whole[skip] == '\0' ? "/" :
		    whole + skip);
}

/*
 * Of version 2, or, unless only that is meant, of the CPU controller: in
 * version 1 each may have a hierarchy of its own.  NULL: there are no more.
 */
static const char *
mount_next(FILE *mounts, bool is_v2)
{
	const struct mntent *entry;

	while ((entry = getmntent(mounts)) != NULL)
		if (strcmp(entry->mnt_type, "cgroup2") == 0 || (!is_v2 &&
		    strcmp(entry->mnt_type, "cgroup") == 0 &&
		    hasmntopt(entry, "cpu") != NULL))
			return (entry->mnt_dir);
	return (NULL);
}

void
prof_cgroup_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const char *mount = mounts == NULL ? NULL : mount_next(mounts, true);

	snprintf(path, size, "%s", mount == NULL ? "" : mount);
	if (mounts != NULL)
		endmntent(mounts);
}

void
prof_cgroup_path(uint64_t id, char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const char *mount;

	path[0] = '\0';
	if (mounts == NULL)
		return;
	while (path[0] == '\0' && (mount = mount_next(mounts, false)) != NULL)
		path_in_mount(mount, id, path, size);
	endmntent(mounts);
}
