/* SPDX-License-Identifier: ISC */
/*
 * Where a recording goes.  A file that is in the way is kept as NAME.old; the
 * new one is made with O_EXCL, so nobody's link or device is ever written
 * through, and a recording that comes to nothing puts the previous ones back:
 *
 *	open	NAME.old -> NAME.older.XXXXXX, NAME -> NAME.old, NAME is made
 *	undo	NAME is removed, NAME.old -> NAME, NAME.older.XXXXXX -> NAME.old
 *	keep	NAME.older.XXXXXX is removed
 *
 * kill -9 before the end leaves it as NAME.older.XXXXXX, so called that one
 * sees which it is.  Called by output.c.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "place.h"

static int	place_create(struct prof_place *, bool, struct prof_err *);
static int	place_set_aside(struct prof_place *);
static void	place_put_back(struct prof_place *);
static int	place_device(struct prof_place *, struct prof_err *);
static void	place_give(int);
static int	place_above(int);
static int	place_sync_names(const struct prof_place *);

int
prof_place_fail(struct prof_err *error, const char *path, int error_number)
{
	switch (error_number) {
	case ENOSPC:
	case EDQUOT:
		prof_fail(error, PROF_E_IO, "%s: no space left", path);
		return (prof_cure(error, "free some space, or write to "
		    "another disk with -o"));
	case EFBIG:
		prof_fail(error, PROF_E_IO, "%s: file size limit reached",
		    path);
		return (prof_cure(error, "raise the limit (ulimit -f), or "
		    "record for a shorter time"));
	case EACCES:
	case EPERM:
	case EROFS:
		prof_fail(error, PROF_E_PERMISSION, "%s: not writable",
		    path);
		return (prof_cure(error, "write to another directory with -o"));
	case ENOENT:
	case ENOTDIR:
		prof_fail(error, PROF_E_IO, "%s: no such directory",
		    path);
		return (prof_cure(error, "create the directory first"));
	case EISDIR:
		prof_fail(error, PROF_E_IO, "%s: is a directory", path);
		return (prof_cure(error, "name a file in the directory"));
	case ENOMEM:
		return (prof_fail_nomem(error));
	default:
		return (prof_fail(error, PROF_E_IO, "%s: %s", path,
		    strerror(error_number)));
	}
}

int
prof_place_open(struct prof_place *place, const char *path,
    struct prof_err *error)
{
	struct stat st;

	memset(place, 0, sizeof(*place));
	place->pl_fd = -1;
	place->pl_path = strdup(path);
	if (place->pl_path == NULL ||
	    asprintf(&place->pl_old, "%s.old", path) == -1) {
		place->pl_old = NULL;
		return (prof_fail_nomem(error));
	}
	if (strcmp(path, "-") == 0) {
		prof_fail(error, PROF_E_IO, "cannot write a recording to "
		    "standard output");
		return (prof_cure(error, "give a file with -o"));
	}
	if (lstat(path, &st) == -1) {
		if (errno != ENOENT)
			return (prof_place_fail(error, path, errno));
		return (place_create(place, false, error));
	}
	if (S_ISREG(st.st_mode))
		return (place_create(place, true, error));
	if (S_ISCHR(st.st_mode))
		return (place_device(place, error));
	if (S_ISDIR(st.st_mode))
		return (prof_place_fail(error, path, EISDIR));
	if (S_ISLNK(st.st_mode)) {
		prof_fail(error, PROF_E_IO, "%s: is a symbolic link", path);
		return (prof_cure(error, "give the file that the link points "
		    "to"));
	}
	prof_fail(error, PROF_E_IO, "%s: not a regular file", path);
	return (prof_cure(error, "give a file with -o"));
}

int
prof_place_memory(struct prof_place *place, int fd, struct prof_err *error)
{
	memset(place, 0, sizeof(*place));
	place->pl_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	place->pl_path = strdup("");
	if (place->pl_path == NULL)
		return (prof_fail_nomem(error));
	if (place->pl_fd == -1)
		return (prof_place_fail(error, "memory", errno));
	place->pl_regular = place->pl_memory = true;
	return (0);
}

/* Never one of the three that a caller prints to, though he has it closed. */
static int
place_above(int fd)
{
	int above, error_number;

	if (fd == -1 || fd > STDERR_FILENO)
		return (fd);
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error_number = errno;
	(void)close(fd);
	errno = error_number;
	return (above);
}

