/* SPDX-License-Identifier: ISC */
/*
 * Cgroups by their id: the kernel takes it as a file handle in each mount of
 * the hierarchy.  Called by the back end for what BPF programs saw.
 */
#include <fcntl.h>
#include <mntent.h>
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

/* In version 1 each controller may have a hierarchy of its own. */
void
prof_cgroup_path(uint64_t id, char *path, size_t size)
{
	const struct mntent *entry;
	FILE *mounts = setmntent("/proc/self/mounts", "re");

	path[0] = '\0';
	if (mounts == NULL)
		return;
	while (path[0] == '\0' && (entry = getmntent(mounts)) != NULL)
		if (strcmp(entry->mnt_type, "cgroup2") == 0 ||
		    (strcmp(entry->mnt_type, "cgroup") == 0 &&
		    hasmntopt(entry, "cpu") != NULL))
			path_in_mount(entry->mnt_dir, id, path, size);
	endmntent(mounts);
}
