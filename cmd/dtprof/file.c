/* SPDX-License-Identifier: ISC */
/*
 * Pictures and pages as files: in place of the old one at once, or not at
 * all; under sudo they belong to who called it.  Called by the commands that
 * write some; recordings are written by libprof.  And directories for a
 * moment, for what other programs or the library want as files.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static int
write_all(int fd, const char *bytes, size_t length)
{
	ssize_t n;

	for (; length > 0; bytes += n, length -= (size_t)n) {
		n = write(fd, bytes, length);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return (-1);
	}
	return (0);
}

/* A number that sudo left in the environment; 0: none. */
unsigned
file_sudo_id(const char *name)
{
	const char *text = getenv(name);
	uint64_t id;

	return (text != NULL && opt_number(text, &id) == 0 &&
	    id < UINT32_MAX ? (unsigned)id : 0);
}

void
file_give(int fd)
{
	const unsigned uid = file_sudo_id("SUDO_UID"),
	    gid = file_sudo_id("SUDO_GID");

	if (geteuid() == 0 && uid != 0 && fchown(fd, uid, gid) == -1)
		return;
}

int
file_create(const char *path, int flags, bool *made)
{
	int fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (made != NULL)
		*made = fd != -1;
	if (fd != -1)
		file_give(fd);
	else if (errno == EEXIST)
		fd = open(path, flags | O_CREAT | O_CLOEXEC, 0666);
	return (fd);
}

/* What other people may read is for the umask to say. */
static mode_t
usual_mode(void)
{
	const mode_t mask = umask(077);

	(void)umask(mask);
	return (0666 & ~mask);
}

#define MAX_TMPDIR	400

int
file_scratch(const char *command, char path[FILE_SCRATCH])
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > MAX_TMPDIR)
		tmp = "/tmp";
	snprintf(path, FILE_SCRATCH, "%s/dtprof.XXXXXX", tmp);
	if (mkdtemp(path) != NULL)
		return (0);
	path[0] = '\0';
	msg_fail(command, "name a directory that can be written to in TMPDIR",
	    "%s: %s", tmp, strerror(errno));
	return (-1);
}

/* A pipe, a link, /dev/stdout: nothing to put another in the place of. */
static int
write_through(const char *path, const char *bytes, size_t length)
{
	struct stat st;
	int fd, rv;

	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd == -1)
		return (-1);
	rv = write_all(fd, bytes, length);
	if (rv == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		rv = ftruncate(fd, (off_t)length);
	(void)close(fd);
	return (rv);
}

/*
 * Beside the file first, then in its place: who looks sees the old one or
 * the new one.
 */
int
file_replace(const char *command, const char *path, const char *bytes,
    size_t length)
{
	char *beside = NULL;
	struct stat st;
	int fd = -1, rv = -1, error_number;

	/* The link itself: below /dev, what it leads to may be a file. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		rv = write_through(path, bytes, length);
		goto out;
	}
	if (asprintf(&beside, "%s.XXXXXX", path) == -1) {
		beside = NULL;
		goto out;
	}
	fd = mkstemp(beside);
	if (fd == -1)
		goto out;
	file_give(fd);
	if (write_all(fd, bytes, length) == 0 &&
	    fchmod(fd, usual_mode()) == 0 && rename(beside, path) == 0) {
		rv = 0;
		goto out;
	}
	error_number = errno;
	(void)unlink(beside);
	errno = error_number;
out:
	if (rv == -1)
		msg_fail(command, "name another file with -o", "%s: %s",
		    path, strerror(errno));
	if (fd != -1)
		(void)close(fd);
	free(beside);
	return (rv);
}

int
file_write(const char *command, const char *path, const char *bytes,
    size_t length)
{
	struct out out;

	if (strcmp(path, "-") != 0)
		return (file_replace(command, path, bytes, length));
	out_init(&out, STDOUT_FILENO);
	out_mem(&out, bytes, length);
	return (out_end(&out, command) == 0 ? 0 : -1);
}

int
file_replace_by(const char *command, const char *path,
    void (*put)(const void *, struct out *), const void *arg)
{
	int fd, rv = -1;
	void *bytes = MAP_FAILED;
	struct stat st;
	struct out out;

	if (strcmp(path, "-") == 0) {
		out_init(&out, STDOUT_FILENO);
		put(arg, &out);
		return (out_end(&out, command) == 0 ? 0 : -1);
	}
	fd = memfd_create("page", MFD_CLOEXEC);
	if (fd != -1) {
		out_init(&out, fd);
		put(arg, &out);
		out_flush(&out);
		if (out.ou_errno == 0 && fstat(fd, &st) == 0)
			bytes = mmap(NULL, (size_t)st.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
	}
	if (bytes == MAP_FAILED) {
		msg_fail(command, "free memory", "%s: %s", path,
		    strerror(errno));
	} else {
		rv = file_replace(command, path, bytes, (size_t)st.st_size);
		(void)munmap(bytes, (size_t)st.st_size);
	}
	if (fd != -1)
		(void)close(fd);
	return (rv);
}

bool
file_find_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	size_t length;

	if (strchr(name, '/') != NULL)
		return ((size_t)snprintf(path, size, "%s", name) < size &&
		    access(path, X_OK) == 0);
	for (; dirs != NULL; dirs = dirs[length] == ':' ? dirs + length + 1 :
	    NULL) {
		length = strcspn(dirs, ":");
		if ((size_t)snprintf(path, size, "%.*s/%s", (int)length,
		    length == 0 ? "." : dirs, name) < size &&
		    access(path, X_OK) == 0)
			return (true);
	}
	return (false);
}