static int
place_create(struct prof_place *place, bool exists, struct prof_err *error)
{
	int error_number;

	if (exists && (place_set_aside(place) == -1 ||
	    rename(place->pl_path, place->pl_old) == -1))
		goto failed;
	place->pl_moved = exists;
	place->pl_fd = place_above(open(place->pl_path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
	if (place->pl_fd == -1)
		goto failed;
	place->pl_regular = true;
	/* Who reads it meanwhile sees that it is being written (source.c). */
	(void)flock(place->pl_fd, LOCK_EX | LOCK_NB);
	place_give(place->pl_fd);
	return (0);
failed:
	error_number = errno;
	place_put_back(place);
	return (prof_place_fail(error, error_number == EISDIR ?
	    place->pl_old : place->pl_path, error_number));
}

/* The name is made first: then it is nobody else's. */
static int
place_set_aside(struct prof_place *place)
{
	struct stat st;
	char *aside;
	int fd, error_number;

	if (lstat(place->pl_old, &st) == -1)
		return (errno == ENOENT ? 0 : -1);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return (-1);
	}
	if (asprintf(&aside, "%s.older.XXXXXX", place->pl_path) == -1)
		return (-1);
	fd = mkstemp(aside);
	if (fd != -1) {
		(void)close(fd);
		if (rename(place->pl_old, aside) == 0) {
			place->pl_aside = aside;
			return (0);
		}
		error_number = errno;
		(void)unlink(aside);
		errno = error_number;
	}
	free(aside);
	return (-1);
}

/* The older one stays aside where its name is still taken. */
static void
place_put_back(struct prof_place *place)
{
	if ((!place->pl_moved ||
	    rename(place->pl_old, place->pl_path) == 0) &&
	    place->pl_aside != NULL)
		(void)rename(place->pl_aside, place->pl_old);
	place->pl_moved = false;
	free(place->pl_aside);
	place->pl_aside = NULL;
}

/* /dev/null takes a recording; /dev/full says at the header that it cannot. */
static int
place_device(struct prof_place *place, struct prof_err *error)
{
	place->pl_fd = place_above(open(place->pl_path,
	    O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
	if (place->pl_fd == -1)
		return (prof_place_fail(error, place->pl_path, errno));
	if (isatty(place->pl_fd)) {
		prof_fail(error, PROF_E_IO, "%s: is a terminal",
		    place->pl_path);
		return (prof_cure(error, "give a file with -o"));
	}
	return (0);
}

static bool
id_of(const char *name, unsigned long *id)
{
	const char *text = getenv(name);
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return (false);
	errno = 0;
	*id = strtoul(text, &end, 10);
	return (errno == 0 && *end == '\0' && *id < UINT32_MAX);
}

/*
 * Under sudo the file belongs to who called sudo.  It was made just now and
 * by us, so giving it away gives nothing else away; where that fails it stays
 * root's, which is safe.
 */
static void
place_give(int fd)
{
	unsigned long uid, gid;

	if (geteuid() != 0 || !id_of("SUDO_UID", &uid) ||
	    !id_of("SUDO_GID", &gid))
		return;
	if (fchown(fd, (uid_t)uid, (gid_t)gid) == -1)
		return;
}

void
prof_place_undo(struct prof_place *place)
{
	struct stat ours, there;

	if (!place->pl_regular || place->pl_fd == -1)
		return;
	/* Only what we made: the name may be somebody else's by now. */
	if (fstat(place->pl_fd, &ours) == -1 ||
	    lstat(place->pl_path, &there) == -1 ||
	    ours.st_dev != there.st_dev || ours.st_ino != there.st_ino) {
		free(place->pl_aside);
		place->pl_aside = NULL;
		return;
	}
	(void)unlink(place->pl_path);
	place_put_back(place);
}

void
prof_place_keep(struct prof_place *place)
{
	if (place->pl_aside != NULL)
		(void)unlink(place->pl_aside);
	free(place->pl_aside);
	place->pl_aside = NULL;
}

/*
 * The directory: else the new name, and the old one's, may be gone after a
 * power cut.  One that may be written to but not read is synced with all of
 * its file system; not every kind of file system can sync a directory.
 */
static int
place_sync_names(const struct prof_place *place)
{
	const char *slash = strrchr(place->pl_path, '/');
	char *name = slash == NULL ? strdup(".") : strndup(place->pl_path,
	    slash == place->pl_path ? 1 : (size_t)(slash - place->pl_path));
	int fd, rv, error_number;

	if (name == NULL)
		return (-1);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(name);
	if (fd == -1)
		return (syncfs(place->pl_fd));
	rv = fsync(fd);
	error_number = errno;
	(void)close(fd);
	errno = error_number;
	return (rv == -1 && errno == EINVAL ? 0 : rv);
}

int
prof_place_finish(struct prof_place *place)
{
	const int fd = place->pl_fd;

	if (!place->pl_regular || place->pl_memory)
		return (0);
	if (fdatasync(fd) == -1)
		return (-1);
	prof_place_keep(place);
	if (place_sync_names(place) == -1)
		return (-1);
	place->pl_fd = -1;
	return (close(fd));
}

void
prof_place_close(struct prof_place *place)
{
	if (place->pl_fd != -1)
		(void)close(place->pl_fd);
	place->pl_fd = -1;
	prof_place_keep(place);
	free(place->pl_path);
	free(place->pl_old);
	place->pl_path = place->pl_old = NULL;
}
